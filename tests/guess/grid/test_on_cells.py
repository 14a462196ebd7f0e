"""Discs beside a third attribute, and whatever else is asked on a grid: never below what noise tells, and near it."""

import itertools

import numpy as np
import pytest

import nowiser as nw
from nowiser.guess.grid import anybody
from nowiser.guess.grid.around import Fine, around
from nowiser.guess.grid.held import Cells
from nowiser.guess.grid.joint import question_of
from nowiser.guess.grid.space import space_on
from nowiser.model.goal import parse_goal

TABLE = np.random.default_rng(3).random((3, 3, 2)) + 0.1
HILLS = nw.JointHistogram(("x", "y", "z"), [np.arange(4.0), np.arange(4.0), np.arange(3.0)], TABLE / TABLE.sum())
BELL = nw.MultivariateNormal(("x", "y", "z"), [0, 0, 0], np.eye(3) * 0.6 + 0.4)
GOALS = {
    "(x, y) within 1 and z within 0.5": lambda d, z: d & z,
    "(x, y) within 1 or z within 0.5": lambda d, z: d | z,
    "not ((x, y) within 1 and not z within 0.5)": lambda d, z: ~(d & ~z),
}
COSTS = {"x": nw.Cost(0.3), "y": nw.Cost(0.2), "z": nw.Cost(0.1)}


def told(prior, goal, who):
    """The most that peaks and valleys around the victim tell, on a fine grid: before, and after."""
    if prior is HILLS:
        axes = [np.arange(n * 16) / 16 + 1 / 32 for n in (3, 3, 2)]
        x, y, z = np.meshgrid(*axes, indexing="ij")
        weight = TABLE[x.astype(int), y.astype(int), z.astype(int)]
    else:
        x, y, z = np.meshgrid(*[np.arange(-4.45, 4.5, 0.1)] * 3, indexing="ij")
        at = np.stack([x, y, z], -1)
        weight = np.exp(-((at @ np.linalg.inv(BELL.covariance)) * at).sum(-1) / 2)
    weight = weight / weight.sum()
    inside = GOALS[goal](np.hypot(x - who[0], y - who[1]) <= 1, np.abs(z - who[2]) <= 0.5)
    best = 0.0
    for aside in itertools.product((-0.3, 0.3), repeat=3):
        peak = np.add(who, aside)
        away = 0.3 * np.abs(x - peak[0]) + 0.2 * np.abs(y - peak[1]) + 0.2 * np.abs(z - peak[2])
        for f in (np.exp(-away), np.exp(away)):
            best = max(best, float((weight * f)[inside].sum() / (weight * f).sum()))
    return float(weight[inside].sum()), best


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("prior", [HILLS, BELL], ids=["histogram", "normal"])
def test_discs_beside_a_third_attribute(prior, goal):
    who = (1.4, 1.2, 0.8) if prior is HILLS else (0.5, 0.3, -0.2)
    found = nw.guess(prior, goal, costs=COSTS, victim=dict(zip("xyz", who, strict=True)))
    before, after = told(prior, goal, who)
    assert found.before == pytest.approx(before, abs=0.01)
    assert found.after >= after - 2e-3
    assert found.gain <= 1.5 * (after - before) + 0.01
    assert not found.tight
    assert found.smallest <= found.before
    assert found.witness.kind == "product"


def test_nobody_gains_more_than_the_worst(monkeypatch):
    """Also where the search ends early."""
    monkeypatch.setattr(anybody, "CORNERS", 30)
    goal = next(iter(GOALS))
    worst = nw.guess(HILLS, goal, costs=COSTS)
    assert worst.after < 1
    for who in itertools.product((0.3, 2.1), (0.0, 1.5), (0.2, 1.0)):
        before, after = told(HILLS, goal, who)
        assert after - before <= worst.gain + 2e-3
        named = nw.guess(HILLS, goal, costs=COSTS, victim=dict(zip("xyz", who, strict=True)))
        assert named.gain <= worst.gain * 1.02


