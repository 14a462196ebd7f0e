"""Mixtures in pieces: against exact cells, against quadrature, and the cases that once said 1."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from numpy.polynomial.legendre import leggauss
from scipy.stats._distr_params import distcont

import nowiser as nw
from nowiser.guess.density.cells import CellLine
from nowiser.guess.density.chord_line import ChordLine
from nowiser.guess.density.chords import chords_of
from nowiser.guess.density.cut import cells_of
from nowiser.guess.density.line import line

NODES, WEIGHTS = leggauss(30)
PARTS = {
    "normal": nw.Normal(20, 5),
    "lognormal": nw.LogNormal(3, 0.5),
    "uniform": nw.Uniform(10, 40),
    "histogram": nw.Histogram([0, 10, 15, 30, 60], [0.1, 0.4, 0.3, 0.2]),
    "atoms": nw.Atoms({12: 0.3, 20: 0.5, 33: 0.2}),
    "cauchy": nw.Frozen("cauchy", 20, 5),
    "t": nw.Frozen("t", 3, 20, 5),
    "pareto": nw.Frozen("pareto", 1.5, 0, 10),
    "gamma": nw.Frozen("gamma", 2, 0, 10),
    "pole": nw.Frozen("gamma", 0.5, 15, 10),
    "beta": nw.Frozen("beta", 0.5, 0.7, 5, 40),
}
PAIRS = [("normal", "cauchy"), ("atoms", "pole"), ("beta", "cauchy")]
MORE = [pair for pair in itertools.combinations(PARTS, 2) if pair not in PAIRS and "t" not in pair]


def mixed(one, two, share=0.5):
    return nw.Mixture([(share, PARTS[one]), (1 - share, PARTS[two])])


def law(prior):
    match prior:
        case nw.Normal():
            return scipy.stats.norm(prior.mean, prior.sd)
        case nw.LogNormal():
            return scipy.stats.lognorm(prior.sd, scale=math.exp(prior.mean))
        case nw.Uniform():
            return scipy.stats.uniform(prior.low, prior.high - prior.low)
        case nw.Histogram():
            return scipy.stats.rv_histogram((prior.masses, prior.edges), density=False)
    return prior.scipy()


def halves(prior, l, u, t, k):
    """What e^{−k|x−t|} weighs inside and outside of [l, u], by Gauss's rule on many pieces."""
    if isinstance(prior, nw.Mixture):
        return sum(w * halves(p, l, u, t, k) for w, p in prior.parts)
    if isinstance(prior, nw.Atoms):
        weights = prior.masses * np.exp(-k * np.abs(prior.values - t))
        inside = (prior.values >= l) & (prior.values <= u)
        return np.array([weights[inside].sum(), weights[~inside].sum()])
    it = law(prior)
    low, high = it.support()
    marks = [it.ppf(np.logspace(-14, -1, 50)), it.ppf(np.linspace(0.1, 0.9, 40)), it.isf(np.logspace(-1, -14, 50))]
    marks += [t + side * np.logspace(-5, 2, 90) / k for side in (-1, 1)]
    marks += [e + s * np.logspace(-15, 2, 150) / k for e, s in ((low, 1), (high, -1)) if np.isfinite(e)]
    if isinstance(prior, nw.Histogram):
        marks.append(prior.edges)
    marks = np.unique(np.concatenate([*marks, [l, u, t]]))
    marks = np.unique(np.clip(marks[np.isfinite(marks)], low, high))
    a, b = marks[:-1], marks[1:]
    x = ((a + b) / 2)[:, None] + ((b - a) / 2)[:, None] * NODES
    with np.errstate(all="ignore"):  # scipy's own
        heights = np.nan_to_num(it.pdf(x) * np.exp(-k * np.abs(x - t)), posinf=0.0)
    part = (heights * WEIGHTS).sum(1) * (b - a) / 2
    inside = (a >= l) & (b <= u)
    return np.array([part[inside].sum(), part[~inside].sum()])


def reached(prior, x, r, k, t):
    """The posterior after a peak at t."""
    inside, outside = halves(prior, x - r, x + r, t, k)
    return inside / (inside + outside)


@pytest.mark.parametrize(("one", "two"), [*PAIRS, *(pytest.param(*pair, marks=pytest.mark.long) for pair in MORE)])
def test_the_worst_victim_of_a_mixture_reaches_the_ceiling_and_others_do_not_exceed_it(one, two):
    prior, r = mixed(one, two), 2.0
    for slope in (0.1, 1.0):
        worst = nw.guess(prior, nw.Within(r), slope=slope)
        own = reached(prior, worst.victim, r, slope / r, worst.witness.peak) - worst.before
        assert -1e-5 <= worst.gain - own < 0.01 * worst.gain
        for x in (14.0, 20.0, 31.0):
            found = nw.guess(prior, nw.Within(r), slope=slope, victim=x)
            real = max(reached(prior, x, r, slope / r, t) for t in (found.witness.peak, x - 1, x + 1))
            assert real <= found.after + 1e-7
            assert found.after <= real + 1e-4
            assert found.gain <= worst.gain + 1e-9


