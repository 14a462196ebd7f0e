"""k-anonymity where a blank may be anything: every row could be mistaken for k − 1 others, as sdcMicro and ARX count.

Two rows can be mistaken for each other if they agree wherever both have a value. This is weaker than `k-anonymity`,
where a blank agrees only with a blank: whoever knows which cells of his victim were blanked, and the method does not
hide that, tells such rows apart. Rows are not in groups then: one row may be like two others that are not alike.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.models import GroupModel
from nowiser.microdata.table.column import Floats, Ints


@dataclass(frozen=True)
class BlankKAnonymity(GroupModel):
    """The score of a group is the number of rows that its rows could be. Without blanks it is k-anonymity."""

    k: int | None = None
    name: ClassVar[str] = "blank-k-anonymity"
    closed: ClassVar[bool] = True
    upward: ClassVar[bool] = True

    @property
    def limit(self) -> float | None:
        return self.k

    def score(self, groups: Groups) -> Floats:
        if groups.people is not None:
            raise Misconfigured(f"{self.name} counts rows, and here people have several", hint="Use k-anonymity.")
        columns = [np.asarray(groups.codes[:, j]) for j in range(groups.codes.shape[1])]
        return could_be(columns, groups.size.astype(np.int64)).astype(np.float64)


def could_be(columns: list[Ints], size: Ints) -> Ints:
    """For every combination, the rows that agree with it wherever both have a value (−1: a blank)."""
    if not columns or not any((c < 0).any() for c in columns):
        return size
    gaps = np.column_stack([c < 0 for c in columns])
    patterns, pattern = np.unique(gaps, axis=0, return_inverse=True)
    pattern = pattern.reshape(-1)
    out = np.zeros(len(size), np.int64)
    members = [np.flatnonzero(pattern == p) for p in range(len(patterns))]
    for mine, without in zip(members, patterns, strict=True):
        for theirs, lacks in zip(members, patterns, strict=True):
            both = np.flatnonzero(~(without | lacks))
            if not len(both):
                out[mine] += size[theirs].sum()
                continue
            here = np.concatenate([mine, theirs])
            _, place = np.unique(np.column_stack([columns[j][here] for j in both]), axis=0, return_inverse=True)
            place = place.reshape(-1)
            rows = np.zeros(int(place.max()) + 1, np.int64)
            np.add.at(rows, place[len(mine) :], size[theirs])
            out[mine] += rows[place[: len(mine)]]
    return out


MODEL = BlankKAnonymity
