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

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.models import TableModel, population


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
        if self.attacker == "prosecutor" or (self.attacker == "marketer" and groups.population is None):
            return count / rows
        people = population(groups, f"{self.name} ({self.attacker})")
        expected = float((groups.size[real] / people[real]).sum()) / rows
        return expected if self.attacker == "marketer" else max(expected, count / float(people[real].sum()))


MODEL = AverageRisk
