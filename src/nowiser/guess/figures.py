"""Before, after and smallest posterior of a victim; odds that a jump multiplies; everybody's bound beside one victim.

`before` and `smallest` are rounded down, `after` is rounded up: always against ourselves.
"""

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from nowiser.guess.rounding import EPS as EPS  # noqa: PLC0414 (the rooms above take it from here)
from nowiser.model.witness import Witness


@dataclass(frozen=True)
class Figures:
    """Of one victim (floats), or of many (arrays)."""

    before: Any
    after: Any
    smallest: Any


@dataclass(frozen=True)
class Worst:
    """The victim found for whom up·after − down·before is largest, and a bound on that over all victims."""

    victim: Any
    before: float
    after: float
    value: float


class Victims(Protocol):
    """Everybody, as seen by one goal on one attribute (made by `labels` and `number`)."""

    def at(self, victim: Any) -> Figures:
        """The figures of this victim; Misconfigured where there is no such victim."""
        ...

    def worst(self, up: float = 1.0, down: float = 1.0, *, sharp: float = 2e-5) -> Worst:
        """The largest up·after − down·before over all victims, to `sharp` of itself (up, down ≥ 0, not both 0)."""
        ...

    def likeliest(self) -> float:
        """The largest prior probability of the goal over all victims, rounded up."""
        ...

    def witness(self, victim: Any) -> Witness:
        """A mechanism whose telling output comes near to `after` for this victim."""
        ...

    def attained(self, victim: Any) -> float:
        """The posterior that the witness reaches, rounded down."""
        ...


@dataclass(frozen=True)
class Found:
    """What one way to the ceiling (labels, number, product, joint) answers; `ceiling` makes an Advantage of it."""

    figures: Figures  # floats; of the worst victim: raised to everybody's bound (`raised`)
    victim: Any
    witness: Witness
    attained: float  # the posterior that the witness reaches, rounded down


def lifted(odds: Any, jump: float) -> Any:
    """The posterior from odds that a jump multiplies; rounded up (down for a negative jump)."""
    if isinstance(odds, float) and jump < 709:  # plain floats, ten times faster: prices ask for hundreds
        many = odds * math.exp(jump)
        one = 1.0 if math.isinf(odds) or math.isinf(many) else many / (1 + many)
        return min(max(one * (1 + math.copysign(8 * EPS, jump or 1.0)), 0.0), 1.0)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        scaled = odds * np.exp(min(jump, 709.0)) if jump < 709 else np.where(np.asarray(odds) > 0, np.inf, 0.0)
        share = np.where(np.isinf(scaled), 1.0, scaled / (1 + np.where(np.isinf(scaled), 0.0, scaled)))
    return np.clip(share * (1 + math.copysign(8 * EPS, jump or 1.0)), 0.0, 1.0)


def odds_of(share: Any) -> Any:
    if isinstance(share, float):
        return share / (1 - share) if share != 1 else math.inf
    with np.errstate(divide="ignore"):
        return np.asarray(share) / (1 - np.asarray(share))


def odds_factor(before: float, after: float) -> float:
    """Odds after over odds before; 1 when nothing changed, infinite when certainty was reached."""
    if after == before:
        return 1.0
    if before == 0 or after >= 1:
        return math.inf
    return after / (1 - after) * ((1 - before) / before)


ROUNDING = 1e-12  # of a gain where the best guessed victim is guessed for certain: then nobody gains anything


def raised(before: float, after: float, gain: float) -> tuple[float, float]:
    """The figures of the worst victim found, so far apart as `gain`, which bounds everybody's, says.

    There is no more than certainty. Where his prior probability leaves less room than that, the gain is that of
    somebody who is less likely to be guessed beforehand: `before` gives way, for no gain may be told too small.
    """
    after = max(after, before, before + gain)
    if after <= 1.0 or (before == 1.0 and gain <= ROUNDING):
        return before, min(after, 1.0)
    return max(0.0, min(before, math.nextafter(1.0 - gain, 0.0))), 1.0
