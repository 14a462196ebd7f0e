"""What PostgreSQL says about the tables of a policy: where they are, what they hold, and whether they changed.

A change is noticed by the table's file, its size and its counters of inserted, updated and deleted rows, of all
partitions and of all tables behind a view. Nothing is scanned. PostgreSQL publishes the counters of a transaction up
to a few seconds after it: until then a question already answered is answered as before, which tells nobody anything
new. Rows of other servers (foreign tables) have no counters; there every transaction anywhere counts as a change.
"""

from dataclasses import dataclass
from typing import Any

from nowiser.engines.prepare import Raw
from nowiser.engines.render import quote
from nowiser.errors import Misconfigured
from nowiser.model.schema import Protect, Role, Table

STAMPS = """
WITH RECURSIVE parts(i, oid) AS (
  SELECT i, to_regclass(name)::oid FROM unnest(%s::text[]) WITH ORDINALITY AS named(name, i)
  UNION
  SELECT p.i, below.oid FROM parts p, LATERAL (
    SELECT inhrelid AS oid FROM pg_inherits WHERE inhparent = p.oid
    UNION ALL
    SELECT d.refobjid FROM pg_rewrite r JOIN pg_depend d ON d.objid = r.oid
    WHERE r.ev_class = p.oid AND d.classid = 'pg_rewrite'::regclass AND d.refclassid = 'pg_class'::regclass
      AND d.refobjid <> p.oid
  ) below
)
SELECT i, coalesce(string_agg(concat_ws(',', c.oid, c.relfilenode, pg_relation_size(c.oid),
  pg_stat_get_tuples_inserted(c.oid), pg_stat_get_tuples_updated(c.oid), pg_stat_get_tuples_deleted(c.oid),
  CASE c.relkind WHEN 'f' THEN pg_snapshot_xmax(pg_current_snapshot())::text END), ';' ORDER BY c.oid), '')
FROM parts LEFT JOIN pg_class c ON c.oid = parts.oid GROUP BY i ORDER BY i
"""
COLUMNS = """
SELECT n.nspname, c.relname, c.relkind, c.reltuples, pg_table_size(c.oid), a.attname,
  CASE t.typtype WHEN 'd' THEN format_type(t.typbasetype, NULL) ELSE t.typname END
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
JOIN pg_type t ON t.oid = a.atttypid
WHERE c.oid = to_regclass(%s) ORDER BY a.attnum
"""
_STORED = {"r": "src.ctid", "m": "src.ctid", "p": "(src.tableoid, src.ctid)"}


@dataclass(frozen=True)
class Found:
    """A table of PostgreSQL."""

    raw: Raw
    bytes: int


def stamps(connection: Any, tables: tuple[Table, ...]) -> list[str]:
    """One text per table, another one when its rows change. Raises Misconfigured for a table that is not there."""
    found = connection.execute(STAMPS, ([named(t) for t in tables],)).fetchall()
    for table, (_, stamp) in zip(tables, found, strict=True):
        if not stamp:
            raise Misconfigured(
                f"The source of table {table.name} is not there: {table.source}.",
                hint="Name a table or view of the database, as schema.table, that this user may SELECT.",
            )
    return [str(stamp) for _, stamp in found]


def look(connection: Any, table: Table) -> Found:
    rows = connection.execute(COLUMNS, (named(table),)).fetchall()
    schema, name, kind = rows[0][:3]
    types = {str(r[5]): _plain(str(r[6])) for r in rows}
    sql = f"{quote(schema)}.{quote(name)}"
    return Found(Raw(sql, types, _STORED.get(kind) or _by_columns(table)), int(rows[0][4] or 0))


def named(table: Table) -> str:
    return ".".join(quote(p) for p in table.source.split("."))


def _plain(name: str) -> str:
    long = {
        "bigint": "int8", "integer": "int4", "smallint": "int2", "double precision": "float8", "real": "float4",
        "boolean": "bool", "character varying": "varchar", "character": "bpchar",
        "timestamp without time zone": "timestamp", "timestamp with time zone": "timestamptz",
    }  # fmt: skip
    return long.get(name, name)


def _by_columns(table: Table) -> str:
    """Rows of a view have no place of their own: order them by a key, or by everything where that may be looked at."""
    open_ = {c.name for c in table.columns if c.role is not Role.SENSITIVE}
    key = next((k for k in table.unique if set(k) <= open_), None)
    if key is None and table.protect is Protect.VALUES and not table.is_public:
        raise Misconfigured(
            f"Table {table.name} is a view, and which rows of a person count must not depend on secrets.",
            hint="Declare a `unique:` key of columns that are not sensitive, or name the table behind the view.",
        )
    columns = key or tuple(c.name for c in table.columns)
    texts = ", ".join(f"src.{quote(c)}::text" for c in columns)
    return f'(ARRAY[{texts}] COLLATE "C")'
