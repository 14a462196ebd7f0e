"""The groups of an answer: every combination of declared values, whether or not anybody is in it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from nowiser.model.schema import Value
from nowiser.sql.answer.vectors import Vector, column_of, listed, vector

Group = tuple[Value | None, ...]


@dataclass(frozen=True)
class Groups:
    """Combinations in the order of the domains, the last one moving fastest; `kept`: positions that are reported."""

    domains: tuple[Sequence[Value], ...]
    kept: tuple[int, ...] | None = None  # None: all

    def __len__(self) -> int:
        return prod(len(d) for d in self.domains) if self.kept is None else len(self.kept)

    def __iter__(self) -> Iterator[Group]:
        everything = product(*self.domains)
        if self.kept is None:
            return everything
        kept = set(self.kept)
        return (g for i, g in enumerate(everything) if i in kept)

    def column(self, key: int) -> Vector:
        """The values of one key, group by group."""
        before = prod(len(d) for d in self.domains[:key])
        after = prod(len(d) for d in self.domains[key + 1 :])
        values = column_of(self.domains[key], before, after)
        return values if self.kept is None else values[np.asarray(self.kept, dtype=np.int64)]

    def positions(self, codes: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Where each row of an engine's result belongs, −1 for nowhere. `codes[key]`: index in its domain, or −1."""
        at = np.zeros(len(codes[0]) if codes else 1, dtype=np.int64)
        known = np.ones(len(at), dtype=bool)
        for domain, code in zip(self.domains, codes, strict=True):
            at = at * len(domain) + np.maximum(code, 0)
            known &= code >= 0
        if self.kept is not None:
            places = np.full(prod(len(d) for d in self.domains), -1, dtype=np.int64)
            places[np.asarray(self.kept, dtype=np.int64)] = np.arange(len(self.kept))
            at = places[at]
        return np.where(known, at, -1)


@dataclass(frozen=True)
class SetGroups:
    """The groups of GROUPING SETS, one set after the other; keys a set does not group by are NULL."""

    keys: int
    sets: tuple[tuple[int, ...], ...]
    parts: tuple[Groups, ...]
    marks: tuple[tuple[int, ...], ...] = ()  # GROUPING(…), after the keys: a bit for each key a set leaves out

    def mark(self, one: tuple[int, ...], of: tuple[int, ...]) -> int:
        """What GROUPING of these keys is in one set; the last of them is the lowest bit."""
        return sum((key not in one) << place for place, key in enumerate(reversed(of)))

    def __len__(self) -> int:
        return sum(len(p) for p in self.parts)

    def __iter__(self) -> Iterator[Group]:
        for one, part in zip(self.sets, self.parts, strict=True):
            marks = tuple(self.mark(one, of) for of in self.marks)
            for group in part:
                values = dict(zip(one, group, strict=True))
                yield (*(values.get(i) for i in range(self.keys)), *marks)

    def column(self, key: int) -> Vector:
        found: list[Value | None] = []
        for one, part in zip(self.sets, self.parts, strict=True):
            if key >= self.keys:
                found += [self.mark(one, self.marks[key - self.keys])] * len(part)
                continue
            found += listed(part.column(one.index(key))) if key in one else [None] * len(part)
        return vector(found)


@dataclass(frozen=True)
class Listed:
    """Groups that were found in the data, in the order of their values."""

    keys: int
    groups: tuple[Group, ...] = ()

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[Group]:
        return iter(self.groups)

    def column(self, key: int) -> Vector:
        return vector(g[key] for g in self.groups)
