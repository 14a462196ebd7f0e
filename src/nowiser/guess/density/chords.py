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

Uniform priors and histograms are pieces already, atoms are heaps at points; mixtures of all these are made in `blend`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nowiser.guess.density.bends import CONCAVE, Bends
from nowiser.guess.density.curves import Traced, curve_of
from nowiser.guess.density.discrete import EVERYTHING, endless
from nowiser.guess.density.line import EPS
from nowiser.guess.ranges import distinct
from nowiser.model.prior import Atoms, Frozen, Histogram, LogNormal, Mixture, Normal, Prior, Truncated, Uniform
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
MOST, WORST = 1e-5, 1e-4  # more than this beyond an outermost point, and a density this wrong, is too much
NEAR = 1e-9  # of the way from an end to the median
RETREATS = 9  # times a point is moved away from an end where ln density is infinite
COARSE = 2.0**-44  # as near to an end, relative to it, points can be told apart
FAINT = -650.0  # ln densities below this are no doubles
MADE = frozenset({"dgamma", "dweibull", "foldcauchy", "foldnorm", "pearson3", "vonmises"})  # of others: see `folded`
GRAIN = 1e-9  # what scipy's ln density may be wrong by


@dataclass(frozen=True, eq=False)
class Chords:
    """Points in order, ln density between them, how wrong it may be there, and what lies beyond them."""

    points: Floats
    logs: Floats  # two rows: ln density at the start and at the end of each cell; −∞ twice where there is nothing
    off: float
    ends: tuple[float, float]  # of the support
    beyond: tuple[float, float]  # mass below the first and above the last point, from above
    rates: tuple[float, float]  # beyond them the density falls at least so fast (0: nothing is known)
    victims: tuple[float, float]
    concave: bool
    exact: Callable[[Floats, Floats], Floats]  # the mass between two points, both included
    heaps: Floats | None = None  # the mass of each point itself, where some have any
    edges: tuple[float, float] = (0.0, 0.0)  # density of what lies beyond, where it begins, from above
    loose: tuple[tuple[float, float, float], ...] = ()  # (a, b, mass): up to so much more, somewhere between a and b

    def log(self, x: Floats) -> Floats:
        """Ln density of the pieces at x; −∞ beyond the points."""
        i = np.clip(np.searchsorted(self.points, x, "right") - 1, 0, self.points.size - 2)
        first, last = self.points[i], self.points[i + 1]
        with np.errstate(all="ignore"):
            found = self.logs[0, i] + (self.logs[1, i] - self.logs[0, i]) * ((x - first) / (last - first))
        inside = (x >= self.points[0]) & (x <= self.points[-1]) & (self.logs[0, i] > -np.inf)
        return np.where(inside, found, -np.inf)


def chords_of(
    prior: Prior,
    reach: tuple[float, float] = (math.inf, -math.inf),
    cells: int = CELLS,
    within: tuple[float, float] = EVERYTHING,
) -> Chords | None:
    """The chords of a distribution; None where too little is known about its shape.

    Points go on as far as `reach` where the support does. Of what lies not `within` a range they need not tell.
    """
    if isinstance(prior, Truncated):
        from nowiser.guess.density.truncated import cut_off

        whole = chords_of(prior.prior, reach, cells, (prior.low, prior.high))
        return None if whole is None else cut_off(whole, prior.low, prior.high, prior.prior)
    if isinstance(prior, Mixture):
        from nowiser.guess.density.blend import blended

        return blended(prior, reach, cells, within)
    if isinstance(prior, Uniform):
        return _bars(np.array([prior.low, prior.high]), np.ones(1))
    if isinstance(prior, Histogram):
        return _bars(prior.edges, prior.masses)
    if isinstance(prior, Atoms):
        return heaped(prior.values, prior.masses)
    if isinstance(prior, Frozen) and prior.discrete:
        from nowiser.guess.density.cut import cells_of

        found = cells_of(prior, within)
        return endless(heaped(found.starts, found.masses), found.tails)
    if isinstance(prior, Frozen) and prior.name in MADE:
        from nowiser.guess.density.blend import summed
        from nowiser.guess.density.folded import halves_of

        parts = halves_of(prior, reach, cells)
        return None if parts is None else parts[0][1] if len(parts) == 1 else summed(parts)
    return curved(prior, reach, cells, within) if isinstance(prior, (Frozen, Normal, LogNormal)) else None


