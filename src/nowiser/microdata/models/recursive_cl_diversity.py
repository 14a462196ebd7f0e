"""Recursive (c, l)-diversity: the most frequent value is rarer than c times all from the l-th most frequent on."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.models.about import AboutColumn
from nowiser.microdata.table.column import Floats


@dataclass(frozen=True)
class RecursiveCLDiversity(AboutColumn):
    """The score is r1 / (r_l + … + r_m), and must be *below* c. Without l, the table's distinct l is used.

    Closed: in a union r1 is at most the sum of the parts' r1, and the tail at least the sum of their tails
    (the l − 1 largest counts of a union sum to at most those of the parts), so the ratio is at most the larger.
    """

    c: float | None = None
    l: int | None = None
    name: ClassVar[str] = "recursive-cl-diversity"
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    closed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.l is not None and self.l < 2:
            raise Misconfigured(f"recursive (c, l)-diversity needs l ≥ 2, not {self.l}")
        if self.c is not None and self.l is None:
            raise Misconfigured("recursive (c, l)-diversity with a limit c needs l as well")

    @property
    def limit(self) -> float | None:
        return self.c

    def holds(self, value: float) -> bool:
        return self.c is None or value < self.c

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        if self.c is None:
            return np.zeros(len(groups), bool)
        return np.asarray(self.score(groups) >= self.c, dtype=bool)

    def score(self, groups: Groups) -> Floats:
        _, histogram = groups.target(self.about)
        if not len(groups):
            return np.zeros(0)
        falling = -np.sort(-histogram, axis=1)
        l = self.l or max(2, int(np.count_nonzero(histogram[groups.size > 0], axis=1).min(initial=2**31 - 1)))
        tail = falling[:, l - 1 :].sum(axis=1)
        first = falling[:, 0].astype(np.float64)
        ratio = np.divide(first, tail, out=np.full(len(first), np.inf), where=tail > 0)
        return np.where(first > 0, ratio, 0.0)


MODEL = RecursiveCLDiversity
