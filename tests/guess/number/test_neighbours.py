"""The worst victim of a normal prior: what is said of all victims between two neighbours holds for each of them."""

import math
from dataclasses import fields, replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from tests.guess.number.test_bell import kinds, near, questions

import nowiser as nw
from nowiser.guess.number import neighbours
from nowiser.guess.number.bell import bell_of
from nowiser.guess.number.follow import PLAIN, Objective
from nowiser.guess.number.neighbours import worst_of_smooth
from nowiser.guess.number.victims import Between
from nowiser.guess.number.worst import SHARPER, _branched

OBJECTIVES = [
    PLAIN,
    Objective(np.array([0.0, 0.0]), np.array([0.4, 0.75]), np.array([0.3, 0.7])),  # and
    Objective(np.array([0.1, 0.05]), np.array([0.6, 0.25]), np.array([0.7, 0.3])),  # or
]


def gains(bell, objective, x):
    found = bell.look(x, kinds(bell, x), None, 1e-13)
    return objective.of(found.before, found.after.max(axis=0))


def speeds(lift, each, objective):
    """How fast the objective moves at single victims, for each choice: p(u)·(A'φ(u) − 1) − p(l)·(A'φ(l) − 1)."""
    bend = lift / (1 + (lift - 1) * each.plain) ** 2
    flow = each.height * each.fall / each.weight
    up, down = objective.up[:, None], objective.down[:, None]
    return up * bend * (flow[1] - flow[0]) - down * (each.height[1] - each.height[0])


def holds(between, each, rounding):
    """What is said of all victims between two neighbours is true of each of these."""
    true = {
        "height": each.height,
        "fall": each.fall,
        "scale": 1 / each.weight,
        "flow": each.height * each.fall / each.weight,
        "apart": each.height[1] - each.height[0],
        "lean": each.fall[1] - each.fall[0],
    }
    for name, value in true.items():
        said = getattr(between, name)
        if said is not None and (name in {"height", "fall", "scale"} or (each.kind == 0).all()):
            spare = rounding * (np.abs(value) if name not in {"apart", "lean"} else np.abs(each.height).max() + 1)
            assert (said[0] <= value + spare).all(), name
            assert (value <= said[1] + spare).all(), name


def turning(shape, x):
    """Pairs of victims with an extreme in between of something that is bounded there: where a bound is easily missed."""
    each = shape.look(x, np.zeros(x.size, np.int8), None, 1e-13)
    flow = each.height * each.fall / each.weight
    curves = [*each.height, *each.fall, each.weight, *flow, flow[1] - flow[0], each.fall[1] - each.fall[0], each.t - x]
    curves += [each.height[1] - each.height[0], each.after.max(axis=0) - each.before]
    for curve in curves:
        turns = np.diff(np.sign(np.diff(curve)))
        for i in np.flatnonzero(turns != 0)[:6] + 1:
            for away in (3, 9, 27, 81):
                low, high = max(i - away, 0), min(i + away, x.size - 1)
                yield np.array([x[low], x[high]]), each, slice(low, high + 1)


def holds_at_turns(shape, x, objective):
    """What is said of all victims between two neighbours, and the speed, around every turning point."""
    asked = 0
    for ends, each, inner in turning(shape, x):
        known = shape.look(ends, np.zeros(2, np.int8), None, 1e-13)
        some = replace(each, **{f.name: getattr(each, f.name)[..., inner] for f in fields(each)})
        holds(shape.between(known), some, 1e-11)
        slowest, quickest = neighbours.pace(shape.lift, known, shape.between(known), objective)
        true, asked = speeds(shape.lift, some, objective), asked + 1
        size = 1e-11 * np.abs(some.height * (shape.lift * some.fall / some.weight + 1)).max()
        assert (slowest <= true + size).all()
        assert (true <= quickest + size).all()
        most = objective.of(some.before, some.after.max(axis=0)).max() - 1e-11
        assert neighbours.speed(shape, known, objective)[0] >= most
        assert shape.further(known, objective)[0] >= most
    return asked


@pytest.mark.parametrize(("radius", "slope", "jump"), [(0.3, 0.05, 0.0), (0.5, 1.0, 1.0), (0.1, 0.5, 0.0)])
def test_turning_points_lie_within_the_bounds(radius, slope, jump):
    for prior in (nw.Normal(0, 1), nw.Truncated(nw.Normal(0, 1), -1.5, 8)):
        bell = bell_of(near(prior, radius, slope, jump))
        x = np.linspace(max(bell.low + 1.01 * bell.reach, -6), 6, 1201)
        assert holds_at_turns(bell, x, PLAIN) > 20


