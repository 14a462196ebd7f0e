"""Single values of scipy's families: only those of a range, and nothing forgotten of those that are not listed."""

import math
import warnings

import numpy as np
import pytest
from scipy.special import logsumexp

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.guess.density.apart import apart
from nowiser.guess.density.discrete import beyond, listed
from nowiser.guess.density.law import atoms, support
from nowiser.guess.density.line import line

ENDLESS = [
    nw.Frozen("poisson", 4),
    nw.Frozen("geom", 0.2),
    nw.Frozen("nbinom", 3, 0.2),
    nw.Frozen("nbinom", 0.3, 0.2),
    nw.Frozen("logser", 0.6),
    nw.Frozen("planck", 0.5),
    nw.Frozen("dlaplace", 0.5),
    nw.Frozen("skellam", 3, 2),
]


def tilted(it, inside, k):
    """The posterior of values after e^{kx}, of two thousand values each way."""
    x = np.arange(-2000.0, 2000.0)
    with np.errstate(all="ignore"):
        logs = it.logpmf(x) + k * x
    logs = np.where(np.isnan(logs), -np.inf, logs)
    return math.exp(logsumexp(logs[inside(x)]) - logsumexp(logs))


@pytest.mark.parametrize("prior", ENDLESS)
def test_a_likelihood_that_rises_is_never_forgotten(prior):
    it = prior.scipy()
    far = float(it.isf(1e-9))
    goal, inside = nw.In.between(-1000, far), lambda x: x <= far
    for k in (0.05, 0.2, 0.3, 0.45, 0.6, 1.0, 2.0):
        true = tilted(it, inside, k)
        for asked in (goal, nw.In.between(-1000, 1) | nw.In.between(1, far)):
            assert nw.guess(prior, asked, slope=k).smallest <= true + 1e-9
            assert nw.guess(prior, ~asked, slope=k).after >= 1 - true - 1e-9


@pytest.mark.parametrize("prior", ENDLESS)
def test_what_is_not_listed_weighs_at_most_what_is_told(prior):
    it = prior.scipy()
    values, masses, tails = listed(prior)
    assert masses.sum() == pytest.approx(1, abs=1e-12)
    for tail in tails:
        step = 1.0 if tail.above else -1.0
        edge = float(values[-1 if tail.above else 0])
        j = np.arange(1.0, 3000.0)
        for k in (0.0, 0.5 * tail.rate, 0.98 * tail.rate):
            with np.errstate(all="ignore"):
                logs = np.nan_to_num(it.logpmf(edge + step * j), nan=-np.inf) + k * j
            told = beyond(tails, k, edge, above=tail.above)
            assert told >= logsumexp(logs) - 1e-6
        assert beyond(tails, tail.rate * 1.01, edge, above=tail.above) == math.inf


@pytest.mark.parametrize("prior", [nw.Frozen("zipf", 4), nw.Frozen("yulesimon", 5), nw.Frozen("betanbinom", 5, 9, 1)])
def test_beside_a_heavy_tail_every_goal_can_be_made_as_unlikely_as_you_please(prior):
    for asked in (nw.In.between(0, 5), nw.In({1}) | nw.In({3})):
        assert nw.guess(prior, asked, slope=1e-4).smallest == 0
        assert nw.guess(prior, ~asked, slope=1e-4).after == 1
        mixed = nw.Mixture([(0.5, prior), (0.5, nw.Normal(0, 1))])
        assert nw.guess(mixed, asked, slope=1e-4).smallest == 0
        assert nw.guess(mixed, ~asked, slope=1e-4).after == 1


def test_only_a_range_is_listed():
    heavy = nw.Frozen("zipf", 2.5)
    cut = nw.Truncated(heavy, 1, 100)
    x = np.arange(1, 101.0)
    same = nw.Atoms(x, x**-2.5 / (x**-2.5).sum())
    for goal in (nw.Within(1), ~nw.Within(1), nw.Exactly(), nw.Within(1) | nw.In({50})):
        found, true = (nw.guess(prior, goal, slope=1.0) for prior in (cut, same))
        assert (found.before, found.after) == pytest.approx((true.before, true.after), abs=1e-12)
    mixed = [nw.Truncated(nw.Mixture([(0.5, part), (0.5, nw.Uniform(0, 200))]), 1, 100) for part in (heavy, cut)]
    share = float(heavy.scipy().cdf(100))
    assert apart(mixed[0]).weight == pytest.approx((99 / 200) / (99 / 200 + share))
    assert apart(mixed[1]).weight == pytest.approx((99 / 200) / (99 / 200 + 1))
    assert nw.guess(mixed[0], nw.Within(1), slope=1.0).after < 1
    assert support(cut) == (1, 100)
    assert atoms(cut)[0].tolist() == x.tolist()


