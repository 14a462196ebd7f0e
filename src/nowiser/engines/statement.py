# ruff: noqa: S608 (printing SQL from our own tree is what this file is for; names are quoted, literals escaped)
"""A tally → the one SELECT that computes it: from what preparation has stored, where that is enough, or from rows."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from nowiser.engines.render import Dialect, cell, expression, filtered, key, literal, quote, source, summands
from nowiser.model.schema import Column as SchemaColumn, Kind, Table
from nowiser.sql.bound.clipped_totals import Clip, stored_cells
from nowiser.sql.plan import sums
from nowiser.sql.plan.cells import Cell
from nowiser.sql.plan.tally import Tally
from nowiser.sql.read.names import column_type
from nowiser.sql.tree import Call, Column, Scan, Type, columns, conditions, scan

_DIV = Call("div", (), Type(Kind.INTEGER))  # whole numbers, towards zero


def statement(tally: Tally, dialect: Dialect) -> str:
    """The one SELECT that computes a tally: keys k0, k1, …, then cells c0, c1, …

    GROUPING SETS are computed one after the other; a last key says which set a row is of.
    """
    if tally.clip is not None:
        return _clipped(tally, tally.clip, dialect)
    if tally.sets is None:
        return _select(tally, tuple(range(len(tally.keys))), dialect)
    return " UNION ALL ".join(_select(tally, one, dialect, place=i) for i, one in enumerate(tally.sets))


def _select(tally: Tally, shown: tuple[int, ...], dialect: Dialect, *, place: int | None = None) -> str:
    keys = [
        f"{key(k, dialect) if i in shown else literal(None, k.type.kind, dialect)} AS k{i}"
        for i, k in enumerate(tally.keys)
    ]
    if place is not None:
        keys.append(f"{literal(place, Kind.INTEGER, dialect)} AS k{len(tally.keys)}")
    if (ready := counted(tally, dialect)) is not None:
        return ready
    by = f" GROUP BY {', '.join(key(tally.keys[i], dialect) for i in shown)}" if shown else ""
    if dialect.sums is not None and (found := sums.ready(tally)) is not None:
        within = source(tally.relation, replace(dialect, table=dialect.sums(found[0])))
        return f"SELECT {', '.join(keys + _again(tally, found[1], dialect))} FROM {within}{by}"
    cells = [f"{cell(c, dialect)} AS c{i}" for i, c in enumerate(tally.cells)]
    return f"SELECT {', '.join(keys + cells)} FROM {source(tally.relation, dialect)}{by}"


def _again(tally: Tally, names: Sequence[str], dialect: Dialect) -> list[str]:
    """The cells from sums that stand ready."""
    only = [[] if c.condition is None else [expression(c.condition, dialect)] for c in tally.cells]
    return [
        f"CAST(coalesce(sum({quote(name)}){filtered(one)}, 0) AS {dialect.integer}) AS c{i}"
        for i, (name, one) in enumerate(zip(names, only, strict=True))
    ]


def counted(tally: Tally, dialect: Dialect) -> str | None:
    """How many persons a whole table has was counted when it was prepared: no row needs to be looked at."""
    scan = tally.relation
    if len(tally.cells) != 1 or tally.keys or not isinstance(scan, Scan):
        return None
    only = tally.cells[0]
    names = tuple(e.declared.name for e in only.distinct if isinstance(e, Column))
    if not names or len(names) != len(only.distinct) or only.condition is not None:
        return None
    if only.not_null is not None and only.not_null not in only.distinct:  # who a row belongs to is never missing
        return None
    ready = dialect.persons(scan, names)
    return None if ready is None else f"SELECT CAST({ready} AS {dialect.integer}) AS c0"


def _clipped(tally: Tally, clip: Clip, dialect: Dialect) -> str:
    """A tally whose totals are clipped for each person and group.

    Over a copy, only rows of persons who have more of them in a group than count are added up person by person: of the
    others no total can pass the ends. Without one, finding them would cost as much.
    """
    if (ready := from_totals(tally, clip, dialect)) is not None:
        return ready
    if all(c.distinct for c in tally.cells):  # in a group, everybody is one person
        return _select(tally, (0,), dialect)
    if dialect.totals is None:
        return _added(_own(tally, clip, dialect), tally, clip, dialect)
    few, many = (replace(dialect, table=_sized(dialect, f"{word} {clip.rows}")) for word in ("<=", ">"))
    halves = f"{_select(tally, (0,), few)} UNION ALL {_added(_own(tally, clip, many), tally, clip, dialect)}"
    added = (f"CAST(sum(c{i}) AS {dialect.integer}) AS c{i}" for i in range(len(tally.cells)))
    return f"SELECT {', '.join(['k0', *added])} FROM ({halves}) AS halves GROUP BY k0"


def _sized(dialect: Dialect, limit: str) -> Callable[[Scan], str]:
    """The prepared rows of persons who have so many in the group of the row."""
    return lambda scan: f"(SELECT * FROM {dialect.table(scan)} WHERE {quote(f':size:{scan.by}')} {limit})"


def _own(tally: Tally, clip: Clip, dialect: Dialect) -> str:
    """For each person and group: k0, cells c0, c1, … and, where they are weighed, their numbers of rows n0, n1, …"""
    group = key(tally.keys[0], dialect)
    cells = [f"{cell(c, dialect)} AS c{i}" for i, c in enumerate(tally.cells)]
    cells += [f"{summands(c, dialect)} AS n{i}" for i, c in enumerate(tally.cells) if c.weighed]
    by = ", ".join([*(expression(p, dialect) for p in clip.person), group])
    return f"SELECT {', '.join([f'{group} AS k0', *cells])} FROM {source(tally.relation, dialect)} GROUP BY {by}"


def _added(own: str, tally: Tally, clip: Clip, dialect: Dialect) -> str:
    cells = (f"CAST(sum({_ends(i, c, clip, dialect)}) AS {dialect.integer}) AS c{i}" for i, c in enumerate(tally.cells))
    return f"SELECT {', '.join(['k0', *cells])} FROM ({own}) AS own GROUP BY k0"


def _ends(i: int, c: Cell, clip: Clip, dialect: Dialect) -> str:
    """`Clip.of` in SQL. Quotient and remainder apart, so that no product passes 64 bits."""
    if not c.weighed:
        low, high = (literal(end, Kind.INTEGER, dialect) for end in clip.ends(c))
        return f"least(greatest(c{i}, {low}), {high})"
    div, most = dialect.spell(_DIV), literal(clip.rows, Kind.INTEGER, dialect)
    assert isinstance(div, str)
    each = div.format(f"c{i}", f"n{i}")
    rest = div.format(f"((c{i} - {each} * n{i}) * {most})", f"n{i}")
    return f"CASE WHEN n{i} > {most} THEN {each} * {most} + {rest} ELSE c{i} END"


def from_totals(tally: Tally, clip: Clip, dialect: Dialect) -> str | None:
    """The tally from stored totals, if it asks for no more than was stored."""
    first, (group,) = scan(tally.relation), tally.keys
    known = stored_cells(first.table, first.relation)
    looked = conditions(tally.relation)
    ready = all(c in known or _persons(c, clip) for c in tally.cells) and set(columns(*looked)) <= {group}
    if not ready or dialect.totals is None:
        return None
    cells = (
        f"CAST({f'sum({_total(known.index(c))})' if c in known else 'count(*)'} AS {dialect.integer}) AS c{i}"
        for i, c in enumerate(tally.cells)
    )
    shown = key(group, dialect)
    where = f" WHERE {' AND '.join(expression(c, dialect) for c in looked)}" if looked else ""
    place = f"{dialect.totals(first)} AS {first.relation}"
    return f"SELECT {', '.join([f'{shown} AS k0', *cells])} FROM {place}{where} GROUP BY {shown}"


def _persons(c: Cell, clip: Clip) -> bool:
    """Whether a cell counts persons: one for each stored total."""
    return c.condition is None and c.not_null is None and bool(c.distinct) and set(c.distinct) == set(clip.person)


def _total(i: int) -> str:
    """The name of a stored total; no column of a policy has such a name."""
    return quote(f":{i}")


def totals(table: Table, by: str, person: Sequence[SchemaColumn], dialect: Dialect) -> str:
    """The SELECT of what each person has for each value of a column, clipped: the column itself, and the totals.

    For the cells of `stored_cells`, over the prepared rows.
    """
    declared = table.column(by)
    assert declared is not None
    group = Column("t0", table.name, declared, column_type(declared))
    clip = Clip(tuple(Column("t0", table.name, c, column_type(c)) for c in person), table.rows_per_person)
    tally = Tally(Scan("t0", table, by, whole=True), (group,), stored_cells(table, "t0"), clip=clip)
    cells = (f"{_ends(i, c, clip, dialect)} AS {_total(i)}" for i, c in enumerate(tally.cells))
    return f"SELECT {', '.join([f'k0 AS {quote(by)}', *cells])} FROM ({_own(tally, clip, dialect)}) AS own"
