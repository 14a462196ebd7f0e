"""Two independent numbers of any kind on a plane: bounds against plain sums on fine grids, with scipy's distributions."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import integrate, stats

import nowiser as nw
from nowiser.guess.plane.outer import sliced
from nowiser.guess.plane.region import Placed, region_of
from nowiser.guess.plane.regions import Regions, law_of
from nowiser.guess.plane.row import Row
from nowiser.model.goal import parse_goal

sys.path.insert(0, str(Path(__file__).parent))
from planes import NAMES
from test_regions import inside_of

KINDS = {
    "normal": (nw.Normal(0.3, 1.2), stats.norm(0.3, 1.2)),
    "uniform": (nw.Uniform(-2, 3), stats.uniform(-2, 5)),
    "t": (nw.Frozen("t", 3), stats.t(3)),
    "lognormal": (nw.LogNormal(0, 1), stats.lognorm(1)),
    "gamma": (nw.Frozen("gamma", 2), stats.gamma(2)),
    "laplace": (nw.Frozen("laplace"), stats.laplace()),
    "cut": (nw.Truncated(nw.Normal(0, 1), -1, 2), stats.truncnorm(-1, 2)),
}


def law(first, second):
    return law_of({"x": KINDS[first][0], "y": KINDS[second][0]}, NAMES)


def regions(kinds, text, rates, jump=0.0, *, straight=False):
    return Regions(law(*kinds), region_of(parse_goal(text), NAMES), np.array(rates), jump, straight=straight)


def axis(kind, cuts, n=500):
    """Places and their masses; far out, too, where hardly anybody is."""
    true = KINDS[kind][1]
    shares = np.concatenate(
        [np.geomspace(1e-9, 0.01, 60), np.linspace(0.01, 0.99, n), 1 - np.geomspace(1e-9, 0.01, 60)]
    )
    ends = np.unique(np.concatenate([true.ppf(shares), cuts]))
    ends = ends[(ends > true.support()[0]) & (ends < true.support()[1])]
    borders = np.concatenate([true.support()[:1], ends, true.support()[1:]])
    places = np.concatenate([ends[:1], (ends[1:] + ends[:-1]) / 2, ends[-1:]])
    return places, np.diff(true.cdf(borders))


def plane(kinds, victim, radii=(1.0,)):
    cuts = [[v + s * r for r in radii for s in (-1, 1)] + [0.0, 1.0] for v in victim]
    (x, p), (y, q) = (axis(kind, c) for kind, c in zip(kinds, cuts, strict=True))
    return np.multiply.outer(p, q), *np.meshgrid(x, y, indexing="ij")


@pytest.mark.parametrize("kind", KINDS)
def test_masses_densities_and_slopes_of_one_number(kind):
    row, true = Row(KINDS[kind][0]), KINDS[kind][1]
    borders = np.sort(true.ppf(np.random.default_rng(1).uniform(1e-4, 1 - 1e-4, 12)))
    least, most = row.masses(borders)
    masses = np.diff(true.cdf(borders))
    assert (least <= masses * (1 + 1e-12)).all()
    assert (most >= masses * (1 - 1e-12)).all()
    assert (most - least <= 1e-5 * masses + 1e-12).all()
    a, b = borders[:-1], borders[1:]
    low, high = row.heights(a, b)
    falls, rises = row.leanings(a, b)
    off = 1 + 4 * row.slip + 1e-9
    for share in np.linspace(0.01, 0.99, 9):
        x, step = a + share * (b - a), 1e-4 * (b - a)
        p = true.pdf(x)
        assert ((low <= p * off) & (p <= high * off)).all()
        slope = (np.log(true.pdf(x + step)) - np.log(true.pdf(x - step))) / (2 * step)
        sure = 1e-3 * (1 + np.abs(slope)) + (4 * row.slip + 1e-9) / step  # of pieces, up to what they are wrong by
        assert ((falls <= slope + sure) & (slope <= rises + sure)).all()


@pytest.mark.parametrize(("kind", "side"), [("normal", 1), ("gamma", 1), ("laplace", -1)])
def test_what_lies_in_a_light_tail(kind, side):
    row, true = Row(KINDS[kind][0]), KINDS[kind][1]
    for k in (0.0, 0.4, 0.8):
        for x in true.ppf([0.02, 0.4] if side < 0 else [0.5, 0.99]):
            ends = (x, 60.0) if side > 0 else (max(true.support()[0], -60.0), x)
            truth = integrate.quad(lambda y, k=k, x=x: math.exp(k * abs(y - x)) * true.pdf(y), *ends)[0]
            assert truth * (1 - 1e-6) <= row.lifted(k, float(x), side) <= 2 * truth


def test_heavy_tails_have_no_limit_and_ends_nothing_beyond():
    assert Row(nw.Frozen("t", 3)).lifted(0.1, 5.0, 1) == math.inf
    assert Row(nw.LogNormal(0, 1)).lifted(0.1, 5.0, 1) == math.inf
    assert Row(nw.Frozen("laplace")).lifted(1.1, 5.0, 1) == math.inf
    assert Row(nw.Uniform(0, 1)).lifted(3.0, 1.0, 1) == 0.0
    assert Row(nw.Frozen("t", 3)).lifted(0.0, 5.0, 1) == pytest.approx(stats.t(3).sf(5.0), rel=1e-4)


QUESTIONS = [
    (("uniform", "normal"), "(x, y) within 1 or x in [0, 1]"),
    (("lognormal", "normal"), "not (x, y) within 1"),
    (("t", "normal"), "x within 1 or y within 1"),
    (("t", "lognormal"), "(x, y) within 1 and x in [0, 1]"),
    (("gamma", "laplace"), "x within 1 or y in [0, 1]"),
    (("cut", "gamma"), "not x within 1 and not (y within 1 and x in [0, 1])"),
    (("laplace", "t"), "y within 1 and not x within 1"),
]


def attacks(victim, rates, straight):
    """Likelihoods that keep the costs, as logarithms: cones and valleys, and what pushes everything far out."""

    def away(x, y, p):
        if straight:
            return rates[0] * np.hypot(x - p[0], y - p[1])
        return rates[0] * np.abs(x - p[0]) + rates[1] * np.abs(y - p[1])

    for shift in (0.0, 0.5, -0.5):
        peak = victim + shift
        yield lambda x, y, p=peak: -away(x, y, p)
        yield lambda x, y, p=peak: away(x, y, p)
        if not straight:
            yield lambda x, y, p=peak: rates[0] * np.abs(x - p[0]) - rates[1] * np.abs(y - p[1])
            yield lambda x, y, p=peak: rates[1] * np.abs(y - p[1]) - rates[0] * np.abs(x - p[0])


@pytest.mark.parametrize(
    ("kinds", "text", "straight"),
    [(*question, False) for question in QUESTIONS] + [(*q, True) for q in QUESTIONS if "(x, y)" in q[1]],
)
def test_no_likelihood_tells_more_than_the_bound(kinds, text, straight):
    victim, rates, jump = np.array([0.6, 0.4]), np.array([0.4, 0.4 if straight else 0.25]), 0.2
    found = regions(kinds, text, rates, jump, straight=straight).exposed(victim, sharp=False)
    weight, x, y = plane(kinds, victim)
    inside, best = inside_of(parse_goal(text), victim, x, y), 0.0
    assert found.before == pytest.approx(weight[inside].sum(), abs=0.004)
    for log in attacks(victim, rates, straight):
        f = weight * np.exp(np.minimum(log(x, y), 200.0))
        odds = math.exp(jump) * f[inside].sum() / f[~inside].sum()
        best = max(best, odds / (1 + odds))
    assert best - 0.004 <= found.before + found.own <= best + 0.06


def test_slices_of_a_heavy_tail_are_what_everything_is_pushed_to():
    """With a likelihood that grows with |x| only the tail counts, where being inside is a matter of y alone."""
    text = "not x within 1 and not y within 1"
    found = regions(("t", "normal"), text, (0.3, 0.4)).exposed(np.array([0.2, 0.1]), sharp=False)
    alone = nw.guess(nw.Normal(0.3, 1.2), "not within 1", slope=0.4, victim=0.1).after
    assert alone - 1e-9 <= found.before + found.own <= alone + 0.01
    placed = Placed(region_of(parse_goal("x within 1 or not y within 1"), NAMES), np.zeros(2), np.zeros(2))
    both = sliced(law("t", "normal"), placed, np.array([0.3, 0.4]), 0)
    goal = nw.guess(nw.Normal(0.3, 1.2), "not within 1", slope=0.4, victim=0.0).after
    assert both / (1 + both) == pytest.approx(goal, rel=1e-6)


@pytest.mark.parametrize(
    ("kinds", "text"),
    [
        (("uniform", "laplace"), "x within 1 or y within 1"),
        (("t", "normal"), "y within 1 and not x within 1"),
        (("cut", "t"), "(x, y) within 1 or x in [0, 1]"),
    ],
)
def test_between_corners_no_likelihood_gains_more_than_at_them_and_the_excess(kinds, text):
    """The claim of `sliding`, for single likelihoods, also where borders go on and on into a heavy tail."""
    family, goal = regions(kinds, text, (0.5, 0.4)), parse_goal(text)
    low, high = np.array([0.25, 0.3]), np.array([0.45, 0.55])
    excess = family.more(family.box(low, high), 0.0, 1.0)
    assert math.isfinite(excess)
    victims = [low + np.array([a, b]) * (high - low) for a in (0.0, 0.5, 1.0) for b in (0.0, 0.5, 1.0)]
    cuts = [np.concatenate([v[i] + np.array([-1.0, 1.0]) for v in victims]) for i in range(2)]
    (x, p), (y, q) = (axis(kind, [*c, 0.0, 1.0], 700) for kind, c in zip(kinds, cuts, strict=True))
    weight, (x, y) = np.multiply.outer(p, q), np.meshgrid(x, y, indexing="ij")
    insides = [inside_of(goal, v, x, y) for v in victims]
    for log in attacks((low + high) / 2, (0.5, 0.4), straight=False):
        f = weight * np.exp(np.minimum(log(x, y), 30.0))
        f = f / f.sum() - weight
        gains = np.array([f[i].sum() for i in insides])
        if gains.max() > 0:
            corners = max(gains[i] for i in (0, 2, 6, 8))
            assert gains.max() <= corners + excess + 1e-4
