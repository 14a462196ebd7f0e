"""DuckDB, embedded: nothing to start. The plan runs on a prepared copy of the data."""

from nowiser.engines.duckdb.engine import DuckDB

__all__ = ["DuckDB"]
