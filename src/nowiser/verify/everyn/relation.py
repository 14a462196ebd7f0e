"""Two runs side by side: how their data can differ in one turn, how far their variables are apart at a loop head."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from nowiser.verify.everyn.machine import Head
from nowiser.verify.question import Neighbours
from nowiser.verify.symbolic.forms import Form
from nowiser.verify.symbolic.paths import Row

BEFORE, AFTER = "before", "after"


@dataclass(frozen=True)
class Move:
    """How the element of a turn differs. skips: 1 or 2 where only that run does not take the turn."""

    name: str
    source: str
    target: str
    element: Form
    rows: tuple[Row, ...] = ()
    skips: int = 0


@dataclass(frozen=True)
class Way:
    """One way of being neighbours: its moves, and how much longer the second list is."""

    name: str
    moves: tuple[Move, ...]
    longer: int = 0


def ways(neighbours: Neighbours) -> list[Way]:
    same = Form.symbol("d")
    m = Form.symbol("m")
    quiet = (Move("same", BEFORE, BEFORE, same), Move("same", AFTER, AFTER, same))
    if neighbours.kind == "length":
        return [
            Way("without", (*quiet, Move("skip", BEFORE, AFTER, same, (), 2)), -1),
            Way("with", (*quiet, Move("skip", BEFORE, AFTER, Form.symbol("e"), (), 1)), 1),
        ]
    by = neighbours.by
    if neighbours.kind == "all":
        if by is None:
            return [Way("all", (Move("moved", BEFORE, BEFORE, Form.symbol("e")),))]
        box = tuple(Row(Form({"m": Fraction(sign)}, by), False) for sign in (1, -1))
        return [Way("all", (Move("moved", BEFORE, BEFORE, same + m, box),))]
    if by is None:
        return [Way("one", (*quiet, Move("moved", BEFORE, AFTER, Form.symbol("e"))))]
    span = (Row(m, False), Row(Form({"m": Fraction(-1)}, by), False))
    return [
        Way(f"one {name}", (*quiet, Move("moved", BEFORE, AFTER, same + m.scaled(sign), span)))
        for name, sign in (("up", 1), ("down", -1))
    ]


@dataclass(frozen=True)
class Apart:
    """How much larger a variable is in the second run: between low and high (None: no limit)."""

    low: Fraction | None
    high: Fraction | None

    @property
    def known(self) -> bool:
        return self.low is not None and self.low == self.high

    def form(self, name: str) -> Form:
        return Form({}, self.low) if self.known and self.low is not None else Form.symbol(f"h.{name}")

    def rows(self, name: str) -> list[Row]:
        if self.known:
            return []
        found = [] if self.low is None else [Row(Form({f"h.{name}": Fraction(1)}, -self.low), False)]
        return found if self.high is None else [*found, Row(Form({f"h.{name}": Fraction(-1)}, self.high), False)]

    def joined(self, other: "Apart") -> "Apart":
        low = None if self.low is None or other.low is None else min(self.low, other.low)
        high = None if self.high is None or other.high is None else max(self.high, other.high)
        return Apart(low, high)

    def to_json(self) -> list[str | None]:
        return [None if x is None else str(x) for x in (self.low, self.high)]


Key = tuple[Any, ...]  # head, phase, whether the target index is settled, fixed truth values


@dataclass
class State:
    """What holds at a head: how far apart each number is; rows about the first run's whole numbers."""

    head: Head
    apart: dict[str, Apart] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)


def name_of(key: Key) -> str:
    """Of a state, in certificates."""
    at, phase, target, truths = key
    return f"{at}|{phase}|{target}|{','.join(f'{n}={v}' for n, v in truths)}"


def second_run(state: State | None, noisy: frozenset[str], move: Move, longer: int) -> dict[str, Form]:
    """What stands for each symbol in the second run."""
    found = {"d": move.element}
    if longer:
        found["n"] = Form({"n": Fraction(1)}, Fraction(longer))
        found["i"] = Form({"i": Fraction(1), "g": Fraction(1)})  # the second run may be at another place
    for name, apart in (state.apart if state is not None else {}).items():
        symbol = f"x.{name}" if name in noisy else f"v.{name}"
        found[symbol] = Form.symbol(symbol) + apart.form(name)
    return found


def tightened(rows: Sequence[Row], whole: frozenset[str]) -> list[Row]:
    """Above 0 is at least 1 where everything is a whole number."""
    return [
        Row(r.form - 1, False)
        if r.strict
        and r.form.terms.keys() <= whole
        and all(c.denominator == 1 for c in (*r.form.terms.values(), r.form.constant))
        else r
        for r in rows
    ]


def whole_symbols(names: Mapping[str, bool], *, data: bool) -> frozenset[str]:
    found = {"i", "n", *(f"{s}.{n}" for n, yes in names.items() if yes for s in "vh")}
    return frozenset(found | ({"d", "e", "m"} if data else set()))


def allowed(moves: Sequence[Move], phase: str, *, touched: bool) -> Iterator[Move]:
    """The moves of a turn; where no element is seen, nothing moves."""
    for move in moves:
        if move.source == phase and (touched or move.name == "same"):
            yield move
    if not touched and not any(m.name == "same" and m.source == phase for m in moves):
        yield Move("same", phase, phase, Form.symbol("d"))
