"""Whoever the victim is, he gains no more than the worst: one row for each way in which worst victims are bounded."""

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

import nowiser as nw

U, N = nw.Uniform, nw.Normal
DISH = nw.Categories({"a": 0.6, "b": 0.4})
RNG = np.random.default_rng(5)
TABLE = RNG.random((4, 3)) + 0.05
HILLS = nw.JointHistogram(("x", "y"), [np.arange(5.0), np.arange(4.0)], TABLE / TABLE.sum())
CUBE = RNG.random((3, 3, 2)) + 0.1
SOLID = nw.JointHistogram(("x", "y", "z"), [np.arange(4.0), np.arange(4.0), np.arange(3.0)], CUBE / CUBE.sum())
BELL = nw.MultivariateNormal(("x", "y"), [0, 0], [[1.0, 0.5], [0.5, 1.0]])
THREE = nw.MultivariateNormal(("x", "y", "z"), [0, 0, 0], np.eye(3) * 0.6 + 0.4)
FOUR = nw.MultivariateNormal(("x", "y", "z", "w"), [0, 0, 0, 0], np.eye(4) * 0.6 + 0.4)
MIXED = nw.Mixture([(0.3, nw.Atoms({0: 0.5, 3: 0.5})), (0.7, U(0, 6))])
PLACES = [((float(a), float(b)), m) for (a, b), m in zip(RNG.integers(0, 9, (12, 2)), RNG.random(12), strict=True)]
MAP = nw.JointAtoms(("x", "y"), {k: v / sum(dict(PLACES).values()) for k, v in dict(PLACES).items()})
XS, YS = (sorted({record[i] for record in MAP.records}) for i in range(2))
PEOPLE = nw.JointAtoms(
    ("age", "dish"), {(float(a), d): 1 / 8 for a, d in itertools.product((20, 21, 25, 40), ("soup", "pasta"))}
)
FLATTER = nw.MultivariateNormal(("x", "y"), [0, 0], np.eye(2))
ROUND = nw.MultivariateNormal(("x", "y", "z"), [0, 0, 0], np.eye(3))
THICK = nw.Histogram([0, 1, 6], [0.5, 0.5])
TWICE = nw.Atoms({0.0: 0.4, 10.0: 0.6})


@dataclass(frozen=True)
class Row:
    """A prior, a goal, what was released, and where victims are: ends of a range, or all values there are."""

    prior: Any
    goal: str
    costs: Any
    victims: Mapping[str, Any]
    many: int = 4
    long: bool = False

    def guess(self, victim: Any = None) -> nw.Advantage:
        if isinstance(self.costs, nw.Cost):
            return nw.guess(self.prior, self.goal, slope=self.costs.slope, jump=self.costs.jump, victim=victim)
        return nw.guess(self.prior, self.goal, costs=self.costs, victim=victim)

    def drawn(self, seed: int) -> list[dict[str, Any]]:
        rng = np.random.default_rng(seed)

        def one(where: Any) -> Any:
            return float(rng.uniform(*where)) if isinstance(where, tuple) else where[int(rng.integers(len(where)))]

        return [{name: one(where) for name, where in self.victims.items()} for _ in range(self.many)]


def costs(*slopes: float, jump: float = 0.0, names: str = "xyzw") -> dict[str, nw.Cost]:
    return {n: nw.Cost(s, jump if n == names[0] else 0.0) for n, s in zip(names, slopes, strict=False)}


