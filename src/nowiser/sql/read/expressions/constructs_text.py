"""Rules for texts, patterns, powers and casts."""

from collections.abc import Callable
from fractions import Fraction
from math import pi

from sqlglot import exp

from nowiser.errors import NotAnswerable
from nowiser.model.schema import Kind
from nowiser.sql import functions
from nowiser.sql.functions.base import Mismatch
from nowiser.sql.functions.patterns import regular, similar
from nowiser.sql.functions.strings import lowered
from nowiser.sql.interval import point
from nowiser.sql.read.expressions.bind import Binder
from nowiser.sql.read.expressions.constants import null, read_as
from nowiser.sql.read.expressions.constructs import Rule, as_number, like, to_whole, unary
from nowiser.sql.tree import Expression, Literal, Type

LONGEST_PART = 1_000_000
_INTEGERS = {exp.DType.INT, exp.DType.BIGINT, exp.DType.SMALLINT}
_REALS = {exp.DType.DOUBLE, exp.DType.FLOAT, exp.DType.DECIMAL}
_TEXTS = {exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.CHAR}
_MOMENTS = {exp.DType.DATE: Kind.DATE, exp.DType.TIMESTAMP: Kind.TIMESTAMP}
_INTO_TEXT = {Kind.INTEGER: "integer_to_text", Kind.BOOLEAN: "boolean_to_text", Kind.DATE: "date_to_text"}


def whole(value: int) -> Literal:
    return Literal(value, Type(Kind.INTEGER, bounds=point(value)))


def text_of(expression: Expression) -> Expression:
    """As text, for || and CONCAT and CAST."""
    if expression.type.kind is Kind.TEXT:
        return expression
    if expression.type.kind not in _INTO_TEXT:
        raise NotAnswerable(
            f"A {expression.type.kind.value} is not made into text: engines print it differently.",
            hint="Round it to a whole number first, as in CAST(x AS INTEGER).",
            span=expression.span,
        )
    return functions.call(_INTO_TEXT[expression.type.kind], (expression,), expression.span)


def substring(b: Binder, node: exp.Substring) -> Expression:
    b.only(node, "this", "start", "length")
    start, length = node.args.get("start"), node.args.get("length")
    if isinstance(start, exp.Literal) and start.is_string:
        raise b.refuse(node, "SUBSTRING with a pattern is not answered.", "Use SUBSTRING(x FROM 2 FOR 3).")
    first = b.bind(start) if start is not None else whole(1)
    return b.call("substring", node, b.bind(node.this), first, b.bind(length) if length else whole(LONGEST_PART))


def side(function: str) -> Rule:
    def rule(b: Binder, node: exp.Func) -> Expression:
        b.only(node, "this", "expression")
        return b.call(function, node, b.bind(node.this), b.bind(node.expression))

    return rule


def trim(b: Binder, node: exp.Trim) -> Expression:
    b.only(node, "this", "position", "expression")
    what = node.args.get("expression")
    if what is not None and not (isinstance(what, exp.Literal) and what.is_string and what.this == " "):
        raise b.refuse(node, "TRIM takes away spaces only.", "Use REPLACE for other characters.")
    name = {"LEADING": "ltrim", "TRAILING": "rtrim"}.get(str(node.args.get("position") or "").upper(), "trim")
    return b.call(name, node, b.bind(node.this))


def concat(b: Binder, node: exp.Concat) -> Expression:
    b.only(node, "expressions", "safe", "coalesce")
    return b.call("concat", node, *(text_of(b.bind(n)) for n in node.expressions))


def pipe(b: Binder, node: exp.DPipe) -> Expression:
    b.only(node, "this", "expression", "safe")
    return b.call("||", node, text_of(b.bind(node.this)), text_of(b.bind(node.expression)))


def replaced(b: Binder, node: exp.Replace) -> Expression:
    b.only(node, "this", "expression", "replacement")
    old, new = b.bind(node.expression), b.bind(node.args.get("replacement"))
    fixed = all(isinstance(e, Literal) and isinstance(e.value, str) for e in (old, new))
    if not fixed or len(old.value) < len(new.value):  # type: ignore[union-attr,arg-type]  # fixed says both are texts
        raise b.refuse(
            node,
            "REPLACE takes fixed texts, and what it puts in is not longer than what it takes out.",
            "Otherwise texts could grow without bounds.",
        )
    return b.call("replace", node, b.bind(node.this), old, new)


