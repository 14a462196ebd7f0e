"""One process or thread at a time in a folder: a lock that leaves no file behind and ends with its holder."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Wait for one's turn. The kernel wakes waiters one by one, where SQLite's own waiting polls and starves.

    Where folders cannot be locked (Windows), there is no waiting here: SQLite's own lock still keeps the account
    right, only more slowly, and the anchor may lag behind, which it may anyway.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
