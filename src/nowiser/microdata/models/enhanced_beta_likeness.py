"""Enhanced β-likeness: the rise of a value's share is at most β, and for common values at most −ln of its share."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.models import lost_above, raised
from nowiser.microdata.models.beta_likeness import BetaLikeness, rise
from nowiser.microdata.table.column import Floats


@dataclass(frozen=True)
class EnhancedBetaLikeness(BetaLikeness):
    """The score is the largest rise, infinite where a rise exceeds −ln of the value's share. Closed, as for basic."""

    name: ClassVar[str] = "enhanced-beta-likeness"

    def score(self, groups: Groups) -> Floats:
        rises, prior = rise(self, groups)
        capped = np.where(rises > -np.log(prior) + 1e-9, np.inf, rises)
        return np.asarray(capped.max(axis=1, initial=0.0), dtype=np.float64)

    def must_lose(self, groups: Groups, spare: float = 0.0) -> Floats:
        if self.beta is None:
            return np.zeros(len(groups))
        shares, target = self.shares(groups)
        prior = np.where(target.totals > 0, raised(target.prior, spare), 1.0)  # b(1 − ln b) rises with b
        return lost_above(shares, prior * (1 + np.minimum(self.beta, -np.log(prior))))


MODEL = EnhancedBetaLikeness
