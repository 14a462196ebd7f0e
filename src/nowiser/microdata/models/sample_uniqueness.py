"""Sample uniqueness: the share of released rows that look like no other released row."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.models import TableModel, lost_for_mean


@dataclass(frozen=True)
class SampleUniqueness(TableModel):
    """Groups of one row only disappear when groups unite: closed where nothing is suppressed."""

    share: float | None = None
    name: ClassVar[str] = "sample-uniqueness"
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    closed: ClassVar[bool] = True

    @property
    def limit(self) -> float | None:
        return self.share

    def value(self, groups: Groups) -> float:
        return float((groups.size == 1).sum()) / max(1, int(groups.size.sum()))

    def must_lose_rows(self, groups: Groups) -> float:
        """A row that is unique here is unique at every finer node."""
        rows = groups.size.astype(np.float64)
        return 0.0 if self.share is None else lost_for_mean(rows, (rows == 1).astype(np.float64), self.share)


MODEL = SampleUniqueness
