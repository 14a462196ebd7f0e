"""The contract of a method: the roles of the columns, one step of a recipe, and what an attacker gains by it.

A method is a frozen dataclass whose fields are its options in the recipe. It lives in one file of
`nowiser/microdata/methods/` or `nowiser/microdata/perturb/` as the module's `METHOD`, and a recipe names
it by its `name`:

    steps:
      - top_bottom: {column: age, top: 90}
      - generalise: {}

Methods are pure: the table they are given is never changed. Randomness enters by `Run.random` (seeded,
for perturbation that claims no differential privacy); a method that claims differential privacy ignores
it, draws from `nowiser.noise` and reports its `charge`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from nowiser.microdata.table.micro_table import MicroTable
from nowiser.model.charge import Charge

if TYPE_CHECKING:
    from nowiser.microdata.hierarchies.hierarchy import Hierarchy
    from nowiser.microdata.models import Model


@dataclass(frozen=True)
class Roles:
    """What the custodian says about her columns. Columns in none of these are released as they are."""

    quasi: tuple[str, ...]  # what an attacker may know of a victim, in the custodian's order
    sensitive: tuple[str, ...] = ()  # what he wants to guess
    identifiers: tuple[str, ...] = ()  # removed (or made pseudonyms) before anything else
    weight: str | None = None  # sampling weights
    household: str | None = None
    strata: tuple[str, ...] = ()
    people: int | None = None  # size of the population the table was drawn from


def quiet(done: float, message: str) -> None:
    """A progress reporter that reports nothing."""
    del done, message


def silent(message: str) -> None:
    """A listener that hears nothing."""
    del message


@dataclass(frozen=True)
class Run:
    """What a method may use besides the table."""

    roles: Roles
    original: MicroTable  # the custodian's table, identifiers included
    hierarchies: Mapping[str, "Hierarchy"] = field(default_factory=dict)
    models: tuple["Model", ...] = ()  # what the released table must satisfy
    suppress: int = 0  # how many rows may be suppressed in all
    loss: str = "loss"
    gs_factor: float = 0.5  # ARX's: below a half suppression counts less, above it generalisation does
    importance: Mapping[str, float] = field(default_factory=dict)  # of quasi-identifiers in the loss; 1 if not named
    random: np.random.Generator = field(default_factory=np.random.default_rng)
    progress: Callable[[float, str], None] = quiet  # (share done, what is happening)
    seconds: float = 60.0  # how long a search may look for a proof
    notice: Callable[[str], None] = silent  # what the custodian should hear before something long starts
    population: MicroTable | None = None  # everybody, for models that count the population
    persons: NDArray[np.int64] | None = None  # whose each row of the original is; None where each is a person
    within: Mapping[str, float] = field(default_factory=dict)  # how near a guess of a number must come
    in_order: bool = False  # whether the rows are written in the order of the original
    weights: NDArray[np.int64] | None = None  # rows that each row of the table stands for (tables larger than memory)

    def owners(self, table: MicroTable) -> NDArray[np.int64] | None:
        """Whose each row of a table made from the original is; a row of unknown origin is nobody else's."""
        if self.persons is None:
            return None
        unknown = int(self.persons.max(initial=0)) + 1 + np.arange(table.rows)
        return np.where(table.origin < 0, unknown, self.persons[np.maximum(table.origin, 0)])


@dataclass(frozen=True)
class Guessing:
    """Before → after for one attacker and one step: what a release lets him guess, with its interval if simulated."""

    attacker: str  # in words: "knows the quasi-identifiers exactly"
    column: str  # what he guesses
    before: float
    after: float
    low: float | None = None  # of `after`, when simulated
    high: float | None = None
    how: str = "counted"  # counted | Bayes | simulated
    within: float | None = None  # how near a guess of a number must come; None: exactly, or a category
    number: bool = False  # whether it is a number

    @property
    def gain(self) -> float:
        return self.after - self.before

    @property
    def aim(self) -> str:
        """What is guessed, in words: of a number always how near."""
        if self.within is not None:
            return f"{self.column} within {self.within:.4g}"
        return f"{self.column} exactly" if self.number else self.column


@dataclass(frozen=True)
class Step:
    """What one method did. `codebook` must let a reader of the file understand (and estimate from) it."""

    table: MicroTable
    method: str
    codebook: Mapping[str, Any] = field(default_factory=dict)
    suppressed: int = 0
    loss: float | None = None
    optimal: bool | float | None = None  # True, the gap, or None where nothing was optimised
    levels: Mapping[str, int] | None = None
    charge: Charge = field(default_factory=Charge)
    reach: Fraction = Fraction(0)  # nats by which what was released may speak for one record of a person or another
    guesses: tuple[Guessing, ...] = ()
    values: Mapping["Model", float] = field(default_factory=dict)  # of models only the method can measure (population)
    channels: Mapping[str, Any] = field(default_factory=dict)  # per column what is published about its perturbation
    independent: bool = True  # whether each of them was perturbed for itself
    population: Any = None  # Arrow: the population as this step would release it, for the re-check


class Method(Protocol):
    """One way to make a table safer."""

    name: ClassVar[str]  # how a recipe calls it

    def apply(self, table: MicroTable, run: Run) -> Step: ...
