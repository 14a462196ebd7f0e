"""Entropy l-diversity: the entropy of the sensitive values in every group is at least ln l."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.models.about import AboutColumn
from nowiser.microdata.table.column import Floats


@dataclass(frozen=True)
class EntropyLDiversity(AboutColumn):
    """The score is e^entropy. Closed, because entropy is concave; not upward: a skewed group drowns a good one."""

    l: float | None = None
    name: ClassVar[str] = "entropy-l-diversity"
    closed: ClassVar[bool] = True

    @property
    def limit(self) -> float | None:
        return self.l

    def score(self, groups: Groups) -> Floats:
        shares, _ = self.shares(groups)
        logs = np.log(shares, out=np.zeros_like(shares), where=shares > 0)
        return np.asarray(np.exp(-(shares * logs).sum(axis=1)), dtype=np.float64)


MODEL = EntropyLDiversity
