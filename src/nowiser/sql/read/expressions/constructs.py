"""The rules: which construct of SQL becomes which call. To answer another construct, add a function and a line.

Every rule names the arguments of the syntax node it understands and refuses a node with others.
"""

from collections.abc import Callable
from typing import Any

from sqlglot import exp

from nowiser.errors import NotAnswerable, Span
from nowiser.model.schema import Kind
from nowiser.sql import functions
from nowiser.sql.read.expressions.bind import Binder, truth
from nowiser.sql.read.expressions.constants import constant, null, read_as
from nowiser.sql.read.names import column
from nowiser.sql.tree import Expression, Literal, Type

MOST_MEMBERS = 1_000  # of an IN list
MOST_WILDCARDS = 8  # per cent signs in a LIKE pattern

Rule = Callable[[Binder, Any], Expression]

_INTEGERS = {exp.DType.INT, exp.DType.BIGINT, exp.DType.SMALLINT}
_REALS = {exp.DType.DOUBLE, exp.DType.FLOAT, exp.DType.DECIMAL}
_MOMENTS = {exp.DType.DATE: Kind.DATE, exp.DType.TIMESTAMP: Kind.TIMESTAMP}


def binary(function: str) -> Rule:
    """Two operands of one kind."""

    def rule(b: Binder, node: exp.Binary) -> Expression:
        b.only(node, "this", "expression")
        return b.call(function, node, *b.meet(b.bind(node.this), b.bind(node.expression)))

    return rule


def unary(function: str, *, real: bool = False) -> Rule:
    """One operand; `real`: whole numbers become real first."""

    def rule(b: Binder, node: exp.Expr) -> Expression:
        b.only(node, "this")
        inner = b.bind(node.this)
        return b.call(function, node, b.real(inner) if real else inner)

    return rule


def listed(function: str) -> Rule:
    """Any number of arguments of one kind."""

    def rule(b: Binder, node: exp.Func) -> Expression:
        b.only(node, "this", "expressions", "ignore_nulls")
        return b.call(function, node, *b.meet(*(b.bind(n) for n in (node.this, *node.expressions))))

    return rule


def connective(function: str) -> Rule:
    """A chain of ANDs or ORs, as one call."""

    def rule(b: Binder, node: exp.Connector) -> Expression:
        b.only(node, "this", "expression")
        return b.call(function, node, *(b.bind(n) for n in node.flatten()))

    return rule


def paren(b: Binder, node: exp.Paren) -> Expression:
    b.only(node, "this")
    return b.bind(node.this)


def named(b: Binder, node: exp.Column) -> Expression:
    return column(b.scope, node)


def literal(b: Binder, node: exp.Expr) -> Expression:
    return constant(node, b.place(node))


def negative(b: Binder, node: exp.Neg) -> Expression:
    b.only(node, "this")
    inner = b.bind(node.this)
    if isinstance(inner, Literal) and isinstance(inner.value, int | float) and not isinstance(inner.value, bool):
        return Literal(-inner.value, Type(inner.type.kind, bounds=-inner.type.interval), b.place(node))
    return b.call("neg", node, inner)


def division(b: Binder, node: exp.Div) -> Expression:
    b.only(node, "this", "expression", "typed", "safe")
    args = b.meet(b.bind(node.this), b.bind(node.expression))
    return b.call("div" if args[0].type.kind is Kind.INTEGER else "/", node, *args)


def is_(b: Binder, node: exp.Is) -> Expression:
    b.only(node, "this", "expression", "negate")
    inner = b.bind(node.this)
    if isinstance(node.expression, exp.Null):
        result = b.call("is_null", node, inner)
    elif isinstance(node.expression, exp.Boolean):
        equal = b.call("=", node, *b.meet(inner, b.bind(node.expression)))
        result = b.call("coalesce", node, equal, Literal(value=False, type=Type(Kind.BOOLEAN)))
    else:
        raise b.refuse(node, "IS is answered with NULL, TRUE and FALSE only.", "Use = to compare.")
    return b.call("not", node, result) if node.args.get("negate") else result


