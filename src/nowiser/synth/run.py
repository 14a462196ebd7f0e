"""What every method is given besides the data: what the rows are wanted for, what is impossible, and who listens."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from nowiser.synth.tree.junction import Clique

CELLS = 1 << 18  # numbers that a tree may hold


def silent(done: float, columns: Clique) -> None:
    """Nobody listens."""


@dataclass(frozen=True, eq=False)
class Run:
    """workload: pairs (and single columns) with a whole-number weight each. zeros: cells that are impossible."""

    workload: Mapping[Clique, int]
    zeros: Sequence[tuple[Clique, NDArray[np.bool_]]] = ()
    cells: int = CELLS
    told: Callable[[float, Clique], None] = field(default=silent)

    @property
    def held(self) -> list[Clique]:
        """Sets of columns that the tree must hold although nobody counts them."""
        return [columns for columns, _ in self.zeros]
