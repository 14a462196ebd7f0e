"""What the search asks of a loss.

`parts` and `floor` are lower bounds that hold for a node of the lattice *and everything above it*; the
proof of optimality rests on them, so each loss says beside them why they hold.
"""

from collections.abc import Sequence
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from nowiser.microdata.groups.groups import Groups
from nowiser.microdata.hierarchies.hierarchy import Hierarchy
from nowiser.microdata.table.column import Codes, Floats, Ints

Levels = tuple[int, ...]


class BoundLoss(Protocol):
    """A loss for one table and its hierarchies."""

    rising: bool  # without suppression, generalising further never lowers it

    @property
    def parts(self) -> tuple[Floats, ...] | None:
        """Per attribute and level; their sum over attributes bounds the loss at and above a node. None: unknown."""

    def floor(self, levels: Levels, groups: Groups) -> float:
        """A lower bound at and above the node, once its groups are known."""

    def of(self, levels: Levels, groups: Groups, kept: NDArray[np.bool_]) -> float:
        """The loss when the groups not kept are suppressed."""


class Loss(Protocol):
    """A loss, before the table is known."""

    name: ClassVar[str]

    def bind(self, hierarchies: Sequence[Hierarchy], base: Groups) -> BoundLoss: ...


def label_sums(hierarchies: Sequence[Hierarchy], base: Groups, weights: Sequence[Sequence[Floats]]) -> list[Floats]:
    """Per attribute, the sum over all rows of weights[j][level][label], for each level."""
    sums = []
    for j, hierarchy in enumerate(hierarchies):
        rows = label_rows(hierarchy, base.codes[:, j], base.size)
        sums.append(np.array([n @ weights[j][level] for level, n in enumerate(rows)]))
    return sums


def label_rows(hierarchy: Hierarchy, codes: Codes, size: Ints) -> list[Floats]:
    """Rows per label, for each level, from the codes of level 0."""
    rows: list[Floats] = [np.bincount(codes, weights=size, minlength=len(hierarchy.labels[0])).astype(np.float64)]
    for level, up in enumerate(hierarchy.steps):
        used = np.flatnonzero(rows[-1])
        size_above = len(hierarchy.labels[level + 1])
        rows.append(np.bincount(up[used], weights=rows[-1][used], minlength=size_above).astype(np.float64))
    return rows
