"""Sparse histories: who did what, with a value (a rating) and a day, indexed by item."""

from dataclasses import dataclass, replace

import numpy as np

from nowiser.attacks.view import Floats, Ints


@dataclass(frozen=True, eq=False)
class Histories:
    """Entries sorted by item. Items and persons are numbers from 0. `value`, `day`: None where not released."""

    persons: int
    person: Ints
    start: Ints  # entries of item i are start[i] … start[i + 1]
    value: Floats | None
    day: Floats | None
    size: Ints  # entries of each person

    @staticmethod
    def of(
        person: Ints, item: Ints, value: Floats | None = None, day: Floats | None = None, persons: int | None = None
    ) -> "Histories":
        order = np.argsort(item, kind="stable")
        n = int(person.max()) + 1 if persons is None else persons
        start = np.searchsorted(item[order], np.arange(int(item.max()) + 2))
        return Histories(
            n,
            person[order],
            start,
            None if value is None else value[order].astype(np.float64),
            None if day is None else day[order].astype(np.float64),
            np.bincount(person, minlength=n),
        )

    def without(self, persons: Ints) -> "Histories":
        """The same without these people's entries; nobody else's number changes."""
        item = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        kept = ~np.isin(self.person, persons)
        value = None if self.value is None else self.value[kept]
        day = None if self.day is None else self.day[kept]
        left = Histories.of(self.person[kept], item[kept], value, day, self.persons)
        start = np.searchsorted(item[kept], np.arange(len(self.start)))  # items only they had stay known
        return replace(left, start=start)

    def entries(self, item: int) -> slice:
        """Where the entries of an item are; nowhere for an item that was not released."""
        if not 0 <= item < len(self.start) - 1:
            return slice(0, 0)
        return slice(int(self.start[item]), int(self.start[item + 1]))


@dataclass(frozen=True, eq=False)
class Known:
    """What an attacker knows of one victim: some items, perhaps with values and days (not a number: not known)."""

    item: Ints
    value: Floats | None = None
    day: Floats | None = None
