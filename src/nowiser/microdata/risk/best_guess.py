"""The attacker's last step: from what he believes about a value to the guess he makes, and how often it is right."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Guessing

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Guessed(Guessing):
    """Before → after for a goal: `within` says how precisely a number must be hit (None: exactly)."""

    @property
    def goal(self) -> str:
        return str(Goal(self.column, self.within))


@dataclass(frozen=True)
class Goal:
    """What counts as right: the same value, or a number within `within` of it."""

    column: str
    within: float | None = None  # None: exactly

    def __post_init__(self) -> None:
        if self.within is not None and not self.within >= 0:
            raise Misconfigured(f"the precision of {self.column!r} cannot be negative: {self.within:g}")

    def __str__(self) -> str:
        if self.within is None:
            return f"{self.column} exactly"
        return f"{self.column} within {f'{self.within:,.0f}' if self.within >= 10_000 else f'{self.within:.4g}'}"


def best_window(points: Floats, mass: Floats, within: float) -> tuple[float, float]:
    """The centre of an interval of half-width `within` that holds the most mass, and that mass.

    `points` ascending. An optimal interval can be moved until its left end is a point, so only those
    starts need to be looked at; the centre returned is the middle of the points it covers.
    """
    total = np.concatenate([[0.0], np.cumsum(mass)])
    end = np.searchsorted(points, points + 2 * within * (1 + 1e-12), side="right")
    held = total[end] - total[:-1]
    best = int(np.argmax(held))
    return float((points[best] + points[end[best] - 1]) / 2), float(held[best])


def best_windows(points: Floats, mass: Floats, within: float) -> tuple[Floats, Floats]:
    """`best_window` for every row of `mass` (rows × points) at once."""
    total = np.concatenate([np.zeros((len(mass), 1)), np.cumsum(mass, axis=1)], axis=1)
    end = np.searchsorted(points, points + 2 * within * (1 + 1e-12), side="right")
    held = total[:, end] - total[:, :-1]
    best = np.argmax(held, axis=1)
    centre = (points[best] + points[end[best] - 1]) / 2
    return centre, np.take_along_axis(held, best[:, None], axis=1)[:, 0]


def drawn(rows: int, most: int, random: np.random.Generator) -> Ints:
    """At most so many of the rows, in their order; all of them if they are no more."""
    return np.arange(rows) if rows <= most else np.sort(random.choice(rows, most, replace=False))


def clopper_pearson(successes: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """The exact interval for a success probability; it covers the truth at least as often as it says.

    Numbers need not be whole: victims of whom several are one person are worth fewer than there are.
    """
    from scipy.special import betaincinv

    if not 0 <= successes <= trials or trials < 1:
        raise Misconfigured(f"an interval needs 0 ≤ successes ≤ trials and trials ≥ 1, not {successes} of {trials}")
    tail = (1 - confidence) / 2
    low = 0.0 if successes <= 0 else float(betaincinv(successes, trials - successes + 1, tail))
    high = 1.0 if successes >= trials else float(betaincinv(successes + 1, trials - successes, 1 - tail))
    return low, high


def usual_goal(name: str, numbers: Floats | None, distinct: int) -> Goal:
    """Where the custodian states no precision: exactly for categories and counts of few values, else within 5 %
    of the distance between the first and the last percentile (or of the whole range where that is zero).
    """
    if numbers is None or distinct <= 20:
        return Goal(name)
    seen = numbers[np.isfinite(numbers)]
    low, high = np.quantile(seen, [0.01, 0.99])
    width = float(high - low) or float(seen.max() - seen.min())
    return Goal(name, 0.05 * width)
