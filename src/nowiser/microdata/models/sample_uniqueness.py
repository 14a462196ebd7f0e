"""Sample uniqueness: the share of released rows that look like no other released row."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.models import TableModel


@dataclass(frozen=True)
class SampleUniqueness(TableModel):
    """Groups of one row only disappear when groups unite: closed where nothing is suppressed."""

    share: float | None = None
    name: ClassVar[str] = "sample-uniqueness"
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    closed: ClassVar[bool] = True

    @property
    def limit(self) -> float | None:
        return self.share

    def value(self, groups: Groups) -> float:
        return float((groups.size == 1).sum()) / max(1, int(groups.size.sum()))


MODEL = SampleUniqueness
