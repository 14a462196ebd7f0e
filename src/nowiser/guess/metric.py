"""A grid and its costs as a linear programme: which rows tie which cells, and the certified answer for one goal."""

import itertools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.programme import Programme, Rows, Solution, axis_rows, joined, solve
from nowiser.guess.space import Space
from nowiser.model.priors.base import Floats

MAP_PAIRS = 150  # points of a map up to which all pairs are asked for


@dataclass(frozen=True, eq=False)
class Question:
    """Rates in nats per raw unit and jumps, per axis; or one Euclidean rate and jump for a map."""

    rates: tuple[float, ...]
    jumps: tuple[float, ...]
    map_rate: float | None = None
    map_jump: float = 0.0


def solved(space: Space, question: Question, inside: Any, share: Floats) -> Solution:
    """The programme for one goal. Cells that the goal cuts in two become two variables."""
    shape, n = space.masses.shape, space.masses.size
    flat, part = space.masses.ravel(), np.broadcast_to(share, shape).ravel()
    inside = np.broadcast_to(inside, shape).ravel()
    cut = np.flatnonzero((part > 0) & (part < 1) & inside) if space.continuous else np.zeros(0, np.intp)
    if not space.continuous:
        rows, helpers = _metric(space, question, n)
        masses = np.concatenate([flat, np.zeros(helpers)])
        return solve(Programme(masses, rows), np.concatenate([inside, np.zeros(helpers, bool)]))
    # variables: cells (what is outside of a cut cell), the inside of cut cells, centres, helpers
    masses = np.concatenate([np.where(np.isin(np.arange(n), cut), flat * (1 - part), flat), flat[cut] * part[cut]])
    count = masses.size
    rows, helpers = _metric(space, replace(question, jumps=tuple(0.0 for _ in shape), map_jump=0.0), n)
    rows = (rows[0] + count, rows[1] + count, rows[2])
    centre = np.concatenate([np.arange(n), cut]) + count
    spread = _spread(space, question)[np.concatenate([np.arange(n), cut])]
    jump = sum(question.jumps) + question.map_jump
    cell = np.arange(count)
    ties: Rows = (
        np.concatenate([cell, centre]),
        np.concatenate([centre, cell]),
        np.concatenate([spread + jump, spread]),
    )
    mask = np.concatenate([inside & ~np.isin(np.arange(n), cut), np.ones(cut.size, bool), np.zeros(n + helpers, bool)])
    empty = np.concatenate([masses <= 0, np.zeros(n + helpers, bool)])
    full = np.concatenate([masses, np.zeros(n + helpers)])
    return solve(Programme(full, joined([rows, ties])), mask & ~empty)


def _spread(space: Space, question: Question) -> Floats:
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
        rows, used = axis_rows(shape, i, (question.rates[i], question.jumps[i]), axis.places, n + helpers)
        parts.append(rows)
        helpers += used
    return joined(parts), helpers


def _map_rows(space: Space, question: Question, n: int) -> tuple[Rows, int]:
    """Euclidean distance: all pairs of few points, else near neighbours in many directions (looser, never wrong)."""
    assert question.map_rate is not None
    places = np.stack(np.meshgrid(*[a.places for a in space.axes if a.places is not None], indexing="ij"), -1)
    points = places.reshape(n, -1)
    if n <= MAP_PAIRS:
        i, j = (x.ravel() for x in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
        i, j = i[i != j], j[i != j]
    else:
        index = np.arange(n).reshape(space.masses.shape)
        steps = [s for s in itertools.product(range(-2, 3), repeat=index.ndim) if np.gcd.reduce(s) == 1]
        pairs = [_shifted(index, s) for s in steps]
        i, j = np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs])
    distance = np.sqrt(((points[i] - points[j]) ** 2).sum(1))
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