@st.composite
def pairs(draw):
    """A question and two victims of one kind; also those whose goal just touches an end of the prior."""
    bell = bell_of(near(*draw(questions())))
    stretches = [
        (bell.low, bell.low + bell.reach, -1),
        (bell.low + bell.reach, bell.high - bell.reach, 0),
        (bell.high - bell.reach, bell.high, 1),
    ]
    a, b, kind = draw(st.sampled_from([s for s in stretches if s[1] > -9 and s[0] < 9]))
    a, b = max(a, -9.0), min(b, 9.0)
    first = a + (b - a) * draw(st.one_of(st.just(0.0), st.floats(0, 0.999)))
    width = 10 ** draw(st.floats(-3, 0.5))
    last = draw(st.sampled_from([min(first + width, b), b]))
    return bell, np.array([first, max(last, math.nextafter(first, 99))]), kind


@given(pairs(), st.sampled_from(OBJECTIVES), st.sampled_from([1e-13, 1e-3]))
@settings(max_examples=200, deadline=None)
def test_all_that_is_said_of_victims_between_two_holds(pair, objective, sharp):
    bell, ends, kind = pair
    known = bell.look(ends, np.full(2, kind, np.int8), None, sharp)  # also where t was not found exactly
    each = bell.look(np.linspace(ends[0], ends[1], 43), np.full(43, kind, np.int8), None, 1e-14)
    small = 1e-9 + 1e3 * float(each.slack.max())
    between = bell.between(known)
    # e^{−κ|x−t|} and 1/N are only bounded together: that the crossing lies a little beside t counts once
    holds(replace(between, fall=None, scale=None) if sharp > 1e-9 else between, each, small)
    with np.errstate(invalid="ignore"):
        slowest, quickest = neighbours.pace(bell.lift, known, between, objective)
    true, size = (
        speeds(bell.lift, each, objective),
        small * np.abs(each.height * (bell.lift * each.fall / each.weight + 1)).max(),
    )
    assert (slowest <= true + size).all()
    assert (true <= quickest + size).all()
    most = gains(bell, objective, each.x).max()
    rounding = 1e-12 + 4 * float(known.slack.max()) * bell.lift
    assert neighbours.speed(bell, known, objective)[0] >= most - rounding
    assert bell.further(known, objective)[0] >= most - rounding


@given(questions(), st.sampled_from(OBJECTIVES))
@settings(max_examples=60, deadline=None)
def test_no_victim_beats_the_worst_and_one_nearly_attains_it(question, objective):
    found = worst_of_smooth(near(*question), objective, SHARPER, 1e-9)
    bell = bell_of(near(*question))
    assert found is not None
    own = float(objective.of(np.array([found.before]), np.array([found.after]))[0])
    assert 0 <= found.gain - own <= max(1e-8 * abs(own), 1e-9)
    named = near(*question).at(np.array([found.x]), smallest=False)  # he himself, by the array way
    assert found.gain - objective.of(named.before, named.after)[0] <= max(1e-8 * abs(own), 1e-9) + 1e-10 * abs(own)
    low, high = max(bell.low, -30.0), min(bell.high, 30.0)
    around = (found.x - bell.origin) / bell.unit + np.linspace(-1, 1, 101) ** 3
    every = np.concatenate([np.linspace(low, high, 301), around[(around > low) & (around < high)]])
    # far out Φ is no double any more: there the array way is asked (whose figures are rounded up beside an end)
    each = near(*question).at(bell.origin + bell.unit * every, smallest=False)
    rounding = 1e-11 + 4 * bell.lift * bell.look(every, kinds(bell, every), None, 1e-13).slack
    assert (objective.of(each.before, each.after) <= found.gain + np.fmax(rounding, 1e-11)).all()


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(n, marks=pytest.mark.long) for n in range(3, 60))])
def test_as_sharp_as_branch_and_bound(seed):
    rng = np.random.default_rng(seed)
    for _ in range(4):
        sd, cut = 10 ** rng.uniform(-1, 2), np.sort(rng.normal(size=2) * 3)
        prior = nw.Normal(rng.normal() * 50, sd)
        radius = sd * 10 ** rng.uniform(-1, 0.5)
        if cut[1] - cut[0] > 3 * radius / sd:
            prior = nw.Truncated(prior, *(prior.mean + sd * cut))
        slope = min(10 ** rng.uniform(-3, 0.5), 10 * radius / sd)  # steeper ones are left to the slow way
        profile = near(prior, radius, slope, rng.choice([0.0, 0.02, 1.0]))
        quick = worst_of_smooth(profile, PLAIN, SHARPER, 1e-12)
        slow = _branched(profile, PLAIN, 1e-12, negated=False, smallest=False)
        assert quick is not None
        assert quick.gain <= slow.gain * (1 + SHARPER) + 1e-9
        assert slow.figures.after - slow.figures.before <= quick.gain + 1e-12
        assert nw.guess(prior, nw.Within(radius), slope=0.0, jump=1e-4).gain <= 1e-4  # never more than the odds


