"""The worlds that fit a release: who of each group of look-alikes could have which of its secrets."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import product
from math import comb, prod

import numpy as np

from nowiser.microdata.candidates import Candidate
from nowiser.microdata.table.column import Column, Floats, Ints
from nowiser.microdata.table.micro_table import MicroTable, group_codes

FEW = 500  # worlds that are counted one by one


@dataclass(frozen=True, eq=False)
class Possible:
    """All worlds: whose secret (a row number of the original that has it) everybody could have."""

    original: MicroTable
    columns: tuple[str, ...]
    groups: tuple[Ints, ...]  # rows of the original that look alike in the release
    gone: Ints
    kinds: Ints  # per row of the original, which joint secret it has
    there: Ints  # a row for every joint secret that the release shows
    share: Floats  # and how often

    @staticmethod
    def of(original: MicroTable, chosen: Candidate, quasi: Sequence[str], columns: Sequence[str]) -> "Possible":
        secret = [original[c] for c in columns]
        key, _ = group_codes([c.codes for c in secret], [len(c.values) for c in secret])
        _, first, found = np.unique(key, return_index=True, return_inverse=True)
        labels = [
            [(c.labels[c.codes[i]] if c.codes[i] >= 0 else "", bool(c.codes[i] < 0)) for c in secret] for i in first
        ]
        table = chosen.table
        shown = set(found.reshape(-1)[table.origin].tolist())
        # By their texts, the released ones first: in what order the original has them, and which it has besides, is
        # secret.
        rank = np.empty(len(first), np.int64)
        rank[sorted(range(len(first)), key=lambda i: (i not in shown, labels[i]))] = np.arange(len(first))
        kinds = rank[found.reshape(-1)]
        looks_alike, _ = group_codes([table[q].codes for q in quasi], [len(table[q].values) for q in quasi])
        together = np.split(
            table.origin[np.argsort(looks_alike, kind="stable")],
            np.unique(np.sort(looks_alike), return_index=True)[1][1:],
        )
        groups = tuple(sorted((np.sort(rows) for rows in together), key=lambda rows: int(rows[0])))
        gone = np.setdiff1d(np.arange(original.rows), table.origin)
        _, first, times = np.unique(kinds[table.origin], return_index=True, return_counts=True)
        there = table.origin[first]
        return Possible(original, tuple(columns), groups, gone, kinds, there, times / times.sum())

    @property
    def count(self) -> int:
        """How many there are; somewhere beyond FEW it stops counting."""
        out = len(self.there) ** min(len(self.gone), FEW)
        for rows in self.groups:
            left = len(rows)
            for n in np.unique(self.kinds[rows], return_counts=True)[1].tolist():
                if out > FEW:
                    return int(out)
                out *= comb(left, n)
                left -= n
        return int(out)

    @property
    def seed(self) -> int:
        """Of the worlds that are drawn: the same table is told the same.

        It depends on what all worlds share: else how many of those drawn lead to the version would tell which is true.
        """
        parts = blake2b(digest_size=8)
        for rows in (*self.groups, *(np.sort(self.kinds[rows]) for rows in self.groups), self.gone):
            parts.update(np.ascontiguousarray(rows, dtype=np.int64).tobytes())
        return int.from_bytes(parts.digest(), "little")

    def table(self, whose: Ints) -> MicroTable:
        """The original with the secrets of `whose`."""
        moved = (Column(c, self.original[c].source, self._rows(c, whose)) for c in self.columns)
        return self.original.with_columns(*moved)

    def _rows(self, column: str, whose: Ints) -> Ints:
        rows = self.original[column].rows
        return whose if rows is None else rows[whose]

    def drawn(self, random: np.random.Generator) -> Ints:
        whose = np.arange(self.original.rows)
        for rows in self.groups:
            whose[rows] = random.permutation(rows[np.argsort(self.kinds[rows], kind="stable")])
        whose[self.gone] = random.choice(self.there, len(self.gone), p=self.share)
        return whose

    def all(self) -> Iterator[tuple[Ints, float]]:
        """Every world once, with its weight."""
        orders = [list(_orders([int(r) for r in rows], self.kinds)) for rows in self.groups]
        for chosen in product(*orders):
            for missing in product(range(len(self.there)), repeat=len(self.gone)):
                whose = np.arange(self.original.rows)
                for rows, order in zip(self.groups, chosen, strict=True):
                    whose[rows] = order
                whose[self.gone] = self.there[list(missing)]
                yield whose, prod(float(self.share[i]) for i in missing)

    @property
    def beliefs(self) -> Floats:
        """Per group of look-alikes, and of those left out, how often each joint secret is theirs: all worlds alike."""
        found = [np.bincount(self.kinds[rows], minlength=len(self.there)) / len(rows) for rows in self.groups]
        return np.array([*found, self.share] if len(self.gone) else found)

    def tallied(self, accepted: Callable[[MicroTable], bool]) -> Floats | None:
        """Per person how often each joint secret is theirs in the accepted worlds; None where there is none."""
        tally, total = np.zeros((self.original.rows, len(self.there))), 0.0
        everyone = np.arange(self.original.rows)
        for whose, weight in self.all():
            if accepted(self.table(whose)):
                total += weight
                tally[everyone, self.kinds[whose]] += weight
        return tally / total if total else None


def _orders(rows: list[int], kinds: Ints) -> Iterator[list[int]]:
    """Every way to give these rows' secrets to their people, equal secrets not told apart."""
    if not rows:
        yield []
        return
    seen = set()
    for i, row in enumerate(rows):
        if kinds[row] not in seen:
            seen.add(kinds[row])
            for rest in _orders(rows[:i] + rows[i + 1 :], kinds):
                yield [row, *rest]
