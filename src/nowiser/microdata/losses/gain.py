"""The gain itself as what the search minimises: the largest lift any group gives to a guess of a sensitive value.

Generalising lowers it, down to 0 when all rows look alike, so it is only useful beside a limit on another
loss (`most_loss` of the search); ties are broken by that loss. Nothing bounds it from below but 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.hierarchies.hierarchy import Hierarchy
from nowiser.microdata.losses.base import Levels
from nowiser.microdata.models.gain import Gain


@dataclass(frozen=True, eq=False)
class _Bound:
    parts: None = None
    rising: bool = False

    def floor(self, levels: Levels, groups: Groups) -> float:
        del levels, groups
        return 0.0

    def of(self, levels: Levels, groups: Groups, kept: NDArray[np.bool_]) -> float:
        del levels
        left = groups.keep(kept)
        return max((max(0.0, Gain(about=t.column).value(left)) for t in groups.targets), default=0.0)


@dataclass(frozen=True)
class GainLoss:
    name: ClassVar[str] = "gain"

    def bind(self, hierarchies: Sequence[Hierarchy], base: Groups) -> _Bound:
        del hierarchies, base
        return _Bound()


LOSS = GainLoss()
