"""The rows of a policy's table, wherever its engine keeps them, as Arrow."""

from pathlib import Path
from typing import Any

import pyarrow as pa

from nowiser.engines import delimited
from nowiser.engines.sources import folder, locate
from nowiser.errors import Misconfigured, Unreachable
from nowiser.files.records import Misquoted
from nowiser.files.unreadable import misquoted
from nowiser.model.policy import Policy
from nowiser.model.schema import Table


def engine_table(policy: Policy, table: Table) -> Any:
    """A path (csv, parquet) or an Arrow table (DuckDB file, PostgreSQL, Spark)."""
    if policy.engine.startswith(("postgresql://", "postgres://")):
        return from_postgres(policy.engine, table.source)
    if policy.engine.startswith("spark"):
        return from_spark(policy, table)
    source = locate(policy, table)
    if source.table is None:
        return _file(source.path, table)
    import duckdb

    with duckdb.connect(str(source.path), read_only=True) as engine:
        return engine.table(source.table).to_arrow_table()


def _file(path: Path, table: Table) -> Any:
    """The path; or, of a csv file whose dialect is declared, its rows."""
    if table.csv is None or not delimited.is_csv(path):
        return path
    try:
        return delimited.arrow(path, table.csv)
    except Misquoted as error:
        raise misquoted(error) from None


def from_postgres(url: str, name: str) -> pa.Table:
    """All rows of a table or view; the same connection, rights and words as those of the gateway."""
    from nowiser.engines.postgres.connection import connect

    with connect(url, "-c default_transaction_read_only=on") as connection:
        import psycopg  # is there, if there is a connection
        from psycopg import sql

        try:
            with connection.cursor() as cursor:
                cursor.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(*name.split("."))))
                names = [column.name for column in cursor.description or ()]
                rows = cursor.fetchall()
        except (psycopg.errors.UndefinedTable, psycopg.errors.InsufficientPrivilege, psycopg.errors.InvalidSchemaName):
            raise Misconfigured(
                f"The source of table is not there: {name}.",
                hint="Name a table or view of the database, as schema.table, that this user may SELECT.",
            ) from None
        except psycopg.Error as error:
            raise Unreachable(f"PostgreSQL could not give the table {name!r} ({type(error).__name__})") from None
    return pa.table({n: pa.array([row[i] for row in rows]) for i, n in enumerate(names)})


def from_spark(policy: Policy, table: Table) -> Any:
    """A file of this machine is read where it is; other files, and tables of the catalog, by Spark."""
    from nowiser.engines.spark.session import open_session

    suffix = Path(table.source.rstrip("/")).suffix
    remote = "://" in table.source
    if suffix in (".csv", ".tsv", ".parquet") and not remote and (folder(policy) / table.source).is_file():
        return _file(folder(policy) / table.source, table)
    session = open_session(policy.engine)
    try:
        if remote or suffix == ".parquet":
            return session.read.parquet(table.source if remote else str(folder(policy) / table.source)).toArrow()
        if session.catalog.tableExists(table.source):
            return session.table(table.source).toArrow()
    except Exception as error:  # noqa: BLE001 (Java, Py4J and gRPC errors alike; their words may hold secrets or rows)
        raise Unreachable(f"Spark could not give the table {table.source!r} ({type(error).__name__})") from None
    raise Misconfigured(
        f"The source of table {table.name} is neither a file nor a table of Spark's catalog: {table.source}.",
        hint="Name a parquet or csv file, or database.table.",
    )