ROWS = {
    "closed form": Row({"x": N(20, 5)}, "x within 2", nw.Cost(1, 0.2), {"x": (5, 35)}, 20),
    "gaps": Row({"x": U(0, 10)}, "x within 1 or x in [7, 8]", nw.Cost(0.7), {"x": (0, 10)}, 12),
    "product": Row(
        {"x": N(0, 1), "y": U(0, 4), "dish": DISH},
        "x within 1 and (y within 1 or dish exactly)",
        {"x": nw.Cost(0.7), "y": nw.Cost(0.4), "dish": nw.Cost(0, 0.5)},
        {"x": (-3, 3), "y": (0, 4), "dish": ["a", "b"]},
        12,
    ),
    "classes": Row(
        {"x": TWICE, "y": nw.Atoms({0.0: 1.0}), "dish": DISH},
        "(x, y) within 1 and dish exactly",
        {"x": nw.Cost(0, 1), "dish": nw.Cost(0, 1)},
        {"x": [0.0, 10.0], "y": [0.0], "dish": ["a", "b"]},
        12,
    ),
    "records": Row(MAP, "x within 1 and y within 2", costs(0.5, 0.4, jump=0.1), {"x": XS, "y": YS}, 12),
    "records beside labels": Row(
        PEOPLE,
        "age within 2 and dish exactly",
        {"age": nw.Cost(0.5), "dish": nw.Cost(0, 0.7)},
        {"age": [20.0, 21.0, 25.0, 40.0], "dish": ["soup", "pasta"]},
        8,
    ),
    "map, normal": Row(BELL, "(x, y) within 1", nw.Cost(1), {"x": (-2, 2), "y": (-2, 2)}, 6),
    "map, histogram": Row(HILLS, "(x, y) within 1", nw.Cost(0.7), {"x": (0, 4), "y": (0, 3)}, 6),
    "map, records": Row(MAP, "(x, y) within 2", nw.Cost(0.7, 0.2), {"x": XS, "y": YS}, 12),
    "plane, and": Row(HILLS, "x within 1 and y within 1", costs(0.4, 0.3), {"x": (0, 4), "y": (0, 3)}, 4),
    "plane, or": Row(HILLS, "x within 0.5 or y within 0.5", costs(0.3, 0.2), {"x": (0, 4), "y": (0, 3)}, 4, long=True),
    "plane, not": Row(HILLS, "not (x, y) within 1", costs(0.3, 0.2), {"x": (0, 4), "y": (0, 3)}, 4, long=True),
    "heavy tails": Row(
        {"x": nw.Frozen("t", 3), "y": U(0, 4)},
        "(x, y) within 1",
        costs(0.5, 0.4),
        {"x": (-3, 300), "y": (0, 4)},
        4,
        long=True,
    ),
    "heavy tails, denied": Row(
        {"x": nw.Frozen("t", 3), "y": U(0, 4)},
        "not (x, y) within 2",
        nw.Cost(0.5),
        {"x": (-3, 300), "y": (0, 4)},
        4,
        long=True,
    ),
    # boxes hold everything, so that they tell nothing: all that is told of discs is what boxes have besides
    "boxed": Row(dict.fromkeys("xyz", THICK), "(x, y, z) within 6.5", nw.Cost(1), dict.fromkeys("xyz", (5.5, 6)), 3),
    "boxed or on cells": Row(
        {"x": MIXED, "y": U(0, 6)}, "(x, y) within 1", costs(0.4, 0.3), dict.fromkeys("xy", (0, 6)), 4
    ),
    "number beside labels": Row(
        {"x": nw.Mixture([(0.3, nw.Atoms({0: 1.0})), (0.7, N(2, 1.5))]), "dish": DISH},
        "x within 1 and (dish exactly or x in {0})",
        {"x": nw.Cost(0.3), "dish": nw.Cost(0, 0.3)},
        {"x": (-2, 5), "dish": ["a", "b"]},
        6,
    ),
    "three normals": Row(
        THREE,
        "x within 1 and y within 1 and z within 0.5",
        costs(0.5, 0.4, 0.3),
        dict.fromkeys("xyz", (-2, 2)),
        3,
        long=True,
    ),
    "a disc beside a normal": Row(
        THREE, "(x, y) within 1 and z within 0.5", costs(0.3, 0.3, 0.2), dict.fromkeys("xyz", (-2, 2)), 3, long=True
    ),
    "three histograms": Row(
        SOLID,
        "x within 1 and y within 1 and z within 0.5",
        costs(0.3, 0.2, 0.1),
        {"x": (0, 3), "y": (0, 3), "z": (0, 2)},
        3,
    ),
    "four normals": Row(
        FOUR,
        "x within 1 and y within 1 and z within 1 and w within 1",
        costs(0.5, 0.4, 0.3, 0.2),
        dict.fromkeys("xyzw", (-2, 2)),
        3,
    ),
    # goals so wide that those beyond seven standard deviations gain most
    "wide, and": Row(FLATTER, "x within 6 and y within 6", costs(30.0, 0.0), {"x": (7, 12), "y": (-1, 1)}, 6),
    "wide, or": Row(FLATTER, "x within 5 or y within 0.1", costs(50.0, 0.1), {"x": (7, 12), "y": (5, 8)}, 6, long=True),
    "wide, disc": Row(FLATTER, "(x, y) within 6", nw.Cost(40), {"x": (7, 12), "y": (-1, 1)}, 6),
    "wide, three": Row(
        ROUND,
        "x within 6 and y within 6 and z within 6",
        costs(30.0, 0.1, 0.1),
        {"x": (7, 12), "y": (0, 1), "z": (0, 1)},
        2,
        long=True,
    ),
    "wide, in space": Row(ROUND, "(x, y, z) within 4", nw.Cost(40), {"x": (6, 8), "y": (5, 8), "z": (0, 1)}, 3),
    "fewer": Row(THREE, "x within 1 and y within 1", costs(0.5, 0.4, 0.3), dict.fromkeys("xyz", (-2, 2)), 3),
    "one of two": Row(BELL, "x within 1", costs(0.0, 0.6), dict.fromkeys("xy", (-2, 2)), 4),
}


LONG = {"map, histogram", "boxed", "boxed or on cells", "three histograms", "wide, in space", "fewer"} | {
    name for name, row in ROWS.items() if row.long
}


