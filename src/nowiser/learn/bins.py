"""Columns as bins: even ones over the declared range, one for each listed value and one for all other values."""

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.learn.domain import Category, Domain, Number
from nowiser.learn.rows import Floats, Whole
from nowiser.learn.spending import Spending


@dataclass(frozen=True)
class Bins:
    """How each column of a domain is cut."""

    domain: Domain
    cuts: tuple[Floats | None, ...]  # inner cuts of numbers

    @staticmethod
    def even(domain: Domain, many: int) -> "Bins":
        return Bins(domain, tuple(k.even_cuts(many) if isinstance(k, Number) else None for k in domain.kinds))

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(
            k.width + 1 if isinstance(k, Category) else len(c) + 1 if c is not None else 1
            for k, c in zip(self.domain.kinds, self.cuts, strict=True)
        )

    def codes(self, table: Any) -> Whole:
        """The bin of every value: rows × columns. Unknown categories come last."""
        found = []
        for kind, cuts, values in zip(self.domain.kinds, self.cuts, self.domain.columns(table), strict=True):
            if isinstance(kind, Category):
                codes = kind.codes(values)
                found.append(np.where(codes < 0, kind.width, codes))
            else:
                assert cuts is not None
                found.append(kind.codes(values, cuts))
        return np.stack(found, axis=1)

    def labels(self, feature: int) -> list[str]:
        """The bins of a column in words."""
        kind, cuts = self.domain.kinds[feature], self.cuts[feature]
        if isinstance(kind, Category):
            return [*(str(v) for v in kind.values), "other"]
        assert cuts is not None
        edges = [kind.low, *cuts.tolist(), kind.high]
        return [f"{a:.4g} to {b:.4g}" for a, b in pairwise(edges)]

    def told(self, feature: int, mask: NDArray[np.bool_]) -> str:
        """That a column is in one of these bins, in words."""
        kind, name = self.domain.kinds[feature], self.domain.names[feature]
        cuts = self.cuts[feature]
        listed = ", ".join(text for text, here in zip(self.labels(feature), mask, strict=True) if here)
        if isinstance(kind, Category) or cuts is None:
            return f"{name} in {{{listed}}}"
        edges = [kind.low, *cuts.tolist(), kind.high]
        first, last = int(np.argmax(mask)), len(mask) - int(np.argmax(mask[::-1]))
        if not mask[first:last].all():
            return f"{name} in {{{listed}}}"
        if first == 0:
            return f"{name} < {edges[last]:.4g}"
        return f"{name} >= {edges[first]:.4g}" + (f" and {name} < {edges[last]:.4g}" if last < len(mask) else "")

    def middles(self, feature: int) -> Floats:
        """The middle of each bin of a column of numbers."""
        kind, cuts = self.domain.kinds[feature], self.cuts[feature]
        assert isinstance(kind, Number)
        assert cuts is not None
        edges = np.array([kind.low, *cuts, kind.high])
        return np.asarray((edges[1:] + edges[:-1]) / 2)


def summed(cells: NDArray[Any], size: int, weights: Whole | None = None) -> Whole:
    """How many rows are in each cell, or the sums of their whole weights (a column each). Exact below 2^53."""
    if weights is None:
        return np.bincount(cells, minlength=size).astype(np.int64)
    sums = [np.bincount(cells, weights=w, minlength=size) for w in weights.T.astype(np.float64)]
    return np.stack(sums, axis=1).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows as bins, and the class of each."""

    codes: Whole
    labels: Whole
    classes: int
    bins: Bins


def classes_in_bins(sample: Sample, spending: Spending, rho: Fraction) -> list[Floats]:
    """How many rows of each class are in each bin of each column, noisy. One row is in one cell for each column."""
    sizes, many = sample.bins.sizes, sample.classes
    cells = [summed(sample.codes[:, k] * many + sample.labels, size * many) for k, size in enumerate(sizes)]
    noisy = spending.noisy("rows in bins", np.concatenate(cells), len(sizes), rho)
    parts = np.split(noisy, np.cumsum([size * many for size in sizes])[:-1])
    return [part.reshape(-1, many) for part in parts]
