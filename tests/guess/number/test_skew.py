"""The worst victim of a lognormal prior: what is said of single victims and of all between two of them is true."""

import math
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st
from scipy import stats
from tests.guess.density.test_halves import exact
from tests.guess.number.test_bell import near
from tests.guess.number.test_neighbours import OBJECTIVES, holds, holds_at_turns, speeds

import nowiser as nw
from nowiser.guess.density.lognormal_line import LogLine
from nowiser.guess.number import neighbours
from nowiser.guess.number.follow import PLAIN
from nowiser.guess.number.neighbours import worst_of_smooth
from nowiser.guess.number.profile import Near
from nowiser.guess.number.skew import Skew, skew_of
from nowiser.guess.number.worst import SHARPER, _branched


@st.composite
def questions(draw, *, slopes=(-4.0, 1.0)):
    """A lognormal prior, whole or cut off, a radius and a cost."""
    mean, sd = draw(st.sampled_from([0.0, 3.0, -5.0])), draw(st.sampled_from([0.1, 0.4, 1.0]))
    prior = nw.LogNormal(mean, sd)
    if draw(st.booleans()):
        low, width = draw(st.floats(-4, 1)), draw(st.floats(0.5, 6))
        ends = draw(st.sampled_from([(low, low + width), (low, 60.0), (-60.0, low + 3)]))
        prior = nw.Truncated(prior, *(math.exp(mean + sd * z) for z in ends))
    room = min(prior.high, math.exp(mean + 7 * sd)) - prior.low if isinstance(prior, nw.Truncated) else math.inf
    radius = min(10 ** draw(st.floats(-2.0, 0.5)) * sd * math.exp(mean), room / 3)
    slope = draw(st.one_of(st.just(0.0), st.floats(*slopes).map(lambda e: 10**e)))
    jump = draw(st.one_of(st.just(0.0) if slope else st.just(0.1), st.floats(-4, 0.7).map(lambda e: 10**e)))
    return prior, radius, slope, jump


def kinds(skew, x):
    return np.where(x - skew.reach < skew.low, -1, np.where(x + skew.reach > skew.high, 1, 0)).astype(np.int8)


@st.composite
def pairs(draw):
    """A question and two victims of one kind; also those whose goal just touches an end of the prior."""
    skew = skew_of(near(*draw(questions())))
    assume(skew is not None)
    (first, last), touching = skew.ends, (skew.low + skew.reach, skew.high - skew.reach)
    stretches = [(first, touching[0], -1), (max(first, touching[0]), min(last, touching[1]), 0), (touching[1], last, 1)]
    a, b, kind = draw(st.sampled_from([s for s in stretches if first <= s[0] < s[1] <= last]))
    share = draw(st.one_of(st.just(0.0), st.floats(0, 0.999)))
    x1 = a + (b - a) * share if draw(st.booleans()) else min(max(math.exp(math.log(a) + share * math.log(b / a)), a), b)
    width = x1 * skew.shape.sd * 10 ** draw(st.floats(-3, 0.3))
    x2 = draw(st.sampled_from([min(x1 + width, b), b] if b < 30 * x1 else [min(x1 + width, b)]))
    assume(x2 > x1)
    return skew, np.array([x1, x2]), kind


@given(pairs(), st.sampled_from(OBJECTIVES), st.sampled_from([1e-13, 1e-3]))
@settings(max_examples=250, deadline=None)
def test_all_that_is_said_of_victims_between_two_holds(pair, objective, sharp):
    skew, ends, kind = pair
    known = skew.look(ends, np.full(2, kind, np.int8), None, sharp)  # also where t was not found exactly
    x = np.linspace(*ends, 43)
    each = skew.look(x, np.full(43, kind, np.int8), None, 1e-14)
    rounding = 1e-9 + 1e4 * float(each.slack.max())
    between = skew.between(known)
    holds(between, each, rounding)
    with np.errstate(invalid="ignore"):
        slowest, quickest = neighbours.pace(skew.lift, known, between, objective)
    true = speeds(skew.lift, each, objective)
    size = rounding * np.abs(each.height * (skew.lift * each.fall / each.weight + 1)).max()
    assert (slowest <= true + size).all()
    assert (true <= quickest + size).all()
    with np.errstate(all="ignore"):
        least, most = skew.hazards(known)
    true = np.array([each.outer[0], *each.hazard, each.outer[1]])
    assert (least <= true * (1 + rounding)).all()
    assert (true <= most * (1 + rounding)).all()
    most = objective.of(each.before, each.after.max(axis=0)).max()
    rounding = 1e-12 + 4 * float(known.slack.max() + each.slack.max()) * skew.lift
    assert neighbours.speed(skew, known, objective)[0] >= most - rounding
    assert skew.further(known, objective)[0] >= most - rounding


