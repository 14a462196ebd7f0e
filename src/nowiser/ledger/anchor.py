"""The head of the chain, kept in a second file, so that putting back an old copy of the ledger is noticed.

The file is written after each commit. A process may die in between: then the anchor is behind the chain, never ahead
of it. So the rule is: the chain must *contain* the anchored entry. A chain that was rolled back behind the anchor, or
rewritten before it, does not. Keep the file where whoever can write the ledger cannot.

What was written survives the process at once and a power failure after `sync`, which comes before an answer is given:
a charge that may be rolled back unnoticed is one nobody got anything for.

The file has two lines of fixed length, each with a check of its own. The older one is overwritten in place, so a
torn write costs that line only; that needs no new file and no renaming, which would be most of the cost of a question.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from nowiser.errors import LedgerBroken, Unreachable
from nowiser.ledger import spent
from nowiser.ledger.base import Head
from nowiser.ledger.lock import locked, private, private_file

LENGTH = 128  # of a line
# What is overwritten in place is all there is to be written: the time of the change, which would take the disk a write
# of its own, may be lost.
_sync = getattr(os, "fdatasync", os.fsync)


def _line(head: Head) -> bytes:
    body = f'{{"seq":{head.seq},"hash":"{head.hash}","check":"{_check(head)}"}}'
    return body.encode().ljust(LENGTH - 1) + b"\n"


def _head(line: bytes) -> Head | None:
    """What a line says; None when it is torn."""
    try:
        value = json.loads(line)
        head = Head(int(value["seq"]), str(value["hash"]))
        return head if value["check"] == _check(head) else None
    except (ValueError, KeyError, TypeError):
        return None


def _heads(content: bytes) -> tuple[Head | None, Head | None]:
    return _head(content[:LENGTH]), _head(content[LENGTH : 2 * LENGTH])


def _check(head: Head) -> str:
    return hashlib.sha256(f"{head.seq} {head.hash}".encode()).hexdigest()[:8]


class Anchor:
    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Head | None:
        """The anchored head; None when there is no such file."""
        try:
            lines = _heads(self.path.read_bytes())
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unreachable(f"the ledger's anchor cannot be read: {error.strerror}") from error
        heads = [head for head in lines if head is not None]
        if not heads:
            raise LedgerBroken(f"the ledger does not verify: the anchor {self.path.name} cannot be read")
        return max(heads, key=lambda head: head.seq)

    def create(self, head: Head) -> None:
        """Write the first anchor, unless another process was faster."""
        with self._locked(made=True):
            if not self.path.exists():
                fresh = self.path.with_name(self.path.name + ".new")
                private_file(fresh)
                with fresh.open("wb") as file:
                    file.write(_line(head) * 2)
                    file.flush()
                    os.fsync(file.fileno())
                fresh.replace(self.path)

    def close_to_others(self) -> None:
        private_file(self.path)

    def start_again(self, head: Head) -> None:
        """Anchor a chain that goes on from an older copy."""
        with self._locked():
            file = os.open(self.path, os.O_RDWR)
            try:
                spent.write(self.path, head)
                os.pwrite(file, _line(head) * 2, 0)
                os.fsync(file)
            finally:
                os.close(file)

    def advance(self, head: Head) -> None:
        """Move the anchor forward; never back, whichever process comes last. Every process sees it at once."""
        with self._locked():
            file = os.open(self.path, os.O_RDWR)
            try:
                lines = _heads(os.pread(file, 2 * LENGTH, 0))
                seqs = [line.seq if line is not None else -1 for line in lines]
                if max(seqs) < head.seq:
                    if head.spent:
                        spent.write(self.path, head)
                    os.pwrite(file, _line(head), LENGTH * seqs.index(min(seqs)))
            finally:
                os.close(file)

    def sync(self) -> None:
        """Return when everything written so far, by whichever process, stays after the power fails."""
        try:
            file = os.open(self.path, os.O_RDWR)
            try:
                _sync(file)
            finally:
                os.close(file)
        except OSError as error:
            raise Unreachable(f"the ledger's anchor cannot be written: {error.strerror}") from error

    @contextlib.contextmanager
    def _locked(self, *, made: bool = False) -> Iterator[None]:
        """Alone in its folder, which is `made` if it is not there."""
        try:
            if made:
                private(self.path.parent)
            with locked(self.path.parent):
                yield
        except OSError as error:
            raise Unreachable(f"the ledger's anchor cannot be written: {error.strerror}") from error
