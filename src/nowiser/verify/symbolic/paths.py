"""Following a program with symbols for data, publics and noise: every path, with its conditions and its output."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from nowiser.verify.language.run import Interpreter, Tuple
from nowiser.verify.outside import Outside, TooMuch
from nowiser.verify.question import Question
from nowiser.verify.symbolic.forms import Form, settled
from nowiser.verify.tree import Program

DISCRETE = ("flip", "choose")
WHOLE = ("discrete_laplace", "geometric")
LEAST = {"exponential": 0, "geometric": 0, "uniform": 0}
MOST_PATHS = 3000


@dataclass(frozen=True)
class Row:
    """form > 0 (strict) or form ≥ 0."""

    form: Form
    strict: bool


@dataclass(frozen=True)
class Noise:
    kind: str
    scale: Form  # a number times a power of ε
    line: int


@dataclass(frozen=True)
class Decision:
    """A comparison (`form` above 0), a flip (`form` is its probability) or a choice among `scores`.

    noisy: noise decides it too.
    """

    kind: str
    form: Form
    strict: bool
    outcome: int
    noisy: bool
    line: int
    scores: tuple[Form, ...] = ()

    @property
    def row(self) -> Row:
        """What is known of a comparison."""
        return Row(self.form, self.strict) if self.outcome else Row(-self.form, not self.strict)


@dataclass(frozen=True)
class Path:
    decisions: tuple[Decision, ...]
    noises: tuple[Noise, ...]
    output: Any
    facts: Any = None  # what a segment leaves behind

    @property
    def name(self) -> str:
        return "".join(str(d.outcome) + ("," if d.kind == "choose" else "") for d in self.decisions)

    @property
    def data_rows(self) -> list[Row]:
        return [d.row for d in self.decisions if d.kind == "row" and not d.noisy]

    @property
    def noisy_rows(self) -> list[Row]:
        return [d.row for d in self.decisions if d.kind == "row" and d.noisy]

    @property
    def samples(self) -> list[Decision]:
        return [d for d in self.decisions if d.kind in DISCRETE]


def is_noise(symbol: str) -> bool:
    return symbol.startswith("x")


def noisy(form: Form) -> bool:
    return any(is_noise(s) for s in form.terms)


class Bounds:
    """What is known of each direction: the lowest and the highest value, and whether they are excluded."""

    def __init__(self, rows: Sequence[Row] = ()) -> None:
        self._low: dict[Any, tuple[Fraction, bool]] = {}
        self._high: dict[Any, tuple[Fraction, bool]] = {}
        for row in rows:
            self.add(row)

    def copy(self) -> "Bounds":
        new = Bounds()
        new._low, new._high = dict(self._low), dict(self._high)
        return new

    @staticmethod
    def _direction(form: Form) -> tuple[Any, Fraction, bool]:
        """The direction with first coefficient 1, the value at which the form is 0, and whether it grows with it."""
        names = sorted(form.terms)
        lead = form.terms[names[0]]
        return tuple((n, form.terms[n] / lead) for n in names), -form.constant / lead, lead > 0

    def add(self, row: Row) -> None:
        if row.form.plain:
            return
        direction, value, grows = self._direction(row.form)
        side = self._low if grows else self._high
        old = side.get(direction)
        closer = old is None or (value > old[0] if grows else value < old[0])
        if closer or (old is not None and value == old[0] and row.strict):
            side[direction] = value, row.strict

    def decide(self, form: Form, strict: bool) -> bool | None:
        """Whether form > 0 (or ≥ 0) surely holds, surely does not, or neither."""
        if form.plain:
            return form.constant > 0 or (not strict and form.constant == 0)
        direction, value, grows = self._direction(form)
        low, high = self._low.get(direction), self._high.get(direction)
        if not grows:
            low, high = (None if high is None else (-high[0], high[1])), (None if low is None else (-low[0], low[1]))
            value = -value
        if low is not None and (low[0] > value or (low[0] == value and (low[1] or not strict))):
            return True
        if high is not None and (high[0] < value or (high[0] == value and (high[1] or strict))):
            return False
        return None


class Follow:
    """The world of one symbolic run: takes the outcomes it is told, then the first possible one."""

    def __init__(self, outcomes: Sequence[int], known: Sequence[Row] = (), first_noise: int = 0) -> None:
        self._told = list(outcomes)
        self._bounds = Bounds(known)
        self._first = first_noise
        self.decisions: list[Decision] = []
        self.noises: list[Noise] = []
        self.open: list[list[int]] = []  # other outcomes to follow later

    def _take(self, choices: Sequence[int]) -> int:
        at = len(self.decisions)
        if at < len(self._told):
            return self._told[at]
        told = [d.outcome for d in self.decisions]
        self.open += [[*told, other] for other in choices[1:]]
        return choices[0]

    def positive(self, form: Form, strict: bool, line: int) -> bool:
        known = self._bounds.decide(form, strict)
        if known is not None:
            return known
        decision = Decision("row", Form(form.terms, form.constant), strict, self._take((1, 0)), noisy(form), line)
        self.decisions.append(decision)
        self._bounds.add(decision.row)
        return bool(decision.outcome)

    def sample(self, kind: str, arguments: Sequence[Any], line: int) -> Any:
        if kind == "choose":
            return self._choice(arguments[0], line)
        forms = [as_number(kind, a, line) for a in arguments]
        if kind == "flip":
            (p,) = forms
            if p.power or not 0 <= p.constant <= 1:
                raise Outside("a probability that is no number between 0 and 1", line, "flip", "as in flip(1/2)")
            if p.constant in {0, 1}:
                return bool(p.constant)
            self.decisions.append(Decision("flip", p, False, self._take((1, 0)), True, line))
            return bool(self.decisions[-1].outcome)
        scale = forms[0] if forms else Form({}, Fraction(1))
        if scale.constant <= 0:
            raise Outside(f"a scale of {kind} that is not above 0", line, kind, "a positive number")
        name = f"x{self._first + len(self.noises)}"
        self.noises.append(Noise(kind, scale, line))
        for row in support(kind, name):
            self._bounds.add(row)
        return Form.symbol(name)

    def opaque(self, operator: str, a: Any, b: Any, line: int) -> Any:
        del a, b
        raise Outside(f"{operator} of a private or noisy value", line, operator, "+ - * /")

    def _choice(self, scores: Any, line: int) -> int:
        if not isinstance(scores, list) or not scores:
            raise Outside("choose without a list of scores", line, "choose", "choose([…])")
        forms = tuple(Form({}, Fraction(s)) if isinstance(s, (int, Fraction)) else s for s in scores)
        if any(not isinstance(f, Form) or noisy(f) for f in forms):
            raise Outside("a score that depends on noise", line, "choose", "scores without noise")
        self.decisions.append(Decision("choose", Form({}), False, self._take(range(len(forms))), True, line, forms))
        return self.decisions[-1].outcome


def as_number(kind: str, value: Any, line: int) -> Form:
    """A scale or a probability: a number, perhaps times a power of ε."""
    if isinstance(value, (int, Fraction)):
        return Form({}, Fraction(value))
    if isinstance(value, Form) and value.plain:
        return value
    depends = isinstance(value, Form) and any(s.startswith("d") for s in value.terms)
    what = "data" if depends else "noise" if isinstance(value, Form) and noisy(value) else "a symbol"
    raise Outside(
        f"a scale of {kind} that depends on {what}",
        line,
        kind,
        "a scale of public numbers; give publics as name=number",
    )


def support(kind: str, name: str) -> list[Row]:
    """Where noise can be."""
    rows = [Row(Form.symbol(name), False)] if kind in LEAST else []
    return [*rows, Row(Form({name: Fraction(-1)}, Fraction(1)), True)] if kind == "uniform" else rows


@dataclass
class Limits:
    """How long may be searched; shared by the engines of one verdict."""

    end: float = field(default_factory=lambda: time.monotonic() + 60)
    paths: int = MOST_PATHS

    @staticmethod
    def within(seconds: float) -> "Limits":
        return Limits(time.monotonic() + seconds)

    def check(self, reached: str = "") -> None:
        if time.monotonic() > self.end:
            raise TooMuch(f"no time left{reached}")


def arguments(question: Question, size: int, epsilon: Fraction | None, data: Any = None) -> dict[str, Any]:
    """Symbols (or given data) for every parameter. epsilon: a number instead of the symbol."""
    found: dict[str, Any] = {}
    for name in question.program.parameters:
        if name == question.private:
            values: list[Any] = [Form.symbol(f"d{i}") for i in range(size)] if data is None else list(data)
            found[name] = values if question.listed else values[0]
        elif name == question.symbol:
            found[name] = Form({}, Fraction(1), 1) if epsilon is None else epsilon
        elif name in question.numbers:
            found[name] = question.numbers[name]
        else:
            found[name] = Form.symbol(f"p_{name}")
    return found


def paths(question: Question, size: int, epsilon: Fraction | None, limits: Limits, data: Any = None) -> list[Path]:
    """Every path of the program for a list of this size."""
    given = arguments(question, size, epsilon, data)
    found: list[Path] = []
    waiting: list[list[int]] = [[]]
    while waiting:
        limits.check(f": {len(found)} paths of lists of {size} were followed")
        world = Follow(waiting.pop())
        output = Interpreter(question.program, world).call(question.program, fresh(question.program, given))
        waiting += reversed(world.open)
        found.append(Path(tuple(world.decisions), tuple(world.noises), _plain(output)))
        if len(found) > limits.paths:
            raise TooMuch(f"more than {limits.paths} paths for lists of {size}", question.program.body[0].line)
    return found


def fresh(program: Program, given: Mapping[str, Any]) -> list[Any]:
    """The arguments in order; lists are copied, because programs may write to them."""
    from nowiser.verify.language.run import exact

    return [exact(given[p]) for p in program.parameters]


def _plain(output: Any) -> Any:
    if isinstance(output, list):
        return (Tuple if isinstance(output, Tuple) else list)(_plain(o) for o in output)
    return settled(output) if isinstance(output, Form) else output


def entries(output: Any) -> tuple[str, list[Form]]:
    """The shape of an output and its numbers in order. Lists are no tuples, 2 is not 2.0 and 1 is not True."""
    if isinstance(output, list):
        parts = [entries(o) for o in output]
        ends = "()" if isinstance(output, Tuple) else "[]"
        return f"{ends[0]}{' '.join(p[0] for p in parts)}{ends[1]}", [f for p in parts for f in p[1]]
    if isinstance(output, Form):
        return "*", [output]
    return f"{float(output)}" if isinstance(output, Fraction) and output.denominator == 1 else str(output), []


@dataclass
class Node:
    """The paths as a tree of decisions."""

    decision: Decision | None = None
    path: int = -1
    next: dict[int, "Node"] = field(default_factory=dict)


def tree_of(found: Sequence[Path]) -> Node:
    root = Node()
    for number, path in enumerate(found):
        node = root
        for decision in path.decisions:
            node.decision = decision
            node = node.next.setdefault(decision.outcome, Node())
        node.path = number
    return root
