"""k-anonymity: every row looks like at least k − 1 others (Sweeney 2002)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.models import GroupModel
from nowiser.microdata.table.column import Floats


@dataclass(frozen=True)
class KAnonymity(GroupModel):
    """The value is the smallest group. Upward: a union is at least as large as each part."""

    k: int | None = None
    name: ClassVar[str] = "k-anonymity"
    closed: ClassVar[bool] = True
    upward: ClassVar[bool] = True
    for_persons: ClassVar[bool] = True
    by_size: ClassVar[bool] = True

    @property
    def limit(self) -> float | None:
        return self.k

    def score(self, groups: Groups) -> Floats:
        return groups.size.astype(np.float64)


MODEL = KAnonymity
