"""Tables of where promises end, kept beside the ledger, so that a new process need not make them again.

A table is a property of what the policy promises, not of the data: it holds nothing secret. It is found under a hash of
the parts of the policy that it depends on, and of the version of the calculus. A file that is damaged, of another
policy or of another version is ignored and made anew. It is trusted as much as the ledger beside it: whoever can write
there could as well forget charges.
"""

import contextlib
import hashlib
import json
import os
import tempfile
import threading
from pathlib import Path
from typing import Any

from nowiser.guess.budget import frontier
from nowiser.ledger.opening import state_folder
from nowiser.meanwhile import meanwhile
from nowiser.model.policy import Policy
from nowiser.policy.meaning import canonical

FILE = "frontiers.json"
SEVERAL = 3  # questions of one process
GROWN = 1.25  # times as much as is kept is written before the end


class Frontiers:
    """The tables of one policy: read when it is opened, written when they have grown, filled where many ask."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._file = state_folder(policy) / FILE if policy.path is not None else None
        self._name = _name(policy)
        self._kept = self._asked = 0
        self._closed = threading.Event()
        self._read()

    def answered(self) -> None:
        """After each question. Whoever asks several will ask more: then all that may be needed is found meanwhile.

        What goes wrong there goes wrong again, and is told, when a question needs it.
        """
        self._asked += 1
        if self._asked == SEVERAL:
            meanwhile(self._fill)
        if tabulated(self._policy) > GROWN * self._kept:
            self._keep()

    def close(self) -> None:
        self._closed.set()
        if tabulated(self._policy) > self._kept:
            self._keep()

    def _fill(self) -> None:
        for parts in frontier.parts_of(self._policy).values():
            for part in parts:
                part.fill(self._closed.is_set)
        if not self._closed.is_set():
            self._keep()

    def _read(self) -> None:
        """Take up what is kept; nothing where there is no such file or it does not verify."""
        if self._file is None:
            return
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            found = json.loads(self._file.read_bytes())
            if found["name"] == self._name and found["check"] == _check(found["tables"]):
                _learn(self._policy, found["tables"])
                self._kept = tabulated(self._policy)

    def _keep(self) -> None:
        """Write all in one step: no other process sees half a file. A folder that refuses it is no error."""
        if self._file is None or not self._file.parent.is_dir():
            return
        self._read()  # what another process found meanwhile
        kept, every = tabulated(self._policy), frontier.parts_of(self._policy)
        tables = {name: [part.to_json() for part in parts] for name, parts in every.items()}
        text = json.dumps({"name": self._name, "check": _check(tables), "tables": tables}, allow_nan=False)
        with contextlib.suppress(OSError):
            _replace(self._file, text.encode())
            self._kept = kept


def tabulated(policy: Policy) -> int:
    """How many rows there are: whether there is something new to keep."""
    return sum(len(part.rows_made) for parts in frontier.parts_of(policy).values() for part in parts)


def _learn(policy: Policy, tables: dict[str, Any]) -> None:
    for name, parts in frontier.parts_of(policy).items():
        for part, told in zip(parts, tables[name], strict=True):
            part.learn(told)


def _name(policy: Policy) -> str:
    """What tables depend on: attackers, priors, ranges, dependence, and the calculus."""
    meaning = canonical(policy)
    parts = [frontier.CALCULUS, *(meaning[key] for key in ("attackers", "priors", "tables", "independent"))]
    return _check(parts)


def _check(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, allow_nan=False).encode()).hexdigest()


def _replace(file: Path, content: bytes) -> None:
    descriptor, fresh = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")  # for its owner alone
    try:
        with os.fdopen(descriptor, "wb") as out:
            out.write(content)
        Path(fresh).replace(file)
    except BaseException:
        Path(fresh).unlink(missing_ok=True)
        raise
