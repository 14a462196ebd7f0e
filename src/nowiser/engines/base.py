"""What the gateway needs of an engine, and nothing more.

An engine holds the *prepared* tables of a policy: declared kinds, values clipped to declared ranges, values outside
a declared domain NULL, and at most `rows_per_person` rows of each person. It runs a `Tally`, the exact part of a
plan, and gives whole numbers per group back as Arrow. It never sees the analyst's text.

To add an engine: one file with a class that keeps this protocol, one line in `engines/__init__.py`, and the
conformance suite (`tests/engines`) runs over it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from nowiser.sql.plan.tally import Tally
from nowiser.sql.tree import Call


@dataclass(frozen=True)
class Capabilities:
    """What an engine can do: the functions it renders with the reference meaning, and whether it keeps a copy.

    `lacks`: why a call of a function cannot be computed there with its reference meaning; None where it can.
    """

    functions: frozenset[str]
    prepares: bool = True
    lacks: Callable[[Call], str | None] = lambda _: None


@dataclass(frozen=True)
class Estimate:
    """What preparing would take, said before it starts. `free`: bytes left there, where that can be known."""

    where: str
    bytes: int
    free: int | None
    done: bool  # it has been prepared already


@dataclass(frozen=True)
class Prepared:
    version: str
    where: str
    bytes: int
    seconds: float
    already: bool


class Broken(Exception):
    """The engine failed on a statement of ours, or ran out of its time or memory. Carries no engine message."""


class Engine(Protocol):
    """Connected when constructed; raises Unreachable where it cannot be, Misconfigured where the data do not fit."""

    name: str
    capabilities: Capabilities

    def prepared_version(self) -> str:
        """Names the content of all tables, so that a change of the data is noticed.

        Prepares them first where they are not, or where the data changed: that may copy the whole data set.
        """

    def run(self, tally: Tally) -> pa.Table:
        """Columns k0, k1, … (keys) and c0, c1, … (cells), a row for each group that has rows. Raises Broken."""

    def estimate(self) -> Estimate:
        """What `prepare` would take."""

    def prepare(self, tell: Callable[[float, str], None]) -> Prepared:
        """Store what makes questions cheap; all of it or nothing. `tell(share, table)` reports how far it is."""

    def close(self) -> None: ...
