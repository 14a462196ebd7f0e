"""Average success of the best attacker: reference values, closed forms, simulated attackers, laws."""

from itertools import pairwise
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import linprog
from scipy.special import log_ndtr
from scipy.stats import poisson

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.ask import guess
from nowiser.guess.average.expected import after_questions, expected
from nowiser.model.cost import Cost
from nowiser.model.goal import Exactly, In, On, Within
from nowiser.model.prior import (
    Atoms,
    Categories,
    Frozen,
    Histogram,
    LogNormal,
    Mixture,
    Normal,
    Truncated,
    Uniform,
    Unknown,
)

PRIORS = [
    Normal(20, 5),
    Truncated(Normal(20, 5), 10, 40),
    Histogram([0, 10, 15, 40], [0.5, 0.3, 0.2]),
    LogNormal(2.5, 0.4),
    Mixture([(0.4, Normal(10, 2)), (0.6, Uniform(0, 40))]),
    Frozen("gamma", 3, scale=4),
    Atoms({0: 0.2, 3: 0.3, 4: 0.1, 9: 0.4}),
]


def cells(prior, width):
    """Centres and masses of cells of this width that cover the support of a prior without single values."""
    from nowiser.guess.number import law

    low, high = law.support(prior)
    edges = low + width * np.arange(int(np.ceil((high - low) / width)) + 1)
    masses = np.diff(law.cdf(prior, edges))
    return (edges[:-1] + edges[1:]) / 2, masses / masses.sum()


def attack(prior, radius, slope, trials=1500, seed=5):
    """A Bayesian on a fine grid, drawn against Laplace noise: mean posterior of the best window."""
    from nowiser.guess.number import law

    found = law.points(prior)
    x, w = found if found is not None else cells(prior, radius / 40)
    last = np.searchsorted(x, x + 2 * radius - (0 if found else radius / 40 * 0.5), side="right")
    rng, k = np.random.default_rng(seed), slope / radius
    best = []
    for truth in rng.choice(x, trials, p=w):
        weight = w * np.exp(-k * np.abs(truth + rng.laplace(0, 1 / k) - x))
        total = np.concatenate([[0.0], np.cumsum(weight)])
        best.append((total[last] - total[:-1]).max() / total[-1])
    return np.mean(best), np.std(best) / np.sqrt(trials)


def test_uniform_reference_value():
    found = expected(Uniform(12, 28), Within(2), slope=1.0)
    assert found.before == 0.25
    assert found.after == pytest.approx(0.724090, abs=1e-6)
    assert found.error == 0.0


@given(st.floats(0.01, 30), st.floats(0.02, 1))
@settings(max_examples=15, deadline=None)
def test_the_integral_agrees_with_the_closed_form(slope, p):
    closed = 1 - (1 - p) * exp(-slope)
    integral = expected(Histogram([0, 1], [1.0]), Within(p / 2), slope=slope)
    assert integral.after == pytest.approx(closed, abs=max(integral.error, 2e-6))
    assert integral.error < 5e-3


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("slope", [0.3, 2.0])
def test_a_simulated_attacker_agrees(prior, slope):
    found = expected(prior, Within(2), slope=slope)
    mean, error = attack(prior, 2.0, slope)
    assert mean == pytest.approx(found.after, abs=4.5 * error + 2e-3)


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: type(p).__name__)
def test_more_cost_is_never_less_success_and_no_cost_is_none(prior):
    figures = [expected(prior, Within(2), slope=s) for s in (0.0, 1e-12, 0.1, 0.5, 1.0, 3.0, 20.0, 1e4)]
    values = [f.after for f in figures]
    assert all(b >= a - 1e-4 for a, b in pairwise(values))
    assert values[0] == pytest.approx(figures[0].before, abs=1e-9)
    assert values[1] == pytest.approx(figures[0].before, abs=1e-5)
    assert values[-1] == 1.0
    assert all(f.before <= f.after <= 1.0 for f in figures)


def best_of_all_mechanisms(masses, jump):
    """The linear programme over all mechanisms whose outputs are guesses: ℓ[y, x], success Σ π(x) ℓ[x, x]."""
    n = len(masses)
    gain = np.zeros((n, n))
    np.fill_diagonal(gain, masses)
    rows = []
    for y in range(n):
        for x in range(n):
            for z in range(n):
                if x != z:
                    row = np.zeros((n, n))
                    row[y, x], row[y, z] = 1.0, -exp(jump)
                    rows.append(row.ravel())
    sums = [np.outer(np.ones(n), np.eye(n)[x]).ravel() for x in range(n)]
    solved = linprog(-gain.ravel(), A_ub=np.array(rows), b_ub=np.zeros(len(rows)), A_eq=np.array(sums), b_eq=np.ones(n))
    return -solved.fun


