"""δ-presence: the chance of being in the released table, judged by looks alone, has two limits (Nergiz 2007)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.models import TOLERANCE, GroupModel, population
from nowiser.microdata.table.column import Floats


@dataclass(frozen=True)
class DeltaPresence(GroupModel):
    """The score is the released share of the population in a group.

    Closed: the share of a union lies between those of its parts. With `low` > 0 a group of the population
    without any released row fails too, and nothing can be suppressed to help it.
    """

    high: float | None = None
    low: float = 0.0
    name: ClassVar[str] = "delta-presence"
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    needs_population: ClassVar[bool] = True
    closed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not 0 <= self.low <= (1.0 if self.high is None else self.high) <= 1:
            raise Misconfigured(f"δ-presence needs 0 ≤ low ≤ high ≤ 1, not low {self.low} and high {self.high}")

    @property
    def limit(self) -> float | None:
        return self.high

    def score(self, groups: Groups) -> Floats:
        return np.asarray(groups.size / np.maximum(population(groups, self.name), 1), dtype=np.float64)

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        return super().failing(groups) | (self.score(groups) < self.low - TOLERANCE)

    def value(self, groups: Groups) -> float:
        """The largest share; infinite where the smallest is below `low`."""
        below = self.low > 0 and bool((self.score(groups) < self.low - TOLERANCE).any())
        return float("inf") if below else super().value(groups)

    @property
    def rows_must_stay(self) -> bool:
        """Without its rows a group of the population is known to be absent: suppression breaks a lower limit."""
        return self.low > 0


MODEL = DeltaPresence
