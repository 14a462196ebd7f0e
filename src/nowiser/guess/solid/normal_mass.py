"""How probable a goal is where any number of attributes are normal together: from below and from above.

*Conditions on single attributes, joined in any way.* The last two attributes are integrated in closed form (Owen, see
`bivariate`), all others by Gauss's rule on pieces between the ends of bands. As a function of one attribute x_i what is
integrated is entire, and x_i + iy makes the density of all attributes larger by at most e^{y²Λ_ii/2}, Λ being the
inverse of the covariance. On a piece of half-width h the rule with m points is therefore wrong by at most

    h·(64/15)·ρ^{−2(m − 1)}/(1 − ρ^{−2}) · e^{b²Λ_ii/2} · (largest density),     b = h(ρ − 1/ρ)/2,  any ρ > 1

(Trefethen, Approximation Theory and Approximation Practice, theorem 19.3), added up over pieces and attributes.

*A disc on all attributes.* The squared distance is Σ λ_j(z_j + δ_j)², whose law is a mixture of χ² laws with growing
degrees of freedom and weights that are all positive (Ruben 1962): the sum up to any term is a bound from below, and
what is left of the weights times the last χ² probability is the difference to one from above.

*Discs among other conditions* lie between the box around them and the box inside them.
"""

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nowiser.guess.density.gauss import between
from nowiser.guess.parts.formula import simple_goals
from nowiser.guess.plane.bivariate import below
from nowiser.guess.plane.on_map import about
from nowiser.guess.plane.region import Band, Placed, Region, region_of, share
from nowiser.guess.ranges import distinct
from nowiser.model.goal import And, Goal, Not, On, Or, Within
from nowiser.model.prior import MultivariateNormal
from nowiser.model.priors.base import Floats

Limits = tuple[float, float]
TAIL = 9.0  # standard deviations beyond which hardly anything is left: 1e-18
WIDE = 2.0  # half-widths of pieces, in conditional standard deviations
POINTS = (6, 8, 10, 12, 16, 20, 24)  # of a piece: as many as are needed
ENOUGH = 1e-11  # what Gauss's rule may be wrong by, in a block
NODES, CHUNK = 300_000, 20_000
TERMS = 3_000  # of Ruben's series
SLIP = 1e-11  # far above what is lost in sums of some hundred thousand doubles


def mass_of(prior: MultivariateNormal, goal: Goal, victim: dict[str, Any]) -> Limits:
    """At least and at most how probable the goal of a victim is beforehand."""
    if isinstance(goal, Not):
        low, high = mass_of(prior, goal.goal, victim)
        return 1 - high, 1 - low
    fewer = about(prior, goal.attributes)
    assert isinstance(fewer, MultivariateNormal)
    if isinstance(goal, On) and isinstance(goal.goal, Within):
        at = np.array([float(victim[n]) for n in goal.attributes])
        return _within(fewer, at, goal.goal.radius)
    if any(len(part.attributes) > 1 for part in simple_goals(goal)):
        return tuple(_of_bands(fewer, _boxed(goal, above=above), victim)[above] for above in (False, True))  # type: ignore[return-value]  # two of them
    return _of_bands(fewer, goal, victim)


def _boxed(goal: Goal, *, above: bool) -> Goal:
    """Every disc replaced by the box around it, or inside it, so that the goal grows (`above`) or shrinks."""
    if isinstance(goal, Not):
        return Not(_boxed(goal.goal, above=not above))
    if isinstance(goal, (And, Or)):
        return type(goal)(tuple(_boxed(part, above=above) for part in goal.parts))
    if not isinstance(goal, On) or len(goal.attributes) < 2 or not isinstance(goal.goal, Within):
        return goal
    side = Within(goal.goal.radius * (1.0 if above else (1 - 1e-12) / math.sqrt(len(goal.attributes))))
    return And(tuple(On(name, side) for name in goal.attributes))


def _of_bands(prior: MultivariateNormal, goal: Goal, victim: dict[str, Any]) -> Limits:
    """A formula of conditions on single attributes."""
    region = region_of(goal, prior.names)
    assert region is not None
    at = np.array([float(victim[name]) for name in prior.names])
    cuts = [distinct(np.array(Placed(region, at, 0 * at).cuts(i))) for i in range(len(at))]
    stretches = _Stretches.of(prior, cuts, _truth(region, at, cuts))
    blocks = stretches.blocks()
    if sum(block.nodes for block in blocks) > NODES:
        if isinstance(goal, Or):
            return _of_any(prior, goal.parts, victim)
        alone = [_alone(prior, band, at) for band in region.bands]
        return tuple(float(share(region.of, alone, above=above)) for above in (False, True))  # type: ignore[return-value]  # two of them
    found = sum(stretches.mass(block) for block in blocks)
    wrong = sum(block.wrong for block in blocks) + SLIP
    return max(found - wrong, 0.0), min(found + wrong, 1.0)