@given(st.lists(st.floats(0.01, 1), min_size=2, max_size=5), st.floats(0.0, 4.0))
@settings(max_examples=20, deadline=None)
def test_categories_agree_with_the_linear_programme(weights, jump):
    masses = np.array(weights) / np.sum(weights)
    found = expected(Categories(dict(enumerate(masses.tolist()))), Exactly(), jump=jump)
    assert found.after == pytest.approx(best_of_all_mechanisms(masses, jump), abs=1e-7)


def test_equal_categories_are_as_exposed_on_average_as_at_worst():
    found = expected(Categories(list("abcdefghij")), Exactly(), jump=1.0)
    assert found.after == pytest.approx(0.231969, abs=1e-6)


def test_independent_attributes_multiply():
    priors = {"time": Uniform(12, 28), "dish": Categories(["soup", "pasta"])}
    costs = {"time": Cost(1.0, 0.0), "dish": Cost(0.0, 1.0)}
    time = expected(priors["time"], Within(2), slope=1.0).after
    dish = expected(priors["dish"], Exactly(), jump=1.0).after
    both = expected(priors, On("time", Within(2)) & On("dish", Exactly()), costs=costs)
    one = expected(priors, On("time", Within(2)) | On("dish", Exactly()), costs=costs)
    assert both.after == pytest.approx(time * dish)
    assert one.after == pytest.approx(1 - (1 - time) * (1 - dish))


@pytest.mark.parametrize(
    ("prior", "goal", "cost"),
    [
        (Uniform(0, 1), Within(0.1), {"slope": 1.0, "jump": 1.0}),
        (Uniform(0, 1), In.between(0.2, 0.3), {"slope": 1.0}),
        (Unknown(0, 1), Within(0.1), {"slope": 1.0}),
        (LogNormal(3, 2), Within(1e-6), {"slope": 1.0}),
    ],
)
def test_where_nothing_exact_is_known_nothing_is_said(prior, goal, cost):
    assert expected(prior, goal, **cost) is None


@pytest.mark.parametrize("slope", [-1.0, float("nan"), float("inf")])
def test_bad_costs_are_refused(slope):
    with pytest.raises(Misconfigured, match="slope must be"):
        expected(Uniform(0, 1), Within(0.1), slope=slope)


def test_one_question_of_the_simulation_is_the_exact_figure():
    (one,) = after_questions(Normal(20, 5), Within(2), 0.7, [1], trials=3000)
    exact = expected(Normal(20, 5), Within(2), slope=0.7)
    assert one.success == pytest.approx(exact.after, abs=4.5 * one.error + 2e-3)


def test_ten_small_answers_teach_less_than_one_large_one():
    (many,) = after_questions(Uniform(12, 28), Within(2), 0.1, [10], trials=3000)
    assert many.success + 4 * many.error < expected(Uniform(12, 28), Within(2), slope=1.0).after


def test_more_questions_teach_more():
    found = after_questions(Uniform(12, 28), Within(2), 0.3, [1, 4, 16, 64], trials=600)
    values = [f.success for f in found]
    assert values == sorted(values)
    with pytest.raises(Misconfigured, match="questions must be whole numbers"):
        after_questions(Uniform(12, 28), Within(2), 0.3, [0])


@pytest.mark.parametrize("prior", PRIORS, ids=lambda p: type(p).__name__)
@pytest.mark.parametrize("slope", [0.2, 1.0, 4.0])
def test_the_average_is_never_above_the_ceiling_of_the_most_exposed(prior, slope):
    """The attacker's best window is a goal of some victim, so some victim's ceiling lies above his average."""
    from nowiser.guess.number.law import support

    average = expected(prior, Within(2), slope=slope)
    low, high = support(prior)
    if isinstance(prior, Atoms):  # the best guess may lie between possible values: all windows, not only the atoms'
        windows = [In.between(v, v + 4) for v in prior.values]
        after = max(guess(prior, w, slope=slope / 2).after for w in windows)
    else:
        victims = np.linspace(low, high, 25)
        after = max(guess(prior, Within(2), slope=slope, victim=float(v)).after for v in victims)
    assert average.after <= after + average.error + 1e-3


def test_a_guess_knows_its_average():
    one = nw.guess(nw.Uniform(12, 28), nw.Within(2), slope=1.0, victim=20)
    assert one.expected == pytest.approx(0.724090, abs=5e-7)
    assert one.to_json()["expected"] == one.expected
    priors = {"t": nw.Uniform(12, 28), "d": nw.Categories({"soup": 0.3, "pasta": 0.7})}
    costs = {"t": nw.Cost(1.0), "d": nw.Cost(0, 0.5)}
    two = nw.guess(priors, "t within 2 and d exactly", costs=costs)
    assert two.expected == pytest.approx(expected(priors, "t within 2 and d exactly", costs=costs).after)
    named = nw.guess(nw.Uniform(12, 28), "t within 2", costs={"t": nw.Cost(1.0)}, victim=20)
    assert named.expected == pytest.approx(one.expected)
    for unknown in (
        nw.guess(nw.Unknown(), nw.Present(), jump=1.0),
        nw.guess(nw.Uniform(0, 9), nw.Within(1), slope=1, jump=1),
    ):
        assert unknown.expected is None
        assert unknown.to_json()["expected"] is None


