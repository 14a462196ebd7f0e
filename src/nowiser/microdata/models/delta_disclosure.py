"""δ-disclosure: the (natural) logarithm of how a value's share changes within a group stays below δ (Brickell 2008).

Values that a group does not have are left out, as ARX and pyCANON do; `absent: true` counts them as an
infinite change, as the definition read strictly says. (ARX takes the logarithm to base 2.)
"""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.models.about import AboutColumn
from nowiser.microdata.table.column import Floats


@dataclass(frozen=True)
class DeltaDisclosure(AboutColumn):
    """Closed only with `absent`: else a union can dilute a value that one of its parts does not have at all."""

    delta: float | None = None
    absent: bool = False
    name: ClassVar[str] = "delta-disclosure"
    better: ClassVar[Literal["higher", "lower"]] = "lower"

    @property
    def closed(self) -> bool:  # type: ignore[override]  # a property here, a constant elsewhere
        return self.absent

    @property
    def limit(self) -> float | None:
        return self.delta

    def holds(self, value: float) -> bool:
        return self.delta is None or value < self.delta

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        if self.delta is None:
            return np.zeros(len(groups), bool)
        return np.asarray(self.score(groups) >= self.delta, dtype=bool)

    def score(self, groups: Groups) -> Floats:
        shares, target = self.shares(groups)
        known = target.totals > 0
        prior = np.where(known, target.prior, 1.0)
        has = shares > 0
        change = np.abs(np.log(np.where(has, shares, prior) / prior))
        if self.absent:
            change = np.where(~has & known, np.inf, change)
        return np.asarray(change.max(axis=1, initial=0.0), dtype=np.float64)


MODEL = DeltaDisclosure
