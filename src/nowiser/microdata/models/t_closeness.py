"""t-closeness: in every group the sensitive values are spread nearly as in the whole table (Li 2007).

The distance is the earth mover's, with one of three ground distances between values:

* `equal`: all values equally far; half the sum of absolute differences.
* `ordered`: the difference of ranks over (values − 1); the sum of absolute cumulative differences.
* `hierarchical`: the height of the lowest common ancestor over the height of the tree. In a tree whose
  edges all weigh 1/(2·height) that is the path length, so the distance is the sum over all labels of all
  levels below the top of the absolute difference, times that weight. NULL hangs under the root.

Each is a norm of the difference between the group's shares and the table's, hence convex: **closed**.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.groups.groups import Groups, Target
from nowiser.microdata.hierarchies.hierarchy import Hierarchy
from nowiser.microdata.models import TOLERANCE
from nowiser.microdata.models.about import AboutColumn
from nowiser.microdata.table.column import Floats


@dataclass(frozen=True)
class TCloseness(AboutColumn):
    t: float | None = None
    distance: Literal["equal", "ordered", "hierarchical"] = "equal"
    name: ClassVar[str] = "t-closeness"
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    closed: ClassVar[bool] = True

    @property
    def limit(self) -> float | None:
        return self.t

    def score(self, groups: Groups) -> Floats:
        shares, target = self.shares(groups)
        moved = shares - target.prior
        moved[groups.size == 0] = 0.0
        return self._distance(moved, target)

    def must_lose(self, groups: Groups, spare: float = 0.0) -> Floats:
        if self.t is None or not len(groups):
            return np.zeros(len(groups))
        farthest = self._farthest(groups.target(self.about)[0]) + spare
        if farthest <= self.t:
            return np.zeros(len(groups))
        over = (self.score(groups) - spare - self.t - TOLERANCE) / (farthest - self.t)
        return np.asarray(np.clip(over, 0.0, 1.0), dtype=np.float64)

    @lru_cache(maxsize=64)  # noqa: B019 (a frozen value and a target compared by identity; the cache is small)
    def _farthest(self, target: Target) -> float:
        """A norm is largest at the corners: no group is farther than one that holds a single value."""
        return float(self._distance(np.eye(len(target.totals)) - target.prior, target).max(initial=0.0))

    def _distance(self, moved: Floats, target: Target) -> Floats:
        if self.distance == "equal":
            return np.asarray(np.abs(moved).sum(axis=1) / 2, dtype=np.float64)
        if self.distance == "ordered":
            return np.asarray(np.abs(moved.cumsum(axis=1)).sum(axis=1) / max(1, moved.shape[1] - 1), dtype=np.float64)
        return hierarchical(moved, target)


def hierarchical(moved: Floats, target: Target) -> Floats:
    """Distances for differences `moved` (groups × values) over the target's hierarchy."""
    tree = target.hierarchy
    if tree is None:
        raise Misconfigured(
            f"the hierarchical distance needs a hierarchy of {target.column!r}",
            hint=f'Name it with the sensitive column, as in sensitive="{target.column}:file.csv".',
        )
    return np.asarray(np.abs(moved @ _labels(tree, moved.shape[1])).sum(axis=1) / (2 * max(1, tree.height)))


@lru_cache(maxsize=64)
def _labels(tree: Hierarchy, values: int) -> Floats:
    """Values × labels of all levels below the top: 1 where the label covers the value. NULL is the last value."""
    matrix = tree.matrix[:values]
    levels = [np.eye(len(tree.labels[level]))[matrix[:, level]] for level in range(tree.height)]
    return np.concatenate(levels, axis=1) if levels else np.zeros((values, 0))


MODEL = TCloseness