@pytest.mark.parametrize("prior", [nw.Frozen("zipf", 2.5), nw.Frozen("yulesimon", 1.5), nw.Frozen("randint", 0, 5e6)])
def test_too_many_values_are_refused_at_once(prior):
    for asked in (prior, nw.Truncated(prior, 0, 1e9), nw.Mixture([(0.5, prior), (0.5, nw.Normal(0, 1))])):
        with pytest.raises(Misconfigured, match=r"more than 2,000,000 likely values(.|\n)*Truncated"):
            nw.guess(asked, nw.Within(1), slope=1)


def test_ranges_and_origins_that_are_no_whole_numbers():
    moved = nw.Frozen("poisson", 4, loc=0.5)
    cut = nw.Truncated(moved, 2, 6.4)
    assert line(cut).atoms.tolist() == [2.5, 3.5, 4.5, 5.5]
    assert line(nw.Truncated(moved, 2, 1e12)).low == 2.5
    both = nw.Truncated(nw.Mixture([(0.5, nw.Frozen("randint", 0, 5)), (0.5, moved)]), 7, 9)
    assert line(both).atoms.tolist() == [7.5, 8.5]
    with pytest.raises(Misconfigured, match="nothing of"):
        line(nw.Truncated(moved, 2.6, 3.4))


def test_parts_of_which_next_to_nothing_or_no_density_is_left():
    cut = nw.Truncated(nw.Mixture([(0.5, nw.Frozen("nbinom", 3, 0.2)), (0.5, nw.Frozen("crystalball", 1.5, 3, loc=-20))]), 2, 92)  # fmt: skip
    alone = nw.Truncated(nw.Frozen("nbinom", 3, 0.2), 2, 92)
    for goal in (nw.Within(1), nw.Within(1) | nw.In.between(20, 30), ~(nw.Within(1) | nw.In.between(20, 30))):
        found, true = (nw.guess(prior, goal, slope=1.0, victim=7) for prior in (cut, alone))
        assert (found.before, found.after) == pytest.approx((true.before, true.after), abs=1e-5)


@pytest.mark.parametrize("low", [1000.0, 1000.0000001, 1000.5])
def test_a_pole_that_is_cut_off_does_not_matter_and_no_warnings_are_given(low):
    pole = nw.Truncated(nw.Frozen("gamma", 0.3, loc=1000), low, 1003)
    prior = nw.Mixture([(0.3, pole), (0.3, nw.Frozen("invgauss", 0.3)), (0.4, nw.Frozen("pareto", 0.8))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = nw.guess(prior, nw.Within(1), slope=1, victim=7)
    assert found.before == pytest.approx(0.019612, abs=1e-6)
    assert found.after >= 0.5642
    if low > 1000:
        assert found.after == pytest.approx(0.5643, abs=1e-3)


@pytest.mark.parametrize("prior", ENDLESS)
def test_goals_reach_what_is_not_listed(prior):
    """All from some value on is all but those before it; one far out is worth what a likelihood makes of him."""
    it = prior.scipy()
    for start in (float(it.isf(0.3)) + 1, float(it.isf(1e-9)) + 1):
        for k in (0.05, 0.2, 0.23, 0.4, 0.49, 0.52, 1.0):
            for of in (prior, nw.Mixture([(0.5, prior), (0.5, nw.Normal(0, 1))])):
                told, rest = (nw.guess(of, goal, slope=k).after
                              for goal in (nw.In.between(start, 1e6), ~nw.In.between(-1e6, start - 1e-6)))  # fmt: skip
                assert told == pytest.approx(rest, rel=1e-3, abs=1e-8)
    far = float(it.isf(1e-15)) + 700.0
    mixed = nw.Mixture([(0.5, prior), (0.5, nw.Normal(0, 1))])
    assert nw.guess(mixed, nw.Within(10), slope=50.0, victim=far).after == 1


@pytest.mark.parametrize("prior", [nw.Frozen("gamma", 2.0), nw.Frozen("gumbel_r"), nw.Frozen("logistic")])
def test_how_far_beyond_all_values_a_goal_goes_on_does_not_matter(prior):
    for k in (0.1, 0.5, 0.9):
        near, far = (nw.guess(prior, nw.In.between(5, end), slope=k).after for end in (600, 1e6))
        assert near <= far * (1 + 1e-9)
        assert far == pytest.approx(near, rel=1e-3)
