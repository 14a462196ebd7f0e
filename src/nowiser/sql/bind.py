"""Expressions of sqlglot → our typed tree. What is not written down here cannot be asked.

Every node is checked for the arguments it may carry: a syntax tree with anything else set is refused, so that a
new version of the parser cannot slip a meaning past us.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from difflib import get_close_matches
from fractions import Fraction

from sqlglot import exp

from nowiser.errors import NotAnswerable, Span
from nowiser.model import schema
from nowiser.model.schema import Kind, Value
from nowiser.sql import functions
from nowiser.sql.interval import EVERYTHING, INT64, Interval, point
from nowiser.sql.parse import place
from nowiser.sql.tree import Column, Expression, Literal, Type

MOST_MEMBERS = 1_000  # of an IN list
MOST_WILDCARDS = 8  # in a LIKE pattern
MOST_DEPTH = 120

_BINARY: Mapping[type[exp.Expr], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
    exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Mod: "%",
}  # fmt: skip
_UNARY: Mapping[type[exp.Expr], str] = {exp.Abs: "abs", exp.Sqrt: "sqrt", exp.Ln: "ln", exp.Exp: "exp"}
_INTEGERS = {exp.DType.INT, exp.DType.BIGINT, exp.DType.SMALLINT}
_REALS = {exp.DType.DOUBLE, exp.DType.FLOAT, exp.DType.DECIMAL}
_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True)
class Scope:
    """The tables in sight, by the name the question uses for them."""

    text: str
    tables: Mapping[str, tuple[str, schema.Table]]  # name → (relation, table)


Leaf = Callable[[exp.Expr], Expression | None]  # what a clause adds: aggregates, keys, aliases


@dataclass(frozen=True)
class Binder:
    scope: Scope
    leaf: Leaf

    def place(self, node: exp.Expr) -> Span | None:
        return place(node, self.scope.text)

    def refuse(self, node: exp.Expr, message: str, hint: str | None = None) -> NotAnswerable:
        return NotAnswerable(message, hint=hint, span=self.place(node))

    def only(self, node: exp.Expr, *known: str) -> None:
        """Refuse a node that carries more than we understand."""
        for name, value in node.args.items():
            if name not in known and value not in (None, False, [], ()):
                raise self.refuse(node, f"{node.key.upper()} with {name} is not answered.")

    def bind(self, node: exp.Expr, depth: int = 0) -> Expression:
        if depth > MOST_DEPTH:
            raise self.refuse(node, "The expression is nested too deeply.", "Split the question.")
        found = self.leaf(node)
        if found is not None:
            return found
        deeper = depth + 1
        span = self.place(node)
        match node:
            case exp.Paren():
                self.only(node, "this")
                return self.bind(node.this, deeper)
            case exp.Column():
                return column(self.scope, node)
            case exp.Literal() | exp.Boolean() | exp.Null():
                return self.constant(node)
            case exp.And() | exp.Or():
                self.only(node, "this", "expression")
                args = tuple(self.bind(n, deeper) for n in node.flatten())
                return functions.call("and" if isinstance(node, exp.And) else "or", args, span)
            case exp.Not():
                self.only(node, "this")
                return functions.call("not", (self.bind(node.this, deeper),), span)
            case exp.Neg():
                self.only(node, "this")
                return self.negative(self.bind(node.this, deeper), span)
            case exp.Div():
                self.only(node, "this", "expression", "typed", "safe")
                args = self.meet(self.bind(node.this, deeper), self.bind(node.expression, deeper))
                return functions.call("div" if args[0].type.kind is Kind.INTEGER else "/", args, span)
            case exp.Is():
                return self.is_(node, deeper, span)
            case exp.In():
                return self.member(node, deeper, span)
            case exp.Between():
                self.only(node, "this", "low", "high")
                low = self.meet(self.bind(node.this, deeper), self.bind(node.args["low"], deeper))
                high = self.meet(self.bind(node.this, deeper), self.bind(node.args["high"], deeper))
                both = functions.call(">=", low, span), functions.call("<=", high, span)
                return functions.call("and", both, span)
            case exp.Like():
                return self.like(node, deeper, span)
            case exp.Case():
                return self.case(node, deeper, span)
            case exp.Cast():
                return self.cast(node, deeper, span)
            case exp.Coalesce() | exp.Greatest() | exp.Least():
                self.only(node, "this", "expressions", "ignore_nulls")
                args = self.meet(*(self.bind(n, deeper) for n in (node.this, *node.expressions)))
                return functions.call(node.key, args, span)
            case exp.Nullif():
                self.only(node, "this", "expression")
                args = self.meet(self.bind(node.this, deeper), self.bind(node.expression, deeper))
                return functions.call("nullif", args, span)
            case exp.Floor() | exp.Ceil():
                self.only(node, "this")
                return functions.call(node.key, (self.bind(node.this, deeper),), span)
            case exp.Round():
                self.only(node, "this", "decimals")
                return self.round(node, deeper, span)
            case exp.Length():
                self.only(node, "this")
                return functions.call("length", (self.bind(node.this, deeper),), span)
        if type(node) in _BINARY:
            self.only(node, "this", "expression")
            args = self.meet(self.bind(node.this, deeper), self.bind(node.expression, deeper))
            return functions.call(_BINARY[type(node)], args, span)
        if type(node) in _UNARY:
            self.only(node, "this")
            return functions.call(_UNARY[type(node)], (self.real(self.bind(node.this, deeper)),), span)
        raise self.unknown(node)

    def unknown(self, node: exp.Expr) -> NotAnswerable:
        if isinstance(node, exp.Subquery | exp.Select | exp.Exists | exp.Any | exp.All):
            return self.refuse(node, "A question inside a condition is not answered.", "Ask it on its own first.")
        if isinstance(node, exp.Window):
            return self.refuse(node, "Window functions look at single rows and are not answered.", "Use GROUP BY.")
        if isinstance(node, exp.AggFunc):
            return self.refuse(node, f"{node.key.upper()} is not answered here.", "COUNT, SUM and AVG are, in SELECT.")
        name = node.name if isinstance(node, exp.Anonymous) else _spelled(node)
        near = get_close_matches(name.lower(), functions.ALLOWED, 1)
        hint = f"Did you mean {near[0].upper()}?" if near else "The reference lists every function that is."
        return self.refuse(node, f"{name.upper()} is not on the list of allowed functions.", hint)

    # -- single constructs -------------------------------------------------------------------------------

    def constant(self, node: exp.Expr) -> Literal:
        span = self.place(node)
        if isinstance(node, exp.Null):
            return Literal(None, Type(Kind.TEXT, nullable=True), span)
        if isinstance(node, exp.Boolean):
            return Literal(bool(node.this), Type(Kind.BOOLEAN), span)
        if node.is_string:
            return Literal(str(node.this), Type(Kind.TEXT), span)
        try:
            exact = Fraction(str(node.this))
        except ValueError:
            raise self.refuse(node, "This number cannot be read.") from None
        if exact.denominator == 1 and str(node.this).isdigit():
            if not INT64.holds(exact):
                raise self.refuse(node, "This whole number does not fit in 64 bits.")
            return Literal(int(exact), Type(Kind.INTEGER, bounds=point(exact)), span)
        if abs(exact) > Fraction(10) ** 300:
            raise self.refuse(node, "This number is too large.", "At most 1e300.")
        return Literal(float(exact), Type(Kind.REAL, bounds=point(Fraction(float(exact)))), span)

    def negative(self, inner: Expression, span: Span | None) -> Expression:
        if isinstance(inner, Literal) and isinstance(inner.value, int | float) and not isinstance(inner.value, bool):
            return Literal(-inner.value, Type(inner.type.kind, bounds=-inner.type.interval), span)
        return functions.call("neg", (inner,), span)

    def is_(self, node: exp.Is, depth: int, span: Span | None) -> Expression:
        self.only(node, "this", "expression", "negate")
        inner = self.bind(node.this, depth)
        if isinstance(node.expression, exp.Null):
            result: Expression = functions.call("is_null", (inner,), span)
        elif isinstance(node.expression, exp.Boolean):
            wanted = self.constant(node.expression)
            equal = functions.call("=", self.meet(inner, wanted), span)
            never = Literal(value=False, type=Type(Kind.BOOLEAN))
            result = functions.call("coalesce", (equal, never), span)
        else:
            raise self.refuse(node, "IS is answered with NULL, TRUE and FALSE only.", "Use = to compare.")
        return functions.call("not", (result,), span) if node.args.get("negate") else result

    def member(self, node: exp.In, depth: int, span: Span | None) -> Expression:
        if node.args.get("query"):
            raise self.unknown(exp.Subquery(this=node.args["query"].this)) from None
        self.only(node, "this", "expressions")
        if len(node.expressions) > MOST_MEMBERS:
            raise self.refuse(node.this, f"IN has {len(node.expressions):,} values.", f"At most {MOST_MEMBERS:,}.")
        return functions.call("in", self.meet(*(self.bind(n, depth) for n in (node.this, *node.expressions))), span)

    def like(self, node: exp.Like, depth: int, span: Span | None) -> Expression:
        self.only(node, "this", "expression", "negate")
        pattern = self.bind(node.expression, depth)
        if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
            raise self.refuse(node, "LIKE takes a fixed pattern.", "Write it in single quotes.")
        if sum(c in "%_" for c in pattern.value) > MOST_WILDCARDS * 4 or pattern.value.count("%") > MOST_WILDCARDS:
            raise self.refuse(node, "The pattern has too many wildcards.", f"At most {MOST_WILDCARDS} per cent signs.")
        if (len(pattern.value) - len(pattern.value.rstrip("\\"))) % 2:
            raise self.refuse(node, "The pattern ends in a backslash with nothing after it.")
        result = functions.call("like", (self.bind(node.this, depth), pattern), span)
        return functions.call("not", (result,), span) if node.args.get("negate") else result

    def case(self, node: exp.Case, depth: int, span: Span | None) -> Expression:
        self.only(node, "this", "ifs", "default")
        base = self.bind(node.this, depth) if node.this else None
        conditions: list[Expression] = []
        values: list[Expression] = []
        for arm in node.args["ifs"]:
            self.only(arm, "this", "true")
            test = self.bind(arm.this, depth)
            conditions.append(test if base is None else functions.call("=", self.meet(base, test), span))
            values.append(self.bind(arm.args["true"], depth))
        default = node.args.get("default")
        values.append(self.bind(default, depth) if default else Literal(None, Type(Kind.TEXT, nullable=True)))
        values = list(self.meet(*values))
        args = [x for pair in zip(conditions, values, strict=False) for x in pair]
        return functions.call("case", (*args, values[-1]), span)

    def round(self, node: exp.Round, depth: int, span: Span | None) -> Expression:
        inner = self.bind(node.this, depth)
        digits = node.args.get("decimals")
        if digits is None:
            return functions.call("round", (inner,), span)
        return functions.call("round_to", (self.real(inner), self.bind(digits, depth)), span)

    def cast(self, node: exp.Cast, depth: int, span: Span | None) -> Expression:
        self.only(node, "this", "to", "_type", "action")
        kind = node.to.this
        inner = self.bind(node.this, depth)
        if kind in (exp.DType.DATE, exp.DType.TIMESTAMP) and isinstance(inner, Literal):
            return self.dated(inner, Kind.DATE if kind is exp.DType.DATE else Kind.TIMESTAMP)
        wanted = Kind.INTEGER if kind in _INTEGERS else Kind.REAL if kind in _REALS else None
        if wanted is None or (kind is exp.DType.DECIMAL and node.to.expressions):
            raise self.refuse(
                node, f"A cast to {node.to.sql()} is not answered.", "Cast to INTEGER, BIGINT or DOUBLE PRECISION."
            )
        return self.number(inner, wanted, span)

    def number(self, inner: Expression, wanted: Kind, span: Span | None) -> Expression:
        if isinstance(inner, Literal) and inner.value is None:
            return Literal(None, Type(wanted, nullable=True, bounds=point(0)), span)
        match inner.type.kind, wanted:
            case (Kind.INTEGER, Kind.REAL):
                return self.real(inner)
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

    # -- kinds that meet ---------------------------------------------------------------------------------

    def meet(self, *args: Expression) -> tuple[Expression, ...]:
        """The same expressions in one kind: NULL and quoted constants take the kind of what they stand beside."""
        kinds = {a.type.kind for a in args if not _bare(a)}
        kind = Kind.REAL if kinds == {Kind.INTEGER, Kind.REAL} else next(iter(kinds)) if len(kinds) == 1 else None
        if kind is None:
            return args
        return tuple(self.into(a, kind) for a in args)

    def into(self, expression: Expression, kind: Kind) -> Expression:
        if isinstance(expression, Literal):
            if expression.value is None:
                return Literal(None, Type(kind, nullable=True, bounds=_no_bounds(kind)), expression.span)
            if isinstance(expression.value, str) and kind is not Kind.TEXT:
                return self.dated(expression, kind)
        return self.real(expression) if kind is Kind.REAL else expression

    def real(self, expression: Expression) -> Expression:
        if expression.type.kind is not Kind.INTEGER:
            return expression
        if isinstance(expression, Literal) and isinstance(expression.value, int):
            value = float(expression.value)
            return Literal(value, Type(Kind.REAL, bounds=point(Fraction(value))), expression.span)
        return functions.call("to_real", (expression,), expression.span)

    def dated(self, literal: Literal, kind: Kind) -> Literal:
        """A quoted constant as what it stands for beside a date, a number or a truth value."""
        try:
            value, bounds = quoted(str(literal.value), kind)
        except ValueError:
            raise NotAnswerable(
                f"This quoted text is not a {kind.value}.", hint=_EXAMPLE.get(kind), span=literal.span
            ) from None
        return Literal(value, Type(kind, bounds=bounds), literal.span)


_EXAMPLE = {
    Kind.DATE: "Write dates as '2024-12-31'.",
    Kind.TIMESTAMP: "Write timestamps as '2024-12-31 23:59:59'.",
}
_TRUTH = {"true": True, "t": True, "false": False, "f": False}


def quoted(text: str, kind: Kind) -> tuple[Value, Interval | None]:
    """Read a quoted constant as this kind. Raises ValueError."""
    match kind:
        case Kind.DATE:
            day = (date.fromisoformat(text) - _EPOCH).days
            return day, point(day)
        case Kind.TIMESTAMP:
            moment = datetime.fromisoformat(text)
            if moment.tzinfo is not None:
                raise ValueError(text)
            elapsed = moment.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)
            micros = (elapsed.days * 86400 + elapsed.seconds) * 10**6 + elapsed.microseconds
            return micros, point(micros)
        case Kind.INTEGER:
            whole = int(text)
            if not INT64.holds(whole):
                raise ValueError(text)
            return whole, point(whole)
        case Kind.REAL:
            real = float(Fraction(text))
            return real, point(Fraction(real))
        case Kind.BOOLEAN:
            if text.lower() not in _TRUTH:
                raise ValueError(text)
            return _TRUTH[text.lower()], None
    raise ValueError(text)


def _spelled(node: exp.Expr) -> str:
    return node.sql_name() if isinstance(node, exp.Func) else node.key


def _bare(expression: Expression) -> bool:
    """A constant that has no kind of its own yet: NULL or a quoted text."""
    return isinstance(expression, Literal) and (expression.value is None or isinstance(expression.value, str))


def _no_bounds(kind: Kind) -> Interval | None:
    return point(0) if kind in (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TIMESTAMP) else None


def column_type(declared: schema.Column) -> Type:
    match declared.kind:
        case Kind.TEXT | Kind.BOOLEAN:
            bounds = None
        case kind:
            unknown = INT64 if kind is Kind.INTEGER else EVERYTHING
            bounds = unknown if declared.low is None or declared.high is None else Interval(declared.low, declared.high)
    return Type(declared.kind, declared.nullable, bounds)


def column(scope: Scope, node: exp.Column) -> Column:
    """The column meant by a name. Unquoted names match whatever their case, quoted ones exactly."""
    span = place(node, scope.text)
    if node.args.get("db") or node.args.get("catalog") or not isinstance(node.this, exp.Identifier):
        raise NotAnswerable("Name columns as column or table.column.", span=span)
    wanted = node.this
    homes = scope.tables
    qualifier = node.args.get("table")
    if qualifier is not None:
        homes = {n: home for n, home in homes.items() if matches(qualifier, n)}
        if not homes:
            raise NotAnswerable(f"There is no table {qualifier.name} in this question.", span=span)
    found = [(r, t, c) for r, t in homes.values() for c in t.columns if matches(wanted, c.name)]
    if not found:
        names = sorted({c.name for _, t in homes.values() for c in t.columns})
        near = get_close_matches(wanted.name, names, 1)
        hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(names)}."
        raise NotAnswerable(f"There is no column {wanted.name}.", hint=hint, span=span)
    if len(found) > 1:
        raise NotAnswerable(f"More than one column is called {wanted.name}.", hint="Write table.column.", span=span)
    relation, table, declared = found[0]
    return Column(relation, table.name, declared, column_type(declared), span)


def matches(identifier: exp.Identifier, name: str) -> bool:
    if identifier.args.get("quoted"):
        return str(identifier.this) == name
    return str(identifier.this).lower() == name.lower()