@given(pairs(), st.sampled_from(OBJECTIVES))
@settings(max_examples=150, deadline=None)
def test_gliding_bounds_either_row(pair, objective):
    """With t on the straight line between two victims: how fast ln(1 + odds) moves, and what is maximised, by row."""
    skew, ends, kind = pair
    known = skew.look(ends, np.full(2, kind, np.int8), None, 1e-13)
    share, k = np.linspace(0.0, 1.0, 41), skew.rate
    x, t = (a + (b - a) * share for a, b in (ends, known.t))
    (l, u), density, halves = skew.goal(x), skew.shape.density, skew.halves
    if kind or l[0] <= skew.low or u[-1] >= skew.high or t[1] <= t[0]:
        assert skew.further(known, objective)[0] == math.inf or not kind
        return
    (at_l, _), (at_t, _), (to_t, _), (to_u, _) = halves.left(l), halves.left(t), halves.right(t), halves.right(u)
    pace = (t[-1] - t[0]) / (x[-1] - x[0])
    with np.errstate(all="ignore"):
        slow, quick = skew.glide(known)
    speed = np.array([pace * density(t) / at_t - density(l) / at_l, density(u) / to_u - pace * density(t) / to_t])
    size = 1e-11 * (known.hazard.max() + known.outer.max())
    assert (slow <= speed + size).all()
    assert (speed <= quick + size).all()
    odds = np.expm1(np.array([np.log(at_t / at_l) + k * (t - l), np.log(to_t / to_u) + k * (u - t)])) * skew.lift
    found = objective.up[:, None, None] * odds / (1 + odds) - objective.down[:, None, None] * skew.shape.mass(l, u)
    found = found + objective.offset[:, None, None]
    assert (found <= skew.gliding(known, objective) + 1e-12 + 4 * float(known.slack.max()) * skew.lift).all()


@pytest.mark.parametrize(
    ("radius", "slope", "jump"), [(0.3, 0.05, 0.0), (0.5, 1.0, 1.0), (0.1, 0.5, 0.0), (0.05, 3.0, 0.5)]
)
@pytest.mark.parametrize("sd", [0.2, 0.5, 1.0])
def test_turning_points_lie_within_the_bounds(sd, radius, slope, jump):
    prior = nw.LogNormal(0, sd)
    for ends in (None, (-1.5, 8), (-1.5, 2)):
        one = prior if ends is None else nw.Truncated(prior, *(math.exp(sd * z) for z in ends))
        skew = skew_of(near(one, radius * sd, slope, jump))
        first = max(skew.low + 1.01 * skew.reach, math.exp(-6 * sd))
        last = min(skew.high - 1.01 * skew.reach, math.exp(6 * sd))
        assert holds_at_turns(skew, np.geomspace(first, last, 1201), PLAIN) > 10


