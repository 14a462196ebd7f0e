"""What an attack may touch, what it answers, and what an attack is.

The truth stays with the harness: a `View` holds no original and says nothing about which released row is whose. Its
tables are copies, its functions behind a wall (`walls.py`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from nowiser.microdata.table.micro_table import MicroTable

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# what is guessed: a secret value, which released row is hers, whether she is in, a predicate that only she
# satisfies, the cells of the table behind published numbers, or whether two people are linked
Goal = Literal["value", "row", "presence", "one person", "table", "link"]
# `members`: victims in the release; `outside`: people like them who are not; `unprotected`: the rows as they were
Run = Literal["members", "outside", "unprotected"]
Ask = Callable[[str], Any]
Rerun = Callable[[MicroTable, np.random.Generator], MicroTable]


@dataclass(frozen=True, eq=False)
class View:
    """All that an attack may touch. What a game does not offer is None or empty."""

    known: MicroTable  # one row for each victim: what he knows of her
    released: MicroTable | None = None
    releases: tuple[MicroTable, ...] = ()  # further releases about the same people
    codebook: Mapping[str, Any] | None = None
    labels: Mapping[str, Mapping[str, frozenset[str]]] = field(default_factory=dict)  # column → label → values covered
    quasi: tuple[str, ...] = ()
    secret: str | None = None  # the column he guesses
    within: float | None = None  # how near a guess of a number must come; None: exactly, or a category
    prior: MicroTable | None = None  # how the secret is distributed in the table as a whole: public
    reference: MicroTable | None = None  # people like them, outside, with all columns
    ask: Ask | None = None  # a gateway: sql → Answer, on a copy with its own account
    rerun: Rerun | None = None  # the recipe or generator
    more: Mapping[str, Any] = field(default_factory=dict)  # what one kind of game adds: arrays, names of columns


@dataclass(frozen=True, eq=False)
class Guesses:
    """One entry for each victim. `silent`: he makes no claim."""

    value: NDArray[Any]  # labels as in a csv file, numbers, rows of the release, or 0/1
    confidence: Floats  # his own; larger is surer. Only its order counts
    silent: Bools
    course: tuple[float, ...] = ()  # of the first victim: how likely his best guess is, after each answer he got

    @staticmethod
    def of(
        value: NDArray[Any],
        confidence: Floats | None = None,
        silent: Bools | None = None,
        course: tuple[float, ...] = (),
    ) -> "Guesses":
        n = len(value)
        sure = np.zeros(n) if confidence is None else np.asarray(confidence, np.float64)
        return Guesses(value, sure, np.zeros(n, bool) if silent is None else silent, course)


class Attack(Protocol):
    """One attacker. A module of a room exposes it as `ATTACK`, or several as `ATTACKS`."""

    @property
    def name(self) -> str: ...
    @property
    def goal(self) -> Goal: ...
    @property
    def against(self) -> str: ...  # the game he plays: tables, sparse, published tables, gateways, graphs
    @property
    def knows(self) -> str: ...  # in words
    @property
    def source(self) -> str: ...  # the paper
    @property
    def needs(self) -> frozenset[str]: ...  # what the game must offer
    @property
    def minutes(self) -> float: ...  # about how long it takes on 30,000 rows

    def guess(self, view: View, random: np.random.Generator) -> Guesses: ...
