"""Records with a probability each, as columns; which of them are right, for guesses and for boxes of guesses."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from nowiser.errors import Misconfigured
from nowiser.guess.joint.inside import checked_labels, is_number, limits, parts_of
from nowiser.guess.rounding import EPS, grain
from nowiser.model.goal import Exactly, Goal, In, On, Within
from nowiser.model.priors.base import Floats

Mask = npt.NDArray[np.bool_]


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
        """One guess for each set of values that conditions on this column alone can be right about; None where discs
        are about it too. A single one where the goal does not depend on it.

        Every guess counts, also one that is no possible value: between the ages 20 and 23 the guess 21.5 is right
        within 1.5 for both.
        """
        name, values = self.table.names[column], np.unique(self.table.columns[column])
        own = [part.goal for part in self.parts if name in part.attributes]
        if any(name in part.attributes for part in self.parts if len(part.attributes) > 1):
            return None
        if not any(isinstance(goal, (Within, Exactly)) for goal in own):
            return values[:1]
        radii = [goal.radius for goal in own if isinstance(goal, Within)]
        if not radii:
            return values
        every = np.concatenate([values, *[values + side * r for r in radii for side in (-1, 1)]])
        events = np.unique(np.clip(every, values[0], values[-1]))
        return np.unique(np.concatenate([events, events[:-1] / 2 + events[1:] / 2]))
