"""Degrees so that everybody has the degree of k - 1 others, at the smallest total change: an exact dynamic programme.

Liu and Terzi, "Towards identity anonymization on graphs", 2008, for raising degrees; here degrees may fall too, and the
best degree of a group is then its median. Sorted by degree, groups are runs of k to 2k - 1 people: a longer run splits
into two at no cost. Runs of one degree are shortened to 5k beforehand, which changes no best cost: no group reaches
further than 2k - 1 into them, and what lies between is groups of its own.
"""

import numpy as np

from nowiser.graphs.graph import Ints

KEPT = 5


def anonymous(degrees: Ints, k: int, *, only_more: bool = False) -> Ints:
    """For everybody the degree to have: each occurs k times, their sum is even, and no other choice changes less
    (but for one group, raised by one where the sum would be odd).
    """
    order = np.argsort(-degrees, kind="stable")
    sorted_ = degrees[order]
    kept = _shortened(sorted_, k)
    ends = _groups(sorted_[kept], k, only_more=only_more)
    target = sorted_.copy()
    short = np.empty(len(kept), np.int64)
    for start, end in zip([0, *ends[:-1]], ends, strict=True):
        short[start:end] = sorted_[kept][start] if only_more else sorted_[kept][(start + end - 1) // 2]
    target[kept] = short
    target = _even(target, len(degrees))
    out = np.empty_like(target)
    out[order] = target
    return out


def _shortened(sorted_: Ints, k: int) -> Ints:
    """The places that are kept of long runs of one degree: their first and last ones."""
    starts = np.flatnonzero(np.r_[True, sorted_[1:] != sorted_[:-1]])
    lengths = np.diff(np.r_[starts, len(sorted_)])
    kept = np.ones(len(sorted_), bool)
    for start, length in zip(starts[lengths > KEPT * k], lengths[lengths > KEPT * k], strict=True):
        left = (KEPT * k) // 2
        kept[start + left : start + length - (KEPT * k - left)] = False
    return np.flatnonzero(kept)


def _groups(d: Ints, k: int, *, only_more: bool) -> list[int]:
    """The ends of the groups of the cheapest division of a falling sequence."""
    n = len(d)
    before = np.r_[0, np.cumsum(d)]
    cost = np.full(n + 1, np.iinfo(np.int64).max // 4)
    cost[0] = 0
    since = np.zeros(n + 1, np.int64)
    for end in range(k, n + 1):
        start = np.arange(max(0, end - 2 * k + 1), end - k + 1)
        if only_more:
            moved = d[start] * (end - start) - (before[end] - before[start])
        else:
            middle = (start + end - 1) // 2
            high = before[middle] - before[start] - d[middle] * (middle - start)
            low = d[middle] * (end - middle) - (before[end] - before[middle])
            moved = high + low
        total = cost[start] + moved
        best = int(np.argmin(total))
        cost[end], since[end] = total[best], start[best]
    ends, end = [], n
    while end:
        ends.append(end)
        end = int(since[end])
    return ends[::-1]


def _even(target: Ints, people: int) -> Ints:
    """Links have two ends: where the sum is odd, everybody of one odd degree goes to the nearest degree that suits."""
    if target.sum() % 2 == 0:
        return target
    values, counts = np.unique(target, return_counts=True)
    odd = (counts % 2 == 1) & (values < people - 1)  # moving them by one makes the sum even
    if not odd.any():
        odd = (counts % 2 == 1) & (values > 0)
        value = values[odd][np.argmin(counts[odd])]
        return np.where(target == value, value - 1, target)
    value = values[odd][np.argmin(counts[odd])]
    return np.where(target == value, value + 1, target)
