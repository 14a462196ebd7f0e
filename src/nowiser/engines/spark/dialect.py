"""How Spark spells our tree, with ANSI mode on, times in UTC and double-quoted identifiers (`session.py` sets them).

Where Spark differs: ROUND goes over decimal digits; FLOOR and CEIL of a double give whole numbers of 64 bits; ANSI
mode raises on casts that fail, hence TRY_CAST; a backslash in a literal escapes; SUM of whole numbers overflows.
"""

from collections.abc import Callable, Sequence

from nowiser.engines import prepare
from nowiser.engines.render import Dialect, quote
from nowiser.model.schema import Kind
from nowiser.sql.functions import ALLOWED
from nowiser.sql.functions.arithmetic import WHOLE
from nowiser.sql.functions.base import Sql
from nowiser.sql.interval import Interval
from nowiser.sql.tree import Call

TYPES = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE",
    Kind.TEXT: "STRING",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP_NTZ",
}
_HALF = "0.49999999999999994D"  # the largest double below a half
_WHOLE = 2**62  # FLOOR gives 64 bits
_NAN, _INFINITE = "CAST('NaN' AS DOUBLE)", "CAST('Infinity' AS DOUBLE)"


def truncated(x: str) -> str:
    """Towards zero; the remainder by one is exact for every double."""
    return f"({x} - {x} % 1D)"


def nearest(x: str) -> str:
    """Half away from zero."""
    return truncated(f"({x} + signum({x}) * {_HALF})")


def _fits(bounds: Interval) -> bool:
    return bounds.finite and bounds.magnitude < _WHOLE


def _step(name: str, beyond: str) -> Callable[[Call], Sql]:
    """FLOOR and CEIL through 64 bits where the range allows it."""

    def spell(call: Call) -> Sql:
        if call.type.kind is Kind.INTEGER:
            return "{0}"
        return f"CAST({name}({{0}}) AS DOUBLE)" if _fits(call.args[0].type.interval) else beyond

    return spell


def _round(call: Call) -> Sql:
    return "{0}" if call.type.kind is Kind.INTEGER else lambda args: nearest(args[0])


def _round_to(call: Call) -> Sql:
    digits = int(call.args[1].type.interval.low)
    power = f"{10.0 ** abs(digits)!r}D"
    down, up = ("*", "/") if digits >= 0 else ("/", "*")

    def sql(args: Sequence[str]) -> str:
        return f"({nearest(f'({args[0]} {down} {power})')} {up} {power})"

    return sql


def _default(call: Call) -> Sql:
    return ALLOWED[call.function].template("spark", call.type.kind)


def _own(call: Call) -> Sql:
    return ALLOWED[call.function].engines["spark"]


SPELLINGS: dict[str, Callable[[Call], Sql]] = {
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "and", "or", "not", "is_null", "in"), _default),
    **dict.fromkeys(("+", "-", "*", "%", "neg", "abs"), _default),
    **dict.fromkeys(("case", "coalesce", "nullif", "greatest", "least", "length"), _default),
    "like": lambda _: "({0} LIKE {1} ESCAPE '\\\\')",
    "/": lambda _: f"nullif(nullif({{0}} / NULLIF({{1}}, 0D), {_INFINITE}), -{_INFINITE})",
    "div": lambda _: f"({WHOLE} div NULLIF({{1}}, 0))",
    "floor": _step("floor", "({0} - pmod({0}, 1D))"),
    "ceil": _step("ceil", "({0} + pmod(-{0}, 1D))"),
    "round": _round,
    "round_to": _round_to,
    "sqrt": lambda _: f"nullif(sqrt({{0}}), {_NAN})",
    "ln": lambda _: "ln({0})",
    "log10": lambda _: "log10({0})",
    "trunc": lambda call: "{0}" if call.type.kind is Kind.INTEGER else lambda args: truncated(args[0]),
    "date_to_timestamp": lambda _: "CAST({0} AS TIMESTAMP_NTZ)",
    "exp": lambda _: f"nullif(exp({{0}}), {_INFINITE})",
    "to_integer": lambda _: "TRY_CAST(rint({0}) AS BIGINT)",
    "to_real": lambda _: "CAST({0} AS DOUBLE)",
    "boolean_to_integer": lambda _: "CAST({0} AS BIGINT)",
}
# A function may also bring its own spelling for Spark.
SPELLINGS |= {name: _own for name, function in ALLOWED.items() if "spark" in function.engines}


def escaped(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def read(kind: Kind, raw: str, type_: str) -> str:
    if kind is Kind.TEXT:
        # Spark stores bytes that are no UTF-8 as texts; nobody could show such a key.
        return f"make_valid_utf8(CAST({raw} AS STRING))" if type_.startswith("string") else f"CAST({raw} AS STRING)"
    if kind is Kind.INTEGER and type_ in ("double", "float"):
        return f"TRY_CAST(rint({raw}) AS BIGINT)"
    if kind is Kind.INTEGER and type_.startswith("decimal"):
        return f"TRY_CAST(round({raw}, 0) AS BIGINT)"  # a half goes away from zero, as it does elsewhere
    if kind in (Kind.DATE, Kind.TIMESTAMP) and type_ == "timestamp":
        return f"TRY_CAST(CAST({raw} AS TIMESTAMP_NTZ) AS {TYPES[kind]})"
    cast = f"TRY_CAST({raw} AS {TYPES[kind]})"
    return f"nullif({cast}, {_NAN})" if kind is Kind.REAL else cast


DIALECT = Dialect(
    name="spark",
    types=TYPES,
    table=lambda scan: quote(scan.table.name),
    real="DOUBLE",
    units=lambda column: (
        f"{column.relation}.{quote(prepare.units_name(column.declared.name))}"
        if column.declared.low is not None and column.declared.high is not None
        else None
    ),
    spell=lambda call: SPELLINGS[call.function](call),
    text=escaped,
    date=lambda days: f"date_add(DATE'1970-01-01', CAST({days} AS INT))",
    timestamp=lambda micros: f"CAST(timestamp_micros({micros}L) AS TIMESTAMP_NTZ)",
    nearest=nearest,
    total=lambda x, large: f"sum(CAST({x} AS DECIMAL(38, 0)))" if large else f"sum({x})",
    read=read,
    digest=lambda parts: f"xxhash64({', '.join(parts)})",
)
