"""Highest re-identification risk of any released row.

A *prosecutor* knows that the victim is in the table: 1 / group. A *journalist* wants to re-identify
anybody and can count the population: 1 / the group's size in the population.
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.models import GroupModel, population
from nowiser.microdata.table.column import Floats


@dataclass(frozen=True)
class HighestRisk(GroupModel):
    """Upward: groups only grow in unions."""

    risk: float | None = None
    attacker: Literal["prosecutor", "journalist"] = "prosecutor"
    name: ClassVar[str] = "highest-risk"
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    closed: ClassVar[bool] = True
    upward: ClassVar[bool] = True
    for_persons: ClassVar[bool] = True

    @property
    def limit(self) -> float | None:
        return self.risk

    def score(self, groups: Groups) -> Floats:
        size = groups.size if self.attacker == "prosecutor" else population(groups, f"{self.name} (journalist)")
        return np.where(groups.size > 0, 1.0 / np.maximum(size, 1), 0.0)


MODEL = HighestRisk
