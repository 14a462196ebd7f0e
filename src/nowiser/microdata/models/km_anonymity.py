"""kᵐ-anonymity: whoever knows m of a person's rows finds at least k persons who have them all (Terrovitis 2008).

For tables with several rows about a person (visits, purchases, months): what an attacker knows is not one row but
a person's history. With m = 1 it is k-anonymity counted by persons; with m as large as the longest history all of
it is known.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.models import GroupModel
from nowiser.microdata.table.column import Floats

MOST = 20_000_000  # combinations of rows that are counted


@dataclass(frozen=True)
class KmAnonymity(GroupModel):
    """The score of a group is the number of persons behind the rarest combination in which it is the rarest part.

    So leaving out the groups that fail takes a part of every combination that is too rare. Closed: what two persons
    have in common stays in common when groups unite.
    """

    k: int | None = None
    m: int = 2
    name: ClassVar[str] = "km-anonymity"
    closed: ClassVar[bool] = True
    for_persons: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.m < 1:
            raise Misconfigured(f"kᵐ-anonymity needs m ≥ 1, not {self.m}")

    @property
    def limit(self) -> float | None:
        return self.k

    def score(self, groups: Groups) -> Floats:
        out = groups.size.astype(np.float64)
        if groups.people is None or not len(groups):
            return out
        pairs = np.unique(np.stack([groups.people.person, groups.people.group], axis=1), axis=0)
        histories = np.split(pairs[:, 1], np.flatnonzero(np.diff(pairs[:, 0])) + 1)
        for size in range(2, self.m + 1):
            known = self._combinations(histories, size)
            if not len(known):
                break
            each, count = np.unique(known, axis=0, return_counts=True)
            rarest = each[np.arange(len(each)), groups.size[each].argmin(axis=1)]
            np.minimum.at(out, rarest, count.astype(np.float64))
        return out

    def _combinations(self, histories: list[np.ndarray], size: int) -> np.ndarray:
        found = [c for history in histories for c in combinations(history.tolist(), size)]
        if len(found) * size > MOST:
            raise Misconfigured(
                f"persons have too many rows to count every combination of {size} of them",
                hint="Choose a smaller m, or keep fewer rows of each person.",
            )
        return np.array(found, dtype=np.int64).reshape(len(found), size)


MODEL = KmAnonymity
