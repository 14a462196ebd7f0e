"""Beliefs after several releases exactly, where few enough worlds hang together: every world is counted.

Cells are filled one after the other. What matters for the rest is only what is still to be placed in each group, so
worlds that leave the same are counted together, forwards and backwards.
"""

from collections import defaultdict
from math import factorial

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from nowiser.microdata.releases.worlds import Worlds
from nowiser.microdata.table.column import Floats, Ints

PEOPLE = 40  # of a component, above which it is not tried
STEPS = 20_000  # ways to fill a cell that are looked at, per component
ALL = 600_000  # and of all components together
State = tuple[int, ...]


def components(w: Worlds) -> Ints:
    """A number per cell: cells that share a group have the same."""
    cells, offset, rows, columns = len(w.size), len(w.size), [], []
    for j in range(w.groups.shape[1]):
        here = np.flatnonzero(w.groups[:, j] >= 0)
        rows.append(here)
        columns.append(offset + w.groups[here, j])
        offset += int(w.groups[:, j].max(initial=-1)) + 1
    first, second = np.concatenate(rows), np.concatenate(columns)
    graph = coo_array((np.ones(len(first), np.int8), (first, second)), shape=(offset, offset))
    return np.asarray(connected_components(graph, directed=False)[1][:cells], dtype=np.int64)


def pinned(w: Worlds) -> Ints:
    """1 for cells that are all of some group: what was counted in it is theirs."""
    out = np.zeros(len(w.size), np.int64)
    for j in range(w.groups.shape[1]):
        there = w.groups[:, j] >= 0
        members = np.bincount(w.groups[there, j], weights=w.size[there])
        out[there] |= members[w.groups[there, j]] == w.size[there]
    return out


def exact(w: Worlds, mass: Floats) -> tuple[Floats, Ints]:
    """`mass` with the components that are small enough counted exactly; and which cells those are (1) or not (0)."""
    out, done = mass.copy(), pinned(w)
    part = components(w)
    people = np.bincount(part, weights=w.size)
    start = np.searchsorted(w.cell, np.arange(len(w.size) + 1))
    order = np.argsort(part, kind="stable")
    left = ALL
    bounds = np.searchsorted(part[order], np.arange(len(people) + 1))
    for p in np.argsort(people, kind="stable"):
        if people[p] > PEOPLE or left <= 0:
            break
        cells = order[bounds[p] : bounds[p + 1]]
        if done[cells].all():
            continue
        found = _count(w, cells.tolist(), start, min(STEPS, left))
        if found is None:
            left -= STEPS
            continue
        left -= found[1]
        done[cells] = 1
        for pair, expected in found[0].items():
            out[pair] = expected
    return out, done


def _count(w: Worlds, cells: list[int], start: Ints, budget: int) -> tuple[dict[int, float], int] | None:
    """Expected rows per pair of these cells, or None where there are too many ways to fill them."""
    cells = sorted(cells, key=lambda c: w.groups[c].tolist())
    pairs = {c: list(range(int(start[c]), int(start[c + 1]))) for c in cells}
    spots: dict[tuple[int, int], int] = {}
    uses = {
        e: [spots.setdefault((j, int(p)), len(spots)) for j, p in enumerate(w.places[e]) if p >= 0]
        for c in cells
        for e in pairs[c]
    }
    base = w.base
    begin = tuple(int(w.releases[j].rows[p]) for j, p in spots)
    layers: list[dict[State, float]] = [{begin: 1.0}]
    moves: list[list[tuple[State, State, float, tuple[int, ...]]]] = []
    last = {i: c for c in cells for e in pairs[c] for i in uses[e]}  # the cell after which nothing of it may be left
    for c in cells:
        after: dict[State, float] = defaultdict(float)
        made = []
        closed = [i for i, at in last.items() if at == c]
        for state, weight in layers[-1].items():
            for filled, remaining in _fill(int(w.size[c]), pairs[c], state, uses):
                budget -= 1
                if budget < 0:
                    return None
                if any(remaining[i] for i in closed):
                    continue
                ways = float(factorial(int(w.size[c])))
                for e, n in zip(pairs[c], filled, strict=True):
                    free = not uses[e]
                    ways *= (float(base[w.value[e]]) ** n if free else 1.0) / factorial(n)
                after[remaining] += weight * ways
                made.append((state, remaining, ways, filled))
        layers.append(dict(after))
        moves.append(made)
    back: dict[State, float] = dict.fromkeys(layers[-1], 1.0)
    total = sum(layers[-1].values())
    if not total:
        return None  # no world at all: the releases contradict each other, which `likely` tells
    expected: dict[int, float] = {e: 0.0 for c in cells for e in pairs[c]}
    for c, layer, made in zip(reversed(cells), reversed(layers[:-1]), reversed(moves), strict=True):
        here: dict[State, float] = defaultdict(float)
        for state, remaining, ways, filled in made:
            worth = ways * back.get(remaining, 0.0)
            here[state] += worth
            for e, n in zip(pairs[c], filled, strict=True):
                expected[e] += n * layer[state] * worth / total
        back = here
    return expected, sum(len(m) for m in moves)


def _fill(
    people: int, pairs: list[int], state: State, uses: dict[int, list[int]]
) -> list[tuple[tuple[int, ...], State]]:
    """Every way to give the people of a cell values of which something is left."""
    found: list[tuple[tuple[int, ...], State]] = []

    def go(at: int, left: int, taken: tuple[int, ...], now: State) -> None:
        if at == len(pairs):
            if not left:
                found.append((taken, now))
            return
        room = min([left, *(now[i] for i in uses[pairs[at]])])
        for n in range(room + 1):
            rest = now
            if n:
                changed = list(now)
                for i in uses[pairs[at]]:
                    changed[i] -= n
                rest = tuple(changed)
            go(at + 1, left - n, (*taken, n), rest)

    go(0, people, (), state)
    return found
