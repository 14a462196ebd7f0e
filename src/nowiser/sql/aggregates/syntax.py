"""Which SQL is which aggregate, and of what type its result is."""

from collections.abc import Callable
from fractions import Fraction

from sqlglot import exp

from nowiser.errors import NotAnswerable
from nowiser.model.schema import Kind
from nowiser.sql import functions
from nowiser.sql.bound import bounds
from nowiser.sql.functions.dates import MOMENTS, ends
from nowiser.sql.interval import EVERYTHING, Interval
from nowiser.sql.read.expressions.bind import Binder
from nowiser.sql.read.expressions.constants import exact_number
from nowiser.sql.read.text.parse import place
from nowiser.sql.read.written import written
from nowiser.sql.tree import Aggregate, Expression, Literal, Type

SUMS: dict[type[exp.Expr], str] = {exp.Sum: "sum", exp.Avg: "avg"}
ONE: dict[type[exp.Expr], str] = {
    exp.Variance: "var_samp",
    exp.VariancePop: "var_pop",
    exp.Stddev: "stddev_samp",
    exp.StddevSamp: "stddev_samp",
    exp.StddevPop: "stddev_pop",
}
TWO: dict[type[exp.Expr], str] = {exp.Corr: "corr", exp.CovarPop: "covar_pop", exp.CovarSamp: "covar_samp"}
ENDS: dict[type[exp.Expr], str] = {exp.Min: "min", exp.Max: "max"}
SPREADS = frozenset(ONE.values())
MOMENTUM = SPREADS | frozenset(TWO.values())
QUANTILES = frozenset({"quantile", "quantile_disc", "min", "max"})
SAMPLES = frozenset({"var_samp", "stddev_samp", "covar_samp"})

Condition = Callable[[Binder, exp.Expr], Expression]


def read(node: exp.Expr, rows: Binder, condition: Condition) -> Aggregate | None:
    """The aggregate a node stands for, None if it is none. Raises NotAnswerable."""
    only: Expression | None = None
    inner = node
    if isinstance(node, exp.Filter):
        rows.only(node, "this", "expression")
        only = condition(rows, node.expression.this)
        inner = node.this
    span = place(node, rows.scope.text)
    kind = type(inner)
    if isinstance(inner, exp.Count):
        return _count(inner, rows, only, node)
    if isinstance(inner, exp.Sum) and isinstance(inner.this, exp.Distinct):
        return Aggregate("sum", _different(inner, rows), only, span, distinct=True)
    if kind in SUMS or kind in ONE:
        argument = _number(inner, rows)
        bounds.summand(argument)
        if isinstance(inner, exp.Sum) and isinstance(argument, Literal) and argument.value == 1:
            return Aggregate("count", None, only, span)  # SUM(1), as some tools count
        return Aggregate((SUMS | ONE)[kind], argument, only, span)
    if kind in TWO:
        rows.only(inner, "this", "expression")
        args = tuple(_bounded(rows, n) for n in (inner.this, inner.expression))
        # Only rows where both are there count, in every one of the sums.
        for a in args:
            if a.type.nullable:
                there = functions.call("not", (functions.call("is_null", (a,)),))
                only = there if only is None else functions.call("and", (only, there))
        return Aggregate(TWO[kind], args[0], only, span, second=args[1])
    if kind in ENDS:
        return Aggregate(ENDS[kind], _ordered(rows, _plain(inner, rows)), only, span)
    if isinstance(inner, exp.Median):
        rows.only(inner, "this")
        return Aggregate("quantile", _ordered(rows, inner.this), only, span, at=Fraction(1, 2))
    if isinstance(inner, exp.WithinGroup):
        return _percentile(inner, rows, only, node)
    return None


def released(aggregate: Aggregate) -> Type:
    """The type of what is released."""
    argument = aggregate.argument
    if aggregate.function in ("count", "running"):
        return Type(Kind.INTEGER, bounds=EVERYTHING)
    assert argument is not None
    kind = argument.type.kind
    if aggregate.function in QUANTILES:
        shown = Kind.REAL if kind is Kind.INTEGER and aggregate.function == "quantile" else kind
        return Type(shown, nullable=True, bounds=EVERYTHING if kind in MOMENTS else argument.type.bounds)
    if aggregate.function == "sum":
        return Type(kind, bounds=EVERYTHING)
    return Type(Kind.REAL, nullable=True, bounds=EVERYTHING)


def _plain(inner: exp.Expr, rows: Binder) -> exp.Expr:
    rows.only(inner, "this", "big_int", "expressions")
    if isinstance(inner.this, exp.Star):
        raise rows.refuse(inner, f"{written(inner, rows.scope.text)}(*) has no meaning.", "Name a column.")
    if isinstance(inner.this, exp.Distinct):
        if isinstance(inner, exp.Min | exp.Max):  # DISTINCT changes nothing there
            (found,) = inner.this.expressions
            assert isinstance(found, exp.Expr)
            return found
        hint = "SUM(DISTINCT x) / COUNT(DISTINCT x)." if isinstance(inner, exp.Avg) else "Leave it out."
        raise rows.refuse(inner, "DISTINCT is answered in COUNT and SUM only.", hint)
    assert isinstance(inner.this, exp.Expr)
    return inner.this


