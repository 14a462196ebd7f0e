# ruff: noqa: S608 (printing SQL from our own tree is what this file is for; names are quoted, literals escaped)
"""Our tree → SQL of an engine: expressions, cells and relations. Every identifier is quoted and every literal printed
by us. `statement.py` makes statements of them.

The Python reference of the same tree is in `nowiser.sql.evaluate` and `reference.py` beside this file; the
conformance suite holds the two to each other.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from nowiser.engines import zero
from nowiser.engines.base import Broken
from nowiser.model.schema import Kind
from nowiser.sql.bound.clipping import beyond_name
from nowiser.sql.bound.groups_per_person import limits_groups
from nowiser.sql.functions import ALLOWED
from nowiser.sql.functions.base import Sql
from nowiser.sql.plan.cells import Cell, sum_cell
from nowiser.sql.tree import (
    Call,
    Column,
    Exists,
    Expression,
    Filter,
    Fold,
    Join,
    Literal,
    PerPerson,
    Relation,
    RowWindow,
    Scan,
    Union,
    Windowed,
)

LONGEST = 2_000_000


def quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


@dataclass(frozen=True)
class Dialect:
    """How an engine spells what differs. The defaults are DuckDB's."""

    name: str
    types: dict[Kind, str]
    table: Callable[[Scan], str]  # where the prepared rows of a table are
    integer: str = "BIGINT"
    small: str = "INTEGER"  # of 32 bits
    real: str = "DOUBLE PRECISION"
    wide: str = "DECIMAL(38, 0)"  # holds every sum
    # A column that already holds a bare column in units, if preparation stored one.
    units: Callable[[Column], str | None] = field(default=lambda _: None)
    spell: Callable[[Call], Sql] = field(default=lambda call: ALLOWED[call.function].template("duckdb", call.type.kind))
    text: Callable[[str], str] = text
    date: Callable[[int], str] = lambda days: f"(DATE '1970-01-01' + CAST({days} AS INTEGER))"
    timestamp: Callable[[int], str] = lambda micros: f"make_timestamp({micros})"
    nearest: Callable[[str], str] = lambda x: f"round({x})"  # of a double, halves away from zero
    # A double times a power of two that is printed as a literal.
    scaled: Callable[[str, str, float], str] = lambda x, factor, _: f"({x} * {factor})"
    # The sum of whole numbers; the flag says whether one of them may pass 2³⁰ in size.
    total: Callable[[str, bool], str] = lambda x, _: f"sum({x})"
    # Where the number of persons of a table stands ready, as a scalar, if these columns name them.
    persons: Callable[[Scan, tuple[str, ...]], str | None] = field(default=lambda _scan, _names: None)
    # Where preparation stored what each person has in each group (`totals`); None where nothing is prepared.
    totals: Callable[[Scan], str] | None = None
    # Where preparation stored the sums by a column of a table (`sql/plan/sums.py`); None where it stored none.
    sums: Callable[[str], Callable[[Scan], str]] | None = None
    # A raw value of an engine's type, read as a declared kind: NULL where it cannot be, never an error, never NaN.
    read: Callable[[Kind, str, str], str] = lambda kind, raw, _: f"TRY_CAST({raw} AS {kind.value})"
    # A number that depends on all of these, in no way anybody would guess without knowing the first.
    digest: Callable[[Sequence[str]], str] = lambda parts: f"hash({', '.join(parts)})"


def literal(value: object, kind: Kind, dialect: Dialect) -> str:
    if value is None:
        return f"CAST(NULL AS {dialect.types[kind]})"
    match kind:
        case Kind.TEXT:
            return dialect.text(str(value))
        case Kind.BOOLEAN:
            return f"CAST({'TRUE' if value else 'FALSE'} AS BOOLEAN)"  # PostgreSQL groups by no bare constant
        case Kind.REAL:
            return f"CAST({float(value)!r} AS {dialect.real})"  # type: ignore[arg-type]  # checked by the binder
        case Kind.INTEGER:
            return f"CAST({int(value)} AS {dialect.integer})"  # type: ignore[call-overload]  # checked by the binder
        case Kind.DATE:
            return dialect.date(int(value))  # type: ignore[call-overload]  # ditto
        case Kind.TIMESTAMP:
            return dialect.timestamp(int(value))  # type: ignore[call-overload]  # ditto


def expression(e: Expression, dialect: Dialect) -> str:
    match e:
        case Column():
            return f"{e.relation}.{quote(e.declared.name)}"
        case Literal():
            return literal(e.value, e.type.kind, dialect)
        case Call():
            args = [expression(a, dialect) for a in e.args]
            template = dialect.spell(e)
            printed = template.format(*args) if isinstance(template, str) else template(args)
            if len(printed) > LONGEST:  # planning weighs the common templates; an engine's own may repeat more
                raise Broken("An expression is too long when it is written out.")
            return printed
        case Exists():
            inner = source(Filter(e.relation, e.condition), dialect)
            return f"({'NOT ' if e.negated else ''}EXISTS (SELECT 1 FROM {inner}))"
    raise AssertionError("results are computed by us, not by an engine")


