"""Between the corners of a box nobody gains more than they do and what `moved` adds: for single likelihoods."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from nowiser.guess.plane.maps import COARSE
from nowiser.guess.plane.moved import Around, Values
from nowiser.guess.plane.pieces import everything
from nowiser.guess.plane.plane import plane_of
from nowiser.guess.plane.table import Blocks

sys.path.insert(0, str(Path(__file__).parent))
from planes import NAMES, bell, histogram, square

NODE, WEIGHT = np.polynomial.legendre.leggauss(12)


def density(prior, x, y):
    if hasattr(prior, "covariance"):
        both = np.stack([x, y], -1)
        away = ((both @ np.linalg.inv(prior.covariance)) * both).sum(-1)
        return np.exp(-away / 2) / (2 * np.pi * math.sqrt(np.linalg.det(prior.covariance)))
    sizes = np.multiply.outer(*[np.diff(e) for e in prior.edges])
    table = np.pad(prior.masses / sizes, 1)
    return table[tuple(np.searchsorted(e, v, "right") for e, v in zip(prior.edges, (x, y), strict=True))]


def over_disc(prior, log, victim, radius):
    """∫ e^log dπ over the disc: by rays and rings of a polar grid."""
    rings, turns = 40, np.arange(720) * 2 * np.pi / 720
    ends = np.linspace(0, radius, rings + 1)
    rho = (ends[:-1, None] + np.diff(ends)[:, None] * (NODE + 1) / 2).ravel()
    weight = (np.diff(ends)[:, None] * WEIGHT / 2).ravel()
    x, y = victim[0] + rho[:, None] * np.cos(turns), victim[1] + rho[:, None] * np.sin(turns)
    return float((density(prior, x, y) * np.exp(log(x, y)) * (rho * weight)[:, None]).sum() * 2 * np.pi / 720)


def over_all(prior, log, n=700):
    if hasattr(prior, "covariance"):
        reach = 8 * np.sqrt(np.diag(prior.covariance))
        sides = [(2 * np.arange(n) + 1 - n) / n * r for r in reach]
    else:
        sides = [(np.arange(n) + 0.5) / n * float(e[-1]) for e in prior.edges]
    x, y = np.meshgrid(*sides, indexing="ij")
    return float((density(prior, x, y) * np.exp(log(x, y))).sum() * np.prod([s[1] - s[0] for s in sides]))


def likelihoods(at, radius, rate, rng):
    """Cones, the largest and the smallest of two, and one that falls away from a line."""
    one, other = (at + radius * rng.uniform(-1.5, 1.5, 2) for _ in range(2))
    turn, height = rng.uniform(0, np.pi), rng.uniform(-0.5, 0.5)

    def cone(p):
        return lambda x, y: -rate * np.hypot(x - p[0], y - p[1])

    yield cone(one)
    yield lambda x, y: np.maximum(cone(one)(x, y), cone(other)(x, y) + height)
    yield lambda x, y: np.minimum(cone(one)(x, y), cone(other)(x, y) + height)
    yield lambda x, y: -rate * np.abs(np.hypot(x - at[0], y - at[1]) - radius)
    yield lambda x, y: rate * np.minimum(np.abs(x - at[0]), 2 * radius) * 0.7 - rate * 0.7 * np.abs(y - at[1])
    yield lambda x, y: -rate * np.abs((x - one[0]) * math.cos(turn) + (y - one[1]) * math.sin(turn))


@pytest.mark.parametrize(
    ("prior", "radius", "middle"),
    [
        (bell(), 0.8, (0.9, 0.1)),
        (bell((1.0, 3.0)), 0.8, (0.4, 2.0)),
        (square(), 2.0, (1.9, 2.1)),
        (square(), 2.0, (2.3, 7.0)),
        (histogram(), 2.0, (5.2, 6.0)),
    ],
)
@pytest.mark.parametrize("jump", [0.0, 0.7])
def test_a_single_likelihood_between_corners(prior, radius, middle, jump):
    rng, rate = np.random.default_rng(8), 0.8 / radius
    plane, at = plane_of(prior, NAMES), np.array(middle)
    around, closest = Around(plane, everything(plane, COARSE), radius, rate, jump), 0.0
    for wide in (0.3, 0.1):
        half = np.array([1.0, 0.6]) * wide * radius / math.hypot(1.0, 0.6)
        corners = [at + half * side for side in ((-1, -1), (1, -1), (1, 1))]
        share = np.array([0.3, 0.4, 0.3])
        victim = share @ corners
        flat = [over_disc(prior, lambda x, y: 0.0 * x, v, radius) for v in (*corners, victim)]
        box = around.box(at, half)
        for log in likelihoods(at, radius, rate, rng):
            total = over_all(prior, log)
            odds = []
            for v in (*corners, victim):
                inside = over_disc(prior, log, v, radius)
                odds.append(math.exp(jump) * inside / (total - inside))
            gains = [o / (1 + o) - b for o, b in zip(odds, flat, strict=True)]
            if gains[-1] > 0:
                excess, more = gains[-1] - float(share @ gains[:-1]), around.more(box, gains[-1])
                assert excess <= more + 1e-5  # of the integrals
                closest = max(closest, excess / more)
    assert closest > 0.01  # and it is no astronomical bound


@pytest.mark.parametrize("cost", [0.2, 0.8, 2.0])
def test_a_cone_in_the_middle_comes_near_the_bound(cost):
    """Half way between two opposite corners, where the density is constant: what the slope of f alone can do."""
    prior, radius, at = square(), 2.0, np.array([8.0, 8.0])
    rate, plane = cost / radius, plane_of(prior, NAMES)
    around = Around(plane, everything(plane, COARSE), radius, rate, 0.0)
    half = np.array([0.17, 0.1])

    def cone(x, y):
        return -rate * np.hypot(x - at[0], y - at[1])

    total = over_all(prior, cone, 1500)
    gains = [over_disc(prior, cone, v, radius) / total - np.pi * 4 / 256 for v in (at - half, at, at + half)]
    excess = gains[1] - (gains[0] + gains[2]) / 2
    more = around.more(around.box(at, half), gains[1])
    assert 0.1 * more < excess <= more


def test_it_falls_with_the_square_where_the_density_is_smooth():
    plane = plane_of(bell(), NAMES)
    around = Around(plane, everything(plane, COARSE), 0.8, 0.5, 0.0)
    sizes = [around.more(around.box(np.array([0.7, 0.3]), np.array([h, h])), 0.1) for h in (0.04, 0.02, 0.01)]
    assert 3.5 < sizes[0] / sizes[1] < 6
    assert 3.5 < sizes[1] / sizes[2] < 5
    assert around.more(around.box(np.array([0.7, 0.3]), np.array([0.3, 0.3])), 0.1) == math.inf  # too large


def test_directions_are_filled_up_as_a_programme_would():
    import scipy.optimize

    rng = np.random.default_rng(3)
    for _ in range(30):
        low = rng.random(8)
        values = Values(low, low + rng.random(8) * 3, rng.random(8), float(rng.uniform(0.5, 6)) + low.sum())
        weights = rng.random((3, 8))
        best = max(
            -scipy.optimize.linprog(
                -w, values.shares[None], [values.total], bounds=list(zip(values.low, values.high, strict=True))
            ).fun
            for w in weights
        )
        assert values.largest(weights) == pytest.approx(best, rel=1e-6)


def test_the_largest_of_a_block():
    rng = np.random.default_rng(2)
    table = rng.random((9, 14))
    blocks = Blocks(table)
    first = [rng.integers(0, n, 200) for n in table.shape]
    last = [np.minimum(f + rng.integers(0, 9, 200), n - 1) for f, n in zip(first, table.shape, strict=True)]
    found = blocks.largest(first, last)
    plain = [table[a : c + 1, b : d + 1].max() for a, b, c, d in zip(*first, *last, strict=True)]
    assert found.tolist() == plain


@pytest.mark.parametrize("prior", [bell((0.5, 2.0)), square(), histogram()])
def test_densities_and_their_slopes_are_enclosed(prior):
    rng, law = np.random.default_rng(5), plane_of(prior, NAMES).law
    low = rng.uniform(-1, 1, (60, 2)) if hasattr(prior, "covariance") else rng.uniform(-1, 16, (60, 2))
    high = low + rng.uniform(0.01, 1.0, (60, 2))
    least, most, steep = law.densities(low, high)
    for a, b, bottom, top, slope in zip(low, high, least, most, steep, strict=True):
        x, y = (u.ravel() for u in np.meshgrid(*np.linspace(a, b, 12).T))
        inside = density(prior, x, y)
        assert bottom <= inside.min() * (1 + 1e-9)
        assert inside.max() <= top * (1 + 1e-9)
        if hasattr(prior, "covariance"):
            steepest = np.hypot(*[(density(prior, x + u, y + v) - inside) / 1e-6 for u, v in ((1e-6, 0), (0, 1e-6))])
            assert steepest.max() <= slope * (1 + 1e-3) <= 8 * steepest.max() + 1e-9
        else:
            assert (slope == 0) == bool(bottom == top or top <= bottom * (1 + 1e-9))
