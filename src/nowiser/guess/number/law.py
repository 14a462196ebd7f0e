"""A prior on one number taken apart: single values, and smooth densities with their distribution functions.

`pieces` cuts it for promises. The plain functions at the end are for figures that promise nothing (averages, pictures).
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.model.prior import Atoms, Frozen, Histogram, LogNormal, Mixture, Normal, Prior, Truncated, Uniform
from nowiser.model.priors.base import Floats

TAIL = 1e-16  # mass beyond what is cut, on each side of an unbounded prior
LIKELY = 1e-13  # mass beyond `support` on each side of an unbounded prior
FARTHEST = 37.0  # standard deviations: beyond, a normal prior has less mass than doubles tell
MOST = 2_000_000  # single values
NOTHING = np.zeros(0)

_ERFC = np.frompyfunc(math.erfc, 1, 1)  # scipy.special would cost the command line half of its start-up time

Function = Callable[[Floats], Floats]
Ends = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Smooth:
    """A density: smooth between its marks, known by its logarithm and its distribution function from both sides."""

    logpdf: Function
    cdf: Function
    sf: Function
    low: float  # ends of its support
    high: float
    marks: Floats  # where it may jump: finite ends of the support, edges of bins
    nodes: Floats  # where to begin to cut; the outermost are where cutting ends
    flat: bool = False  # constant between marks

    def falls(self) -> Ends:
        """Nats per unit by which the density falls at least beyond what is cut, on either side; asked far out."""
        found = []
        for end, way in ((float(self.nodes[0]), -1.0), (float(self.nodes[-1]), 1.0)):
            x = end + way * float(np.ptp(self.nodes)) * np.append(0.0, 4.0 ** np.arange(-4, 24))
            with np.errstate(all="ignore"):
                slopes = np.diff(self.logpdf(x)) / np.abs(np.diff(x))
            slopes = slopes[~np.isnan(slopes)]  # beyond all doubles
            found.append(max(0.0, -float(slopes.max(initial=-np.inf)) * (1 - 1e-9)) if slopes.size else 0.0)
        return found[0], found[1]

    def masses(self, x: Floats) -> Floats:
        """Probabilities between neighbours: below the median from below, above it from above, each asked once.

        Of a flat one there is no mark between neighbours.
        """
        x = np.clip(x, self.low, self.high)
        if self.flat:
            return np.exp(self.logpdf(x[:-1] + np.diff(x) / 2)) * np.diff(x)
        half = int(np.searchsorted(self.cdf(self.nodes), 0.5))
        n = int(np.searchsorted(x, self.nodes[half])) if half < self.nodes.size else x.size  # all below the median
        below, above = self.cdf(x[:n]), self.sf(x[n:])
        middle = [1 - below[-1] - above[0]] if 0 < n < x.size else []
        found: Floats = np.concatenate([np.diff(below), middle, -np.diff(above)])
        return np.maximum(found, 0.0)

    def until(self, x: Floats) -> Floats:
        """Probability of at most x, up to rounding."""
        start, inside = (
            float(self.cdf(np.asarray(self.low))) if math.isfinite(self.low) else 0.0,
            np.clip(x, self.low, self.high),
        )
        if start > 0.5:  # far out only the other side has digits
            return np.maximum(self.sf(np.asarray(self.low)) - self.sf(inside), 0.0)
        return np.maximum(self.cdf(inside) - start, 0.0)

    def cut(self, low: float, high: float) -> "Smooth":
        """The part between two ends (its mass is less than 1)."""
        a, b = max(low, self.low), min(high, self.high)
        ends = [e for e in (low, high) if self.low <= e <= self.high]
        marks = np.unique(np.append(self.marks[(self.marks >= a) & (self.marks <= b)], ends))
        inner = [np.linspace(a, b, 33)] if np.isfinite(b - a) and not self.flat else []
        nodes = np.unique(np.concatenate([self.nodes[(self.nodes > a) & (self.nodes < b)], marks, *inner]))
        return replace(self, low=a, high=b, marks=marks, nodes=nodes)


@dataclass(frozen=True, eq=False)
class Law:
    """Single values with their masses, and densities with their weights. Of endless values some may be missing."""

    values: Floats
    masses: Floats
    parts: tuple[tuple[float, Smooth], ...]
    lost: Ends = (0.0, 0.0)  # mass of single values that are not listed, on either side
    fall: Ends = (0.0, 0.0)  # nats by which their probability falls at least per unit (0: not known)

    @property
    def ends(self) -> Ends:
        """The smallest and the largest possible value."""
        found = [(p.low, p.high) for _, p in self.parts]
        if self.values.size:
            lost = -math.inf if self.lost[0] else math.inf, math.inf if self.lost[1] else -math.inf
            found.append((min(float(self.values[0]), lost[0]), max(float(self.values[-1]), lost[1])))
        return min(a for a, _ in found), max(b for _, b in found)


@lru_cache(maxsize=64)
def law_of(prior: Prior) -> Law:
    """The prior taken apart; Misconfigured for one that is not about a number."""
    if isinstance(prior, Atoms):
        return Law(prior.values, prior.masses / math.fsum(prior.masses), ())
    if isinstance(prior, Uniform):
        return _dense(_flat(np.array([prior.low, prior.high]), np.ones(1)))
    if isinstance(prior, Histogram):
        return _dense(_flat(prior.edges, prior.masses / math.fsum(prior.masses)))
    if isinstance(prior, Normal):
        return _dense(_normal(prior.mean, prior.sd))
    if isinstance(prior, LogNormal):
        return _dense(_lognormal(prior.mean, prior.sd))
    if isinstance(prior, Frozen):
        return _discrete(prior) if prior.discrete else _dense(_scipy(prior.scipy()))
    if isinstance(prior, Mixture):
        return _mixed([(w, law_of(p)) for w, p in prior.parts])
    if isinstance(prior, Truncated):
        return _cut(law_of(prior.prior), prior)
    raise Misconfigured(f"this needs a prior on a number; found {type(prior).__name__}")


def _dense(part: Smooth) -> Law:
    return Law(NOTHING, NOTHING, ((1.0, part),))


def _flat(edges: Floats, masses: Floats) -> Smooth:
    total = np.concatenate([[0.0], np.cumsum(masses)])
    with np.errstate(divide="ignore", over="ignore"):
        heights = np.log(masses) - np.log(np.diff(edges))

    def logpdf(x: Floats) -> Floats:
        found = heights[np.clip(np.searchsorted(edges, x, "right") - 1, 0, heights.size - 1)]
        return np.where((x >= edges[0]) & (x <= edges[-1]), found, -np.inf)

    def cdf(x: Floats) -> Floats:
        return np.asarray(np.interp(x, edges, total), float)

    ends = float(edges[0]), float(edges[-1])
    return Smooth(logpdf, cdf, lambda x: 1 - cdf(x), *ends, edges, edges, flat=True)


def _ndtr(z: Floats) -> Floats:
    return np.asarray(_ERFC(-z * math.sqrt(0.5)), float) / 2


def _normal(mean: float, sd: float) -> Smooth:
    log = math.log(sd) + math.log(2 * math.pi) / 2
    nodes = np.unique(mean + sd * np.linspace(-FARTHEST, FARTHEST, 149))
    return Smooth(
        lambda x: -(((x - mean) / sd) ** 2) / 2 - log,
        lambda x: _ndtr((x - mean) / sd),
        lambda x: _ndtr((mean - x) / sd),
        -math.inf, math.inf, NOTHING, nodes,
    )  # fmt: skip


def _lognormal(mean: float, sd: float) -> Smooth:
    log = math.log(sd) + math.log(2 * math.pi) / 2

    def z(x: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return (np.log(np.maximum(x, 0.0)) - mean) / sd

    def logpdf(x: Floats) -> Floats:
        at = z(x)
        with np.errstate(invalid="ignore"):
            return np.where(np.isinf(at), -np.inf, -(at**2) / 2 - sd * at - mean - log)

    def quantile(far: float) -> float:
        return math.exp(min(max(mean + sd * far, -700.0), 700.0))

    nodes = np.unique([0.0, *(quantile(far) for far in np.linspace(-9, 9, 73))])
    return Smooth(
        logpdf, lambda x: _ndtr(z(x)), lambda x: _ndtr(-z(x)),
        0.0, math.inf, np.zeros(1), nodes,
    )  # fmt: skip


def _scipy(dist: Any) -> Smooth:
    low, high = map(float, dist.support())
    marks = np.array([e for e in (low, high) if math.isfinite(e)])
    q = np.concatenate([10.0 ** np.arange(-16, -1), np.linspace(0.02, 0.5, 25)])

    def quiet(function: Callable[[Any], Any]) -> Function:
        def asked(x: Floats) -> Floats:
            with warnings.catch_warnings():  # some of scipy's families warn of poles and of tails that underflow
                warnings.simplefilter("ignore")
                return np.asarray(function(x), float)

        return asked

    nodes = np.unique(np.concatenate([quiet(dist.ppf)(q), quiet(dist.isf)(q), marks]))
    functions = quiet(dist.logpdf), quiet(dist.cdf), quiet(dist.sf)
    return Smooth(*functions, low, high, marks, nodes[np.isfinite(nodes)])


def _discrete(prior: Frozen) -> Law:
    dist = prior.scipy()
    with np.errstate(all="ignore"):
        ends, tails = tuple(map(float, dist.support())), (float(dist.ppf(TAIL)), float(dist.isf(TAIL)))
        whole = math.isfinite(ends[1] - ends[0]) and ends[1] - ends[0] <= MOST  # else most values are unlikely
        low, high = ends if whole else (max(ends[0], tails[0]), min(ends[1], tails[1]))
        if not high - low <= MOST:
            raise Misconfigured(
                f"{prior!r} has more than {MOST} likely values, found {high - low:g}", hint="Give it as a Histogram."
            )
        x = np.arange(low, high + 1)
        m = dist.pmf(x)
        some = np.flatnonzero(m > 0)
        x, m = x[some[0] : some[-1] + 1], m[some[0] : some[-1] + 1]
        lost = float(dist.cdf(x[0] - 1)) if x[0] > ends[0] else 0.0, float(dist.sf(x[-1])) if x[-1] < ends[1] else 0.0
        fall = _falls(np.log(m)) if m.size > 2 else (0.0, 0.0)
    return Law(x[m > 0], m[m > 0], (), lost, fall)


def _falls(log: Floats) -> Ends:
    """How fast the outermost probabilities fall per value, where they fall faster and faster; 0 elsewhere."""
    sides = (log[1] - log[0], log[2] - log[1]), (log[-2] - log[-1], log[-3] - log[-2])
    low, high = (float(last) if last >= before * (1 - 1e-9) > 0 else 0.0 for last, before in sides)
    return low, high


def _mixed(laws: list[tuple[float, Law]]) -> Law:
    x, at = np.unique(np.concatenate([one.values for _, one in laws]), return_inverse=True)
    m = np.zeros(x.size)
    np.add.at(m, at, np.concatenate([w * one.masses for w, one in laws]))
    parts = tuple((w * v, p) for w, one in laws for v, p in one.parts)
    lost = [math.fsum(w * one.lost[side] for w, one in laws) for side in (0, 1)]
    fall = [min((one.fall[side] for _, one in laws if one.lost[side]), default=0.0) for side in (0, 1)]
    return Law(x, m, parts, (lost[0], lost[1]), (fall[0], fall[1]))


def _cut(law: Law, prior: Truncated) -> Law:
    low, high = prior.low, prior.high
    keep = (law.values >= low) & (law.values <= high)
    parts = [(w, p.cut(low, high)) for w, p in law.parts if max(low, p.low) < min(high, p.high)]
    weights = [w * math.fsum(p.masses(np.unique([p.low, *p.marks, p.high]))) for w, p in parts]
    total = math.fsum(law.masses[keep]) + math.fsum(weights)
    if not total > 0:
        raise Misconfigured(f"nothing of {prior.prior!r} lies between {low:g} and {high:g}")
    # values that are not listed may lie inside, too
    lost = law.lost[0] / total if keep[:1].any() else 0.0, law.lost[1] / total if keep[-1:].any() else 0.0
    kept = tuple((w / total, p) for (w, p), inside in zip(parts, weights, strict=True) if inside > 0)
    return Law(law.values[keep], law.masses[keep] / total, kept, lost, law.fall)


# --- plain functions --------------------------------------------------------------------------------------------------


def cdf(prior: Prior, x: Any) -> Floats:
    """Pr[value ≤ x]."""
    law, x = law_of(prior), np.asarray(x, dtype=np.float64)
    total = np.concatenate([[0.0], np.cumsum(law.masses)])
    found = total[np.searchsorted(law.values, x, side="right")]
    for weight, part in law.parts:
        found = found + weight * part.until(x)
    return np.asarray(np.clip(found, 0.0, 1.0), dtype=np.float64)


def mass(prior: Prior, low: float, high: float) -> float:
    """Pr[low ≤ value ≤ high], both ends included."""
    return max(0.0, float(cdf(prior, high)) - float(cdf(prior, np.nextafter(low, -np.inf))))


def support(prior: Prior) -> Ends:
    """The range of the values; of an unbounded prior all but about `LIKELY` of the mass on each side."""
    law, found = law_of(prior), []
    for _, part in law.parts:
        low, high = (
            int(np.searchsorted(f, LIKELY * (1 + 1e-6))) for f in (part.cdf(part.nodes), part.sf(part.nodes[::-1]))
        )
        first, last = float(part.nodes[max(low - 1, 0)]), float(part.nodes[::-1][max(high - 1, 0)])
        found.append((part.low if math.isfinite(part.low) else first, part.high if math.isfinite(part.high) else last))
    if law.values.size:
        low, high = (int(np.searchsorted(np.cumsum(m), LIKELY)) for m in (law.masses, law.masses[::-1]))
        found.append(
            (float(law.values[low if law.lost[0] else 0]), float(law.values[::-1][high if law.lost[1] else 0]))
        )
    return min(a for a, _ in found), max(b for _, b in found)


def bounded(prior: Prior) -> bool:
    """Whether `support` leaves nothing out."""
    return bool(np.isfinite(law_of(prior).ends).all())


def atoms(prior: Prior) -> tuple[Floats, Floats]:
    """The single values that have a probability, ascending, and these probabilities.

    Of a discrete distribution without end all but a mass of about 1e-16 on each side.
    """
    law = law_of(prior)
    return law.values, law.masses


def points(prior: Prior) -> tuple[Floats, Floats] | None:
    """Values and masses of a prior that has only single values; None for one that has a density (also)."""
    return None if has_density(prior) else atoms(prior)


def has_density(prior: Prior) -> bool:
    """Whether it has more than single values."""
    return bool(law_of(prior).parts)


def spread(prior: Prior, edges: Floats) -> Floats:
    """The mass between neighbouring edges without that of single values: one value fewer than there are edges."""
    found = np.zeros(edges.size - 1)
    for weight, part in law_of(prior).parts:
        found = found + weight * np.diff(part.until(edges))
    return np.maximum(found, 0.0)


def corners(prior: Prior) -> Floats:
    """Where the density may jump: ends of ranges, edges of bins."""
    return np.unique(np.concatenate([NOTHING, *(p.marks for _, p in law_of(prior).parts)]))


def density(prior: Prior, x: Floats) -> Floats:
    """Mass per unit in the cells between the points x: one value fewer than there are points."""
    found: Floats = np.diff(cdf(prior, x)) / np.diff(x)
    return found
