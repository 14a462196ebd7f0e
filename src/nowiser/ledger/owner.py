"""Which process holds a reservation, so that others on the same machine see at once when it is dead.

A process is named by its machine's boot, its namespace of processes, its number and the tick it began at, so a number
used again is another process. Elsewhere, and where /proc is not there, nothing is known, and time decides.
"""

import hashlib
import os
from functools import lru_cache
from pathlib import Path

_PROC = Path("/proc")


def me() -> str:
    """The name of this process; empty where it cannot be said."""
    return _named(os.getpid())


@lru_cache(maxsize=8)
def _named(process: int) -> str:
    here, began = _here(), _began(process)
    return f"{here} {process} {began}" if here and began else ""


def gone(owner: str) -> bool:
    """Whether this process was on this machine and is no more."""
    here, _, rest = owner.partition(" ")
    if not here or here != _here():
        return False
    process, _, began = rest.partition(" ")
    return not process.isdigit() or _began(int(process)) != began


@lru_cache(maxsize=1)
def _here() -> str:
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text()
        room = (_PROC / "self/ns/pid").readlink()
    except OSError:
        return ""
    return hashlib.sha256(f"{boot}{room}".encode()).hexdigest()[:12]


def _began(process: int) -> str:
    """The tick at which a process began; empty where there is none, or only what is left of it."""
    try:
        fields = (_PROC / str(process) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in ("Z", "X") else fields[19]
