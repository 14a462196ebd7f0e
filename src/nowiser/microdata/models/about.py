"""What all models about a sensitive column share."""

from dataclasses import dataclass

import numpy as np

from nowiser.microdata.groups.groups import Groups, Target
from nowiser.microdata.models import GroupModel
from nowiser.microdata.table.column import Floats


@dataclass(frozen=True)
class AboutColumn(GroupModel):
    """A model about one sensitive column: its spread within a group (`shares`) against the whole table (`prior`)."""

    about: str = ""

    @property
    def column(self) -> str | None:
        return self.about

    def shares(self, groups: Groups) -> tuple[Floats, Target]:
        """Groups × values, each row summing to 1 (0 for a group without rows)."""
        target, histogram = groups.target(self.about)
        return histogram / np.maximum(histogram.sum(axis=1), 1)[:, None], target
