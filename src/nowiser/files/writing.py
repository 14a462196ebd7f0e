"""Files that cannot be written: a refusal that names the place and the reason, with an exit code, in every command."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nowiser.errors import Misconfigured

_REPAIRS = {
    "Give this user the right to write in that folder{other}.": (errno.EACCES, errno.EPERM, errno.EROFS),
    "A file stands where a folder is needed, or the other way round: move it{other}.": (
        errno.ENOTDIR,
        errno.EEXIST,
        errno.EISDIR,
        errno.ENOTEMPTY,
    ),
    "Its folder is not there: make it first{other}.": (errno.ENOENT,),
    "Make room on that disk{other}.": (errno.ENOSPC, errno.EDQUOT, errno.EFBIG),
}


@contextmanager
def writing(path: Path, what: str = "") -> Iterator[None]:
    """While this file is written. `what`: its name for people who cannot choose another."""
    try:
        yield
    except OSError as error:
        found = unwritable(error, what or str(path), "" if what else ", or name another file")
        if found is None:
            raise
        raise found from None


def unwritable(error: OSError, what: str, other: str = "") -> Misconfigured | None:
    """Why `what` cannot be written, and what helps; None where the system means something else."""
    repair = next((hint for hint, codes in _REPAIRS.items() if error.errno in codes), None)
    if repair is None or error.errno is None:
        return None
    return Misconfigured(
        f"{what} cannot be written: {os.strerror(error.errno).lower()}", hint=repair.format(other=other)
    )
