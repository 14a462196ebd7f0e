"""Arrow columns from rows and numbers, and back.

`pa.array`, `to_numpy`, `fill_null` and the like import pandas wherever it is installed: 40 MB and a third of a second
that no question needs. On the way of a question `column` and `numbers` stand for them.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nowiser.model.schema import Kind
from nowiser.sql.plan.tally import Tally

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


def column(values: Sequence[Any] | NDArray[Any], of: pa.DataType | None = None) -> pa.Array:
    """An Arrow column of texts, whole numbers, reals or truths; missing is None, and what a masked array masks.

    `of`: the type; that of the array where none is named.
    """
    there = None
    if isinstance(values, np.ma.MaskedArray):
        if np.ma.is_masked(values):
            there = pa.py_buffer(np.packbits(~np.ma.getmaskarray(values), bitorder="little"))
            values = values.filled(0)
    elif not isinstance(values, np.ndarray) and None in values:
        there = pa.py_buffer(np.packbits([v is not None for v in values], bitorder="little"))
        values = [("" if of == pa.string() else 0) if v is None else v for v in values]
    if of == pa.string():
        spelled = [str(v).encode() for v in values]
        ends = np.zeros(len(spelled) + 1, dtype=np.int32)
        np.cumsum([len(s) for s in spelled], out=ends[1:])
        return pa.Array.from_buffers(of, len(spelled), [there, pa.py_buffer(ends), pa.py_buffer(b"".join(spelled))])
    if of is None:
        of = pa.from_numpy_dtype(np.asarray(values).dtype)
    data = np.asarray(values, dtype=of.to_pandas_dtype())
    data = np.packbits(data, bitorder="little") if of == pa.bool_() else np.ascontiguousarray(data)
    return pa.Array.from_buffers(of, len(values), [there, pa.py_buffer(data)])


def numbers(found: pa.ChunkedArray, missing: int | None = None) -> NDArray[Any]:
    """A column of whole numbers or reals; what is missing becomes `missing`."""
    parts = [_numbers(chunk, missing) for chunk in found.chunks]
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([*parts, np.zeros(0, dtype=found.type.to_pandas_dtype())])


def _numbers(chunk: pa.Array, missing: int | None) -> NDArray[Any]:
    data = np.frombuffer(chunk.buffers()[1] or b"", dtype=chunk.type.to_pandas_dtype(), count=-1)
    data = data[chunk.offset : chunk.offset + len(chunk)]
    if not chunk.null_count:
        return data
    assert missing is not None, "counts and sums are never missing"
    there = chunk.is_valid().cast(pa.int8())
    return np.where(_numbers(there, None) == 1, data, missing)


def _whole(values: Sequence[Any]) -> pa.Array:
    numbers = [int(v) for v in values]
    small = all(-_SMALL <= n < _SMALL for n in numbers)
    return pa.array(numbers, pa.int64() if small else pa.decimal128(38, 0))