@given(questions(), st.sampled_from(OBJECTIVES))
@settings(max_examples=60, deadline=None)
def test_no_victim_beats_the_worst_and_one_nearly_attains_it(question, objective):
    profile = near(*question)
    found, skew = worst_of_smooth(profile, objective, SHARPER, 1e-9), skew_of(profile)
    assume(skew is not None)
    assert found is not None
    own = float(objective.of(np.array([found.before]), np.array([found.after]))[0])
    assert 0 <= found.gain - own <= max(1.01e-8 * abs(own), 1e-9)
    named = profile.at(np.array([found.x]), smallest=False)  # he himself, by the way of the line
    assert found.gain - objective.of(named.before, named.after)[0] <= max(1e-8 * abs(own), 1e-9) + 1e-9 * abs(own)
    low, high = (skew.unit * end for end in skew.ends)
    around = found.x * np.exp(skew.shape.sd * np.linspace(-1, 1, 101) ** 3)
    every = np.concatenate([np.geomspace(low, high, 301), around, profile.radius + np.geomspace(low, 0.9 * high, 101)])
    every = every[(every >= low) & (every <= high)]
    each = profile.at(every, smallest=False)  # rounded up beside an end of the prior
    rounding = 1e-11 + 4 * skew.lift * skew.look(every / skew.unit, kinds(skew, every / skew.unit), None, 1e-13).slack
    assert (objective.of(each.before, each.after) <= found.gain + rounding).all()


def brute(prior, radius, slope, jump, x):
    """A gain by scipy's distribution and numpy's quadrature, and a search over peaks: from below, whatever the peak."""
    whole = prior.prior if isinstance(prior, nw.Truncated) else prior
    law, k = stats.lognorm(whole.sd, scale=math.exp(whole.mean)), slope / radius
    low, high = (prior.low, prior.high) if isinstance(prior, nw.Truncated) else (law.ppf(1e-40), law.isf(1e-20))
    nodes, weights = np.polynomial.legendre.leggauss(40)
    l, u = max(x - radius, low), min(x + radius, high)

    def tilted(a, b, t):
        steps = np.geomspace(a, b, 200)
        y = (steps[1:] + steps[:-1] + np.diff(steps) * nodes[:, None]) / 2
        return float((law.pdf(y) * np.exp(-k * np.abs(y - t)) * weights[:, None] * np.diff(steps) / 2).sum())

    odds = [
        (tilted(l, t, t) + tilted(t, u, t))
        / ((tilted(low, l, t) if l > low else 0) + (tilted(u, high, t) if u < high else 0))
        for t in np.linspace(l, u, 27)[1:-1]
    ]
    after = max(odds) * math.exp(jump) / (1 + max(odds) * math.exp(jump))
    return after - (law.cdf(u) - law.cdf(l)) / (law.cdf(high) - law.cdf(low))


@pytest.mark.parametrize(
    ("prior", "slope", "jump"),
    [
        (nw.LogNormal(3, 0.4), 0.3, 0.0),
        (nw.LogNormal(3, 0.4), 0.3, 1.0),
        (nw.LogNormal(3, 1), 1.0, 0.0),
        (nw.Truncated(nw.LogNormal(3, 0.4), 15, 40), 1.0, 0.5),
    ],
)
def test_no_attack_by_an_independent_integral_beats_the_bound(prior, slope, jump):
    found = worst_of_smooth(near(prior, 2.0, slope, jump), PLAIN, SHARPER, 1e-12)
    own = brute(prior, 2.0, slope, jump, found.x)
    assert own == pytest.approx(found.gain, rel=2e-3)  # of 25 peaks one is near the best
    for x in (3.0, 8.0, 14.0, 16.9, 21.0, 38.2, 39.9):
        if found.x != x and getattr(prior, "low", 0) <= x <= getattr(prior, "high", 99):
            assert brute(prior, 2.0, slope, jump, x) <= found.gain + 1e-9


