"""Normal attributes, any number of them, and any goal at all: nothing is easier to guess than a half-space.

Let the prior be standard normal in any number of dimensions and let ln f, f a likelihood, change by at most K per unit
of Euclidean distance. Then a goal of prior probability p has a posterior of at most Φ(Φ⁻¹(p) + K), whatever its shape.

A half-space and f = e^{Kx} attain it. The proof, by the Gaussian isoperimetric inequality, stands in
docs/mathematics/programme.md.

A multivariate normal prior is A·z for a standard normal z, and a cost of k_i per unit of each attribute at most K per
unit of z with K = max over signs s of √((s∘k)ᵀ Σ (s∘k)); a rate of k per unit of distance is k·√(largest eigenvalue of
Σ). A jump J lies between e^0 and e^J times a likelihood without one, so that odds are multiplied by at most e^J.
"""

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from nowiser.guess.figures import lifted
from nowiser.guess.joint.terms import Rates, limits, parts_of, rates_of
from nowiser.model.cost import Cost
from nowiser.model.goal import And, Goal, In, Not, On, Within
from nowiser.model.prior import MultivariateNormal
from nowiser.model.priors.base import Floats

SIGNS = 14  # attributes of which all signs are tried; of more, the sum of their lengths is taken
ROOM = 1 + 1e-12
SLIP = 1e-13  # far above the rounding error of Φ⁻¹, in standard deviations of one
FAR = 38.0  # standard deviations beyond which hardly a double is left
POINTS, STEPS = 24, 10  # of a search for the largest gain: each step leaves a twelfth
NODES = {2: (24, 40), 3: (24, 40), 4: (20, 28), 5: (12, 18)}  # of two rules for a box, per attribute; by attributes
TAIL = 9.0
Limits = tuple[float, float]


@dataclass(frozen=True)
class Halfspace:
    """What a prior and its costs come to: K standard deviations, and a jump."""

    shift: float
    jump: float

    def after(self, before: float) -> float:
        """The largest posterior of any goal of this prior probability; rounded up."""
        return self._moved(before, 1.0)

    def smallest(self, before: float) -> float:
        """The smallest posterior of any goal of this prior probability; rounded down."""
        return self._moved(before, -1.0)

    def gain(self, least: float, most: float) -> float:
        """The largest gain of any goal whose prior probability lies between these; rounded up.

        The posterior is concave in p, and so is the gain: the largest is closed in on, and where that ends, bounded by
        the largest posterior less the smallest prior probability.
        """
        from scipy.special import ndtr, ndtri

        if not self.shift + self.jump or least >= 1 or most <= 0:
            return 0.0
        low, high = (float(z) for z in np.clip(ndtri(np.clip([least, most], 0.0, 1.0)), -FAR, FAR))
        for _ in range(STEPS):
            z = np.linspace(low, high, POINTS + 1)
            best = int(np.argmax(self._posterior(z) - ndtr(z)))
            low, high = float(z[max(best - 1, 0)]), float(z[min(best + 1, POINTS)])
        top, bottom = self._posterior(np.array([high + SLIP * (1 + abs(high))])), ndtr(low) * (1 - SLIP)
        return min(max(float(top[0]) - max(float(bottom), least), 0.0), 1.0)

    def _posterior(self, z: Floats) -> Floats:
        """Of a goal of prior probability Φ(z)."""
        from scipy.special import log_ndtr

        z = z + self.shift * ROOM
        with np.errstate(over="ignore"):
            return np.asarray(lifted(np.exp(log_ndtr(z) - log_ndtr(-z)), self.jump)) * ROOM

    def _moved(self, share: float, way: float) -> float:
        """Upwards (1) or downwards (−1), and rounded that way."""
        from scipy.special import log_ndtr, ndtri

        if share <= 0.0 or share >= 1.0 or not self.shift + self.jump:
            return min(max(share, 0.0), 1.0)
        z = float(ndtri(share)) + way * self.shift * ROOM
        z += way * SLIP * (1 + abs(z))
        with np.errstate(over="ignore"):
            odds = float(np.exp(log_ndtr(z) - log_ndtr(-z))) * (ROOM if way > 0 else 1 / ROOM)
        found = float(lifted(np.asarray(odds), way * self.jump))
        return max(found, share) if way > 0 else min(found, share)


def halfspace_of(prior: MultivariateNormal, goal: Goal, costs: Cost | Mapping[str, Cost]) -> Halfspace:
    return halfspace(prior, rates_of(prior.names, goal, costs))


def halfspace(prior: MultivariateNormal, rates: Rates) -> Halfspace:
    """K and the jump of these rates; rounded up."""
    if rates.on_map:
        own = [prior.names.index(n) for n in rates.on_map]
        largest = float(np.linalg.eigvalsh(prior.covariance[np.ix_(own, own)])[-1])
        return Halfspace(rates.map_rate * math.sqrt(largest) * ROOM, rates.map_jump)
    every = np.array(rates.rates)
    costly = np.flatnonzero(every)
    spread, some = prior.covariance[np.ix_(costly, costly)], every[costly]
    if not costly.size:
        return Halfspace(0.0, rates.jump)
    if costly.size > SIGNS:
        return Halfspace(float(some @ np.sqrt(np.diag(spread))) * ROOM, rates.jump)
    signs = np.array([(1.0, *rest) for rest in itertools.product((1.0, -1.0), repeat=costly.size - 1)]) * some
    return Halfspace(math.sqrt(float(np.einsum("si,ij,sj->s", signs, spread, signs).max())) * ROOM, rates.jump)


