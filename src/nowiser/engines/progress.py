"""DuckDB's progress bar, which we never want to see: `nowiser prepare` has its own.

In Jupyter without ipywidgets DuckDB has no bar and refuses every setting about it, even to turn it off. Then there is
nothing to turn off, and progress cannot be asked for; both are fine.
"""

import contextlib
from typing import Any


def measured(connection: Any) -> None:
    """`query_progress` can be asked, where DuckDB allows it; nothing is printed."""
    _set(connection, "enable_progress_bar = true", "enable_progress_bar_print = false")


def silent(connection: Any) -> None:
    """No bar: it would go to standard output, among the answers."""
    _set(connection, "enable_progress_bar = false")


def _set(connection: Any, *settings: str) -> None:
    import duckdb

    with contextlib.suppress(duckdb.InvalidInputException):
        for setting in settings:
            connection.execute(f"SET {setting}")