def curved(
    prior: Frozen | Normal | LogNormal, reach: tuple[float, float], cells: int, within: tuple[float, float] = EVERYTHING
) -> Chords | None:
    """The chords of a distribution that is known by its ln density."""
    curve = curve_of(prior)
    if curve is None:
        return None
    it, shape = curve
    below, above = it.cdf, it.sf
    with np.errstate(all="ignore"):
        outermost = _outermost(it, reach)
        if outermost is None:
            return None
        for _ in range(RETREATS):
            points, logs, up, down = _refined(it.logpdf, _grid(it, *outermost, shape), shape, cells)
            if max(up, down) < WORST:
                break
            moved = _retreated(it, outermost)
            if moved == outermost:
                return None
            outermost = moved
        if not max(up, down) < WORST or points.size < 4:
            return None
        beyond = [float(below(points[0])) * (1 + GRAIN), float(above(points[-1])) * (1 + GRAIN)]
        low, high = (float(e) for e in it.support())
        steep = np.diff(logs) / np.diff(points)
        rates = [0.0, 0.0]
        for i, (end, slope) in enumerate(zip((low, high), (steep[0], -steep[-1]), strict=True)):
            concave = shape.signs[-i] == CONCAVE
            rates[i] = float(slope) if concave else shape.rates[i]
            if not math.isfinite(end) and (concave or rates[i] > 0):  # beyond, it falls at least as fast
                rest = float(np.exp(logs[-i]) / rates[i]) if rates[i] > 0 else math.inf
                beyond[i] = rest if concave else min(rest, beyond[i])
            elif isinstance(it, Traced) and not math.isfinite(end):  # scipy may have lost what is left of 1
                beyond[i] = max(beyond[i], EPS)
    cut = within[0] >= points[0], within[1] <= points[-1]  # then it does not matter what lies beyond
    if not all(gone or mass < MOST for mass, gone in zip(beyond, cut, strict=True)):
        return None
    concave = set(shape.signs) == {CONCAVE}
    made = Chords(
        points,
        np.array([logs[:-1], logs[1:]]),
        up + down + GRAIN,
        (low, high),
        (beyond[0], beyond[1]),
        (rates[0], rates[1]),
        (low, high),
        concave,
        lambda a, b: _between(below, above, a, b),
        edges=(math.exp(logs[0]), math.exp(logs[-1])),
    )
    return replace(made, victims=people(made))


def _bars(edges: Floats, masses: Floats) -> Chords:
    """A histogram: its bins are pieces."""
    with np.errstate(divide="ignore"):
        logs = np.log(masses / np.diff(edges))
    ends = float(edges[0]), float(edges[-1])

    def exact(a: Floats, b: Floats) -> Floats:
        inside = np.minimum(b[..., None], edges[1:]) - np.maximum(a[..., None], edges[:-1])
        return np.asarray(np.maximum(inside, 0.0) @ (masses / np.diff(edges)))

    return Chords(
        edges.astype(float),
        np.array([logs, logs]),
        64 * EPS,
        ends,
        (0.0, 0.0),
        (0.0, 0.0),
        ends,
        False,
        exact,
    )


def heaped(values: Floats, masses: Floats) -> Chords:
    """Single values, and nothing between them."""
    alone = values.size == 1
    beside = max(float(np.nextafter(values[-1], np.inf)), float(values[-1]) + 1e-290)
    points = np.append(values, beside) if alone else values.astype(float)
    ends = float(values[0]), float(values[-1])

    def exact(a: Floats, b: Floats) -> Floats:
        """Sums of their own: differences of long ones know nothing of what is rare."""
        first, last = np.searchsorted(values, a, "left"), np.searchsorted(values, b, "right")
        pairs = zip(first.ravel().tolist(), last.ravel().tolist(), strict=True)
        return np.array([masses[i:j].sum() for i, j in pairs], float).reshape(first.shape)

    return Chords(
        points,
        np.full((2, points.size - 1), -np.inf),
        64 * EPS,
        ends,
        (0.0, 0.0),
        (0.0, 0.0),
        ends,
        False,
        exact,
        np.append(masses, 0.0) if alone else masses.astype(float),
    )


