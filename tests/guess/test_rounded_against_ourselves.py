"""Small numbers that were rounded the wrong way: sums that cancel, quotients near one, floats that are nearest."""

import itertools
import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest

import nowiser as nw
from nowiser.guess.budget.exposure import Exposure
from nowiser.guess.budget.frontier import _point
from nowiser.guess.grid.between import SPARE, Between
from nowiser.guess.grid.held import Cells
from nowiser.guess.plane import maps
from nowiser.guess.plane.maps import Disc, Discs, screened
from nowiser.guess.plane.plane import plane_of
from nowiser.guess.solid.drifting import _Slabs

TINY = 1e-10  # nats: quotients like (e^u − 1)/u differ from one by that


def by_hand(around, plane, counts):
    """What `screened` says, with the cells of every slab added up by themselves."""
    radius, law = around.radius, plane.law
    cells = [np.linspace(a, b, int(np.clip(4 * (b - a) / radius, 24, maps.SCREEN)) + 1) for a, b in law.reach]
    middle = np.stack(np.meshgrid(*[(c[:-1] + c[1:]) / 2 for c in cells], indexing="ij"), -1).reshape(-1, 2)
    half, mass = math.hypot(*[float(c[1] - c[0]) / 2 for c in cells]), law.boxes(cells).most
    top = around.highest(middle).reshape(mass.shape) * math.exp(around.rate * half + around.jump)
    above = np.minimum(mass * np.maximum(top - 1, 0.0), 1.0)
    sides = [(b - a) / n for a, b, n in zip(plane.low, plane.high, counts, strict=True)]
    places = [a + s * (np.arange(n) + 0.5) for a, s, n in zip(plane.low, sides, counts, strict=True)]
    wide, found = radius + math.hypot(*sides) / 2, np.zeros(counts)
    for a, b in itertools.pairwise((wide * np.linspace(-1, 1, maps.SLABS + 1)).tolist()):
        near = 0.0 if a <= 0 <= b else min(abs(a), abs(b))
        tall = math.sqrt(wide**2 - near**2)
        (i, k), (j, l) = (
            maps._touched(cells[0], places[0] + a, places[0] + b),
            maps._touched(cells[1], places[1] - tall, places[1] + tall),
        )
        for p, q in np.ndindex(counts):
            found[p, q] += above[i[p] : k[p], j[q] : l[q]].sum()
    return found


def test_screening_a_large_map_keeps_what_large_sums_cancel():
    """It was up to 5.6e-9 too low on this map of a hundred by a hundred, where slabs are differences of large sums."""
    ends, masses = [0.0, 30.0, 70.0, 100.0], np.full((3, 3), 1e-12)
    masses[0, 2], masses[2, 2] = 0.2, 0.8
    plane = plane_of(nw.JointHistogram(["x", "y"], [ends, ends], masses / masses.sum()), ("x", "y"))
    discs = Discs(plane, Disc(2.0, 1.5, 5.0))
    counts = maps._counts(plane, 2.0)
    told = screened(discs.around, plane, counts)
    truth = by_hand(discs.around, plane, counts)
    assert (np.minimum(told, 1) >= np.minimum(truth, 1)).all()
    assert (np.minimum(told, 1) <= np.minimum(truth, 1) + 1e-8).all()


def test_averages_over_cells_of_tiny_cost_are_not_taken_for_one():
    axis = SimpleNamespace(borders=np.array([0.0, 2.0]), half=np.ones(1), size=1)
    cells = SimpleNamespace(space=SimpleNamespace(axes=[axis]), rates=[TINY], _plain=lambda _: np.zeros((1, 1)))
    low, high = Cells._means.func(cells)
    assert low[0].item() < 1 < high[0].item()
    assert high[0].item() == pytest.approx(1 + TINY, abs=1e-15)


def test_densities_of_tiny_slope_are_not_taken_for_flat():
    space = SimpleNamespace(
        axes=[SimpleNamespace(borders=np.array([0.0, 1.0]))], masses=np.ones(1), off=np.zeros(1), shape=None
    )
    cells = SimpleNamespace(space=space, slopes=[np.full(1, TINY)], which=[0])
    thin, thick, _ = Between._lines(SimpleNamespace(cells=cells, _known={}), 0)
    assert thin.item() < 1
    assert thick.item() / SPARE > 1 + TINY / 3


def test_charges_of_tiny_cost_are_more_than_the_weights():
    line = np.linspace(0, 1, 101)
    weights = np.zeros((100, 100))
    weights[0, 0] = 1e4  # all of it in one corner
    slabs = _Slabs(0, 0.0, [1, 2], [line, line], [line[[0, -1]]] * 2, weights, 0.0)
    assert slabs.gathered(np.full(3, TINY), 1.0).mass.item() > 1 + TINY / 2


def test_costs_that_are_compared_are_rounded_up():
    reach = Fraction(1, 3)
    assert Fraction(float(reach)) < reach
    assert Fraction(_point(None, None, Exposure(None, reach))[0]) >= reach
