"""Cutting priors into cells (see `cells`)."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.density import gauss
from nowiser.guess.density.cells import Cells
from nowiser.guess.density.curves import integrated
from nowiser.guess.density.discrete import EVERYTHING, listed, nothing_of
from nowiser.guess.ranges import distinct
from nowiser.model.prior import Atoms, Frozen, Histogram, LogNormal, Mixture, Normal, Prior, Truncated, Uniform
from nowiser.model.priors.base import Floats

CARE, FLANK = 14.0, 12.0  # how many times as fine as in a tail cells are where people are, and on a steep flank
COARSE = 1 << 10  # points at which a distribution is first looked at
FINE = 28 << 10  # cells of an approximated distribution; of one about whose shape nothing is known twice as many
FEWER = 3 << 10  # the same where scipy integrates the density anew for every point, which takes a millisecond or more
THIN = 6  # one in so many of the first points is looked at then
OUTERMOST = 1e-40  # mass beyond the outermost cells on each side, which is added to them
RAREST = 1e-12  # victims rarer than this on either side are not looked for: one in a trillion people
STEEPEST = 12.0  # the costs that cells are made for, in nats over the middle half of the people
Function = Callable[[Floats], Floats]
_SQRT_2PI = math.sqrt(2 * math.pi)


@dataclass(frozen=True)
class _Curve:
    """A continuous distribution: mass below, mass above, density; where to cut; its mode; the rarest victims."""

    below: Function
    above: Function
    density: Function
    points: Floats
    mode: float
    rare: tuple[float, float]
    lean: Callable[[Floats, Floats], tuple[Floats, Floats]] | None = None  # bounds on the slope of ln density
    # what is known about the shape: rises to the mode and falls from there ("known"), does so but the mode is only
    # known to lie next to the highest point looked at ("near"), nothing ("none")
    shape: Literal["known", "near", "none"] = "known"
    between: Callable[[Floats, Floats], Floats] | None = None  # the mass between two points, where that is quicker
    fine: int = FINE  # cells


# Families with one mode (or a falling or rising density), for all their arguments. Of others nothing is assumed.
UNIMODAL = frozenset(
    {
        "cauchy",
        "chi",
        "chi2",
        "erlang",
        "expon",
        "f",
        "fisk",
        "gamma",
        "genpareto",
        "gompertz",
        "gumbel_l",
        "gumbel_r",
        "halfcauchy",
        "halflogistic",
        "halfnorm",
        "hypsecant",
        "invgamma",
        "invgauss",
        "invweibull",
        "laplace",
        "levy",
        "logistic",
        "lognorm",
        "lomax",
        "maxwell",
        "nakagami",
        "norm",
        "pareto",
        "powerlaw",
        "rayleigh",
        "rice",
        "skewnorm",
        "t",
        "triang",
        "truncexpon",
        "truncnorm",
        "uniform",
        "weibull_max",
        "weibull_min",
    }
)


def cells_of(prior: Prior, within: tuple[float, float] = EVERYTHING) -> Cells:
    """The cells of a prior; exact for atoms and histograms, bounded wobble for the others.

    Of what lies outside a range they need not tell; a mixture's parts keep their shares of the whole then.
    """
    if isinstance(prior, Atoms):
        return Cells(prior.values, prior.values, prior.masses, np.zeros(prior.values.size))
    if isinstance(prior, Histogram):
        keep = prior.masses > 0
        return _made(prior.edges[:-1][keep], prior.edges[1:][keep], prior.masses[keep])
    if isinstance(prior, LogNormal):
        return _curve(_lognormal(prior))
    if isinstance(prior, Frozen):
        return _discrete(prior, within) if prior.discrete else _frozen(prior)
    if isinstance(prior, Normal):
        return _curve(_normal(prior))
    if isinstance(prior, Uniform):
        return _made(np.array([prior.low]), np.array([prior.high]), np.ones(1))
    if isinstance(prior, Truncated):
        return _cut_off(cells_of(prior.prior, (prior.low, prior.high)), prior)
    assert isinstance(prior, Mixture)
    parts = [(w, cells_of(p, within)) for w, p in prior.parts if not nothing_of(p, within)]
    if not parts:
        raise Misconfigured(f"nothing of {prior!r} lies between {within[0]:g} and {within[1]:g}")
    return _merged(parts, whole=within == EVERYTHING)


def _made(starts: Floats, ends: Floats, masses: Floats, wobble: Floats | None = None) -> Cells:
    return Cells(starts, ends, masses, np.zeros(starts.size) if wobble is None else wobble)


def _levels() -> Floats:
    """Quantile levels up to one half that follow the tail; the other half is their mirror image."""
    tail = np.logspace(math.log10(OUTERMOST), -2, COARSE)
    return np.concatenate([tail, np.linspace(0.01, 0.5, COARSE)[1:]])


def _normal(prior: Normal) -> _Curve:
    mean, sd = prior.mean, prior.sd
    z = gauss.ndtri(_levels())
    rare = float(gauss.ndtri(RAREST))
    return _Curve(
        lambda x: gauss.ndtr((x - mean) / sd),
        lambda x: gauss.ndtr((mean - x) / sd),
        lambda x: np.exp(-(((x - mean) / sd) ** 2) / 2) / (sd * _SQRT_2PI),
        np.concatenate([mean + sd * z, mean - sd * z]),
        mean,
        (mean + sd * rare, mean - sd * rare),
        between=lambda a, b: gauss.between((a - mean) / sd, (b - mean) / sd),
    )


def _lognormal(prior: LogNormal) -> _Curve:
    mean, sd = prior.mean, prior.sd

    def z(x: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return (np.log(np.maximum(x, 0.0)) - mean) / sd

    def density(x: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            found = np.exp(-(z(x) ** 2) / 2 - np.log(x)) / (sd * _SQRT_2PI)
        return np.where(x > 0, found, 0.0)

    def lean(a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """The slope −(1 + z/sd)/x falls up to z = 1/sd − sd and rises from there on."""
        with np.errstate(all="ignore"):
            ends = [-(1 + z(x) / sd) / x for x in (a, b, np.clip(math.exp(min(mean + 1 - sd * sd, 700.0)), a, b))]
        some = a > 0
        return np.where(some, np.fmin.reduce(ends), -np.inf), np.where(some, np.fmax.reduce(ends), np.inf)

    tail, rare = gauss.ndtri(_levels()), float(gauss.ndtri(RAREST))
    with np.errstate(over="ignore"):
        points = np.exp(mean + sd * np.concatenate([tail, -tail]))
    return _Curve(
        lambda x: gauss.ndtr(z(x)),
        lambda x: gauss.ndtr(-z(x)),
        density,
        points,
        math.exp(max(mean - sd * sd, -700.0)),
        (math.exp(mean + sd * rare), math.exp(min(mean - sd * rare, 700.0))),
        lean,
        between=lambda a, b: gauss.between(z(a), z(b)),
    )


def _frozen(prior: Frozen) -> Cells:
    it = prior.scipy()
    slow = integrated(prior)
    levels = _levels()[:: THIN if slow else 1]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of quantiles that are not found, and left out
        points = np.concatenate([it.ppf(levels), it.isf(levels)])
        points = points[np.isfinite(points)]
        if not points.size or not np.isfinite(it.pdf(points)).any():
            raise Misconfigured(f"{prior.name} has no usable quantiles or density; give a histogram instead")
        low, high = it.support()
        ends = np.array([e for e in (low, high) if np.isfinite(e)])
        points = np.concatenate([points, ends])
        mode = float(points[np.argmax(np.nan_to_num(it.pdf(points), nan=0.0, posinf=0.0))])
        rare = float(it.ppf(RAREST)), float(it.isf(RAREST))
    below, above, fine = (_kept(it.cdf), _kept(it.sf), FEWER) if slow else (it.cdf, it.sf, FINE)
    return _curve(_Curve(below, above, it.pdf, points, mode, rare, shape=_shape(prior), fine=fine))


def _kept(function: Function) -> Function:
    """The same function, asked once for each number."""
    known: dict[float, float] = {}

    def found(x: Floats) -> Floats:
        values = np.asarray(x, float).ravel().tolist()
        new = [v for v in values if v not in known]
        if new:
            known.update(zip(new, function(np.array(new)).tolist(), strict=True))
        return np.array([known[v] for v in values]).reshape(np.shape(x))

    return found


def _shape(prior: Frozen) -> Literal["near", "none"]:
    # a beta density has one mode unless both its parameters are below 1
    if prior.name in UNIMODAL or (prior.name == "beta" and len(prior.args) >= 2 and max(prior.args[:2]) >= 1):
        return "near"
    return "none"


def _discrete(prior: Frozen, within: tuple[float, float] = EVERYTHING) -> Cells:
    """Single values; of a range with the probabilities that they have in the whole."""
    values, masses, tails = listed(prior, *within)
    if not values.size:
        raise Misconfigured(f"nothing of {prior!r} lies between {within[0]:g} and {within[1]:g}")
    total = float(masses.sum()) if within == EVERYTHING else 1.0
    return Cells(values, values, masses / total, np.zeros(values.size), tails=tails)


def _curve(curve: _Curve) -> Cells:
    """Cells between the given points (and the mode) with exact masses; narrower where the density changes fast."""
    finite = curve.points[np.isfinite(curve.points)]
    first, last = max(curve.rare[0], finite.min()), min(curve.rare[1], finite.max())
    evenly = np.linspace(first, last, COARSE if curve.fine == FINE else COARSE // THIN)
    edges = _known(distinct(np.concatenate([finite, evenly, [curve.mode]])), curve)
    edges = _known(_divided(edges, curve), curve)
    masses, wobble, height = _cell_masses(edges, curve)
    for _ in range(24 if curve.shape == "near" else 0):  # the cells beside the highest point count with their mass
        rough = (wobble == masses) & (wobble > 2e-9)
        if not rough.any() or rough.sum() > 64:
            break
        edges = distinct(np.concatenate([edges, (edges[:-1] + edges[1:])[rough] / 2]))
        masses, wobble, height = _cell_masses(edges, curve)
    with np.errstate(all="ignore"):
        masses[0] += float(curve.below(edges[:1])[0])
        masses[-1] += float(curve.above(edges[-1:])[0])
    keep = masses > 0
    if not keep.any() or not np.isfinite(masses).all():
        raise Misconfigured("the distribution has no usable distribution function (its masses are not finite)")
    total = float(masses[keep].sum())
    with np.errstate(over="ignore"):
        ends = height[:-1][keep] / total, height[1:][keep] / total
    return Cells(
        edges[:-1][keep],
        edges[1:][keep],
        masses[keep] / total,
        wobble[keep] / total,
        max(curve.rare[0], edges[0]),
        min(curve.rare[1], edges[-1]),
        lambda a, b: _between(curve, a, b) / total,
        # a density that rises and then falls is lowest at an end of a cell; highest too unless the mode lies inside
        np.fmin(*ends) if curve.shape != "none" else np.zeros(ends[0].size),
        np.fmax(*ends) if curve.shape == "known" else np.full(ends[0].size, np.inf),
        curve.lean,
    )


def _known(edges: Floats, curve: _Curve) -> Floats:
    """Without those at which the distribution function is no number: the cells beside them are one."""
    if np.isfinite(_cell_masses(edges, curve)[0]).all():
        return edges
    with np.errstate(all="ignore"):
        return edges[np.isfinite(curve.below(edges)) & np.isfinite(curve.above(edges))]


def _divided(edges: Floats, curve: _Curve) -> Floats:
    """The cells between these edges, each divided in as many as it needs; they only decide how sharp a bound is.

    With η its wobble and p its density, a cell of width w leaves e^{kx} integrated up to it uncertain by a share of
    about η·max(k, s)/p, s the slope of ln p. η falls with w²: so as many parts as the root of that, all roots scaled
    such that the number of cells is what was asked for. Far beyond all victims only the mass of a cell counts.
    """
    masses, wobble, height = _cell_masses(edges, curve)
    width, total = np.diff(edges), np.cumsum(masses)
    half = edges[np.searchsorted(total, [0.25, 0.75])]
    rate = STEEPEST / max(float(half[1] - half[0]), float(width.min()))
    with np.errstate(all="ignore"):
        share = wobble / masses
        lean = np.abs(np.diff(np.log(height))) / width
        rest = np.minimum(total, np.cumsum(masses[::-1])[::-1])
        care = 1 + CARE * rest**0.25  # more where people are
        lean = np.where(np.isfinite(lean), lean, 0.0)
        need = np.sqrt(share * width * np.maximum(rate * care**2, lean * np.minimum(lean / rate, 1) * FLANK**2))
    need = np.where((rest > 1e-2 * RAREST) & np.isfinite(need), need, 0.0)
    many = (2 if curve.shape == "none" else 1) * curve.fine
    parts = np.ceil(need * (many / max(float(need.sum()), 1e-300))).clip(1, many)
    with np.errstate(invalid="ignore"):
        parts = np.maximum(parts, np.where(share > 0.02, 4.0, 1.0)).astype(np.intp)
    start, step = np.repeat(edges[:-1], parts), np.repeat(width / parts, parts)
    within = np.arange(start.size) - np.repeat(np.cumsum(parts) - parts, parts)
    return distinct(np.append(start + step * within, edges[-1]))


def _between(curve: _Curve, a: Floats, b: Floats) -> Floats:
    """The mass between a and b, from the side on which fewer digits cancel."""
    if curve.between is not None:
        return curve.between(a, b)
    with np.errstate(all="ignore"):
        lower = curve.below(a)
        return np.clip(np.where(lower < 0.5, curve.below(b) - lower, curve.above(a) - curve.above(b)), 0.0, None)


def _cell_masses(edges: Floats, curve: _Curve) -> tuple[Floats, Floats, Floats]:
    with np.errstate(all="ignore"):
        lower, upper, height = curve.below(edges), np.full(edges.size, np.nan), curve.density(edges)
        above = ~(lower < 0.5)  # digits cancel there, not in what lies above
        above[:-1] |= above[1:]
        upper[above] = curve.above(edges[above])
    masses = np.where(lower[1:] < 0.5, np.diff(lower), -np.diff(upper))
    masses = np.clip(masses, 0.0, None)
    with np.errstate(invalid="ignore"):
        wobble = np.abs(np.diff(height)) * np.diff(edges) / 4
        if curve.shape == "near":  # the mode may lie inside the cells beside the highest point
            top = int(np.nanargmax(np.where(np.isfinite(height), height, -np.inf)))
            wobble[max(top - 1, 0) : top + 1] = np.inf
        elif curve.shape == "none":
            wobble[:] = np.inf
    # an infinite density at an edge tells nothing: then no partial mass is off by more than the mass of the cell
    return masses, np.fmin(np.where(np.isfinite(wobble), wobble, np.inf), masses), np.nan_to_num(height, nan=np.inf)


def _cut_off(cells: Cells, prior: Truncated) -> Cells:
    starts, ends = np.maximum(cells.starts, prior.low), np.minimum(cells.ends, prior.high)
    whole = cells.ends - cells.starts
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(whole > 0, (ends - starts) / np.where(whole > 0, whole, 1), (ends >= starts).astype(float))
    masses = cells.masses * np.clip(share, 0.0, None)
    part = cells.part
    if part is not None:
        masses = np.where((share > 0) & (share < 1), part(starts, np.maximum(starts, ends)), masses)
    keep = masses > 0
    total = float(masses[keep].sum())
    if not keep.any() or not total > 1e-12:
        raise Misconfigured(f"nothing of {prior.prior!r} lies between {prior.low:g} and {prior.high:g}")
    return Cells(
        starts[keep],
        ends[keep],
        masses[keep] / total,
        cells.wobble[keep] / total,
        cells.first,
        cells.last,
        None if part is None else lambda a, b: part(a, b) / total,
        None if cells.floor is None else cells.floor[keep] / total,
        None if cells.roof is None else cells.roof[keep] / total,
        cells.lean,
        tuple(tail.times(1 / total) for tail in cells.tails),
    )


def _merged(parts: list[tuple[float, Cells]], *, whole: bool) -> Cells:
    """Cells of a mixture: every border of every part is a border; atoms keep their place."""
    borders = distinct(np.concatenate([np.concatenate([c.starts, c.ends]) for _, c in parts]))
    atoms = np.zeros(borders.size)
    masses = np.zeros(max(borders.size - 1, 0))
    wobble = np.zeros(max(borders.size - 1, 0))
    for weight, c in parts:
        flat = c.ends == c.starts
        np.add.at(atoms, np.searchsorted(borders, c.starts[flat]), weight * c.masses[flat])
        starts, ends, inner = c.starts[~flat], c.ends[~flat], c.masses[~flat]
        if starts.size:
            # every cell between borders lies in at most one cell of the part
            at = np.searchsorted(starts, borders[:-1], "right") - 1
            inside = (at >= 0) & (borders[:-1] < ends[np.clip(at, 0, None)])
            at = np.clip(at, 0, None)
            masses += np.where(inside, weight * inner[at] * np.diff(borders) / (ends - starts)[at], 0.0)
            wobble += np.where(inside, weight * c.wobble[~flat][at], 0.0)
    starts = np.repeat(borders, 2)[:-1]
    ends = np.concatenate([[borders[0]], np.stack([borders[1:], borders[1:]], 1).ravel()])
    order = np.empty(2 * borders.size - 1)
    order[0::2], order[1::2] = atoms, masses
    sway = np.zeros(order.size)
    sway[1::2] = wobble
    keep = order > 0
    first = min(max(c.first, float(c.starts[0])) for _, c in parts)
    last = max(min(c.last, float(c.ends[-1])) for _, c in parts)
    total = float(order[keep].sum()) if whole else 1.0
    tails = tuple(tail.times(weight / total) for weight, c in parts for tail in c.tails)
    return Cells(starts[keep], ends[keep], order[keep] / total, sway[keep], first, last, tails=tails)
