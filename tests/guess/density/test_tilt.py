"""Mixtures of normals, uniforms and histograms against quadrature: densities that jump and peak inside a goal."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import nowiser as nw
from nowiser.guess.density.cells import CellLine
from nowiser.guess.density.chord_line import ChordLine
from nowiser.guess.density.closed_form import FEW_BINS
from nowiser.guess.density.line import line
from nowiser.guess.density.tilt import TiltLine

NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


def pieces(prior):
    """(weight, density, ends and landmarks) of each part."""
    if isinstance(prior, nw.Mixture):
        return [(w * v, f, marks) for w, part in prior.parts for v, f, marks in pieces(part)]
    if isinstance(prior, nw.Normal):
        m, s = prior.mean, prior.sd
        marks = [m + s * z for z in (-12, -8, -5, -3, -2, -1, 0, 1, 2, 3, 5, 8, 12)]
        return [(1.0, lambda x: np.exp(-(((x - m) / s) ** 2) / 2) / (s * math.sqrt(2 * math.pi)), marks)]
    if isinstance(prior, nw.Uniform):
        a, b = prior.low, prior.high
        return [(1.0, lambda x: np.where((x > a) & (x < b), 1 / (b - a), 0.0), [a, b])]
    bins = zip(prior.masses, prior.edges[:-1], prior.edges[1:], strict=True)
    return [(m, pieces(nw.Uniform(a, b))[0][1], [a, b]) for m, a, b in bins]


def posterior(prior, l, u, k, t):
    """∫_g e^{−k|x−t|} dπ / ∫ e^{−k|x−t|} dπ, by Gauss's rule between all places where anything bends."""
    parts = pieces(prior)
    near = [t + side * far / k for far in (0.1, 0.5, 1, 2, 4, 8, 16, 32, 64) for side in (-1, 1)]
    marks = np.unique(np.concatenate([m for _, _, m in parts] + [[l, u, t], near]))
    a, b = marks[:-1, None], marks[1:, None]
    x = (a + b) / 2 + (b - a) / 2 * NODES
    mass = sum(w * f(x) for w, f, _ in parts) * np.exp(-k * np.abs(x - t)) * WEIGHTS * (b - a) / 2
    inside = ((marks[:-1] >= l) & (marks[1:] <= u))[:, None]
    return float((mass * inside).sum() / mass.sum())


def best(prior, l, u, k):
    """The largest over t, by ternary search in a fine grid (left factor rises, right factor falls: one maximum)."""
    a, b = l, u
    for _ in range(7):
        grid = np.linspace(a, b, 13)
        found = [posterior(prior, l, u, k, t) for t in grid]
        i = int(np.argmax(found))
        a, b = grid[max(i - 1, 0)], grid[min(i + 1, 12)]
    return max(found)


def made(kind, rng):
    """A mixture of this kind."""
    at, s = rng.normal(), 10 ** rng.uniform(-0.5, 0.5)
    normal, spike = nw.Normal(at, s), nw.Normal(at + rng.normal() * s, s * 10 ** rng.uniform(-2.5, 0))
    edges = at - s + np.cumsum(np.append(0.0, rng.uniform(0.1, 1.0, 5))) * s
    bars = nw.Histogram(edges, rng.dirichlet(np.ones(5)))
    flat = nw.Uniform(at - s * rng.random(), at + s * (2 * rng.random() + 0.1))
    other = nw.Uniform(at - s / 2, at + s * (rng.random() + 0.01))
    part = {"flat": flat, "bars": bars, "spike": spike}[kind]
    share = rng.uniform(0.05, 0.95)
    return nw.Mixture([(share, normal if kind != "flat" or rng.random() < 0.7 else other), (1 - share, part)]), at, s


