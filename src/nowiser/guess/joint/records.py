"""What it costs to tell records apart, and ceilings for sets of them: quick ones, sharper ones, and the programme's.

f(x)·Σ_z π(z)·e^{−D(x,z)} ≤ Σ_z π(z)·f(z) for every x inside, z running over the outside. Hence, without a programme,

    odds after  ≤  Σ over x inside of π(x) / S(x),        S(x) = Σ over z outside of π(z)·e^{−D(x,z)}.

More generally let every x share itself out among the z, Σ_z s(x,z) = 1. Then the odds are at most the largest of
Σ_x s(x,z)·π(x)·e^{D(x,z)}/π(z) over z. This is the dual of the programme; shares that fall as e^{−β·D} and burden all z
alike come near the best (`shared`).
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.figures import EPS, Figures, Found, lifted
from nowiser.guess.joint.programme import Indices, Solution, solve
from nowiser.guess.joint.rates import Rates
from nowiser.guess.joint.table import Mask, Right, Table
from nowiser.model.priors.base import Floats
from nowiser.model.witness import Witness

SHARPER = (4.0, 16.0)  # how fast shares fall with the cost, one after the other
PAIRS = 20_000_000  # of records across a border that a programme may look at


@dataclass(frozen=True, eq=False)
class Told:
    """What is told about one set of records."""

    inside: Mask
    before: float
    solution: Solution

    @property
    def gain(self) -> float:
        return max(0.0, self.solution.ceiling - self.before)

    @property
    def attained(self) -> float:
        return self.solution.attained - self.before


@dataclass(frozen=True, eq=False)
class Costs:
    """D(x, x') of records, and what follows from it."""

    table: Table
    rates: Rates

    def block(self, a: Indices, z: Indices) -> Floats:
        """The costs between some records and others."""
        total, differs = np.zeros((a.size, z.size)), np.zeros((a.size, z.size), bool)
        for i, (name, column) in enumerate(zip(self.table.names, self.table.columns, strict=True)):
            away = np.abs(column[a][:, None] - column[z][None, :])
            if self.rates.on_map:
                if name in self.rates.on_map:
                    total, differs = np.hypot(total, away), differs | (away > 0)
                continue
            rate, jump = self.rates.rates[i], self.rates.jumps[i]
            if self.table.labels[i] is not None and rate:
                raise Misconfigured(f"{name} has labels, which have no distances: its slope must be 0")
            with np.errstate(over="ignore"):  # beyond doubles is certainty
                total += rate * away * (self.table.labels[i] is None) + jump * (away > 0)
        with np.errstate(over="ignore"):
            return self.rates.map_rate * total + self.rates.map_jump * differs if self.rates.on_map else total

    @cached_property
    def between(self) -> Floats:
        """Of all pairs."""
        every = np.arange(self.table.masses.size)
        return self.block(every, every)

    @cached_property
    def reach(self) -> float:
        return float(self.between.max()) * (1 + 1e-12)

    @cached_property
    def carried(self) -> Floats:
        """π(z)·e^{−D(x,z)}: a row for each x."""
        return np.asarray(self.table.masses[None, :] * np.exp(-self.between))

    def ceilings(self, inside: Mask) -> Floats:
        """An upper bound on the posterior of each of these sets (rows), without a programme."""
        masses = self.table.masses
        with np.errstate(divide="ignore", invalid="ignore"):
            outside = (~inside).astype(float) @ self.carried.T
            odds = np.where(inside, masses[None, :] / outside, 0.0).sum(axis=1) * (1 + 1e-10)
            share = inside @ masses
            plain = np.where(share < 1, share / np.maximum(1 - share, EPS), np.inf)
        return np.asarray(np.minimum(lifted(odds, 0.0), lifted(plain * (1 + 1e-12), self.reach)))

    def attained(self, inside: Mask) -> Floats:
        """What the best single peak of the likelihood reaches, for each of these sets."""
        peaks = (inside.astype(float) @ self.carried.T) / self.carried.sum(axis=1)
        return np.asarray(np.where(inside, peaks, 0.0).max(axis=1, initial=0.0))

    def shared(self, inside: Mask, rounds: int) -> float:
        """A sharper upper bound on the posterior of one set: the sharper, the more often burdens are evened out."""
        if inside.all() or not inside.any():
            return float(inside.all())
        masses, distance = self.table.masses, self.between[np.ix_(inside, ~inside)]
        nearest = distance.min(axis=1, keepdims=True)
        with np.errstate(over="ignore"):
            burden = masses[inside][:, None] * np.exp(distance) / masses[~inside][None, :]
        if not np.isfinite(burden).all():
            return 1.0
        best, weight = np.inf, np.log(masses[~inside])
        for beta in SHARPER:
            for _ in range(rounds):
                shares = np.exp(beta * (nearest - distance) + weight[None, :])
                loads = (shares / shares.sum(axis=1, keepdims=True) * burden).sum(axis=0)
                best = min(best, float(loads.max()))
                weight = weight - 1.5 * np.log(np.maximum(loads / loads.mean(), 1e-9))
                weight = np.maximum(weight - weight.max(), -200.0)
        return float(lifted(best * (1 + 1e-10), 0.0))

    def told(self, inside: Mask) -> Told:
        """What the programme says about one set; beyond `PAIRS`, e^{largest cost} times the odds."""
        masses, before = self.table.masses, 1.0 if inside.all() else math.fsum(self.table.masses[inside])
        if inside.all() or not inside.any():
            return Told(inside, before, Solution(before, np.zeros(int(inside.sum())), before))
        a, z = np.flatnonzero(inside), np.flatnonzero(~inside)
        if a.size * z.size > PAIRS:
            odds = before / math.fsum(masses[z]) * (1 + 1e-12)
            return Told(inside, before, Solution(float(lifted(odds, self._extent())), np.zeros(a.size), before))
        return Told(inside, before, solve(masses[a], masses[z], self.block(a, z)))

    def _extent(self) -> float:
        """A bound on the largest cost of all."""
        total = self.rates.jump
        for name, rate, column, known in zip(
            self.table.names, self.rates.along, self.table.columns, self.table.labels, strict=True
        ):
            if known is not None and rate:
                raise Misconfigured(f"{name} has labels, which have no distances: its slope must be 0")
            total += rate * float(np.ptp(column))
        return total * (1 + 1e-12)

    def likelihood(self, told: Told) -> Floats:
        """One that keeps all costs, of each record: the programme's, continued from the records inside."""
        a, every = np.flatnonzero(told.inside), np.arange(told.inside.size)
        if not a.size or a.size * every.size > PAIRS:
            return np.ones(told.inside.size)
        log = told.solution.inner - told.solution.inner.max()
        return np.asarray(np.exp((log[:, None] - self.block(a, every)).max(axis=0)))


def found_of(costs: Costs, told: Told, who: dict[str, Any], figures: tuple[float, float]) -> Found:
    """The answer about one set of records, with these figures before and after."""
    table = costs.table
    before, after = figures
    smallest = 1 - costs.told(~told.inside).solution.ceiling
    shown: Any = who if len(table.names) > 1 else next(iter(who.values()))
    records = tuple((table.record(i), float(f)) for i, f in enumerate(costs.likelihood(told)))
    flat = records if len(table.names) > 1 else tuple((record[0], f) for record, f in records)
    attained = min(max(told.solution.attained, told.before * (1 - 4 * EPS)), after)
    witness = Witness("programme", victim=shown, table=flat)
    return Found(Figures(before, after, min(max(smallest, 0.0), before)), shown, witness, attained)


def one_of_records(right: Right, costs: Costs, victim: dict[str, Any]) -> Found:
    """The ceiling for one victim; he needs values only of attributes that the goal is about."""
    table = right.table
    at = np.array([table.code(n, victim[n]) if n in victim else 0.0 for n in table.names])
    told = costs.told(right.at(at))
    return found_of(costs, told, dict(victim), (told.before, max(told.solution.ceiling, told.before)))