def _between(below: Any, above: Any, a: Floats, b: Floats) -> Floats:
    """The mass between a and b, from the side on which fewer digits cancel."""
    with np.errstate(all="ignore"):
        lower, upper = below(a), below(b)
        found = np.where(lower < 0.5, upper - lower, above(a) - above(b))
        found = np.where(np.isnan(found) & (upper - lower > GRAIN), upper - lower, found)  # there it has its digits
        return np.asarray(np.clip(found, 0.0, None))


def _outermost(it: Any, reach: tuple[float, float]) -> tuple[float, float] | None:
    """The first and the last point."""
    middle, found = float(it.median()), []
    for end, quantile, side in zip(it.support(), (it.ppf, it.isf), (1, -1), strict=True):
        if not math.isfinite(end):
            near, far = (float(x) for x in quantile([HEAVY, LIGHT]))
            at = far if 1 <= (far - middle) / (near - middle) <= 10 else near
            deep = float(quantile(DEEP)) if at == far else math.nan
            at = deep if 1 <= (deep - middle) / (far - middle) <= 8 else at
        elif abs(it.logpdf(end) - it.logpdf(end + (middle - end) * NEAR)) < 1e-6:
            at = float(end)
        else:  # zero or infinite, were it not for rounding
            at = float(quantile(LEAST))
            halves = it.logpdf([at, end + (at - end) / 2])
            if halves[0] - halves[1] > FASTER:
                at = float(quantile(DEEP))
            at = at if at != end else end + (middle - end) * NEAR**1.5
            step = abs(end) * COARSE  # doubles may be too coarse for that quantile
            at = max(at, end + step) if side > 0 else min(at, end - step)
        further = reach[0 if side > 0 else 1]
        if math.isfinite(further) and side * (at - further) > 0 and math.isfinite(at):
            at = _as_far(it, at, further)
        found.append(at)
    return (found[0], found[1]) if all(map(math.isfinite, found)) and found[0] < found[1] else None


def _retreated(it: Any, outermost: tuple[float, float]) -> tuple[float, float]:
    """Farther from a finite end at which ln density is infinite: right beside it scipy's loses its digits."""
    (low, high), (first, last) = it.support(), outermost
    found = []
    for end, at in ((low, first), (high, last)):
        moved = at
        if math.isfinite(end) and at != end:
            step = math.copysign(max(1e-6 * abs(at - end), 4 * math.ulp(end)), at - end)
            beside = it.logpdf(at + step * np.arange(65))
            if not np.abs(np.diff(beside, 2)).max() < GRAIN / 64:
                moved = end + 8 * (at - end)
        found.append(float(moved))
    return found[0], found[1]


def _as_far(it: Any, near: float, far: float) -> float:
    """From near towards far, as long as the density is a double."""
    share = 1.0
    for _ in range(80):
        if float(it.logpdf(near + (far - near) * share)) > FAINT:
            return near + (far - near) * share
        share *= 0.75
    return near


def _grid(it: Any, first: float, last: float, shape: Bends) -> Floats:
    """Points to begin with: even around the median, ever farther apart away from it, ever closer towards an end."""
    quarter, middle, other = (float(v) for v in it.ppf([0.25, 0.5, 0.75]))
    unit = (other - quarter) / 2
    steps = np.linspace(0.0, 1.0, FIRST)[1:-1]
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


def _refined(log: Any, points: Floats, shape: Bends, cells: int) -> tuple[Floats, Floats, float, float]:
    """More points, until all cells are about equally wrong; and how wrong, upwards and downwards."""
    logs = log(points)
    wrong = _wrong(points, logs, shape)
    sure = np.where(np.isfinite(wrong), wrong, 0.0)
    goal = max(float(np.sqrt(sure).sum() / cells) ** 2, 1e-9)
    for _ in range(8):
        rough = ~(wrong <= 1.5 * goal)
        if not rough.any() or points.size > 4 * cells:
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


def people(of: Chords) -> tuple[float, float]:
    """Between which points victims are looked for."""
    masses = np.exp((of.logs[0] + of.logs[1]) / 2) * np.diff(of.points)
    rare = RAREST * (1 - GRAIN * 1e3)
    below, above = np.cumsum(masses) + of.beyond[0], np.cumsum(masses[::-1])[::-1] + of.beyond[1]
    first = of.points[int(np.argmax(below > rare))]
    last = of.points[masses.size - int(np.argmax(above[::-1] > rare))]
    (low, high), (left, right) = of.ends, of.beyond
    return (low if left > rare or below[0] > rare else float(first)), (
        high if right > rare or above[-1] > rare else float(last)
    )
