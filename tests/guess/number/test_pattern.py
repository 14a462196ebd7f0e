"""Conditions on one number: who meets them, also where single values have a probability beside a density."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.density.apart import apart
from nowiser.guess.grid.programme import Programme, axis_rows, solve
from nowiser.guess.grid.space import space_of
from nowiser.guess.number.conditioned import conditioned
from nowiser.guess.number.follow import Objective
from nowiser.guess.number.pattern import pattern
from nowiser.guess.number.spans import Spans
from nowiser.guess.parts.formula import Compound, holds, simple_goals
from nowiser.model.goal import And, Exactly, Goal, In, Not, Or, Within

VALUES = np.array([0.0, 1.0, 2.5, 4.0])
MASSES = np.array([0.1, 0.2, 0.05, 0.15])
halves = st.integers(-2, 12).map(lambda i: i / 2)
simple = st.one_of(
    st.sampled_from([0.5, 1.0, 1.5]).map(Within),
    st.just(Exactly()),
    st.tuples(halves, halves).map(lambda ends: In.between(*sorted(ends))),
    st.frozensets(halves, min_size=1, max_size=3).map(In),
)
goals = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: And(tuple(parts))),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: Or(tuple(parts))),
        inner.map(Not),
    ),
    max_leaves=5,
)
# between all ends there are, and single values
PLACES = np.sort(np.concatenate([np.arange(-16, 40) / 4 + 0.06, VALUES]))


def met(goal: Goal, x: float, y: np.ndarray) -> np.ndarray:
    """Which values meet the goal of victim x, by its definition."""

    def inside(part: Goal) -> np.ndarray:
        if isinstance(part, Within):
            return np.abs(y - x) <= part.radius
        if isinstance(part, Exactly):
            return y == x
        assert isinstance(part, In)
        return np.isin(y, list(part.values)) if part.values is not None else (y >= part.low) & (y <= part.high)

    return np.broadcast_to(np.asarray(holds(goal, inside)), y.shape)


def told(spans: Spans, row: int) -> tuple[np.ndarray, float]:
    """Which of the places are inside, and the mass of the single values that are."""
    ends, single = spans.ends[row], np.isin(PLACES, VALUES)
    inside = np.array(spans.inside)[np.searchsorted(ends, PLACES)]
    apart_ = single & np.isin(PLACES, ends)  # at an end: told by their masses
    masses = dict(zip(VALUES.tolist(), MASSES.tolist(), strict=True))
    whole = sum(masses[y] for y in PLACES[single & inside & ~apart_].tolist())
    assert spans.owed[row].sum() + spans.paid[row].sum() == pytest.approx(
        sum(masses[y] for y in PLACES[apart_].tolist())
    )
    return inside & ~single, float(whole + spans.owed[row].sum())


@given(goals, halves)
def test_one_victim_has_his_goal(goal, x):
    (_, spans), *none = pattern(goal, VALUES, MASSES).spans(np.array([x]), np.array([x]), wide=True)
    assert not none
    expected, single = met(goal, x, PLACES), np.isin(PLACES, VALUES)
    inside, mass = told(spans, 0)
    assert (inside == (expected & ~single)).all()
    assert mass == pytest.approx(MASSES @ met(goal, x, VALUES))
    assert (pattern(goal, VALUES, MASSES).holds(x, VALUES) == met(goal, x, VALUES)).all()


@given(goals, halves, st.sampled_from([0.25, 0.5, 1.0, 3.0]))
def test_a_range_has_at_most_and_at_least_what_its_victims_have(goal, x1, width):
    """Of all victims strictly between, also of those right beside its ends."""
    found, x2 = {}, x1 + width
    for wide in (True, False):
        ((_, spans),) = pattern(goal, VALUES, MASSES).spans(np.array([x1]), np.array([x2]), wide=wide)
        found[wide] = told(spans, 0)
    for x in np.concatenate([np.linspace(x1, x2, 9)[1:-1], [x1 + 1e-9, x2 - 1e-9]]).tolist():
        own, mass = met(goal, x, PLACES) & ~np.isin(PLACES, VALUES), MASSES @ met(goal, x, VALUES)
        assert (found[False][0] <= own).all()
        assert (own <= found[True][0]).all()
        assert found[False][1] - 1e-12 <= mass <= found[True][1] + 1e-12


@given(goals, halves)
def test_a_denied_goal_is_the_rest(goal, x):
    own = pattern(goal, VALUES, MASSES)
    at = np.array([x])
    (_, spans), (_, others) = own.spans(at, at, wide=True)[0], own.negated().spans(at, at, wide=True)[0]
    (inside, mass), (outside, rest) = told(spans, 0), told(others, 0)
    assert (inside ^ outside ^ np.isin(PLACES, VALUES)).all()
    assert mass + rest == pytest.approx(MASSES.sum())


def test_priors_are_taken_apart():
    inner = nw.Mixture([(0.5, nw.Atoms({0: 0.5, 3: 0.5})), (0.5, nw.Uniform(0, 10))])
    found = apart(nw.Mixture([(0.4, inner), (0.6, nw.Normal(5, 1))]))
    assert (found.values.tolist(), found.masses.tolist(), found.weight) == ([0, 3], [0.1, 0.1], 0.8)
    found = apart(nw.Truncated(inner, 1, 6))  # 0.25 at 3, and half of the uniform
    assert found.masses[0] == pytest.approx(0.5)
    assert found.weight == pytest.approx(0.5)
    assert (found.density.low, found.density.high) == (1, 6)
    found = apart(nw.Mixture([(0.5, nw.Atoms({1: 1.0})), (0.5, nw.Frozen("poisson", 3))]))
    assert found.weight == 0
    assert found.masses[1] == pytest.approx(0.5 + 1.5 * np.exp(-3))
    assert found.masses.sum() == pytest.approx(1)


def test_a_part_that_has_next_to_nothing_left_is_no_reason_to_refuse():
    cut = nw.Truncated(nw.Mixture([(0.5, nw.Frozen("laplace")), (0.5, nw.Normal(9, 1))]), -4, -2)
    found = nw.guess(cut, nw.Within(0.5) | nw.In.between(-2.2, -2.1), slope=0.2, victim=-3.4)
    alone = nw.guess(
        nw.Truncated(nw.Frozen("laplace"), -4, -2), nw.Within(0.5) | nw.In.between(-2.2, -2.1), slope=0.2, victim=-3.4
    )
    assert (found.before, found.after) == pytest.approx((alone.before, alone.after), abs=1e-6)


HISTOGRAM = nw.Histogram([0, 1, 3, 6], [0.2, 0.5, 0.3])
PRIORS = {
    "histogram": nw.Mixture([(0.3, nw.Atoms({0: 0.5, 3: 0.5})), (0.7, HISTOGRAM)]),
    "normal": nw.Mixture([(0.2, nw.Atoms({1: 0.6, 3: 0.4})), (0.8, nw.Normal(3, 1))]),
    "gamma": nw.Truncated(nw.Mixture([(0.4, nw.Atoms({0: 0.5, 2: 0.5})), (0.6, nw.Frozen("gamma", 2.5))]), 0, 8),
}
GOALS = [
    "exactly",
    "not exactly",
    "in {0, 3, 5}",
    "within 1 and in [0, 2]",
    "within 1 or in {0}",
    "within 1 and not in {1, 3}",
    "within 1 or in [4, 5]",
    "not (within 2 and not within 1)",
    "in [0, 3] and not in {3}",
]
ASKED = [("histogram", text) for text in GOALS] + [
    (name, text) for name, start in (("normal", 0), ("gamma", 1)) for text in GOALS[start::2]
]


def by_programme(name, goal, x, k, jump):
    """Before and after of many points instead of the density, by the linear programme."""
    taken = apart(PRIORS[name])
    ends = np.array([x - 2, x - 1, x, x + 1, x + 2])
    at = np.unique(np.concatenate([np.linspace(max(taken.low, -3), min(taken.high, 9), 150), np.arange(-2, 9), ends]))
    at = at[(at >= taken.low) & (at <= taken.high)]
    y = np.concatenate([(at[:-1] + at[1:]) / 2, taken.values])
    w = np.concatenate([taken.density.mass(at[:-1], at[1:]) * taken.weight, taken.masses])
    order = np.argsort(y, kind="stable")
    y, w = y[order], w[order]
    inside = met(goal, x, y)
    rows, helpers = axis_rows((y.size,), 0, (k, jump), y, y.size)
    found = solve(
        Programme(np.append(w / w.sum(), np.zeros(helpers)), rows), np.append(inside, np.zeros(helpers, bool))
    )
    return w[inside].sum() / w.sum(), found.ceiling


@pytest.mark.parametrize(("name", "text"), ASKED)
def test_one_victim_is_told_sharply(name, text):
    """Single values at the very end of a goal (victims 1 and 2) count once, and on the right side."""
    goal = nw.parse_goal(text)
    for slope, jump, x in ((0.3, 0.2, 1.0), (1.0, 0.0, 2.0)):
        before, after = by_programme(name, goal, x, slope, jump)
        if not before or (text == "not exactly" and before == 1):
            continue
        found = nw.guess(PRIORS[name], goal, slope=slope, jump=jump, victim=x)
        assert found.before == pytest.approx(before, abs=1e-5)
        assert found.after == pytest.approx(after, abs=2e-3)
        other = nw.guess(PRIORS[name], Not(goal), slope=slope, jump=jump, victim=x)
        assert found.smallest == pytest.approx(1 - other.after, abs=1e-9)


@pytest.mark.parametrize(("name", "text"), ASKED)
def test_nobody_gains_more_than_the_worst(name, text):
    """Nor those at whom a single value comes or goes, nor those beside them."""
    cost = nw.Cost(0.4, 0.1)
    worst = nw.guess(PRIORS[name], text, slope=cost.slope, jump=cost.jump)
    profile = conditioned(PRIORS[name], Compound(None, nw.parse_goal(text)), cost, "x")
    near = np.array([x + d for x in range(7) for d in (-1e-6, 0.0, 1e-6)])
    who = 0.0 if worst.victim is None else worst.victim  # all have the same goal
    figures = profile.at(np.concatenate([near, [0.4, 1.7, 4.6, who]]), smallest=False)
    gains = figures.after - figures.before
    assert max(gains) <= worst.gain <= max(gains) * 1.002 + 1e-8


def test_gaps_beside_other_attributes_by_the_product_rules():
    """They took a coarse programme before: 34 seconds for a certainty."""
    dish = nw.Categories({"soup": 0.5, "pasta": 0.3, "salad": 0.2})
    prior = {"x": PRIORS["histogram"], "dish": dish}
    costs = {"x": nw.Cost(0.4, 0), "dish": nw.Cost(0, 0.3)}
    text = "(x within 1 or x in [4, 5]) and dish exactly"
    one = nw.guess(prior, text, costs=costs, victim={"x": 2.0, "dish": "soup"})
    alone = nw.guess(PRIORS["histogram"], "within 1 or in [4, 5]", slope=0.4, victim=2.0)
    other = nw.guess(dish, "exactly", jump=0.3, victim="soup")
    assert one.after == pytest.approx(alone.after * other.after, rel=1e-9)
    worst = nw.guess(prior, text, costs=costs)
    denied = nw.guess(prior, f"not ({text})", costs=costs)
    for x, y in ((0.0, "soup"), (3.0, "salad"), (5.0, "soup"), (denied.victim["x"], "pasta")):
        who = {"x": x, "dish": y}
        assert nw.guess(prior, text, costs=costs, victim=who).gain <= worst.gain
        assert nw.guess(prior, f"not ({text})", costs=costs, victim=who).gain <= denied.gain
    assert worst.gain <= nw.guess(prior, text, costs=costs, victim=worst.victim).gain * 1.002
    assert denied.gain <= nw.guess(prior, f"not ({text})", costs=costs, victim=denied.victim).gain * 1.002


def test_calibration_keeps_its_promise_beside_single_values():
    prior = nw.Mixture([(0.3, nw.Atoms({0: 1.0})), (0.7, nw.LogNormal(0, 1))])
    cost = nw.largest(prior, "exactly", gain=0.05, slope=True)
    assert nw.guess(prior, "exactly", slope=cost.slope).gain <= 0.05
    assert nw.guess(prior, "exactly", slope=cost.slope * 1.01).gain > 0.05


@pytest.mark.parametrize(
    ("goal", "victim", "words"),
    [
        ("exactly", 1.5, "possible value"),
        ("in {7}", None, "never met"),
        ("in {soup}", None, "lists labels"),
        ("in {7} and within 1", None, "never met"),
        ("within 1 or in {soup}", None, "lists labels"),
    ],
)
def test_what_nobody_can_mean_is_refused(goal, victim, words):
    with pytest.raises(Misconfigured, match=words):
        nw.guess(PRIORS["histogram"], goal, slope=0.1, victim=victim)


@pytest.mark.parametrize("victim", [{"x": 0.0, "dish": "soup"}, {"x": 2.0, "dish": "salad"}])
def test_conditions_that_overlap_with_others_by_the_programme(victim):
    """Which attribute stands beside which cannot be told apart: cells of the density, and single values between them."""
    dish = nw.Categories({"soup": 0.5, "salad": 0.5})
    prior = {"x": nw.Mixture([(0.3, nw.Atoms({0: 0.5, 3: 0.5})), (0.7, nw.Uniform(0, 6))]), "dish": dish}
    costs = {"x": nw.Cost(0.4, 0), "dish": nw.Cost(0, 0.3)}
    found = nw.guess(prior, "x within 1 and (dish exactly or x in {0, 3})", costs=costs, victim=victim)
    # many points instead of the uniform
    points = {0.0: 0.15, 3.0: 0.15} | {0.05 + 0.1 * i: 0.7 / 60 for i in range(60)}
    same = nw.guess(
        {"x": nw.Atoms(points), "dish": dish},
        "x within 1 and (dish exactly or x in {0, 3})",
        costs=costs,
        victim=victim,
    )
    assert found.before == pytest.approx(same.before, abs=1e-9)
    assert same.after - 0.01 <= found.after <= same.after + 0.03
    assert same.smallest - 0.03 <= found.smallest <= same.smallest + 0.01


def test_single_values_on_a_continuous_scale_have_no_probability():
    """A cell whose middle is such a value was taken for it: denied, the whole cell was missing."""
    prior = {"x": nw.Uniform(0, 6), "dish": nw.Categories({"soup": 0.5, "salad": 0.5})}
    costs = {"x": nw.Cost(0.4, 0), "dish": nw.Cost(0, 0.3)}
    who = {"x": 1.5, "dish": "soup"}
    one = nw.guess(prior, "x within 1 and dish exactly", costs=costs, victim=who)
    places = space_of(prior, ("x", "dish"), {"x": np.array([0.5, 2.5])}, 600).axes[0].places
    x = float(places[np.abs(places - 1.5).argmin()])
    text = f"x within 1 and not x in {{{x}}} and (dish exactly or x in {{{x}}})"
    other = nw.guess(prior, text, costs=costs, victim=who)
    assert other.before == pytest.approx(one.before, abs=1e-9)
    assert one.after - 1e-9 <= other.after <= one.after + 1e-3


def test_discs_where_an_attribute_has_single_values():
    prior = {"x": nw.Mixture([(0.3, nw.Atoms({0: 0.5, 3: 0.5})), (0.7, nw.Uniform(0, 6))]), "y": nw.Uniform(0, 6)}
    goal, costs = "(x, y) within 2", {"x": nw.Cost(0.4, 0), "y": nw.Cost(0.4, 0)}
    found = nw.guess(prior, goal, costs=costs, victim={"x": 1.0, "y": 3.0})
    # the part of the disc where x > 0, and a chord of it; at x = 3 it ends
    before = 0.7 * (8 * np.pi / 3 + np.sqrt(3)) / 36 + 0.15 * 2 * np.sqrt(3) / 6
    assert found.before == pytest.approx(before, abs=0.002)
    x, y = np.append(np.arange(0.002, 6, 0.004), [0, 3]), np.arange(0.002, 6, 0.004)
    mass = np.append(np.full(1500, 0.7 / 1500), [0.15, 0.15])[:, None]
    inside = np.hypot(x[:, None] - 1, y - 3) <= 2
    after = []
    for t in np.linspace(0, 2, 9):  # what peaks reach
        told = mass * np.exp(-0.2 * (np.abs(x - t)[:, None] + np.abs(y - 3)))
        after.append(told[inside].sum() / told.sum())
    assert max(after) <= found.after <= max(after) + 0.03
    assert max(after) - before <= found.gain


@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("histogram", t) for t in ("exactly", "not exactly", "within 1 or in {0}", "not (within 1 or in {0, 3})")),
        ("heavy", "exactly"),  # it rose in the tail, for nothing, and told nothing else
    ],
)
def test_witnesses_replay(name, text):
    """Prior times likelihood, normalised: the posterior of the goal that the witness names is the ceiling."""
    prior = {"heavy": nw.Mixture([(0.3, nw.Atoms({0: 1.0})), (0.7, nw.LogNormal(3, 1))]), **PRIORS}[name]
    found = nw.guess(prior, text, slope=0.4, jump=0.1, victim=0.0)
    taken, witness = apart(prior), found.witness
    at = np.array([y for y, _ in witness.table])
    likely = np.array([share for _, share in witness.table])
    ends = np.concatenate([[2 * at[0] - 1], (at[:-1] + at[1:]) / 2, [at[-1] + 1]])
    mass = taken.weight * taken.density.mass(ends[:-1], ends[1:])
    for y, own in zip(taken.values, taken.masses, strict=True):
        mass[np.flatnonzero(at == y)[0]] += own
    inside = np.array([witness.contains(float(y)) for y in at])
    assert (mass * likely)[inside].sum() / (mass * likely).sum() == pytest.approx(found.after, abs=2e-3)
    assert mass[inside].sum() == pytest.approx(found.before, abs=2e-3)
    assert (np.abs(np.diff(np.log(np.maximum(likely, 1e-300)))) <= 0.4 * np.diff(at) + 0.1 + 1e-9).all()


@settings(max_examples=20)
@given(
    goals.filter(lambda goal: len(simple_goals(goal)) > 1), st.sampled_from([0.1, 0.7, 3.0]), st.sampled_from([0, 0.3])
)
def test_conditions_on_single_values_are_exact(goal, slope, jump):
    """Named victims and the worst, against the programme for every guess that can be told from others."""
    prior = nw.Atoms({0: 0.1, 0.5: 0.25, 1: 0.2, 2.5: 0.3, 4: 0.15})
    values, masses = np.array([0, 0.5, 1, 2.5, 4]), np.array([0.1, 0.25, 0.2, 0.3, 0.15])
    k = slope / min([g.radius for g in simple_goals(goal) if isinstance(g, Within)], default=1.0)
    rows, helpers = axis_rows((5,), 0, (k, jump), values, 5)

    def exact(inside: np.ndarray) -> float:
        if inside.all() or not inside.any():
            return float(inside.all())
        full = Programme(np.append(masses, np.zeros(helpers)), rows)
        return solve(full, np.append(inside, np.zeros(helpers, bool))).ceiling

    gains = {}
    for x in np.arange(0, 4.01, 0.125).tolist():
        inside = met(goal, x, values)
        if inside.tobytes() not in gains:
            gains[inside.tobytes()] = exact(inside) - masses @ inside, x
    worst, at = max(gains.values())
    if not any(np.frombuffer(inside, bool).any() for inside in gains):
        with pytest.raises(Misconfigured, match="never met"):
            nw.guess(prior, goal, slope=slope, jump=jump)
        return
    found = nw.guess(prior, goal, slope=slope, jump=jump)
    assert found.gain == pytest.approx(worst, abs=1e-7)
    if isinstance(goal, Exactly | Not) and not met(goal, at, values).any():
        return
    assert nw.guess(prior, goal, slope=slope, jump=jump, victim=at).gain == pytest.approx(worst, abs=1e-7)


def test_the_worst_of_single_values_may_stand_between():
    """Only between 1 and 2 (and 2 and 3) is 0 (or 4) the only value at a distance of more than 1 and up to 2."""
    prior, lift = nw.Atoms({0: 0.4, 2: 0.2, 4: 0.4}), np.exp(0.6)
    worst = nw.guess(prior, "within 2 and not within 1", jump=0.6)
    assert worst.gain == pytest.approx(0.4 * lift / (0.6 + 0.4 * lift) - 0.4, abs=1e-8)
    assert 1 < worst.victim < 3


def test_conditions_on_a_column_of_a_file():
    """A hundred programmes were solved, and the rest was bounded: 65 seconds for .99."""
    values = np.unique(np.random.default_rng(1).normal(0, 10, 3000).round(4))
    prior = nw.Atoms(dict.fromkeys(values.tolist(), 1 / values.size))
    worst = nw.guess(prior, "within 2 or in [5, 6]", slope=0.5)
    assert worst.tight
    for x in (worst.victim, 3.0, 5.5, -20.0):
        assert nw.guess(prior, "within 2 or in [5, 6]", slope=0.5, victim=x).gain <= worst.gain
    assert nw.guess(prior, "within 2 or in [5, 6]", slope=0.5, victim=worst.victim).gain > worst.gain - 1e-8


@pytest.mark.parametrize("text", ["within 1 or in {0}", "not (within 1 or in [4, 5])", "within 2 and not within 1"])
@pytest.mark.parametrize("name", ["histogram", "normal"])
def test_a_jump_alone_sees_masses_only(name, text):
    """after = m·e^J/(1 − m + m·e^J), and the worst is whose mass is nearest to 1/(1 + e^{J/2})."""
    worst = nw.guess(PRIORS[name], text, jump=0.6)
    lift = np.exp(0.6)
    for x in (*np.linspace(0, 6, 61).tolist(), worst.victim):
        m = nw.guess(PRIORS[name], text, victim=x).before
        assert m * lift / (1 - m + m * lift) - m <= worst.gain
    m = nw.guess(PRIORS[name], text, victim=worst.victim).before
    assert worst.gain == pytest.approx(m * lift / (1 - m + m * lift) - m, rel=2e-3)


@pytest.mark.parametrize("slope", [0.4, 0.0])
@pytest.mark.parametrize(("up", "down"), [(1.0, 1.0), (1.0, 0.1), (0.3, 1.0)])
def test_no_range_is_bounded_below_one_of_its_victims(slope, up, down):
    """As a part of a larger goal, too: what is asked for is up·after − down·before."""
    cost, objective = nw.Cost(slope, 0.3), Objective(np.zeros(1), np.array([up]), np.array([down]))
    for text in ("within 1 or in {0}", "within 2 and not within 1", "not (within 1 or in [4, 5])"):
        profile = conditioned(PRIORS["histogram"], Compound(None, nw.parse_goal(text)), cost, "x").parts[0].profile
        lo = np.array([0.0, 0.2, 1.0, 1.2, 2.0, 3.1, 4.0])
        hi = lo + np.array([0.1, 0.5, 1.0, 0.4, 2.0, 0.3, 1.0])
        inside = np.linspace(lo, hi, 41)[1:-1]
        had = objective.of(
            profile._mass(profile._goals(inside.ravel(), inside.ravel(), wide=True)), profile.after(inside.ravel())
        )
        for a, b, most in zip(lo, hi, had.reshape(inside.shape).max(axis=0), strict=True):
            assert not profile._pay(np.array([a]), np.array([b]), most - 1e-6, objective)
            assert profile._pay(np.array([a]), np.array([b]), most + 1.0, objective)
