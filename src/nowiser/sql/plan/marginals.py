"""GROUPING SETS, ROLLUP and CUBE from one histogram: the finest grouping is measured once, the others are its sums.

Each set measured by itself is a release of its own: k sets cost k, so at the same cost each has k times the noise. The
finest grouping costs one, and what is added up from its noisy cells is free; but a sum of n cells carries n noises.
With |F| cells of the finest grouping and sets of |S| groups, the sum of all variances at the same cost is

    k²·Σ|S|  measured one by one (k·Σ|S| under Gaussian noise),
    k·|F|    as sums, since every cell is in one group of each set,

and the smaller is taken. Few sets of few groups over a large product are measured one by one, a ROLLUP or CUBE of
small keys is added up. Only these two are weighed, no mixture of them. Sums are consistent: parts add up to totals.

*Unbiased.* A row without a value for a key is in no group of that key, but counts in the sets that leave the key out.
So where a key can be NULL the finest grouping has one more place for it, which is measured and added, never shown.
Numbers of different values do not add up and are not taken from sums.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.noise.gaussian import Gaussian
from nowiser.noise.laplace import Laplace
from nowiser.noise.summed import half_width_of_sum
from nowiser.sql.bound.groups_per_person import limits_groups
from nowiser.sql.bound.sensitivity import Reach
from nowiser.sql.plan.cells import Cell
from nowiser.sql.plan.groups import Groups, SetGroups
from nowiser.sql.tree import Query, columns, scans

MOST_CELLS = 1_000_000
MOST_WHOLE = 2**62


@dataclass(frozen=True)
class Marginals:
    """The finest grouping: values of every key (None last, where a key can be missing), and which of them sets show."""

    groups: Groups
    shown: tuple[int, ...]  # of each key, how many of its values are groups: all but None
    sets: tuple[tuple[int, ...], ...]
    reaches: tuple[Reach, ...]  # how far one person moves the cells of the finest grouping

    @property
    def _sizes(self) -> tuple[int, ...]:
        return tuple(len(d) for d in self.groups.domains)

    @property
    def added(self) -> tuple[int, ...]:
        """How many noisy cells make one number, set by set."""
        return tuple(prod(s for i, s in enumerate(self._sizes) if i not in one) for one in self.sets)

    @property
    def numbers(self) -> tuple[int, ...]:
        """How many groups each set has."""
        return tuple(prod(self.shown[i] for i in one) for one in self.sets)

    @property
    def mean_variance(self) -> float:
        """Of a number of the answer, in units of the variance of one cell: the mean over all groups."""
        total = sum(n * a for n, a in zip(self.numbers, self.added, strict=True))
        return total / max(1, sum(self.numbers))

    def sums(self, cell: NDArray[Any]) -> NDArray[Any]:
        """From a (blurred) cell of every finest group to the numbers of all sets, one set after the other."""
        if np.issubdtype(cell.dtype, np.integer) and float(np.abs(cell.astype(np.float64)).sum()) > MOST_WHOLE:
            cell = cell.astype(object)
        whole = cell.reshape(self._sizes)
        found = []
        for one in self.sets:
            left = np.asarray(whole.sum(axis=tuple(i for i in range(whole.ndim) if i not in one)), dtype=cell.dtype)
            shown: tuple[Any, ...] = tuple(slice(self.shown[i]) for i in one)
            found.append(left[(*shown, ...)].reshape(-1))
        return np.concatenate(found)

    def widths(self, noise: Laplace | Gaussian, confidence: Fraction) -> NDArray[np.float64]:
        """The error bar of every number of the answer."""
        bars = [float(half_width_of_sum(noise, n, confidence)) for n in self.added]
        return np.repeat(np.array(bars), self.numbers)


def marginals(query: Query, groups: SetGroups, cells: Sequence[Cell], reaches: tuple[Reach, ...]) -> Marginals | None:
    """The finest grouping, where every set is a sum of it. `reaches`: of its cells.

    None where a cell does not add up, or conditions that compare keys leave out combinations of their values.
    """
    if len(groups.sets) < 2 or not cells or any(c.distinct for c in cells):
        return None
    domains: dict[int, Any] = {}
    for one, part in zip(groups.sets, groups.parts, strict=True):
        if part.kept is not None or any(domains.setdefault(i, d) != d for i, d in zip(one, part.domains, strict=True)):
            return None
    if len(domains) < len(query.keys) or not all(domains.values()):
        return None
    plain = [tuple(domains[i]) for i in range(len(query.keys))]
    every = tuple((*d, None) if k.type.nullable else d for k, d in zip(query.keys, plain, strict=True))
    if prod(len(d) for d in every) > MOST_CELLS:
        return None
    return Marginals(Groups(every), tuple(len(d) for d in plain), groups.sets, reaches)


def with_missing(query: Query, groups: Groups, cells: Sequence[Cell], reaches: tuple[Reach, ...]) -> Marginals | None:
    """The groups with one place more for rows without a key, so that the total follows from its parts; None: no need.

    Of public keys alone: a row is in one place, as before, so that the place costs nothing. It is measured, not shown.
    """
    plain = query.sets is None and groups.kept is None and len(cells) == len(reaches) and all(groups.domains)
    missing = [k.type.nullable for k in query.keys]
    if not plain or not any(missing) or any(c.declared.secret for k in query.keys for c in columns(k)):
        return None
    if any(c.distinct for c in cells) or any(limits_groups(s.table) for s in scans(query.relation)):
        return None
    every: tuple[Any, ...] = tuple(
        (*d, None) if null else tuple(d) for d, null in zip(groups.domains, missing, strict=True)
    )
    if prod(len(d) for d in every) > MOST_CELLS:
        return None
    shown = tuple(len(d) for d in groups.domains)
    return Marginals(Groups(every), shown, (tuple(range(len(every))),), reaches)
