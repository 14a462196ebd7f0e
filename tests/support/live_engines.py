"""The same tables on each engine, for tests outside tests/engines: fixtures and a way to put tables there."""

import csv
import io
import os
import shutil
import uuid
from pathlib import Path

import pytest

ENGINES = ("duckdb", "postgresql", "spark")


@pytest.fixture(scope="session")
def spark_session():
    """A local Spark, or a skip with the reason. It lives for a minute, so Java does not compile it well."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, and there is none here")
    os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from nowiser.engines.spark.session import open_session

    session = open_session("spark")
    yield session
    session.stop()


def line(request: pytest.FixtureRequest, engine: str) -> str:
    """The engine line of a policy: starts what has to be started. PostgreSQL gets a fresh database."""
    if engine == "spark":
        request.getfixturevalue("spark_session")
    if engine != "postgresql":
        return engine
    import psycopg

    server, name = request.getfixturevalue("postgres_server"), f"nowiser_{uuid.uuid4().hex}"
    with psycopg.connect(server.format(database="postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return server.format(database=name)


def lay_out(
    folder: Path, engine: str, policy: str, tables: dict[str, str], types: dict[str, str] | None = None
) -> Path:
    """Write a policy and its tables (csv texts) for an engine line; on PostgreSQL columns are texts unless `types` says."""
    folder.mkdir(parents=True, exist_ok=True)
    for table, content in tables.items():
        if engine.startswith("postgresql:"):
            place = f"{folder.name}_{table}"
            _copy(engine, place, content, types or {})
            policy = policy.replace(f"source: {table}.csv", f"source: {place}")
        else:
            (folder / f"{table}.csv").write_text(content, encoding="utf-8")
    path = folder / "nowiser.yaml"
    path.write_text(policy.replace("nowiser: 1", f"nowiser: 1\nengine: {engine}", 1), encoding="utf-8")
    return path


def _copy(url: str, table: str, content: str, types: dict[str, str]) -> None:
    import psycopg

    header, *rows = csv.reader(io.StringIO(content))
    with psycopg.connect(url, autocommit=True) as connection:
        columns = ", ".join(f"{c} {types.get(c, 'text')}" for c in header)
        connection.execute(f"CREATE TABLE {table} ({columns})")
        with connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
            for row in rows:
                copy.write_row([value or None for value in row])
