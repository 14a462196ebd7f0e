"""Noisy tables over overlapping sets of columns, combined: the best unbiased answer to any sum, and its variance.

A table over columns C is the sum of one part for every S ⊆ C: the part of S is the table summed over C∖S, centred along
every column of S (analysis of variance). Parts of different S are orthogonal, so noise that is alike and independent in
all cells of a table is independent in its parts. Every noisy table over A ⊇ S gives the part of S with a variance of
σ²·Π_{A∖S} n; several are averaged by their precision. With W_S the weights of a question treated in the same way,

    Σ W·table = Σ_S ⟨W_S, part_S⟩ / Π_{C∖S} n          variance  Σ_S ‖W_S‖² · variance_S / (Π_{C∖S} n)²

which is what weighted least squares gives. A question is *measured* if no part that its weights need is missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from nowiser.synth.noisy import Noisy
from nowiser.synth.tree.junction import Clique

Floats = NDArray[np.float64]
NEGLIGIBLE = 1e-9  # of the square of the weights: rounding


@dataclass(frozen=True, eq=False)
class Part:
    """A centred table, and the variance its noise had in each cell before it was centred."""

    values: Floats
    variance: float


@dataclass(frozen=True, eq=False)
class Sums:
    """For each group a value and the variance of its noise; `measured`: whether nothing was missing."""

    values: Floats
    variances: Floats
    measured: bool


@dataclass(frozen=True, eq=False)
class Components:
    """The parts of all noisy tables together, each worked out once it is wanted."""

    sizes: tuple[int, ...]
    measured: Sequence[Noisy]
    _known: dict[Clique, Part | None] = field(default_factory=dict)

    def part(self, columns: Clique) -> Part | None:
        """None if these columns were never counted together."""
        if columns not in self._known:
            self._known[columns] = self._found(columns)
        return self._known[columns]

    def _found(self, columns: Clique) -> Part | None:
        total, precision = np.zeros([self.sizes[v] for v in columns]), 0.0
        for m in self.measured:
            if set(columns) <= set(m.columns):
                gone = tuple(i for i, v in enumerate(m.columns) if v not in columns)
                weight = 1 / (m.variance * prod(m.counts.shape[i] for i in gone))
                total += weight * m.counts.sum(axis=gone)
                precision += weight
        return Part(centred(total / precision, range(len(columns))), 1 / precision) if precision else None

    def sums(self, columns: Clique, weights: Floats) -> Sums:
        """For each row of weights (groups first, then the cells of these columns): the sum of table times weights."""
        values, variances = np.zeros(len(weights)), np.zeros(len(weights))
        squares = (weights.reshape(len(weights), -1) ** 2).sum(axis=1)
        whole = True
        for size in range(len(columns) + 1):
            for some in combinations(range(len(columns)), size):
                gone = tuple(i + 1 for i in range(len(columns)) if i not in some)
                behind = prod(weights.shape[i] for i in gone)
                own = centred(weights.sum(axis=gone), range(1, size + 1)).reshape(len(weights), -1)
                norms = (own**2).sum(axis=1) / behind
                found = self.part(tuple(columns[i] for i in some))
                if found is not None:
                    values += own @ found.values.ravel() / behind
                    variances += norms * (found.variance / behind)
                elif (norms > NEGLIGIBLE * squares).any():
                    whole = False
        return Sums(values, variances, whole)

    def table(self, columns: Clique) -> tuple[Floats, float]:
        """The table over these columns, as far as it is known, and the variance of one cell of it."""
        shape = [self.sizes[v] for v in columns]
        found, variance = np.zeros(shape), 0.0
        for size in range(len(columns) + 1):
            for some in combinations(range(len(columns)), size):
                part = self.part(tuple(columns[i] for i in some))
                if part is None:
                    continue
                behind = prod(n for i, n in enumerate(shape) if i not in some)
                found += part.values.reshape([n if i in some else 1 for i, n in enumerate(shape)]) / behind
                variance += part.variance * prod(1 - 1 / shape[i] for i in some) / behind**2
        return found, variance


def centred(table: Floats, axes: Sequence[int] | range) -> Floats:
    """Less its mean along each of these axes."""
    for axis in axes:
        table = table - table.mean(axis=axis, keepdims=True)
    return table
