"""Goals joined by and, or, not, counted over the values of several columns together.

A goal is a tree of plain tuples, so that a claim about it can be written down and checked again elsewhere:

    ("and", ("within", "time", 2.0), ("exactly", "dish"))     ("not", ("among", "dish", ("soup",)))

Whoever wants to be right about `time within 2` and `dish exactly` guesses a time and a dish: one *centre* per
column. What a centre hits changes only at the column's values and at a distance from them, so finitely many
centres stand for all. Each combination of centres is one guess; which joint values it is right about is a row of
`Guesses.hits`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.microdata.table.column import Floats, Ints
from nowiser.model.goal import And, Exactly, Goal, In, Not, On, Or, Within

Tree = tuple[Any, ...]
Bools = NDArray[np.bool_]
CLOSE = 1e-9
MOST = 20_000_000  # guesses × joint values: what is counted in a few seconds


@dataclass(frozen=True, eq=False)
class Part:
    """One column of the joint values: its distinct values, and which of them each joint value has."""

    column: str
    labels: tuple[str | None, ...]  # None is NULL
    numbers: Floats  # NaN where a value is no number
    codes: Ints  # one per joint value


def tree_of(goal: Goal, table: str | None = None) -> Tree | None:
    """The goal as a tree over columns of one table; None if it names anything else (presence, other tables, a map)."""
    if isinstance(goal, Not):
        inner = tree_of(goal.goal, table)
        return None if inner is None else ("not", inner)
    if isinstance(goal, And | Or):
        parts = [tree_of(part, table) for part in goal.parts]
        return None if None in parts else ("and" if isinstance(goal, And) else "or", *parts)
    if not isinstance(goal, On) or len(goal.attributes) != 1:
        return None
    owner, dot, column = goal.attributes[0].partition(".")
    if table is None:
        column = goal.attributes[0]
    elif not dot or owner != table:
        return None
    return _atom(column, goal.goal)


def _atom(column: str, goal: Within | Exactly | In) -> Tree:
    if isinstance(goal, Within):
        return "within", column, float(goal.radius)
    if isinstance(goal, Exactly):
        return "exactly", column
    if goal.values is not None:
        return "among", column, tuple(sorted(str(v) for v in goal.values))
    return "between", column, goal.low, goal.high


def atoms(tree: Tree) -> Iterator[Tree]:
    """The conditions on single columns."""
    if tree[0] in {"and", "or", "not"}:
        for part in tree[1:]:
            yield from atoms(part)
    else:
        yield tree


def columns_of(tree: Tree) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(atom[1]) for atom in atoms(tree)))


@dataclass(frozen=True, eq=False)
class Guesses:
    """All guesses there are for a goal: `hits[g, v]` tells whether guess g is right about joint value v."""

    hits: Bools

    @staticmethod
    def of(tree: Tree, parts: Sequence[Part]) -> "Guesses":
        wanted = {part.column: [a for a in dict.fromkeys(atoms(tree)) if a[1] == part.column] for part in parts}
        tables = [_centres(part, wanted[part.column]) for part in parts]
        count = int(np.prod([len(t) for t in tables], dtype=np.int64))
        values = len(parts[0].codes)
        if count * max(1, values) > MOST:
            raise Misconfigured(
                f"the columns {', '.join(p.column for p in parts)} have too many values together to count a goal "
                f"about them: {count:,} guesses on {values:,} joint values",
                hint="Round or group them first, or limit each column by itself.",
            )
        rows = []
        for chosen in product(*(range(len(t)) for t in tables)):
            known = {
                atom: tables[j][chosen[j]][i][part.codes]
                for j, part in enumerate(parts)
                for i, atom in enumerate(wanted[part.column])
            }
            rows.append(_holds(tree, known))
        return Guesses(np.unique(np.array(rows, dtype=bool).reshape(len(rows), values), axis=0))

    def chances(self, shares: Floats) -> Floats:
        """From shares of joint values (rows × values) to chances of guesses (rows × guesses)."""
        return np.asarray(shares @ self.hits.T.astype(np.float64))


def _holds(tree: Tree, known: dict[Tree, Bools]) -> Bools:
    if tree[0] == "not":
        return np.asarray(~_holds(tree[1], known))
    if tree[0] in {"and", "or"}:
        join = np.logical_and if tree[0] == "and" else np.logical_or
        return np.asarray(reduce(join, [_holds(part, known) for part in tree[1:]]))
    return known[tree]


def _centres(part: Part, wanted: Sequence[Tree]) -> list[list[Bools]]:
    """For every centre that differs from the others, what each condition hits among the column's values."""
    radii = [float(a[2]) for a in wanted if a[0] == "within"]
    numbers = part.numbers
    if radii and not np.isfinite(numbers[[label is not None for label in part.labels]]).all():
        raise Misconfigured(f"a goal within {radii[0]:g} needs numbers, and {part.column!r} has other values")
    known = numbers[np.isfinite(numbers)]
    centres: list[Any]
    if radii and len(known):
        points = np.unique(np.concatenate([known, *(known + r for r in radii), *(known - r for r in radii)]))
        centres = [*points, *((points[1:] + points[:-1]) / 2), points[-1] + 1.0]
    else:  # each value, and one that nobody has
        centres = [*range(len(part.labels)), -1]
    found: dict[bytes, list[Bools]] = {}
    for centre in centres:
        hit = [_hits(atom, part, centre, by_number=bool(radii)) for atom in wanted]
        found.setdefault(np.concatenate(hit).tobytes(), hit)
    return list(found.values())


def _hits(atom: Tree, part: Part, centre: Any, *, by_number: bool) -> Bools:
    kind = atom[0]
    if kind == "within":
        return np.asarray(np.abs(part.numbers - centre) <= atom[2] + CLOSE)
    if kind == "exactly":
        return np.asarray(
            np.abs(part.numbers - centre) <= CLOSE if by_number else np.arange(len(part.labels)) == centre
        )
    if kind == "among":
        return np.array([label in atom[2] for label in part.labels], dtype=bool)
    return np.asarray((part.numbers >= atom[2] - CLOSE) & (part.numbers <= atom[3] + CLOSE))
