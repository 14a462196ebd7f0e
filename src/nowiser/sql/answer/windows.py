"""Window functions over released rows: ranks, rows before and after, totals of a partition or up to a row.

A rank is decided by noise and has no bar. A value of another row, or a total over rows that no noise has chosen or put
in order, keeps the bar it has.
"""

from collections.abc import Callable, Sequence
from functools import cmp_to_key
from typing import Any

from nowiser.sql.answer.traced import Traced, barless
from nowiser.sql.steps import Frame
from nowiser.sql.tree import Order, Type

RANKS = frozenset({"row_number", "rank", "dense_rank", "percent_rank", "cume_dist", "ntile"})
OTHERS = frozenset({"lag", "lead", "first_value", "last_value", "nth_value"})

Row = Sequence[Traced]


def compared(order: Sequence[Order]) -> Callable[[Sequence[Any], Sequence[Any]], int]:
    """How two rows of values to order by stand to each other."""

    def compare(one: Sequence[Any], other: Sequence[Any]) -> int:
        for a, b, by in zip(one, other, order, strict=True):
            if a == b:
                continue
            if a is None or b is None:
                return -1 if (a is None) == by.nulls_first else 1
            return (-1 if a < b else 1) * (-1 if by.descending else 1)
        return 0

    return compare


def in_order(keys: Sequence[Sequence[Any]], order: Sequence[Order]) -> list[int]:
    """The places of the rows by rising order; equal rows stay as they were."""
    compare = compared(order)

    def placed(i: int, j: int) -> int:
        return compare(keys[i], keys[j])

    return sorted(range(len(keys)), key=cmp_to_key(placed))


def ranks(function: str, keys: Sequence[Sequence[Any]], order: Sequence[Order], tiles: int) -> list[int | float]:
    """The rank of each row, which are in order already."""
    compare, many = compared(order), len(keys)
    first: list[int] = []
    dense: list[int] = []
    for i in range(many):
        tied = i > 0 and compare(keys[i - 1], keys[i]) == 0
        first.append(first[-1] if tied else i)
        dense.append(dense[-1] if tied else (dense[-1] + 1 if dense else 1))
    match function:
        case "row_number":
            return [i + 1 for i in range(many)]
        case "rank":
            return [f + 1 for f in first]
        case "dense_rank":
            return list(dense)
        case "percent_rank":
            return [f / (many - 1) if many > 1 else 0.0 for f in first]
        case "cume_dist":
            last = ends(keys, order)
            return [last[i] / many for i in range(many)]
    size, larger = divmod(many, tiles)
    cut = larger * (size + 1)
    return [i // (size + 1) + 1 if i < cut else larger + (i - cut) // max(1, size) + 1 for i in range(many)]


def ends(keys: Sequence[Sequence[Any]], order: Sequence[Order]) -> list[int]:
    """Behind which row the peers of each row end."""
    compare, found = compared(order), [len(keys)] * len(keys)
    for i in range(len(keys) - 2, -1, -1):
        found[i] = found[i + 1] if compare(keys[i], keys[i + 1]) == 0 else i + 1
    return found


def framed(frame: Frame, keys: Sequence[Sequence[Any]], order: Sequence[Order]) -> list[tuple[int, int]]:
    """From which row to behind which row the frame of each row goes."""
    many = len(keys)
    last = ends(keys, order) if frame.peers else []

    def one(i: int) -> tuple[int, int]:
        start = 0 if frame.first is None else min(max(i + frame.first, 0), many)
        stop = many if frame.last is None else min(max(i + frame.last + 1, 0), many)
        return (start, last[i]) if frame.peers else (start, max(start, stop))

    return [one(i) for i in range(many)]


def elsewhere(function: str, args: Sequence[Sequence[Traced]], frames: Sequence[tuple[int, int]]) -> list[Traced]:
    """LAG, LEAD and the first, last and n-th row of the frame."""
    values, many = args[0], len(args[0])
    found: list[Traced] = []
    for i in range(many):
        start, stop = frames[i]
        match function:
            case "lag" | "lead":
                by = int(args[1][i].value) if len(args) > 1 else 1
                at = i - by if function == "lag" else i + by
                missing = args[2][i] if len(args) > 2 else None
            case "first_value":
                at, missing = start, None
            case "last_value":
                at, missing = stop - 1, None
            case _:
                at, missing = start + int(args[1][i].value) - 1, None
        inside = 0 <= at < many if function in ("lag", "lead") else start <= at < stop
        found.append(values[at] if inside else missing or nothing(values[i]))
    return found


def nothing(like: Traced) -> Traced:
    known = like.lies(1)
    return barless(None) if known is None else Traced(None, lambda _: Type(known.kind, nullable=True))
