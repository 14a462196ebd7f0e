"""Height: how many levels were climbed in all (Samarati 2001). Suppression does not count."""

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
    parts: tuple[Floats, ...]
    rising: bool = True

    def floor(self, levels: Levels, groups: Groups) -> float:
        """It is the height itself."""
        del groups
        return float(sum(levels))

    def of(self, levels: Levels, groups: Groups, kept: NDArray[np.bool_]) -> float:
        del kept
        return self.floor(levels, groups)


@dataclass(frozen=True)
class Height:
    name: ClassVar[str] = "height"

    def bind(self, hierarchies: Sequence[Hierarchy], base: Groups) -> _Bound:
        del base
        return _Bound(tuple(np.arange(h.height + 1, dtype=np.float64) for h in hierarchies))


LOSS = Height()
