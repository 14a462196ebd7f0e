"""The compiled inside of Mondrian: cut the rows in two, again and again, while both halves keep k rows.

For every group all feasible cuts of all attributes are weighed by how much of the penalty they remove: a
group of n rows pays n·P for an attribute, P being the share of the domain its values span (0 for a single
value). Compiled with numba (the extra `rows`); the machine code is kept beside the package after the first use.
"""

# ruff: noqa: PLR0917  (numba passes arguments by position)

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _penalty(low: int, high: int, distinct: int, ordered: bool, position: Any, span: float) -> float:
    """Share of the domain: the width of the range for numbers, the number of values for categories."""
    if distinct <= 1:
        return 0.0
    if ordered:
        return (position[high] - position[low]) / span if span > 0.0 else 0.0
    return distinct / span


@njit(cache=True, nogil=True)
def _best_cut(counts: Any, size: int, n: int, k: int, ordered: bool, position: Any, span: float) -> Any:
    """The feasible cut that removes most penalty: (removed, last code on the left, rows on the left).

    Ties go to the cut nearest the median. Code −1: no cut keeps k rows on both sides.
    """
    first, last, distinct = -1, -1, 0
    for c in range(size):
        if counts[c] > 0:
            if first < 0:
                first = c
            last = c
            distinct += 1
    if distinct < 2:
        return -1.0, -1, 0
    whole = n * _penalty(first, last, distinct, ordered, position, span)
    best, at, rows_left, off = -1.0, -1, 0, n
    left, seen, before = 0, 0, first
    for c in range(first, last):
        if counts[c] == 0:
            continue
        left += counts[c]
        seen += 1
        before = c
        if left < k:
            continue
        if n - left < k:
            break
        after = c + 1
        while counts[after] == 0:
            after += 1
        removed = (
            whole
            - left * _penalty(first, before, seen, ordered, position, span)
            - (n - left) * _penalty(after, last, distinct - seen, ordered, position, span)
        )
        distance = abs(2 * left - n)
        if removed > best + 1e-12 or (removed > best - 1e-12 and distance < off):
            best, at, rows_left, off = removed, c, left, distance
    return best, at, rows_left


@njit(cache=True, nogil=True)
def _cut_of(data: Any, j: int, a: int, b: int, room: Any, k: int, ordered: bool, position: Any, span: float) -> Any:
    """The best cut of attribute j for the rows a … b − 1; room[0] comes and goes all zero."""
    m, size = b - a, len(position)
    counts = room[0]
    if m > 64 or size <= 4 * m:
        for i in range(a, b):
            counts[data[i, j]] += 1
        removed, cut, left = _best_cut(counts, size, m, k, ordered, position, span)
        for c in range(size):
            counts[c] = 0
        return removed, cut, left
    own, d = room[1], 0  # few rows, many values: the values that are there, in order, with their counts in room[2]
    for i in range(a, b):
        value, at = data[i, j], d
        while at > 0 and own[at - 1] > value:
            at -= 1
        if at > 0 and own[at - 1] == value:
            room[2][at - 1] += 1
            continue
        for other in range(d, at, -1):
            own[other] = own[other - 1]
            room[2][other] = room[2][other - 1]
        own[at] = value
        room[2][at] = 1
        d += 1
    place = np.empty(d, np.float64)
    for i in range(d):
        place[i] = position[own[i]]
    removed, cut, left = _best_cut(room[2], d, m, k, ordered, place, span)
    return removed, (own[cut] if cut >= 0 else -1), left


@njit(cache=True, nogil=True)
def _middle(data: Any, a: int, b: int, sizes: Any, counts: Any) -> Any:
    """For halving: the attribute that spans most of its domain, its value at the middle, and how many rows lie below.

    Attribute −1: all rows are alike.
    """
    best, best_j = 0.0, -1
    for j in range(data.shape[1]):
        low, high = data[a, j], data[a, j]
        for i in range(a, b):
            low, high = min(low, data[i, j]), max(high, data[i, j])
        wide = (high - low) / max(1, sizes[j] - 1)
        if wide > best:
            best, best_j = wide, j
    if best_j < 0:
        return -1, 0, 0
    half, below, middle = (b - a) // 2, 0, 0
    for i in range(a, b):
        counts[data[i, best_j]] += 1
    while below + counts[middle] <= half:
        below += counts[middle]
        middle += 1
    for c in range(sizes[best_j]):
        counts[c] = 0
    return best_j, middle, below


@njit(cache=True, nogil=True)
def _divide(data: Any, rows: Any, a: int, b: int, j: int, cut: int, fill: int, left: int, spare: Any, ids: Any) -> None:
    """Rows below or at the cut first (of those at cut + 1 also the first `fill`), the others after them."""
    left_at, right_at = a, a + left
    for i in range(a, b):
        value = data[i, j]
        to_left = value <= cut
        if not to_left and fill > 0 and value == cut + 1:
            to_left = True
            fill -= 1
        if to_left:
            at = left_at
            left_at += 1
        else:
            at = right_at
            right_at += 1
        ids[at] = rows[i]
        for c in range(data.shape[1]):
            spare[at, c] = data[i, c]
    for i in range(a, b):
        rows[i] = ids[i]
        for c in range(data.shape[1]):
            data[i, c] = spare[i, c]


@njit(cache=True, nogil=True)
def split(data: Any, sizes: Any, ordered: Any, positions: Any, starts: Any, spans: Any, k: int, relaxed: bool) -> Any:
    """Rows in the order of boxes, and the tree: every node's parent (−1 for the root), first and last row, if a leaf.

    data: rows × attributes, places in the order of values; it is reordered, so that the rows of a box lie
    together in memory. positions[starts[j] + c] is where value c lies.
    """
    n, q = data.shape
    rows, ids, spare = np.arange(n), np.empty(n, np.int64), np.empty_like(data)
    room = np.zeros((3, max(sizes.max(), 64) + 1), np.int64)
    most = 4 * (n // max(1, k)) + 4
    parent, leaf = np.full(most, -1, np.int64), np.ones(most, np.bool_)
    first, last = np.zeros(most, np.int64), np.zeros(most, np.int64)
    last[0] = n
    made, here = 1, -1
    while here + 1 < made:
        here += 1
        a, b = first[here], last[here]
        if b - a < 2 * k:
            continue
        best, best_j, cut, left, fill = 0.0, -1, -1, 0, 0
        for j in range(q):
            position = positions[starts[j] : starts[j] + sizes[j]]
            found = _cut_of(data, j, a, b, room, k, ordered[j], position, spans[j])
            if found[1] >= 0 and found[0] > best:
                best, best_j, cut, left = found[0], j, found[1], found[2]
        if best_j < 0 and relaxed:
            best_j, middle, below = _middle(data, a, b, sizes, room[0])
            left = (b - a) // 2
            cut, fill = middle - 1, left - below
        if best_j < 0:
            continue
        _divide(data, rows, a, b, best_j, cut, fill, left, spare, ids)
        leaf[here] = False
        parent[made], first[made], last[made] = here, a, a + left
        parent[made + 1], first[made + 1], last[made + 1] = here, a + left, b
        made += 2
    return rows, parent[:made], first[:made], last[:made], leaf[:made]
