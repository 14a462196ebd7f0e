"""The worst victim of a disc on maps that are no plane with a density: nobody gains more."""

import itertools

import numpy as np
import pytest

import nowiser as nw

MIXED = nw.Mixture([(0.3, nw.Atoms({0: 0.5, 3: 0.5})), (0.7, nw.Uniform(0, 6))])
FLAT = nw.Uniform(0, 6)


@pytest.mark.parametrize("costs", [{"slope": 0.3, "jump": 0.1}, {"costs": {"x": nw.Cost(0.3), "y": nw.Cost(0.2, 0.1)}}])
def test_an_attribute_with_single_values(costs):
    prior = {"x": MIXED, "y": FLAT}
    worst = nw.guess(prior, "(x, y) within 1", **costs)
    assert not worst.tight
    gains = []
    for x, y in ((0.0, 0.0), (0.0, 1.0), (1.0, 1.0), (2.5, 3.0), (3.0, 1.0)):
        gains.append(nw.guess(prior, "(x, y) within 1", victim={"x": x, "y": y}, **costs).gain)
    assert max(gains) <= worst.gain <= (2.2 if "costs" in costs else 3.2) * max(gains)


def test_three_attributes():
    """By trying peaks on a fine grid: planar noise in space."""
    prior, goal, names = dict.fromkeys("xyz", FLAT), "(x, y, z) within 2", ("x", "y", "z")
    worst = nw.guess(prior, goal, slope=0.4)
    at = np.stack(np.meshgrid(*[np.arange(0.1, 6, 0.2)] * 3, indexing="ij"), -1).reshape(-1, 3)
    best = 0.0
    for who in itertools.product((0.0, 2.0), repeat=3):
        inside = np.linalg.norm(at - who, axis=1) <= 2
        told = np.exp(-0.2 * np.linalg.norm(at - np.minimum(who, 1.5), axis=1))
        best = max(best, float(told[inside].sum() / told.sum() - inside.mean()))
    # the box, and what its corners weigh: (1 − e^{−0.4·(1 + √3)})·(2/3)³ more, five times what noise tells
    box = nw.guess(prior, "x within 2 and y within 2 and z within 2", costs=dict.fromkeys("xyz", nw.Cost(0.4)))
    assert worst.gain == pytest.approx(box.gain - np.expm1(-0.4 * (1 + np.sqrt(3))) * (2 / 3) ** 3, abs=1e-9)
    assert 0.07 < best <= worst.gain <= 5.6 * best
    assert set(worst.victim) == set(names)
    assert nw.guess(prior, goal, slope=0.0).gain == 0


@pytest.mark.parametrize("costs", [{"slope": 0.3, "jump": 0.1}, {"costs": {"x": nw.Cost(0.3), "y": nw.Cost(0.2, 0.1)}}])
def test_cells_are_sharper_than_the_box(costs):
    """Rows of a map: told were .419 and .387, by the box around a disc."""
    prior = {"x": nw.Atoms({0: 0.2, 1: 0.3, 2: 0.5}), "y": FLAT}
    worst = nw.guess(prior, "(x, y) within 1", **costs)
    gains = []
    for x, y in itertools.product((0, 1, 2), (0.0, 1.0, 3.0)):
        gains.append(nw.guess(prior, "(x, y) within 1", victim={"x": x, "y": y}, **costs).gain)
    assert max(gains) <= worst.gain < 0.24


def test_costs_are_found_there():
    cost = nw.largest({"x": MIXED, "y": FLAT}, "(x, y) within 1", gain=0.05, slope=True)
    assert cost.slope > 0.02
    assert nw.guess({"x": MIXED, "y": FLAT}, "(x, y) within 1", slope=cost.slope).gain <= 0.05
