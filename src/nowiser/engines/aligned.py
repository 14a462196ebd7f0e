"""What an engine found, in the order of the plan's groups; a group without rows has zeros."""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nowiser.model.schema import Kind
from nowiser.sql.plan import Plan

_AS_NUMBER = {Kind.DATE: (pa.date32(), pa.int32()), Kind.TIMESTAMP: (pa.timestamp("us"), pa.int64())}
_ARROW = {Kind.TEXT: pa.string(), Kind.INTEGER: pa.int64(), Kind.REAL: pa.float64(), Kind.BOOLEAN: pa.bool_()}


def aligned(found: pa.Table, plan: Plan) -> list[NDArray[Any]]:
    """`result[c][g]`: cell c of group g, as whole numbers. Groups outside the declared values are dropped."""
    width = len(plan.query.keys)
    codes = [
        _codes(found.column(i), key.declared.kind, plan.groups.domains[i]) for i, key in enumerate(plan.query.keys)
    ]
    at = plan.groups.positions(codes)
    return [_placed(found.column(i), at, len(plan.groups)) for i in range(width, found.num_columns)]


def _codes(column: Any, kind: Kind, domain: Any) -> NDArray[np.int64]:
    """The index of each key in its domain, −1 for none. Dates count days and timestamps microseconds."""
    if kind in _AS_NUMBER:
        plain, number = _AS_NUMBER[kind]
        column = column.cast(plain).cast(number)
        values = pa.array(domain, number)
    else:
        values = pa.array(domain, _ARROW[kind])
        column = column.cast(_ARROW[kind])
    found = pc.index_in(column, value_set=values)
    return np.asarray(pc.fill_null(found, -1).to_numpy(), dtype=np.int64)


def _placed(column: Any, at: NDArray[np.int64], groups: int) -> NDArray[Any]:
    small = pa.types.is_integer(column.type)
    values = column.to_numpy() if small else np.array([int(v) for v in column.to_pylist()], dtype=object)
    cells = np.zeros(groups, dtype=np.int64 if small else object)
    known = at >= 0
    cells[at[known]] = values[known]
    return cells
