"""Precision: the mean of level / height over attributes; suppressed rows count 1 (Sweeney 2002; ARX)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.hierarchies.hierarchy import Hierarchy
from nowiser.microdata.losses.base import Levels
from nowiser.microdata.table.column import Floats


@dataclass(frozen=True, eq=False)
class _Bound:
    rows: int
    parts: tuple[Floats, ...]
    rising: bool = True

    def floor(self, levels: Levels, groups: Groups) -> float:
        """Levels only rise upward, and a suppressed row counts 1 ≥ level / height: a lower bound."""
        del groups
        return float(sum(part[level] for part, level in zip(self.parts, levels, strict=True)))

    def of(self, levels: Levels, groups: Groups, kept: NDArray[np.bool_]) -> float:
        lost = int(groups.size[~kept].sum()) / max(1, self.rows)
        return self.floor(levels, groups) * (1 - lost) + lost


@dataclass(frozen=True)
class Precision:
    name: ClassVar[str] = "precision"

    def bind(self, hierarchies: Sequence[Hierarchy], base: Groups) -> _Bound:
        q = max(1, len(hierarchies))
        parts = tuple(np.arange(h.height + 1) / max(1, h.height) / q for h in hierarchies)
        return _Bound(int(base.size.sum()), parts)


LOSS = Precision()
