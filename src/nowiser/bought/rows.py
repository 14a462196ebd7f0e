# ruff: noqa: S608 (printed from the policy; every identifier is quoted, every literal escaped)
"""The rows of a policy's table that count, as the gateway prepares them: declared kinds, ranges, values, row limits.

At most `rows_per_person` rows of a person; numbers clipped to their range; a value outside the declared ones missing;
and whatever the policy says is never missing, there. It is the gateway's own code that decides (`engines.prepare`), so
a charge for so many rows of a person pays for all that is read.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa

from nowiser import engines
from nowiser.engines import prepare
from nowiser.engines.duckdb.dialect import DIALECT
from nowiser.engines.duckdb.filling import from_csv
from nowiser.engines.owner import owner
from nowiser.engines.prepare import Raw
from nowiser.engines.progress import silent
from nowiser.engines.render import quote
from nowiser.engines.sources import locate
from nowiser.files.unreadable import there
from nowiser.microdata.table.engine_table import engine_table
from nowiser.microdata.table.read import as_arrow, load
from nowiser.model.policy import Policy
from nowiser.model.schema import Table
from nowiser.sql.bound import persons
from nowiser.sql.bound.groups_per_person import limits_groups

PERSON = ":person:"


def counted(policy: Policy, table: Table, columns: Sequence[str], *, whose: bool = False) -> pa.Table:
    """These columns of every row that counts. `whose`: besides, a number for the person of each row, `:person:`."""
    import duckdb

    with duckdb.connect() as connection:
        silent(connection)
        for home in (*homes(policy, table), table):
            _prepared(connection, policy, home)
        kept = [quote(c) for c in columns]
        names = ", ".join(quote(name) for name in owner(table, policy))
        if whose:
            kept.append(f"dense_rank() OVER (ORDER BY {names or 'rowid'}) - 1 AS {quote(PERSON)}")
        return as_arrow(connection.sql(f"SELECT {', '.join(kept)} FROM {_within(table)}").to_arrow_table())


def of_persons(
    policy: Policy, persons_table: Table, linked: Sequence[Table], columns: Mapping[str, Sequence[str]]
) -> dict[str, pa.Table]:
    """The persons, each with the number of their rows in every linked table; and these rows, with what their person is.

    `columns`: of each table by its name. A number of rows is called as its table with `#` in front of it; a column of a
    person, beside a row, `table.column`. Every linked table names the person itself.
    """
    import duckdb

    name = persons.naming(persons_table)
    with duckdb.connect() as connection:
        silent(connection)
        for table in (persons_table, *linked):
            _prepared(connection, policy, table)
        numbers = ", ".join(
            f"(SELECT count(*) FROM {_within(t)} AS rows WHERE {_same(t, policy, name)}) AS {quote('#' + t.name)}"
            for t in linked
        )
        own = [f"person.{quote(c)}" for c in columns[persons_table.name]]
        found = {persons_table.name: f"SELECT {', '.join([*own, numbers])} FROM {_within(persons_table)} AS person"}
        beside = [f"person.{quote(c)} AS {quote(f'{persons_table.name}.{c}')}" for c in columns[persons_table.name]]
        for t in linked:
            kept = ", ".join([*(f"rows.{quote(c)}" for c in columns[t.name]), *beside])
            join = f"{_within(t)} AS rows JOIN {_within(persons_table)} AS person ON {_same(t, policy, name)}"
            found[t.name] = f"SELECT {kept} FROM {join}"
        return {name: as_arrow(connection.sql(sql).to_arrow_table()) for name, sql in found.items()}


def _same(table: Table, policy: Policy, name: Sequence[str]) -> str:
    pairs = zip(owner(table, policy), name, strict=True)
    return " AND ".join(f"rows.{quote(a)} = person.{quote(b)}" for a, b in pairs)


def _prepared(connection: Any, policy: Policy, table: Table) -> None:
    """A table of the connection with the rows that count."""
    with TemporaryDirectory(prefix="nowiser-") as beside:
        raw, salt = _raw(connection, policy, table, Path(beside)), f"{policy.digest}:{table.name}"
    made = prepare.statement(table, policy, DIALECT, raw, salt=salt, ordered=False)
    connection.execute(f"CREATE TABLE {quote(table.name)} AS {made}")


def _within(table: Table) -> str:
    """With `groups_per_person` the copy keeps further rows, each with its rank among those of the person."""
    if not limits_groups(table):
        return quote(table.name)
    return f'(SELECT * FROM {quote(table.name)} WHERE ":rank" <= {table.rows_per_person})'


def check_readable(policy: Policy) -> None:
    """Raises Unreachable, before anything is charged, where the gateway could not read the data either."""
    engine = engines.connect(policy)
    try:
        engine.prepared_version()
    finally:
        engine.close()


def check_there(policy: Policy, table: Table) -> None:
    """Raises Misconfigured where the file of a table is not there, which can be known before anything is charged."""
    if policy.engine.startswith("duckdb"):
        for one in (*homes(policy, table), table):
            there(locate(policy, one).path)


def homes(policy: Policy, table: Table) -> list[Table]:
    """The tables that links lead through, the person's own first."""
    found: list[Table] = []
    while table.link is not None:
        table = persons.home(policy, table)
        found.insert(0, table)
    return found


def _raw(connection: Any, policy: Policy, table: Table, beside: Path) -> Raw:
    """The declared columns as they come, in a table where rows have a place."""
    name = quote(f":raw:{table.name}")
    if policy.engine.startswith("duckdb") and (source := locate(policy, table)).csv is not None:
        found = from_csv(connection, source, source.csv, table, beside, stored=False)  # mended where that is needed
        connection.execute(f"CREATE TABLE {name} AS SELECT * FROM {found.sql}")
        return Raw(name, found.types, "src.rowid")
    given = load(engine_table(policy, table))
    wanted = {c.name.lower() for c in table.columns}
    rows = given.without([n for n in given.names if n.lower() not in wanted]).to_arrow()
    connection.register(":given", rows)
    connection.execute(f'CREATE TABLE {name} AS SELECT * FROM ":given"')
    connection.unregister(":given")
    types = {str(r[0]): str(r[1]) for r in connection.execute(f"DESCRIBE {name}").fetchall()}
    return Raw(name, types, "src.rowid")
