"""Who was a model fitted on? It is asked about people who were and people who were not; it may know the first better.

For everybody the attacker computes how well the model fits: the chance it gives to the true class, how near its number
is, how near the nearest centre. From which fit on he says "she was there" is learnt from one half of the people and
tried on the other. Before the model he is right in one half of the cases.
"""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.attacks.intervals import Rate, rate
from nowiser.errors import Misconfigured
from nowiser.learn.domain import Category
from nowiser.learn.estimator import Classifier, Estimator, Regressor
from nowiser.learn.kmeans import KMeans
from nowiser.percent import percent

LEVEL = 0.9986
LEAST = 20  # people of each kind, in each half
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Membership:
    """`after`: how often he was right, of people of whom half were fitted on; `ceiling`: what the model's ρ allows."""

    model: str
    after: Rate
    ceiling: float

    @property
    def refuted(self) -> bool:
        return self.after.low > self.ceiling

    def to_json(self) -> dict[str, Any]:
        return {
            "model": self.model,
            "goal": "presence",
            "before": 0.5,
            "after": self.after.to_json(),
            "ceiling": self.ceiling,
            "refuted": self.refuted,
        }

    def __str__(self) -> str:
        at = f"{percent(self.after.value)} ({percent(self.after.low)} to {percent(self.after.high)})"
        lines = [
            f"Who was this {self.model} fitted on? Right in {at} of {self.after.of:,} people, before in 50.0 %.",
            f"What was paid for it allows {percent(self.ceiling)}, on average.",
        ]
        if self.refuted:
            lines.append("REFUTED: he is right more often than was paid for.")
        return "\n".join(lines)


def membership(
    model: Any, inside: Any, outside: Any, target: str | None = None, *, seed: int | None = None
) -> Membership:
    """Try it on a fitted model. `inside`: people it was fitted on; `outside`: others like them, who were not."""
    if not isinstance(model, Estimator) or not isinstance(model, Classifier | Regressor | KMeans):
        raise Misconfigured("only models that predict or cluster are attacked here, not those that transform")
    random = np.random.default_rng(seed)
    known, other = (random.permutation(fits(model, table, target)) for table in (inside, outside))
    many = min(len(known), len(other)) // 2
    if many < LEAST:
        raise Misconfigured(f"each of the two tables needs {2 * LEAST} people of whom the truth is known")
    cut = _cut(known[:many], other[:many])
    right = np.concatenate([known[many : 2 * many] >= cut, other[many : 2 * many] < cut])
    mu = sqrt(2 * float(model.rho_))
    return Membership(type(model).__name__, rate(right, LEVEL), NormalDist().cdf(mu / 2))


def fits(model: Any, table: Any, target: str | None) -> Floats:
    """How well the model fits each row whose truth is known."""
    if isinstance(model, KMeans):
        spread = model._check_fitted(table).spread(table)  # noqa: SLF001
        return -np.asarray(((spread - model.centres_[model.predict(table)]) ** 2).sum(axis=1))
    if target is None:
        raise Misconfigured("say what the model predicts", hint="As in --sensitive diagnosis.")
    truth = _values(table, target)
    if isinstance(model, Classifier):
        codes = Category(tuple(model.classes_.tolist())).codes(truth)
        found = np.log(model.predict_proba(table)[np.arange(len(codes)), codes] + 1e-12)
        return np.asarray(found[codes >= 0])
    _, aims, there = model._targets(truth)  # noqa: SLF001 (the same clipping as when it was fitted)
    low, high = model.target_.low, model.target_.high
    found = -np.abs(model.predict(table) - ((low + high) / 2 + aims * (high - low) / 2))
    return np.asarray(found[there])


def _values(table: Any, target: str) -> Any:
    try:
        column = table[target]
    except (KeyError, IndexError):
        raise Misconfigured(f"the table has no column {target!r}, which the model predicts") from None
    return np.array(column.to_pylist(), dtype=object) if hasattr(column, "to_pylist") else np.asarray(column)


def _cut(inside: Floats, outside: Floats) -> float:
    """From which fit on "she was there" is right most often."""
    order = np.argsort(np.concatenate([inside, outside]), kind="stable")
    fit = np.concatenate([inside, outside])[order]
    there = np.r_[np.ones(len(inside)), -np.ones(len(outside))][order]
    gain = np.r_[np.cumsum(there[::-1])[::-1], 0.0]
    gain[1:-1][fit[1:] == fit[:-1]] = -np.inf  # equal fits are on one side
    place = int(np.argmax(gain))
    return float(fit[place]) if place < len(fit) else np.inf
