"""What tests of models need: every purchase of noise seen, and fits replayed with the answers of another table."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

import nowiser.learn as models
from nowiser.learn.estimator import Estimator
from nowiser.learn.spending import Spending

NUMBERS = {"a": (0, 10), "b": (-1, 1), "c": (0, 1)}
MIXED = {"a": (0, 10), "b": ["x", "y", "z"], "c": (0, 1)}


@dataclass
class Purchase:
    what: str
    exact: np.ndarray
    reach: Fraction
    rho: Fraction
    answer: np.ndarray


class Seeded:
    """Entropy for tests: the same bytes each time."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)

    def bytes(self, n: int, /) -> bytes:
        return self._random.bytes(n)


@dataclass
class Watched(Spending):
    """Notes what is bought. Given answers, it gives those in place of its own, so that another table takes this path."""

    purchases: list[Purchase] = field(default_factory=list)
    answers: list[np.ndarray] | None = None

    def noisy(self, what: str, exact: Any, reach_squared: Any, rho: Fraction) -> Any:
        own = super().noisy(what, exact, reach_squared, rho)
        given = own if self.answers is None else self.answers[len(self.purchases)]
        self.purchases.append(Purchase(what, exact.copy(), Fraction(reach_squared), rho, given))
        return given


@contextmanager
def watched(seed: int = 0, answers: list[np.ndarray] | None = None) -> Iterator[list[Watched]]:
    """Fits inside buy from purses that are kept."""
    opened = Estimator._opened
    kept: list[Watched] = []

    def instead(self: Estimator) -> Watched:
        real = opened(self)
        kept.append(Watched(real.total, real.rows, entropy=Seeded(seed), answers=answers))
        return kept[-1]

    Estimator._opened = instead  # type: ignore[method-assign]
    try:
        yield kept
    finally:
        Estimator._opened = opened  # type: ignore[method-assign]


def purchases(
    model: Any, table: Any, y: Any, groups: Any = None, *, seed: int = 0, answers: Any = None
) -> list[Purchase]:
    """What a fit buys."""
    with watched(seed, answers) as kept:
        model.fit(table, y, groups=groups)
    return kept[0].purchases


def every_model(rho: float = 1.0, *, bounds: Any = None, **more: Any) -> dict[str, Any]:
    """One small model of each kind, for labels 0 and 1 and targets from 0 to 10."""
    mixed = MIXED if bounds is None else bounds
    numbers = NUMBERS if bounds is None else bounds
    common = {"rho": rho, "bounds": mixed, **more}
    labels = {"classes": [0, 1], **common}
    made = {
        "LogisticRegression": models.LogisticRegression(steps=5, **labels),
        "LinearRegression": models.LinearRegression(target=(0, 10), **common),
        "Boosting": models.Boosting(rounds=3, bins=5, **labels),
        "DecisionTree": models.DecisionTree(depth=2, bins=5, **labels),
        "RandomForest": models.RandomForest(depth=2, trees=3, bins=5, **labels),
        "Network": models.Network(hidden=2, steps=4, **labels),
        "SGD": models.SGD(gradient=absolute, steps=3, target=(0, 10), **common),
        "NaiveBayes": models.NaiveBayes(bins=5, **labels),
        "KMeans": models.KMeans(clusters=2, **common),
        "PCA": models.PCA(components=2, **common),
        "Standardise": models.Standardise(**common),
        "QuantileBins": models.QuantileBins(**{**common, "bounds": numbers}),
    }
    assert set(made) == set(models.MODELS)
    return made


def absolute(theta: np.ndarray, row: np.ndarray, target: float) -> np.ndarray:
    """The gradient of |target - theta·row|."""
    return (1.0 if target < theta @ row else -1.0) * row


def aimed_at(model: Any, labels: Any, targets: Any) -> Any:
    """What a model of its kind predicts."""
    return targets if model.kind == "regressor" else labels


def some_rows(n: int, seed: int = 0) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """A table of three columns, labels, and targets."""
    random = np.random.default_rng(seed)
    table = {
        "a": random.uniform(0, 10, n),
        "b": random.choice(np.array(["x", "y", "z"], dtype=object), n),
        "c": random.uniform(0, 1, n),
    }
    labels = (table["a"] + 5 * (table["b"] == "x") + random.normal(0, 1, n) > 6).astype(int)
    return table, labels, np.clip(table["a"] + random.normal(0, 0.5, n), 0, 10)


def chosen(table: dict[str, np.ndarray], rows: Any) -> dict[str, np.ndarray]:
    return {name: values[rows] for name, values in table.items()}
