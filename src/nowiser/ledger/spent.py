"""What was charged up to the anchored entry, in a file beside the anchor: so an older copy that is put back can be
charged with what it does not know of.

Written with every move of the anchor, in place, with a check of its own. It survives the process, not always a power
failure; torn or behind, it says nothing, and then a ledger that was put back cannot be gone on with.
"""

import contextlib
import os
from pathlib import Path

from nowiser.errors import LedgerBroken
from nowiser.ledger.base import Head
from nowiser.ledger.chain import Totals, digest
from nowiser.ledger.lock import private_file


def file_of(anchor: Path) -> Path:
    return anchor.with_suffix(".spent")


def write(anchor: Path, head: Head) -> None:
    file, text = file_of(anchor), f"{head.seq} {head.hash}\n{head.spent}\n"
    whole = f"{text}{digest(text.encode())}\n".encode()
    private_file(file)
    descriptor = os.open(file, os.O_WRONLY)
    try:
        os.pwrite(descriptor, whole, 0)
        os.ftruncate(descriptor, len(whole))
    finally:
        os.close(descriptor)


def read(anchor: Path, head: Head) -> Totals:
    """The totals at the anchored head. Raises LedgerBroken where they are not known."""
    with contextlib.suppress(OSError, ValueError):
        place, totals, check = file_of(anchor).read_text(encoding="utf-8").splitlines()
        if check == digest(f"{place}\n{totals}\n".encode()) and place == f"{head.seq} {head.hash}":
            return Totals.of_text(totals)
    raise LedgerBroken(
        "what was charged after this copy is not known, so nothing can be booked",
        hint="Put back the newest ledger there is, together with its .head and .spent files.",
    )
