"""A grid and its costs as a linear programme: which rows tie which cells, and the certified answer for one goal."""

import functools
import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.grid.programme import Programme, Rows, Solution, axis_rows, joined, solve
from nowiser.guess.grid.space import Axis, Space
from nowiser.model.priors.base import Floats

SLIVER = 1e-5  # the smallest share of a cell that is told apart
FAINT = 1e-12  # the smallest mass that is told apart
MAP_PAIRS = 150  # points of a map up to which all pairs are asked for


@dataclass(frozen=True, eq=False)
class Question:
    """Rates in nats per raw unit and jumps, per axis; or one Euclidean rate and jump for a map."""

    rates: tuple[float, ...]
    jumps: tuple[float, ...]
    map_rate: float | None = None
    map_jump: float = 0.0


def solved(space: Space, question: Question, share: Floats, area: Floats) -> Solution:
    """The programme for the goal that has this share of each cell's mass (and this share of its area).

    **Cells.** The variables are averages over cells. Let h be a likelihood without the jump, h(x) ≤ e^{d(x,y)} h(y).
    Moving the uniform law on one box to that on another, axis by axis, moves no point farther than w, which has
    |Δcentre| + |Δhalf width| on each axis; so the plain averages obey m ≤ e^{d(w)} m' exactly, and between boxes of one
    size nothing is lost. Averages weighted with a density that varies inside the cell are tied to them by `leaning`,
    averages over the part of a cell that a goal cuts off by `cut_off`. Then m ≤ h ≤ f ≤ e^J h for averages of f.

    **Cells beside points.** Where some axes have single values or labels, y, only the jumps J of the axes with cells,
    x, are taken out: h(x, y) = min over x' of e^{d(x,x')} f(x', y). Then h ≤ f ≤ e^J h as before, and whatever f obeys
    along y for every x', h and its averages over a cell obey too: there the rows are those of points.
    """
    shape, n = space.masses.shape, space.masses.size
    flat, part = space.masses.ravel(), np.broadcast_to(share, shape).ravel()
    if not space.continuous:
        rows, helpers = _metric(space, question, n)
        inside = np.concatenate([part > 0, np.zeros(helpers, bool)])
        return solve(Programme(np.concatenate([flat, np.zeros(helpers)]), rows), inside)
    # slivers would make the programme ill-conditioned; a little more of the goal is sound
    part = np.where(part > 1 - SLIVER, 1.0, np.where(part > 0, np.maximum(part, SLIVER), 0.0))
    cut = np.flatnonzero((part > 0) & (part < 1))
    whole = (part <= 0) | (part >= 1)
    masses = np.concatenate([np.where(whole, flat, flat * (1 - part)), flat[cut] * part[cut]])
    cells = [a.borders is not None for a in space.axes]
    jump = sum(j for j, cell in zip(question.jumps, cells, strict=True) if cell) + question.map_jump
    count = masses.size
    span, (lean, lean_of_part) = 2 * spread(space, question), leaning(space, question)
    # the average of a cell is a variable of its own unless it is that of its only part
    own = ~whole | (lean > 0) | (jump > 0)
    steady = tuple(0.0 if cell else j for j, cell in zip(question.jumps, cells, strict=True))
    rows, helpers = _metric(space, replace(question, jumps=steady, map_jump=0.0), n)
    centre = np.concatenate([np.arange(n), count + int(own.sum()) + np.arange(helpers)])
    centre[:n][own] = count + np.arange(int(own.sum()))
    rows = (centre[rows[0]], centre[rows[1]], rows[2])
    inner = np.broadcast_to(area, shape).ravel()
    size = np.concatenate([np.where(whole, 1.0, 1 - inner), inner[cut]])  # of each part, as a share of its cell
    tied = np.concatenate([np.flatnonzero(own), n + np.arange(cut.size)])
    of = np.concatenate([np.flatnonzero(own), cut])
    loose = np.where(whole[of], lean[of], lean_of_part[of])
    rises, falls = (np.minimum(d + loose, span[of]) for d in cut_off(size[tied], span[of]))
    ties: Rows = (
        np.concatenate([tied, centre[of]]),
        np.concatenate([centre[of], tied]),
        np.concatenate([rises + jump, falls]),
    )
    goal = np.concatenate([part >= 1, np.ones(cut.size, bool)])
    # what may be wrong about a mass counts inside and not outside
    masses = np.where(goal, masses + space.off * (masses > 0), np.maximum(masses - space.off, 0.0))
    # so are masses beyond the solver's digits: more of them inside and none outside is sound
    masses = np.where(goal, np.where(masses > 0, np.maximum(masses, FAINT), 0.0), np.where(masses < FAINT, 0.0, masses))
    full = np.concatenate([masses, np.zeros(int(own.sum()) + helpers)])
    mask = np.concatenate([goal, np.zeros(int(own.sum()) + helpers, bool)])
    return solve(Programme(full, joined([rows, ties])), mask & (full > 0))


def cut_off(share: Floats, span: Floats) -> tuple[Floats, Floats]:
    """How far the average over a part with this share of a box's area can be above and below that of the whole box.

    As logarithms: everything else in the box is at most e^{±span} times the part's average.
    """
    with np.errstate(divide="ignore"):
        above, below = (np.logaddexp(np.log(share), np.log1p(-share) + side * span) for side in (-1, 1))
    return np.abs(above), np.maximum(below, 0.0)