@pytest.mark.parametrize("slope", [1e-6, 1.5e-5, 5e-4])
def test_tiny_costs_are_as_sharp(slope):
    profile = near(nw.Normal(-36, 0.5), 0.08, slope, 0.0)
    found = worst_of_smooth(profile, PLAIN, SHARPER, 1e-12)
    named = profile.at(np.array([found.x]), smallest=False)
    assert found.gain == pytest.approx(float((named.after - named.before)[0]), rel=1e-6)


def test_both_sides_of_the_mean_are_looked_at_where_they_differ():
    left = worst_of_smooth(near(nw.Truncated(nw.Normal(0, 1), -1, 9), 0.3, 0.5, 0.0), PLAIN, SHARPER, 1e-12)
    right = worst_of_smooth(near(nw.Truncated(nw.Normal(0, 1), -9, 1), 0.3, 0.5, 0.0), PLAIN, SHARPER, 1e-12)
    assert left.gain == pytest.approx(right.gain, rel=1e-8)
    assert left.x == pytest.approx(-right.x, abs=1e-3)


def test_a_range_that_begins_where_the_goal_touches_the_end_has_no_chord():
    bell = bell_of(near(nw.Truncated(nw.Normal(0, 1), -1, 3), 0.4, 2.0, 0.0))
    touching = bell.low + bell.reach
    known = bell.look(np.array([touching, touching + 0.5]), np.zeros(2, np.int8), None, 1e-13)
    assert bell.further(known, PLAIN)[0] == math.inf
    assert neighbours.speed(bell, known, PLAIN)[0] < 1


@given(questions(), st.sampled_from(OBJECTIVES), st.floats(-3, 3), st.floats(0, 2))
@settings(max_examples=60, deadline=None)
def test_no_victim_farther_out_beats_the_bound_for_those_beyond(question, objective, first, width):
    bell = bell_of(near(*question))
    inner = bell.low + 1.001 * bell.reach, bell.high - 1.001 * bell.reach  # in earnest they are far from both ends
    ends = np.clip(np.array([first, first + width]), *inner)
    every = np.linspace(max(bell.low, -8.0), min(bell.high, 8.0), 201)
    far = every[(every < ends[0]) | (every > ends[1])]
    if bell.low == -bell.high:  # those above the mean mirror those below, which are all that is looked at
        ends = np.array([max(-abs(first), inner[0]), 0.0])
        far = every[every < ends[0]]
    if far.size:
        assert bell.beyond(objective, ends) >= gains(bell, objective, far).max() - 1e-12


def test_the_posterior_may_move_between_neighbours_before_the_jump_is_applied():
    """Both neighbours have the posterior 0.2; between them it may be anything that its speed allows."""
    both, lift = np.array([[0.3], [0.5]]), math.exp(2.0)
    known = SimpleNamespace(x=np.array([0.0, 0.5]), plain=np.full(2, 0.2), slack=np.zeros(2), kind=np.zeros(2, np.int8))
    one = np.ones(1)
    slowest, quickest = neighbours.pace(
        lift, known, Between((both, both), (both, both), (one, one), None, (one, one)), PLAIN
    )
    for posterior in np.linspace(0.2 - 0.03, 0.2 + 0.03, 7):  # it moves by up to 0.25 − 0.09 per unit, and back
        bend = lift / (1 + (lift - 1) * posterior) ** 2
        true = 0.5 * (bend * 0.5 - 1) - 0.3 * (bend * 0.3 - 1)
        assert slowest[0, 0] <= true <= quickest[0, 0]
    bend = [lift / (1 + (lift - 1) * a) ** 2 for a in (0.2 - 0.03, 0.2 + 0.03)]
    assert quickest[0, 0] >= 0.5 * (bend[0] * 0.5 - 1) - 0.3 * (bend[1] * 0.3 - 1)
