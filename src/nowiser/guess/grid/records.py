"""Records with a probability each: which are right for a guess, what it costs to tell them apart, and the ceiling.

**Only pairs across the border matter.** Let f obey f(x) ≤ e^{D(x,z)}·f(z) for all x inside the goal and z outside, and
nothing else. Then h(y) = max over x inside of e^{−D(x,y)}·f(x) obeys it for *all* pairs (D is a metric), is at least f
inside and at most f outside. So the programme over all mechanisms needs one row for each such pair, on the records
alone; and of those few bind. Rows are asked for where they are broken, until none is; fewer rows only loosen the
programme, so its certified optimum is an upper bound at any time.

**Without a programme:** f(x)·Σ_z π(z)·e^{−D(x,z)} ≤ Σ_z π(z)·f(z) for every x inside, z running over the outside. Hence

    odds after  ≤  Σ over x inside of π(x) / S(x),        S(x) = Σ over z outside of π(z)·e^{−D(x,z)}.

More generally let every x share itself out among the z, Σ_z s(x,z) = 1. Then Σ_x π(x)·f(x) ≤ Σ_z f(z)·Σ_x
s(x,z)·π(x)·e^{D(x,z)}, so that the odds are at most the largest of Σ_x s(x,z)·π(x)·e^{D(x,z)}/π(z) over z. This is
the dual of the programme; shares that fall as e^{−β·D} and burden all z alike come near the best (`shared`).
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from nowiser.errors import Misconfigured
from nowiser.guess.density.line import EPS
from nowiser.guess.grid.guesses import telling, value_of
from nowiser.guess.grid.metric import Question
from nowiser.guess.grid.programme import Programme, Solution, solve
from nowiser.guess.grid.space import Space
from nowiser.guess.grid.truth import whether
from nowiser.guess.odds import lifted
from nowiser.guess.parts.formula import formula, simple_goals
from nowiser.guess.rounding import grain
from nowiser.model.goal import Exactly, Goal, In, On, Present, Within
from nowiser.model.priors.base import Floats

Mask = npt.NDArray[np.bool_]
NEAREST = 6  # partners of a record that rows are asked for at first
ROUNDS = 40
BROKEN = 1e-12
SHARPER = (4.0, 16.0)  # how fast shares fall with the cost, one after the other


@dataclass(frozen=True, eq=False)
class Table:
    """Records as columns: numbers as floats, labels as indices into `labels`; and their masses, which sum to one."""

    names: tuple[str, ...]
    columns: tuple[Floats, ...]
    labels: tuple[tuple[Any, ...] | None, ...]  # None for numbers
    masses: Floats

    @classmethod
    def of(cls, names: tuple[str, ...], records: list[tuple[Any, ...]], masses: Any) -> "Table":
        columns: list[Floats] = []
        labels: list[tuple[Any, ...] | None] = []
        for values in zip(*records, strict=True):
            if isinstance(values[0], (int, float)) and not isinstance(values[0], bool):
                columns.append(np.array(values, float))
                labels.append(None)
            else:
                known = {label: float(i) for i, label in enumerate(dict.fromkeys(values))}
                columns.append(np.array([known[v] for v in values]))
                labels.append(tuple(known))
        share = np.array(masses, float)
        return cls(names, tuple(columns), tuple(labels), share / share.sum())

    @classmethod
    def on(cls, space: Space) -> "Table":
        """The points of a grid that have a mass."""
        at = np.argwhere(space.masses > 0)
        records = [tuple(value_of(a, int(i)) for a, i in zip(space.axes, where, strict=True)) for where in at]
        return cls.of(tuple(a.name for a in space.axes), records, space.masses[tuple(at.T)])

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
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not low <= value <= high:
            raise Misconfigured(f"victim must have a possible value of {name} ({low:g} to {high:g}), found {value!r}")
        return float(value)


@dataclass(frozen=True, eq=False)
class Right:
    """Which records are right, for boxes of guesses: a low and a high end for each column of the table, box by box."""

    table: Table
    goal: Goal

    @cached_property
    def parts(self) -> list[On]:
        found = simple_goals(self.goal)
        if any(isinstance(part, Present) for part in found):
            raise Misconfigured("presence is independent of values; it cannot be part of a joint prior")
        for part in found:
            assert isinstance(part, On)
            for name in part.attributes:
                self._check(part, name)
        return [part for part in found if isinstance(part, On)]

    def _check(self, part: On, name: str) -> None:
        labels = self.table.labels[self.table.names.index(name)]
        if labels is None:
            return
        if len(part.attributes) > 1:
            raise Misconfigured(
                f"{name} has labels, which have no distances: it is no part of a map",
                hint="Name the attributes the goal is about, like `time within 2`.",
            )
        if isinstance(part.goal, Within):
            raise Misconfigured(f"{name} has labels, which have no distances; ask `exactly` or `in`")

    def __call__(self, low: Floats, high: Floats) -> tuple[Mask, Mask]:
        """The records that are right for all guesses of each box, and for some; `low`, `high`: (boxes, columns)."""
        answers = [self._met(part, low, high) for part in self.parts]
        of = formula(self.goal)
        return whether(of, answers, above=False), whether(of, answers, above=True)

    def _met(self, part: On, low: Floats, high: Floats) -> tuple[Mask, Mask]:
        own = [self.table.names.index(name) for name in part.attributes]
        if isinstance(part.goal, In):
            found = np.broadcast_to(self._in(part.goal, own[0]), (len(low), self.table.masses.size))
            return found, found
        radius = part.goal.radius if isinstance(part.goal, Within) else 0.0
        near, far, size = (np.zeros((len(low), self.table.masses.size)) for _ in range(3))
        for i in own:
            v, l, u = self.table.columns[i][None, :], low[:, i, None], high[:, i, None]
            near += np.maximum(np.maximum(l - v, v - u), 0.0) ** 2
            far += np.maximum(np.abs(v - l), np.abs(v - u)) ** 2
            size = np.maximum(size, np.maximum(np.abs(l), np.abs(u)))
        # a value at the very radius is inside, also when its distance is rounded
        reach = radius + grain(size, radius) if isinstance(part.goal, Within) else 4 * EPS * size
        return np.sqrt(far) <= reach, np.sqrt(near) <= reach

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
        """One guess for each set of values that conditions on this column alone can be right about; None where discs
        are about it too. A single one where the goal does not depend on it.
        """
        name, values = self.table.names[column], self.table.columns[column]
        own = [part.goal for part in self.parts if part.attributes == (name,)]
        if any(name in part.attributes for part in self.parts if len(part.attributes) > 1):
            return None
        if not any(isinstance(goal, (Within, Exactly)) for goal in own):
            return values[:1]
        return telling(values, [goal.radius for goal in own if isinstance(goal, Within)])


@dataclass(frozen=True, eq=False)
class Costs:
    """What it costs to tell any two records apart."""

    table: Table
    question: Question
    about: tuple[str, ...]  # the attributes of a map, where one cost is for distances

    @cached_property
    def between(self) -> Floats:
        """D(x, x') for all pairs."""
        table, question = self.table, self.question
        total, differs = np.zeros((table.masses.size,) * 2), np.zeros((table.masses.size,) * 2, bool)
        for i, (name, column) in enumerate(zip(table.names, table.columns, strict=True)):
            away = np.abs(column[:, None] - column[None, :])
            if question.map_rate is not None:
                total += away**2 if name in self.about else 0.0
                differs |= (away > 0) & (name in self.about)
                continue
            if table.labels[i] is not None and question.rates[i]:
                raise Misconfigured(f"{name} has labels, which have no distances: its slope must be 0")
            total += question.rates[i] * away * (table.labels[i] is None) + question.jumps[i] * (away > 0)
        if question.map_rate is None:
            return total
        return np.asarray(question.map_rate * np.sqrt(total) + question.map_jump * differs)

    @cached_property
    def reach(self) -> float:
        return float(self.between.max()) * (1 + 1e-12)

    @cached_property
    def carried(self) -> Floats:
        """π(z)·e^{−D(x,z)}: a row for each x."""
        return np.asarray(self.table.masses[None, :] * np.exp(-self.between))

    def ceilings(self, inside: Mask) -> Floats:
        """An upper bound on the posterior of each of these sets of records (rows), without a programme."""
        masses = self.table.masses
        with np.errstate(divide="ignore", invalid="ignore"):
            outside = (~inside).astype(float) @ self.carried.T
            odds = np.where(inside, masses[None, :] / outside, 0.0).sum(axis=1) * (1 + 1e-10)
            share = inside @ masses
            plain = np.where(share < 1, share / np.maximum(1 - share, EPS), np.inf)
        return np.asarray(np.minimum(lifted(odds, 0.0), lifted(plain * (1 + 1e-12), self.reach)))

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

    def attained(self, inside: Mask) -> Floats:
        """What the best single peak of the likelihood reaches, for each of these sets."""
        peaks = (inside.astype(float) @ self.carried.T) / self.carried.sum(axis=1)
        return np.asarray(np.where(inside, peaks, 0.0).max(axis=1, initial=0.0))

    def solved(self, inside: Mask) -> Solution:
        """The programme for one set."""
        masses, n = self.table.masses, self.table.masses.size
        if inside.all() or not inside.any():
            return Solution(float(inside.all()), np.ones(n), float(inside.all()))
        within, without = np.flatnonzero(inside), np.flatnonzero(~inside)
        distance = self.between[np.ix_(within, without)]
        asked = _nearest(distance) | _nearest(distance.T).T
        best: Solution | None = None
        for _ in range(ROUNDS):
            i, j = np.nonzero(asked)
            found = solve(Programme(masses, (within[i], without[j], distance[i, j])), inside)
            ceiling = min(found.ceiling, best.ceiling) if best else found.ceiling
            log = np.log(np.maximum(found.likelihood, 1e-300))
            legal = np.exp((log[within, None] - self.between[within]).max(axis=0))
            attained = float(masses[within] @ legal[within]) / float(masses @ legal)
            if best is None or attained > best.attained:
                best = Solution(ceiling, legal, attained)
            best = Solution(ceiling, best.likelihood, best.attained)
            excess = log[within, None] - distance - log[None, without]
            broken = (excess > BROKEN) & ~asked
            if not broken.any() or best.ceiling <= best.attained * (1 + 1e-9):
                break
            asked |= broken & (_nearest(-excess) | _nearest(-excess.T).T)
        assert best is not None
        return best


def _nearest(distance: Floats) -> Mask:
    """The few nearest of each row."""
    few = min(NEAREST, distance.shape[1])
    found = np.zeros(distance.shape, bool)
    np.put_along_axis(found, np.argpartition(distance, few - 1, axis=1)[:, :few], values=True, axis=1)
    return found
