"""k-map where nobody has the population: the table is a sample, and a group of f rows stands for more people.

Dankar and El Emam test, for each group, the hypothesis that fewer than k people of the population look like it.
Everybody is in the table with chance `fraction`; a group is seen only if somebody of it is, so the rows of F people
follow a binomial (or, as ARX has it, a Poisson) distribution without its zero. The hypothesis is rejected where f rows
or more would be seen with a chance of at most `error`. F people never show more than F rows, so f ≥ k always suffices.

The promise: a group of fewer than k people passes with a chance of at most `error`, over the drawing of the sample. It
is one about each group, not about all groups at once, and it holds only if the table really is such a sample.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.models import GroupModel
from nowiser.microdata.table.column import Floats

Estimator = Literal["binomial", "poisson"]


@dataclass(frozen=True)
class KMapEstimate(GroupModel):
    """The score is the largest k whose hypothesis is rejected. It rises with the rows of a group alone."""

    k: int | None = None
    fraction: float | None = None  # chance of everybody in the population to be in the table
    error: float = 0.05
    estimator: Estimator = "binomial"
    name: ClassVar[str] = "k-map-estimate"
    closed: ClassVar[bool] = True
    upward: ClassVar[bool] = True
    for_persons: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.fraction is None or not 0 < self.fraction <= 1:
            raise Misconfigured(
                "k-map-estimate needs `fraction`, the chance of everybody in the population to be in the table",
                hint="models: {k-map-estimate: {k: 5, fraction: 1%}}. Where the population is known, use k-map.",
            )
        if not 0 < self.error < 1 / 2:
            raise Misconfigured(f"the `error` of k-map-estimate lies between 0 and a half, not {self.error}")

    @property
    def limit(self) -> float | None:
        return self.k

    def score(self, groups: Groups) -> Floats:
        sizes, place = np.unique(groups.size, return_inverse=True)
        found = np.array([self.people(int(f)) for f in sizes], dtype=np.float64)
        return found[place.reshape(-1)] if len(found) else found

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        if self.k is None:
            return np.zeros(len(groups), bool)
        return np.asarray(groups.size < rows_for(self.k, self.fraction or 1.0, self.error, self.estimator), dtype=bool)

    def people(self, rows: int) -> int:
        """The largest k for which a group of so many rows passes."""
        return people_behind(rows, self.fraction or 1.0, self.error, self.estimator)


@lru_cache(maxsize=4096)
def people_behind(rows: int, fraction: float, error: float, estimator: Estimator) -> int:
    low, high = rows, rows + 1  # k = rows always passes
    while tail(rows, high - 1, fraction, estimator) <= error:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        if tail(rows, middle - 1, fraction, estimator) <= error:
            low = middle
        else:
            high = middle
    return low


@lru_cache(maxsize=64)
def rows_for(k: int, fraction: float, error: float, estimator: Estimator) -> int:
    """The fewest rows with which a group passes."""
    return next(f for f in range(1, k + 1) if f == k or tail(f, k - 1, fraction, estimator) <= error)


def tail(rows: int, people: int, fraction: float, estimator: Estimator) -> float:
    """The chance that a group of so many people shows at least so many rows, if it shows any. It rises with people."""
    from scipy.stats import binom, poisson

    if rows > people:
        return 0.0  # whatever the approximation says
    drawn = binom(people, fraction) if estimator == "binomial" else poisson(people * fraction)
    return float(drawn.sf(rows - 1) / drawn.sf(0))


MODEL = KMapEstimate
