"""Regions of three attributes held against the rest: never below an attack, and sharp."""

import sys
from pathlib import Path

import numpy as np
import pytest

import nowiser as nw
from nowiser.guess.odds import lifted
from nowiser.guess.plane.region import region_of
from nowiser.guess.plane.sharing import Effort
from nowiser.guess.solid.patches import Fine, bounded, grid_of
from nowiser.guess.solid.trivariate import law_of
from nowiser.model.cost import Cost
from nowiser.model.goal import parse_goal

sys.path.insert(0, str(Path(__file__).parent))
from solids import attained

NAMES = ("x", "y", "z")
BOX = "x within 1 and y within 1 and z within 1"


def normal(correlation: float) -> nw.MultivariateNormal:
    return nw.MultivariateNormal(NAMES, [0, 0, 0], np.full((3, 3), correlation) + (1 - correlation) * np.eye(3))


def histogram(seed: int) -> nw.JointHistogram:
    rng = np.random.default_rng(seed)
    masses = rng.random((3, 4, 2)) ** 2
    edges = [np.concatenate([[0.0], np.cumsum(0.5 + rng.random(n))]) for n in (3, 4, 2)]
    return nw.JointHistogram(NAMES, edges, masses / masses.sum())


def after(prior: object, goal: str, rates: list[float], at: list[float], across: int = 3) -> tuple[float, float]:
    """Before and after of a victim, with few cells."""
    law, region = law_of(prior), region_of(parse_goal(goal), NAMES)
    fine, effort = Fine(across, 1.8, 3.0, 4_000, 200), Effort(100, (1.0, 0.1, 0.02), 8)
    grid = grid_of(law, region, np.array(at), np.array(rates), fine)
    odds = bounded(law, grid, np.array(rates), fine, effort).odds
    return grid.least, float(lifted(np.asarray(odds), 0.0))


@pytest.mark.parametrize(("slope", "wide"), [(0.3, 1.15), (2.0, 1.08)])
def test_independent_attributes_have_the_product_of_their_ceilings(slope: float, wide: float) -> None:
    one = [nw.guess(nw.Normal(0, 1), nw.Within(1), slope=slope, victim=x) for x in (0.0, 0.5, -1.0)]
    truth, before = np.prod([a.after for a in one]), np.prod([a.before for a in one])
    least, found = after(normal(0.0), BOX, [slope] * 3, [0.0, 0.5, -1.0])
    assert least == pytest.approx(before, abs=1e-11)
    assert truth <= found <= before + (truth - before) * wide


GOALS = [
    (BOX, lambda a, b, c: a & b & c),
    (f"not ({BOX})", lambda a, b, c: ~(a & b & c)),
    ("x within 1 or y within 1 or z within 1", lambda a, b, c: a | b | c),
    ("x within 1 and (y within 1 or not z within 1)", lambda a, b, c: a & (b | ~c)),
    ("x within 1 and y within 1", lambda a, b, c: a & b & (c | ~c)),
]


@pytest.mark.parametrize(("goal", "inside"), GOALS)
@pytest.mark.parametrize("prior", [normal(0.6), histogram(1), histogram(2)], ids=["normal", "first", "second"])
def test_no_peak_and_no_valley_tells_more(prior: object, goal: str, inside: object) -> None:
    rng = np.random.default_rng(7)
    at = np.array([0.4, -0.3, 0.2]) if isinstance(prior, nw.MultivariateNormal) else np.array([1.2, 1.0, 0.8])
    for rates in ([1.5, 0.2, 0.7], [0.4, 0.4, 0.4])[: 1 if isinstance(prior, nw.MultivariateNormal) else 2]:
        least, found = after(prior, goal, rates, at.tolist())
        best = 0.0
        for sign in (1, -1):
            aside = at + rng.normal(size=3) * 0.7
            if isinstance(prior, nw.JointHistogram):
                aside = np.clip(aside, [e[0] for e in prior.edges], [e[-1] for e in prior.edges])
            for peak in (at, aside):
                before, reached = attained(prior, [(v - 1, v + 1) for v in at], inside, rates, peak.tolist(), sign=sign)
                assert least == pytest.approx(before, abs=2e-4)
                best = max(best, reached)
        assert found >= best - 1e-6


def test_normal_attributes_are_told_sharply() -> None:
    """A peak reaches .5359 (searched by quadrature on a fine grid); coarse cells of the programme said .976."""
    assert 0.5359 <= after(normal(0.5), BOX, [0.5] * 3, [0.5] * 3, 4)[1] <= 0.565


@pytest.mark.long
def test_a_named_victim_is_told_sharply() -> None:
    victim = dict.fromkeys(NAMES, 0.5)
    found = nw.guess(normal(0.5), BOX, costs={n: Cost(0.5) for n in NAMES}, victim=victim)
    assert found.before == pytest.approx(0.322197, abs=1e-6)
    assert 0.5359 <= found.after <= 0.555
    assert 0.07 <= found.smallest <= 0.13
    assert not found.tight


def test_a_jump_multiplies_the_odds() -> None:
    costs = {n: Cost(0.5) for n in NAMES}
    victim = {"x": 1.0, "y": 1.5, "z": 0.6}
    plain = nw.guess(histogram(1), BOX, costs=costs, victim=victim)
    more = nw.guess(histogram(1), BOX, costs={**costs, "y": Cost(0.5, 0.3)}, victim=victim)
    odds = plain.after / (1 - plain.after) * np.exp(0.3)
    assert more.after == pytest.approx(odds / (1 + odds), rel=1e-6)


def test_finer_cells_are_sharper() -> None:
    rough, fine = (after(normal(0.3), BOX, [0.7] * 3, [0.2, 0.4, 0.6], across)[1] for across in (2, 4))
    assert fine < rough
