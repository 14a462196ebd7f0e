"""Columns of PostgreSQL read as declared kinds: never an error, whatever a row holds. What cannot be read is NULL."""

from nowiser.engines.postgres.tiny import COLUMN
from nowiser.errors import Misconfigured
from nowiser.model.schema import Kind

TYPES = {
    Kind.INTEGER: "BIGINT",
    Kind.REAL: "DOUBLE PRECISION",
    Kind.TEXT: "TEXT",
    Kind.BOOLEAN: "BOOLEAN",
    Kind.DATE: "DATE",
    Kind.TIMESTAMP: "TIMESTAMP",
}
WHOLE = {"int2", "int4", "int8", "oid"}
TEXTS = {"text", "varchar", "bpchar", "name", "citext"}
# So short that none of them can pass the kind they are read as.
INTEGER = r"^ *[+-]?[0-9]{1,40} *$"  # some of them pass 64 bits, which is tested besides
REAL = r"^ *[+-]?([0-9]{1,150}(\.[0-9]{0,150})?|\.[0-9]{1,150})([eE][+-]?[0-9]{1,4})? *$"
DATE = r"^ *[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01]) *$"
TIMESTAMP = (
    r"^ *[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"([ T]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{1,6})?)?)? *$"
)
ENDLESS, LEAST = "('inf', 'infinity')", "('-inf', '-infinity')"
TRUE, FALSE = "('t', 'true', 'y', 'yes', 'on', '1')", "('f', 'false', 'n', 'no', 'off', '0')"


def read(kind: Kind, raw: str, type_: str) -> str:
    """Raises Misconfigured for a type that does not hold such a kind."""
    if type_ in TEXTS and kind is not Kind.TEXT:
        return _from_text(kind, f'({raw}::text COLLATE "C")')
    found = {
        Kind.INTEGER: _integer,
        Kind.REAL: _real,
        Kind.TEXT: lambda raw, _: f'({raw}::text COLLATE "C")',
        Kind.BOOLEAN: _boolean,
        Kind.DATE: _date,
        Kind.TIMESTAMP: _timestamp,
    }[kind](raw, type_)
    if found is None:
        raise Misconfigured(
            f"A column of PostgreSQL's type {type_} is declared {kind.value}.",
            hint="Declare another `kind:`, or make a view that converts it.",
        )
    return found


def _integer(raw: str, type_: str) -> str | None:
    if type_ in WHOLE:
        return f"{raw}::bigint"
    if type_ in ("numeric", "float4", "float8"):
        return f"CASE WHEN {raw} BETWEEN -9e18 AND 9e18 THEN {raw}::bigint END"
    return f"{raw}::int::bigint" if type_ == "bool" else None


def _real(raw: str, type_: str) -> str | None:
    if type_ in WHOLE:
        return f"{raw}::double precision"
    if type_ == "numeric":
        return _from_numeric(raw)
    if type_ in ("float4", "float8"):
        value = f"{raw}::double precision"
        fine = f"CASE WHEN abs({value}) >= CAST({2.0**COLUMN!r} AS DOUBLE PRECISION) THEN {value} ELSE 0 END"
        return f"CASE WHEN {raw} <> 'NaN' THEN {fine} END"
    return None


def _from_numeric(raw: str) -> str:
    """What no double holds is infinite, as far as reading goes: it will be clipped. NaN is larger than everything."""
    ends = f"WHEN {raw} = 'NaN' THEN NULL WHEN {raw} > 1.79e308 THEN 'Infinity' WHEN {raw} < -1.79e308 THEN '-Infinity'"
    return f"CASE {ends} WHEN abs({raw}) < 1e-90 THEN 0 ELSE {raw}::double precision END"


def _boolean(raw: str, type_: str) -> str | None:
    if type_ == "bool":
        return raw
    return f"({raw} <> 0)" if type_ in WHOLE else None


def _date(raw: str, type_: str) -> str | None:
    if type_ == "timestamptz":
        return f"CASE WHEN isfinite({raw}) THEN ({raw} AT TIME ZONE 'UTC')::date END"
    return f"CASE WHEN isfinite({raw}) THEN {raw}::date END" if type_ in ("date", "timestamp") else None


def _timestamp(raw: str, type_: str) -> str | None:
    if type_ == "timestamptz":
        return f"CASE WHEN isfinite({raw}) THEN {raw} AT TIME ZONE 'UTC' END"
    # The last date is later than the last timestamp.
    if type_ == "date":
        return f"CASE WHEN {raw} BETWEEN DATE '0001-01-01' AND DATE '9999-12-31' THEN {raw}::timestamp END"
    return f"CASE WHEN isfinite({raw}) THEN {raw} END" if type_ == "timestamp" else None


def _from_text(kind: Kind, raw: str) -> str:
    """The pattern is tested before the cast; CASE does not evaluate what it does not take."""
    match kind:
        case Kind.INTEGER:
            number = f"{raw}::numeric"
            fits = f"{number} BETWEEN {-(2**63)} AND {2**63 - 1}"
            return f"CASE WHEN {raw} ~ '{INTEGER}' THEN CASE WHEN {fits} THEN {number}::bigint END END"
        case Kind.REAL:
            number = f"WHEN {raw} ~ '{REAL}' THEN {_from_numeric(f'{raw}::numeric')}"
            plain = f"lower(btrim({raw}, ' +'))"
            return (
                f"CASE {number} WHEN {plain} IN {ENDLESS} THEN 'Infinity' WHEN {plain} IN {LEAST} THEN '-Infinity' END"
            )
        case Kind.BOOLEAN:
            plain = f"lower(btrim({raw}))"
            return f"CASE WHEN {plain} IN {TRUE} THEN TRUE WHEN {plain} IN {FALSE} THEN FALSE END"
        case Kind.DATE:
            return f"CASE WHEN {raw} ~ '{DATE}' THEN CASE WHEN {_real_day(raw)} THEN {raw}::date END END"
        case _:
            return f"CASE WHEN {raw} ~ '{TIMESTAMP}' THEN CASE WHEN {_real_day(raw)} THEN {raw}::timestamp END END"


def _real_day(raw: str) -> str:
    """Whether year 0001 or later has this day: the 30th of February has not."""
    year, month, day = (f"substr(btrim({raw}), {start}, {length})::int" for start, length in ((1, 4), (6, 2), (9, 2)))
    leap = f"({year} % 4 = 0 AND {year} % 100 <> 0 OR {year} % 400 = 0)"
    days = f"(CASE WHEN {month} IN (4, 6, 9, 11) THEN 30 WHEN {month} <> 2 THEN 31 WHEN {leap} THEN 29 ELSE 28 END)"
    return f"{year} >= 1 AND {day} <= {days}"
