"""Average re-identification risk of the released rows (El Emam 2013).

With f rows released and F people in the population per group, n rows and J groups in all:

| attacker   | average risk                          |
|------------|---------------------------------------|
| prosecutor | J / n                                 |
| journalist | max(J / ΣF, (1/n) Σ f/F)              |
| marketer   | (1/n) Σ f/F, or J / n without a population |
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.models import TableModel, lost_for_mean, population
from nowiser.microdata.table.column import Floats


@dataclass(frozen=True)
class AverageRisk(TableModel):
    """Falls when groups unite ((f+f')/(F+F') ≤ f/F + f'/F'), so it is closed where nothing is suppressed."""

    risk: float | None = None
    attacker: Literal["prosecutor", "journalist", "marketer"] = "prosecutor"
    name: ClassVar[str] = "average-risk"
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    closed: ClassVar[bool] = True

    @property
    def limit(self) -> float | None:
        return self.risk

    def value(self, groups: Groups) -> float:
        real = groups.size > 0
        rows, count = int(groups.size.sum()), int(real.sum())
        if not rows:
            return 0.0
        if self._counts_rows(groups):
            return count / rows
        people = population(groups, f"{self.name} ({self.attacker})")
        expected = float((groups.size[real] / people[real]).sum()) / rows
        return expected if self.attacker == "marketer" else max(expected, count / float(people[real].sum()))

    def _counts_rows(self, groups: Groups) -> bool:
        return self.attacker == "prosecutor" or (self.attacker == "marketer" and groups.population is None)

    def blame(self, groups: Groups) -> Floats:
        if self._counts_rows(groups):
            return super().blame(groups)
        return -population(groups, self.name).astype(np.float64)

    def must_lose_rows(self, groups: Groups) -> float:
        """Whichever rows survive at a finer node, here their groups are fewer, and larger in the population."""
        if self.risk is None:
            return 0.0
        rows = groups.size.astype(np.float64)
        if self._counts_rows(groups):
            return lost_for_mean(rows, (rows > 0).astype(np.float64), self.risk)
        return lost_for_mean(rows, rows / np.maximum(population(groups, self.name), 1), self.risk)


MODEL = AverageRisk
