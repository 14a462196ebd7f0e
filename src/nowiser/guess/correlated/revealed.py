"""What a release reveals when records are correlated, beside what independence would have promised."""

from dataclasses import dataclass, field
from math import exp, inf, isfinite, log
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from nowiser.errors import Misconfigured
from nowiser.model.advantage import points
from nowiser.model.checks import number

WARNING = (
    "Differential privacy does not bound what correlated records reveal. "
    "This figure holds for this model and this release only, and does not compose with any other."
)


@dataclass(frozen=True)
class Revealed:
    """Before → after under a model of correlation. Exact for the model; says nothing about another model.

    `ceiling` is what the ordinary bound says for the same release if records were independent: wherever
    `after` exceeds it, the ordinary bound fails. `composes` is always False, so that no ledger takes this.
    """

    model: str
    before: float
    after: float
    ceiling: float
    output: float  # the released number at which the worst is reached; ±inf: in the limit
    composes: Literal[False] = field(default=False, init=False)

    @property
    def gain(self) -> float:
        return self.after - self.before

    @property
    def factor(self) -> float:
        """By which factor the promise fails: the real change of the log-odds over the promised one."""
        if self.after <= self.before:
            return 0.0
        promised, real = (_log_odds(p) - _log_odds(self.before) for p in (self.ceiling, self.after))
        return real / promised if promised > 0.0 else inf

    @property
    def fails(self) -> bool:
        """Whether the ordinary ceiling is broken (beyond rounding)."""
        return self.after > self.ceiling * (1 + 1e-9)

    @property
    def warning(self) -> str:
        return WARNING

    def __str__(self) -> str:
        text = (
            f"{self.model}: the guess goes from {points(self.before)} to at most {points(self.after, up=True)}; "
            f"independent records would have promised {points(self.ceiling, up=True)}"
        )
        if self.fails:
            text += f", so the promise fails by a factor of {self.factor:.2g} in the log-odds"
        return f"{text}. {WARNING}"

    def to_json(self) -> dict[str, Any]:
        names = ("model", "before", "after", "gain", "ceiling", "factor", "output", "composes", "warning")
        found = {name: getattr(self, name) for name in names}
        return {name: None if isinstance(v, float) and not isfinite(v) else v for name, v in found.items()}


def worst_output(
    answers: ArrayLike, weights: ArrayLike, good: ArrayLike, steepness: float, *, logs: bool = False
) -> tuple[float, float]:
    """The largest posterior of "good" over all outputs of answer + Laplace noise, and an output that attains it.

    With `logs` the weights are given by their logarithms: the rarest answers may be the most telling ones. Between two
    neighbouring answers both sums are A·e^{ky} + B·e^{−ky}, so their ratio is monotone; outside all answers it is
    constant. Its maximum over all y is therefore reached at one of the answers, and trying these is exact.
    """
    with np.errstate(divide="ignore"):
        w = np.asarray(weights, float) if logs else np.log(np.asarray(weights, float))
    some = w > -inf
    q, where = np.unique(np.asarray(answers, float)[some], return_inverse=True)
    w, right = w[some], np.asarray(good, bool)[some]
    top = np.full(len(q), -inf)  # of each answer: its largest weight, and all its weights and the good ones beside it
    np.maximum.at(top, where, w)
    share = np.exp(w - top[where])
    sums = np.stack([np.bincount(where, share * right, len(q)), np.bincount(where, share, len(q))], axis=1)
    best, at = -1.0, 0.0
    for chunk in np.array_split(np.arange(len(q)), max(1, len(q) // 500)):
        seen = top - steepness * np.abs(q[chunk, None] - q[None, :])
        found = np.exp(seen - seen.max(axis=1, keepdims=True)) @ sums
        after = found[:, 0] / found[:, 1]
        j = int(np.argmax(after))
        if after[j] > best:
            best, at = float(after[j]), float(q[chunk[j]])
    return min(1.0, best), at


def independent_ceiling(before: float, epsilon: float) -> float:
    """The posterior whose odds are e^ε times those before: ε-differential privacy, if records are independent."""
    return before if before <= 0.0 or before >= 1.0 else 1.0 / (1.0 + (1.0 - before) / before * exp(-epsilon))


def cost(name: str, value: Any) -> float:
    return number(name, value, low=0.0, strict=True)


def whole(name: str, value: Any, low: int, high: int) -> int:
    real = hasattr(value, "__float__") and not isinstance(value, bool)
    if not real or not low <= value <= high or value % 1 != 0:
        raise Misconfigured(f"{name} must be a whole number from {low} to {high}; found {value!r}")
    return int(value)


def share(name: str, value: Any) -> float:
    return number(name, value, low=0.0, high=1.0)


def log_of(value: float) -> float:
    return log(value) if value > 0 else -inf


def _log_odds(p: float) -> float:
    return log_of(p) - log_of(1.0 - p)
