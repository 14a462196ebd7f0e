"""The dual of the linear programme without a solver: all that is inside is carried outside.

Let T(x, y) ≥ 0 be any plan that carries the mass of every cell x inside to cells y outside, Σ_y T(x, y) = π(x), and let
what a likelihood f has in x be at most e^{d(x, y)} times what it has in y. Then

    Σ_inside π(x)f(x)  =  Σ T(x, y)f(x)  ≤  Σ_y f(y)·Σ_x T(x, y)e^{d(x, y)}  ≤  λ·Σ_outside π(y)f(y),
    λ  =  max over y of  Σ_x T(x, y)e^{d(x, y)} / π(y):

the odds are at most λ, *for any plan*. The best one carries only where the best likelihood falls as fast as it may, so
plans T(x, y) = a(x)·e^{−βd(x, y)}·b(y) with b = π·f^{−β} come near to it as β grows; a is what the masses inside need.
f is found by raising it where too much arrives, from small β to large ones. If that stops early the bound is looser,
never wrong.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nowiser.model.priors.base import Floats

SPARE = 1 + 1e-9  # far above the rounding error of sums of positive terms
STEEP, SHARP = 250.0, 30.0  # nats of e^{−βd} between the cells farthest apart; β where that would be less
DEEP = 400.0  # nats that f^{−β} may vary by: where f is smaller still, it is told as large as that
STEP = 0.9  # of a correction
EVEN, PATIENCE = 2e-4, 8  # an improvement of the odds, over so many rounds, that is worth going on for
FULL = ((0.06, 16), (0.25, 20), (1.0, 60))  # β as a share of the largest, and how many rounds at each
QUICK = ((0.06, 10), (0.25, 14))
Effort = tuple[tuple[float, int], ...]
Sum = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Along:
    """Costs that add up along axes: a table for each. Then a sum over all pairs takes one product for each axis."""

    tables: tuple[Floats, ...]

    def largest(self) -> float:
        return sum(float(t[np.isfinite(t)].max(initial=0.0)) for t in self.tables)

    def at(self, beta: float) -> tuple[Sum, Sum]:
        """Σ_y e^{−βd(x, y)}b(y) for all x, and Σ_x a(x)e^{−(β−1)d(x, y)} for all y."""
        there = [np.exp(-beta * t) for t in self.tables]
        back = [_back(t, beta).T for t in self.tables]
        return lambda b: along(there, b), lambda a: along(back, a)


@dataclass(frozen=True, eq=False)
class Pairs:
    """A table of the costs of all pairs of a cell inside and one outside."""

    table: Floats

    def largest(self) -> float:
        return float(self.table[np.isfinite(self.table)].max(initial=0.0))

    def at(self, beta: float) -> tuple[Sum, Sum]:
        there, back = np.exp(-beta * self.table), _back(self.table, beta)
        return lambda b: there @ b, lambda a: a @ back


def _back(table: Floats, beta: float) -> Floats:
    """e^{−(β−1)d}; nothing is carried where d is infinite."""
    endless = np.isinf(table)
    return np.where(endless, 0.0, np.exp((1 - beta) * np.where(endless, 0.0, table)))


def along(tables: list[Floats], values: Floats) -> Floats:
    """Σ_y Π_i tableᵢ(xᵢ, yᵢ)·values(y), for all x."""
    for i, table in enumerate(tables):
        values = np.moveaxis(np.tensordot(table, values, axes=(1, i)), 0, i)
    return values


def carried(
    inside: Floats, outside: Floats, kernel: Along | Pairs, effort: Effort, start: Floats | None = None
) -> tuple[float, Floats]:
    """A bound on the odds of masses inside against masses outside; and ln f outside, where a similar question starts.

    What it costs to leave a part of a cell, or to enter one, is to be counted into the masses.
    """
    heights = np.zeros(outside.shape) if start is None or start.shape != outside.shape else start
    if not inside.any() or not outside.any():
        return (math.inf if inside.any() else 0.0), heights
    best, steep, some, needed = math.inf, max(STEEP / max(kernel.largest(), 1e-12), SHARP), outside > 0, inside > 0
    for share, rounds in effort:
        beta, last = max(share * steep, 1.0), list[float]()
        spread, gathered = kernel.at(beta)
        for _ in range(rounds):
            heights = np.maximum(heights, float(heights[some].max()) - DEEP / beta)
            tilt = np.where(some, -beta * heights, -math.inf)
            tilt = np.exp(tilt - tilt.max())
            with np.errstate(all="ignore"):
                arriving = spread(outside * tilt)
                load = gathered(np.where(needed, inside / arriving, 0.0)) * tilt
            top = float(load[some].max())
            if not math.isfinite(top) or not (arriving[needed] > 0).all():
                break  # doubles do not suffice for this β
            best = min(best, top)
            last.append(top)
            with np.errstate(divide="ignore"):
                heights = heights + STEP / beta * np.where(some & (load > 0), np.log(load / top), 0.0)
            if len(last) > PATIENCE and min(last[-PATIENCE:]) > (1 - EVEN) * last[-PATIENCE - 1]:
                break
    return best * SPARE, heights