def _seen(part, k, y, t):
    """∫ e^{−k|x−y|} dπ over x ≤ t for a uniform or normal part, in closed form."""
    if isinstance(part, Uniform):
        t = np.clip(t, part.low, part.high)

        def up(at):
            return np.where(at < y, np.exp(k * (np.minimum(at, y) - y)), 2 - np.exp(-k * (np.maximum(at, y) - y))) / k

        return (up(t) - up(np.float64(part.low))) / (part.high - part.low)
    m, s, rise = part.mean, part.sd, (k * part.sd) ** 2 / 2

    def above(at):
        return np.exp(k * (y - m) + rise + log_ndtr(-(at - m + k * s * s) / s))

    below = np.exp(k * (m - y) + rise + log_ndtr((np.minimum(t, y) - m - k * s * s) / s))
    return below + above(y) - above(np.maximum(t, y))


def averaged_by_hand(parts, radius, slope, n):
    """∫ max over windows dy for a mixture of uniform, normal and single values: dense outputs, dense windows."""
    k = slope / radius
    x = np.concatenate([p.values for _, p in parts if isinstance(p, Atoms)] + [[]])
    w = np.concatenate([share * p.masses for share, p in parts if isinstance(p, Atoms)] + [[]])
    x, w = x[np.argsort(x)], w[np.argsort(x)]
    smooth = [(share, p) for share, p in parts if not isinstance(p, Atoms)]
    ends = [[p.low, p.high] if isinstance(p, Uniform) else [p.mean - 8 * p.sd, p.mean + 8 * p.sd] for _, p in smooth]
    ends = np.concatenate([*ends, x])
    start = np.unique(np.concatenate([ends, ends - 2 * radius, np.linspace(ends.min() - 2 * radius, ends.max(), n)]))
    first, last = np.searchsorted(x, start - 1e-9), np.searchsorted(x, start + 2 * radius + 1e-9)
    outputs, best = np.unique(np.concatenate([np.linspace(ends.min(), ends.max(), n), ends])), []
    for y in outputs:
        held = np.zeros(start.size)
        for share, p in smooth:
            held += share * (_seen(p, k, y, start + 2 * radius) - _seen(p, k, y, start))
        total = np.append(0.0, np.cumsum(w * np.exp(-k * np.abs(x - y))))
        best.append((held + total[last] - total[first]).max())
    return k / 2 * np.trapezoid(best, outputs) + (best[0] + best[-1]) / 2


@pytest.mark.parametrize("seed", range(8))
def test_densities_with_single_values_agree_with_sums_by_hand(seed):
    rng = np.random.default_rng(seed)
    parts = []
    for _ in range(rng.integers(1, 3)):
        low = rng.uniform(-10, 10)
        uniform = rng.random() < 0.5
        parts.append(Uniform(low, low + rng.uniform(1, 30)) if uniform else Normal(low, rng.uniform(0.5, 5)))
    for _ in range(rng.integers(0, 3)):  # on a grid, so that many lie exactly on the border of a window
        values = rng.choice(np.arange(-10, 40) / 2, rng.integers(1, 6), replace=False)
        parts.append(Atoms(values, rng.dirichlet(np.ones(values.size))))
    parts = list(zip(rng.dirichlet(np.full(len(parts), 2.0)).tolist(), parts, strict=True))
    radius, slope = float(rng.choice([0.5, 1.0, 2.0, 5.0, 1.3])), float(10 ** rng.uniform(-1.3, 0.3))
    found = expected(Mixture(parts), Within(radius), slope=slope)
    assert found.after == pytest.approx(
        averaged_by_hand(parts, radius, slope, round(500 * max(1.0, slope / radius))), abs=found.error + 3e-4
    )
    assert found.error < 2e-3


