"""(α, k)-anonymity: at least k rows in every group, and no sensitive value in more than a share α of it (Wong 2006)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.models import lost_above
from nowiser.microdata.models.about import AboutColumn
from nowiser.microdata.table.column import Floats


@dataclass(frozen=True)
class AlphaKAnonymity(AboutColumn):
    """The score is the largest share, infinite for a group below k. `among`: only these values are sensitive.

    Closed: a union is larger than its parts, and a share in it lies between theirs.
    """

    alpha: float | None = None
    k: int = 1
    among: tuple[str, ...] | None = None
    name: ClassVar[str] = "alpha-k-anonymity"
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    closed: ClassVar[bool] = True

    @property
    def limit(self) -> float | None:
        return self.alpha

    def score(self, groups: Groups) -> Floats:
        largest = self._watched(groups).max(axis=1, initial=0.0)
        return np.where((groups.size > 0) & (groups.size < self.k), np.inf, largest)

    def _watched(self, groups: Groups) -> Floats:
        shares, target = self.shares(groups)
        return shares if self.among is None else shares[:, [label in self.among for label in target.labels]]

    def must_lose(self, groups: Groups, spare: float = 0.0) -> Floats:
        del spare
        if self.alpha is None:
            return np.zeros(len(groups))
        watched = self._watched(groups)
        shares = lost_above(watched, np.full(watched.shape[1], self.alpha))
        return np.where((groups.size > 0) & (groups.size < self.k), 1.0, shares)


MODEL = AlphaKAnonymity
