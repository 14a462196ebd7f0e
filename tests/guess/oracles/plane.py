"""Several numbers, continuous and dependent: posteriors of likelihoods that obey the costs, summed over many points.

A linear programme on a coarse grid (THEORY 6) says how much f is at its points c_i. Between them the likelihood is
f(y) = max over i of f_i·e^{−D(c_i, y)}, D with a jump for each attribute whose cell differs: it obeys the costs for all
pairs of points, so its posterior, summed over a fine grid, is attained, up to that sum. Single peaks at random
places, higher on the goal by its jump, are tried beside it; of three and more attributes they are all (`peaks`).
"""

import functools
import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.stats
from scipy.optimize import linprog
from scipy.sparse import coo_matrix

from .line import line_of
from .truth import bare, kind, leaves, meets, radius_of

Points = tuple[dict[str, np.ndarray], np.ndarray]


def names_of(prior: Any) -> tuple[str, ...]:
    return tuple(prior) if isinstance(prior, Mapping) else tuple(prior.names)


def points(prior: Any, cuts: Mapping[str, Any], n: int) -> Points:
    """Middles of some n^d boxes and their masses; boxes end at the cuts (and where the density jumps)."""
    names = names_of(prior)
    edges = [_edges(prior, i, name, np.array(sorted(cuts.get(name, ()))), n) for i, name in enumerate(names)]
    middles = [(e[:-1] + e[1:]) / 2 for e in edges]
    if isinstance(prior, Mapping):
        lines = [line_of(prior[name]) for name in names]
        each = [
            sum((p.mass(e[:-1], e[1:]) for p in one.parts), np.zeros(e.size - 1))
            for e, one in zip(edges, lines, strict=True)
        ]
        middles = [np.concatenate([m, one.values]) for m, one in zip(middles, lines, strict=True)]
        masses = _outer([np.concatenate([m, one.masses]) for m, one in zip(each, lines, strict=True)])
    elif kind(prior) == "JointHistogram":
        at = [np.searchsorted(own, m, "right") - 1 for own, m in zip(prior.edges, middles, strict=True)]
        shares = [np.diff(e) / np.diff(own)[i] for e, own, i in zip(edges, prior.edges, at, strict=True)]
        masses = prior.masses[np.ix_(*at)] * _outer(shares)
    else:
        dense = scipy.stats.multivariate_normal(prior.mean, prior.covariance).pdf(
            np.stack(np.meshgrid(*middles, indexing="ij"), -1)
        )
        masses = dense * _outer([np.diff(e) for e in edges])
    mesh = np.meshgrid(*middles, indexing="ij")
    return {name: m.ravel() for name, m in zip(names, mesh, strict=True)}, (masses / masses.sum()).ravel()


def _outer(each: list[np.ndarray]) -> np.ndarray:
    """The product of an array per axis, on the grid."""
    return functools.reduce(np.multiply.outer, each)


