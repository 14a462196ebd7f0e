"""What a statistic is: it is asked of a graph whose people are public, or of one where somebody may be in it or not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, Protocol

from nowiser.graphs.graph import Graph
from nowiser.noise.entropy import Entropy

Protects = Literal["links", "persons"]  # what counts as a record: one link, or a person with all her links


@dataclass(frozen=True)
class World:
    """What everybody knows beforehand; nothing in it is read off the links."""

    protect: Protects
    most: int = 64  # links of a person that count, where persons are protected
    groups: tuple[str, ...] = ()  # the values of a label, in their order
    label: str | None = None
    people: int | None = None  # where that is public
    size: int = 3  # of stars


@dataclass(frozen=True)
class Told:
    """A noisy answer. `bars`: 95 % half-widths, per column or, as a list, per row; None for none."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    bars: tuple[Any, ...]
    notes: tuple[str, ...] = ()
    graph: Graph | None = None  # where the answer is a graph

    def to_json(self) -> dict[str, Any]:
        rows = [list(r) for r in self.rows]
        return {"columns": list(self.columns), "rows": rows, "error": list(self.bars), "notes": list(self.notes)}


@dataclass(frozen=True)
class Expected:
    """The 95 % half-width before anything is charged, where it does not depend on the links; else in words."""

    bar: float | None
    words: str = ""
    more: Mapping[str, Any] = field(default_factory=dict)


class Statistic(Protocol):
    """One question. An answer at ε costs `presence` of ε: of one link, or of one person with all her links."""

    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def protects(self) -> frozenset[Protects]: ...

    def expected(self, world: World, epsilon: Fraction) -> Expected: ...
    def answer(self, graph: Graph, world: World, epsilon: Fraction, entropy: Entropy) -> Told: ...