def position(b: Binder, node: exp.StrPosition) -> Expression:
    b.only(node, "this", "substr")
    return b.call("position", node, b.bind(node.this), b.bind(node.args.get("substr")))


def ilike(b: Binder, node: exp.ILike) -> Expression:
    b.only(node, "this", "expression", "negate")
    found = like(b, node)  # type: ignore[arg-type]  # the same syntax under another name
    negated = bool(node.args.get("negate"))
    inner = found.args[0] if negated else found  # type: ignore[union-attr]  # `like` returns calls
    subject, pattern = inner.args  # type: ignore[union-attr]  # ditto
    lower = Literal(lowered(str(pattern.value)), pattern.type, pattern.span)  # type: ignore[union-attr]  # `like` saw to it
    result = b.call("like", node, b.call("lower", node, subject), lower)
    return b.call("not", node, result) if negated else result


def pattern(word: str, make: Callable[[str], str]) -> Rule:
    def rule(b: Binder, node: exp.Func) -> Expression:
        b.only(node, "this", "expression", "flag", "negate", "full_match")
        subject, wanted = b.bind(node.this), b.bind(node.expression)
        if not isinstance(wanted, Literal) or not isinstance(wanted.value, str):
            raise b.refuse(node, f"{word} takes a fixed pattern.", "Write it in single quotes.")
        flag = node.args.get("flag")
        insensitive = isinstance(flag, exp.Literal) and flag.this == "i"
        if flag is not None and not insensitive:
            raise b.refuse(node, f"{word} takes no option but 'i'.")
        try:
            spelled = regular(wanted.value, insensitive=True) if insensitive else make(wanted.value)
        except Mismatch as found:
            raise b.refuse(node, f"The pattern {found.message}.", found.hint) from None
        result = b.call("matches", node, subject, Literal(spelled, wanted.type, wanted.span))
        return b.call("not", node, result) if node.args.get("negate") else result

    return rule


def power(b: Binder, node: exp.Pow) -> Expression:
    b.only(node, "this", "expression")
    return b.call("power", node, b.real(b.bind(node.this)), b.real(b.bind(node.expression)))


def log(b: Binder, node: exp.Log) -> Expression:
    b.only(node, "this", "expression")
    argument = node.this
    if node.expression is not None and node.args.get("expression") is not None:
        if not (isinstance(node.this, exp.Literal) and node.this.this == "10"):
            raise b.refuse(node, "LOG to this base is not answered.", "Write LN(x) / LN(2).")
        argument = node.expression
    return b.call("log10", node, b.real(b.bind(argument)))


def trunc(b: Binder, node: exp.Trunc) -> Expression:
    b.only(node, "this")
    return to_whole(b, node, "trunc", b.bind(node.this))


def bucket(b: Binder, node: exp.WidthBucket) -> Expression:
    b.only(node, "this", "min_value", "max_value", "num_buckets")
    ends = (node.this, node.args.get("min_value"), node.args.get("max_value"))
    return b.call("width_bucket", node, *(b.real(b.bind(n)) for n in ends), b.bind(node.args.get("num_buckets")))


def circle(b: Binder, node: exp.Pi) -> Expression:
    return Literal(pi, Type(Kind.REAL, bounds=point(Fraction(pi))), b.place(node))


def cast(b: Binder, node: exp.Cast) -> Expression:
    b.only(node, "this", "to", "_type", "action", "safe", "format")
    kind, inner, span = node.to.this, b.bind(node.this), b.place(node)
    cut = kind is exp.DType.VARCHAR
    if node.args.get("safe") or node.args.get("format") or (node.to.expressions and kind not in _REALS and not cut):
        raise b.refuse(node, f"A cast to {node.to.sql()} is not answered.", "Leave out the length.")
    if kind is exp.DType.TIMESTAMPTZ and isinstance(inner, Literal):
        return _moment(b, node, inner, Kind.TIMESTAMP)
    if kind in _MOMENTS:
        return _moment(b, node, inner, _MOMENTS[kind])
    if kind in _TEXTS:
        if isinstance(inner, Literal) and inner.value is None:
            return null(Kind.TEXT, span)
        text = text_of(inner)
        return b.call("left", node, text, whole(_digits(b, node)[0])) if node.to.expressions else text
    if kind is exp.DType.BOOLEAN:
        return _boolean(b, node, inner)
    wanted = Kind.INTEGER if kind in _INTEGERS else Kind.REAL if kind in _REALS else None
    if kind is exp.DType.DECIMAL and node.to.expressions:
        return _decimal(b, node, inner)
    if wanted is None:
        hint = "Cast to INTEGER, BIGINT, DOUBLE PRECISION, TEXT, BOOLEAN, DATE or TIMESTAMP."
        raise b.refuse(node, f"A cast to {node.to.sql()} is not answered.", hint)
    if inner.type.kind is Kind.TEXT and not isinstance(inner, Literal):
        return functions.call("text_to_integer" if wanted is Kind.INTEGER else "text_to_real", (inner,), span)
    if isinstance(inner, Literal) and isinstance(inner.value, str):
        return read_as(inner, wanted)
    return as_number(b, inner, wanted, span)


