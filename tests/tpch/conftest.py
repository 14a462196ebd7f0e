"""TPC-H at a hundredth of its scale, made on the spot, and a gateway for each question."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "tpch"
TABLES = ("customer", "lineitem", "nation", "orders", "part", "partsupp", "region", "supplier")


@pytest.fixture(scope="session")
def tpch_data(tmp_path_factory) -> Path:
    """The eight tables as Parquet, written by tpchgen-cli."""
    program = Path(sys.executable).parent / "tpchgen-cli"
    if not program.exists():
        pytest.skip("tpchgen-cli is not installed")
    folder = tmp_path_factory.mktemp("tpch")
    subprocess.run([program, "parquet", "-s", "0.01", "-o", folder, "-q"], check=True, capture_output=True)
    return folder


@pytest.fixture(scope="session")
def exact(tpch_data):
    """Raw DuckDB over the same files: what a question is without protection."""
    import duckdb

    connection = duckdb.connect()
    for table in TABLES:
        connection.execute(f"CREATE TABLE {table} AS SELECT * FROM read_parquet('{tpch_data / table}.parquet')")
    yield connection
    connection.close()


@pytest.fixture(scope="session")
def home(tpch_data) -> Path:
    shutil.copy(EXAMPLE / "nowiser.yaml", tpch_data / "nowiser.yaml")
    return tpch_data
