"""Many sums of the same counts from one set of noisy measurements: flat, as a tree, or by a square root.

Counts x of n buckets are measured as y = T·x with whole-number T, integer noise is added to y, and every sum of
consecutive buckets is estimated from the noisy y. What one person can move in y decides the noise: a person in one
bucket moves y by a column of T, so by its L1 norm for Laplace noise and its L2 norm for Gaussian noise.

* **flat**: T is the identity. One person moves one number; a sum of k buckets adds k noises.
* **tree**: the buckets, sums of b of them, sums of b² …: one person moves one number per level, a sum of any number
  of neighbours needs fewer than b numbers per level. Estimates are least-squares: nothing linear is better.
* **square root** (Henzinger and others 2022; Fichtenberger and others 2023): running sums A·x have a lower triangular
  Toeplitz square root A = R·R with coefficients r_k = C(2k, k)/4^k. Measuring R·x with Gaussian noise and applying R
  to what comes out has the largest standard deviation Σ r_k² ≈ 1 + (ln n + 0.6)/π: 3.3 at 1,024 steps, where
  independent noise has 32 and a binary tree 10.5. Here T is 2²⁰·R rounded to whole numbers, so the noise is
  integer noise on whole numbers, as everywhere; the estimate uses the exact inverse of the rounded T, so rounding
  makes nothing wrong and nothing less private.

All entries of T are at least zero. So when a person moves from buckets u to buckets v, ‖T(u−v)‖² ≤ ‖Tu‖² + ‖Tv‖².
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

BITS = 20
Matrix = NDArray[np.float64]
Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True)
class Flat:
    """Every bucket by itself."""

    size: int
    name = "one noise per bucket"

    @property
    def column_l1(self) -> int:
        return 1

    @property
    def column_l2(self) -> int:
        return 1

    def measure(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """`counts[g, i]` → what is blurred, a row per group."""
        return counts

    def running(self, noisy: Matrix) -> Matrix:
        """Estimated sums of the first 0, 1, …, n buckets, a row per group."""
        return _running(noisy)

    def variance(self, start: int, stop: int) -> float:
        """Of an estimated sum of buckets start … stop−1, in units of the variance of one noise; an upper bound."""
        return float(stop - start)


@dataclass(frozen=True)
class Tree:
    """`levels` levels; each node is the sum of `branch` nodes below. The top level has `branch` nodes."""

    size: int
    branch: int
    levels: int
    name = "a tree of counts"

    @property
    def column_l1(self) -> int:
        return self.levels

    @property
    def column_l2(self) -> int:
        return self.levels

    @property
    def _leaves(self) -> int:
        return int(self.branch**self.levels)

    def measure(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        leaves: NDArray[np.int64] = np.zeros((len(counts), self._leaves), dtype=np.int64)
        leaves[:, : self.size] = counts
        found = [leaves]
        for _ in range(self.levels - 1):
            found.append(_in_parts(found[-1], self.branch).sum(axis=2))
        return np.concatenate(found, axis=1)

    def running(self, noisy: Matrix) -> Matrix:
        levels, at = [], 0
        for i in range(self.levels):
            width = self._leaves // self.branch**i
            levels.append(noisy[:, at : at + width])
            at += width
        return _running(_consistent(levels, self.branch))[:, : self.size + 1]

    def variance(self, start: int, stop: int) -> float:
        # Least squares is no worse than any way to put the sum together from nodes: from the left, or as the
        # difference of two sums from the left.
        return float(min(self._nodes(start, stop), self._from_left(start) + self._from_left(stop)))

    def _from_left(self, stop: int) -> int:
        found = 0
        for _ in range(self.levels - 1):
            stop, digit = divmod(stop, self.branch)
            found += digit
        return found + stop

    def _nodes(self, start: int, stop: int) -> int:
        """How many nodes cover a run."""
        found, level = 0, 0
        while start < stop and level < self.levels - 1:
            up, down = -(-start // self.branch), stop // self.branch
            if up >= down:
                break
            found += up * self.branch - start + stop - down * self.branch
            start, stop, level = up, down, level + 1
        return found + stop - start


@dataclass(frozen=True)
class SquareRoot:
    """Running sums under Gaussian noise."""

    size: int
    name = "a square root of the running sum"

    @property
    def _coefficients(self) -> NDArray[np.int64]:
        return _roots(self.size)

    @property
    def column_l1(self) -> int:
        return int(self._coefficients.sum())

    @property
    def column_l2(self) -> int:
        return sum(int(c) ** 2 for c in self._coefficients)

    def measure(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        whole = self._coefficients
        found = np.zeros_like(counts)
        for k, c in enumerate(whole):  # exact: whole numbers, no transform
            found[:, k:] += int(c) * counts[:, : self.size - k]
        return found

    def running(self, noisy: Matrix) -> Matrix:
        back = _inverse_running(self.size)
        width = 2 * self.size
        found = np.fft.irfft(np.fft.rfft(noisy, width) * np.fft.rfft(back, width), width)[:, : self.size]
        return np.concatenate([np.zeros((len(noisy), 1)), found], axis=1)

    def variance(self, start: int, stop: int) -> float:
        back = _inverse_running(self.size)
        behind = np.concatenate([np.zeros(stop - start), back[:start]])
        return float(((back[:stop] - behind) ** 2).sum())


Strategy = Flat | Tree | SquareRoot


@lru_cache(maxsize=32)
def _roots(size: int) -> NDArray[np.int64]:
    """2²⁰·C(2k, k)/4^k, rounded; computed in whole numbers so that every machine has the same."""
    found, exact = [], 1 << 80
    for k in range(size):
        if k:
            exact = exact * (2 * k - 1) // (2 * k)
        found.append((exact + (1 << (79 - BITS))) >> (80 - BITS))
    return np.array(found, dtype=np.int64)


@lru_cache(maxsize=32)
def _inverse_running(size: int) -> Matrix:
    """The first column of A·T⁻¹: what turns noisy measurements into running sums."""
    c = _roots(size).astype(np.float64)
    inverse = np.zeros(size)
    inverse[0] = 1 / c[0]
    for k in range(1, size):
        inverse[k] = -np.dot(c[1 : k + 1], inverse[k - 1 :: -1][:k]) / c[0]
    return np.cumsum(inverse)


def _running(values: Matrix) -> Matrix:
    return np.concatenate([np.zeros((len(values), 1)), np.cumsum(values, axis=1)], axis=1)


def _in_parts(level: NDArray[Number], branch: int) -> NDArray[Number]:
    """The nodes of a level, `branch` of them under each node above; also where there is no group at all."""
    return level.reshape(len(level), level.shape[1] // branch, branch)


def _consistent(levels: list[Matrix], branch: int) -> Matrix:
    """Least-squares leaves of a tree whose nodes all carry the same noise (Hay and others 2010)."""
    up = [levels[0]]
    for i, level in enumerate(levels[1:], start=1):
        below = _in_parts(up[-1], branch).sum(axis=2)
        b, own = float(branch), float(branch**i)
        weight = (b ** (i + 1) - own) / (b ** (i + 1) - 1)
        up.append(weight * level + (1 - weight) * below)
    found = up[-1]
    for lower in reversed(up[:-1]):
        parts = _in_parts(lower, branch)
        excess = (found - parts.sum(axis=2)) / branch
        found = (parts + excess[:, :, None]).reshape(lower.shape)
    return found


@dataclass(frozen=True)
class Spread:
    """How noise of variance one spreads to running sums R_i, and to R_i − q·R_n: exact, per i = 0 … n."""

    own: Matrix  # Var R_i
    with_all: Matrix  # Cov(R_i, R_n)

    def variance(self, q: float) -> Matrix:
        found: Matrix = np.maximum(self.own - 2 * q * self.with_all + q * q * self.own[-1], 0.0)
        return found


@lru_cache(maxsize=16)
def spread(strategy: Strategy) -> Spread:
    """Exact: every single noise is sent through the estimate, or its closed form where there is one."""
    match strategy:
        case Flat():
            steps = np.arange(strategy.size + 1, dtype=np.float64)
            return Spread(steps, steps)
        case Tree():
            return _tree_spread(strategy)
    back, n = _inverse_running(strategy.size), strategy.size
    own = np.concatenate([[0.0], np.cumsum(back**2)])
    # R_i = Σ_{j<i} back[i−1−j]·z_j, so Cov(R_i, R_n) is a product of two stretches of the same numbers.
    with_all = np.array([0.0, *(float(np.dot(back[:i], back[n - i : n])) for i in range(1, n + 1))])
    return Spread(own, with_all)


def _tree_spread(tree: Tree) -> Spread:
    """Nodes of the top level are independent: one of them is worked out, and the others are like it."""
    branch, leaves = tree.branch, tree.branch ** (tree.levels - 1)
    widths = [leaves // branch**i for i in range(tree.levels)]
    unit = np.eye(sum(widths))
    ends = np.cumsum([0, *widths])
    levels = [unit[:, a:b] for a, b in pairwise(ends)]
    inside = _running(_consistent(levels, branch))  # each noise → running sums inside one top node
    covariance = inside.T @ inside
    place = np.arange(tree.size + 1)
    full, part = place // leaves, place % leaves
    last, rest = divmod(tree.size, leaves)
    whole = covariance[-1, -1]
    own = full * whole + covariance[part, part]
    with_all = full * whole + np.where(full < last, covariance[part, -1], covariance[part, rest])
    return Spread(own, with_all)


def cheapest(size: int, runs: list[tuple[int, int]]) -> Flat | Tree:
    """Flat or a tree: whichever has the smaller largest error over these sums at the same cost (Laplace noise)."""

    def error(s: Flat | Tree) -> float:
        return s.column_l1**2 * max(s.variance(*run) for run in runs)

    choices: list[Flat | Tree] = [Flat(size)]
    for branch in (2, 3, 4, 8, 16, 32):
        levels = 1
        while branch**levels < size:
            levels += 1
        if levels > 1:
            choices.append(Tree(size, branch, levels))
    return min(choices, key=error)
