"""Files of the custodian's own, and one process or thread at a time in a folder: a lock that leaves no file behind and
ends with its holder.
"""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path


def private(folder: Path) -> None:
    """Make the folder, for its owner alone: it holds the account, and copies of the data beside it.

    A folder that is there already keeps the rights it was given.
    """
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)  # whatever the umask


def private_file(file: Path) -> None:
    """Make the file if it is not there, for its owner alone, whatever the umask and wherever it stands.

    One that is there already is closed to everybody who is not of its group: a group of custodians may share it.
    """
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        mode = file.stat().st_mode
        if mode & 0o007:
            with contextlib.suppress(
                PermissionError
            ):  # another's file, who alone can close it: `nowiser check` says so
                file.chmod(stat.S_IMODE(mode) & ~0o007)
    else:
        os.close(descriptor)


def open_to_all(file: Path) -> bool:
    """Whether everybody on this machine may read or write it."""
    return file.exists() and bool(file.stat().st_mode & 0o007)


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
        # Closing is not enough: a child that another thread forked meanwhile has the descriptor too, and so the lock.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)
