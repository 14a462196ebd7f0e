"""The head of the chain, kept in a second file, so that putting back an old copy of the ledger is noticed.

The file is replaced atomically after each commit. A process may die in between: then the anchor is behind the
chain, never ahead of it. So the rule is: the chain must *contain* the anchored entry. A chain that was rolled back
behind the anchor, or rewritten before it, does not. Keep the file where whoever can write the ledger cannot.
"""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path

from nowiser.errors import LedgerBroken, Unreachable
from nowiser.ledger.base import Head
from nowiser.ledger.lock import locked


class Anchor:
    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> Head | None:
        """The anchored head; None when there is no such file."""
        try:
            text = self.path.read_text("utf-8")
        except FileNotFoundError:
            return None
        try:
            value = json.loads(text)
            return Head(int(value["seq"]), str(value["hash"]))
        except (ValueError, KeyError, TypeError) as error:
            raise LedgerBroken(f"the ledger does not verify: the anchor {self.path.name} cannot be read") from error

    def create(self, head: Head) -> None:
        """Write the first anchor, unless another process was faster."""
        with self._locked():
            if not self.path.exists():
                self._replace(head)

    def advance(self, head: Head) -> None:
        """Move the anchor forward; never back, whichever process comes last."""
        with self._locked():
            now = self.read()
            if now is None or now.seq < head.seq:
                self._replace(head)

    def _replace(self, head: Head) -> None:
        fresh = self.path.with_name(self.path.name + ".new")
        with fresh.open("w", encoding="utf-8") as file:
            file.write(json.dumps({"seq": head.seq, "hash": head.hash}) + "\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self.path)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with locked(self.path.parent):
                yield
        except OSError as error:
            raise Unreachable(f"the ledger's anchor cannot be written: {error.strerror}") from error