def key(e: Expression, dialect: Dialect) -> str:
    """An expression rows are grouped by, or that becomes a column: zero has no sign."""
    return zero.key(e, expression(e, dialect), dialect)


def cell(c: Cell, dialect: Dialect) -> str:
    only = [] if c.condition is None else [expression(c.condition, dialect)]
    if c.argument is None:
        if c.not_null is not None:
            only.append(f"({expression(c.not_null, dialect)} IS NOT NULL)")
        if c.distinct:
            what = ", ".join(key(e, dialect) for e in c.distinct)
            what = f"({what})" if len(c.distinct) > 1 else what
            return f"CAST(count(DISTINCT {what}){filtered(only)} AS {dialect.integer})"
        return f"CAST(count(*){filtered(only)} AS {dialect.integer})"
    units = in_units(c.argument, c, dialect)
    if c.pick is not None:
        return f"CAST(coalesce({c.pick}({units}){filtered(only)}, 0) AS {dialect.integer})"
    if c.distinct:  # whole numbers
        return f"CAST(coalesce(sum(DISTINCT CAST({units} AS {dialect.wide})){filtered(only)}, 0) AS {dialect.wide})"
    total = f"coalesce({dialect.total(units, large(c))}{filtered(only)}, 0)"
    if c.shift:  # Σ(u − shift) without touching every row again
        # Where no summand can be missing, the rows are those an average counts anyway: one count serves both.
        total = f"{total} - CAST({c.shift} AS {dialect.wide}) * {summands(c, dialect)}"
    # A sum of up to 2³³ rows of at most 2³⁰ units fits in 64 bits; anything else is given room.
    room = dialect.wide if large(c) else dialect.integer
    return f"CAST({total} AS {room})"


def large(c: Cell) -> bool:
    """Whether a sum adds numbers that may pass 2³⁰ in size, so that 64 bits may not hold it."""
    return c.argument is not None and c.pick is None and max(abs(c.low + c.shift), abs(c.high + c.shift)) > 2**30


def summands(c: Cell, dialect: Dialect) -> str:
    """How many rows have a part in a sum."""
    assert c.argument is not None
    only = [] if c.condition is None else [expression(c.condition, dialect)]
    return f"count({in_units(c.argument, c, dialect) if c.argument.type.nullable else '*'}){filtered(only)}"


def in_units(argument: Expression, c: Cell, dialect: Dialect) -> str:
    """The argument of a cell as a whole number of units, inside its ends whatever an engine makes of it.

    Columns of tables are inside already: preparation has clipped them.
    """
    plain = isinstance(argument, Column) and argument.derived is None
    if argument.type.kind is Kind.INTEGER:
        inner = expression(argument, dialect)
        ends = (literal(n + c.shift, Kind.INTEGER, dialect) for n in (c.low, c.high))
        return inner if plain else _clamped(inner, inner, *ends, nullable=argument.type.nullable)
    stored = dialect.units(argument) if isinstance(argument, Column) and plain else None
    if stored is not None and c.unit == sum_cell(argument, None, centred=False).unit:
        return stored
    inner = expression(argument, dialect)
    scaled = in_whole_units(inner, c.unit, dialect)
    ends = (literal(float(n + c.shift), Kind.REAL, dialect) for n in (c.low, c.high))
    return f"CAST({_clamped(scaled, inner, *ends, nullable=argument.type.nullable)} AS {dialect.integer})"


def _clamped(value: str, inner: str, low: str, high: str, *, nullable: bool) -> str:
    """A number kept between two ends. `inner`: what it was computed from; NULL stays NULL."""
    inside = f"least(greatest({value}, {low}), {high})"
    return f"CASE WHEN {inner} IS NOT NULL THEN {inside} END" if nullable else inside  # least would skip a NULL


def in_whole_units(value: str, unit: Fraction, dialect: Dialect) -> str:
    """A double as a number of units, rounded half away from zero; still a double."""
    factor = float(1 / Fraction(unit))
    return dialect.nearest(dialect.scaled(value, literal(factor, Kind.REAL, dialect), factor))


def filtered(only: list[str]) -> str:
    """What follows an aggregate that looks at some rows only."""
    return f" FILTER (WHERE {' AND '.join(only)})" if only else ""


def source(relation: Relation, dialect: Dialect) -> str:
    """What follows FROM, with its WHERE."""
    wheres: list[str] = []
    while isinstance(relation, Filter):
        wheres.append(expression(relation.condition, dialect))
        relation = relation.source
    where = f" WHERE {' AND '.join(reversed(wheres))}" if wheres else ""
    return f"{_item(relation, dialect)}{where}"


