"""The rows of a policy's table, wherever its engine keeps them, as Arrow."""

from typing import Any

import pyarrow as pa

from nowiser.engines.sources import locate
from nowiser.errors import Misconfigured, Unreachable
from nowiser.model.policy import Policy
from nowiser.model.schema import Table


def engine_table(policy: Policy, table: Table) -> Any:
    """A path (csv, parquet) or an Arrow table (DuckDB file, PostgreSQL, Spark)."""
    if policy.engine.startswith(("postgresql://", "postgres://")):
        return from_postgres(policy.engine, table.source)
    if policy.engine.startswith("spark"):
        return from_spark(policy.engine, table.source)
    source = locate(policy, table)
    if source.table is None:
        return source.path
    import duckdb

    with duckdb.connect(str(source.path), read_only=True) as engine:
        return engine.table(source.table).to_arrow_table()


def from_postgres(url: str, name: str) -> pa.Table:
    try:
        import psycopg
        from psycopg import sql
    except ImportError:
        raise Misconfigured("PostgreSQL needs the extra: pip install nowiser[postgres]") from None
    try:
        with psycopg.connect(url) as connection, connection.cursor() as cursor:
            cursor.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(*name.split("."))))
            names = [column.name for column in cursor.description or ()]
            rows = cursor.fetchall()
    except psycopg.Error as error:
        raise Unreachable(f"PostgreSQL could not give the table {name!r} ({type(error).__name__})") from None
    return pa.table({n: pa.array([row[i] for row in rows]) for i, n in enumerate(names)})


def from_spark(url: str, name: str) -> pa.Table:
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise Misconfigured("Spark needs the extra: pip install nowiser[spark]") from None
    master = url.removeprefix("spark:").lstrip("/") or "local[*]"
    return SparkSession.builder.master(master).getOrCreate().table(name).toArrow()