def test_a_density_that_leans_changes_averages_by_no_more():
    """Over a cell, with f falling as fast as it may, in the direction in which the density falls."""
    asked = parse_goal("x within 1 and y within 1 and z within 1")
    space, _ = around(BELL, BELL.names, asked, dict.fromkeys("xyz", (0.5, 0.5)), Fine(2, 3000))
    cells = Cells(space, question_of(BELL.names, asked, dict.fromkeys("xyz", nw.Cost(0.7))))
    inverse, share = np.linalg.inv(BELL.covariance), []
    for at in np.argwhere(space.masses > 1e-3)[::7]:
        places = [a.places[i] + a.half[i] * np.linspace(-1, 1, 21) for a, i in zip(space.axes, at, strict=True)]
        grid = np.stack(np.meshgrid(*places, indexing="ij"), -1).reshape(-1, 3)
        density = np.exp(-((grid @ inverse) * grid).sum(-1) / 2)
        for signs in itertools.product((-1, 1), repeat=3):
            f = np.exp(0.7 * grid @ np.array(signs))
            off = abs(np.log((f * density).mean() / (f.mean() * density.mean())))
            share.append(off / cells.lean[tuple(at)])
    assert max(share) <= 1.02
    assert max(share) > 0.1


@pytest.mark.parametrize("euclid", [True, False])
def test_from_cell_to_cell(euclid):
    """Averages over two boxes, of a likelihood that peaks anywhere, differ by no more than the table says."""
    edges = {"x": np.array([0.0, 0.5, 2.0, 2.2, 4.0]), "y": np.array([0.0, 1.0, 3.0])}
    prior = nw.JointHistogram(("x", "y"), list(edges.values()), np.full((4, 2), 1 / 8))
    asked, costs = parse_goal("(x, y) within 1"), nw.Cost(0.9) if euclid else dict.fromkeys("xy", nw.Cost(0.9))
    cells = Cells(space_on(prior, ("x", "y"), edges), question_of(("x", "y"), asked, costs))
    if euclid:
        cost = cells._distances(np.ones((4, 2), bool), np.ones((4, 2), bool))
    else:
        along_x, along_y = cells.kernel.tables
        cost = (along_x[:, None, :, None] + along_y[None, :, None, :]).reshape(8, 8)
    fine = [np.concatenate([np.linspace(a, b, 42)[1:-1] for a, b in itertools.pairwise(e)]) for e in edges.values()]
    x, y = np.meshgrid(*fine, indexing="ij")
    share = []
    for peak in itertools.product((-3.0, 0.2, 1.0, 2.1, 7.0), (-2.0, 0.5, 2.0, 6.0)):
        away = np.hypot(x - peak[0], y - peak[1]) if euclid else np.abs(x - peak[0]) + np.abs(y - peak[1])
        mean = np.exp(-0.9 * away).reshape(4, 40, 2, 40).mean(axis=(1, 3)).ravel()
        told = np.log(mean[:, None] / mean)
        assert (told <= cost + 2e-2).all()
        share.append(float((told[cost > 0] / cost[cost > 0]).max()))
    assert max(share) > 0.9


def test_a_number_with_single_values_beside_labels():
    """Conditions that mix attributes: against the programme for one victim after the other."""
    prior = {
        "x": nw.Mixture([(0.3, nw.Atoms({0: 1.0})), (0.7, nw.Normal(2, 1.5))]),
        "dish": nw.Categories({"a": 0.5, "b": 0.3, "c": 0.2}),
    }
    goal, costs = "x within 1 and (dish exactly or x in {0})", {"x": nw.Cost(0.3), "dish": nw.Cost(0, 0.3)}
    worst = nw.guess(prior, goal, costs=costs)
    gains = [
        nw.guess(prior, goal, costs=costs, victim={"x": x, "dish": dish}).gain
        for x, dish in ((0.0, "a"), (0.3, "a"), (1.5, "b"))
    ]
    assert max(gains) <= worst.gain <= 1.3 * max(gains)
    assert {name for name, _ in worst.witness.parts} == {"x", "dish"}