@settings(max_examples=40)
@given(st.sampled_from(["flat", "bars", "spike"]), st.integers(0, 10**6))
def test_one_victim_against_quadrature(kind, seed):
    rng = np.random.default_rng(seed)
    prior, at, s = made(kind, rng)
    assert isinstance(line(prior), TiltLine)
    low, high = max(line(prior).low, at - 4 * s), min(line(prior).high, at + 4 * s)
    x, radius, slope = float(rng.uniform(low, high)), s * 10 ** rng.uniform(-1.3, 0.1), 10 ** rng.uniform(-4, 0.7)
    found = nw.guess(prior, nw.Within(radius), slope=slope, victim=x)
    real = best(prior, x - radius, x + radius, slope / radius)
    assert real - 1e-11 <= found.after <= real + 1e-9
    more = nw.guess(prior, nw.Within(radius), slope=slope * 1.001, victim=x)
    assert more.after >= found.after - 1e-13


def test_a_density_that_jumps_inside_the_goal():
    """Newton's steps led to and fro across the jump: the worst gain was 90 times too high at the smallest slope."""
    prior = nw.Mixture([(0.4, nw.Normal(0, 1)), (0.6, nw.Uniform(0, 2))])
    last = 0.0
    for slope in (1e-4, 1e-3, 1.001e-3, 0.01, 0.06, 0.06006, 1.0):
        found = nw.guess(prior, nw.Within(0.88), slope=slope)
        x = found.victim
        before = sum(w * float(line(p).mass(np.array([x - 0.88]), np.array([x + 0.88]))[0]) for w, p in prior.parts)
        real = best(prior, x - 0.88, x + 0.88, slope / 0.88) - before
        assert real - 1e-11 <= found.gain <= real * (1 + 1e-4)
        assert found.gain > last
        last = found.gain
    allowed = nw.largest(prior, nw.Within(0.88), gain=0.0005)
    assert 0.00123 < allowed.slope < 0.00124
    assert nw.guess(prior, nw.Within(0.88), slope=allowed.slope).gain <= 0.0005


def test_histograms_with_many_bins_are_pieces():
    edges = np.linspace(0, 1, FEW_BINS + 2)
    bars = nw.Histogram(edges, np.full(FEW_BINS + 1, 1 / (FEW_BINS + 1)))
    assert isinstance(line(nw.Mixture([(0.5, nw.Normal(0, 1)), (0.5, bars)])), ChordLine)
    assert isinstance(line(bars), CellLine)


@pytest.mark.parametrize("slope", [1e-3, 1.0])
def test_a_histogram_in_a_mixture_is_its_bins(slope):
    bars = nw.Histogram([0, 1, 3], [0.3, 0.7])
    bins = nw.Mixture([(0.3, nw.Uniform(0, 1)), (0.7, nw.Uniform(1, 3))])
    one, two = (
        nw.guess(nw.Mixture([(0.5, nw.Normal(1, 1)), (0.5, p)]), nw.Within(0.4), slope=slope) for p in (bars, bins)
    )
    assert one.gain == pytest.approx(two.gain, rel=1e-9)
    alone, apart = (nw.guess(p, nw.Within(0.4), slope=slope) for p in (bars, bins))
    assert alone.gain == pytest.approx(apart.gain, rel=1e-4)


@pytest.mark.parametrize(
    ("prior", "goal"),
    [
        (nw.Normal(0, 1), nw.In.between(-37.7, 37.7)),
        (nw.Truncated(nw.Normal(0, 1), -40, 39), nw.In.between(-37.7, 39)),
        (nw.Histogram([0, 1, 2], [1 - 1e-310, 1e-310]), nw.In.between(0, 1)),
    ],
)
def test_odds_from_below_are_numbers_that_a_jump_divides(prior, goal):
    """Outside lies e^{−711} of all, which a jump of 745 makes much more than what is inside."""
    found = [nw.guess(prior, goal, slope=1e-9, jump=jump).smallest for jump in (600, 700, 711, 720, 744, 745)]
    assert found == sorted(found, reverse=True)
    assert found[-1] < 1e-10
