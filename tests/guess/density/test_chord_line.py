"""Exponential pieces: every victim's ceiling against integrals taken another way, near and a million million far."""

import math

import numpy as np
import pytest
from numpy.polynomial.legendre import leggauss

import nowiser as nw
from nowiser.guess.density.chord_line import ChordLine
from nowiser.guess.density.line import line
from nowiser.guess.number.follow import PLAIN, Follow
from nowiser.guess.number.leaf import profile_of
from nowiser.guess.number.profile import Near

FAMILIES = [
    nw.Frozen("t", 3.0, loc=20.0, scale=5.0),
    nw.Frozen("cauchy"),
    nw.Frozen("pareto", 2.62),
    nw.Frozen("weibull_min", 0.7),
    nw.Frozen("beta", 0.5, 0.5),
    nw.Frozen("gamma", 2.0),
    nw.Frozen("gumbel_r"),
    nw.Frozen("burr12", 2.0, 1.5),
]
NODES, WEIGHTS = leggauss(30)


def replayed(it, l, u, t, k):
    """The posterior odds of [l, u] after a Laplace peak at t (a valley for k < 0), by Gauss's rule on many pieces."""
    low, high = it.support()
    marks = [it.ppf(np.logspace(-15, -1, 50)), it.ppf(np.linspace(0.1, 0.9, 40)), it.isf(np.logspace(-1, -15, 50))]
    marks += [t + side * np.logspace(-5, 3, 90) / abs(k) for side in (-1, 1)]
    marks += [
        end + side * np.logspace(-17, 2, 150) / abs(k) for end, side in ((low, 1), (high, -1)) if np.isfinite(end)
    ]
    marks = np.unique(np.concatenate([*marks, [l, u, t]]))
    marks = np.unique(np.clip(marks[np.isfinite(marks)], low, high))
    a, b = marks[:-1], marks[1:]
    x = ((a + b) / 2)[:, None] + ((b - a) / 2)[:, None] * NODES
    with np.errstate(all="ignore"):  # scipy's own
        heights = np.nan_to_num(np.exp(it.logpdf(x) - k * np.abs(x - t)), posinf=0.0)
    part = (heights * WEIGHTS).sum(1) * (b - a) / 2
    inside = (a >= l) & (b <= u)
    return float(part[inside].sum() / part[~inside].sum())


@pytest.mark.parametrize("prior", FAMILIES)
def test_the_ceiling_of_a_victim_is_what_a_peak_reaches(prior):
    row, it = line(prior), prior.scipy()
    assert isinstance(row, ChordLine)
    rng = np.random.default_rng(3)
    spread = float(it.ppf(0.75) - it.ppf(0.25))
    for level in (1e-9, 1e-4, 0.1, 0.6):
        for x in (float(it.ppf(level)), float(it.isf(level))):
            r = spread * 10 ** rng.uniform(-1.2, 0.2)
            k = 10 ** rng.uniform(-1.0, 0.9) / r
            odds, t = row.tight(k, np.array([x - r]), np.array([x + r]))
            true = replayed(it, x - r, x + r, float(t[0]), k)
            after = odds[0] / (1 + odds[0])
            assert true / (1 + true) <= after + 1e-7
            assert after <= true / (1 + true) + row.off + 4e-15 * k * abs(x)


@pytest.mark.parametrize("prior", [nw.Frozen("gamma", 2.0), nw.Frozen("beta", 2.0, 5.0), nw.Frozen("logistic"), nw.Frozen("gamma", 0.5)])  # fmt: skip
def test_the_smallest_posterior_of_a_victim_is_what_a_valley_reaches(prior):
    row, it = line(prior), prior.scipy()
    for x, r, k in ((float(it.median()), 0.1, -0.3), (float(it.ppf(0.9)), 0.2, -0.5)):
        odds, t = row.tight(k, np.array([x - r]), np.array([x + r]))
        true = replayed(it, x - r, x + r, float(t[0]), k)
        assert true * (1 - 1e-4) <= odds[0] <= true * (1 + 1e-9)


@pytest.mark.parametrize("name", ["t", "pareto", "lomax"])
def test_somebody_with_a_heavy_tail_can_be_misled_without_limit(name):
    assert nw.guess(nw.Frozen(name, 3.0), nw.Within(0.5), slope=0.1, victim=1.5).smallest == 0


