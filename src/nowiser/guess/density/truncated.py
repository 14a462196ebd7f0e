"""What is left of a distribution in exponential pieces between two ends."""

import math
from dataclasses import replace

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.density.chords import RAREST, WORST, Chords, heaped, people
from nowiser.guess.density.line import EPS
from nowiser.guess.ranges import distinct
from nowiser.model.prior import Prior
from nowiser.model.priors.base import Floats


def cut_off(whole: Chords, low: float, high: float, prior: Prior) -> Chords:
    """What lies between low and high."""
    low, high = max(low, whole.ends[0]), min(high, whole.ends[1])
    total = float(whole.exact(np.array([low]), np.array([high]))[0]) if low <= high else 0.0
    first, last = max(low, whole.points[0]), min(high, whole.points[-1])
    if not total > (RAREST if first <= last else math.inf) and not _agreed(whole, first, last, total):
        raise Misconfigured(f"nothing of {prior!r} lies between {low:g} and {high:g}")
    if first == last:  # one heap is left
        return heaped(np.array([first]), np.ones(1))
    points = distinct(np.concatenate([whole.points[(whole.points > first) & (whole.points < last)], [first, last]]))
    cell = np.clip(np.searchsorted(whole.points, points[:-1], "right") - 1, 0, whole.points.size - 2)
    start, width, (one, two) = whole.points[cell], np.diff(whole.points)[cell], whole.logs[:, cell]
    with np.errstate(invalid="ignore"):
        logs = [
            np.where(one > -np.inf, one + (two - one) * ((x - start) / width), one) for x in (points[:-1], points[1:])
        ]
    heaps = whole.heaps
    if heaps is not None:
        at = np.clip(np.searchsorted(whole.points, points), 0, whole.points.size - 1)
        heaps = np.where(whole.points[at] == points, heaps[at], 0.0) / total
    kept = low <= whole.points[0], high >= whole.points[-1]

    def exact(a: Floats, b: Floats) -> Floats:
        """Nothing where both are on one side: not even what is heaped at the end that they are clipped to."""
        found = whole.exact(np.clip(a, low, high), np.clip(b, low, high)) / total
        return np.where((b < low) | (a > high), 0.0, found)

    made = Chords(
        points,
        np.array(logs) - math.log(total),
        whole.off + 4 * EPS,
        (low, high),
        (whole.beyond[0] / total if kept[0] else 0.0, whole.beyond[1] / total if kept[1] else 0.0),
        (whole.rates[0] if kept[0] else 0.0, whole.rates[1] if kept[1] else 0.0),
        (max(low, whole.victims[0]), min(high, whole.victims[1])),
        whole.concave,
        exact,
        heaps,
        (whole.edges[0] / total, whole.edges[1] / total),
        tuple((max(a, low), min(b, high), mass / total) for a, b, mass in whole.loose if a < high and b > low),
    )
    return made if made.victims[0] <= made.victims[1] else replace(made, victims=people(made))


def _agreed(whole: Chords, first: float, last: float, total: float) -> bool:
    """Whether so little is told alike by the distribution function and by the pieces: then its digits are right."""
    from nowiser.guess.density.chord_line import ChordLine

    mass = ChordLine(whole).inside(first, last) if first < last and total > 0 else 0.0
    return mass > 0 and abs(math.log(total / mass)) < whole.off + WORST
