"""Exact intervals for rates, and intervals for differences built from them.

* A rate: Clopper–Pearson. Several victims of one person: bootstrap by person.
* A difference of two groups: MOVER with Clopper–Pearson ends (Zou and Donner 2008): each half takes the distance of the
  estimates to their own ends. With exact ends it covers at least as often as it says.
* A difference within the same people (crossover): bootstrap over people, 2,000 draws.
"""

from dataclasses import dataclass

import numpy as np

from nowiser.attacks.view import Bools, Floats, Ints
from nowiser.microdata.risk.best_guess import clopper_pearson

DRAWS = 2000


@dataclass(frozen=True)
class Rate:
    """A share with its interval."""

    value: float
    low: float
    high: float
    right: int
    of: int

    def to_json(self) -> dict[str, float | int]:
        return {"value": self.value, "low": self.low, "high": self.high, "right": self.right, "of": self.of}


@dataclass(frozen=True)
class Difference:
    """How much larger one rate is than another."""

    value: float
    low: float
    high: float

    def to_json(self) -> dict[str, float]:
        return {"value": self.value, "low": self.low, "high": self.high}


def rate(right: Bools, level: float, persons: Ints | None = None, random: np.random.Generator | None = None) -> Rate:
    """The share that is right; with persons who occur more than once, the wider of exact and bootstrap by person."""
    count, of = int(np.count_nonzero(right)), len(right)
    low, high = clopper_pearson(count, of, level)
    if persons is not None and random is not None and len(np.unique(persons)) < of:
        drawn_low, drawn_high = by_person(right.astype(np.float64), persons, level, random)
        low, high = min(low, drawn_low), max(high, drawn_high)
    return Rate(count / of, low, high, count, of)


def counted(right: int, of: int, level: float) -> Rate:
    """A rate from its two numbers."""
    low, high = clopper_pearson(right, of, level)
    return Rate(right / of, low, high, right, of)


def difference(first: Rate, second: Rate) -> Difference:
    """First − second for two groups of different people, at the level of their intervals."""
    d = first.value - second.value
    low = d - np.hypot(first.value - first.low, second.high - second.value)
    high = d + np.hypot(first.high - first.value, second.value - second.low)
    return Difference(d, float(max(-1.0, low)), float(min(1.0, high)))


def paired(first: Bools, second: Bools, persons: Ints, level: float, random: np.random.Generator) -> Difference:
    """First − second where both were tried on the same people."""
    each = first.astype(np.float64) - second.astype(np.float64)
    low, high = by_person(each, persons, level, random)
    return Difference(float(each.mean()), low, high)


def by_person(each: Floats, persons: Ints, level: float, random: np.random.Generator) -> tuple[float, float]:
    """Bootstrap interval of a mean, drawing persons and not rows. Nobody differs from anybody: rule of three."""
    _, whose = np.unique(persons, return_inverse=True)
    total = np.bincount(whose, each)
    size = np.bincount(whose).astype(np.float64)
    n = len(total)
    means = np.empty(DRAWS)
    for i in range(DRAWS):
        times = np.bincount(random.integers(0, n, n), minlength=n)
        means[i] = (times @ total) / (times @ size)
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail])
    if each.min() == each.max():
        slack = -np.log(tail) / n
        return float(max(-1.0, low - slack)), float(min(1.0, high + slack))
    return float(low), float(high)
