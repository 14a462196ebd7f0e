"""The chords of a mixture: those of its parts, added up.

Let each part's density be right up to a factor e^{off} (see `chords`). Then so is their weighted sum, which between
neighbours among all the parts' points is a sum of exponentials. The logarithm h of such a sum is convex: it lies below
its chord (slope s, width w) and above its tangents at the ends (slopes s₁ ≤ s ≤ s₂), so it differs from the chord by no
more than the height of the triangle they form,

    w · (s − s₁)·(s₂ − s)/(s₂ − s₁).

That is measured, and cells are divided until it is small. So a mixture is once more a row of exponential pieces.

A part's density may not be known on all of them: next to an end of its support at which ln density is infinite, and
where it is too small for doubles. Its mass there is next to nothing (`Chords.beyond`). Of the mixture it is `loose`:
somewhere between two points, counted where it does harm and left out where it would help.
"""

import math

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.density.chords import CELLS, FAINT, GRAIN, Chords, chords_of
from nowiser.guess.density.discrete import EVERYTHING, nothing_of
from nowiser.guess.number.victims import Flags
from nowiser.guess.ranges import distinct
from nowiser.model.prior import Mixture
from nowiser.model.priors.base import Floats

FEWEST = 6 << 10  # cells of each part, where there are many parts
PLACES = 200  # at which parts are compared
CLOSE = 0.01  # of its neighbours: a cell too narrow to tell a slope
NEGLIGIBLE = 56.0  # nats
FINE = 1e-7  # as sharp as sums of exponentials are followed, unless the parts themselves are sharper


