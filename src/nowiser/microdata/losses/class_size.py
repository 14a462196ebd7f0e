"""Average class size: rows per group of look-alikes; all suppressed rows are one group more (LeFevre 2006; ARX)."""

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
        """Groups only unite upward, and suppression replaces at least one group by one: never more groups."""
        del levels
        return self.rows / max(1, int((groups.size > 0).sum()))

    def of(self, levels: Levels, groups: Groups, kept: NDArray[np.bool_]) -> float:
        del levels
        real = groups.size > 0
        left = int((kept & real).sum()) + bool((~kept & real).any())
        return self.rows / max(1, left)


@dataclass(frozen=True)
class AverageClassSize:
    name: ClassVar[str] = "class-size"

    def bind(self, hierarchies: Sequence[Hierarchy], base: Groups) -> _Bound:
        del hierarchies
        return _Bound(int(base.size.sum()))


LOSS = AverageClassSize()
