# ruff: noqa: S608 (printed from the policy; every identifier is quoted, every literal escaped)
"""The rows of a policy's table that count, as the gateway prepares them: declared kinds, ranges, values, row limits.

At most `rows_per_person` rows of a person; numbers clipped to their range; a value outside the declared ones missing;
and whatever the policy says is never missing, there. It is the gateway's own code that decides (`engines.prepare`), so
a charge for so many rows of a person pays for all that is read.
"""

from collections.abc import Sequence
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

    with duckdb.connect() as connection, TemporaryDirectory(prefix="nowiser-") as beside:
        silent(connection)
        for home in (*homes(policy, table), table):
            made = prepare.statement(
                home,
                policy,
                DIALECT,
                _raw(connection, policy, home, Path(beside)),
                salt=f"{policy.digest}:{home.name}",
                ordered=False,
            )
            connection.execute(f"CREATE TABLE {quote(home.name)} AS {made}")
        kept = [quote(c) for c in columns]
        names = ", ".join(quote(name) for name in owner(table, policy))
        if whose:
            kept.append(f"dense_rank() OVER (ORDER BY {names or 'rowid'}) - 1 AS {quote(PERSON)}")
        # with `groups_per_person` the copy keeps further rows, each with its rank among those of the person
        within = f' WHERE ":rank" <= {table.rows_per_person}' if limits_groups(table) else ""
        return as_arrow(connection.sql(f"SELECT {', '.join(kept)} FROM {quote(table.name)}{within}").to_arrow_table())


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