def test_some_cost_is_allowed_with_a_heavy_tail():
    """It was none at all: cells say nothing about a tail."""
    prior = mixed("normal", "cauchy")
    assert isinstance(line(prior), ChordLine)
    cost = nw.largest(prior, nw.Within(2), gain=0.05)
    assert cost.slope == pytest.approx(-math.log(0.95), abs=1e-4)  # far out in the tail
    assert nw.guess(prior, nw.Within(2), slope=cost.slope).gain <= 0.05


def _flat(rng):
    """Single values and bins: a prior that is exact in cells and in pieces."""
    values = np.unique(rng.integers(0, 20, 3) / 2)
    edges = np.unique(np.append(rng.integers(0, 20, 4) / 2, [0.25, 9.75]))
    masses = rng.dirichlet(np.ones(edges.size - 1))
    masses[rng.integers(masses.size)] = 0.0
    bars = nw.Histogram(edges, masses / masses.sum())
    prior = nw.Mixture([(0.4, nw.Atoms(values, rng.dirichlet(np.ones(values.size)))), (0.6, bars)])
    return prior if rng.random() < 0.7 else nw.Truncated(prior, 1.0, 8.0)


def test_pieces_and_cells_agree_where_both_are_exact():
    rng = np.random.default_rng(5)
    for _ in range(25):
        prior = _flat(rng)
        pieces, cells = ChordLine(chords_of(prior)).plain, CellLine(cells_of(prior))
        x = np.concatenate([rng.uniform(pieces.low, pieces.high, 12), rng.integers(2, 16, 8) / 2, [pieces.low]])
        r = rng.integers(1, 6, x.size) / 4
        assert pieces.mass(x - r, x + r) == pytest.approx(cells.mass(x - r, x + r), abs=1e-12)
        for k in (0.01, 0.3, 3.0, -0.3):
            one, two = (row.tight(k, x - r, x + r)[0] for row in (pieces, cells))
            assert one / (1 + one) == pytest.approx(two / (1 + two), abs=2e-6, nan_ok=True)
        inner = np.clip(x, cells.low, cells.high)
        assert pieces.weight(0.7, inner) == pytest.approx(cells.weight(0.7, inner), rel=1e-9)
        a, b = np.sort(rng.uniform(pieces.low - 1, pieces.high + 1, (2, 30)), axis=0)
        (low, high), (floor, roof) = pieces.heights(a, b), cells.heights(a, b)
        assert (low <= floor + 1e-9).all()
        assert (high >= roof - 1e-9).all()


@pytest.mark.parametrize("name", ["dgamma", "dweibull", "foldcauchy", "foldnorm", "pearson3", "vonmises"])
def test_families_made_of_others_have_the_density_scipy_says(name):
    shape = -1.3 if name == "pearson3" else 1.7
    prior = nw.Frozen(name, shape, loc=3.0, scale=1.0 if name == "vonmises" else 2.0)
    found, it = chords_of(prior), prior.scipy()
    assert found is not None
    x = np.linspace(0.21, 5.93, 400)
    inside = (x > found.ends[0]) & (x < found.ends[1])
    assert found.log(x[inside]) == pytest.approx(it.logpdf(x[inside]), abs=found.off + 1e-9)
    a, b = x[inside][:-1], x[inside][1:]
    assert found.exact(a, b) == pytest.approx(it.cdf(b) - it.cdf(a), abs=1e-9)


@pytest.mark.parametrize(
    ("prior", "radius", "victim", "after"),
    [
        (nw.LogNormal(3, 0.5), 1e-9, 20.0, 1 - math.exp(-1)),
        (nw.Frozen("moyal"), 2.0, 100.0, None),  # scipy's quantiles end at 73
        (nw.Frozen("foldcauchy", 4.7), 0.4, 4.8, None),
    ],
)
def test_victims_whose_ceiling_was_one(prior, radius, victim, after):
    found = nw.guess(prior, nw.Within(radius), slope=1.0, victim=victim)
    real = after or reached(prior, victim, radius, 1 / radius, found.witness.peak)
    assert found.after == pytest.approx(real, rel=1e-4)


