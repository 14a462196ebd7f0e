"""One decision tree, grown level by level from noisy histograms.

A level releases, for every node of it and every column tried, how many rows of each class are in each bin. A row is in
one node, and in one bin of each column: it moves as many counts as columns are tried, however large the tree is. The
best split, the order of categories and when to stop are read off noisy counts, which costs nothing more. The leaves
are counted once at the end.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from nowiser.learn.bins import Bins, Sample, summed
from nowiser.learn.domain import Category
from nowiser.learn.estimator import BinnedClassifier
from nowiser.learn.rows import Floats, Whole
from nowiser.learn.spending import Spending
from nowiser.learn.wrong import Unsuitable

LEAVES = Fraction(1, 5)  # share of the budget for the leaves


@dataclass(frozen=True)
class Grown:
    """Node i of a level goes to 2i where `left[level][i]` holds for the bin of its column, else to 2i + 1."""

    columns: tuple[Whole, ...]
    left: tuple[NDArray[np.bool_], ...]
    leaves: Floats  # how likely each class is

    def places(self, codes: Whole) -> Whole:
        """The leaf of each row."""
        node = np.zeros(len(codes), dtype=np.int64)
        for columns, left in zip(self.columns, self.left, strict=True):
            node = 2 * node + ~left[node, codes[np.arange(len(codes)), columns[node]]]
        return node


@dataclass(eq=False, kw_only=True, repr=False)
class DecisionTree(BinnedClassifier):
    """One tree of `depth` levels.

    >>> import numpy as np
    >>> X = np.linspace(-1, 1, 4000)[:, None]
    >>> tree = DecisionTree(rho=0.1, bounds=(-1, 1), classes=[0, 1], depth=2).fit(X, abs(X[:, 0]) < 0.5)
    >>> tree.predict([[0.0], [0.9]]).tolist()
    [1, 0]
    """

    depth: int = 4
    bins: int = 20

    jump = 2

    def fit(self, table: Any, y: Any = None, groups: Any = None) -> Self:
        """Learn from rows and their labels. Costs `rho` once more, each time it is called."""
        spending = self._opened()
        sample = self._sample(table, y, groups)
        self.tree_ = grow(sample, range(sample.codes.shape[1]), int(self.depth), spending, spending.total)
        return self._closed(spending)

    def _sample(self, table: Any, y: Any, groups: Any) -> Sample:
        if not 1 <= int(self.depth) <= 16:
            raise Unsuitable(f"depth must lie between 1 and 16, found {self.depth}")
        return self._in_bins(table, y, groups, int(self.bins))

    def predict_proba(self, table: Any) -> Floats:
        self._check_fitted(table)
        return np.asarray(self.tree_.leaves[self.tree_.places(self.bins_.codes(table))])

    def rules(self) -> list[str]:
        """The tree in words, a line for each leaf: the way there, then how likely each class is."""
        return [
            f"{' and '.join(way) or 'everybody'}: "
            + ", ".join(f"{c} {100 * p:.0f} %" for c, p in zip(self.classes_, chances, strict=True))
            for way, chances in ways(self.tree_, self.bins_)
        ]


def grow(sample: Sample, features: Sequence[int], depth: int, spending: Spending, rho: Fraction) -> Grown:
    """A tree on these columns, for `rho` in all."""
    codes, labels, classes, bins = sample.codes, sample.labels, sample.classes, sample.bins
    sizes = [bins.sizes[f] for f in features]
    ordered = [not isinstance(bins.domain.kinds[f], Category) for f in features]
    widest = max(bins.sizes)
    each = rho * (1 - LEAVES) / depth
    deviation = spending.deviation(len(features), each)
    node = np.zeros(len(codes), dtype=np.int64)
    columns, lefts = [], []
    for level in range(depth):
        many = 1 << level
        exact = [
            summed((node * size + codes[:, f]) * classes + labels, many * size * classes)
            for f, size in zip(features, sizes, strict=True)
        ]
        noisy = spending.noisy("rows in nodes", np.concatenate(exact), len(features), each)
        ends = np.cumsum([many * size * classes for size in sizes])[:-1]
        tables = [part.reshape(many, size, classes) for part, size in zip(np.split(noisy, ends), sizes, strict=True)]
        column, left = np.zeros(many, dtype=np.int64), np.ones((many, widest), dtype=bool)
        for i in range(many):
            best, goes = _best([t[i] for t in tables], ordered, deviation)
            column[i] = features[best]
            left[i, : len(goes)] = goes
        columns.append(column)
        lefts.append(left)
        node = 2 * node + ~left[node, codes[np.arange(len(codes)), column[node]]]
    many = 1 << depth
    counts = spending.noisy("rows in leaves", summed(node * classes + labels, many * classes), 1, rho * LEAVES)
    noise = spending.deviation(1, rho * LEAVES)
    return Grown(tuple(columns), tuple(lefts), _chances(counts.reshape(many, classes), noise))


def _best(tables: list[Floats], ordered: list[bool], deviation: float) -> tuple[int, NDArray[np.bool_]]:
    """The column and the bins of it that go left, by what they gain; all of them where nothing gains."""
    best = (0.0, 0, np.ones(len(tables[0]), dtype=bool))
    for k, (table, in_order) in enumerate(zip(tables, ordered, strict=True)):
        kept = np.maximum(table, 0.0)
        total = kept.sum(axis=0)
        rows = kept.sum(axis=1)
        order = np.arange(len(table))
        if not in_order:  # categories in the order of how often they have the most frequent class
            most = int(np.argmax(total))
            pull = deviation * table.shape[1] + 1  # small ones are drawn to the middle
            order = np.argsort((kept[:, most] + pull * total[most] / max(1.0, rows.sum())) / (rows + pull))
        left = np.cumsum(kept[order], axis=0)[:-1]
        right = total - left
        gains = _purity(left) + _purity(right) - _purity(total[None, :])
        if len(gains) and gains.max() > best[0]:
            goes = np.zeros(len(table), dtype=bool)
            goes[order[: int(np.argmax(gains)) + 1]] = True
            best = (float(gains.max()), k, goes)
    return best[1], best[2]


def _purity(counts: Floats) -> Floats:
    """Σ n_c²/n: rises with how much of the rows one class has."""
    return np.asarray((counts**2).sum(axis=1) / np.maximum(counts.sum(axis=1), 1.0))


def _chances(counts: Floats, deviation: float) -> Floats:
    """How likely each class is in a leaf, drawn to the whole where it has few rows for its noise."""
    kept = np.maximum(counts, 0.0)
    whole = kept.sum(axis=0) + 1.0
    pull = deviation * (whole / whole.sum())
    found = kept + pull + 1e-9
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def ways(tree: Grown, bins: Bins) -> list[tuple[list[str], Floats]]:
    """For every leaf that can be reached, the conditions on the way, and its chances."""
    found: list[tuple[list[str], Floats]] = []

    def walk(level: int, node: int, allowed: dict[int, NDArray[np.bool_]]) -> None:
        if level == len(tree.columns):
            way = [bins.told(f, mask) for f, mask in sorted(allowed.items())]
            found.append((way, tree.leaves[node]))
            return
        f = int(tree.columns[level][node])
        before = allowed.get(f, np.ones(bins.sizes[f], dtype=bool))
        goes = tree.left[level][node, : bins.sizes[f]]
        for side, mask in ((0, before & goes), (1, before & ~goes)):
            if mask.all():
                walk(level + 1, 2 * node + side, allowed)
            elif mask.any():
                walk(level + 1, 2 * node + side, {**allowed, f: mask})

    walk(0, 0, {})
    return found
