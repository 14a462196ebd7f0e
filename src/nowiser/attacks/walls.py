"""What separates an attack from the truth: copies of tables, functions behind a wall, answers that are plain values.

A column is lazy: it holds its whole source and which rows of it are meant. In a view that would be the original, in its
order. A function of a gateway or a recipe leads to all it closes over. So a view gets copies, and functions it can only
call. This keeps an attack honest, and it finds its own slips; it is no sandbox for hostile code.
"""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nowiser.attacks.predicates import Term
from nowiser.attacks.view import Guesses
from nowiser.errors import NotEvaluated
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

PLAIN = {str, int, float, bool, type(None)}


def copied(table: MicroTable, names: tuple[str, ...] | list[str]) -> MicroTable:
    """These columns only, of unknown origin, with no values but those of these rows."""
    return MicroTable(tuple(_copied(table[n]) for n in names), np.full(table.rows, -1, dtype=np.int64))


def _copied(column: Column) -> Column:
    used = np.flatnonzero(column.counts())
    new = np.full(len(column.values) + 1, -1, dtype=np.int32)
    new[used] = np.arange(len(used), dtype=np.int32)
    return Column.of_codes(column.name, new[column.codes], column.values.take(pa.array(used)))


_BEHIND: "WeakKeyDictionary[Behind, Callable[..., Any]]" = WeakKeyDictionary()


class Behind:
    """A function that can be called and not looked into."""

    __slots__ = ("__weakref__",)

    def __init__(self, function: Callable[..., Any]) -> None:
        _BEHIND[self] = function

    def __call__(self, *given: Any, **named: Any) -> Any:
        return _BEHIND[self](*given, **named)


def plain(guesses: Guesses, victims: int, attack: str) -> Guesses:
    """The same as values that equal nothing but themselves, one for each victim."""
    value, confidence = np.asarray(guesses.value), np.asarray(guesses.confidence, np.float64)
    silent = np.asarray(guesses.silent, bool)
    if any(len(a) != victims for a in (value, confidence, silent)):
        raise NotEvaluated(f"the attack {attack!r} did not answer once for each of the {victims} victims")
    if value.dtype == object:
        value = _objects(value, attack)
    return Guesses(value, np.nan_to_num(confidence, nan=-np.inf, posinf=np.inf, neginf=-np.inf), silent, guesses.course)


def _objects(value: NDArray[Any], attack: str) -> NDArray[Any]:
    for one in value.tolist():
        parts = one if type(one) is tuple else (one,)
        if any(type(p.label if type(p) is Term else p) not in PLAIN for p in parts):
            raise NotEvaluated(f"the attack {attack!r} answered something that is no value ({type(one).__name__})")
    return value