def _edges(prior: Any, i: int, name: str, cuts: np.ndarray, n: int) -> np.ndarray:
    if isinstance(prior, Mapping):
        low, high = line_of(prior[name]).ends
        spread = line_of(prior[name]).quantiles(np.array([1e-6, 1 - 1e-6]))
        base = np.array([max(low, spread[0]), min(high, spread[-1])])
        base = np.concatenate([base, [m for p in line_of(prior[name]).parts for m in p.marks if np.isfinite(m)]])
    elif kind(prior) == "JointHistogram":
        base = prior.edges[i]
    else:
        base = prior.mean[i] + np.sqrt(prior.covariance[i, i]) * np.array([-6.0, 6.0])
    low, high = base.min(), base.max()
    marks = np.unique(np.concatenate([base, cuts[(cuts > low) & (cuts < high)]]))
    each = [np.linspace(a, b, max(n // 4, round(n * (b - a) / (high - low))) + 1) for a, b in itertools.pairwise(marks)]
    return np.unique(np.concatenate(each))


def sampled(prior: Any, n: int, rng: np.random.Generator) -> Points:
    """Samples of a multivariate normal or a joint histogram, all with the same mass."""
    if kind(prior) == "MultivariateNormal":
        x = rng.multivariate_normal(prior.mean, prior.covariance, n)
    else:
        at = np.unravel_index(
            rng.choice(prior.masses.size, n, p=prior.masses.ravel() / prior.masses.sum()), prior.masses.shape
        )
        x = np.stack([e[i] + np.diff(e)[i] * rng.random(n) for e, i in zip(prior.edges, at, strict=True)], 1)
    return {name: x[:, i] for i, name in enumerate(prior.names)}, np.full(n, 1 / n)


def cuts_of(goal: Any, victim: Mapping[str, Any]) -> dict[str, set[float]]:
    """The ends of the goal on each attribute."""
    found: dict[str, set[float]] = {}
    for leaf in leaves(goal):
        simple = bare(leaf)
        for name in leaf.attributes:
            reach = (
                {victim[name] - simple.radius, victim[name] + simple.radius}
                if kind(simple) == "Within"
                else {simple.low, simple.high}
            )
            found.setdefault(name, set()).update(reach)
    return found


def rates_of(goal: Any, costs: Any, names: tuple[str, ...]) -> tuple[dict[str, float], dict[str, float], bool]:
    """Nats per unit and jumps by attribute; and whether they are one Euclidean rate (then the jump is the first's)."""
    if not isinstance(costs, Mapping):
        about = {n for g in leaves(goal) for n in g.attributes}
        whole = any(len(g.attributes) > 1 for g in leaves(goal))
        rates = {n: costs.slope / radius_of(goal) for n in about}
        return rates, dict.fromkeys(about, costs.jump), whole
    rates = {n: costs[n].slope / radius_of(goal, n) for n in names if n in costs}
    return rates, {n: costs[n].jump for n in rates}, False


def apart(
    at: Mapping[str, np.ndarray], centre: Mapping[str, Any], rates: Mapping[str, float], *, euclidean: bool
) -> np.ndarray:
    """The slopes' part of the cost between points and a centre."""
    if euclidean:
        return np.sqrt(sum((rates[n] * (at[n] - centre[n])) ** 2 for n in rates))
    return sum((rates[n] * np.abs(at[n] - centre[n]) for n in rates), np.zeros(next(iter(at.values())).size))


def lifts(
    goal: Any, values: Mapping[str, np.ndarray], victim: Any, jumps: Mapping[str, float], *, euclidean: bool
) -> list[np.ndarray]:
    """What jumps may add to the logarithm: the cheapest on the goal; or each where its own first part is (not) met."""
    inside = meets(goal, values, victim, single=False)
    every = {n for g in leaves(goal) for n in g.attributes}
    found = [min(jumps.get(n, 0.0) for n in every) * inside]
    for sign in () if euclidean else (True, False):
        parts = {n: next(g for g in leaves(goal) if n in g.attributes) for n in jumps if n in every}
        found.append(
            sum((jumps[n] * (meets(g, values, victim, single=False) == sign) for n, g in parts.items()), 0.0 * inside)
        )
    return found


def peaks(goal: Any, costs: Any, victim: Mapping[str, Any], on: Points, tries: int = 12) -> float:
    """The largest posterior of single peaks around the victim."""
    (values, masses), rng = on, np.random.default_rng(0)
    rates, jumps, euclidean = rates_of(goal, costs, tuple(values))
    inside, best = meets(goal, values, victim, single=False), 0.0
    for lift in lifts(goal, values, victim, jumps, euclidean=euclidean):
        for i in range(tries):
            at = {n: victim[n] + (i > 0) * rng.normal() * radius_of(goal, n) for n in values}
            best = max(best, _share(lift - apart(values, at, rates, euclidean=euclidean), masses, inside))
    return best


@dataclass(frozen=True)
class Attained:
    """A posterior that a likelihood attains, what its sum may be off, and the programme's value on the coarse grid."""

    share: float
    off: float
    programme: float


def posterior(
    prior: Any, goal: Any, costs: Any, victim: Mapping[str, Any], *, fine: int = 160, coarse: int = 18
) -> Attained:
    """The largest posterior found for two continuous attributes; `off` compares sums over fine² boxes and a quarter."""
    how = rates_of(goal, costs, names_of(prior))
    found = _programme(prior, goal, victim, how, coarse)
    sums = []
    for n in (fine // 2, fine):
        values, masses = on = points(prior, cuts_of(goal, victim), n)
        inside = meets(goal, values, victim, single=False)
        between = _share(_between(values, found, how), masses, inside)
        sums.append(max(between, peaks(goal, costs, victim, on)))
    return Attained(sums[1], abs(sums[1] - sums[0]) + 1e-4 * min(sums[1], 1 - sums[1]), found[3])


def _between(values: Mapping[str, np.ndarray], found: Any, how: Any) -> np.ndarray:
    """The logarithm of the likelihood at any points, from that on the coarse grid."""
    (rates, jumps, euclidean), (edges, centres, logs, _) = how, found
    cell = {n: np.searchsorted(e, values[n], "right") for n, e in edges.items()}
    of = {n: np.searchsorted(e, centres[n], "right") for n, e in edges.items()}
    best = np.full(next(iter(values.values())).size, -np.inf)
    for i in np.flatnonzero(logs > logs.max() - 60):
        away = apart(values, {n: c[i] for n, c in centres.items()}, rates, euclidean=euclidean)
        differ = {n: cell[n] != of[n][i] for n in jumps}
        if euclidean:
            away = away + max(jumps.values()) * np.logical_or.reduce(list(differ.values()))
        else:
            away = sum((jumps[n] * differ[n] for n in jumps), away)
        best = np.maximum(best, logs[i] - away)
    return best


def prior_share(prior: Any, goal: Any, victim: Mapping[str, Any], fine: int = 300) -> float:
    """The prior probability of the goal, summed over fine² boxes."""
    values, masses = points(prior, cuts_of(goal, victim), fine)
    return float(masses[meets(goal, values, victim, single=False)].sum())


def _share(log: np.ndarray, masses: np.ndarray, inside: np.ndarray) -> float:
    each = masses * np.exp(log - log.max())
    return float(each[inside].sum() / each.sum())


def _programme(
    prior: Any, goal: Any, victim: Any, how: Any, n: int
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray], np.ndarray, float]:
    """The programme on the middles of a coarse grid: its cells, their middles, logarithms of f there, its value."""
    rates, jumps, euclidean = how
    cuts = cuts_of(goal, victim)
    values, masses = points(prior, cuts, n)
    edges = {
        name: _edges(prior, i, name, np.array(sorted(cuts.get(name, ()))), n) for i, name in enumerate(names_of(prior))
    }
    inside = meets(goal, values, victim, single=False)
    if not inside.any() or inside.all():
        return edges, values, np.zeros(masses.size), float(inside.all())
    rows, size = _all_pairs(values, inside, how) if euclidean else _along_axes(values, rates, jumps)
    above, under, cost = rows
    row = np.arange(above.size)
    entries = np.concatenate([np.exp(-cost), -np.ones(row.size)]), (np.tile(row, 2), np.concatenate([above, under]))
    full, goal_full = (np.concatenate([x, np.zeros(size - masses.size)]) for x in (masses, masses * inside))
    found = linprog(-goal_full, coo_matrix(entries, (row.size, size)).tocsr(), np.zeros(row.size), full[None, :], [1.0],
                    bounds=(0, None), method="highs", options={"time_limit": 20.0})  # fmt: skip
    f = np.where(inside, found.x[: masses.size] if found.x is not None else 1.0, 0.0)
    with np.errstate(divide="ignore"):
        return edges, values, np.log(np.maximum(f, 0.0)), -float(found.fun) if found.x is not None else math.nan


def _all_pairs(values: Mapping[str, np.ndarray], inside: np.ndarray, how: Any) -> tuple[Any, int]:
    """Rows f(above) ≤ e^cost·f(under) for all pairs across the border of the goal (Euclidean distances)."""
    rates, jumps, _ = how
    i, j = (x.ravel() for x in np.meshgrid(np.flatnonzero(inside), np.flatnonzero(~inside), indexing="ij"))
    cost = np.sqrt(sum((rates[n] * (values[n][i] - values[n][j])) ** 2 for n in rates)) + max(jumps.values())
    near = np.argsort(cost)[:20_000]
    return (i[near], j[near], cost[near]), inside.size


def _along_axes(
    values: Mapping[str, np.ndarray], rates: Mapping[str, float], jumps: Mapping[str, float]
) -> tuple[Any, int]:
    """Rows between neighbours on each axis; with a jump J of a helper h that has no jumps, h ≤ f ≤ e^J·h."""
    names = list(values)
    index = np.arange(next(iter(values.values())).size).reshape([np.unique(v).size for v in values.values()])
    size, rows = index.size, []
    for axis, name in enumerate(names):
        rate, jump = rates.get(name, 0.0), jumps.get(name, 0.0)
        own = index
        if jump:
            own, size = index + size, size + index.size
            rows += [
                (own.ravel(), index.ravel(), np.zeros(index.size)),
                (index.ravel(), own.ravel(), np.full(index.size, jump)),
            ]
        flat = values[name].reshape(index.shape)
        a, b = (np.moveaxis(x, axis, 0) for x in (own, flat))
        step = rate * np.abs(b[1:] - b[:-1]).ravel()
        rows += [(a[1:].ravel(), a[:-1].ravel(), step), (a[:-1].ravel(), a[1:].ravel(), step)]
    return tuple(np.concatenate(each) for each in zip(*rows, strict=True)), size
