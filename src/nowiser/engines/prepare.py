# ruff: noqa: S608 (printed from the policy; every identifier is quoted, every literal escaped)
"""The prepared copy: raw rows made into what the policy declares, once, so that questions run at raw speed.

For every table, row by row: declared kinds (what cannot be read is NULL; NaN is NULL), numbers clipped to their
declared range, values outside a declared domain NULL, and where a column is declared never to be NULL, the middle
of its range or its first value instead. So every value of the copy is one the analysis reckoned with.

Then, person by person: at most `rows_per_person` rows, chosen by a salted order of the person's own rows in which
neither other persons nor secret values have a part. So neighbouring tables have neighbouring copies, and moving a
secret value never changes which rows count.

Columns besides the declared ones: `:units:c` (the column in units of its sums) and `:clipped:c` (it was outside).
"""

from collections.abc import Iterator
from fractions import Fraction

from nowiser.engines.render import Dialect, literal, quote, text
from nowiser.engines.sources import locate
from nowiser.errors import Misconfigured
from nowiser.model.policy import Policy
from nowiser.model.schema import Column, Kind, Table
from nowiser.sql.cells import sum_cell
from nowiser.sql.clipping import clipped_name, ranged
from nowiser.sql.names import column_type
from nowiser.sql.tree import Column as Leaf


def units_name(column: str) -> str:
    return f":units:{column}"


def in_order(policy: Policy) -> list[Table]:
    """Tables so that each comes after the one it is linked to."""
    done: list[Table] = []
    left = list(policy.tables)
    while left:
        ready = [t for t in left if t.link is None or any(d.name == t.link.table for d in done)]
        if not ready:
            raise Misconfigured(f"The links of {', '.join(t.name for t in left)} go round in circles.")
        done += ready
        left = [t for t in left if t not in ready]
    return done


def statement(table: Table, policy: Policy, dialect: Dialect, *, present: list[str], salt: str) -> str:
    """CREATE TABLE of the prepared copy. `present`: the columns the source really has."""
    names = {c.name: _found(table, c.name, present) for c in table.columns}
    raw = ", ".join(f"{_read(c, names[c.name], dialect)} AS {quote(c.name)}" for c in table.columns)
    outside = [
        f"{_outside(c, names[c.name], dialect)} AS {quote(clipped_name(c.name))}" for c in table.columns if ranged(c)
    ]
    person = [quote(c) for c in (table.link.columns if table.link is not None else table.person)]
    source = locate(policy, table).sql()
    steps = [f'raw AS (SELECT {", ".join([raw, *outside])}, row_number() OVER () AS ":at" FROM {source} AS src)']
    last = "raw"
    if person:
        there = " AND ".join(f"{p} IS NOT NULL" for p in person)
        steps.append(f"owned AS (SELECT * FROM raw WHERE {there}{_linked(table, policy)})")
        by = ", ".join(person)
        steps.append(
            f'turned AS (SELECT *, row_number() OVER (PARTITION BY {by} ORDER BY ":at") AS ":turn" FROM owned)'
        )
        order = f'hash({text(salt)}, {by}, ":turn"), ":turn"'
        steps.append(
            f'ranked AS (SELECT *, row_number() OVER (PARTITION BY {by} ORDER BY {order}) AS ":rank" FROM turned)'
        )
        last = "ranked"
    kept = [quote(c.name) for c in table.columns]
    kept += [f"{_units(c, table)} AS {quote(units_name(c.name))}" for c in table.columns if _in_units(c)]
    kept += [quote(clipped_name(c.name)) for c in table.columns if ranged(c)]
    limit = f' WHERE ":rank" <= {table.rows_per_person}' if person else ""
    return (
        f"CREATE TABLE {quote(table.name)} AS WITH {', '.join(steps)} "
        f'SELECT {", ".join(kept)} FROM {last}{limit} ORDER BY ":at"'
    )


def _linked(table: Table, policy: Policy) -> str:
    """Rows of nobody we know are left out; whose they are is decided by the person's own rows alone."""
    if table.link is None:
        return ""
    home = policy.table(table.link.table)
    assert home is not None, "the policy reader checks links"
    owner = home.link.columns if home.link is not None else home.person
    if tuple(table.link.references) != tuple(owner):
        raise Misconfigured(
            f"Table {table.name} is linked to {home.name} by columns that do not name the person.",
            hint=f"Link it to {', '.join(owner)} of {home.name}.",
        )
    pairs = " AND ".join(
        f"raw.{quote(a)} = home.{quote(b)}" for a, b in zip(table.link.columns, table.link.references, strict=True)
    )
    return f" AND EXISTS (SELECT 1 FROM {quote(home.name)} AS home WHERE {pairs})"


def _found(table: Table, name: str, present: list[str]) -> str:
    exact = [p for p in present if p == name] or [p for p in present if p.lower() == name.lower()]
    if len(exact) != 1:
        raise Misconfigured(
            f"The source of table {table.name} has no column {name}.", hint=f"It has {', '.join(present)}."
        )
    return f"src.{quote(exact[0])}"


def _in_units(c: Column) -> bool:
    return c.kind is Kind.REAL and c.low is not None and c.high is not None


def _number(c: Column, raw: str, dialect: Dialect) -> str:
    cast = f"TRY_CAST({raw} AS {dialect.types[c.kind]})"
    return f"nullif({cast}, CAST('NaN' AS DOUBLE))" if c.kind is Kind.REAL else cast


def _read(c: Column, raw: str, dialect: Dialect) -> str:
    value = _number(c, raw, dialect)
    if c.domain is not None:
        members = ", ".join(literal(v, c.kind, dialect) for v in c.domain)
        value = f"CASE WHEN {value} IN ({members}) THEN {value} END"
    elif c.low is not None and c.high is not None:
        low, high = (literal(end, c.kind, dialect) for end in _ends(c))
        value = f"CASE WHEN {value} < {low} THEN {low} WHEN {value} > {high} THEN {high} ELSE {value} END"
    elif c.kind is Kind.REAL:
        value = f"CASE WHEN isfinite({value}) THEN {value} END"
    return value if c.nullable else f"coalesce({value}, {literal(_stand_in(c), c.kind, dialect)})"


def _outside(c: Column, raw: str, dialect: Dialect) -> str:
    value = _number(c, raw, dialect)
    low, high = (literal(end, c.kind, dialect) for end in _ends(c))
    return f"coalesce({value} < {low} OR {value} > {high}, FALSE)"


def _ends(c: Column) -> Iterator[int | float]:
    assert c.low is not None
    assert c.high is not None
    for end in (c.low, c.high):
        yield float(end) if c.kind is Kind.REAL else int(end)


def _stand_in(c: Column) -> object:
    """What a missing value counts as where none may be missing."""
    if c.domain is not None:
        return c.domain[0]
    if c.low is not None and c.high is not None:
        middle = (c.low + c.high) / 2
        return float(middle) if c.kind is Kind.REAL else int(middle // 1)
    return {Kind.TEXT: "", Kind.BOOLEAN: False, Kind.REAL: 0.0}.get(c.kind, 0)


def unit_of(table: str, c: Column) -> Fraction:
    """The unit in which sums of this bare column are computed."""
    return sum_cell(Leaf("t0", table, c, column_type(c)), None, centred=False).unit


def _units(c: Column, table: Table) -> str:
    factor = float(1 / unit_of(table.name, c))
    return f"CAST(round({quote(c.name)} * CAST({factor!r} AS DOUBLE)) AS BIGINT)"