@pytest.mark.parametrize("cut", [None, (0.4, 3.0)])
@pytest.mark.parametrize(("slope", "jump"), [(0.003, 0.0), (1.0, 0.5)])
def test_never_below_the_truth_to_twenty_digits(cut, slope, jump):
    prior = nw.LogNormal(0, 0.4) if cut is None else nw.Truncated(nw.LogNormal(0, 0.4), *cut)
    skew = skew_of(near(prior, 0.3, slope, jump))
    x = np.array([0.75, 1.1, 2.6])
    found = skew.look(x, np.zeros(3, np.int8), None, 1e-13)
    for i, victim in enumerate(x):
        l, t, u = victim - skew.reach, float(found.t[i]), victim + skew.reach
        with mp.workdps(20):
            k = mp.mpf(skew.rate)
            (a, _), (left, right), (_, b) = (exact(skew.shape, skew.rate, y) for y in (l, t, u))
            rows = left * mp.exp(k * (t - l)) / a - 1, right * mp.exp(k * (u - t)) / b - 1
            lifted = min(rows) * mp.exp(mp.mpf(jump))
            after = lifted / (1 + lifted)
            low, high = (mp.log(y) / mp.mpf(0.4) for y in cut or (mp.mpf(10) ** -30, mp.mpf(10) ** 30))
            total = mp.ncdf(high) - mp.ncdf(low)
            before = (mp.ncdf(mp.log(u) / mp.mpf(0.4)) - mp.ncdf(mp.log(l) / mp.mpf(0.4))) / total
        assert found.before[i] <= before
        assert found.before[i] == pytest.approx(float(before), rel=1e-9)
        assert found.after[:, i].max() >= after
        assert found.after[:, i].max() == pytest.approx(float(after), rel=1e-9)


@pytest.mark.parametrize("cut", [None, (0.7, 1.6)])
@pytest.mark.parametrize("x", [0.75, 0.8])
def test_victims_whose_goal_reaches_beyond_the_people(cut, x):
    """A peak at l (at u) attains what is said of them: hardly anybody, or nobody, lives beyond."""
    prior = nw.LogNormal(0, 0.1) if cut is None else nw.Truncated(nw.LogNormal(0, 0.1), *cut)
    skew = skew_of(near(prior, 0.5 if cut is None else 0.2, 5.0, 0.3))
    for victim, kind in ((x, -1), *(((2.3 - x, 1),) if cut else ())):
        found = skew.look(np.array([victim]), np.array([kind], np.int8), None, 1e-13)
        (l, u), k = skew.goal(np.array([victim])), skew.rate
        with mp.workdps(20):
            if kind < 0:
                whole, rest = (
                    exact(skew.shape, k, max(victim - skew.reach, skew.shape.low or 1e-9))[1],
                    exact(skew.shape, k, u[0])[1],
                )
                odds = whole * mp.exp(k * (u[0] - max(victim - skew.reach, skew.shape.low))) / rest - 1
            else:
                whole, rest = exact(skew.shape, k, u[0])[0], exact(skew.shape, k, l[0])[0]
                odds = whole * mp.exp(k * (u[0] - l[0])) / rest - 1
            after = odds * mp.exp(0.3) / (1 + odds * mp.exp(0.3))
        assert float(after) <= found.after.max() <= float(after) * (1 + 1e-10)


def test_gliding_rests_on_the_tangents_at_both_victims(monkeypatch):
    """Speeds as they are, a prior probability that grows evenly, and so a largest gain somewhere in between."""
    skew = skew_of(near(nw.LogNormal(0, 0.5), 0.3, 2.0, 1.0))
    known = skew.look(np.array([0.9, 1.6]), np.zeros(2, np.int8), None, 1e-13)
    log = np.log1p(np.array([[1.0, 3.0], [4.0, 0.5]]))  # of 1 + odds: one row rises, the other falls
    odds = np.expm1(log) * skew.lift
    grown = (odds / (1 + odds))[0, 1] - (odds / (1 + odds))[0, 0]
    bend = skew.lift * np.exp(log) / (1 + odds) ** 2
    known = replace(known, after=odds / (1 + odds), bend=bend, before=np.array([0.1, 0.1 + grown]))
    pace = (log[:, 1:] - log[:, :-1]) / 0.7
    monkeypatch.setattr(Skew, "glide", lambda *_: (pace, pace))
    monkeypatch.setattr(Skew, "_apart", lambda *_: (np.array([grown / 0.7]), np.array([grown / 0.7])))
    share = np.linspace(0, 1, 101)
    inner = np.expm1(log[:, :1] + (log[:, 1:] - log[:, :-1]) * share) * skew.lift
    gains = inner / (1 + inner) - 0.1 - grown * share
    assert gains[0].max() > max(gains[0, 0], gains[0, -1]) + 1e-3
    found = skew.gliding(known, PLAIN)[0, :, 0]
    assert (found >= gains.max(axis=1)).all()
    assert skew.gliding(replace(known, t=known.t[::-1]), PLAIN).min() == math.inf  # t does not move backward


