"""Exact (Clopper–Pearson) intervals of rates, and a second look at an event that somebody else chose."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Rate:
    """How often something happened, with its exact interval."""

    happened: int
    of: int
    low: float
    high: float

    @property
    def value(self) -> float:
        return self.happened / self.of if self.of else 0.0

    def to_json(self) -> dict[str, float | int]:
        return {"value": self.value, "low": self.low, "high": self.high, "happened": self.happened, "of": self.of}


def rate(happened: int, of: int, confidence: float) -> Rate:
    """The share with both ends at this confidence."""
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    low = 0.0 if happened == 0 else float(betaincinv(happened, of - happened + 1, tail))
    high = 1.0 if happened == of else float(betaincinv(happened + 1, of - happened, 1 - tail))
    return Rate(happened, of, low, high)


def confirm(
    mechanism: Callable[[Any], Any],
    first: Any,
    second: Any,
    event: Callable[[Any], bool],
    *,
    samples: int = 10_000,
    confidence: float = 0.99,
) -> tuple[Rate, Rate]:
    """How often an event, chosen beforehand, happens on fresh runs on the two inputs."""
    rates = []
    for given in (first, second):
        happened = sum(bool(event(mechanism(given))) for _ in range(samples))
        rates.append(rate(happened, samples, confidence))
    return rates[0], rates[1]
