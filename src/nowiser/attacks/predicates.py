"""Predicates on several columns, and whether exactly one person satisfies them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.attacks.view import Bools
from nowiser.microdata.table.micro_table import MicroTable


@dataclass(frozen=True)
class Term:
    """A column has this label, or a number from low to high."""

    column: str
    label: str | None = None
    low: float = -np.inf
    high: float = np.inf

    def holds(self, table: MicroTable) -> Bools:
        column = table[self.column]
        if self.label is None:
            each = (column.value_numbers >= self.low) & (column.value_numbers <= self.high)
        else:
            each = np.array([label == self.label for label in column.labels], dtype=bool)
        return np.asarray(np.append(each, False)[column.codes])


Predicate = tuple[Term, ...]


def isolated(predicates: NDArray[Any], table: MicroTable) -> Bools:
    """For each predicate whether exactly one row satisfies it."""
    out = np.zeros(len(predicates), dtype=bool)
    known: dict[Term, Bools] = {}
    for i, predicate in enumerate(predicates):
        if not predicate:
            continue
        held = np.ones(table.rows, dtype=bool)
        for term in predicate:
            if term not in known:
                known[term] = term.holds(table)
            held = held & known[term]
        out[i] = np.count_nonzero(held) == 1
    return out
