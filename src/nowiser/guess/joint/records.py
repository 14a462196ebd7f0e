"""Records with a probability each: which of them are right, what it costs to tell them apart, and ceilings for sets.

f(x)·Σ_z π(z)·e^{−D(x,z)} ≤ Σ_z π(z)·f(z) for every x inside, z running over the outside. Hence, without a programme,

    odds after  ≤  Σ over x inside of π(x) / S(x),        S(x) = Σ over z outside of π(z)·e^{−D(x,z)}.

Plans that carry what is inside outside (`carried`) are sharper, and the programme is exact.
"""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.figures import EPS, Figures, Found, lifted
from nowiser.guess.joint.carried import Effort, Pairs, carried
from nowiser.guess.joint.programme import Indices, Mask, Solution, solve
from nowiser.guess.joint.terms import Rates, checked_labels, guesses_about, is_number, limits, parts_of
from nowiser.guess.rounding import grain
from nowiser.model.goal import Goal, In, On, Within
from nowiser.model.priors.base import Floats
from nowiser.model.witness import Witness

PAIRS = 20_000_000  # of records across a border that a programme may look at


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers as floats, labels as indices into `labels`; masses sum to one."""

    names: tuple[str, ...]
    columns: tuple[Floats, ...]
    labels: tuple[tuple[Any, ...] | None, ...]  # None for numbers
    masses: Floats

    @classmethod
    def of(cls, names: tuple[str, ...], records: list[tuple[Any, ...]], masses: Any) -> "Table":
        columns: list[Floats] = []
        labels: list[tuple[Any, ...] | None] = []
        for values in zip(*records, strict=True):
            known = None if is_number(values[0]) else {v: float(i) for i, v in enumerate(dict.fromkeys(values))}
            columns.append(np.array([float(v) if known is None else known[v] for v in values]))
            labels.append(None if known is None else tuple(known))
        share = np.array(masses, float)
        return cls(names, tuple(columns), tuple(labels), share / math.fsum(share))

    def record(self, i: int) -> tuple[Any, ...]:
        return tuple(self.value(j, float(column[i])) for j, column in enumerate(self.columns))

    def value(self, column: int, code: float) -> Any:
        known = self.labels[column]
        return code if known is None else known[int(code)]

    def code(self, name: str, value: Any) -> float:
        """The value as it stands in its column; Misconfigured where nobody can have it."""
        i = self.names.index(name)
        known, column = self.labels[i], self.columns[i]
        if known is not None:
            if value not in known:
                some = ", ".join(map(str, known[:10]))
                raise Misconfigured(f"victim must be one of the values of {name} ({some}), found {value!r}")
            return float(known.index(value))
        low, high = float(column.min()), float(column.max())
        if not is_number(value) or not low <= value <= high:
            raise Misconfigured(f"victim must have a possible value of {name} ({low:g} to {high:g}), found {value!r}")
        return float(value)


@dataclass(frozen=True, eq=False)
class Right:
    """Which records are right, for boxes of guesses: a low and a high end for each column, one box in a row."""

    table: Table
    goal: Goal

    @cached_property
    def parts(self) -> list[On]:
        found = parts_of(self.goal)
        for part in found:
            for name in part.attributes:
                if self.table.labels[self.table.names.index(name)] is not None:
                    checked_labels(part, name)
        return found

    def __call__(self, low: Floats, high: Floats) -> tuple[Mask, Mask]:
        """The records that are right for all guesses of each box, and for some of them."""
        answers = {part: self._met(part, low, high) for part in self.parts}
        least, most = limits(self.goal, answers.__getitem__)
        return least > 0.5, most > 0.5

    def at(self, guess: Floats) -> Mask:
        """The records that are right for one guess."""
        return np.asarray(self(guess[None], guess[None])[0][0])

    def _met(self, part: On, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        own = [self.table.names.index(name) for name in part.attributes]
        if isinstance(part.goal, In):
            found = np.broadcast_to(self._in(part.goal, own[0]).astype(float), (len(low), self.table.masses.size))
            return found, found
        near, far, size = (np.zeros((len(low), self.table.masses.size)) for _ in range(3))
        for i in own:
            v, l, u = self.table.columns[i][None, :], low[:, i, None], high[:, i, None]
            with np.errstate(over="ignore"):
                near = np.hypot(near, np.maximum(np.maximum(l - v, v - u), 0.0))
                far = np.hypot(far, np.maximum(np.abs(v - l), np.abs(v - u)))
            size = np.maximum(size, np.maximum(np.abs(l), np.abs(u)))
        # a value at the very radius is inside, also when its distance is rounded
        radius = part.goal.radius if isinstance(part.goal, Within) else 0.0
        reach = radius + grain(size, radius) if radius else 4 * EPS * size * (self.table.labels[own[0]] is None)
        return (far <= reach).astype(float), (near <= reach).astype(float)

    def _in(self, goal: In, column: int) -> Mask:
        values, labels = self.table.columns[column], self.table.labels[column]
        if labels is not None:
            allowed = [i for i, label in enumerate(labels) if goal.values is not None and label in goal.values]
            return np.isin(values, np.array(allowed, float))
        if goal.values is not None:
            return np.isin(values, [float(v) for v in goal.values if not isinstance(v, str)])
        assert goal.low is not None
        assert goal.high is not None
        return np.asarray((values >= goal.low) & (values <= goal.high))

    def events(self, column: int) -> Floats | None:
        """One guess for each set of values of this column that can be right; None where discs are about it too."""
        own = [part for part in self.parts if self.table.names[column] in part.attributes]
        if any(len(part.attributes) > 1 for part in own):
            return None
        return guesses_about(np.unique(self.table.columns[column]), [part.goal for part in own])


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

    def __post_init__(self) -> None:
        for name, rate, labels in zip(self.table.names, self.rates.rates, self.table.labels, strict=True):
            if labels is not None and rate:
                raise Misconfigured(f"{name} has labels, which have no distances: its slope must be 0")

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
        """A bound on the largest cost of all."""
        every = zip(self.rates.along, self.table.columns, strict=True)
        return (self.rates.jump + sum(rate * float(np.ptp(column)) for rate, column in every)) * (1 + 1e-12)

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

    def sharper(self, inside: Mask, effort: Effort) -> float:
        """A sharper upper bound on the posterior of one set, without a programme."""
        pairs, masses = Pairs(self.between[np.ix_(inside, ~inside)]), self.table.masses
        return float(lifted(carried(masses[inside], masses[~inside], pairs, effort)[0], 0.0))

    def told(self, inside: Mask) -> Told:
        """What the programme says about one set; beyond `PAIRS`, e^{largest cost} times the odds."""
        masses, before = self.table.masses, 1.0 if inside.all() else math.fsum(self.table.masses[inside])
        if inside.all() or not inside.any():
            return Told(inside, before, Solution(before, np.zeros(int(inside.sum())), before))
        a, z = np.flatnonzero(inside), np.flatnonzero(~inside)
        if a.size * z.size > PAIRS:
            odds = before / math.fsum(masses[z]) * (1 + 1e-12)
            return Told(inside, before, Solution(float(lifted(odds, self.reach)), np.zeros(a.size), before))
        return Told(inside, before, solve(masses[a], masses[z], self.block(a, z)))

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