def _of_any(prior: MultivariateNormal, parts: tuple[Goal, ...], victim: dict[str, Any]) -> Limits:
    """By inclusion and exclusion: what all of some parts have in common is narrower, and needs fewer points."""
    low = high = 0.0
    for count in range(1, len(parts) + 1):
        for some in itertools.combinations(parts, count):
            least, most = mass_of(prior, And(some) if count > 1 else some[0], victim)
            low, high = (low + least, high + most) if count % 2 else (low - most, high - least)
    return max(low, 0.0), min(high, 1.0)


def _alone(prior: MultivariateNormal, band: Band, at: Floats) -> Limits:
    i, (low, high) = band.axis, band.ends(at[band.axis])
    mean, spread = prior.mean[i], math.sqrt(float(prior.covariance[i, i]))
    found = float(between(np.asarray((low - mean) / spread), np.asarray((high - mean) / spread)))
    return max(found - SLIP, 0.0), min(found + SLIP, 1.0)


def _truth(region: Region, at: Floats, cuts: list[Floats]) -> npt.NDArray[np.bool_]:
    """Whether the goal is met, for each choice of a stretch between cuts on each axis."""
    known: list[Limits] = []
    for band in region.bands:
        ends, (low, high) = np.concatenate([[-np.inf], cuts[band.axis], [np.inf]]), band.ends(at[band.axis])
        inside = ((ends[:-1] >= low) & (ends[1:] <= high)).astype(float)
        inside = inside.reshape([-1 if i == band.axis else 1 for i in range(len(cuts))])
        known.append((inside, inside))
    whole = share(region.of, known, above=True)
    return np.broadcast_to(whole > 0.5, [c.size + 1 for c in cuts])


@dataclass(frozen=True, eq=False)
class _Block:
    """Stretches of all attributes but two, the points of Gauss's rule in them, and by how much that is wrong."""

    at: tuple[int, ...]
    points: tuple[Floats, ...]
    weights: tuple[Floats, ...]
    wrong: float

    @property
    def nodes(self) -> int:
        return math.prod(p.size for p in self.points)


@dataclass(frozen=True, eq=False)
class _Stretches:
    """A prior cut along its axes. `outer` are integrated by Gauss's rule, the others in closed form."""

    prior: MultivariateNormal
    cuts: list[Floats]
    truth: npt.NDArray[np.bool_]  # axes: outer, then inner
    outer: list[int]
    inner: list[int]

    @classmethod
    def of(cls, prior: MultivariateNormal, cuts: list[Floats], truth: npt.NDArray[np.bool_]) -> "_Stretches":
        """The two along which most points would be needed are the inner ones."""
        n = len(cuts)
        precise = np.sqrt(np.diag(np.linalg.inv(prior.covariance)))
        many = []
        for i in range(n):
            low, high = _clipped(prior, i, cuts[i])
            used = truth.any(axis=tuple(j for j in range(n) if j != i)) & (high > low)
            many.append(float((np.ceil((high - low) * precise[i] / (2 * WIDE)) * used).sum()))
        order = np.argsort(many, kind="stable").tolist()
        return cls(prior, cuts, truth.transpose(order), order[:-2], order[-2:])

    def blocks(self) -> list[_Block]:
        """Those in which the goal can be met."""
        used = np.asarray(self.truth.any(axis=tuple(range(len(self.outer), self.truth.ndim))))
        precise = np.diag(np.linalg.inv(self.prior.covariance))[self.outer]
        spread = self.prior.covariance[np.ix_(self.outer, self.outer)]
        peak = 1 / math.sqrt(float(np.linalg.det(2 * math.pi * spread))) if self.outer else 1.0
        lines = [_clipped(self.prior, i, self.cuts[i]) for i in self.outer]
        found = []
        for at in itertools.product(*[range(n) for n in used.shape]):
            ends = [(float(low[k]), float(high[k])) for (low, high), k in zip(lines, at, strict=True)]
            if not used[at] or any(high <= low for low, high in ends):
                continue
            wide = [(high - low) * math.sqrt(p) for (low, high), p in zip(ends, precise, strict=True)]
            pieces = [math.ceil(w / (2 * WIDE)) for w in wide]
            half = max((w / (2 * n) for w, n in zip(wide, pieces, strict=True)), default=0.0)
            volume = math.prod(high - low for low, high in ends)
            for points in POINTS:
                wrong = _wrong(points, half) * peak * volume * len(ends) / 2
                if wrong <= ENOUGH:
                    break
            x, w = np.polynomial.legendre.leggauss(points)
            rules = [_composite(low, high, n, x, w) for (low, high), n in zip(ends, pieces, strict=True)]
            found.append(_Block(at, tuple(r[0] for r in rules), tuple(r[1] for r in rules), wrong))
        return found

    def mass(self, block: _Block) -> float:
        """How probable the goal is in a block."""
        prior, outer, inner = self.prior, self.outer, self.inner
        grid, weights = (np.meshgrid(*each, indexing="ij") for each in (block.points, block.weights))
        weight = np.prod([w.ravel() for w in weights], axis=0) if outer else np.ones(1)
        middle, rest = np.tile(prior.mean[inner], (weight.size, 1)), prior.covariance[np.ix_(inner, inner)]
        if outer:
            away = np.stack([g.ravel() for g in grid], -1) - prior.mean[outer]
            own, shared = prior.covariance[np.ix_(outer, outer)], prior.covariance[np.ix_(outer, inner)]
            solved = np.linalg.solve(own, away.T).T
            peak = 1 / math.sqrt(float(np.linalg.det(2 * math.pi * own)))
            weight = weight * peak * np.exp(-(away * solved).sum(axis=1) / 2)
            middle, rest = middle + solved @ shared, rest - shared.T @ np.linalg.solve(own, shared)
        met = self.truth[block.at]
        return sum(
            float(weight[some] @ self._boxes(middle[some], rest)[:, met].sum(axis=1))
            for some in (slice(i, i + CHUNK) for i in range(0, weight.size, CHUNK))
        )

    def _boxes(self, middle: Floats, rest: Floats) -> Floats:
        """Masses of all boxes between cuts of the inner attributes, around each of several means."""
        spread = np.sqrt(np.diag(rest))
        h = [
            (np.concatenate([[-np.inf], self.cuts[i], [np.inf]]) - middle[:, j : j + 1]) / spread[j]
            for j, i in enumerate(self.inner)
        ]
        if len(h) == 1:
            return between(h[0][:, :-1], h[0][:, 1:])
        corner = below(h[0][:, :, None], h[1][:, None, :], float(rest[0, 1] / spread.prod()))
        return np.asarray(np.diff(np.diff(corner, axis=1), axis=2))


