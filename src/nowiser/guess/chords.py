"""A distribution whose ln density is replaced by chords: exponential pieces that are right to a millionth everywhere.

Let f = ln p be concave (or convex) on a stretch, with chords of slopes s₀, s₁, … between neighbouring points. On a cell
of width w with slope s, f lies above (below) its chord and below (above) the continuations of the chords to its left
and right, so it differs from its chord by no more than the height of the triangle they form,

    w · |s₋ − s| · |s − s₊| / |s₋ − s₊|,      or  w·|s − s₊|  where there is a neighbour on one side only.

That is measured, not assumed: only the sign of f'' must be known (`bends`). So p is between e^{−down} and e^{up} times
the chords' density, *relative to itself*, in the tails as well as where people are, and with off = up + down no
posterior odds are wrong by more than a factor e^{off}. The points are spread so that all cells are about equally wrong.

Beyond the outermost points lies next to nothing (`beyond`): a mass that is counted where it does harm and left out
where it would help.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.bends import CONCAVE, Bends, bends
from nowiser.guess.line import EPS
from nowiser.guess.ranges import distinct
from nowiser.model.prior import Frozen, Truncated
from nowiser.model.priors.base import Floats

CELLS = 40 << 10
FIRST = 400  # points on each side of the median to begin with
LIGHT, HEAVY = (
    1e-40,
    1e-16,
)  # mass left beyond the outermost points: where that is not much farther out, and where it is
LEAST = 1e-18  # the same at an end of the support where ln density is infinite
DEEP = 1e-250  # the same where the density falls at least exponentially, or vanishes faster than any power
FASTER = 20.0  # nats by which half the distance to an end lowers such a density there
RAREST = 1e-12  # victims rarer than this on either side are not looked for: one in a trillion people
MOST, WORST = 1e-6, 1e-4  # more than this beyond an outermost point, and a density this wrong, is too much
COARSE = 2.0**-44  # as near to an end, relative to it, points can be told apart
FAINT = -650.0  # ln densities below this are no doubles
GRAIN = 1e-9  # what scipy's ln density may be wrong by


@dataclass(frozen=True, eq=False)
class Chords:
    """Points in order, ln density there, how wrong it may be between them, and what lies beyond them."""

    points: Floats
    logs: Floats
    off: float
    ends: tuple[float, float]  # of the support
    beyond: tuple[float, float]  # mass below the first and above the last point, from above
    rates: tuple[float, float]  # beyond them the density falls at least so fast (0: nothing is known)
    victims: tuple[float, float]
    concave: bool
    exact: Callable[[Floats, Floats], Floats]  # the mass between two points


def chords_of(prior: Frozen | Truncated) -> Chords | None:
    """The chords of a distribution; None where too little is known about its shape."""
    if isinstance(prior, Truncated):
        whole = chords_of(prior.prior) if isinstance(prior.prior, Frozen) else None
        return None if whole is None else _cut_off(whole, prior)
    shape = None if prior.discrete else bends(prior)
    if shape is None:
        return None
    it = prior.scipy()
    below, above = it.cdf, it.sf
    with np.errstate(all="ignore"):
        outermost = _outermost(it)
        if outermost is None:
            return None
        points, logs, up, down = _refined(it.logpdf, _grid(it, *outermost, shape), shape)
        if not max(up, down) < WORST or points.size < 4:
            return None
        beyond = [float(below(points[0])) * (1 + GRAIN), float(above(points[-1])) * (1 + GRAIN)]
        low, high = (float(e) for e in it.support())
        steep = np.diff(logs) / np.diff(points)
        rates = [0.0, 0.0]
        for i, (end, slope) in enumerate(zip((low, high), (steep[0], -steep[-1]), strict=True)):
            concave = shape.signs[-i] == CONCAVE
            rates[i] = float(slope) if concave else shape.rates[i]
            if concave and not math.isfinite(end):  # beyond, it falls at least as fast as in the last cell
                beyond[i] = float(np.exp(logs[-i]) / slope) if slope > 0 else math.inf
    if not max(beyond) < MOST:
        return None
    concave = set(shape.signs) == {CONCAVE}
    made = Chords(
        points,
        logs,
        up + down + GRAIN,
        (low, high),
        (beyond[0], beyond[1]),
        (rates[0], rates[1]),
        (low, high),
        concave,
        lambda a, b: _between(below, above, a, b),
    )
    return replace(made, victims=_people(made))


def _between(below: Any, above: Any, a: Floats, b: Floats) -> Floats:
    """The mass between a and b, from the side on which fewer digits cancel."""
    with np.errstate(all="ignore"):
        lower = below(a)
        return np.asarray(np.clip(np.where(lower < 0.5, below(b) - lower, above(a) - above(b)), 0.0, None))


def _outermost(it: Any) -> tuple[float, float] | None:
    """The first and the last point."""
    middle, found = float(it.median()), []
    for end, quantile, side in zip(it.support(), (it.ppf, it.isf), (1, -1), strict=True):
        if not math.isfinite(end):
            near, far = (float(x) for x in quantile([HEAVY, LIGHT]))
            at = far if abs(far - middle) <= 10 * abs(near - middle) else near
            deep = float(quantile(DEEP)) if at == far else math.nan
            at = deep if abs(deep - middle) <= 8 * abs(far - middle) else at
        elif math.isfinite(it.logpdf(end)):
            at = float(end)
        else:
            at = float(quantile(LEAST))
            halves = it.logpdf([at, end + (at - end) / 2])
            if halves[0] - halves[1] > FASTER:
                at = float(quantile(DEEP))
            step = abs(end) * COARSE  # doubles may be too coarse for that quantile
            at = max(at, end + step) if side > 0 else min(at, end - step)
        found.append(at)
    return (found[0], found[1]) if all(map(math.isfinite, found)) and found[0] < found[1] else None


def _grid(it: Any, first: float, last: float, shape: Bends) -> Floats:
    """Points to begin with: even around the median, ever farther apart away from it, ever closer towards an end."""
    quarter, middle, other = (float(v) for v in it.ppf([0.25, 0.5, 0.75]))
    unit = (other - quarter) / 2
    steps = np.linspace(0.0, 1.0, FIRST)[1:]
    found = [np.array([first, middle, last, *(p for p in shape.points if first < p < last)])]
    for end, outer, side in zip(it.support(), (first, last), (-1, 1), strict=True):
        reach = side * (outer - middle)
        found.append(middle + side * unit * np.sinh(steps * math.asinh(reach / unit)))
        if math.isfinite(end):
            near = abs(outer - end) or unit * 1e-6
            found.append(end - side * near * (reach / near) ** steps)
        found += [  # and towards the bends
            p + side * unit * 1e-3 * np.sinh(steps[::4] * math.asinh(abs(outer - p) / unit * 1e3)) for p in shape.points
        ]
    every = distinct(np.concatenate(found))
    return every[(every >= first) & (every <= last)]


def _refined(log: Any, points: Floats, shape: Bends) -> tuple[Floats, Floats, float, float]:
    """More points, until all cells are about equally wrong; and how wrong, upwards and downwards."""
    logs = log(points)
    wrong = _wrong(points, logs, shape)
    sure = np.where(np.isfinite(wrong), wrong, 0.0)
    goal = max(float(np.sqrt(sure).sum() / CELLS) ** 2, 1e-9)
    for _ in range(8):
        rough = ~(wrong <= 1.5 * goal)
        if not rough.any() or points.size > 4 * CELLS:
            break
        parts = np.where(rough, np.ceil(np.sqrt(np.where(np.isfinite(wrong), wrong / goal, 16.0))), 1.0)
        parts = np.clip(parts, np.where(rough, 2, 1), 256).astype(np.intp)
        start, step = np.repeat(points[:-1], parts), np.repeat(np.diff(points) / parts, parts)
        within = np.arange(start.size) - np.repeat(np.cumsum(parts) - parts, parts)
        points = distinct(np.append(start + step * within, points[-1]))
        logs = log(points)
        wrong = _wrong(points, logs, shape)
    some = np.flatnonzero(logs > FAINT)
    if some.size:
        points, logs = points[some[0] : some[-1] + 1], logs[some[0] : some[-1] + 1]
        wrong = _wrong(points, logs, shape)
    concave = _signs(points, shape) == CONCAVE
    worst = np.where(np.isnan(wrong), np.inf, wrong)
    return points, logs, float(worst[concave].max(initial=0.0)), float(worst[~concave].max(initial=0.0))


def _signs(points: Floats, shape: Bends) -> Floats:
    """The sign of f'' in each cell."""
    return np.array(shape.signs)[np.searchsorted(np.array(shape.points), points[:-1], "right")]


def _wrong(points: Floats, logs: Floats, shape: Bends) -> Floats:
    """How far ln density can be from the chord, cell by cell; infinite where it contradicts the shape.

    Slopes are as uncertain as ln density is, over the width of their cell; beside a very narrow cell that leaves the
    other neighbour alone to tell.
    """
    width = np.diff(points)
    slope = np.diff(logs) / width
    stretch = np.searchsorted(np.array(shape.points), points[:-1], "right")
    turn = np.diff(slope) * np.array(shape.signs)[stretch[1:]]  # not negative within a stretch
    noise = GRAIN / 16 * (1 / width[1:] + 1 / width[:-1])
    turn = np.where(turn > -noise, np.maximum(turn, 0.0) + noise, np.inf)
    turn = np.where(stretch[1:] == stretch[:-1], turn, np.nan)
    left, right = np.append(np.nan, turn), np.append(turn, np.nan)
    with np.errstate(all="ignore"):
        both = left / (left + right) * right
    found = np.where(np.isnan(left), right, np.where(np.isnan(right), left, both))
    found = np.where(np.isinf(left) | np.isinf(right), np.inf, found)
    return np.where(np.isnan(found), np.inf, found) * width


def _people(of: Chords) -> tuple[float, float]:
    """Between which points victims are looked for."""
    masses = np.exp((of.logs[1:] + of.logs[:-1]) / 2) * np.diff(of.points)
    rare = RAREST * (1 - GRAIN * 1e3)
    below, above = np.cumsum(masses) + of.beyond[0], np.cumsum(masses[::-1])[::-1] + of.beyond[1]
    first = of.points[int(np.argmax(below > rare))]
    last = of.points[masses.size - int(np.argmax(above[::-1] > rare))]
    (low, high), (left, right) = of.ends, of.beyond
    return (low if left > rare or below[0] > rare else float(first)), (
        high if right > rare or above[-1] > rare else float(last)
    )


def _cut_off(whole: Chords, prior: Truncated) -> Chords:
    low, high = max(prior.low, whole.ends[0]), min(prior.high, whole.ends[1])
    total = float(whole.exact(np.array([low]), np.array([high]))[0]) if low < high else 0.0
    if not total > 1e-12:
        raise Misconfigured(f"nothing of {prior.prior!r} lies between {prior.low:g} and {prior.high:g}")
    first, last = max(low, whole.points[0]), min(high, whole.points[-1])
    inner = whole.points[(whole.points > first) & (whole.points < last)]
    points = np.concatenate([[first], inner, [last]])
    kept = low <= whole.points[0], high >= whole.points[-1]
    exact = whole.exact
    return Chords(
        points,
        np.interp(points, whole.points, whole.logs) - math.log(total),
        whole.off + 4 * EPS,
        (low, high),
        (whole.beyond[0] / total if kept[0] else 0.0, whole.beyond[1] / total if kept[1] else 0.0),
        (whole.rates[0] if kept[0] else 0.0, whole.rates[1] if kept[1] else 0.0),
        (max(low, whole.victims[0]), min(high, whole.victims[1])),
        whole.concave,
        lambda a, b: exact(np.clip(a, low, high), np.clip(b, low, high)) / total,
    )