def leaning(space: Space, question: Question) -> tuple[Floats, Floats]:
    """How far averages weighted with the density are from plain ones, as logarithms: over cells and over their parts.

    They differ by the covariance of value and density. *Cells:* at most the product of their standard deviations, each
    of which is at most (longest side)/π times the largest slope (Poincaré's inequality on a convex set, with Payne and
    Weinberger's constant); the slope of the likelihood is at most rate·(its largest value), that of the density
    steepness·(its largest). *Parts:* at most half the range of the values times the mean deviation of the density.
    All of it for each combination of values of the axes that have no cells: they change the density by a factor.
    """
    if space.shape is None:
        return np.zeros(space.masses.size), np.zeros(space.masses.size)
    low, high = _ends(space)
    span = 2 * spread(space, question)
    rate = question.map_rate if question.map_rate is not None else float(np.hypot.reduce(question.rates))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        bottom, top = space.shape.heights(low, high)
        tilt, side, steep = (
            np.broadcast_to(found, space.masses.shape).ravel()
            for found in (
                top / bottom,
                functools.reduce(np.maximum, [b - a for a, b in zip(low, high, strict=True)]),
                np.sqrt(sum(m**2 for m in space.shape.slopes(low, high))),
            )
        )
        whole = (side / np.pi) ** 2 * rate * steep * np.exp(np.minimum(span, 300.0)) * tilt
        part = np.expm1(np.minimum(span, 300.0)) * (tilt - 1) / 2
    return _deviation(np.fmin(whole, part), span), _deviation(part, span)


def _ends(space: Space) -> tuple[list[Floats], list[Floats]]:
    """The lower and upper ends of the cells on each axis that has some, to be broadcast against each other."""
    along = [
        a.borders.reshape([-1 if j == i else 1 for j in range(len(space.axes))])
        for i, a in enumerate(space.axes)
        if a.borders is not None
    ]
    which = [i for i, a in enumerate(space.axes) if a.borders is not None]
    return (
        [np.delete(b, -1, axis=i) for b, i in zip(along, which, strict=True)],
        [np.delete(b, 0, axis=i) for b, i in zip(along, which, strict=True)],
    )


def _deviation(part: Floats, span: Floats) -> Floats:
    """An average that is off by this part of the smallest value, as a logarithm; no value is off by more than span."""
    small = part < 1 - 1e-9
    return np.where(small, np.minimum(-np.log1p(-np.where(small, part, 0.0)), span), span)


def spread(space: Space, question: Question) -> Floats:
    """The largest cost from the centre of a cell to one of its points."""
    sizes = [a.half for a in space.axes]
    mesh = np.meshgrid(*sizes, indexing="ij")
    if question.map_rate is not None:
        return np.asarray(question.map_rate * np.sqrt(sum(m**2 for m in mesh))).ravel()
    return np.asarray(sum(r * m for r, m in zip(question.rates, mesh, strict=True))).ravel()


def _metric(space: Space, question: Question, n: int) -> tuple[Rows, int]:
    shape = space.masses.shape
    if question.map_rate is not None:
        return _map_rows(space, question, n)
    parts, helpers = [], 0
    for i, axis in enumerate(space.axes):
        if axis.places is None and question.rates[i]:
            raise Misconfigured(f"{axis.name} has labels, which have no distances: its slope must be 0")
        rows, used = axis_rows(shape, i, (question.rates[i], question.jumps[i]), _stretched(axis), n + helpers)
        parts.append(rows)
        helpers += used
    return joined(parts), helpers


def _stretched(axis: Axis) -> Floats | None:
    """Places whose gaps are how far a cell must be moved, and stretched, to become the next."""
    if axis.places is None or axis.borders is None or axis.size == 1:
        return axis.places
    return np.concatenate([[0.0], np.cumsum(np.diff(axis.places) + np.abs(np.diff(axis.half)))])


def _map_rows(space: Space, question: Question, n: int) -> tuple[Rows, int]:
    """Euclidean distance: all pairs of few points, else near neighbours in many directions (looser, never wrong)."""
    assert question.map_rate is not None
    places = np.stack(np.meshgrid(*[a.places for a in space.axes if a.places is not None], indexing="ij"), -1)
    halves = np.stack(np.meshgrid(*[a.half for a in space.axes], indexing="ij"), -1)
    points, sizes = places.reshape(n, -1), halves.reshape(n, -1)
    if n <= MAP_PAIRS:
        i, j = (x.ravel() for x in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
        i, j = i[i != j], j[i != j]
    else:
        index = np.arange(n).reshape(space.masses.shape)
        steps = [s for s in itertools.product(range(-2, 3), repeat=index.ndim) if np.gcd.reduce(s) == 1]
        pairs = [_shifted(index, s) for s in steps]
        i, j = np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs])
    moved = np.abs(points[i] - points[j]) + np.abs(sizes[i] - sizes[j])  # see `solved`; of points the distance itself
    distance = np.sqrt((moved**2).sum(1))
    if not question.map_jump:
        return (i, j, question.map_rate * distance), 0
    cells, helper = np.arange(n), n + np.arange(n)
    links = (np.concatenate([helper, cells]), np.concatenate([cells, helper]), np.repeat([0.0, question.map_jump], n))
    return joined([(i + n, j + n, question.map_rate * distance), links]), n


def _shifted(index: Any, step: tuple[int, ...]) -> tuple[Any, Any]:
    here = tuple(slice(max(0, -s), index.shape[a] - max(0, s)) for a, s in enumerate(step))
    there = tuple(slice(max(0, s), index.shape[a] - max(0, -s)) for a, s in enumerate(step))
    return index[here].ravel(), index[there].ravel()


def reach_of(space: Space, question: Question) -> float:
    """The largest cost between two records."""
    widths = [0.0 if a.places is None else float(np.ptp(a.places) + a.half[0] + a.half[-1]) for a in space.axes]
    if question.map_rate is not None:
        return question.map_rate * float(np.sqrt(sum(w * w for w in widths))) + question.map_jump
    return sum(r * w for r, w in zip(question.rates, widths, strict=True)) + sum(question.jumps)