@pytest.mark.parametrize(
    ("prior", "radius"), [(p, 0.25 * float(np.subtract(*p.scipy().ppf([0.75, 0.25])))) for p in FAMILIES]
)
@pytest.mark.parametrize(("slope", "jump"), [(0.2, 0.0), (1.0, 0.5)])
def test_the_worst_victim_is_named_and_reaches_the_ceiling(prior, radius, slope, jump):
    worst = nw.guess(prior, nw.Within(radius), slope=slope, jump=jump)
    w, it = worst.witness, prior.scipy()
    true = replayed(it, worst.victim - radius, worst.victim + radius, w.peak, slope / radius) * math.exp(jump)
    assert -1e-9 <= worst.gain - (true / (1 + true) - worst.before) < 1e-4


def test_far_out_a_heavy_tail_is_flat():
    """Where ln density has no slope, the ceiling is that of a wide uniform prior: 1 − e^{−slope}."""
    for prior in (nw.Frozen("t", 3.0), nw.Frozen("cauchy"), nw.Frozen("levy"), nw.Frozen("pareto", 0.8)):
        worst = nw.guess(prior, nw.Within(0.5), slope=1.0)
        assert 1 - math.exp(-1) <= worst.gain + 1e-9
        assert worst.gain < 1 - math.exp(-1) + 1e-4


@pytest.mark.parametrize("prior", [*FAMILIES, nw.Frozen("logistic"), nw.Truncated(nw.Frozen("t", 3.0), -2.0, 50.0)])
def test_every_victim_of_a_range_stays_below_its_bound(prior):
    low, high = (float(e[0]) for e in line(prior).victims())
    law = prior.prior.scipy() if isinstance(prior, nw.Truncated) else prior.scipy()
    radius = 0.25 * float(law.ppf(0.75) - law.ppf(0.25))
    profile = profile_of(prior, nw.Within(radius), nw.Cost(0.8, 0.2))
    assert isinstance(profile, Near)
    follow = Follow(profile, PLAIN, negated=False)
    middle = np.clip(law.ppf([0.001, 0.999]), low, high)
    x = np.unique(np.concatenate([np.linspace(*middle, 200), np.clip(law.isf(np.logspace(-3, -11, 60)), low, high)]))
    bound = follow.ceiling(x[:-1], x[1:])[0]
    assert np.isfinite(bound).mean() > 0.5
    for share in (0.0, 0.4, 0.9):
        found = profile.at(x[:-1] + share * (x[1:] - x[:-1]), smallest=False)
        assert (found.after - found.before <= bound + 2 * line(prior).off + 1e-6).all()


def test_a_tiny_cost_gives_a_tiny_gain():
    for slope in (1e-12, 1e-7):
        for prior in (nw.Frozen("gamma", 2.0), nw.Frozen("t", 5.0)):
            assert nw.guess(prior, nw.Within(0.5), slope=slope).gain < 20 * slope + 1e-9


def test_densities_masses_and_slopes_are_those_of_the_pieces():
    row = line(nw.Frozen("t", 3.0)).plain
    rng = np.random.default_rng(11)
    a = rng.standard_t(3, 300)
    b = a + rng.exponential(0.3, 300)
    low, high = row.heights(a, b)
    slopes = row.leanings(a, b)
    inner = a + rng.uniform(size=300) * (b - a)
    p = row._height(inner) / row.total
    assert (low <= p * (1 + 1e-12)).all()
    assert (p <= high * (1 + 1e-12)).all()
    step = (b - a) * 1e-3
    rise = (np.log(row._height(inner + step)) - np.log(row._height(inner))) / step
    ends = row.leanings(a, b + step)
    assert (ends[0] - 1e-6 <= rise).all()
    assert (rise <= ends[1] + 1e-6).all()
    assert (slopes[0] <= slopes[1]).all()
    exact = nw.Frozen("t", 3.0).scipy()
    assert row.mass(a, b) == pytest.approx(exact.cdf(b) - exact.cdf(a), rel=1e-5, abs=1e-12)


