"""Rows as numbers: a label becomes the shares of the values it covers, so that coarse and fine rows can be compared."""

from dataclasses import dataclass

import numpy as np

from nowiser.attacks.view import Floats, View
from nowiser.microdata.risk.labels import fit
from nowiser.microdata.table.micro_table import MicroTable

FEW = 12  # different numbers that are as good as categories


@dataclass(frozen=True, eq=False)
class Encoded:
    """Victims and released rows in the same coordinates."""

    known: Floats
    seen: Floats


def encoded(view: View, known: MicroTable, seen: MicroTable, names: tuple[str, ...]) -> Encoded:
    """Categories as indicators (a label that covers several: their shares), numbers as a rank and its tenths."""
    made = blocks(view, known, seen, names)
    if not made:
        return Encoded(np.ones((known.rows, 1)), np.ones((seen.rows, 1)))
    return Encoded(np.hstack([b.known for b in made]), np.hstack([b.seen for b in made]))


def blocks(view: View, known: MicroTable, seen: MicroTable, names: tuple[str, ...]) -> list[Encoded]:
    """The coordinates of each column by itself."""
    return [_column(view, known, seen, name) for name in names]


def _column(view: View, known: MicroTable, seen: MicroTable, name: str) -> Encoded:
    old, new = known[name], seen[name]
    fits = fit(old, new, view.labels.get(name)).fits.astype(np.float64)
    counts = np.append(old.counts(), old.nulls).astype(np.float64)
    weight = fits * counts[:, None]
    total = weight.sum(axis=0)
    shares = (weight / np.where(total > 0, total, 1.0)).T  # labels × values
    numeric = old.is_numeric and len(old.values) > FEW
    if not numeric:
        return Encoded(np.eye(len(counts))[old.codes], shares[new.codes])
    numbers = old.value_numbers
    order = np.argsort(numbers)
    rank = np.empty(len(numbers))
    middle = np.cumsum(counts[:-1][order]) - counts[:-1][order] / 2
    rank[order] = middle / max(1.0, counts[:-1].sum())
    place = np.append(rank, 0.5)
    tenth = np.eye(10)[np.clip((place * 10).astype(int), 0, 9)]
    axes = np.column_stack([place, tenth])
    here = shares @ axes
    if new.is_numeric:  # numbers that no victim has: where they fall among theirs
        lost = total[:-1] <= 0
        at = np.interp(new.value_numbers, numbers[order], rank[order])
        own = np.column_stack([at, np.eye(10)[np.clip((at * 10).astype(int), 0, 9)]])
        here[:-1][lost] = own[lost]
    return Encoded(axes[old.codes], here[new.codes])
