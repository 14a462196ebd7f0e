"""Rows of an engine that speaks no Arrow, as the table the gateway reads."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from nowiser.model.schema import Kind
from nowiser.sql.plan import Tally

_KEYS = {
    Kind.INTEGER: pa.int64(),
    Kind.REAL: pa.float64(),
    Kind.TEXT: pa.string(),
    Kind.BOOLEAN: pa.bool_(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
}
_SMALL = 2**63


def from_rows(rows: Sequence[Sequence[Any]], tally: Tally) -> pa.Table:
    """Columns k0, k1, … and c0, c1, …; cells too large for 64 bits as decimals."""
    columns = list(zip(*rows, strict=True)) if rows else [()] * (len(tally.keys) + len(tally.cells))
    keys = [pa.array(c, _KEYS[k.type.kind]) for c, k in zip(columns[: len(tally.keys)], tally.keys, strict=True)]
    cells = [_whole(c) for c in columns[len(tally.keys) :]]
    names = [f"k{i}" for i in range(len(keys))] + [f"c{i}" for i in range(len(cells))]
    return pa.table(dict(zip(names, [*keys, *cells], strict=True)))


def _whole(values: Sequence[Any]) -> pa.Array:
    numbers = [int(v) for v in values]
    small = all(-_SMALL <= n < _SMALL for n in numbers)
    return pa.array(numbers, pa.int64() if small else pa.decimal128(38, 0))
