"""What a mechanism claims about two neighbouring inputs: how likely an event may be on one, given the other.

A claim is a concave curve: if an event has probability q on one input, it has at most F(q) on the other. A bet needs a
straight line: F lies below each of its tangents, so p ≤ F(q) implies p ≤ rise·q + start for the tangent at any point.

| claim | F(q) |
|---|---|
| `Pure(ε)` | e^ε q |
| `Approximate(ε, δ)` | e^ε q + δ |
| `Gaussian(μ)` | Φ(Φ⁻¹(q) + μ) |
| `Concentrated(ρ)` | the largest p whose Rényi divergence of each order α from q is at most ρα |

`Pure` and `Approximate` also bound the contrary event on the exchanged inputs; the auditor tries both.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
TINY = 1e-12
ORDERS = 1 + np.geomspace(1e-2, 1e4, 60)  # fewer orders only make F larger: sound
GRID = np.concatenate([[0.0], np.geomspace(1e-7, 1.0, 200)])


class Claim(Protocol):
    """A family of claims, told apart by one level: larger promises less."""

    @property
    def level(self) -> float: ...

    @property
    def name(self) -> str:
        """The level's name: ε, μ, ρ."""

    def at(self, level: float) -> Self:
        """The same kind of claim at another level."""

    def line(self, q: Floats) -> tuple[Floats, Floats]:
        """Rise and start of a line above F that is near it at q."""

    def __str__(self) -> str: ...


@dataclass(frozen=True)
class Pure:
    """ε-differential privacy."""

    epsilon: float
    name = "ε"

    @property
    def level(self) -> float:
        return self.epsilon

    def at(self, level: float) -> Self:
        return replace(self, epsilon=level)

    def line(self, q: Floats) -> tuple[Floats, Floats]:
        return np.full_like(q, math.exp(self.epsilon)), np.zeros_like(q)

    def __str__(self) -> str:
        return f"ε = {self.epsilon:.6g}"


@dataclass(frozen=True)
class Approximate:
    """(ε, δ)-differential privacy."""

    epsilon: float
    delta: float
    name = "ε"

    @property
    def level(self) -> float:
        return self.epsilon

    def at(self, level: float) -> Self:
        return replace(self, epsilon=level)

    def line(self, q: Floats) -> tuple[Floats, Floats]:
        return np.full_like(q, math.exp(self.epsilon)), np.full_like(q, self.delta)

    def __str__(self) -> str:
        return f"ε = {self.epsilon:.6g}, δ = {self.delta:.3g}"


@dataclass(frozen=True)
class Gaussian:
    """Told apart no better than N(0, 1) from N(μ, 1)."""

    mu: float
    name = "μ"

    @property
    def level(self) -> float:
        return self.mu

    def at(self, level: float) -> Self:
        return replace(self, mu=level)

    def line(self, q: Floats) -> tuple[Floats, Floats]:
        from scipy.special import ndtr, ndtri

        q = np.clip(q, TINY, 1 - TINY)
        z = ndtri(q)
        rise = np.exp(-self.mu * z - self.mu**2 / 2)  # φ(z + μ) / φ(z)
        return rise, ndtr(z + self.mu) - rise * q

    def __str__(self) -> str:
        return f"μ = {self.mu:.6g}"


@dataclass(frozen=True)
class Concentrated:
    """ρ-zero-concentrated differential privacy."""

    rho: float
    name = "ρ"

    @property
    def level(self) -> float:
        return self.rho

    def at(self, level: float) -> Self:
        return replace(self, rho=level)

    def line(self, q: Floats) -> tuple[Floats, Floats]:
        """The slope of F near q, and the start that puts the line above F between all points of the grid."""
        above = _curve(self.rho)
        near = np.clip(np.searchsorted(GRID, q), 1, len(GRID) - 2)
        rise = np.maximum(0.0, (above[near] - above[near - 1]) / (GRID[near + 1] - GRID[near]))
        start = (above[None, :] - rise[:, None] * GRID[None, :-1]).max(axis=1)
        return rise, np.clip(start, 0.0, 1.0)

    def __str__(self) -> str:
        return f"ρ = {self.rho:.6g}"


@lru_cache(maxsize=256)
def _curve(rho: float) -> Floats:
    """F at the right end of each step of the grid, from above, by bisection."""
    q = np.clip(GRID[1:], GRID[1], 1.0)
    low, high = q.copy(), np.ones_like(q)
    for _ in range(36):
        middle = (low + high) / 2
        fits = _allowed(middle, q, rho)
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    above: Floats = high
    return above


def _allowed(p: Floats, q: Floats, rho: float) -> NDArray[np.bool_]:
    """Whether the Rényi divergence of coin p from coin q is at most ρα for every order α that is tried."""
    a = ORDERS[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        p1, q1 = 1 - p, 1 - q
        one = p * np.log(p / q) + np.where(p1 > 0, p1 * np.log(p1 / q1), 0)
        first = a * np.log(p) + (1 - a) * np.log(q)
        second = np.where(p1 > 0, a * np.log(p1) + (1 - a) * np.log(q1), -np.inf)
        rest = np.logaddexp(first, second) / (a - 1)
    found: NDArray[np.bool_] = (one <= rho) & (rest <= rho * a).all(axis=0)
    return found
