"""Goals with gaps on one number: many victims at once, on every kind of prior."""

import math

import numpy as np
import pytest
import scipy.stats

import nowiser as nw
from nowiser.guess.density.apart import apart
from nowiser.guess.number.gapped import Gapped
from nowiser.guess.number.pattern import pattern
from nowiser.guess.number.sweep import Cells, likelihood, swept

MIXED = nw.Mixture([(0.55, nw.Normal(-4.5, 3.7)), (0.45, nw.Frozen("gamma", 2.5))])
NORMAL, GAMMA = scipy.stats.norm(-4.5, 3.7), scipy.stats.gamma(2.5)
PRIORS = {
    "normal": (nw.Normal(0, 4), scipy.stats.norm(0, 4).cdf, (-40, 40)),
    "mixture": (MIXED, lambda x: 0.55 * NORMAL.cdf(x) + 0.45 * GAMMA.cdf(x), (-40, 40)),
    "lognormal": (nw.LogNormal(0.5, 0.6), scipy.stats.lognorm(0.6, scale=math.exp(0.5)).cdf, (0, 40)),
    "histogram": (
        nw.Histogram([0, 1, 3, 4], [0.5, 0.1, 0.4]),
        lambda x: np.interp(x, [0, 1, 3, 4], [0, 0.5, 0.6, 1]),
        (0, 4),
    ),
    "beta": (nw.Frozen("beta", 2.0, 3.0, scale=6.0), scipy.stats.beta(2, 3, scale=6).cdf, (0, 6)),
    "t": (nw.Frozen("t", 3), scipy.stats.t(3).cdf, (-300, 300)),
}
GAPS = nw.Within(0.4) | nw.In.between(2.1, 2.9)


def near_truth(name, x, k, jump, *, denied):
    """What a mechanism attains, and the sweep: over many even cells of a flat density each, masses from scipy."""
    _, cdf, (low, high) = PRIORS[name]
    fine = np.linspace(max(low, x - 20), min(high, x + 20), 12001)
    at = np.unique(np.concatenate([fine, np.linspace(low, high, 4001), [x - 0.4, x + 0.4, 2.1, 2.9]]))
    at = at[(at >= low) & (at <= high)]
    middle, flat = (at[:-1] + at[1:]) / 2, np.zeros(at.size - 1)
    inside = (np.abs(middle - x) < 0.4) | ((middle > 2.1) & (middle < 2.9))
    rows, share = Cells(np.diff(at), np.diff(cdf(at)), (flat, flat)), (inside != denied).astype(float)
    told = rows.masses * likelihood(rows, share, k, jump)
    return told @ share / told.sum(), swept(rows, share, k, jump)


@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize(("slope", "jump"), [(0.02, 0.0), (0.8, 0.4)])
def test_one_victim_is_told_sharply(name, slope, jump):
    for x in (0.7, 3.6):
        found = nw.guess(PRIORS[name][0], GAPS, slope=slope, jump=jump, victim=x)
        low, high = near_truth(name, x, slope / 0.4, jump, denied=False)
        assert low - 5e-6 <= found.after <= high + 2e-4


@pytest.mark.parametrize("name", ["normal", "mixture", "histogram", "beta"])
def test_one_victim_of_a_denied_goal_is_told_sharply(name):
    """Where tails fall fast enough; what lies beyond all cells is part of the goal."""
    found = nw.guess(PRIORS[name][0], nw.Not(GAPS), slope=0.05, victim=0.7)
    low, high = near_truth(name, 0.7, 0.05 / 0.4, 0.0, denied=True)
    assert low - 5e-6 <= found.after <= high + 2e-4
    other = nw.guess(PRIORS[name][0], GAPS, slope=0.05, victim=0.7)
    assert other.smallest == pytest.approx(1 - found.after, abs=1e-9)


@pytest.mark.parametrize("name", ["lognormal", "t"])
def test_tails_that_rise_beyond_all_bounds_are_certain(name):
    assert nw.guess(PRIORS[name][0], nw.Not(GAPS), slope=0.05, victim=0.7).after == pytest.approx(1)
    assert nw.guess(PRIORS[name][0], GAPS, slope=0.05, victim=0.7).smallest == pytest.approx(0, abs=1e-9)
    assert nw.guess(PRIORS[name][0], nw.Not(GAPS), jump=0.05).gain < math.tanh(0.05 / 4) * 1.01  # a jump has its bounds


@pytest.mark.parametrize(
    ("name", "slope", "most"),
    [
        ("normal", 1e-3, 1.002),
        ("mixture", 1e-3, 1.002),
        ("histogram", 0.3, 1.002),
        pytest.param("t", 0.3, 1.7, marks=pytest.mark.long),
    ],
)
def test_the_worst_victim_is_nearly_one(name, slope, most):
    """At small slopes the bound was several times what anybody gains; for approximated priors almost always.

    Far out in a heavy tail the bound is the sum of those of the intervals.
    """
    prior = PRIORS[name][0]
    worst = nw.guess(prior, GAPS, slope=slope)
    each = [nw.guess(prior, GAPS, slope=slope, victim=x).gain for x in (0.1, 1.2, 1.7, 2.5, 3.3, worst.victim)]
    assert max(each) * (1 - 1e-9) <= worst.gain <= max(each) * most + 1e-6


def test_largest_costs_of_goals_with_gaps():
    """It took minutes and found no cost at all."""
    prior, goal = nw.Normal(0.077, 4.086), nw.Within(2.672) | nw.In.between(4.013, 5.527)
    cost = nw.largest(prior, goal, gain=0.001, slope=True)
    assert cost.slope > 2e-3
    assert nw.guess(prior, goal, slope=cost.slope).gain <= 0.001
    assert nw.guess(prior, goal, slope=cost.slope * 1.01).gain > 0.001


@pytest.mark.parametrize(("k", "jump"), [(0.05, 0.0), (0.6, 0.5), (30.0, 0.1)])
def test_runs_of_cells_are_swept_like_single_ones(k, jump):
    prior, goal = apart(nw.Normal(0, 4)), nw.Within(2.5) | nw.In.between(4, 5.5)
    own = Gapped(prior, k, jump, pattern(goal, prior.values, prior.masses), -20, 20)
    x = np.linspace(-20, 6, 15)
    for inside in (False, True):
        found = own.after(x, smallest=inside)
        for y, victim in zip(found, x.tolist(), strict=True):
            _, cells, share = own._cells(victim)
            slow = swept(cells, 1 - share if inside else share, k, jump)
            assert y <= slow + 1e-10  # long cells are cut where it matters
            assert y == pytest.approx(slow, abs=1e-9 if k < 0.1 else 1e-2)


@pytest.mark.parametrize(
    ("name", "args", "x"), [("gamma", (2.5,), 32.6), ("gamma", (2.5,), 34.0), ("t", (3,), 10331.9)]
)
def test_goals_of_the_outermost_victims_are_not_cut_off(name, args, x):
    """A larger goal is guessed no less often, also where it reaches beyond all cells."""
    one, both = (
        nw.guess(nw.Frozen(name, *args), g, slope=1, victim=x).after
        for g in (nw.Within(0.3), nw.Within(0.3) | nw.In.between(1, 1.1))
    )
    assert one - 2e-6 <= both <= one + 2e-4
