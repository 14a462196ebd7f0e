"""k-map: every released row looks like at least k people of the whole population."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.models import GroupModel, population
from nowiser.microdata.table.column import Floats


@dataclass(frozen=True)
class KMap(GroupModel):
    """The score counts the population; groups without a released row do not matter. Upward, as k-anonymity is."""

    k: int | None = None
    name: ClassVar[str] = "k-map"
    needs_population: ClassVar[bool] = True
    closed: ClassVar[bool] = True
    upward: ClassVar[bool] = True

    @property
    def limit(self) -> float | None:
        return self.k

    def score(self, groups: Groups) -> Floats:
        return np.where(groups.size > 0, population(groups, self.name).astype(np.float64), np.inf)


MODEL = KMap