@pytest.mark.long
@pytest.mark.parametrize(("name", "shapes"), [(n, s) for n, s in dict(reversed([c for c in distcont if isinstance(c[0], str)])).items() if n not in ("levy_stable", "studentized_range", "ksone", "kstwo")])  # fmt: skip
def test_every_continuous_family_is_sharp_in_the_middle_and_for_the_worst_victim(name, shapes):
    prior = nw.Frozen(name, *shapes)
    it = nw.Frozen("vonmises_line", *shapes).scipy() if name == "vonmises" else prior.scipy()
    low, middle, high = (float(v) for v in it.ppf([0.25, 0.5, 0.75]))
    r = (high - low) / 5
    for slope in (0.1, 1.0):
        worst = nw.guess(prior, nw.Within(r), slope=slope)
        one = nw.guess(prior, nw.Within(r), slope=slope, victim=middle)
        assert one.gain <= worst.gain + 1e-9
        for found in (one, worst):
            far = abs(found.victim - middle) > 1e4 * r
            real = 1 - math.exp(-slope) if far else reached(_Same(it), found.victim, r, slope / r, found.witness.peak)
            assert real - found.before - 1e-5 <= found.gain <= 1.01 * (real - found.before) + 1e-6


class _Same:
    """A distribution of scipy, as it is."""

    def __init__(self, it):
        self.scipy = lambda: it


TWO = nw.Mixture([(0.5, nw.Atoms({3: 1})), (0.5, nw.LogNormal(3, 1))])
# a tail that a mixture of mixtures must follow as far as the other's; poles at both ends of a part
NESTED = nw.Mixture([(0.5, mixed("normal", "cauchy")), (0.5, TWO)])
POLES = nw.Mixture([(0.82, nw.Frozen("beta", 0.49, 0.87, 6, 1.1)), (0.18, nw.Frozen("weibull_min", 1.8, -3.2, 0.2))])


@pytest.mark.parametrize(("prior", "radius"), [(NESTED, 2.0), (POLES, 0.32)])
def test_what_is_loose_does_not_spoil_the_worst_victim(prior, radius):
    worst = nw.guess(prior, nw.Within(radius), slope=0.1)
    own = reached(_flattened(prior), worst.victim, radius, 0.1 / radius, worst.witness.peak) - worst.before
    assert own - 1e-5 <= worst.gain <= own * 1.01


def _flattened(prior):
    parts = [(w, p) for w, p in prior.parts]
    inner = [(w * v, q) for w, p in parts if isinstance(p, nw.Mixture) for v, q in p.parts]
    return nw.Mixture([*inner, *((w, p) for w, p in parts if not isinstance(p, nw.Mixture))])


def test_where_scipy_has_no_number_for_a_tail_the_pieces_have():
    """Ten million means out scipy's distribution function of an inverse Gaussian is not a number, here and there."""
    rare = nw.Frozen("invgauss", 0.3, scale=0.01)
    prior = nw.Mixture([(0.5, rare), (0.5, nw.Uniform(0, 1e6))])
    for goal in (nw.In.between(167500, 8e5), ~nw.In.between(197500, 8e5)):
        for slope in (1e-12, 1e-6, 1e-4):
            found = nw.guess(prior, goal, slope=slope)
            same = nw.guess(nw.Mixture([(0.5, nw.Uniform(0, 0.01)), (0.5, nw.Uniform(0, 1e6))]), goal, slope=slope)
            told, true = ((x.smallest, x.before, x.after) for x in (found, same))
            assert told == pytest.approx(true, abs=1e-5)


@pytest.mark.parametrize(
    ("rare", "goal"),
    [
        (nw.Atoms({5: 0.5, 6: 1e-25, 7: 0.5}), nw.In.between(5.5, 6.5)),
        (nw.Histogram([5, 6, 7, 8], [0.5, 1e-25, 0.5]), nw.In.between(6.4, 6.6)),
        (nw.Frozen("binom", 60, 0.3), nw.In.between(53.5, 54.5)),
    ],
)
def test_what_is_rare_among_what_is_not_is_told_by_steep_costs(rare, goal):
    """Whether a density stands far away beside it or not."""
    prior = nw.Mixture([(0.5, nw.Frozen("triang", 0.5, loc=-1e4)), (0.5, rare)])
    last = 0.0
    for slope in (1, 20, 60, 100, 300):
        told, alone = (nw.guess(of, goal, slope=slope).after for of in (prior, rare))
        assert told >= max(last, min(alone, 1.0) * 0.4 - 1e-10)
        last = told
    assert last > 0.999


def test_one_part_that_is_left_of_a_mixture_needs_no_others():
    inner = nw.Mixture([(0.6, nw.Frozen("randint", 0, 20)), (0.4, nw.Frozen("triang", 0.2))])
    prior = nw.Truncated(
        nw.Mixture([(0.1, nw.Normal(5, 1)), (0.1, inner), (0.8, nw.Normal(-0.2, 0.005))]), -0.21, -0.19
    )
    alone = nw.Truncated(nw.Normal(-0.2, 0.005), -0.21, -0.19)
    found, true = (nw.guess(of, nw.Within(1e-3), slope=1.0, victim=-0.2).after for of in (prior, alone))
    assert found == pytest.approx(true, abs=1e-5)
