"""Named victims of a goal on one number, against quadrature, linear programmes and forty digits."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats
from scipy.integrate import quad
from scipy.optimize import linprog

import nowiser as nw
from nowiser.guess.formula import bare, holds, radius_of
from nowiser.guess.number import closed, law
from nowiser.guess.number.victims import victims_of
from nowiser.model.goal import Goal

NEAR = 1e-4  # of the gain: how near the ceiling is to the truth
LAWS = {
    "normal": (nw.Normal(20, 5), stats.norm(20, 5)),
    "uniform": (nw.Uniform(0, 40), stats.uniform(0, 40)),
    "lognormal": (nw.LogNormal(3, 0.5), stats.lognorm(0.5, scale=np.exp(3))),
    "gamma": (nw.Frozen("gamma", 4.0, 0, 5.0), stats.gamma(4.0, 0, 5.0)),
    "pole": (nw.Frozen("gamma", 0.5, 0, 20.0), stats.gamma(0.5, 0, 20.0)),
    "cauchy": (nw.Frozen("cauchy", 20, 5), stats.cauchy(20, 5)),
    "logistic": (nw.Frozen("logistic", 20, 3), stats.logistic(20, 3)),
}


def figures(prior: nw.Prior, goal: Goal, slope: float, jump: float, victim: float | None):
    return victims_of(prior, goal, nw.Cost(slope, jump), "x").at(victim)


@pytest.mark.parametrize(
    "case",
    [
        (nw.Uniform(12, 28), 20, 2, 0.643914),
        (nw.Uniform(0, 100), 2, 5, 0.753403),
        (nw.Normal(20, 5), 20, 2, 0.699531),
        (nw.Normal(20, 5), 30, 2, 0.539319),
        (nw.Atoms({0: 0.2, 2: 0.8}), 0, 1, 0.648786),
    ],
)
@pytest.mark.parametrize("plain", [True, False])
def test_reference_values_in_closed_form_and_by_pieces(case, plain, monkeypatch):
    prior, victim, radius, after = case
    if not plain:
        monkeypatch.setattr(closed, "figures", lambda *_: None)
    found = figures(prior, nw.Within(radius), 1.0, 0.0, victim)
    assert found.after == pytest.approx(after, abs=1e-6)
    assert found.before <= found.after


def test_the_smallest_posterior_of_the_reference():
    assert figures(nw.Uniform(12, 28), nw.Within(2), 1.0, 0.0, 20).smallest == pytest.approx(0.032059, abs=1e-6)


def peaked(true, low: float, high: float, k: float, t: float) -> float:
    """Odds of [low, high] under the likelihood e^{−k|x − t|}, by quadrature."""
    start, end = (float(v) for v in (true.ppf(1e-15), true.isf(1e-15)))
    turns = {*true.ppf([1e-9, 1e-4, 0.05, 0.5, 0.95, 1 - 1e-4]).tolist(), t, t - 20 / abs(k), t + 20 / abs(k)}
    at = sorted({min(max(v, start), end) for v in (start, end, low, high, *turns)})
    inside = outside = 0.0
    for a, b in itertools.pairwise(at):
        if a == b:
            continue
        part = quad(lambda x: true.pdf(x) * math.exp(-k * abs(x - t)), a, b, epsabs=0, epsrel=1e-10, limit=200)[0]
        inside, outside = (inside + part, outside) if low <= (a + b) / 2 <= high else (inside, outside + part)
    return inside / outside


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(("victim", "slope", "jump"), [(17.0, 0.5, 0.0), (31.0, 1.5, 0.4)])
@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")  # asked for more digits than there are
def test_no_peak_tells_more_and_one_tells_as_much(name, victim, slope, jump):
    prior, true = LAWS[name]
    everybody = victims_of(prior, nw.Within(3), nw.Cost(slope, jump), "x")
    found, peak = everybody.at(victim), everybody.witness(victim).peak
    low, high, k = max(victim - 3, true.support()[0]), victim + 3, slope / 3
    before = true.cdf(high) - true.cdf(low)
    assert found.before == pytest.approx(before, rel=1e-5)
    assert found.before <= before * (1 + 1e-12)
    for t in (peak, *np.linspace(low, high, 6)):
        odds = peaked(true, low, high, k, float(t)) * math.exp(jump)
        assert odds / (1 + odds) <= found.after + 1e-12
        if t == peak:
            assert found.after - odds / (1 + odds) <= NEAR * (found.after - before)
    assert everybody.attained(victim) <= found.after
    assert found.after - everybody.attained(victim) <= NEAR * (found.after - before)
    if name in ("normal", "logistic", "uniform"):  # a valley, where tails allow
        for t in np.linspace(low, high, 6):
            odds = peaked(true, low, high, -k, float(t)) * math.exp(-jump)
            assert found.smallest <= odds / (1 + odds) + 1e-12


def test_a_normal_prior_to_forty_digits():
    mp.mp.dps = 40
    for x, r, s, j in ((20, 2, 1, 0), (33, 1, 3, 1), (20, 0.01, 0.5, 0), (45, 4, 2, 0)):
        k, l, u = mp.mpf(s) / r, (mp.mpf(x) - r - 20) / 5, (mp.mpf(x) + r - 20) / 5
        shift = k * 5
        left = lambda t, l=l, k=shift: mp.log(mp.ncdf(t - k) / mp.ncdf(l - k))  # noqa: E731
        right = lambda t, u=u, k=shift: mp.log(mp.ncdf(-t - k) / mp.ncdf(-u - k))  # noqa: E731
        a, b = l, u
        for _ in range(140):
            a, b = ((a + b) / 2, b) if left((a + b) / 2) < right((a + b) / 2) else (a, (a + b) / 2)
        odds = mp.expm1(left(a)) * mp.exp(j)
        truth = odds / (1 + odds)
        found = figures(nw.Normal(20, 5), nw.Within(r), s, j, x)
        assert mp.mpf(found.after) >= truth
        assert mp.mpf(found.after) - truth <= NEAR * truth


# --- unions, gaps, denied goals: a linear programme over all likelihoods ---------------------------------------------------

TABLES = {
    "bins": nw.Histogram([0, 1, 3, 4, 7, 9], [0.1, 0.3, 0.05, 0.35, 0.2]),
    "values": nw.Atoms({0: 0.2, 1: 0.1, 2.5: 0.3, 4: 0.15, 7: 0.25}),
    "both": nw.Mixture([(0.4, nw.Atoms({1: 0.5, 4: 0.5})), (0.6, nw.Uniform(0, 8))]),
}
GOALS: dict[str, Goal] = {
    "or": nw.Within(1) | nw.In.between(6, 7.5),
    "not": ~nw.Within(1.5),
    "ring": nw.Within(3) & ~nw.Within(1),
    "both": nw.Within(2) & nw.In.between(2, 5),
    "far or near": ~nw.Within(3) | nw.Within(0.5),
}


def programme(prior: nw.Prior, goal: Goal, k: float, victim: float) -> tuple[float, float]:
    """Before and after on a fine line of points: what a mechanism reaches, up to the width of its steps."""
    values, masses = law.atoms(prior)
    edges = np.unique(np.concatenate([np.arange(-0.5, 9.51, 0.02), law.corners(prior)]))
    x = np.concatenate([values, (edges[:-1] + edges[1:]) / 2])
    m = np.concatenate([masses, law.spread(prior, edges)])
    order = np.argsort(x)
    x, m = x[order], m[order]
    x, m = x[m > 0], m[m > 0]

    def met(part: Goal) -> np.ndarray:
        one = bare(part)
        if isinstance(one, nw.Within):
            return np.abs(x - victim) <= one.radius + 1e-9
        return (x >= one.low) & (x <= one.high)

    inside, n = holds(goal, met), x.size
    i, e = np.arange(n - 1), np.exp(k * np.diff(x))
    up = sp.coo_matrix((np.r_[np.ones(n - 1), -e], (np.r_[i, i], np.r_[i, i + 1])), shape=(n - 1, n))
    down = sp.coo_matrix((np.r_[np.ones(n - 1), -e], (np.r_[i, i], np.r_[i + 1, i])), shape=(n - 1, n))
    solved = linprog(
        -(m * inside), sp.vstack([up, down]).tocsr(), np.zeros(2 * n - 2), m[None, :], [1.0], (0, None), method="highs"
    )
    return float(m[inside].sum()), -solved.fun


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("asked", GOALS)
def test_goals_with_gaps_by_a_linear_programme(table, asked):
    prior, goal = TABLES[table], GOALS[asked]
    for victim, slope in ((3.51, 0.6), (6.23, 0.25)):
        everybody = victims_of(prior, goal, nw.Cost(slope), "x")
        found = everybody.at(victim)
        k = slope / radius_of(goal)
        before, after = programme(prior, goal, k, victim)
        near = 1e-9 if table == "values" else 0.01  # half a step of the line at each end
        assert found.before == pytest.approx(before, abs=near)
        assert found.after >= after - near
        assert found.after <= after + near + 1e-4
        assert everybody.attained(victim) <= found.after * (1 + 1e-12)


@pytest.mark.parametrize("name", ["cauchy", "lognormal"])
def test_tails_that_rise_beyond_all_bounds_make_denied_goals_certain(name):
    assert figures(LAWS[name][0], ~nw.Within(3), 0.5, 0.0, 17.0).after == pytest.approx(1)


def test_exponential_tails_do_not():
    """Log-concave or not: gamma(1/2) falls as e^{−x/20}, k is a tenth of that."""
    found = figures(LAWS["pole"][0], ~nw.Within(3), 0.015, 0.0, 17.0)
    assert found.before < found.after < found.before + 0.01


def test_single_values_beside_a_density_are_guessed_exactly():
    prior = TABLES["both"]
    found = figures(prior, nw.Exactly(), 0.5, 0.0, 4)
    assert found.before == pytest.approx(0.2)
    assert found.before < found.after < 1
    assert figures(prior, nw.Exactly() | nw.In({1}), 0.5, 0.0, 4.5).before == pytest.approx(0.2)


def test_an_interval_between_all_values_is_guessed_by_nobody():
    prior = nw.Atoms([-435.4, 42.5, 1488, 1835.6], [0.25, 0.175, 0.275, 0.3])
    assert figures(prior, nw.In.between(563.9, 1187.7), 3.37, 0.0, None).after == 0


def test_decimal_steps_are_inside_the_goal_they_just_touch():
    prior = nw.Atoms([0.1, 0.2, 0.3, 0.4], [0.25] * 4)
    assert figures(prior, nw.Within(0.1), 0.0, 1.0, 0.3).before == pytest.approx(0.75)
    assert figures(prior, nw.Exactly(), 0.0, 1.0, 0.1 + 0.2).before == pytest.approx(0.25)


def test_values_a_step_apart_and_a_radius_below_it():
    prior, victim = nw.Atoms([-3.4, -3.3999999999999995], [0.4, 0.6]), -3.3999999999999995
    assert figures(prior, nw.Within(2.4e-16), 0.0, 1.0, victim).before == 0.6
    assert figures(prior, ~nw.Within(2.4e-16), 0.0, 1.0, victim).before == 0.4


def test_far_from_zero_and_far_out():
    for prior, victim in ((nw.Normal(1.7e9, 0.005), 1.7e9), (nw.Normal(0, 1), 60.0), (nw.Uniform(0, 1e9), 5e8)):
        found = figures(prior, nw.Within(0.001 if victim == 1.7e9 else 1.0), 1.0, 0.0, victim)
        assert 0 <= found.smallest <= found.before <= found.after <= 1
    assert figures(nw.Normal(0, 1), nw.Within(1), 1.0, 0.0, 60.0).after < 1e-200
    for slope in (1e-100, 1e4, 1e40):
        found = figures(nw.Atoms({-10: 0.5, 0: 0.25, 10: 0.25}), nw.Within(0.5), slope, 0.0, 0)
        assert 0 <= found.smallest <= found.before <= found.after <= 1
