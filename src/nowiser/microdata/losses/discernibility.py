"""Discernibility: every row pays for the rows it looks like, a suppressed one for the whole table (Bayardo 2005)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.hierarchies.hierarchy import Hierarchy
from nowiser.microdata.losses.base import Levels


@dataclass(frozen=True, eq=False)
class _Bound:
    rows: int
    parts: None = None
    rising: bool = True

    def floor(self, levels: Levels, groups: Groups) -> float:
        """(a + b)² ≥ a² + b², and a suppressed group of n rows pays n·N ≥ n²: a lower bound here and above."""
        del levels
        return float(groups.size @ groups.size)

    def of(self, levels: Levels, groups: Groups, kept: NDArray[np.bool_]) -> float:
        del levels
        size = groups.size
        return float(size[kept] @ size[kept]) + float(size[~kept].sum()) * self.rows


@dataclass(frozen=True)
class Discernibility:
    name: ClassVar[str] = "discernibility"

    def bind(self, hierarchies: Sequence[Hierarchy], base: Groups) -> _Bound:
        del hierarchies
        return _Bound(int(base.size.sum()))


LOSS = Discernibility()