def _decimal(b: Binder, node: exp.Cast, inner: Expression) -> Expression:
    """NUMERIC(p, s) rounds to s places; what does not fit in p digits is not cut off, and does not fail."""
    places = (*_digits(b, node), 0)[1]
    number = as_number(b, inner, Kind.REAL, b.place(node))
    return b.call("round_to", node, number, whole(places))


def _digits(b: Binder, node: exp.Cast) -> list[int]:
    """What stands in the brackets of NUMERIC(10, 2) and VARCHAR(10)."""
    found = [p.this.name for p in node.to.expressions if isinstance(p.this, exp.Literal)]
    longest = 2 if node.to.this is exp.DType.DECIMAL else 6
    if len(found) != len(node.to.expressions) or not all(d.isdecimal() and len(d) <= longest for d in found):
        raise b.refuse(node, f"A cast to {node.to.sql()} is not answered.", "NUMERIC(10, 2), VARCHAR(10)")
    return [int(d) for d in found]


def collated(b: Binder, node: exp.Collate) -> Expression:
    """Texts compare by code point, which is what COLLATE "C" says."""
    b.only(node, "this", "expression")
    if node.expression.name not in ("C", "POSIX", "ucs_basic"):
        raise b.refuse(node, "Texts are compared by code point, in no other order.", 'COLLATE "C", or leave it out.')
    return b.bind(node.this)


def _moment(b: Binder, node: exp.Cast, inner: Expression, wanted: Kind) -> Expression:
    if isinstance(inner, Literal) and inner.value is None:
        return null(wanted, b.place(node))
    if isinstance(inner, Literal) and isinstance(inner.value, str):
        return read_as(inner, wanted)
    if inner.type.kind is wanted:
        return inner
    match inner.type.kind, wanted:
        case (Kind.TIMESTAMP, Kind.DATE):
            return b.call("timestamp_to_date", node, inner)
        case (Kind.DATE, Kind.TIMESTAMP):
            return b.call("date_to_timestamp", node, inner)
    raise b.refuse(
        node,
        f"A cast from {inner.type.kind.value} to {wanted.value} is not answered.",
        "The custodian can declare the column as a date.",
    )


def _boolean(b: Binder, node: exp.Cast, inner: Expression) -> Expression:
    if isinstance(inner, Literal) and inner.value is None:
        return null(Kind.BOOLEAN, b.place(node))
    if isinstance(inner, Literal) and isinstance(inner.value, str):
        return read_as(inner, Kind.BOOLEAN)
    if inner.type.kind is Kind.BOOLEAN:
        return inner
    return b.call("integer_to_boolean", node, inner)


RULES: dict[type[exp.Expr], Rule] = {
    exp.Collate: collated,
    exp.Lower: unary("lower"),
    exp.Upper: unary("upper"),
    exp.Substring: substring,
    exp.Left: side("left"),
    exp.Right: side("right"),
    exp.Trim: trim,
    exp.Concat: concat,
    exp.DPipe: pipe,
    exp.Replace: replaced,
    exp.StrPosition: position,
    exp.StartsWith: side("starts_with"),
    exp.ILike: ilike,
    exp.RegexpLike: pattern("REGEXP_LIKE", regular),
    exp.RegexpILike: pattern("~*", lambda p: regular(p, insensitive=True)),
    exp.SimilarTo: pattern("SIMILAR TO", similar),
    exp.Sign: unary("sign", real=True),
    exp.Pow: power,
    exp.Log: log,
    exp.Trunc: trunc,
    exp.Cbrt: unary("cbrt", real=True),
    exp.WidthBucket: bucket,
    exp.Pi: circle,
    exp.Cast: cast,
}
