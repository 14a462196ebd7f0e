"""Several conditions on one number: the exact ceiling of each victim, and no victim above the worst."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.ceiling import raised
from nowiser.guess.number.conditioned import conditioned, merged
from nowiser.guess.number.conditions import stretches
from nowiser.guess.parts.formula import Compound, holds, simple_goals
from nowiser.model.goal import Goal, In, Within

CELLS = 8_000
VICTIMS = (16.3, 23.1, 9.5)
PRIORS = [
    nw.Normal(20, 5),
    nw.Uniform(0, 40),
    nw.LogNormal(3, 0.5),
    nw.Frozen("gamma", 4.0, 0, 5.0),
    nw.Histogram([0, 10, 20, 40], [0.2, 0.5, 0.3]),
    nw.Truncated(nw.Normal(20, 5), 12, 30),
]
BOTH = nw.Within(3) & nw.In.between(15, 22)
GOALS = [BOTH, nw.Within(3) & ~nw.In.between(15, 22), ~BOTH, nw.Within(2) & nw.In.between(18, 60) & nw.Within(3)]


def cells(prior: nw.Prior) -> tuple[np.ndarray, np.ndarray]:
    """Midpoints and masses of small cells, by the distribution function of scipy."""
    from scipy import stats

    match prior:
        case nw.Normal():
            law = stats.norm(prior.mean, prior.sd)
        case nw.Uniform():
            law = stats.uniform(prior.low, prior.high - prior.low)
        case nw.LogNormal():
            law = stats.lognorm(prior.sd, scale=np.exp(prior.mean))
        case nw.Frozen():
            law = stats.gamma(4.0, 0, 5.0)
        case nw.Histogram():
            law = stats.rv_histogram((np.array([0.2, 0.5, 0.3]), np.array([0, 10, 20, 40])), density=False)
        case _:
            law = stats.truncnorm(-1.6, 2.0, 20, 5)
    edges = np.linspace(max(law.ppf(1e-15), -30), min(law.isf(1e-12), 250.0), CELLS + 1)
    cuts = [x + r for x in VICTIMS for r in (-3, 3)] + [15, 22]
    edges = np.unique(np.append(edges, [c for c in cuts if edges[0] < c < edges[-1]]))
    return (edges[1:] + edges[:-1]) / 2, np.diff(law.cdf(edges))


def truth(goal: Goal, x: float, y: np.ndarray) -> np.ndarray:
    """Which y are in the goal of victim x, by its definition."""

    def inside(part: Goal) -> np.ndarray:
        if isinstance(part, Within):
            return np.abs(y - x) <= part.radius
        assert isinstance(part, In)
        return (y >= part.low) & (y <= part.high)

    return np.asarray(holds(goal, inside))


def best(y: np.ndarray, w: np.ndarray, inside: np.ndarray, k: float, jump: float) -> tuple[float, float]:
    """Before, and the largest posterior of all peaks and valleys e^{∓k|y−t|} (and e^jump on the goal), by trying them."""
    found, before = 0.0, w[inside].sum() / w.sum()
    lo, hi = y[inside].min(initial=np.inf), y[inside].max(initial=-np.inf)
    sides = [(k, lo, hi), (-k, y[~inside].min(initial=np.inf), y[~inside].max(initial=-np.inf))]
    for rate, first, last in sides:
        a, b = first, last
        for _ in range(4):
            ts = np.linspace(a, b, 25)
            if not np.isfinite(ts).all():
                break
            values = []
            for t in ts:
                log = -rate * np.abs(y - t)
                v = w * np.exp(log - log.max())
                values.append(np.exp(jump) * v[inside].sum() / (np.exp(jump) * v[inside].sum() + v[~inside].sum()))
            i = int(np.argmax(values))
            found = max(found, values[i])
            a, b = ts[max(i - 1, 0)], ts[min(i + 1, ts.size - 1)]
    return before, found


@pytest.mark.parametrize(("prior", "goal"), list(itertools.product(PRIORS, GOALS[:3])))
def test_one_victim_agrees_with_all_peaks_and_valleys(prior: nw.Prior, goal: Goal) -> None:
    y, w = cells(prior)
    for x, slope, jump in ((16.3, 0.9, 0.0), (23.1, 0.3, 0.4)):
        answer = nw.guess(prior, goal, slope=slope, jump=jump, victim=x)
        before, after = best(y, w, truth(goal, x, y), slope / 3, jump)
        assert answer.tight
        assert answer.before == pytest.approx(before, abs=1e-3)
        assert answer.after == pytest.approx(after, abs=1.5e-3)


@pytest.mark.parametrize(
    ("prior", "goal"), [*itertools.product(PRIORS[:2], GOALS), *[(p, g) for p in PRIORS[2:] for g in GOALS[:2]]]
)
def test_the_worst_victim_is_the_worst(prior: nw.Prior, goal: Goal) -> None:
    for slope, jump in ((0.3, 0.0), (1.5, 0.2), (0.0, 0.3)):
        worst = nw.guess(prior, goal, slope=slope, jump=jump)
        profile = conditioned(prior, Compound(None, goal), nw.Cost(slope, jump), "t")
        low, high = (float(f(profile.start()[i])) for i, f in ((0, np.min), (1, np.max)))
        x = np.concatenate([np.linspace(max(low, -10.0), min(high, 60.0), 1001), *profile.start(), [worst.victim]])
        every = profile.at(x)
        gains = np.asarray(every.after - every.before)
        rough = 2 * profile.line.wiggle() + 1e-12
        assert worst.gain >= gains.max() - rough
        # (far out on a lognormal prior each victim is a little worse than the one before)
        assert worst.gain <= gains.max() * (1 + (5e-4 if isinstance(prior, nw.LogNormal) else 1e-4)) + 3e-6
        own = nw.guess(prior, goal, slope=slope, jump=jump, victim=worst.victim)
        assert worst.gain == pytest.approx(own.gain, rel=5e-4 if isinstance(prior, nw.LogNormal) else 1e-4, abs=3e-6)


conditions = st.one_of(
    st.builds(Within, st.floats(0.1, 9)),
    st.tuples(st.floats(-9, 9), st.floats(0.01, 9)).map(lambda p: In.between(p[0], p[0] + p[1])),
)
formulas = st.recursive(
    conditions,
    lambda inner: st.one_of(
        inner.map(lambda g: ~g),
        st.tuples(inner, inner).map(lambda p: p[0] & p[1]),
        st.tuples(inner, inner).map(lambda p: p[0] | p[1]),
    ),
    max_leaves=5,
)


@given(goal=formulas, x=st.floats(-10, 10), y=st.floats(-10, 10), low=st.sampled_from([-10.0, -np.inf]))
def test_stretches_are_the_goal(goal: Goal, x: float, y: float, low: float) -> None:
    every = stretches(goal, low, 10.0)
    assert every[0].first == low
    assert every[-1].last == 10.0
    assert all(a.last == b.first for a, b in itertools.pairwise(every))
    ends = [e.of(x) for part in simple_goals(goal) for s in every for pair in s.intervals for e in pair]
    if any(abs(y - e) < 1e-9 for e in ends) or any(min(abs(x - s.first), abs(x - s.last)) < 1e-9 for s in every):
        return  # single points have no probability
    (one,) = (s for s in every if s.first < x < s.last)
    listed = any(a.of(x) < y < b.of(x) for a, b in one.intervals)
    assert (listed != one.outside) == bool(truth(goal, x, np.array([y]))[0])


def test_the_smaller_radius_counts() -> None:
    both = nw.guess(nw.Normal(20, 5), nw.Within(4) & nw.Within(2), slope=0.2)
    assert both.gain == pytest.approx(nw.guess(nw.Normal(20, 5), nw.Within(2), slope=0.2).gain, rel=1e-9)


def test_conditions_beside_another_attribute() -> None:
    priors = {"t": nw.Normal(20, 5), "d": nw.Categories({"a": 0.4, "b": 0.6})}
    costs = {"t": nw.Cost(0.5), "d": nw.Cost(0, 0.5)}
    goal = nw.parse_goal("t within 3 and d exactly and t in [15, 22]")
    parts = simple_goals(merged(goal))
    assert [str(p) for p in parts] == ["t within 3 and t in [15, 22]", "d exactly"]
    victim = {"t": 18.0, "d": "a"}
    both = nw.guess(priors, goal, costs=costs, victim=victim)
    alone = nw.guess(priors["t"], BOTH, slope=0.5, victim=18.0)
    label = nw.guess(priors["d"], nw.Exactly(), jump=0.5, victim="a")
    assert both.after == pytest.approx(alone.after * label.after, rel=1e-12)
    assert both.goal == str(goal)
    assert nw.guess(priors, goal, costs=costs).gain >= both.gain


def test_a_goal_never_met_is_refused() -> None:
    with pytest.raises(Misconfigured, match="never met"):
        nw.guess(nw.Normal(20, 5), nw.Within(2) & ~nw.Within(3), slope=1.0)


def test_the_largest_cost_is_kept() -> None:
    cost = nw.largest(nw.Normal(20, 5), BOTH, gain=0.05, slope=True)
    assert nw.guess(nw.Normal(20, 5), BOTH, slope=cost.slope).gain <= 0.05
    assert nw.guess(nw.Normal(20, 5), BOTH, slope=cost.slope * 1.001).gain > 0.05


GAPS = nw.Within(3) | nw.In.between(15, 22)


@pytest.mark.parametrize("prior", [PRIORS[0], PRIORS[1], PRIORS[4]])
@pytest.mark.parametrize("goal", [GAPS, ~GAPS])
def test_goals_with_gaps(prior: nw.Prior, goal: Goal) -> None:
    """No likelihood of many turns beats the sweep, and its own witness all but attains it."""
    y, w = cells(prior)
    x, k, jump = 9.5, 0.2, 0.3
    answer = nw.guess(prior, goal, slope=3 * k, jump=jump, victim=x)
    inside = truth(goal, x, y)
    assert answer.before == pytest.approx(w[inside].sum() / w.sum(), abs=6e-4)
    assert not answer.tight
    at, seen = (np.array(column) for column in zip(*answer.witness.table, strict=True))
    told = w * np.exp(np.interp(y, at, np.log(seen) - jump * (truth(goal, x, at)))) * np.where(inside, np.exp(jump), 1)
    assert answer.after == pytest.approx(told[inside].sum() / told.sum(), abs=1.5e-3)
    rng = np.random.default_rng(5)
    for _ in range(40):
        turns = np.sort(rng.uniform(0, 40, rng.integers(1, 6)))
        signs = np.where(np.searchsorted(turns, y) % 2 == 0, 1.0, -1.0) * rng.choice([-1.0, 1.0])
        log = np.cumsum(signs * np.gradient(y)) * k
        v = w * np.exp(log - log.max()) * np.where(inside, np.exp(jump), 1)
        assert v[inside].sum() / v.sum() <= answer.after + 1e-3


def test_the_worst_victim_of_a_goal_with_gaps() -> None:
    worst = nw.guess(nw.Normal(20, 5), GAPS, slope=0.3)
    found = [nw.guess(nw.Normal(20, 5), GAPS, slope=0.3, victim=x).gain for x in (11.9, 12.1, 18.0, 25.1)]
    assert max(found) <= worst.gain <= 1.01 * max(found)
    assert not worst.tight


def test_extremes_of_goals_with_gaps() -> None:
    assert nw.guess(nw.Normal(20, 5), GAPS).gain == 0
    assert 0 < nw.guess(nw.Normal(20, 5), GAPS, slope=1e-9).gain < 1e-6
    assert nw.guess(nw.Normal(20, 5), GAPS, slope=1e4, victim=5.0).after == pytest.approx(1)
    assert nw.guess(nw.Normal(20, 5), GAPS, slope=0.1, victim=1000.0).gain < 0.05


def test_no_victim_gains_more_than_the_worst_one_is_said_to_gain_where_certainty_cuts_the_bound_off():
    """The victim found first was guessed with 85 % beforehand; there is one of 70 % who gains twice as much."""
    prior, goal = nw.Normal(0, 1), nw.Not(nw.Within(1) & nw.Not(nw.Within(0.5)))
    worst = nw.guess(prior, goal, slope=20)
    assert worst.gain >= nw.guess(prior, goal, slope=20, victim=0).gain
    assert worst.after == 1.0
    assert worst.victim == pytest.approx(0, abs=0.5)


@pytest.mark.parametrize(
    "prior", [nw.Normal(20, 5), nw.Atoms({18: 0.2, 20: 0.3, 23: 0.5})], ids=lambda p: type(p).__name__
)
def test_the_order_of_conditions_does_not_matter(prior):
    """A slope is per radius: that of whichever condition stood first made `and` say two things."""
    for one, other in ((Within(2) & Within(4), Within(4) & Within(2)), (Within(2) | Within(4), Within(4) | Within(2))):
        found, same = (nw.guess(prior, goal, slope=1, victim=20) for goal in (one, other))
        assert (found.before, found.after) == pytest.approx((same.before, same.after), abs=1e-9)
    joint = nw.JointAtoms(["x", "y"], {(18, 1): 0.2, (20, 2): 0.3, (23, 1): 0.5})
    texts = ("x within 2 and x within 4", "x within 4 and x within 2")
    after = [nw.guess(joint, t, costs={"x": nw.Cost(1)}, victim={"x": 20, "y": 2}).after for t in texts]
    assert after[0] == pytest.approx(after[1], abs=1e-9)


def test_a_bound_on_everybody_is_never_cut_off():
    for before, after, gain in ((0.85, 1.0, 0.3), (0.2, 0.6, 0.4), (0.5, 0.9, 0.4001), (0.999, 1.0, 1.0)):
        low, high = raised(before, after, gain)
        assert 0 <= low <= before
        assert high <= 1
        assert Fraction(high) - Fraction(low) >= Fraction(gain) - Fraction(1, 10**16)
    assert raised(1.0, 1.0, 1e-14) == (1.0, 1.0)


def test_a_part_that_is_said_twice_is_one():
    """There was no end to the taking apart."""
    prior, costs = {"x": nw.Normal(4, 2), "y": nw.Categories(["a", "b"])}, {"x": nw.Cost(0.7)}
    once, twice = (
        nw.guess(prior, goal, costs=costs, victim={"x": 4, "y": "b"})
        for goal in ("x within 1 and y exactly", "(x within 1 and y exactly) or (x within 1 and y exactly)")
    )
    assert twice.after == pytest.approx(once.after, abs=1e-12)


def test_the_victim_that_is_told_can_be_asked_about():
    """Whom a goal does not depend on has no value."""
    prior, costs = {"x": nw.Normal(4, 2), "y": nw.Uniform(0, 4)}, {"x": nw.Cost(0.7), "y": nw.Cost(0.3, 0.2)}
    worst = nw.guess(prior, "x within 1 and y in [0, 1]", costs=costs)
    assert worst.victim["y"] is None
    again = nw.guess(prior, "x within 1 and y in [0, 1]", costs=costs, victim=worst.victim)
    assert again.after == pytest.approx(worst.after, abs=1e-6)


def test_who_the_victim_is_does_not_matter_where_all_have_one_goal():
    fixed = nw.In.between(0, 1) | nw.In.between(3, 4)
    found = nw.guess(nw.Normal(0, 5), fixed, slope=0.1)
    assert found.victim is None
    assert found.witness.victim is None
    both = {"x": nw.Normal(0, 5), "d": nw.Categories(["a", "b"])}
    goal, costs = "(x in [0, 1] or x in [3, 4]) and d exactly", {"x": nw.Cost(0.1), "d": nw.Cost(0.0, 1.0)}
    worst = nw.guess(both, goal, costs=costs)
    assert worst.victim["x"] is None
    assert nw.guess(both, goal, costs=costs, victim=worst.victim).after == pytest.approx(worst.after, rel=1e-3)


@pytest.mark.parametrize(
    ("prior", "far"),
    [(nw.Normal(0, 500), 4300.0), (nw.Frozen("gamma", 3.0), 80.0), (nw.Truncated(nw.LogNormal(0, 0.1), 0, 9), 3.0)],
)
def test_values_farther_out_than_any_victim_who_is_looked_for_are_values(prior, far):
    """One in a trillion lives there, whom a steep cost tells apart all the same."""
    one, same = nw.In.between(far, 1.1 * far), nw.In.between(far, 1.05 * far) | nw.In.between(1.04 * far, 1.1 * far)
    for slope in (20 / far, 60 / far, 150 / far, 1000 / far):
        found, true = (nw.guess(prior, goal, slope=slope) for goal in (same, one))
        assert found.after == pytest.approx(true.after, rel=1e-6)
    beside = nw.guess(prior, one | (nw.Within(far / 100) & nw.In.between(far / 2, far)), slope=10, victim=far / 10)
    assert beside.after > 0.99


@pytest.mark.parametrize(
    ("prior", "far", "radius"),
    [(nw.Normal(0, 500), 6000.0, 50.0), (nw.Frozen("gamma", 3.0), 90.0, 3.0), (nw.Frozen("logistic"), -90.0, 3.0)],
)
def test_a_victim_who_is_not_looked_for_may_be_named(prior, far, radius):
    """His goal is his own, not that of the last victim who is."""
    for side in (-1, 1):
        fixed = (far, far + 10 * radius) if side > 0 else (far - 10 * radius, far)
        goal, ends = nw.Within(radius) & nw.In.between(*fixed), sorted((far, far + side * radius / 2))
        for slope in (0.5, 3, 20, 100):
            found = nw.guess(prior, ~goal, slope=slope, victim=far - side * radius / 2)
            true = nw.guess(prior, ~nw.In.between(*ends), slope=slope / radius)
            assert (found.after, found.smallest) == pytest.approx((true.after, true.smallest), rel=1e-6, abs=1e-12)
        assert found.smallest < 0.5