def _different(inner: exp.Sum, rows: Binder) -> Expression:
    """What SUM(DISTINCT x) adds up: whole numbers, which are the same or not on every engine."""
    rows.only(inner, "this", "big_int")
    if len(inner.this.expressions) != 1:
        raise rows.refuse(inner, "SUM(DISTINCT …) takes one expression.")
    argument = rows.bind(inner.this.expressions[0])
    bounds.total(argument)
    if argument.type.kind is not Kind.INTEGER:
        what = f"SUM(DISTINCT …) takes whole numbers, not {argument.type.kind.value}."
        raise rows.refuse(inner, what, "SUM(DISTINCT CAST(x AS INTEGER)).")
    bounds.summand(argument)
    return argument


def _count(inner: exp.Count, rows: Binder, only: Expression | None, node: exp.Expr) -> Aggregate:
    span = place(node, rows.scope.text)
    rows.only(inner, "this", "big_int")
    what = inner.this
    if isinstance(what, exp.Star):
        rows.only(what)
        return Aggregate("count", None, only, span)
    distinct = isinstance(what, exp.Distinct)
    if isinstance(what, exp.Distinct):
        rows.only(what, "expressions")
        if len(what.expressions) != 1 or isinstance(what.expressions[0], exp.Tuple):
            raise rows.refuse(
                inner,
                "COUNT(DISTINCT …) takes one expression.",
                "Put them together: COUNT(DISTINCT a::text || ' ' || b::text).",
            )
        what = what.expressions[0]
    argument = rows.bind(what)
    bounds.total(argument)
    if distinct:
        return Aggregate("count", argument, only, span, distinct=True)
    # What is never NULL counts every row.
    return Aggregate("count", argument if argument.type.nullable else None, only, span)


def _number(inner: exp.Expr, rows: Binder) -> Expression:
    argument = rows.bind(_plain(inner, rows))
    bounds.total(argument)
    return argument


def _bounded(rows: Binder, node: exp.Expr) -> Expression:
    argument = rows.bind(node)
    bounds.total(argument)
    bounds.summand(argument)
    return argument


def _ordered(rows: Binder, node: exp.Expr) -> Expression:
    """Something between known ends: a number, a date, a timestamp."""
    argument = rows.bind(node)
    bounds.total(argument)
    if argument.type.kind in MOMENTS:
        inside = ends(argument.type)
        assert isinstance(inside, Interval)
        return argument
    if argument.type.kind not in (Kind.INTEGER, Kind.REAL):
        raise NotAnswerable(
            f"Medians, percentiles, MIN and MAX take numbers and dates, not {argument.type.kind.value}.",
            hint="Count rows per value with GROUP BY instead.",
            span=argument.span,
        )
    bounds.summand(argument)
    return argument


def _percentile(inner: exp.WithinGroup, rows: Binder, only: Expression | None, node: exp.Expr) -> Aggregate:
    rows.only(inner, "this", "expression")
    function = inner.this
    if not isinstance(function, exp.PercentileCont | exp.PercentileDisc):
        most = "The most frequent value: GROUP BY x ORDER BY COUNT(*) DESC LIMIT 1."
        raise rows.refuse(inner, "WITHIN GROUP is answered for PERCENTILE_CONT and PERCENTILE_DISC.", most)
    rows.only(function, "this")
    order = inner.expression
    if not isinstance(order, exp.Order) or len(order.expressions) != 1:
        raise rows.refuse(inner, "A percentile is taken of one expression.", "WITHIN GROUP (ORDER BY x)")
    (by,) = order.expressions
    rows.only(by, "this", "desc", "nulls_first")
    if isinstance(function.this, exp.Array):
        raise rows.refuse(
            inner,
            "Percentiles are asked one by one.",
            "Ask PERCENTILE_CONT(0.25) …, PERCENTILE_CONT(0.75) … side by side: together they cost one.",
        )
    try:
        at = exact_number(str(function.this.this)) if isinstance(function.this, exp.Literal) else Fraction(-1)
    except ValueError:
        at = Fraction(-1)
    if not 0 <= at <= 1:
        raise rows.refuse(inner, "A percentile is a fixed number between 0 and 1.", "PERCENTILE_CONT(0.5)")
    name = "quantile" if isinstance(function, exp.PercentileCont) else "quantile_disc"
    span = place(node, rows.scope.text)
    return Aggregate(name, _ordered(rows, by.this), only, span, at=1 - at if by.args.get("desc") else at)