def blended(
    prior: Mixture, reach: tuple[float, float], cells: int = CELLS, within: tuple[float, float] = EVERYTHING
) -> Chords | None:
    """The chords of a mixture; None where those of a part are not known."""
    cells = min(cells, max(2 * CELLS // len(prior.parts), FEWEST))
    every = [(w, p) for w, p in prior.parts if not nothing_of(p, within)]
    if not every:
        raise Misconfigured(f"nothing of {prior!r} lies between {within[0]:g} and {within[1]:g}")
    parts = [(w, chords_of(p, reach, cells, within)) for w, p in every]
    known = [(w, c) for w, c in parts if c is not None]
    if len(known) < len(parts):
        return None
    further = []
    for i, (_, part) in enumerate(every):
        needed = _needed(i, known, _range([c for _, c in known], reach))
        if needed is not None:
            needed = min(needed[0], reach[0]), max(needed[1], reach[1])
        longer = known[i][1] if needed is None else chords_of(part, needed, cells, within)
        if longer is None:
            return None
        further.append((known[i][0], longer))
    return summed(further)


def _needed(i: int, parts: list[tuple[float, Chords]], reach: tuple[float, float]) -> tuple[float, float] | None:
    """How far the points of a part must go on: until what it has left is far less than others have anywhere beyond.

    None where they do so already. It only decides how sharp the result is.
    """
    weight, own = parts[i]
    found, more = [math.inf, -math.inf], False
    for side, point in enumerate((float(own.points[0]), float(own.points[-1]))):
        there = reach[1] <= point if side else reach[0] >= point
        if there or not own.beyond[side] or own.logs[side, -side] == -np.inf:
            continue
        away = (reach[side] - point) * np.append(0.0, np.logspace(-18, 0, PLACES))
        every = [math.log(w) + c.log(point + away) for j, (w, c) in enumerate(parts) if j != i]
        others = np.logaddexp.reduce([np.full(away.size, -np.inf), *every])
        least = np.minimum.accumulate(np.maximum(others, FAINT)[::-1])[::-1]
        # from its last point on it falls at least as the power of x that it falls as there
        middle = abs(point - float(np.median(own.points)))
        power = abs(float(own.logs[1, -side] - own.logs[0, -side])) / float(np.diff(own.points)[-side])
        most = math.log(weight) + own.logs[side, -side] - (power * middle - 1) * np.log1p(np.abs(away) / middle)
        short = np.flatnonzero(most > least - NEGLIGIBLE)
        if short.size:
            more = True
            found[side] = float(point + away[min(int(short[-1]) + 1, PLACES)])
    return (found[0], found[1]) if more else None


def _range(parts: list[Chords], reach: tuple[float, float]) -> tuple[float, float]:
    """From the first to the last point of all."""
    return min(reach[0], *(float(c.points[0]) for c in parts)), max(reach[1], *(float(c.points[-1]) for c in parts))


def summed(parts: list[tuple[float, Chords]]) -> Chords:
    """The weighted sum of parts that go on as far as they are needed."""
    points = distinct(np.concatenate([c.points for _, c in parts]))
    offs = sorted([0.0, *(c.off for _, c in parts)])
    goal = max(offs[-1] / 8, FINE)
    logs, wrong = _added(points, parts)
    for _ in range(6):
        rough = wrong > goal
        if not rough.any() or points.size > 16 * CELLS:
            break
        many = np.where(rough, np.clip(np.ceil(np.sqrt(wrong / goal)), 2, 64), 1).astype(np.intp)
        start, step = np.repeat(points[:-1], many), np.repeat(np.diff(points) / many, many)
        within = np.arange(start.size) - np.repeat(np.cumsum(many) - many, many)
        points = distinct(np.concatenate([start + step * within, points]))
        logs, wrong = _added(points, parts)
    heaps = np.zeros(points.size)
    for weight, chords in parts:
        if chords.heaps is not None:
            some = np.flatnonzero(chords.heaps)
            heaps[np.searchsorted(points, chords.points[some])] += weight * chords.heaps[some]
    # what is no jump but rounding, or a part that has faded, is none
    with np.errstate(invalid="ignore"):
        near = np.abs(logs[0, 1:] - logs[1, :-1]) <= GRAIN
    logs[0, 1:] = np.where(near, logs[1, :-1], logs[0, 1:])
    keep, worst = _thinned(points, logs, wrong, np.concatenate([[True], ~near, [True]]) | (heaps > 0))
    points, heaps, logs = points[keep], heaps[keep], np.array([logs[0][keep[:-1]], logs[1][keep[1:]]])
    beyond, rates, edges = _beyond(parts, points)
    return Chords(
        points,
        logs,
        offs[-1] + offs[-2] + worst + GRAIN,  # two parts may be wrong in opposite directions
        (min(c.ends[0] for _, c in parts), max(c.ends[1] for _, c in parts)),
        beyond,
        rates,
        (min(c.victims[0] for _, c in parts), max(c.victims[1] for _, c in parts)),
        False,
        lambda a, b: np.asarray(sum(weight * c.exact(a, b) for weight, c in parts)),
        heaps if heaps.any() else None,
        edges,
        tuple(loose for weight, c in parts for loose in _loose(weight, c, points)),
    )


def _thinned(points: Floats, logs: Floats, wrong: Floats, needed: Flags) -> tuple[Flags, float]:
    """The points without those right beside another, where the slope is all rounding; and how wrong chords are then.

    Where one is left out, the sum is away from the new chord by at most as much as it is there, and by what it is away
    from the old ones.
    """
    gap = np.diff(points)
    small = np.zeros(gap.size, bool)
    small[1:-1] = gap[1:-1] < CLOSE * np.minimum(gap[:-2], gap[2:])
    gone = np.zeros(points.size, bool)
    gone[1:] = small & ~needed[1:]
    gone[:-1] |= small & ~needed[:-1] & ~gone[1:]
    out = np.flatnonzero(gone)  # none beside another: small gaps have larger neighbours
    width = points[out + 1] - points[out - 1]
    share = (points[out] - points[out - 1]) / width
    with np.errstate(invalid="ignore"):
        away = np.abs(logs[0, out] - (1 - share) * logs[0, out - 1] - share * logs[1, out])
    whole = np.concatenate([[0.0], wrong, np.nan_to_num(away) + np.maximum(wrong[out - 1], wrong[out])])
    return ~gone, float(whole.max())


def _loose(weight: float, chords: Chords, points: Floats) -> list[tuple[float, float, float]]:
    """What a part has outside its own points but between those of all."""
    low, high = max(chords.ends[0], float(points[0])), min(chords.ends[1], float(points[-1]))
    sides = zip((low, float(chords.points[-1])), (float(chords.points[0]), high), chords.beyond, strict=True)
    every = [*chords.loose, *(side for side in sides if side[2] > 0 and side[0] < side[1])]
    return [(a, b, weight * mass) for a, b, mass in every]


def _added(points: Floats, parts: list[tuple[float, Chords]]) -> tuple[Floats, Floats]:
    """Ln of the sum at both ends of each cell, and how far it may be from the chord between."""
    width = np.diff(points)
    shares, slopes = [], []
    for weight, chords in parts:
        i = np.clip(np.searchsorted(chords.points, points[:-1], "right") - 1, 0, chords.points.size - 2)
        start, (one, two) = chords.points[i], chords.logs[:, i]
        inside = (points[:-1] >= chords.points[0]) & (points[1:] <= chords.points[-1]) & (one > -np.inf)
        with np.errstate(invalid="ignore"):
            slope = np.where(inside, (two - one) / np.diff(chords.points)[i], 0.0)
        logs = [math.log(weight) + one + slope * (at - start) for at in (points[:-1], points[1:])]
        shares += [np.where(inside, log, -np.inf) for log in logs]
        slopes.append(slope)
    ends = np.array([np.logaddexp.reduce(shares[0::2]), np.logaddexp.reduce(shares[1::2])])
    with np.errstate(invalid="ignore", divide="ignore"):
        some = ends[0] > -np.inf
        leans = [sum(np.exp(h - ends[i]) * s for h, s in zip(shares[i::2], slopes, strict=True)) for i in (0, 1)]
        chord = (ends[1] - ends[0]) / width
        below, above = np.maximum(chord - leans[0], 0.0), np.maximum(leans[1] - chord, 0.0)
        wrong = np.where(some & (below + above > 0), width * below * above / (below + above), 0.0)
    return ends, np.nan_to_num(wrong, nan=0.0)


def _beyond(parts: list[tuple[float, Chords]], points: Floats) -> list[tuple[float, float]]:
    """The mass beyond the outermost points, from above; the rate at which it falls at least; its density at first.

    The density of a part whose own points end before has fallen at its own rate from there on.
    """
    found = []
    for side, outermost in enumerate((float(points[0]), float(points[-1]))):
        mass, rate, edge = 0.0, math.inf, 0.0
        for weight, chords in parts:
            if chords.beyond[side] > 0 and (chords.ends[1] > outermost if side else chords.ends[0] < outermost):
                mass += weight * chords.beyond[side]
                rate = min(rate, chords.rates[side])
                gone = chords.rates[side] * abs(float(chords.points[-side]) - outermost)
                edge += weight * chords.edges[side] * math.exp(-gone)
        found.append((mass, rate if mass else 0.0, edge))
    return [(one, two) for one, two in zip(*found, strict=True)]
