"""The k nearest points of one cloud for every point of another, exactly.

In few dimensions a k-d tree is best. In many it degenerates to looking at everything, and then looking at
everything in the order the processor likes is faster: distances of one point to a block of others, coordinate
by coordinate (so that the inner loop is one vector instruction), and a rare visit to the list of the best.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from nowiser.microdata.risk.best_guess import Floats, Ints

BLOCK = 1024  # others at a time: their coordinates and scores stay in the first-level cache
FEW_DIMENSIONS = 4
FEW_POINTS = 10_000
MANY_DIMENSIONS = 16  # in so many a tree looks at everything


def nearest(known: Floats, seen: Floats, k: int) -> tuple[Ints, Floats]:
    """For each row of `known` the k nearest rows of `seen` and their squared distances, nearest first."""
    compiled = _compiled() if known.shape[1] > FEW_DIMENSIONS and len(seen) > FEW_POINTS else None
    if compiled is None and known.shape[1] > MANY_DIMENSIONS:
        return _by_product(known, seen, k)
    if compiled is None:
        from scipy.spatial import cKDTree

        distance, index = cKDTree(seen).query(known, k=k, workers=-1)
        return index.reshape(len(known), k).astype(np.int64), distance.reshape(len(known), k) ** 2
    spare = min(len(seen), k + 2)  # found in single precision, so two more than needed, then measured exactly
    centre = seen.mean(axis=0)
    points, (blocks, half) = _padded(known - centre), _blocks(seen - centre)
    parts = np.array_split(points, 4 * (os.cpu_count() or 1))
    with ThreadPoolExecutor() as pool:  # the machine code lets other threads run
        rough = np.vstack(list(pool.map(lambda part: compiled(part, blocks, half, spare), parts)))
    exact = np.empty((len(known), spare))
    for start in range(0, len(known), 1_000):
        part = slice(start, start + 1_000)
        exact[part] = ((known[part, None, :] - seen[rough[part]]) ** 2).sum(axis=2)
    order = np.argsort(exact, axis=1)[:, :k]
    return np.take_along_axis(rough, order, axis=1), np.take_along_axis(exact, order, axis=1)


def _by_product(known: Floats, seen: Floats, k: int) -> tuple[Ints, Floats]:
    """All distances by one matrix product, a block of rows at a time; the best are measured exactly."""
    centre = seen.mean(axis=0)
    points, others = known - centre, seen - centre
    half = (others * others).sum(axis=1) / 2
    spare = min(len(seen), k + 2)
    index, squared = np.empty((len(known), k), np.int64), np.empty((len(known), k))
    for start in range(0, len(known), 200):
        part = slice(start, start + 200)
        score = half - points[part] @ others.T
        rough = np.argpartition(score, spare - 1, axis=1)[:, :spare]
        exact = ((points[part, None, :] - others[rough]) ** 2).sum(axis=2)
        order = np.argsort(exact, axis=1, kind="stable")[:, :k]
        index[part] = np.take_along_axis(rough, order, axis=1)
        squared[part] = np.take_along_axis(exact, order, axis=1)
    return index, squared


def _padded(points: Floats) -> npt.NDArray[np.float32]:
    """Single precision, with zero coordinates added up to a multiple of four."""
    out = np.zeros((len(points), -(-points.shape[1] // 4) * 4), dtype=np.float32)
    out[:, : points.shape[1]] = points
    return out


def _blocks(points: Floats) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Blocks × coordinates × points, and half the squared lengths (infinite for the padding)."""
    padded = _padded(points)
    count = -(-len(points) // BLOCK)
    full = np.zeros((count * BLOCK, padded.shape[1]), dtype=np.float32)
    full[: len(points)] = padded
    half = np.full(count * BLOCK, np.inf, dtype=np.float32)
    half[: len(points)] = (padded * padded).sum(axis=1) / 2
    return np.ascontiguousarray(full.reshape(count, BLOCK, -1).transpose(0, 2, 1)), half.reshape(count, BLOCK)


@cache
def _compiled() -> Any:
    """The block-wise search as machine code; None where numba is not installed (the extra `rows`)."""
    try:
        import numba
    except ImportError:
        return None
    return numba.njit(fastmath=True, nogil=True, cache=True)(_search)


def _search(known: Any, seen: Any, half: Any, k: int) -> Any:
    """Per point the k smallest |b|²/2 − a·b, which order others b as their distances to a do."""
    out = np.empty((known.shape[0], k), dtype=np.int64)
    for i in range(known.shape[0]):
        best = np.full(k, np.float32(np.inf))
        place = np.zeros(k, dtype=np.int64)
        score = np.empty(seen.shape[2], dtype=np.float32)
        for b in range(seen.shape[0]):
            score[:] = half[b]
            for d in range(0, seen.shape[1], 4):
                x0, x1, x2, x3 = known[i, d], known[i, d + 1], known[i, d + 2], known[i, d + 3]
                y0, y1, y2, y3 = seen[b, d], seen[b, d + 1], seen[b, d + 2], seen[b, d + 3]
                for j in range(score.shape[0]):
                    score[j] -= x0 * y0[j] + x1 * y1[j] + x2 * y2[j] + x3 * y3[j]
            worst = best[k - 1]
            better = 0
            for j in range(score.shape[0]):  # counting vectorises, a search with an early end does not
                better += 1 if score[j] < worst else 0
            if better == 0:
                continue
            for j in range(score.shape[0]):
                if score[j] < best[k - 1]:
                    at = k - 1
                    while at > 0 and best[at - 1] > score[j]:
                        best[at] = best[at - 1]
                        place[at] = place[at - 1]
                        at -= 1
                    best[at] = score[j]
                    place[at] = b * score.shape[0] + j
        out[i] = place
    return out
