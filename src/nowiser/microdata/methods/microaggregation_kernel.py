"""The compiled inside of MDAV: again and again the record farthest from a point, and its nearest records.

Records lie in blocks of neighbours, each with the box that holds it. A block whose box is nearer than the farthest
record found (or farther than the k nearest) need not be looked at. Distances to a box are computed as those to records
are, and rounding keeps the order of two numbers: what is skipped could not have won, so the outcome is that of looking
at all of them. Compiled with numba (the extra `rows`).
"""

# ruff: noqa: PLR0917  (numba passes arguments by position)

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def _reach(low: Any, high: Any, block: int, to: Any, outer: bool) -> float:
    """The squared distance of a point to the nearest corner or side of a box, or to its farthest corner."""
    d = 0.0
    for j in range(len(to)):
        down, up = low[block, j] - to[j], to[j] - high[block, j]
        step = max(-down, -up) if outer else max(down, up, 0.0)
        d += step * step
    return d


@njit(cache=True, nogil=True)
def _farthest(points: Any, row: Any, start: Any, held: Any, low: Any, high: Any, to: Any, bound: Any) -> int:
    """The place of the record farthest from a point; among equals the first in the table."""
    first = -1
    for b in range(len(start)):
        bound[b] = _reach(low, high, b, to, True) if held[b] else -1.0
        if first < 0 or bound[b] > bound[first]:
            first = b
    best, at = -1.0, -1
    for n in range(-1, len(start)):
        b = first if n < 0 else n
        if bound[b] < best or (n == first) or not held[b]:
            continue
        for i in range(start[b], start[b] + held[b]):
            d = 0.0
            for j in range(len(to)):
                step = points[i, j] - to[j]
                d += step * step
            if d > best or (d == best and row[i] < row[at]):
                best, at = d, i
    return at


@njit(cache=True, nogil=True)
def _nearest(
    points: Any, row: Any, start: Any, held: Any, low: Any, high: Any, to: Any, bound: Any, k: int, at: Any, far: Any
) -> None:
    """Into `at` the places of the k records nearest to a point, in order; among equals the first in the table."""
    first, found = -1, 0
    for b in range(len(start)):
        bound[b] = _reach(low, high, b, to, False) if held[b] else np.inf
        if first < 0 or bound[b] < bound[first]:
            first = b
    for n in range(-1, len(start)):
        b = first if n < 0 else n
        if (found == k and bound[b] > far[k - 1]) or n == first or not held[b]:
            continue
        for i in range(start[b], start[b] + held[b]):
            d = 0.0
            for j in range(len(to)):
                step = points[i, j] - to[j]
                d += step * step
            if found == k and (d > far[k - 1] or (d == far[k - 1] and row[i] > row[at[k - 1]])):
                continue
            place = found if found < k else k - 1
            while place > 0 and (far[place - 1] > d or (far[place - 1] == d and row[at[place - 1]] > row[i])):
                far[place], at[place] = far[place - 1], at[place - 1]
                place -= 1
            far[place], at[place] = d, i
            found = min(found + 1, k)


@njit(cache=True, nogil=True)
def _take(points: Any, row: Any, start: Any, held: Any, block: Any, chosen: Any, member: Any, group: int) -> None:
    """Give these records (rows of the table) a group, and swap each behind those its block still holds."""
    for n in range(len(chosen)):
        r = chosen[n]
        b = block[r]
        i = start[b]
        while row[i] != r:
            i += 1
        held[b] -= 1
        last = start[b] + held[b]
        member[r] = group
        for j in range(points.shape[1]):
            points[i, j], points[last, j] = points[last, j], points[i, j]
        row[i], row[last] = row[last], row[i]


@njit(cache=True, nogil=True)
def pairs(
    points: Any,
    row: Any,
    start: Any,
    held: Any,
    low: Any,
    high: Any,
    block: Any,
    k: int,
    member: Any,
    group: int,
    rounds: int,
) -> Any:
    """Two groups at a time while 3k records are left, at most so many rounds: (records left, groups made)."""
    width = points.shape[1]
    at, far = np.empty(k, np.int64), np.empty(k, np.float64)
    bound, total, centre = np.empty(len(start)), np.zeros(width), np.empty(width)
    left = held.sum()
    for b in range(len(start)):
        for i in range(start[b], start[b] + held[b]):
            for j in range(width):
                total[j] += points[i, j]
    for _ in range(rounds):
        if left < 3 * k:
            break
        centre[:] = points[_farthest(points, row, start, held, low, high, total / left, bound)]
        for _ in range(2):
            _nearest(points, row, start, held, low, high, centre, bound, k, at, far)
            for n in range(k):
                for j in range(width):
                    total[j] -= points[at[n], j]
            _take(points, row, start, held, block, row[at], member, group)
            group, left = group + 1, left - k
            centre[:] = points[_farthest(points, row, start, held, low, high, centre, bound)]
    return left, group
