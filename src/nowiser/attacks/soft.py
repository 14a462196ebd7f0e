"""Rows as numbers: a label becomes the shares of the values it covers, so that coarse and fine rows can be compared."""

from collections.abc import MutableMapping
from dataclasses import dataclass

import numpy as np

from nowiser.attacks.view import Floats, Ints, View
from nowiser.microdata.risk.labels import fit
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

FEW = 12  # different numbers that are as good as categories
Memo = MutableMapping[tuple[str, ...], Floats]


@dataclass(frozen=True, eq=False)
class Encoded:
    """Victims and released rows in the same coordinates."""

    known: Floats
    seen: Floats


@dataclass(frozen=True, eq=False)
class Block:
    """The coordinates of one column. The last value and the last label are NULL."""

    values: Floats  # values of the victims × coordinates
    labels: Floats  # labels of the release × coordinates
    known: Ints  # the value of each victim
    seen: Ints  # the label of each released row


def encoded(view: View, known: MicroTable, seen: MicroTable, names: tuple[str, ...]) -> Encoded:
    """Categories as indicators (a label that covers several: their shares), numbers as a rank and its tenths."""
    made = blocks(view, known, seen, names)
    if not made:
        return Encoded(np.ones((known.rows, 1)), np.ones((seen.rows, 1)))
    return Encoded(np.hstack([b.values[b.known] for b in made]), np.hstack([b.labels[b.seen] for b in made]))


def blocks(
    view: View, known: MicroTable, seen: MicroTable, names: tuple[str, ...], memo: Memo | None = None
) -> list[Block]:
    """The coordinates of each column by itself. memo: labels that were read already, of the same victims."""
    return [_column(view, known[name], seen[name], {} if memo is None else memo) for name in names]


def _column(view: View, old: Column, new: Column, memo: Memo) -> Block:
    counts = np.append(old.counts(), old.nulls).astype(np.float64)
    values = _numbers(old, counts) if old.is_numeric and len(old.values) > FEW else np.eye(len(counts))
    key = (old.name, *new.labels)
    if key not in memo:
        memo[key] = _read(view, old, new, counts, values)
    last = (len(counts) - 1, len(new.labels))
    known, seen = (
        np.where(c.codes < 0, null, c.codes).astype(np.int64) for c, null in zip((old, new), last, strict=True)
    )
    return Block(values, memo[key], known, seen)


def _read(view: View, old: Column, new: Column, counts: Floats, values: Floats) -> Floats:
    """Each label as the mean of the values it covers."""
    weight = fit(old, new, view.labels.get(old.name)).fits.astype(np.float64) * counts[:, None]
    total = weight.sum(axis=0)
    here = (weight / np.where(total > 0, total, 1.0)).T @ values
    if values.shape[1] < len(counts) and new.is_numeric:  # numbers that no victim has: where they fall among theirs
        lost = total[:-1] <= 0
        numbers = old.value_numbers
        order = np.argsort(numbers)
        at = np.interp(new.value_numbers, numbers[order], values[:-1, 0][order])
        here[:-1][lost] = _placed(at)[lost]
    return np.asarray(here)


def _numbers(old: Column, counts: Floats) -> Floats:
    """The rank of each number among the victims', and its tenth. NULL is in the middle."""
    order = np.argsort(old.value_numbers)
    rank = np.empty(len(order))
    middle = np.cumsum(counts[:-1][order]) - counts[:-1][order] / 2
    rank[order] = middle / max(1.0, counts[:-1].sum())
    return _placed(np.append(rank, 0.5))


def _placed(rank: Floats) -> Floats:
    return np.column_stack([rank, np.eye(10)[np.clip((rank * 10).astype(int), 0, 9)]])
