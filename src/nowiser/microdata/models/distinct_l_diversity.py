"""Distinct l-diversity: every group has at least l different sensitive values (Machanavajjhala 2007)."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.models.about import AboutColumn
from nowiser.microdata.table.column import Floats


@dataclass(frozen=True)
class DistinctLDiversity(AboutColumn):
    """Upward: a union has every value that one of its parts has. NULL counts as a value."""

    l: int | None = None
    name: ClassVar[str] = "distinct-l-diversity"
    closed: ClassVar[bool] = True
    upward: ClassVar[bool] = True
    for_persons: ClassVar[bool] = True

    @property
    def limit(self) -> float | None:
        return self.l

    def score(self, groups: Groups) -> Floats:
        _, histogram = groups.target(self.about)
        return np.asarray((histogram > 0).sum(axis=1), dtype=np.float64)


MODEL = DistinctLDiversity
