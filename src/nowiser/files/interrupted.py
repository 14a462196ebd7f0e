"""Ctrl-C while DuckDB works: it says `RuntimeError: Query interrupted`, and means KeyboardInterrupt."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any


@contextmanager
def interruptible() -> Iterator[None]:
    """Around a statement of DuckDB: Ctrl-C is Ctrl-C, not an error of ours."""
    try:
        yield
    except Exception as error:
        if "interrupted" in str(error).lower() and type(error).__name__ in {"RuntimeError", "InterruptException"}:
            raise KeyboardInterrupt from None
        raise


def rows_of(engine: Any, sql: str) -> list[Any]:
    """All rows of a statement, which Ctrl-C ends at once.

    It runs in a thread of its own: DuckDB looks for Ctrl-C between its tasks, and a single task of the thread that
    would be told can take hours.
    """
    with interruptible(), ThreadPoolExecutor(1) as apart:
        asked = apart.submit(lambda: engine.execute(sql).fetchall())
        try:
            rows: list[Any] = asked.result()
        except KeyboardInterrupt:
            engine.interrupt()
            raise
    return rows
