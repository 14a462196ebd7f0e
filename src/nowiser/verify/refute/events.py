"""Choosing the event: the shape of an output, perhaps with limits on one or two of its numbers."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.verify.refute.simulate import Runs
from nowiser.verify.verdict import Event

SINGLE = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99])
DOUBLE = np.array([0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9])
MOST_PAIRED = 5  # columns


@dataclass(frozen=True)
class Found:
    """score: how many standard errors the excess over the claim is."""

    event: Event
    score: float
    first: float
    second: float


def score(a: float, b: float, n: int, rise: float, loose: float = 0.0) -> float:
    """Standard errors by which p − rise·q − δ is above 0. Estimates are pulled towards each other a little."""
    p, q = (a + 1) / (n + 2), (b + 1) / (n + 2)
    return float((p - rise * q - loose) / math.sqrt((p * (1 - p) + rise * rise * q * (1 - q)) / n))


def best(first: Runs, second: Runs, rise: float, loose: float = 0.0, *, paired: bool = False) -> Found:
    """The event with most evidence that it is more than `rise` times (plus δ) as likely on the first input."""
    found = [
        Found(event, score(a, b, first.count, rise, loose), a / first.count, b / second.count)
        for event, a, b in _events(first, second, paired=paired)
    ]
    return max(found, key=lambda f: f.score)


def _events(first: Runs, second: Runs, *, paired: bool) -> Iterator[tuple[Event, int, int]]:
    for shape, rows in first.shapes.items():
        other = second.shapes.get(shape, np.zeros((0, rows.shape[1])))
        yield Event(shape), len(rows), len(other)
        places = [i for i, v in enumerate(shape) if v is None]
        both = np.concatenate([rows, other])
        cuts = np.quantile(both, SINGLE, axis=0).round(6) if places else np.zeros((0, 0))
        for column, place in enumerate(places):
            a, b = np.sort(rows[:, column]), np.sort(other[:, column])
            for cut in np.unique(cuts[:, column]):
                above = len(a) - int(np.searchsorted(a, cut)), len(b) - int(np.searchsorted(b, cut))
                below = int(np.searchsorted(a, cut, "right")), int(np.searchsorted(b, cut, "right"))
                yield Event(shape, ((place, float(cut), None),)), *above
                yield Event(shape, ((place, None, float(cut)),)), *below
        if paired and len(places) > 1:
            yield from _paired(shape, places[:MOST_PAIRED], rows, other, both)


def _paired(
    shape: tuple[Any, ...],
    places: list[int],
    rows: NDArray[np.float64],
    other: NDArray[np.float64],
    both: NDArray[np.float64],
) -> Iterator[tuple[Event, int, int]]:
    cuts = np.quantile(both, DOUBLE, axis=0).round(6)
    for i, j in combinations(range(len(places)), 2):
        for u, v in product(cuts[:, i], cuts[:, j]):
            sides = [(r[:, i] >= u, r[:, j] >= v) for r in (rows, other)]
            for up, high in product((True, False), repeat=2):
                counts = [int(np.count_nonzero((x if up else ~x) & (y if high else ~y))) for x, y in sides]
                low_i = (places[i], float(u), None) if up else (places[i], None, float(np.nextafter(u, -np.inf)))
                low_j = (places[j], float(v), None) if high else (places[j], None, float(np.nextafter(v, -np.inf)))
                yield Event(shape, (low_i, low_j)), counts[0], counts[1]


def happened(event: Event, runs: Runs) -> int:
    rows = runs.shapes.get(event.shape)
    if rows is None:
        return 0
    inside = np.ones(len(rows), dtype=bool)
    column = {place: k for k, place in enumerate(i for i, v in enumerate(event.shape) if v is None)}
    for place, low, high in event.limits:
        values = rows[:, column[place]]
        if low is not None:
            inside &= values >= low
        if high is not None:
            inside &= values <= high
    return int(np.count_nonzero(inside))