def _item(relation: Relation, dialect: Dialect) -> str:
    """A table expression: a table, a sub-select, or a join of them."""
    match relation:
        case Scan():
            return f"{_limited(relation, dialect)} AS {relation.relation}"
        case Join():
            right = _item(relation.right, dialect)
            right = f"({right})" if isinstance(relation.right, Join) else right
            word = "LEFT JOIN" if relation.outer else "JOIN"
            return f"{_item(relation.left, dialect)} {word} {right} ON {expression(relation.condition, dialect)}"
        case PerPerson():
            return f"({_per_person(relation, dialect)}) AS {relation.relation}"
        case Windowed():
            shown = [_as(e, c, dialect) for c, e in relation.columns]
            shown += [f"{_window(w, dialect)} AS {quote(c.declared.name)}" for c, w in relation.windows]
            return f"(SELECT {', '.join(shown)} FROM {source(relation.source, dialect)}) AS {relation.relation}"
        case Union():
            branches = (
                f"SELECT {', '.join(_as(e, c, dialect) for e, c in zip(arm, relation.columns, strict=True))}"
                f" FROM {source(inner, dialect)}"
                for inner, arm in relation.branches
            )
            return f"({' UNION ALL '.join(branches)}) AS {relation.relation}"
        case Filter():
            raise AssertionError("the reader keeps conditions at the top")


def _limited(scan: Scan, dialect: Dialect) -> str:
    """The rows of a table that count. Where groups are limited too, the copy has more of them, with their ranks."""
    table = dialect.table(scan)
    if not limits_groups(scan.table):
        return table
    m = scan.table.rows_per_person
    if scan.by is None:
        return f'(SELECT * FROM {table} WHERE ":rank" <= {m})'
    groups = f"{quote(f':group:{scan.by}')} <= {scan.table.groups_per_person}"
    if scan.whole:
        return f"(SELECT * FROM {table} WHERE {groups})"
    row, size = quote(f":row:{scan.by}"), quote(f":size:{scan.by}")
    beyond = f"({size} >= {row} + {m}) AS {quote(beyond_name(scan.by))}"  # stands for the row m places later
    return f"(SELECT *, {beyond} FROM {table} WHERE {groups} AND {row} <= {m})"


def _as(e: Expression, c: Column, dialect: Dialect) -> str:
    return f"{key(e, dialect)} AS {quote(c.declared.name)}"


def _per_person(relation: PerPerson, dialect: Dialect) -> str:
    keys = [(new, key(e, dialect)) for new, e in (*relation.person, *relation.keys)]
    folds = [(new, fold(f, dialect)) for new, f in relation.folds]
    shown = ", ".join(f"{e} AS {quote(c.declared.name)}" for c, e in (*keys, *folds))
    by = ", ".join(dict.fromkeys(e for _, e in keys))
    return f"SELECT {shown} FROM {source(relation.source, dialect)} GROUP BY {by}"


def _window(w: RowWindow, dialect: Dialect) -> str:
    order = ", ".join(
        f"{key(o.expression, dialect)}{' DESC' if o.descending else ''} NULLS {'FIRST' if o.nulls_first else 'LAST'}"
        for o in w.order
    )
    by = ", ".join(dict.fromkeys(key(e, dialect) for e in w.partition))
    over = f" OVER (PARTITION BY {by}{' ORDER BY ' + order if order else ''})"
    match w.function:
        case "row_number" | "rank" | "dense_rank":
            return f"CAST({w.function}(){over} AS {dialect.integer})"
        case "lag" | "lead" | "first_value":
            assert w.argument is not None
            away = f", {w.offset}" if w.function != "first_value" else ""
            return f"{w.function}({key(w.argument, dialect)}{away}){over}"
        case function:
            return fold(Fold(function, w.argument, unit=w.unit), dialect, over)


def fold(f: Fold, dialect: Dialect, over: str = "") -> str:
    """An exact aggregate over rows of one person. `over`: of which rows it is one, beside each of them."""
    these = filtered([] if f.condition is None else [expression(f.condition, dialect)]) + over
    inner = "*" if f.argument is None else key(f.argument, dialect)
    if f.function == "count":
        return f"CAST(count({inner}){these} AS {dialect.integer})"
    assert f.argument is not None
    if f.function == "distinct":
        return f"CAST(count(DISTINCT {inner}){these} AS {dialect.integer})"
    if f.function in ("min", "max"):
        return f"{f.function}({inner}){these}"
    shape = sum_cell(f.argument, None, centred=False)
    units = in_units(f.argument, shape, dialect)
    total = f"{dialect.total(units, True)}{these}"
    if f.function == "sum" and f.argument.type.kind is Kind.INTEGER:
        return f"CAST({total} AS {dialect.integer})"
    real = f"(CAST({total} AS {dialect.real}) * {literal(float(f.unit), Kind.REAL, dialect)})"
    if f.function == "sum":
        return real
    mean = f"({real} / count({units}){these})"
    if f.argument.type.kind is Kind.INTEGER:
        return mean
    # Whole units are rounded: the mean of one value is that value, and no mean leaves its values.
    return f"greatest(min({inner}){these}, least(max({inner}){these}, {mean}))"
