"""One Spark session for all tests of engines: starting one takes its time."""

import os
import shutil

import pytest


@pytest.fixture(scope="session", autouse=True)
def quick_java():
    """Every Java here lives for a minute: half of its time would go into compiling well what runs a few times."""
    os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto")


@pytest.fixture(scope="session")
def spark_session():
    """A local Spark, or a skip with the reason."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, and there is none here")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from nowiser.engines.spark.session import open_session

    session = open_session("spark")
    yield session
    session.stop()


@pytest.fixture(params=["duckdb", "postgresql", "spark"])
def world(request, tmp_path):
    """Makes a policy and its tables on an engine: `world(policy_text, {"t": csv_text})` → (policy, engine).

    On PostgreSQL every column is a text, as in a CSV file; `types` says otherwise.
    """
    from nowiser import policy as policies
    from nowiser.engines import connect

    opened = []
    url = None
    if request.param == "postgresql":
        url = request.getfixturevalue("postgres_url")
    if request.param == "spark":
        request.getfixturevalue("spark_session")

    def make(text, tables, *, types=None, name="one"):
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        engine = {"duckdb": "duckdb", "postgresql": url, "spark": "spark"}[request.param]
        for table, content in tables.items():
            if request.param == "postgresql":
                fill(url, f"{name}_{table}", content, types or {})
                text = text.replace(f"source: {table}.csv", f"source: {name}_{table}")
            else:
                (folder / f"{table}.csv").write_text(content, encoding="utf-8")
        (folder / "nowiser.yaml").write_text(text.replace("nowiser: 1", f"nowiser: 1\nengine: {engine}", 1))
        policy = policies.read(folder / "nowiser.yaml")
        found = connect(policy)
        opened.append(found)
        return policy, found

    make.engine = request.param
    make.url = url
    yield make
    for engine in opened:
        engine.close()


def fill(url, table, content, types):
    import csv
    import io

    import psycopg

    header, *rows = csv.reader(io.StringIO(content))
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"DROP TABLE IF EXISTS {table}")
        columns = ", ".join(f"{c} {types.get(c, 'text')}" for c in header)
        connection.execute(f"CREATE TABLE {table} ({columns})")
        with connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
            for row in rows:
                copy.write_row([value or None for value in row])
