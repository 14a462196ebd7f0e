"""How PostgreSQL spells our tree. Every spelling gives the reference meaning and cannot raise for any row.

Where PostgreSQL differs: ROUND of a double goes half to even; FLOOR of a whole number goes through doubles; SQRT and
LN raise outside their domain; a product that is too small for a double raises; there is no `%` of doubles; texts
compare by the locale of the column, hence COLLATE "C" everywhere.
"""

from collections.abc import Callable, Sequence

from nowiser.engines import prepare
from nowiser.engines.postgres.reading import TYPES, read
from nowiser.engines.postgres.tiny import risk
from nowiser.engines.render import Dialect, quote, text
from nowiser.model.schema import Kind
from nowiser.sql.functions import ALLOWED
from nowiser.sql.functions.base import Sql
from nowiser.sql.tree import Call

DAY = 86_400_000_000  # microseconds
_BEFORE_HALF = "CAST(0.49999999999999994 AS DOUBLE PRECISION)"


def nearest(x: str) -> str:
    """Half away from zero. The largest double below ½ keeps what is just below a half from being carried over it."""
    return f"trunc({x} + sign({x}) * {_BEFORE_HALF})"


def scaled(x: str, factor: str, size: float) -> str:
    """Less than one unit in size scales down to zero; said first, because a result too small for a double raises."""
    return f"({x} * {factor})" if size >= 1 else f"(CASE WHEN abs({x}) < 1 THEN 0 ELSE {x} * {factor} END)"


def timestamp(micros: int) -> str:
    days, rest = divmod(micros, DAY)
    return f"(TIMESTAMP '1970-01-01' + make_interval(days => {days}) + {rest} * INTERVAL '1 microsecond')"


def _whole(name: str) -> Callable[[Call], Sql]:
    return lambda call: "{0}" if call.type.kind is Kind.INTEGER else name


def _round_to(call: Call) -> Sql:
    digits = int(call.args[1].type.interval.low)
    power = f"CAST({10.0 ** abs(digits)!r} AS DOUBLE PRECISION)"
    down, up = ("*", "/") if digits >= 0 else ("/", "*")

    def sql(args: Sequence[str]) -> str:
        return f"({nearest(f'({args[0]} {down} {power})')} {up} {power})"

    return sql


def _where(condition: str, value: str, otherwise: str = "") -> Callable[[Call], Sql]:
    """With a test of the argument before it, also where its declared range says that it cannot fail: a second wall."""
    return lambda _: f"(CASE WHEN {condition} THEN {value}{otherwise} END)"


def _default(call: Call) -> Sql:
    return ALLOWED[call.function].template("postgres", call.type.kind)


def _own(call: Call) -> Sql:
    return ALLOWED[call.function].engines["postgres"]


SPELLINGS: dict[str, Callable[[Call], Sql]] = {
    **dict.fromkeys(("=", "<>", "<", "<=", ">", ">=", "and", "or", "not", "is_null", "in", "like"), _default),
    **dict.fromkeys(("+", "-", "*", "/", "div", "%", "neg", "abs"), _default),
    **dict.fromkeys(("case", "coalesce", "nullif", "greatest", "least", "length"), _default),
    "floor": _whole("floor({0})"),
    "ceil": _whole("ceil({0})"),
    "round": lambda call: "{0}" if call.type.kind is Kind.INTEGER else lambda args: nearest(args[0]),
    "round_to": _round_to,
    "sqrt": _where("{0} >= 0", "sqrt({0})"),
    "ln": _where("{0} > 0", "ln({0})"),
    "log10": _where("{0} > 0", "log({0})"),
    "trunc": _whole("trunc({0})"),
    # Below −700 the result is smaller than 10⁻³⁰⁴, and near −745 PostgreSQL raises.
    "exp": _where("abs({0}) <= 700", "exp({0})", " WHEN {0} < 0 THEN 0 WHEN {0} <= 709 THEN exp({0})"),
    "to_integer": _where(f"abs({{0}}) < {2**63}::double precision", "CAST({0} AS BIGINT)"),
    "to_real": _default,
    "boolean_to_integer": lambda _: "CAST(CAST({0} AS INTEGER) AS BIGINT)",
}
# A function may also bring its own spelling for PostgreSQL.
SPELLINGS |= {name: _own for name, function in ALLOWED.items() if "postgres" in function.engines}


def lacks(call: Call) -> str | None:
    if call.function == "%" and call.type.kind is Kind.REAL:
        return "it has no exact remainder of reals"
    return risk(call)


DIALECT = Dialect(
    name="postgresql",
    types=TYPES,
    table=lambda scan: quote(scan.table.name),
    wide="NUMERIC",
    units=lambda column: (
        f"{column.relation}.{quote(prepare.units_name(column.declared.name))}"
        if column.declared.low is not None and column.declared.high is not None
        else None
    ),
    spell=lambda call: SPELLINGS[call.function](call),
    text=lambda value: f'({text(value)}::text COLLATE "C")',
    timestamp=timestamp,
    nearest=nearest,
    scaled=scaled,
    read=read,
    digest=lambda parts: f"hashtextextended(concat_ws(':', {', '.join(f'md5({p}::text)' for p in parts)}), 0)",
)
