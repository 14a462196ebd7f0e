"""A program as pieces between loop heads, and one turn of a loop followed on symbols.

At a head every number that a loop changes is a symbol: `x.t` if noise is in it, `v.s` if not. A turn sees one element
`d` of the private list. What a loop appends to a list is an output of the turn; the rest of the list is not read again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from nowiser.verify import tree as t
from nowiser.verify.language.run import Appended, Elements, Interpreter, exact
from nowiser.verify.outside import Outside, TooMuch
from nowiser.verify.question import Question
from nowiser.verify.symbolic.forms import Form, settled
from nowiser.verify.symbolic.paths import Follow, Limits, Path, Row

MOST_PATHS = 200


@dataclass(frozen=True)
class Machine:
    """pieces[k] runs before loops[k]; the last ends with return. first: elements that are seen before the loop."""

    pieces: tuple[tuple[t.Statement, ...], ...]
    loops: tuple[t.For | t.While, ...]
    first: int


@dataclass(frozen=True)
class Head:
    """numbers: names that are symbols here; fixed: names with values that stay; lists: lists that are only filled."""

    numbers: tuple[str, ...]
    fixed: tuple[tuple[str, Any], ...]
    lists: tuple[str, ...]

    @property
    def names(self) -> set[str]:
        return {*self.numbers, *(n for n, _ in self.fixed), *self.lists}


@dataclass(frozen=True)
class Facts:
    """How a turn ends: at head `to` (None: returned), with these new values; `outputs` is what it let out."""

    to: int | None
    head: Head | None
    values: Mapping[str, Any]
    outputs: Any
    touched: bool


class Seen(Elements):
    """The private list, of which the element at `index` can be seen."""

    def __init__(self, index: Any) -> None:
        self.index, self.touched = index, False

    def element(self, index: Any, line: int) -> Any:
        same = index == self.index or (isinstance(index, int) and self.index == index)
        if self.index is None or not same:
            raise Outside("an element that is not the loop's own", line, "", "d[i] in a loop over i")
        self.touched = True
        return Form.symbol("d")

    def length(self) -> Any:
        return Form.symbol("n")


def machine(program: t.Program, private: str) -> Machine:
    pieces: list[tuple[t.Statement, ...]] = []
    loops: list[t.For | t.While] = []
    current: list[t.Statement] = []
    for statement in program.body:
        if isinstance(statement, t.While) or (isinstance(statement, t.For) and start(statement, private) is not None):
            pieces.append(tuple(current))
            loops.append(statement)
            current = []
        else:
            current.append(statement)
    begun = start(loops[0], private) if loops else 0
    return Machine((*pieces, tuple(current)), tuple(loops), begun or 0)


def start(loop: t.Statement, private: str) -> int | None:
    """Where a loop over the private list begins, or None if it is no such loop."""
    match loop:
        case t.For(over=t.Name(name=name)) if name == private:
            return 0
        case t.For(over=t.Slice(of=t.Name(name=name), start=t.Number(value=value), stop=None)) if name == private:
            return int(value)
        case t.For(over=t.Call(function="range", arguments=arguments)):
            match arguments:
                case (t.Call(function="len", arguments=(t.Name(name=name),)),) if name == private:
                    return 0
                case (t.Number(value=value), t.Call(function="len", arguments=(t.Name(name=name),))) if name == private:
                    return int(value)
    return None


class Turn(Follow):
    """A symbolic run in which a quotient of public whole numbers is a symbol of its own, the same in both runs."""

    def __init__(self, outcomes: Sequence[int], known: Sequence[Row], public: Sequence[str]) -> None:
        super().__init__(outcomes, known)
        self._public = public

    def opaque(self, operator: str, a: Any, b: Any, line: int) -> Any:
        for side in (a, b):
            if isinstance(side, Form) and any(n not in self._public for n in side.terms):
                return super().opaque(operator, a, b, line)
        return Form.symbol(f"u.{a}{operator}{b}")


class Follower:
    def __init__(self, question: Question, program: t.Program, epsilon: Fraction | None, limits: Limits) -> None:
        self._question, self._program, self._epsilon, self._limits = question, program, epsilon, limits
        self.machine = machine(program, question.private)

    def begin(self) -> Iterator[tuple[str, Path]]:
        """Every path from the start to the first head, or to the end."""
        from nowiser.verify.symbolic.paths import arguments

        given = arguments(self._question, 0, self._epsilon)

        def run(world: Turn) -> Facts:
            seen = Seen(0 if self.machine.first == 1 else None)
            env = {p: exact(given[p]) for p in self._program.parameters if p != self._question.private}
            env[self._question.private] = seen if self._question.listed else Form.symbol("d")
            facts = self._onward(world, env, 0, seen)
            return facts if self._question.listed else Facts(facts.to, facts.head, facts.values, facts.outputs, True)

        yield from (("start", path) for path in self._every(run, (), ()))

    def turns(self, at: int, head: Head, noisy: frozenset[str], rows: Sequence[Row]) -> Iterator[tuple[str, Path]]:
        """Every path of one turn of the loop (`turn`) and out of it (`exit`)."""
        loop = self.machine.loops[at]
        public = [f"v.{n}" for n in head.numbers if n not in noisy] + ["i", "n"]
        modes = ("turn", "exit") if isinstance(loop, t.For) else ("turn",)
        for mode in modes:

            def run(world: Turn, mode: str = mode) -> Facts:
                return self._turn(world, loop, at, head, noisy, mode)

            yield from ((mode, path) for path in self._every(run, rows, public))

    def _turn(self, world: Turn, loop: t.For | t.While, at: int, head: Head, noisy: frozenset[str], mode: str) -> Facts:  # noqa: PLR0917
        env: dict[str, Any] = dict(head.fixed)
        env |= {n: Form.symbol(f"x.{n}" if n in noisy else f"v.{n}") for n in head.numbers}
        env |= {n: Appended() for n in head.lists}
        seen = Seen(None)
        env[self._question.private] = seen
        interpreter = Interpreter(self._program, world)
        if isinstance(loop, t.While):
            counter = _counter(loop, self._question.private)
            seen.index = None if counter is None else env.get(counter)
            if not interpreter.truth(loop.condition, env):
                return self._onward(world, env, at + 1, seen)
        elif mode == "exit":
            return self._onward(world, env, at + 1, seen)
        elif isinstance(loop.over, t.Call):
            env[loop.name] = seen.index = Form.symbol("i")
        else:
            env[loop.name] = Form.symbol("d")
            seen.touched = True
        how, value = interpreter.segment(loop.body, env)
        if how == "return":
            return self._returned(env, value, seen)
        if how == "break":
            return self._onward(world, env, at + 1, seen)
        return self._arrived({n: v for n, v in env.items() if n in head.names}, at, seen, env)

    def _onward(self, world: Turn, env: dict[str, Any], piece: int, seen: Seen) -> Facts:
        """The piece before head `piece`, or the last one."""
        if piece:
            seen.index = None
        how, value = Interpreter(self._program, world).segment(self.machine.pieces[piece], env)
        if how == "return":
            return self._returned(env, value, seen)
        if piece == len(self.machine.loops):
            raise Outside("a run that ends without return", self._program.body[-1].line)
        return self._arrived(env, piece, seen)

    def _returned(self, env: Mapping[str, Any], value: Any, seen: Seen) -> Facts:
        return Facts(None, None, {}, [_said(value, env), _lists(env)], seen.touched)

    def _arrived(self, env: Mapping[str, Any], at: int, seen: Seen, every: Mapping[str, Any] | None = None) -> Facts:
        """At a head. Names that a turn gives a value for the first time are forgotten when the next begins."""
        changed = {n.name for loop in self.machine.loops for n in _nodes(loop) if isinstance(n, t.Assign)}
        numbers, fixed, lists = [], [], []
        for name, value in sorted(env.items()):
            if name == self._question.private or ":" in name:
                continue
            if isinstance(value, list):
                lists.append(name)
            elif isinstance(value, bool) or (name not in changed and (not isinstance(value, Form) or value.plain)):
                fixed.append((name, value))
            else:
                numbers.append(name)
        head = Head(tuple(numbers), tuple(fixed), tuple(lists))
        values = {n: _form(env[n]) for n in numbers}
        return Facts(at, head, values, [None, _lists(env if every is None else every)], seen.touched)

    def _every(self, run: Any, rows: Sequence[Row], public: Sequence[str]) -> list[Path]:
        found: list[Path] = []
        waiting: list[list[int]] = [[]]
        while waiting:
            self._limits.check(": loops were being followed")
            world = Turn(waiting.pop(), rows, public)
            facts = run(world)
            waiting += reversed(world.open)
            found.append(Path(tuple(world.decisions), tuple(world.noises), facts.outputs, facts))
            if len(found) > MOST_PATHS:
                raise TooMuch("one turn of a loop has too many paths")
        return found


def _form(value: Any) -> Form:
    return value if isinstance(value, Form) else Form({}, Fraction(value))


def _lists(env: Mapping[str, Any]) -> list[Any]:
    """What was appended to each list, by name."""
    return [[name, _plain(value)] for name, value in sorted(env.items()) if isinstance(value, list)]


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return settled(value) if isinstance(value, Form) else value


def _said(value: Any, env: Mapping[str, Any]) -> Any:
    """A returned value; a list that was filled is let out by name."""
    for name, known in env.items():
        if value is known and isinstance(value, list):
            return f"the list {name}"
    return [_said(v, env) for v in value] if isinstance(value, list) else _plain(value)


def _counter(loop: t.While, private: str) -> str | None:
    """The name that every element of the private list is read with."""
    names = {
        n.index.name if isinstance(n.index, t.Name) else None
        for n in _nodes(loop)
        if isinstance(n, t.Item) and isinstance(n.of, t.Name) and n.of.name == private
    }
    return names.pop() if len(names) == 1 else None


def _nodes(node: Any) -> Iterator[Any]:
    from nowiser.verify.question import walk

    yield from walk(node)