def distinct_from(*, negated: bool) -> Rule:
    """`a IS DISTINCT FROM b`: as <>, with NULL as a value of its own."""

    def rule(b: Binder, node: exp.Binary) -> Expression:
        b.only(node, "this", "expression")
        one, other = b.meet(b.bind(node.this), b.bind(node.expression))
        both = b.call("and", node, b.call("is_null", node, one), b.call("is_null", node, other))
        same = b.call("coalesce", node, b.call("=", node, one, other), both)
        return b.call("not", node, same) if negated else same

    return rule


def member(b: Binder, node: exp.In) -> Expression:
    if node.args.get("query"):
        raise b.unknown(node.args["query"])
    if node.args.get("field"):
        raise b.refuse(node, "IN takes a list in brackets.", "Write IN ('a', 'b').")
    b.only(node, "this", "expressions")
    return _among(b, node, node.this, node.expressions)


def equal(b: Binder, node: exp.EQ) -> Expression:
    """`x = ANY (ARRAY[…])` is how drivers write `x IN (…)`."""
    if isinstance(node.this, exp.Tuple):
        return _same_row(b, node, node.this, node.expression)
    if not isinstance(node.expression, exp.Any):
        return binary("=")(b, node)
    values = node.expression.this.unnest()
    if isinstance(values, exp.Query):
        raise b.unknown(node.expression)
    if not isinstance(values, exp.Array):
        raise b.refuse(node.expression, "ANY takes a list of values or a SELECT.", "= ANY (ARRAY['a', 'b'])")
    b.only(values, "expressions", "value_constructor", "bracket_notation")
    return _among(b, node, node.this, values.expressions)


def _among(b: Binder, node: exp.Expr, wanted: exp.Expr, values: list[exp.Expr]) -> Expression:
    if not 0 < len(values) <= MOST_MEMBERS:
        raise b.refuse(wanted, f"IN has {len(values):,} values.", f"At least one, and at most {MOST_MEMBERS:,}.")
    if isinstance(wanted, exp.Tuple):
        rows = [_same_row(b, node, wanted, value) for value in values]
        return rows[0] if len(rows) == 1 else b.call("or", node, *rows)
    return b.call("in", node, *b.meet(*(b.bind(n) for n in (wanted, *values))))


def _same_row(b: Binder, node: exp.Expr, wanted: exp.Tuple, value: exp.Expr) -> Expression:
    """`(x, y) = (1, 2)`: each part equals its own, NULLs as in AND."""
    if not isinstance(value, exp.Tuple) or len(value.expressions) != len(wanted.expressions):
        example = ", ".join(["…"] * len(wanted.expressions))
        raise b.refuse(value, "Rows compare with rows of as many values.", f"Write ({example}).")
    pairs = zip(wanted.expressions, value.expressions, strict=True)
    parts = [b.call("=", node, *b.meet(b.bind(x), b.bind(y))) for x, y in pairs]
    return parts[0] if len(parts) == 1 else b.call("and", node, *parts)


def between(b: Binder, node: exp.Between) -> Expression:
    b.only(node, "this", "low", "high")
    inner = b.bind(node.this)
    low = b.call(">=", node, *b.meet(inner, b.bind(node.args["low"])))
    return b.call("and", node, low, b.call("<=", node, *b.meet(inner, b.bind(node.args["high"]))))


def like(b: Binder, node: exp.Like) -> Expression:
    b.only(node, "this", "expression", "negate")
    pattern = b.bind(node.expression)
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        raise b.refuse(node, "LIKE takes a fixed pattern.", "Write it in single quotes.")
    if pattern.value.count("%") > MOST_WILDCARDS:
        raise b.refuse(node, "The pattern has too many wildcards.", f"At most {MOST_WILDCARDS} per cent signs.")
    if (len(pattern.value) - len(pattern.value.rstrip("\\"))) % 2:
        raise b.refuse(node, "The pattern ends in a backslash with nothing after it.")
    result = b.call("like", node, b.bind(node.this), pattern)
    return b.call("not", node, result) if node.args.get("negate") else result


