"""Window functions over released rows: `RANK() OVER (ORDER BY COUNT(*) DESC)`, shares of a total, LAG, running sums.

They look at rows of the answer, never at rows of data, and are computed after the noise.
"""

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from nowiser.model.schema import Kind
from nowiser.sql.answer.totals import result
from nowiser.sql.functions.base import ORDERED
from nowiser.sql.interval import EVERYTHING, Interval
from nowiser.sql.read.expressions.bind import Binder
from nowiser.sql.read.written import written
from nowiser.sql.steps import WHOLE, Frame, Total, Window
from nowiser.sql.tree import Expression, Literal, Order, Type

MOST_WINDOWS = 64
MOST_APART = 10_000  # rows, of LAG, of a frame

RANKS: dict[type[exp.Expr], str] = {
    exp.RowNumber: "row_number",
    exp.Rank: "rank",
    exp.DenseRank: "dense_rank",
    exp.PercentRank: "percent_rank",
    exp.CumeDist: "cume_dist",
    exp.Ntile: "ntile",
}
OTHERS: dict[type[exp.Expr], str] = {
    exp.Lag: "lag",
    exp.Lead: "lead",
    exp.FirstValue: "first_value",
    exp.LastValue: "last_value",
    exp.NthValue: "nth_value",
}
TOTALS: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
    exp.Median: "median",
    exp.Variance: "var_samp",
    exp.VariancePop: "var_pop",
    exp.Stddev: "stddev_samp",
    exp.StddevSamp: "stddev_samp",
    exp.StddevPop: "stddev_pop",
}
NUMBERS = (Kind.INTEGER, Kind.REAL)


def typed(function: str, argument: Expression | None) -> Type:
    """The type of an aggregate over released rows."""
    kind = Kind.INTEGER if argument is None else result(function, argument.type.kind)
    bounds = EVERYTHING if kind not in (Kind.TEXT, Kind.BOOLEAN) else None
    return Type(kind, nullable=function not in ("count", "distinct"), bounds=bounds)


def total(b: Binder, node: exp.Expr, condition: Callable[[exp.Expr], Expression]) -> Total | None:
    """The aggregate over released rows that a node stands for; None if it is none."""
    only, inner = None, node
    if isinstance(node, exp.Filter):
        b.only(node, "this", "expression")
        only, inner = condition(node.expression.this), node.this
    function = TOTALS.get(type(inner))
    if function is None:
        return None
    b.only(inner, "this", "big_int", "expressions")
    what = inner.this
    if isinstance(what, exp.Star):
        if function != "count":
            raise b.refuse(inner, f"{written(inner, b.scope.text)}(*) has no meaning.", "Name a column.")
        return Total("count", None, only)
    if isinstance(what, exp.Distinct):
        if function not in ("count", "min", "max") or len(what.expressions) != 1:
            raise b.refuse(inner, "DISTINCT is answered in COUNT(DISTINCT x) only.", "Leave it out.")
        function, what = "distinct" if function == "count" else function, what.expressions[0]
    argument = b.bind(what)
    if function in ("min", "max"):
        fits = argument.type.kind in ORDERED or argument.type.kind is Kind.TEXT
    else:
        fits = function in ("count", "distinct") or argument.type.kind in NUMBERS
    if not fits:
        raise b.refuse(
            inner, f"{written(inner, b.scope.text)} takes numbers, not {argument.type.kind.value}.", "Count them."
        )
    return Total(function, argument, only)


def read(
    b: Binder, node: exp.Window, named: dict[str, exp.Expr], condition: Callable[[exp.Expr], Expression]
) -> tuple[Window, Type]:
    """The window and the type of what it gives. Raises NotAnswerable."""
    b.only(node, "this", "partition_by", "order", "spec", "over", "alias")
    if (alias := node.args.get("alias")) is not None:
        found = named.get(alias.name.lower())
        if found is None:
            raise b.refuse(node, f"There is no window {alias.name}.", "Write OVER (ORDER BY …).")
        node = exp.Window(this=node.this, **{k: v for k, v in found.args.items() if k != "this"})
    partition = tuple(b.bind(p) for p in node.args.get("partition_by") or ())
    order = ordered(b, node.args.get("order"))
    inner = node.this
    if type(inner) in RANKS:
        return _rank(b, inner, partition, order)
    if type(inner) in OTHERS:
        return _elsewhere(b, node, partition, order)
    found_total = total(b, inner, condition)
    if found_total is None:
        known = "RANK, DENSE_RANK, ROW_NUMBER, LAG, LEAD, FIRST_VALUE, COUNT, SUM, AVG, MIN, MAX are."
        raise b.refuse(node, f"{written(inner, b.scope.text)} is not answered as a window function.", known)
    args = () if found_total.argument is None else (found_total.argument,)
    frame = _frame(b, node, ordered=bool(order))
    window = Window(found_total.function, args, partition, order, frame, found_total.condition)
    return window, typed(found_total.function, found_total.argument)


