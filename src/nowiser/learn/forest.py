"""A random forest: trees on random columns, each grown by noisy histograms with its share of the budget.

Which columns a tree sees is drawn without the data; where it splits is not, other than in forests whose splits are
random altogether. All trees see all rows: with T trees noise grows by √T, where disjoint parts would cost a factor T.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from nowiser.learn.rows import Floats
from nowiser.learn.tree import DecisionTree, Grown, grow
from nowiser.learn.wrong import Unsuitable
from nowiser.noise.uniform import shuffled


@dataclass(eq=False, kw_only=True, repr=False)
class RandomForest(DecisionTree):
    """The mean of `trees` trees, each on `columns` of the columns (None: a third of them)."""

    depth: int = 3
    trees: int = 16
    columns: int | None = None

    def fit(self, table: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn from rows and their labels. Costs `rho` once more, each time it is called."""
        spending = self._opened()
        sample = self._sample(table, y, groups)
        width = sample.codes.shape[1]
        many = max(1, (width + 2) // 3) if self.columns is None else int(self.columns)
        if not 1 <= many <= width or int(self.trees) < 1:
            raise Unsuitable(f"a forest needs trees, and between 1 and {width} columns for each, found {many}")
        each = spending.total / int(self.trees)
        grown: list[Grown] = []
        for _ in range(int(self.trees)):
            seen = sorted(shuffled(width, spending.entropy)[:many])
            grown.append(grow(sample, seen, int(self.depth), spending, each))
        self.trees_ = grown
        return self._closed(spending)

    def predict_proba(self, table: Any) -> Floats:
        self._check_fitted(table)
        codes = self.bins_.codes(table)
        return np.asarray(np.mean([tree.leaves[tree.places(codes)] for tree in self.trees_], axis=0))

    def rules(self) -> list[str]:
        raise Unsuitable("a forest has no rules that could be read", hint="DecisionTree and Boosting can be read.")
