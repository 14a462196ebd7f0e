"""Basic β-likeness: no value's share within a group exceeds its share in the table by more than β times (Cao 2012)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.models import lost_above, raised
from nowiser.microdata.models.about import AboutColumn
from nowiser.microdata.table.column import Floats


def rise(model: AboutColumn, groups: Groups) -> tuple[Floats, Floats]:
    """Relative rise of every value's share in every group, and the prior."""
    shares, target = model.shares(groups)
    prior = np.where(target.totals > 0, target.prior, 1.0)
    return np.asarray((shares - prior) / prior, dtype=np.float64), np.asarray(prior, dtype=np.float64)


@dataclass(frozen=True)
class BetaLikeness(AboutColumn):
    """Closed: a share in a union is a mean of the shares in its parts."""

    beta: float | None = None
    name: ClassVar[str] = "beta-likeness"
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    closed: ClassVar[bool] = True

    @property
    def limit(self) -> float | None:
        return self.beta

    def score(self, groups: Groups) -> Floats:
        return np.asarray(rise(self, groups)[0].max(axis=1, initial=0.0), dtype=np.float64)

    def must_lose(self, groups: Groups, spare: float = 0.0) -> Floats:
        if self.beta is None:
            return np.zeros(len(groups))
        shares, target = self.shares(groups)
        return lost_above(shares, raised(target.prior, spare) * (1 + self.beta))


MODEL = BetaLikeness
