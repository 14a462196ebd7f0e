"""Ctrl-C while DuckDB works: it says `RuntimeError: Query interrupted`, and means KeyboardInterrupt."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interruptible() -> Iterator[None]:
    """Around a statement of DuckDB: Ctrl-C is Ctrl-C, not an error of ours."""
    try:
        yield
    except Exception as error:
        if "interrupted" in str(error).lower() and type(error).__name__ in {"RuntimeError", "InterruptException"}:
            raise KeyboardInterrupt from None
        raise