def case(b: Binder, node: exp.Case) -> Expression:
    b.only(node, "this", "ifs", "default")
    base = b.bind(node.this) if node.this else None
    conditions: list[Expression] = []
    values: list[Expression] = []
    for arm in node.args["ifs"]:
        b.only(arm, "this", "true")
        test = b.bind(arm.this)
        conditions.append(truth(test) if base is None else b.call("=", node, *b.meet(base, test)))
        values.append(b.bind(arm.args["true"]))
    default = node.args.get("default")
    values.append(b.bind(default) if default else null(Kind.TEXT))
    arms = b.meet(*values)
    pairs = [x for pair in zip(conditions, arms, strict=False) for x in pair]
    return b.call("case", node, *pairs, arms[-1])


def to_whole(b: Binder, node: exp.Expr, function: str, inner: Expression) -> Expression:
    """Whole numbers are whole already; engines would make some of them real."""
    return inner if inner.type.kind is Kind.INTEGER else b.call(function, node, inner)


def nearest(function: str) -> Rule:
    def rule(b: Binder, node: exp.Func) -> Expression:
        b.only(node, "this")
        return to_whole(b, node, function, b.bind(node.this))

    return rule


def rounded(b: Binder, node: exp.Round) -> Expression:
    b.only(node, "this", "decimals")
    inner, digits = b.bind(node.this), node.args.get("decimals")
    return (
        to_whole(b, node, "round", inner) if digits is None else b.call("round_to", node, b.real(inner), b.bind(digits))
    )


def cast(b: Binder, node: exp.Cast) -> Expression:
    b.only(node, "this", "to", "_type", "action")
    kind, inner = node.to.this, b.bind(node.this)
    if kind in _MOMENTS and isinstance(inner, Literal) and isinstance(inner.value, str):
        return read_as(inner, _MOMENTS[kind])
    wanted = Kind.INTEGER if kind in _INTEGERS else Kind.REAL if kind in _REALS else None
    if wanted is None or (kind is exp.DType.DECIMAL and node.to.expressions):
        hint = "Cast to INTEGER, BIGINT or DOUBLE PRECISION."
        raise b.refuse(node, f"A cast to {node.to.sql()} is not answered.", hint)
    return as_number(b, inner, wanted, b.place(node))


def as_number(b: Binder, inner: Expression, wanted: Kind, span: Span | None) -> Expression:
    if isinstance(inner, Literal) and inner.value is None:
        return null(wanted, span)
    match inner.type.kind, wanted:
        case (Kind.INTEGER, Kind.REAL):
            return b.real(inner)
        case (Kind.REAL, Kind.INTEGER):
            return functions.call("to_integer", (inner,), span)
        case (Kind.BOOLEAN, Kind.INTEGER):
            return functions.call("boolean_to_integer", (inner,), span)
        case (have, want) if have is want:
            return inner
    raise NotAnswerable(
        f"A cast from {inner.type.kind.value} to {wanted.value} is not answered.",
        hint="Compare the text itself, or use CASE to name the numbers it stands for.",
        span=span,
    )


RULES: dict[type[exp.Expr], Rule] = {
    exp.Paren: paren,
    exp.Column: named,
    exp.Literal: literal,
    exp.Boolean: literal,
    exp.Null: literal,
    exp.And: connective("and"),
    exp.Or: connective("or"),
    exp.Not: unary("not"),
    exp.EQ: equal,
    exp.NEQ: binary("<>"),
    exp.NullSafeEQ: distinct_from(negated=False),
    exp.NullSafeNEQ: distinct_from(negated=True),
    exp.LT: binary("<"),
    exp.LTE: binary("<="),
    exp.GT: binary(">"),
    exp.GTE: binary(">="),
    exp.Add: binary("+"),
    exp.Sub: binary("-"),
    exp.Mul: binary("*"),
    exp.Mod: binary("%"),
    exp.Div: division,
    exp.Neg: negative,
    exp.Abs: unary("abs"),
    exp.Sqrt: unary("sqrt", real=True),
    exp.Ln: unary("ln", real=True),
    exp.Exp: unary("exp", real=True),
    exp.Floor: nearest("floor"),
    exp.Ceil: nearest("ceil"),
    exp.Round: rounded,
    exp.Is: is_,
    exp.In: member,
    exp.Between: between,
    exp.Like: like,
    exp.Case: case,
    exp.Cast: cast,
    exp.Coalesce: listed("coalesce"),
    exp.Greatest: listed("greatest"),
    exp.Least: listed("least"),
    exp.Nullif: binary("nullif"),
    exp.Length: unary("length"),
}