def test_whoever_lives_below_the_first_knot_counts(monkeypatch):
    """As it is, 10^{−51} of the people; here one in a thousand."""
    monkeypatch.setattr("nowiser.guess.density.halves.DEEPEST", -2.6)
    monkeypatch.setattr("nowiser.guess.number.skew.DEEPEST", -2.6)
    monkeypatch.setattr("nowiser.guess.density.halves.FARTHER", 0.4)
    monkeypatch.setattr("nowiser.guess.density.halves.WRONG", 1.0)
    skew = skew_of(Near(LogLine(nw.LogNormal(0, 0.5)), 0.3, 2.0, 0.0, "x"))
    skew.halves.wrong = 0.0  # else it would hide what is asked here
    found = skew.look(np.array([0.35]), np.array([-1], np.int8), None, 1e-13)
    whole, beyond = exact(skew.shape, 2.0, 0.05)[1], exact(skew.shape, 2.0, 0.65)[1]
    assert skew.halves.knots[0] > 0.2
    assert found.after.max() >= 1 - beyond / (whole * mp.exp(2.0 * 0.6))


@pytest.mark.parametrize("seed", [*range(2), *(pytest.param(n, marks=pytest.mark.long) for n in range(2, 40))])
def test_never_above_branch_and_bound_in_cells(seed):
    rng = np.random.default_rng(seed)
    prior = nw.LogNormal(rng.normal() * 3, 10 ** rng.uniform(-1, 0))
    radius = math.exp(prior.mean) * prior.sd * 10 ** rng.uniform(-1, 0.3)
    if seed % 2:
        prior = nw.Truncated(prior, *(math.exp(prior.mean + prior.sd * z) for z in (rng.uniform(-3, -1), 3)))
    profile = near(prior, radius, 10 ** rng.uniform(-2, 0.7), rng.choice([0.0, 0.1, 1.0]))
    quick = worst_of_smooth(profile, PLAIN, SHARPER, 1e-12)
    cells = near(prior, radius, profile.rate * radius, profile.jump)
    object.__setattr__(cells, "line", profile.line.cells)
    slow = _branched(cells, PLAIN, 1e-12, negated=False, smallest=False)
    assert quick is not None
    assert quick.gain <= slow.gain + 1e-9
    named = profile.at(np.array([slow.x]), smallest=False)
    assert float((named.after - named.before)[0]) <= quick.gain + 1e-12


@pytest.mark.parametrize("slope", [0.02, 0.3, 3.0])
def test_few_victims_suffice_also_in_a_long_flat_tail(slope, monkeypatch):
    """What makes it quick: a few hundred victims. (In the tail the gain is flat for thousands of radii.)"""
    looked, look = [], Skew.look
    monkeypatch.setattr(Skew, "look", lambda self, x, *rest: looked.append(x.size) or look(self, x, *rest))
    for sd, jump in ((0.25, 0.0), (0.4, 1.0), (1.0, 0.0), (1.0, 2.0)):
        assert worst_of_smooth(near(nw.LogNormal(3, sd), 2.0, slope, jump), PLAIN, SHARPER, 1e-12) is not None
    assert sum(looked) < 4 * 450


def test_what_doubles_do_not_hold_is_left_to_others():
    usual = nw.LogNormal(0, 1)
    assert skew_of(near(usual, 0.4, 0.4, 0.0)) is not None
    for prior, radius, slope, jump in [
        (usual, 1e-4, 0.1, 0.0),
        (usual, 0.001, 10.0, 0.0),
        (usual, 0.4, 101.0, 0.0),
        (usual, 1.0, 1.0, 21.0),
        (usual, 1.0, 1e-8, 0.0),
        (nw.Truncated(usual, 0, 1), 0.5, 0.1, 0.0),
        (nw.Truncated(usual, 1, 1.001), 0.0002, 0.1, 0.0),
        (nw.Normal(0, 1), 0.1, 0.1, 0.0),
    ]:
        assert skew_of(near(prior, radius, slope, jump)) is None