def ordered(b: Binder, clause: exp.Expr | None) -> tuple[Order, ...]:
    """ORDER BY inside OVER."""
    found = []
    for node in clause.expressions if clause is not None else ():
        b.only(node, "this", "desc", "nulls_first")
        down, first = bool(node.args.get("desc")), bool(node.args.get("nulls_first"))
        found.append(Order(b.bind(node.this), down, first))
    return tuple(found)


def _rank(
    b: Binder, inner: exp.Expr, partition: tuple[Expression, ...], order: tuple[Order, ...]
) -> tuple[Window, Type]:
    function = RANKS[type(inner)]
    b.only(inner, "this") if function == "ntile" else b.only(inner)
    args: tuple[Expression, ...] = ()
    if function == "ntile":
        args = (fixed(b, inner, inner.this, 1),)
    real = function in ("percent_rank", "cume_dist")
    bounds = Interval(0, 1) if real else EVERYTHING
    return Window(function, args, partition, order), Type(Kind.REAL if real else Kind.INTEGER, bounds=bounds)


def _elsewhere(
    b: Binder, node: exp.Window, partition: tuple[Expression, ...], order: tuple[Order, ...]
) -> tuple[Window, Type]:
    inner = node.this
    function = OTHERS[type(inner)]
    b.only(inner, "this", "offset", "default")
    value = b.bind(inner.this)
    args: tuple[Expression, ...] = (value,)
    offset, default = inner.args.get("offset"), inner.args.get("default")
    if function in ("lag", "lead"):
        by = fixed(b, inner, offset, 0) if offset is not None else Literal(1, Type(Kind.INTEGER))
        args = (value, by)
        if default is not None:
            value, other = b.meet(value, b.bind(default))
            args = (value, by, other)
    elif function == "nth_value":
        args = (value, fixed(b, inner, offset, 1))
    elif offset is not None or default is not None:
        raise b.refuse(inner, f"{function.upper()} takes one expression.", f"{function.upper()}(x) OVER (ORDER BY …)")
    frame = _frame(b, node, ordered=bool(order))
    kind = value.type.kind
    bounds = None if kind in (Kind.TEXT, Kind.BOOLEAN) else EVERYTHING
    return Window(function, args, partition, order, frame), Type(kind, nullable=True, bounds=bounds)


def fixed(b: Binder, at: exp.Expr, node: exp.Expr | None, least: int) -> Literal:
    """A whole number that is written as such."""
    found = b.bind(node) if node is not None else None
    if isinstance(found, Literal) and isinstance(found.value, int) and least <= found.value <= MOST_APART:
        return found
    raise b.refuse(
        at, f"{written(at, b.scope.text)} takes a fixed whole number here.", f"From {least} to {MOST_APART:,}."
    )


def _frame(b: Binder, node: exp.Window, *, ordered: bool) -> Frame:
    """ROWS BETWEEN 2 PRECEDING AND CURRENT ROW; without it everything, or with ORDER BY up to the current row."""
    spec: Any = node.args.get("spec")
    if spec is None:
        return Frame(None, 0, peers=True) if ordered else WHOLE
    b.only(spec, "kind", "start", "start_side", "end", "end_side")
    start = _end(b, spec, spec.args.get("start"), spec.args.get("start_side"))
    end = _end(b, spec, spec.args.get("end") or "CURRENT ROW", spec.args.get("end_side"))
    if str(spec.args.get("kind")).upper() == "ROWS":
        return Frame(start, end)
    if (start, end) == (None, None):
        return WHOLE
    if (start, end) != (None, 0):
        raise b.refuse(
            node, "RANGE and GROUPS with a distance are not answered.", "ROWS BETWEEN 2 PRECEDING AND CURRENT ROW"
        )
    return Frame(None, 0, peers=True) if ordered else WHOLE


def _end(b: Binder, spec: exp.Expr, end: Any, side: Any) -> int | None:
    if isinstance(end, str):
        return 0 if end.upper() == "CURRENT ROW" else None
    found = fixed(b, spec, end, 0).value
    assert isinstance(found, int)
    return -found if str(side).upper() == "PRECEDING" else found
