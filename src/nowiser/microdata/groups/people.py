"""Groups counted by persons where a person may have several rows.

A group of six rows about one person is a group of one. What is true of a person: a guess is right about her if it is
right about any of her rows in the group (`ever`). So a group has as many members as it has persons, and a value as
many as persons who have it there. Persons do not add up when groups unite, so they are counted anew from the rows.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nowiser.microdata.table.column import Floats, Ints

if TYPE_CHECKING:
    from nowiser.microdata.groups.groups import Groups

CELLS = 1 << 24  # entries × guesses that are looked at together


@dataclass(frozen=True, eq=False)
class People:
    """One entry per row of the table: its group, its person and, per target, its value."""

    group: Ints
    person: Ints
    values: tuple[Ints, ...] = ()

    def united(self, inverse: Ints) -> "People":
        """Old group i became part of new group inverse[i]."""
        return People(inverse[self.group], self.person, self.values)

    def kept(self, mask: NDArray[np.bool_]) -> "People":
        """Without the rows of the other groups, which are no longer counted."""
        here = mask[self.group]
        place = np.cumsum(mask) - 1
        return People(place[self.group[here]], self.person[here], tuple(v[here] for v in self.values))

    def heads(self, mask: NDArray[np.bool_] | None = None) -> int:
        """How many persons have a row in one of these groups."""
        return len(np.unique(self.person if mask is None else self.person[mask[self.group]]))

    def sizes(self, count: int) -> Ints:
        """Persons per group."""
        return _distinct(self.group, self.person, count)

    def histogram(self, at: int, count: int, values: int) -> NDArray[np.int32]:
        """Persons per group and value of target `at`."""
        flat = _distinct(self.group * values + self.values[at], self.person, count * values)
        return flat.reshape(count, values).astype(np.int32)

    def totals(self, at: int, values: int) -> Ints:
        """Persons per value in all groups together."""
        return _distinct(self.values[at], self.person, values)

    def ever(self, at: int, hits: NDArray[np.bool_], count: int) -> Floats:
        """Persons per group about whom each guess is right; `hits`: guesses × values of target `at`."""
        order = np.lexsort((self.person, self.group))
        group, person, value = self.group[order], self.person[order], self.values[at][order]
        out = np.zeros((count, len(hits)))
        if not len(order):
            return out
        new = np.flatnonzero(np.append(True, (group[1:] != group[:-1]) | (person[1:] != person[:-1])))
        owner = group[new]
        first = np.flatnonzero(np.append(True, owner[1:] != owner[:-1]))
        step = max(1, CELLS // len(order))
        for start in range(0, len(hits), step):
            part = hits[start : start + step].T[value]
            right = np.logical_or.reduceat(part, new, axis=0)
            out[owner[first], start : start + step] = np.add.reduceat(right.astype(np.float64), first, axis=0)
        return out


def _distinct(place: Ints, person: Ints, count: int) -> Ints:
    """Different persons per place."""
    width = int(person.max(initial=0)) + 1
    both = np.unique(place.astype(np.int64) * width + person)
    return np.bincount(both // width, minlength=count).astype(np.int64)


def by_person(groups: "Groups") -> "Groups":
    """The groups as models judge them: members are persons. Where every row is one, the groups themselves."""
    from dataclasses import replace

    people = groups.people
    if people is None:
        return groups
    wide = tuple(people.histogram(i, len(groups), len(t.totals)) for i, t in enumerate(groups.targets))
    return replace(groups, size=people.sizes(len(groups)), histograms=wide)