@lru_cache(maxsize=256)
def shares_of_all(prior: MultivariateNormal, goal: Goal) -> Limits:
    """At least and at most how probable a goal is, over all victims.

    A part `within r` is most probable around the mean (Anderson 1955: it is convex and mirrors itself), and so are
    several such parts that must all be met; other formulas have at most and at least what their parts allow.
    """
    middle, parts = tuple(prior.mean.tolist()), parts_of(goal)
    if isinstance(goal, (And, On)) and all(isinstance(p.goal, Within) for p in parts) and _is_every(goal):
        return 0.0, mass_of(prior, goal, middle)[1]

    def share(part: On) -> tuple[Floats, Floats]:
        low, high = mass_of(prior, part, middle)
        return np.asarray(0.0 if isinstance(part.goal, Within) else low), np.asarray(high)

    low, high = limits(goal, share)
    return float(low), float(high)


def _is_every(goal: Goal) -> bool:
    return all(map(_is_every, goal.parts)) if isinstance(goal, And) else isinstance(goal, On)


@lru_cache(maxsize=256)
def mass_of(prior: MultivariateNormal, goal: Goal, at: tuple[float, ...]) -> Limits:
    """At least and at most how probable the goal of a victim is: boxes between the ends of bands, added up.

    A disc lies between the box around it and the box inside it.
    """
    if isinstance(goal, Not):
        low, high = mass_of(prior, goal.goal, at)
        return 1 - high, 1 - low
    names = goal.attributes
    own = [prior.names.index(n) for n in names]
    mean, spread = prior.mean[own], np.sqrt(np.diag(prior.covariance)[own])
    place = {n: at[i] for n, i in zip(names, own, strict=True)}
    bounds = []
    for above in (False, True):
        ends = {part: [_ends(part, n, place, above=above) for n in part.attributes] for part in parts_of(goal)}
        cuts = [
            np.unique(
                [
                    -np.inf,
                    np.inf,
                    *(e for p in ends for n, e2 in zip(p.attributes, ends[p], strict=True) if n == name for e in e2),
                ]
            )
            for name in names
        ]
        grid = np.meshgrid(*[np.arange(c.size - 1) for c in cuts], indexing="ij")

        def met(part: On, ends: Any = ends, cuts: Any = cuts, grid: Any = grid) -> tuple[Floats, Floats]:
            found = np.ones(grid[0].shape)
            for name, (low, high) in zip(part.attributes, ends[part], strict=True):
                i = names.index(name)
                found *= ((cuts[i][:-1] >= low) & (cuts[i][1:] <= high))[grid[i]]
            return found, found

        inside = limits(goal, met)[0] > 0.5
        few = inside if inside.sum() <= (~inside).sum() else ~inside
        scaled = [(c - m) / s for c, m, s in zip(cuts, mean, spread, strict=True)]
        total, off = 0.0, 1e-13
        for where in np.argwhere(few):
            ends_of = [(c[i], c[i + 1]) for c, i in zip(scaled, where, strict=True)]
            found, wrong = _box(prior.covariance[np.ix_(own, own)] / np.outer(spread, spread), ends_of)
            total, off = total + found, off + wrong
        bounds.append((total if few is inside else 1 - total) + (off if above else -off))
    return min(max(bounds[0], 0.0), 1.0), min(max(bounds[1], 0.0), 1.0)


def _ends(part: On, name: str, place: dict[str, float], *, above: bool) -> Limits:
    """Of a condition along one attribute: of discs those of the box around (`above`) or inside."""
    goal = part.goal
    if isinstance(goal, Within):
        side = 1.0 if above or len(part.attributes) == 1 else (1 - 1e-12) / math.sqrt(len(part.attributes))
        return place[name] - goal.radius * side, place[name] + goal.radius * side
    if isinstance(goal, In) and goal.low is not None and goal.high is not None:
        return goal.low, goal.high
    return 0.0, 0.0  # single values have no probability


def _box(correlation: Floats, ends: list[Limits]) -> Limits:
    """The probability of a box of standard normal numbers, and how far it may be off: by two rules of Gauss."""
    from scipy.special import ndtr

    n = len(ends)
    low, high = (np.clip([e[side] for e in ends], -TAIL, TAIL) for side in (0, 1))
    if n == 1:
        return float(ndtr(high[0]) - ndtr(low[0])), 1e-15
    if n not in NODES:  # too many for a rule: by the least of its sides, and what they have in common at least
        sides = ndtr(high) - ndtr(low)
        least, most = max(float(sides.sum()) - n + 1, 0.0), float(sides.min())
        return (least + most) / 2, (most - least) / 2 + 1e-13
    order = np.argsort(high - low)  # the narrowest first
    root: Floats = np.linalg.cholesky(correlation[np.ix_(order, order)]).astype(np.float64)
    coarse, fine = (_ruled(root, low[order], high[order], count) for count in NODES[n])
    return fine, 2 * abs(fine - coarse) + 1e-12


def _ruled(root: Floats, low: Floats, high: Floats, count: int) -> float:
    """One number after the other, given those before it; the last in closed form."""
    from scipy.special import ndtr

    node, weight = np.polynomial.legendre.leggauss(count)
    z, total, n = np.zeros((1, 0)), np.ones(1), len(low)
    for i in range(n):
        moved = z @ root[i, :i]
        a, b = (np.clip((e - moved) / root[i, i], -TAIL, TAIL) for e in (low[i], high[i]))
        if i == n - 1:
            return float(total @ (ndtr(b) - ndtr(a)))
        half, middle = (b - a)[:, None] / 2, (b + a)[:, None] / 2
        x = middle + half * node
        total = (total[:, None] * half * weight * np.exp(-(x**2) / 2) / math.sqrt(2 * math.pi)).ravel()
        z = np.concatenate([np.repeat(z, count, axis=0), x.reshape(-1, 1)], axis=1)
    return 0.0
