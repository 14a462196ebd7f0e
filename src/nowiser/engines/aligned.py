"""What an engine found, in the order of the plan's groups; a group without rows has zeros."""

from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from nowiser.engines.arrow import column, numbers
from nowiser.model.schema import Kind, Value
from nowiser.sql.aggregates.histograms import Histogram
from nowiser.sql.aggregates.picked import Counted
from nowiser.sql.aggregates.picking import Picking
from nowiser.sql.aggregates.running import in_order
from nowiser.sql.plan.groups import Group, Groups, Listed, SetGroups
from nowiser.sql.plan.plan import Plan

_AS_NUMBER = {Kind.DATE: (pa.date32(), pa.int32()), Kind.TIMESTAMP: (pa.timestamp("us"), pa.int64())}
_ARROW = {Kind.TEXT: pa.string(), Kind.INTEGER: pa.int64(), Kind.REAL: pa.float64(), Kind.BOOLEAN: pa.bool_()}

_ZERO = column([0.0], pa.float64())[0]
_WHOLE = {Kind.INTEGER, Kind.DATE, Kind.TIMESTAMP}


def aligned(found: pa.Table, plan: Plan) -> list[NDArray[Any]]:
    """`result[c][g]`: cell c of group g, as whole numbers. Groups outside the declared values are dropped."""
    keys, groups = plan.query.keys, plan.measured
    width = len(keys)
    match groups:
        case Groups():
            codes = [_codes(found.column(i), key.type.kind, groups.domains[i]) for i, key in enumerate(keys)]
            at = groups.positions(codes)
        case SetGroups():
            at = _in_sets(found, plan, groups)
            width += 1
        case Listed():
            places = {group: i for i, group in enumerate(groups)}
            at = np.array([places.get(key, -1) for key in found_keys(found, plan)], dtype=np.int64)
    return [_placed(found.column(i), at, len(groups)) for i in range(width, found.num_columns)]


def counts(found: pa.Table, plan: Plan, histogram: Histogram | Picking) -> NDArray[np.int64] | Counted:
    """`result[g, m]`: measurement m of a histogram in group g, exact. Of picks, the buckets that have rows."""
    groups = plan.groups
    assert isinstance(groups, Groups), "planned for such groups only"
    if isinstance(histogram, Picking):
        return _sparse(found, plan, groups, histogram.size)
    if not histogram.grouped:
        return histogram.strategy.measure(aligned(found, plan)[0][in_order(plan, histogram)].astype(np.int64)[None, :])
    size = len(histogram.buckets)
    kept = None if groups.kept is None else tuple(k * size + i for k in groups.kept for i in range(size))
    wide = replace(
        plan,
        query=histogram.question(plan.query),
        groups=Groups((*groups.domains, tuple(histogram.buckets)), kept),
    )
    return histogram.strategy.measure(aligned(found, wide)[0].reshape(len(groups), size).astype(np.int64))


def _sparse(found: pa.Table, plan: Plan, groups: Groups, size: int) -> Counted:
    keys = plan.query.keys
    codes = [_codes(found.column(i), key.type.kind, groups.domains[i]) for i, key in enumerate(keys)]
    at = groups.positions(codes) if keys else np.zeros(found.num_rows, dtype=np.int64)
    bucket, rows = (numbers(found.column(i), missing=-1) for i in (len(keys), len(keys) + 1))
    known = np.flatnonzero((at >= 0) & (bucket >= 0) & (bucket < size) & (rows > 0))
    known = known[np.lexsort((bucket[known], at[known]))]
    return Counted(at[known], bucket[known].astype(np.int64), rows[known].astype(np.int64))


def found_keys(found: pa.Table, plan: Plan) -> list[Group]:
    """The key of each row an engine gave, in the values of the policy: days, microseconds."""
    columns = [_plain(found.column(i), key.type.kind).to_pylist() for i, key in enumerate(plan.query.keys)]
    return list(zip(*columns, strict=True))


def distinct_keys(found: pa.Table, kind: Kind) -> tuple[Value, ...]:
    """The values of the first key, in order, without NULL."""
    return tuple(sorted({v for v in _plain(found.column(0), kind).to_pylist() if v is not None}))


def with_found(found: pa.Table, plan: Plan) -> Plan:
    """The plan with the groups that were found in the data, where none are declared: sorted, NULL last.

    Rows of persons without a value are in no group; of public rows NULL is a group like any other.
    """
    if not isinstance(plan.groups, Listed):
        return plan
    every = {g for g in found_keys(found, plan) if plan.discovery is None or None not in g}
    groups = sorted(every, key=lambda g: tuple((v is None, 0 if v is None else v) for v in g))
    return replace(plan, groups=Listed(len(plan.query.keys), tuple(groups)))


def _in_sets(found: pa.Table, plan: Plan, groups: SetGroups) -> NDArray[np.int64]:
    keys = plan.query.keys
    which = numbers(found.column(len(keys)))
    at = np.full(len(which), -1, dtype=np.int64)
    start = 0
    for place, (one, part) in enumerate(zip(groups.sets, groups.parts, strict=True)):
        rows = np.flatnonzero(which == place)
        own = found.take(column(rows, pa.int64()))
        codes = [_codes(own.column(i), keys[i].type.kind, part.domains[n]) for n, i in enumerate(one)]
        placed = part.positions(codes) if codes else np.zeros(len(rows), dtype=np.int64)
        at[rows] = np.where(placed >= 0, placed + start, -1)
        start += len(part)
    return at


def _plain(column: Any, kind: Kind) -> Any:
    if kind in _AS_NUMBER:
        plain, number = _AS_NUMBER[kind]
        return column.cast(plain).cast(number)
    plain = column if column.type == _ARROW[kind] else column.cast(_ARROW[kind])
    return pc.add(plain, _ZERO) if kind is Kind.REAL else plain  # Arrow takes 0.0 and −0.0 for different


def _codes(keys: Any, kind: Kind, domain: Any) -> NDArray[np.int64]:
    """The index of each key in its domain, −1 for none. Dates count days and timestamps microseconds.

    Where the last of a domain is None, that is the place of NULL.
    """
    null = len(domain) - 1 if len(domain) and domain[-1] is None else -1
    listed = domain if null < 0 else domain[:null]
    plain = _plain(keys, kind)
    if kind in _WHOLE and len(listed) and not plain.null_count:
        rising = np.asarray(listed, dtype=np.int64)
        if (rising[1:] > rising[:-1]).all():  # as a declared range is: found by bisection, without a table of hashes
            wanted = numbers(plain)
            at = np.minimum(np.searchsorted(rising, wanted), len(rising) - 1)
            return np.where(rising[at] == wanted, at, -1)
    listed = [v + 0.0 for v in listed] if kind is Kind.REAL else listed
    values = column(listed, _AS_NUMBER[kind][1] if kind in _AS_NUMBER else _ARROW[kind])
    codes = numbers(pc.index_in(plain, value_set=values), missing=-1).astype(np.int64)
    return codes if null < 0 else np.where(numbers(plain.is_null().cast(pa.int8())) == 1, null, codes)


def _placed(found: Any, at: NDArray[np.int64], groups: int) -> NDArray[Any]:
    small = pa.types.is_integer(found.type)
    values = numbers(found) if small else np.array([int(v) for v in found.to_pylist()], dtype=object)
    cells = np.zeros(groups, dtype=np.int64 if small else object)
    known = at >= 0
    cells[at[known]] = values[known]
    return cells
