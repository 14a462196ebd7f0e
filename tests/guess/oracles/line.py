"""The largest posterior of any goal on one number, from below: of a likelihood that rises and falls as the slope allows.

The line is cut at the ends of the goal and finely between. Of the likelihoods whose logarithm has slope +k or −k on each
cell, the best is found by going from right to left: let v be the largest value of ∫(1_g − λ)·f dπ to the right of a knot
where f = 1. Then over one cell more v is the larger of c·∫e^{±kx} dπ + e^{±kw}·v, because the problem is homogeneous.
λ is attainable where v at the left end is positive (Dinkelbach's iteration). Cells in which the best slope changes are
cut again, so that what the cells cost is of second order. Every figure is the posterior of one concrete likelihood.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.stats

from .truth import bare, kind, leaves, meets, radius_of

NODES, WEIGHTS = np.polynomial.legendre.leggauss(10)
TAIL = 1e-17  # what is beyond the knots on each side counts at their ends


@dataclass(frozen=True)
class Part:
    """A density: its weight, distribution from both sides, between which ends, and where it may jump or bend."""

    weight: float
    dist: Any
    low: float
    high: float
    marks: tuple[float, ...]

    def mass(self, a: Any, b: Any) -> Any:
        a, b = np.clip(a, self.low, self.high), np.clip(b, self.low, self.high)
        middle = self.dist.median()
        upper = self.dist.sf(a) - self.dist.sf(b)
        return self.weight * np.maximum(np.where(a > middle, upper, self.dist.cdf(b) - self.dist.cdf(a)), 0.0)


@dataclass(frozen=True)
class Line:
    """Single values with masses, and densities; all together sum to one."""

    values: np.ndarray
    masses: np.ndarray
    parts: tuple[Part, ...]

    @property
    def ends(self) -> tuple[float, float]:
        lows = [p.low for p in self.parts] + [float(v) for v in self.values[:1]]
        highs = [p.high for p in self.parts] + [float(v) for v in self.values[-1:]]
        return min(lows), max(highs)

    def quantiles(self, shares: Any) -> np.ndarray:
        """Places at these shares of each part, and the single values."""
        found = [
            np.clip(p.dist.ppf(p.dist.cdf(p.low) + shares * p.mass(p.low, p.high) / p.weight), p.low, p.high)
            for p in self.parts
        ]
        return np.unique(np.concatenate([*found, self.values]))


def line_of(prior: Any) -> Line:
    """Any prior on one number."""
    none, name = np.zeros(0), kind(prior)
    if name in ("Atoms", "Empirical"):
        return Line(prior.values, prior.masses / prior.masses.sum(), ())
    if name == "Frozen" and prior.discrete:
        dist = prior.scipy()
        low, high = dist.support()
        reach = 40 * dist.std() + 40
        x = np.arange(max(low, np.floor(dist.mean() - reach)), min(high, dist.mean() + reach) + 1)
        m = dist.pmf(x)
        return Line(x[m > 0], m[m > 0] / m.sum(), ())
    if name == "Mixture":
        every = [(w, line_of(p)) for w, p in prior.parts]
        return _joined([(w / math.fsum(w for w, _ in every), one) for w, one in every])
    if name == "Truncated":
        return _cut(line_of(prior.prior), prior.low, prior.high)
    if name == "Histogram":
        bins = zip(prior.edges[:-1], prior.edges[1:], prior.masses / prior.masses.sum(), strict=True)
        dense = tuple(
            Part(float(m), scipy.stats.uniform(a, b - a), float(a), float(b), (a, b)) for a, b, m in bins if m > 0
        )
        return Line(none, none, dense)
    if name == "Frozen":
        dist = prior.scipy()
    elif name == "Uniform":
        dist = scipy.stats.uniform(prior.low, prior.high - prior.low)
    elif name == "Normal":
        dist = scipy.stats.norm(prior.mean, prior.sd)
    else:
        dist = scipy.stats.lognorm(prior.sd, scale=math.exp(prior.mean))
    low, high = (prior.low, prior.high) if name == "Uniform" else map(float, dist.support())
    return Line(none, none, (Part(1.0, dist, low, high, (low, high)),))


def _joined(every: list[tuple[float, Line]]) -> Line:
    parts = tuple(Part(w * p.weight, p.dist, p.low, p.high, p.marks) for w, one in every for p in one.parts)
    x, at = np.unique(np.concatenate([one.values for _, one in every]), return_inverse=True)
    m = np.zeros(x.size)
    np.add.at(m, at, np.concatenate([w * one.masses for w, one in every]))
    return Line(x, m, parts)


def _cut(whole: Line, low: float, high: float) -> Line:
    keep = (whole.values >= low) & (whole.values <= high)
    values, masses, parts = whole.values[keep], whole.masses[keep], []
    for p in whole.parts:
        a, b = max(low, p.low), min(high, p.high)
        if a < b and p.mass(a, b) > 0:
            parts.append(Part(p.weight, p.dist, a, b, (*p.marks, a, b)))
    total = math.fsum([*masses, *(float(p.mass(p.low, p.high)) for p in parts)])
    return Line(values, masses / total, tuple(Part(p.weight / total, p.dist, p.low, p.high, p.marks) for p in parts))


def before(line: Line, goal: Any, victim: float | None) -> float:
    """The prior probability of the goal."""
    knots = _ends_of(goal, victim)
    inner = [-np.inf, *sorted(knots), np.inf]
    total = [float(line.masses[_met(goal, line.values, victim)].sum())]
    for a, b in itertools.pairwise(inner):
        if a < b and _met(goal, np.array([_between(a, b)]), victim, single=False)[0]:
            total += [float(p.mass(a, b)) for p in line.parts]
    return math.fsum(total)


def posterior(
    line: Line, goal: Any, victim: float | None, slope: float, jump: float = 0.0, *, rounds: int = 3
) -> float:
    """The largest posterior found for a goal on this number (any and, or, not); never above the truth."""
    k = slope / radius_of(goal)
    knots = _knots(line, _ends_of(goal, victim), k)
    found = 0.0
    for _ in range(rounds):
        share, knots = _best(line, lambda x, **how: _met(goal, x, victim, **how), knots, k)
        found = max(found, share)
    if found >= 1 or not jump:
        return found
    return 1 / (1 + (1 - found) / max(found, 1e-300) * math.exp(-jump))


def gain(line: Line, goal: Any, victim: float | None, slope: float, jump: float = 0.0) -> float:
    return posterior(line, goal, victim, slope, jump) - before(line, goal, victim)


def _between(a: float, b: float) -> float:
    if math.isinf(a):
        return b - 1 - abs(b) if math.isfinite(b) else 0.0
    return a + (b - a) / 2 if math.isfinite(b) else a + 1 + abs(a)


def _met(goal: Any, x: np.ndarray, victim: float | None, *, single: bool = True) -> np.ndarray:
    names = {n for g in leaves(goal) for n in (g.attributes or (None,))}
    return np.asarray(meets(goal, dict.fromkeys(names, x), dict.fromkeys(names, victim), single=single))


def _ends_of(goal: Any, victim: float | None) -> set[float]:
    found: set[float] = set()
    for leaf in map(bare, leaves(goal)):
        if kind(leaf) == "Within":
            found |= {victim - leaf.radius, victim + leaf.radius}
        elif kind(leaf) == "Exactly":
            found |= {victim}
        else:
            found |= {leaf.low, leaf.high} if leaf.values is None else {float(v) for v in leaf.values}
    return found


def _knots(line: Line, ends: set[float], k: float) -> np.ndarray:
    """Ends of the goal, corners and quantiles of the prior, single values; and finely around those, as 1/k says."""
    shares = np.concatenate([10.0 ** np.arange(-17, -2.0, 0.25), np.linspace(0.01, 0.99, 199)])
    marks = np.array([m for p in line.parts for m in p.marks if math.isfinite(m)] + sorted(ends))
    found = [marks, line.values]
    for p in line.parts:
        found += [p.dist.ppf(shares), p.dist.isf(shares)]
        wide = [x for x in (p.low, p.high, *p.dist.ppf([1e-3, 0.999])) if math.isfinite(x)]
        found.append(np.linspace(min(wide), max(wide), 400 if len(line.parts) == 1 else 60))
    whole = np.concatenate(found)
    low, high = line.ends
    low, high = max(low, float(np.nanmin(whole[np.isfinite(whole)]))), min(high, float(whole[np.isfinite(whole)].max()))
    if line.parts:
        unit = min(1 / k if k else np.inf, high - low)
        steps = unit * np.concatenate(
            [10.0 ** np.arange(-4, -1, 0.5), np.arange(0.1, 4, 0.1), 4 * 1.15 ** np.arange(24)]
        )
        centres = np.concatenate(
            [
                marks,
                line.values if line.values.size < 40 else line.values[:0],
                *[p.dist.ppf([0.5]) for p in line.parts[:20]],
            ]
        )
        near = 1.6 ** -np.arange(60.0) * (high - low)
        found += [(centres[:, None] + steps).ravel(), (centres[:, None] - steps).ravel(), low + near, high - near]
    whole = np.unique(np.concatenate(found))
    return whole[(whole >= low) & (whole <= high)]


STEEP = 3.0  # nats over a cell beyond which its average is not trusted to a quadrature


@dataclass(frozen=True)
class Cells:
    """Masses of cells and single values, whether they are right, and averages of e^{±k(x − left end)} over the cells."""

    step: np.ndarray
    mass: np.ndarray
    rising: np.ndarray
    falling: np.ndarray
    inside: np.ndarray
    single: np.ndarray  # at the knots; at the first and last also all beyond
    right: np.ndarray  # that part of it which is right

    def choices(self, aim: float) -> np.ndarray:
        """Where the likelihood rises that makes ∫(1_g − aim)·f largest."""
        up = np.exp(np.minimum(self.step, 600.0))
        worth = np.where(self.inside, 1 - aim, -aim) * self.mass
        steep = self.step > STEEP
        rising = np.where(steep, np.where(self.inside, 1.0, up), self.rising) * worth
        falling = np.where(steep, np.where(self.inside, 1 / up, 1.0), self.falling) * worth
        at = (self.right - aim * self.single).tolist()
        return _choices(rising.tolist(), falling.tolist(), at, up.tolist())

    def share(self, rises: np.ndarray) -> float:
        """The posterior of that likelihood; in steep cells rounded down."""
        log = np.concatenate([[0.0], np.cumsum(np.where(rises, self.step, -self.step))])
        log -= log.max()
        plain = np.exp(log[:-1]) * np.where(rises, self.rising, self.falling)
        low, high = np.exp(np.minimum(log[:-1], log[1:])), np.exp(np.maximum(log[:-1], log[1:]))
        each = self.mass * np.where(self.step > STEEP, np.where(self.inside, low, high), plain)
        good = math.fsum(each[self.inside]) + math.fsum(np.exp(log) * self.right)
        bad = math.fsum(each[~self.inside]) + math.fsum(np.exp(log) * (self.single - self.right))
        return good / (good + bad) if good + bad > 0 else 0.0


def _choices(rising: list[float], falling: list[float], at: list[float], up: list[float]) -> np.ndarray:
    v, found = at[-1], [False] * len(up)
    for i in range(len(up) - 1, -1, -1):
        high, low = rising[i] + up[i] * v, falling[i] + v / up[i]
        found[i] = high > low
        v = min(max(high, low) + at[i], 1e280)  # so much stays positive to the left end
    return np.array(found)


def _cells(line: Line, met: Callable[..., np.ndarray], knots: np.ndarray, k: float) -> Cells:
    a, b = knots[:-1], knots[1:]
    x = a[:, None] + (b - a)[:, None] * (NODES + 1) / 2
    rise = np.exp(np.minimum(k * (x - a[:, None]), 600.0))
    masses, rising, falling = (np.zeros(a.size) for _ in range(3))
    for p in line.parts:
        some = (b > p.low) & (a < p.high)
        mass = p.mass(a[some], b[some])
        with np.errstate(all="ignore"):
            dense = np.nan_to_num(p.dist.pdf(x[some]) * WEIGHTS, posinf=0.0)
            lean = dense / dense.sum(axis=1, keepdims=True)
        lean = np.where(np.isfinite(lean), lean, WEIGHTS / 2)
        masses[some] += mass
        rising[some] += mass * (lean * rise[some]).sum(axis=1)
        falling[some] += mass * (lean / rise[some]).sum(axis=1)
    whole = np.where(masses > 0, masses, 1.0)
    single = np.zeros(knots.size)
    np.add.at(single, np.searchsorted(knots, line.values), line.masses)
    right = np.where(met(knots), single, 0.0)
    beyond = np.array([sum(float(p.mass(*ends)) for p in line.parts) for ends in ((-np.inf, a[0]), (b[-1], np.inf))])
    far = met(np.array([a[0], b[-1]]) + (b[-1] - a[0]) * np.array([-1e-9, 1e-9]), single=False)
    single[[0, -1]] += beyond
    right[[0, -1]] += beyond * far
    inside = met(a + (b - a) / 2, single=False)
    return Cells(k * (b - a), masses, rising / whole, falling / whole, inside, single, right)


def _best(line: Line, met: Callable[..., np.ndarray], knots: np.ndarray, k: float) -> tuple[float, np.ndarray]:
    """The best posterior on these cells, and knots that are finer where the likelihood turns."""
    if knots.size < 2:
        return float(met(knots)[0]), knots
    cells = _cells(line, met, knots, k)
    share, rises = 0.0, np.zeros(knots.size - 1, bool)
    for _ in range(60):
        rising = cells.choices(share)
        now = cells.share(rising)
        if now <= share * (1 + 1e-14):
            break
        share, rises = now, rising
    turns = np.flatnonzero(rises[1:] != rises[:-1])
    cut = np.unique(np.clip(np.concatenate([turns, turns + 1]), 0, knots.size - 2))
    cut = cut[np.argsort(-cells.step[cut])[:40]]  # where it matters most
    more = (knots[cut][:, None] + (knots[cut + 1] - knots[cut])[:, None] * np.arange(1, 24) / 24).ravel()
    return share, np.unique(np.concatenate([knots, more]))
