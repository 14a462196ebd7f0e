"""Sweeps at costs of thousands of nats, where what is left over and what is owed are no doubles any more."""

import math
import warnings

import numpy as np
import pytest

import nowiser as nw
from nowiser.guess.number.sweep import Cells, swept

THREE = nw.Atoms({0: 0.5, 1: 0.3, 2: 0.2})


def odds_by_logarithms(values, masses, inside, k):
    """The largest ln odds of single values: a likelihood falls or rises on each step; all sums as logarithms.

    For a price λ of what lies outside, best[i] is the most that value i and those behind it are worth if the likelihood
    is 1 there. Worth and debt are kept as a sign and a logarithm.
    """

    def worth(price):
        sign, log = 0, -math.inf
        for i in reversed(range(len(values))):
            if i + 1 < len(values):
                log += sign * k * (values[i + 1] - values[i])
            own = math.log(masses[i]) + (0.0 if inside[i] else price)
            mine = 1 if inside[i] else -1
            if sign in {0, mine}:
                sign, log = mine, float(np.logaddexp(log, own))
            elif log == own:
                sign, log = 0, -math.inf
            else:
                sign = sign if log > own else mine
                log = max(log, own) + math.log1p(-math.exp(-abs(log - own)))
        return sign

    low, high = -1e9, 1e9
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if worth(middle) >= 0 else (low, middle)
    return low


def posterior(log):
    return 1 / (1 + math.exp(-log)) if log > -700 else 0.0


@pytest.mark.parametrize("seed", range(12))
def test_single_values_at_any_cost_by_logarithms(seed):
    rng = np.random.default_rng(seed)
    values = np.cumsum(rng.choice([1.0, 2.0, 0.25, 40.0], 6))
    masses = rng.random(6) ** rng.choice([1, 8]) + 1e-9
    masses /= masses.sum()
    prior = nw.Atoms(dict(zip(values.tolist(), masses.tolist(), strict=True)))
    for nats in (3.0, 60.0, 690.0, 720.0, 2000.0, 1e5):
        inside = rng.random(6) < 0.5
        inside[:2] = True, False
        k = nats / float(values[-1] - values[0])
        named = [nw.In({v}) for v in values[inside].tolist()]
        others = [nw.In({v}) for v in values[~inside].tolist()]
        told = named[0] if len(named) == 1 else nw.Or(tuple(named))
        rest = others[0] if len(others) == 1 else nw.Or(tuple(others))
        true = posterior(odds_by_logarithms(values, masses, inside, k))
        misled = 1 - posterior(odds_by_logarithms(values, masses, ~inside, k))
        for goal in (told, ~rest):
            found = nw.guess(prior, goal, slope=k)
            assert true - 1e-15 <= found.after <= true + 1e-9
            assert misled - 1e-9 <= found.smallest <= misled + 1e-15


@pytest.mark.parametrize("slope", [10, 300, 345, 400, 690, 1000, 1e5])
def test_what_is_denied_is_the_rest(slope):
    assert nw.guess(THREE, ~(nw.In({0}) | nw.In({1})), slope=slope).after >= nw.guess(THREE, nw.In({2}), slope=slope).after - 1e-15  # fmt: skip
    assert nw.guess(THREE, ~(nw.Within(1) & nw.Within(2)), slope=slope, victim=0).after > 0.9999
    worst = nw.guess(THREE, ~(nw.Within(0.5) & nw.Within(0.7)), slope=slope).gain
    assert worst >= nw.guess(THREE, ~nw.Within(0.5), slope=slope).gain - 1e-15


@pytest.mark.parametrize("slope", [0.01, 0.1, 0.5, 0.7, 1, 3, 100])
def test_a_density_far_beyond_single_values_is_owed_for(slope):
    prior = nw.Mixture([(0.8, nw.Atoms({1: 0.5, 2: 0.5})), (0.2, nw.Uniform(1000, 1001))])
    denied = nw.guess(prior, ~(nw.In.between(0, 1.5) | nw.In.between(1.7, 2.5)), slope=slope)
    assert denied.after >= nw.guess(prior, nw.In.between(900, 1001), slope=slope).after - 1e-12


def test_the_largest_cost_of_values_far_apart_is_not_refused():
    prior = nw.Atoms({0: 0.5, 3000: 0.3, 6000: 0.2})
    denied = nw.largest(prior, ~(nw.In({0}) | nw.In({3000})), gain=0.2, slope=True)
    assert denied.slope == pytest.approx(nw.largest(prior, nw.In({6000}), gain=0.2, slope=True).slope, rel=1e-6)


@pytest.mark.parametrize("slope", [1, 60, 100, 300, 5000])
@pytest.mark.parametrize("goal", [nw.Within(0.1) & nw.In.between(9, 12), nw.Within(0.5) & nw.In.between(-1, 5)])
def test_witnesses_are_told_where_there_is_somebody(goal, slope):
    prior = nw.Atoms({0: 0.5, 10: 0.5})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = nw.guess(prior, goal, slope=slope, victim=0)
    weights = [found.witness.likelihood(x) for x in (0.0, 10.0)]
    inside = [w for w, x in zip(weights, (0.0, 10.0), strict=True) if found.witness.contains(x)]
    assert max(weights) == 1
    assert sum(inside) / sum(weights) == pytest.approx(found.after, abs=1e-4)


def test_on_a_way_too_long_for_doubles_a_small_debt_is_never_paid():
    """Nobody in the middle, who would be a thousand nats wide: the value behind it pays for nothing before it."""
    flat = np.zeros(3)
    cells = Cells(np.array([0.0, 1000.0, 0.0]), np.array([1e-3, 0.0, 1 - 1e-3]), (flat, flat))
    assert swept(cells, np.array([1.0, 0.0, 0.0]), 1.0, 0.0) == 1.0
    assert swept(cells, np.array([0.0, 0.0, 1.0]), 1.0, 0.0) == 1.0