def names(every: Any) -> list[Any]:
    return [pytest.param(name, marks=[pytest.mark.long] * (name in LONG)) for name in every]


@cache
def worst_of(name: str) -> nw.Advantage:
    return ROWS[name].guess()


@pytest.mark.parametrize("name", names(ROWS))
def test_nobody_gains_more_than_the_worst(name: str) -> None:
    row, worst = ROWS[name], worst_of(name)
    assert worst.worst
    found = worst.victim if isinstance(worst.victim, Mapping) else dict.fromkeys(row.victims, worst.victim)
    for victim in [found, *row.drawn(1)]:
        named = row.guess(victim)
        assert named.gain <= worst.gain + 1e-9
        for one in (named, worst):
            assert one.gain == pytest.approx(one.after - one.before, abs=1e-12)
            assert 0 <= one.smallest <= one.before + 1e-12 <= one.after + 2e-12 <= 1 + 2e-12
            if 1e-9 < one.before < one.after < 1 - 1e-9:
                odds = one.after / (1 - one.after) * (1 - one.before) / one.before
                assert one.odds == pytest.approx(odds, rel=1e-6)


@dataclass(frozen=True)
class Attack:
    """A prior on a fine grid, and noise of these rates per unit around anybody: what it tells of him."""

    axes: tuple[Any, ...]  # middles of cells
    weight: Any
    inside: Any  # from differences to the victim
    cost: Any  # likewise
    victims: Any
    slip: float = 2e-3  # of the grid

    def most(self, victim: tuple[float, ...]) -> float:
        grid = np.meshgrid(*self.axes, indexing="ij")
        weight, best = self.weight(*grid), 0.0
        weight = weight / weight.sum()
        within = self.inside(*[g - v for g, v in zip(grid, victim, strict=True)])
        for shift in (-0.3, 0.0, 0.3):
            away = self.cost(*[g - v - shift for g, v in zip(grid, victim, strict=True)])
            for f in (np.exp(-away), np.exp(away)):
                told = weight * f
                best = max(best, float(told[within].sum() / told.sum() - weight[within].sum()))
        return best


def middles(low: float, high: float, n: int) -> Any:
    return low + (np.arange(n) + 0.5) * (high - low) / n


ATTACKS = {
    "map, normal": Attack(
        (middles(-5, 5, 400),) * 2,
        lambda x, y: np.exp(-(x * x - x * y + y * y) / 1.5),
        lambda x, y: np.hypot(x, y) <= 1,
        np.hypot,
        [(0.0, 0.0), (1.0, 1.0), (1.7, -0.5), (2.0, 2.0)],
    ),
    "plane, and": Attack(
        (middles(0, 4, 400), middles(0, 3, 300)),
        lambda x, y: TABLE[x.astype(int), y.astype(int)],
        lambda x, y: (np.abs(x) <= 1) & (np.abs(y) <= 1),
        lambda x, y: 0.4 * np.abs(x) + 0.3 * np.abs(y),
        list(itertools.product((0.0, 1.3, 3.5), (0.0, 1.1, 2.5))),
    ),
    "boxed": Attack(
        (middles(0, 6, 60),) * 3,
        lambda x, y, z: np.where(x < 1, 5, 1) * np.where(y < 1, 5, 1) * np.where(z < 1, 5, 1),
        lambda x, y, z: np.sqrt(x * x + y * y + z * z) <= 6.5,
        lambda x, y, z: np.sqrt(x * x + y * y + z * z) / 6.5,
        [(0.0, 0.0, 0.0), (5.0, 5.0, 5.0), (6.0, 6.0, 6.0)],
        5e-3,
    ),
    "three histograms": Attack(
        (middles(0, 3, 60), middles(0, 3, 60), middles(0, 2, 40)),
        lambda x, y, z: CUBE[x.astype(int), y.astype(int), z.astype(int)],
        lambda x, y, z: (np.abs(x) <= 1) & (np.abs(y) <= 1) & (np.abs(z) <= 0.5),
        lambda x, y, z: 0.3 * np.abs(x) + 0.2 * np.abs(y) + 0.2 * np.abs(z),
        [(0.5, 0.5, 0.5), (1.5, 2.0, 1.0), (2.5, 0.0, 1.5)],
        5e-3,
    ),
}


@pytest.mark.parametrize("name", names(ATTACKS))
def test_no_noise_tells_more_than_the_worst(name: str) -> None:
    attack, worst = ATTACKS[name], worst_of(name)
    best = max(map(attack.most, attack.victims))
    assert best > 0.02
    assert best <= worst.gain + attack.slip


def test_steep_costs_expose_those_several_standard_deviations_out() -> None:
    worst = nw.guess(N(0, 1), nw.Within(1), slope=10)
    assert 4 < abs(worst.victim) < 7
    assert nw.guess(N(0, 1), nw.Within(1), slope=10, victim=1).gain < worst.gain - 0.3
