"""The people of a block, from tables of counts published about it: integer programming finds records that fit them all.

Garfinkel, Abowd and Martindale, "Understanding Database Reconstruction Attacks on Public Data", 2018. A record is
*certified* if every table of people that fits the publication holds it: then the attacker knows it, with proof.
Unknowns are how many people have each possible record; every published count is a sum of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, csr_array, hstack, vstack

from nowiser.attacks.view import Floats, Goal, Guesses, Ints, View
from nowiser.errors import NotEvaluated

SECONDS = 60.0  # of one search


@dataclass(frozen=True, eq=False)
class Programme:
    """low ≤ rows·x ≤ high for whole x from 0 to most. The first `cells` unknowns count people, the others help."""

    cells: int
    rows: csr_array
    low: Floats
    high: Floats
    most: Floats

    def with_rows(self, rows: csr_array, low: Floats, high: Floats, helpers: int = 0) -> "Programme":
        """Further conditions, with this many further unknowns (0 or 1), whose columns come last."""
        wide = csr_array((self.rows.shape[0], helpers))
        return replace(
            self,
            rows=csr_array(vstack([hstack([self.rows, wide]), rows])),
            low=np.concatenate([self.low, low]),
            high=np.concatenate([self.high, high]),
            most=np.concatenate([self.most, np.ones(helpers)]),
        )


def of_tables(
    sizes: Sequence[int], tables: Mapping[tuple[int, ...], NDArray[np.int64]]
) -> tuple[Programme, NDArray[np.int64]]:
    """The programme of full tables of counts over some attributes each; also the possible records, one row each.

    sizes: how many values each attribute has. tables: attributes → counts, one axis for each of them.
    """
    possible = np.zeros((1, 0), np.int64)
    for attribute, size in enumerate(sizes):  # one attribute after the other: what a table says nobody is, is left out
        n = len(possible)
        possible = np.column_stack([np.repeat(possible, size, axis=0), np.tile(np.arange(size), n)])
        for over, counts in tables.items():
            if attribute in over and max(over) <= attribute:
                possible = possible[counts[tuple(possible[:, a] for a in over)] > 0]
    blocks, totals = [], []
    for over, counts in tables.items():
        at = np.ravel_multi_index(tuple(possible[:, a] for a in over), counts.shape)
        size = counts.size
        blocks.append(coo_array((np.ones(len(possible)), (at, np.arange(len(possible)))), shape=(size, len(possible))))
        totals.append(counts.ravel().astype(np.float64))
    total = np.concatenate(totals)
    rows = csr_array(vstack(blocks))
    used = (np.diff(rows.indptr) > 0) | (total > 0)
    most = np.full(len(possible), np.inf)
    for over, counts in tables.items():
        most = np.minimum(most, counts[tuple(possible[:, a] for a in over)])
    return Programme(len(possible), csr_array(rows[used]), total[used], total[used], most), possible


def tables_of(records: NDArray[np.int64], sizes: Sequence[int], ways: int) -> dict[tuple[int, ...], NDArray[np.int64]]:
    """All tables of counts over this many attributes each."""
    found = {}
    for over in combinations(range(len(sizes)), ways):
        shape = tuple(sizes[a] for a in over)
        at = np.ravel_multi_index(tuple(records[:, a] for a in over), shape)
        found[over] = np.bincount(at, minlength=int(np.prod(shape))).reshape(shape)
    return found


def solve(programme: Programme, towards: Floats | None = None, seconds: float = SECONDS) -> Ints | None:
    """Counts that fit, with the largest `towards`·x; None if there are none."""
    n = len(programme.most)
    cost = np.zeros(n) if towards is None else -towards
    found = milp(
        cost,
        constraints=LinearConstraint(programme.rows, programme.low, programme.high),
        bounds=Bounds(np.zeros(n), programme.most),
        integrality=np.ones(n),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    if found.status == 2:
        return None
    if found.x is None or found.status != 0:
        raise NotEvaluated("the search for people who fit the tables took too long", hint="Try a smaller block.")
    return np.asarray(np.round(found.x[: programme.cells]), np.int64)


def _drops(programme: Programme, counts: Ints, cells: Ints, least: int) -> Programme:
    """A helper for each of the cells that may be 1 only where fewer people have the record; so many at least are."""
    at, k = len(programme.most), len(cells)
    rows = np.zeros((k + 1, at + k))
    rows[np.arange(k), cells] = 1.0
    most = programme.most[cells]
    rows[np.arange(k), at + np.arange(k)] = most - counts[cells] + 1  # x ≤ most, or x ≤ count − 1
    rows[k, at:] = 1.0
    low = np.concatenate([np.full(k, -np.inf), [least]])
    return programme.with_rows(csr_array(rows), low, np.concatenate([most, [float(k)]]), k)


def certified(programme: Programme, seconds: float = SECONDS) -> Ints:
    """For each possible record how many people have it in every table that fits: those are known for certain."""
    first = solve(programme, seconds=seconds)
    if first is None:
        raise NotEvaluated("no people fit the tables: they contradict each other")
    least = first
    while (still := np.flatnonzero(least)).size:
        wider = _drops(programme, least, still, 1)
        towards = np.zeros(len(wider.most))
        towards[len(programme.most) :] = 1.0  # as many less as possible at once
        other = solve(wider, towards, seconds)
        if other is None:
            break
        least = np.minimum(least, other)
    return least


@dataclass(frozen=True)
class Blocks:
    """He names one certified record for each victim whose known attributes single out a secret; else he is silent."""

    name: str = "people of a block"
    goal: Goal = "value"
    against: str = "blocks"
    knows: str = "the victim's other attributes"
    source: str = "Garfinkel, Abowd and Martindale 2018"
    needs: frozenset[str] = frozenset({"counts"})
    minutes: float = 0.1

    def guess(self, view: View, random: np.random.Generator) -> Guesses:  # noqa: ARG002 (he tosses no coins)
        sizes, tables = view.more["sizes"], view.more["counts"]
        known: NDArray[np.int64] = view.more["known"]  # one row a victim; the last attribute is the secret
        programme, possible = of_tables(sizes, tables)
        least, some = certified(programme), solve(programme)
        assert some is not None, "certified found one"
        value, sure = np.zeros(len(known), np.int64), np.zeros(len(known))
        for v, hers in enumerate(known):
            like = (possible[:, :-1] == hers).all(axis=1)
            secrets, proven, fitting = possible[like, -1], least[like], some[like]
            if not fitting.sum():
                continue
            best = int(np.argmax(proven * 1000 + fitting))
            value[v] = secrets[best]
            sure[v] = proven[best] / fitting.sum() + fitting[best] / fitting.sum() / 1000
        return Guesses.of(value, sure)


ATTACK = Blocks()
