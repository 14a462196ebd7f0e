"""The dual of the linear programme on a grid of many cells, without a solver: all that is inside is carried outside.

Let T(x, y) ≥ 0 be any plan that carries the mass of every cell x inside to cells y outside, Σ_y T(x, y) = π(x), and let
what a likelihood f has in x be at most e^{d(x, y)} times what it has in y. Then

    Σ_inside π(x)f(x)  =  Σ T(x, y)f(x)  ≤  Σ_y f(y)·Σ_x T(x, y)e^{d(x, y)}  ≤  λ·Σ_outside π(y)f(y),
    λ  =  max over y of  Σ_x T(x, y)e^{d(x, y)} / π(y):

the odds are at most λ, *for any plan*. The best one carries only where the best likelihood falls as fast as it may, so
plans T(x, y) = a(x)·e^{−βd(x, y)}·b(y) with b = π·f^{−β} come near to it as β grows; a is what the masses inside need.
f is found by raising it where too much arrives, from small β to large ones. If that stops early the bound is looser,
never wrong. (β = 1 and f = 1 is `plane.border.paired`.)

Costs that add up along axes make e^{−βd} a product: a sum over all pairs of a grid of n³ cells takes 3n⁴ products, some
milliseconds. Distances on a map take a table of all pairs.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nowiser.guess.grid.programme import Mask
from nowiser.model.priors.base import Floats

SPARE = 1 + 1e-9  # far above the rounding error of sums of positive terms
STEEP = 250.0  # nats of e^{−βd} between the cells farthest apart
STEP = 0.9  # of a correction
EVEN = 2e-4  # an improvement of the odds, over PATIENCE rounds, that is worth going on for
PATIENCE = 8
Sum = Callable[[Floats], Floats]


class Kernel(Protocol):
    """Costs d(x, y) of all pairs of cells."""

    def largest(self) -> float:
        """Of all costs."""

    def at(self, beta: float) -> tuple[Sum, Sum]:
        """Σ_y e^{−βd(x, y)}b(y) for all x, and Σ_x a(x)e^{−(β−1)d(x, y)} for all y."""


@dataclass(frozen=True, eq=False)
class Along:
    """Costs that add up along axes: a table for each."""

    tables: tuple[Floats, ...]

    def largest(self) -> float:
        return sum(float(t.max()) for t in self.tables)

    def at(self, beta: float) -> tuple[Sum, Sum]:
        there = [np.exp(-beta * t) for t in self.tables]
        back = [np.exp((1 - beta) * t).T for t in self.tables]
        return lambda b: along(there, b), lambda a: along(back, a)


@dataclass(frozen=True, eq=False)
class Pairs:
    """A table of the costs of all pairs of a cell inside and one outside; where these are, of all cells."""

    table: Floats
    inside: Mask
    outside: Mask

    def largest(self) -> float:
        return float(self.table.max(initial=0.0))

    def at(self, beta: float) -> tuple[Sum, Sum]:
        there, back = np.exp(-beta * self.table), np.exp((1 - beta) * self.table)

        def spread(b: Floats) -> Floats:
            found = np.zeros(b.shape)
            found[self.inside] = there @ b[self.outside]
            return found

        def gathered(a: Floats) -> Floats:
            found = np.zeros(a.shape)
            found[self.outside] = a[self.inside] @ back
            return found

        return spread, gathered


def along(tables: list[Floats], values: Floats) -> Floats:
    """Σ_y Π_i tableᵢ(xᵢ, yᵢ)·values(y), for all x."""
    for i, table in enumerate(tables):
        values = np.moveaxis(np.tensordot(table, values, axes=(1, i)), 0, i)
    return values


@dataclass(frozen=True)
class Effort:
    """Steps of β, as shares of the largest, and how many rounds at each."""

    stages: tuple[tuple[float, int], ...] = ((0.06, 16), (0.25, 20), (1.0, 60))


@dataclass(frozen=True, eq=False)
class Carried:
    """A bound on the odds; ln f of the best likelihood on cells outside, from which a similar question may start."""

    odds: float
    heights: Floats


def carried(
    masses: tuple[Floats, Floats], kernel: Kernel, effort: Effort, start: Floats | None = None, enough: float = 0.0
) -> Carried:
    """The bound on the odds of masses inside against masses outside. It stops as soon as that is at most `enough`.

    What it costs to leave a part of a cell, or to enter one, is to be counted into the masses: e^{cost} times as much
    inside, e^{−cost} times as much outside.
    """
    inside, outside = masses
    heights = np.zeros(inside.shape) if start is None else start
    if not inside.any():
        return Carried(0.0, heights)
    if not outside.any():
        return Carried(math.inf, heights)
    best, steep = math.inf, STEEP / max(kernel.largest(), 1e-12)
    for share, rounds in effort.stages:
        plans, last = _Plans(inside, outside, kernel, max(share * steep, 1.0)), list[float]()
        for _ in range(rounds):
            odds, heights = plans.better(heights)
            best = min(best, odds)
            last.append(odds)
            if best * SPARE <= enough:
                return Carried(best * SPARE, heights)
            if math.isinf(odds) or (len(last) > PATIENCE and min(last[-PATIENCE:]) > (1 - EVEN) * last[-PATIENCE - 1]):
                break
    return Carried(best * SPARE, heights)


class _Plans:
    """Plans for one β."""

    def __init__(self, inside: Floats, outside: Floats, kernel: Kernel, beta: float) -> None:
        self.inside, self.outside, self.beta = inside, outside, beta
        self.some, self.needed = outside > 0, inside > 0
        self.spread, self.gathered = kernel.at(beta)

    def better(self, heights: Floats) -> tuple[float, Floats]:
        """The bound of the plan that belongs to a likelihood (infinite where doubles do not suffice), and a better
        likelihood.
        """
        tilt = np.where(self.some, -self.beta * heights, -math.inf)
        tilt = np.exp(tilt - tilt.max())
        with np.errstate(all="ignore"):
            arriving = self.spread(self.outside * tilt)
            load = self.gathered(np.where(self.needed, self.inside / arriving, 0.0)) * tilt
        top = float(load[self.some].max())
        if not math.isfinite(top) or not (arriving[self.needed] > 0).all():
            return math.inf, heights
        with np.errstate(divide="ignore"):
            more = np.where(self.some & (load > 0), np.log(load / top), 0.0)
        return top, heights + (STEP / self.beta) * more
