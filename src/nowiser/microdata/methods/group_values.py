"""What the members of a group of similar records get: its mean, median, most frequent value, or range."""

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from nowiser.microdata.hierarchies.numbers import plain
from nowiser.microdata.table.column import Column, Floats, Ints


def means(data: Floats, member: Ints) -> Floats:
    size = np.bincount(member)
    sums = [np.bincount(member, weights=data[:, j]) for j in range(data.shape[1])]
    return np.asarray(np.stack(sums, axis=1) / size[:, None], dtype=np.float64)


def _each(data: Floats, member: Ints, of: Callable[[Floats], Floats]) -> Floats:
    """One row per group: a function of its members' rows."""
    order = np.argsort(member, kind="stable")
    parts = np.split(data[order], np.cumsum(np.bincount(member))[:-1])
    return np.asarray([of(part) for part in parts], dtype=np.float64)


def medians(data: Floats, member: Ints) -> Floats:
    """The middle value of each column; of an even number of members the lower one, so that it is somebody's."""
    return _each(data, member, lambda part: np.sort(part, axis=0)[(len(part) - 1) // 2])


def modes(data: Floats, member: Ints) -> Floats:
    """The most frequent value of each column, the smallest of several."""

    def mode(part: Floats) -> Floats:
        counted = (np.unique(part[:, j], return_counts=True) for j in range(part.shape[1]))
        return np.array([values[counts.argmax()] for values, counts in counted])

    return _each(data, member, mode)


def ranges(column: Column, numbers: Floats, member: Ints) -> Column:
    """Every row the range of its group, as text."""
    ends = _each(numbers[:, None], member, lambda part: np.array([part.min(), part.max()]))
    labels = [plain(low) if low == high else f"[{plain(low)}, {plain(high)}]" for low, high in ends]
    return Column.of(column.name, pa.array(labels, pa.string()).take(pa.array(member)))


CENTRES = {"mean": means, "median": medians, "mode": modes}
