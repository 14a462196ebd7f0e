"""What an engine found, in the order of the plan's groups; a group without rows has zeros."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import pyarrow as pa

from nowiser.sql.plan import Plan

_EPOCH = date(1970, 1, 1)


def aligned(found: pa.Table, plan: Plan) -> list[Sequence[int]]:
    """`result[c][g]`: cell c of group g. Groups outside the declared values are dropped."""
    width = len(plan.query.keys)
    columns = [found.column(i).to_pylist() for i in range(found.num_columns)]
    keys = [tuple(_key(v) for v in row) for row in zip(*columns[:width], strict=True)] if width else [()]
    at = {key: i for i, key in enumerate(keys)}
    rows = [at.get(group) for group in plan.groups]
    return [[0 if i is None else int(cells[i]) for i in rows] for cells in columns[width:]]


def _key(value: Any) -> Any:
    """Dates count days and timestamps microseconds, as in declared domains."""
    if isinstance(value, datetime):
        elapsed = value - datetime(1970, 1, 1)  # noqa: DTZ001 (timestamps have no time zone here)
        return (elapsed.days * 86400 + elapsed.seconds) * 10**6 + elapsed.microseconds
    return (value - _EPOCH).days if isinstance(value, date) else value