def test_truncated_and_negated_goals():
    cut = nw.Truncated(nw.Frozen("t", 3.0), -1.0, 4.0)
    one = nw.guess(cut, nw.Within(0.5), slope=1.0, victim=0.0)
    law = nw.Frozen("t", 3.0).scipy()
    assert one.before == pytest.approx((law.cdf(0.5) - law.cdf(-0.5)) / (law.cdf(4) - law.cdf(-1)), rel=1e-12)
    assert nw.guess(cut, nw.Within(0.5), slope=1.0).gain >= one.gain
    away = nw.guess(cut, nw.parse_goal("not within 0.5"), slope=1.0)
    assert 0 < away.gain < 1 - away.before


@pytest.mark.parametrize("name", ["logistic", "laplace", "hypsecant", "gumbel_r"])
def test_a_victim_far_out_in_an_exponential_tail_is_no_more_exposed_than_the_worst(name):
    """There the ceiling is 1 − e^{−r(k − s²/k)}, with s = 1 the rate at which the density falls; it was 1."""
    prior = nw.Frozen(name)
    for slope in (3.0, 5.0):
        k = slope / 2
        worst = nw.guess(prior, nw.Within(2), slope=slope)
        for x in (50.0, 100.0, 500.0):
            found = nw.guess(prior, nw.Within(2), slope=slope, victim=x)
            assert found.after == pytest.approx(-math.expm1(-2 * (k - 1 / k)), rel=1e-6)
            assert found.gain <= worst.gain + 2e-6


STEEP = [
    (nw.Truncated(nw.Frozen("t", 3), 0.8, 2), 0.8, 1.5, 2),
    (nw.Truncated(nw.Frozen("cauchy"), -300, 300), -300, -100, 300),
    (nw.Truncated(nw.Frozen("expon"), 0, 50), 0, 1.5, 50),
    (nw.Truncated(nw.LogNormal(0, 1), 0.5, 9), 0.5, 7, 9),
    (nw.Frozen("triang", 0.5), 0, 0.5, 1),
    (nw.Frozen("beta", 0.5, 2), 0, 0.3, 1),
    (nw.Mixture([(0.4, nw.Truncated(nw.Frozen("gamma", 2), 1, 9)), (0.6, nw.Uniform(0, 20))]), 0, 14, 20),
    (nw.Mixture([(0.4, nw.Truncated(nw.Frozen("gamma", 2), 1, 9)), (0.6, nw.Atoms({0: 0.7, 20: 0.3}))]), 0, 14, 20),
]


@pytest.mark.parametrize(("prior", "low", "middle", "high"), STEEP)
def test_all_but_one_end_of_the_range_is_the_other_end_however_steep(prior, low, middle, high):
    last = 0.0
    for nats in (1, 30, 600, 700, 720, 900, 1400, 5e3, 2e4, 1e6):
        slope = nats / (high - low)
        for inside, outside in (((middle, high), (low, middle)), ((low, middle), (middle, high))):
            told, denied = (nw.guess(prior, goal, slope=slope)
                            for goal in (nw.In.between(*inside), ~nw.In.between(*outside)))  # fmt: skip
            assert denied.after == pytest.approx(told.after, abs=5e-5)
            assert denied.smallest == pytest.approx(told.smallest, abs=5e-5)
        assert told.after >= last - 1e-9
        last = told.after


@pytest.mark.parametrize(("prior", "low", "middle", "high"), STEEP)
def test_the_largest_cost_of_a_denied_goal_is_that_of_the_rest(prior, low, middle, high):
    gain = (1 - nw.guess(prior, nw.In.between(low, middle)).before) / 2
    costs = [nw.largest(prior, goal, gain=gain) for goal in (nw.In.between(low, middle), ~nw.In.between(middle, high))]
    assert costs[1].slope == pytest.approx(costs[0].slope, rel=1e-3)


def test_what_is_loose_inside_weighs_all_it_can_however_steep():
    """A part whose points end inside the range: what it has left may be as far away as the range goes."""
    row = line(nw.Mixture([(0.5, nw.Frozen("beta", 0.5, 2)), (0.5, nw.Uniform(-20, 20))]))
    assert isinstance(row, ChordLine)
    assert row.inner
    (a, _, mass), y = row.inner[0], np.array([15.0])
    for k in (1.0, 30.0, 60.0, 1e3):
        assert row.stray(-k, (y, y), y, 0)[0] >= (math.log(mass) + k * (15.0 - a)) * (1 - 1e-12)