@pytest.mark.parametrize("radius", [0.5, 1.0, 2.0, 2.4])
@pytest.mark.parametrize(
    "prior",
    [
        Frozen("poisson", 20),
        Frozen("binom", 40, 0.5),
        Frozen("randint", 0, 40),
        Frozen("geom", 0.1),
        Truncated(Frozen("poisson", 20), 10, 30),
        Mixture([(0.5, Frozen("poisson", 20)), (0.5, Atoms({20.5: 0.5, 30: 0.5}))]),
    ],
    ids=["poisson", "binom", "randint", "geom", "truncated", "mixture"],
)
def test_discrete_distributions_are_single_values(prior, radius):
    if isinstance(prior, Mixture):
        x = np.append(np.arange(90.0), [20.5, 30.0])
        w = np.append(poisson(20).pmf(np.arange(90)) / 2, [0.25, 0.25])
    else:
        inner = prior.prior if isinstance(prior, Truncated) else prior
        x = np.arange(10.0, 31.0) if isinstance(prior, Truncated) else np.arange(0.0, 300.0)
        w = inner.scipy().pmf(x)
    x, w = x[np.argsort(x)], w[np.argsort(x)] / w.sum()
    last = np.searchsorted(x, x + 2 * radius, side="right")
    outputs = np.linspace(x[0], x[-1], 25 * round(x[-1] - x[0]) + 1)  # every value is one
    seen = w * np.exp(-0.5 / radius * np.abs(outputs[:, None] - x))
    total = np.zeros((outputs.size, x.size + 1))
    np.cumsum(seen, axis=1, out=total[:, 1:])
    best = (total[:, last] - total[:, :-1]).max(axis=1)
    by_hand = 0.5 / radius / 2 * np.trapezoid(best, outputs) + (best[0] + best[-1]) / 2
    blind = np.append(0.0, np.cumsum(w))
    found = expected(prior, Within(radius), slope=0.5)
    assert found.before == pytest.approx((blind[last] - blind[:-1]).max(), abs=1e-9)
    assert found.after == pytest.approx(by_hand, abs=found.error + 2e-4)


def test_a_value_on_the_border_of_a_window_is_in_it():
    prior = Mixture([(0.5, Uniform(0, 40)), (0.5, Atoms({20: 0.5, 30: 0.5}))])
    found = expected(prior, Within(5), slope=0.5)
    assert found.before == pytest.approx(0.625, abs=1e-12)
    assert found.after == pytest.approx(0.65716, abs=2e-5)
    (simulated,) = after_questions(prior, Within(5), 0.5, [1], trials=3000)
    assert simulated.success == pytest.approx(found.after, abs=4.5 * simulated.error + 1e-3)


def test_a_crowd_of_nobody_is_the_ceiling_also_for_single_values():
    found = nw.knowing(Atoms({0: 0.2, 1: 0.3, 3: 0.1, 5: 0.4}), Within(2), unknown=0, slope=1.0, victim=3)
    assert found.after == pytest.approx(found.ceiling, abs=1e-2)
    assert found.blind == pytest.approx(expected(Atoms({0: 0.2, 1: 0.3, 3: 0.1, 5: 0.4}), Within(2)).before, abs=1e-9)


def test_more_values_than_can_be_simulated_are_refused():
    with pytest.raises(Misconfigured, match="too wide"):
        after_questions(Frozen("cauchy"), Within(1), 0.3, [1])
    with pytest.raises(Misconfigured, match="nothing of Uniform"):
        expected(Truncated(Uniform(0, 1), 5, 6), Within(0.1), slope=1.0)


@pytest.mark.parametrize(
    ("goal", "questions", "trials", "words"),
    [
        ("within 1", [1], 100, "goal must be Within"),
        (Within(1), [1.5], 100, "questions must be whole numbers"),
        (Within(1), [], 100, "questions must be whole numbers"),
        (Within(1), [1], 1, "trials must be"),
    ],
)
def test_bad_simulations_are_refused_by_name(goal, questions, trials, words):
    with pytest.raises(Misconfigured, match=words):
        after_questions(Normal(0, 1), goal, 1.0, questions, trials=trials)


@pytest.mark.parametrize("origin", [0.0, 1e6, -3e8])
def test_single_values_two_radii_apart_are_in_one_window_wherever_they_are(origin):
    """0.7 + 2·0.1 is less than 0.9 in doubles, and far from zero they are coarser still."""
    prior = nw.Atoms({origin + 0.7: 0.5, origin + 0.9: 0.25, origin + 5: 0.25})
    assert expected(prior, Within(0.1), slope=0.5).before == 0.75
    blind = after_questions(prior, Within(0.1), 1e-9, [1], trials=2)[0]
    assert blind.success == pytest.approx(0.75, abs=1e-6)
    kappa = {b.name: b.value for b in nw.bounds(prior, Within(0.1), jump=0.1, victim=origin + 5)}["1 − f(κ)"]
    assert kappa >= 0.75


def test_the_error_of_a_simulation_is_how_far_simulations_differ():
    found = [after_questions(Normal(0, 1), Within(0.5), 1.0, [2], trials=100, seed=s)[0] for s in range(24)]
    spread, told = float(np.std([f.success for f in found])), float(np.mean([f.error for f in found]))
    assert 0.6 * spread < told < 1.7 * spread
