"""Whether an earlier release can be of the same values as this one: people whose values changed in between.

Who knows that hers alone changed reads it from the difference of two files, and no count of fixed values says so.
People who are in both releases have the same values in both, or the releases contradict each other. Groups that share
people hang together; there the values that both show must be enough for everybody who is in both.
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from nowiser.errors import NotAnswerable
from nowiser.microdata.releases.record import Record
from nowiser.microdata.table.column import Ints


def refuse_contradictions(earlier: Sequence[Record], now: Record, names: Sequence[str]) -> None:
    """Raises NotAnswerable where somebody's value of these columns was another one when an earlier release was made."""
    for record in earlier:
        there, changed = set(record.columns) & set(now.columns), {*record.changed, *now.changed}
        both = [n for n in names if n in there - changed]
        if both and contradict(record, now, both):
            raise NotAnswerable(
                "earlier releases of this table contradict this one: values of people were changed in between",
                hint="What both tell together about a changed value cannot be measured. Publish from the same state of "
                "the table, or answer questions instead.",
            )


def contradict(one: Record, two: Record, names: Sequence[str]) -> bool:
    """Whether no values of the people who are in both make both releases."""
    _, first, second = np.intersect1d(one.people, two.people, assume_unique=True, return_indices=True)
    offset = int(one.member.max(initial=-1)) + 1
    many = offset + int(two.member.max(initial=-1)) + 1
    here, there = one.member[first], two.member[second] + offset
    links = coo_array((np.ones(len(here), np.int8), (here, there)), shape=(many, many))
    part = connected_components(links, directed=False)[1]
    mine, theirs = _counts(one, names, part[:offset]), _counts(two, names, part[offset:])
    both = np.bincount(part[here], minlength=len(part))
    for place in mine.keys() & theirs.keys():
        both[place[0]] -= min(mine[place], theirs[place])
    return bool((both > 0).any())


def _counts(record: Record, names: Sequence[str], part: Ints) -> dict[tuple[int, tuple[str | None, ...]], int]:
    """Rows by the part their group belongs to, and what they show."""
    rows = np.stack([part[record.group], *(record.codes[n] for n in names)], axis=1)
    found, counts = np.unique(rows, axis=0, return_counts=True)
    labels = [record.labels[n] for n in names]
    return {
        (int(row[0]), tuple(own[c] for own, c in zip(labels, row[1:], strict=True))): n
        for row, n in zip(found.tolist(), counts.tolist(), strict=True)
    }