def _clipped(prior: MultivariateNormal, axis: int, cuts: Floats) -> tuple[Floats, Floats]:
    """The stretches between cuts, as far as anybody is there."""
    mean, away = float(prior.mean[axis]), TAIL * math.sqrt(float(prior.covariance[axis, axis]))
    ends = np.clip(np.concatenate([[-np.inf], cuts, [np.inf]]), mean - away, mean + away)
    return ends[:-1], ends[1:]


def _composite(low: float, high: float, pieces: int, x: Floats, w: Floats) -> tuple[Floats, Floats]:
    borders = np.linspace(low, high, pieces + 1)
    half = np.diff(borders)[:, None] / 2
    return ((borders[:-1] + borders[1:])[:, None] / 2 + half * x).ravel(), (half * w).ravel()


def _wrong(points: int, half: float) -> float:
    """The factor of Trefethen's bound for pieces of this half-width, in conditional standard deviations."""
    rho = np.geomspace(1.2, 1e3, 200)
    grown = (half * (rho - 1 / rho) / 2) ** 2 / 2
    return float(np.exp((np.log(64 / 15) - 2 * (points - 1) * np.log(rho) - np.log1p(-(rho**-2.0)) + grown).min()))


def _within(prior: MultivariateNormal, at: Floats, radius: float) -> Limits:
    """A disc, or in one dimension a band: Ruben's series."""
    from scipy.special import gammainc

    spread, turn = np.linalg.eigh(prior.covariance)
    off = (turn.T @ (at - prior.mean)) ** 2 / spread
    least, n = float(spread[0]), spread.size
    a = 1 - least / spread
    count = 32
    half = radius**2 / least / 2
    while count < TERMS and gammainc(n / 2 + count, half) > 1e-17:
        count = min(2 * count, TERMS)
    m = np.arange(1, count)[:, None]
    with np.errstate(under="ignore"):
        g = ((a**m + m * off * a ** (m - 1) * (1 - a)) / 2).sum(axis=1)
        first = math.exp(-min(float(off.sum()) / 2, 700.0)) * math.sqrt(float(np.prod(least / spread)))
    weights = np.zeros(count)
    weights[0] = first
    for k in range(1, count):
        weights[k] = g[:k][::-1] @ weights[:k] / k
    chi = gammainc(n / 2 + np.arange(count), half)
    low = float(weights @ chi)
    if off.sum() / 2 > 700:  # no double is that small
        low = 0.0
    high = low + max(1 - float(weights.sum()), 0.0) * float(chi[-1])
    return max(low - SLIP, 0.0), min(high + SLIP, 1.0)
