"""From a gain to a cost: the inverse of the ceiling, from the safe side, in every digit."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.ask import scale
from nowiser.guess.bracket import bracketed, largest_multiple


@pytest.mark.parametrize(
    ("prior", "goal", "asked", "which", "value"),
    [
        (nw.Uniform(12, 28), nw.Within(2), {"victim": 20}, "slope", 0.128401),
        (nw.Normal(20, 5), nw.Within(2), {"victim": 20}, "slope", 0.107286),
        (nw.Presence(0.25), nw.Present(), {}, "jump", 8 * 0.031414),
        (nw.Unknown(), nw.Present(), {}, "jump", 8 * 0.025021),
        (nw.Unknown(0, 16), nw.Within(2), {}, "slope", 0.025021),
    ],
)
def test_reference_values(prior, goal, asked, which, value):
    found = nw.largest(prior, goal, gain="5%", **asked)
    assert getattr(found, which) == pytest.approx(value, abs=5e-6)


def test_shape_of_the_answer():
    assert repr(nw.largest(nw.Uniform(12, 28), nw.Within(2), gain=0.05, victim=20)) == "Cost(slope=0.128401, jump=0.0)"


lines = st.one_of(
    st.floats(4, 100).map(lambda w: nw.Uniform(0, w)),
    st.floats(0.5, 30).map(lambda s: nw.Normal(1, s)),
    st.lists(st.integers(1, 9), min_size=2, max_size=8).map(lambda w: nw.Atoms(np.arange(float(len(w))), np.array(w) / sum(w))),
    st.lists(st.integers(1, 9), min_size=2, max_size=6).map(lambda w: nw.Histogram(np.arange(len(w) + 1.0), np.array(w) / sum(w))),
)  # fmt: skip


def kept(prior, goal, cost, gain, victim=None):
    found = nw.guess(prior, goal, slope=cost.slope, jump=cost.jump, victim=victim)
    return Fraction(found.after) - Fraction(found.before) <= Fraction(str(gain))


@given(
    lines,
    st.sampled_from([0.001, 0.01, 0.05, 0.1]),
    st.sampled_from([{}, {"jump": True}, {"along": nw.Cost(1.0, 0.3)}, {"jump": 0.0005}]),
)
@settings(max_examples=20, deadline=None)
def test_the_promise_is_kept_in_every_digit_and_no_cost_is_wasted(prior, gain, how):
    goal = nw.Within(0.4)
    for victim in (1.0, None):
        cost = nw.largest(prior, goal, gain=gain, victim=victim, **how)
        assert kept(prior, goal, cost, gain, victim)
        bit = 1 + 1e-6 if victim is not None or isinstance(prior, nw.Atoms) else 1.002
        more = nw.Cost(
            cost.slope * (bit if how.get("jump") is not True else 1),
            cost.jump * (1 if "jump" in how and how["jump"] is not True else bit),
        )
        assert not kept(prior, goal, more, gain, victim)


def test_several_attributes_scale_together():
    priors = {"t": nw.Normal(20, 5), "d": nw.Categories({"soup": 0.3, "pasta": 0.7})}
    along = {"t": nw.Cost(1.0), "d": nw.Cost(0, 0.5)}
    goal = "t within 2 and d exactly"
    found = nw.largest(priors, goal, gain="5%", along=along)
    assert found["d"].jump == pytest.approx(found["t"].slope / 2)
    after = nw.guess(priors, goal, costs=found)
    assert Fraction(after.after) - Fraction(after.before) <= Fraction(1, 20)
    assert after.gain > 0.0499


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (
            {"gain": 0.8, "victim": 20},
            "gain must be below 0.75: before is 0.25, and before \\+ gain may not reach 1, found 0.8",
        ),
        ({"gain": 0.7501, "victim": 20}, "gain must be below 0.75"),
        ({"gain": 1}, "gain must be below"),
        ({"gain": "5"}, "gain must be a percentage"),
        ({"gain": 0.05, "slope": True, "jump": True}, "cannot both be enlarged"),
        ({"gain": 0.05, "slope": 0.1, "jump": 0.1}, "nothing is left to enlarge"),
        ({"gain": 0.05, "jump": 5.0}, "gain must be at least"),
        ({"gain": 0.05, "along": nw.Cost()}, "along must be a cost above zero"),
        ({"gain": 0.05, "along": nw.Cost(1), "jump": 1.0}, "either along, or slope and jump"),
    ],
)
def test_gains_that_cannot_be_asked_for(asked, says):
    with pytest.raises(Misconfigured, match=says):
        nw.largest(nw.Uniform(12, 28), nw.Within(2), **asked)


def test_a_gain_of_zero_allows_no_cost():
    assert nw.largest(nw.Uniform(12, 28), nw.Within(2), gain=0, victim=20).slope < 1e-9


def test_noise_from_a_cost():
    noise = scale(nw.Cost(0.128401), radius=2, per_unit=1 / 30)
    assert noise.scale == pytest.approx(2 / 30 / 0.128401)
    assert noise.error == pytest.approx(noise.scale * math.log(20))
    assert Fraction(noise.scale) * Fraction(0.128401) >= Fraction(2) / 30 * (1 - Fraction(1, 10**15))
    assert scale(nw.Cost(0.5, 0.5), radius=2, per_unit=1, in_all=1).scale == pytest.approx(2.0)
    with pytest.raises(Misconfigured, match="noise needs"):
        scale(nw.Cost(0.5), in_all=3)


@pytest.mark.parametrize(
    ("prior", "goal", "victim", "words"),
    [
        (nw.Uniform(0, 1), nw.Within(5), None, "the goal is always met"),
        (nw.Uniform(0, 1), nw.Within(5), 0.5, "the goal is always met"),
        (nw.Uniform(0, 1), nw.In.between(0, 1), None, "the goal is always met"),
    ],
)
def test_where_nothing_can_be_gained_no_cost_is_the_largest(prior, goal, victim, words):
    with pytest.raises(Misconfigured, match=f"no cost is the largest that keeps a gain: {words}"):
        nw.largest(prior, goal, gain=0.05, victim=victim)


def test_labels_have_no_slope_that_nobody_gave():
    labels = nw.Categories({"a": 0.3, "b": 0.7})
    with pytest.raises(Misconfigured, match="only a jump can be enlarged: the largest slope was asked for"):
        nw.largest(labels, nw.Exactly(), gain=0.05, slope=True)
    with pytest.raises(Misconfigured, match="found a slope of 2"):
        nw.largest(labels, nw.Exactly(), gain=0.05, along=nw.Cost(2, 1))
    with pytest.raises(Misconfigured, match=r"dish has no distances.* found a slope of 2"):
        nw.largest({"dish": labels}, "dish exactly", gain=0.05, along={"dish": nw.Cost(2, 1)})


def test_a_mapping_along_leaves_nothing_else_to_give():
    with pytest.raises(Misconfigured, match="either along, or slope and jump"):
        nw.largest({"t": nw.Uniform(0, 1)}, "t within 0.1", gain=0.05, along={"t": nw.Cost(1)}, jump=5)


@given(st.floats(1e-3, 10), st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_noise_is_never_rounded_down(slope, radius, per_unit):
    found = scale(nw.Cost(slope), radius=radius, per_unit=per_unit).scale
    assert Fraction(found) * Fraction(slope) >= Fraction(radius) * Fraction(per_unit)


def test_a_gain_above_the_limit_in_the_thirteenth_digit_is_above_it():
    limit = Fraction(1, 20)
    above = limit * (1 + Fraction(5, 10**13))
    found = largest_multiple(lambda t: (limit * Fraction(t) if t <= 1 else above, 0.1), limit, 1.0)
    assert 0.9 < found <= 1


def test_a_denied_goal_on_a_number_has_a_largest_slope_too():
    for goal in (nw.Not(nw.Within(2)), "not t within 2"):
        prior = {"t": nw.Uniform(12, 28)} if isinstance(goal, str) else nw.Uniform(12, 28)
        found = nw.largest(prior, goal, gain=0.05, victim={"t": 20} if isinstance(goal, str) else 20)
        assert found.slope > 0
        assert found.jump == 0


TWO = {"a": nw.Normal(0, 1), "b": nw.Normal(0, 1)}


@pytest.mark.parametrize(
    ("prior", "goal", "which"),
    [
        (TWO, "(a, b) within 1", "slope"),  # it was a jump
        (TWO | {"dish": nw.Categories({"x": 0.5, "y": 0.5})}, "(a, b) within 1", "slope"),  # not about the dish
        ({"a": nw.Normal(0, 1), "dish": nw.Categories({"x": 0.5, "y": 0.5})}, "dish exactly", "jump"),
        (nw.Normal(0, 1), "t within 1 and t in [0, 2]", "slope"),
        (nw.Atoms({0: 0.5, 1: 0.5}), "t exactly", "jump"),
        (nw.JointAtoms(["f", "t"], {("x", 1.0): 0.5, ("y", 2.0): 0.5}), "f in {x}", "jump"),
        (nw.JointAtoms(["f", "t"], {("x", 1.0): 0.5, ("y", 2.0): 0.5}), "t within 0.5", "slope"),
    ],
)
def test_the_largest_slope_for_numbers_and_the_largest_jump_for_labels(prior, goal, which):
    if goal == "(a, b) within 1":
        found = nw.largest(prior, goal, gain=0.05, victim={"a": 0.0, "b": 0.0})
    else:
        found = nw.largest(prior, goal, gain=0.05)
    assert (found.slope > 0, found.jump > 0) == (which == "slope", which == "jump")


CURVES = {
    "jump": lambda t: math.tanh(t / 4),
    "slope": lambda t: 1 - math.exp(-t),
    "flat at first": lambda t: t**2 / (1 + t**2),
    "very steep": lambda t: 1 - math.exp(-1e9 * t),
    "in steps": lambda t: round(1 - math.exp(-t), 6),
}


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("limit", [Fraction(1, 20), Fraction(1, 1000), Fraction(9, 10)])
def test_the_lower_end_was_asked_and_the_upper_one_breaks_the_limit(name, limit):
    asked = {}

    def excess(t):
        asked[t] = Fraction(CURVES[name](t)) - limit
        return asked[t]

    low, high = bracketed(excess, 1.0, 512.0, -limit, sharp=1e-7)
    assert asked[low] <= 0 < asked[high]
    assert high - low <= 1e-7 * high
    assert len(asked) < 40


def test_where_the_most_keeps_the_limit_there_is_no_upper_end():
    assert bracketed(lambda t: Fraction(t) - 1000, 1.0, 512.0, Fraction(-1000)) == (512.0, math.inf)
