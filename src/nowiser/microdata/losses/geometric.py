"""ARX's default: its Loss with the geometric mean of the attributes' losses (1 is added to each, and taken away)."""

from dataclasses import dataclass
from typing import ClassVar

from nowiser.microdata.losses.loss import ArxLoss


@dataclass(frozen=True)
class GeometricLoss(ArxLoss):
    geometric: ClassVar[bool] = True
    name: ClassVar[str] = "geometric"


LOSS = GeometricLoss()
