"""The interpreter: one walk over the tree for numbers and for symbols, for exact noise and for a given tape.

What differs between these runs is the world: where samples come from, and who decides a comparison of symbols.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

from nowiser.errors import Misconfigured
from nowiser.verify import tree as t
from nowiser.verify.outside import Outside, TooMuch
from nowiser.verify.symbolic.forms import Form, settled

STEPS = 200_000  # statements and turns of loops of one run
NO_LIST = "a list where a number is needed"


class World(Protocol):
    def sample(self, kind: str, arguments: Sequence[Any], line: int) -> Any:
        """The next random number."""

    def positive(self, form: Form, strict: bool, line: int) -> bool:
        """Whether a form that is no number is above 0, or at least 0 if not strict."""

    def opaque(self, operator: str, a: Any, b: Any, line: int) -> Any:
        """A quotient or remainder of symbols."""


class _Break(Exception):
    pass


class _Return(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class Tape:
    """Samples that somebody wrote down: what is compared or replayed."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = iter(values)

    def sample(self, kind: str, arguments: Sequence[Any], line: int) -> Any:
        del arguments
        try:
            return next(self._values)
        except StopIteration:
            raise Misconfigured(f"the tape has no number left for {kind} in line {line}") from None

    def positive(self, form: Form, strict: bool, line: int) -> bool:
        raise AssertionError((form, strict, line))

    def opaque(self, operator: str, a: Any, b: Any, line: int) -> Any:
        raise AssertionError((operator, a, b, line))


def run(program: t.Program, arguments: Mapping[str, Any], world: World, steps: int = STEPS) -> Any:
    """What the program returns for these arguments. Numbers are taken at their exact value."""
    return Interpreter(program, world, steps).call(program, [exact(arguments[p]) for p in program.parameters])


def exact(value: Any) -> Any:
    """Numbers as whole numbers or Fractions; a float is the decimal number it is written as."""
    if isinstance(value, (list, tuple)):
        return Given(exact(v) for v in value)
    if isinstance(value, (bool, int, Form)):
        return value
    value = Fraction(str(value)) if isinstance(value, float) else Fraction(value)
    return value.numerator if value.denominator == 1 else value


class Elements:
    """A list of any length, of which one element at a time can be seen."""

    def element(self, index: Any, line: int) -> Any:
        raise NotImplementedError

    def length(self) -> Any:
        raise NotImplementedError


class Appended(list[Any]):
    """What one turn of a loop appends to a list whose earlier part is not known: it cannot be read."""


class Given(list[Any]):
    """A list that was handed over: a program that writes to it would tell its caller something."""


class Tuple(list[Any]):
    """`(a, b)`."""


def _readable(values: Any, line: int) -> Any:
    if isinstance(values, Appended):
        raise Outside("reading a list that a loop fills", line, "", "a number that is kept beside the list")
    return values


class Interpreter:
    def __init__(self, program: t.Program, world: World, steps: int = STEPS) -> None:
        self._functions = {f.name: f for f in program.functions}
        self._world, self._left = world, steps

    def call(self, program: t.Program, arguments: Sequence[Any]) -> Any:
        env = dict(zip(program.parameters, arguments, strict=True))
        try:
            self.block(program.body, env)
        except _Return as done:
            return done.value
        raise Outside("a run that ends without return", program.body[-1].line, program.name, "return …")

    def block(self, statements: Sequence[t.Statement], env: dict[str, Any]) -> None:
        for statement in statements:
            self._left -= 1
            if self._left < 0:
                raise TooMuch("a run takes too many steps", statement.line, "", "a loop that surely ends")
            self._statement(statement, env)

    def segment(self, statements: Sequence[t.Statement], env: dict[str, Any]) -> tuple[str, Any]:
        """Run a part of a program: `("end", None)`, `("break", None)` or `("return", value)`."""
        try:
            self.block(statements, env)
        except _Return as done:
            return "return", done.value
        except _Break:
            return "break", None
        return "end", None

    def _statement(self, s: t.Statement, env: dict[str, Any]) -> None:
        match s:
            case t.Assign():
                env[s.name] = self.value(s.value, env)
            case t.Append():
                self._written(self._list(env, s.name, s.line), s).append(self.value(s.value, env))
            case t.AssignItem():
                value = self.value(s.value, env)
                values = _readable(self._written(self._list(env, s.name, s.line), s), s.line)
                values[self._place(values, s.index, env, s.line)] = value
            case t.If():
                self.block(s.then if self.truth(s.condition, env) else s.otherwise, env)
            case t.While():
                while self.truth(s.condition, env):
                    if self._round(s.body, env, s.line):
                        break
            case t.For():
                for item in self._items(s.over, env):
                    env[s.name] = item
                    if self._round(s.body, env, s.line):
                        break
            case t.Break():
                raise _Break
            case t.Return():
                raise _Return(self.value(s.value, env))

    @staticmethod
    def _written(values: list[Any], s: t.Append | t.AssignItem) -> list[Any]:
        if isinstance(values, Tuple):
            raise Outside("writing to a tuple", s.line, s.name, f"{s.name} = [...]")
        if isinstance(values, Given):
            raise Outside("writing to a list that was handed over", s.line, s.name, "a copy: x = d[:]")
        return values

    def _round(self, body: Sequence[t.Statement], env: dict[str, Any], line: int) -> bool:
        """One turn of a loop; True if it broke off."""
        self._left -= 1
        if self._left < 0:
            raise TooMuch("a loop takes too many steps", line, "", "a loop that surely ends")
        try:
            self.block(body, env)
        except _Break:
            return True
        return False

    def truth(self, e: t.Expression, env: dict[str, Any]) -> bool:
        return _decided(self.value(e, env), e.line)

    def value(self, e: t.Expression, env: dict[str, Any]) -> Any:
        try:
            return self._value(e, env)
        except Outside as stop:
            if stop.line is None:
                stop.line = e.line
            raise

    def _value(self, e: t.Expression, env: dict[str, Any]) -> Any:
        match e:
            case t.Number():
                return e.value if e.real or e.value.denominator != 1 else e.value.numerator
            case t.Truth():
                return e.value
            case t.Name():
                if e.name not in env:
                    raise Outside(f"the name {e.name}, which has no value here", e.line, e.name, "an assignment before")
                return env[e.name]
            case t.Arithmetic():
                return self._arithmetic(e.operator, self.value(e.left, env), self.value(e.right, env), e.line)
            case t.Comparison():
                return self._compared(e.operator, self.value(e.left, env), self.value(e.right, env), e.line)
            case t.Logical(operator="not"):
                return not self.truth(e.parts[0], env)
            case t.Logical():
                for part in e.parts[:-1]:
                    value = self.value(part, env)
                    if _decided(value, part.line) == (e.operator == "or"):
                        return value
                return self.value(e.parts[-1], env)
            case t.Choice():
                return self.value(e.yes if self.truth(e.condition, env) else e.no, env)
            case t.Listing():
                return (Tuple if e.fixed else list)(self.value(item, env) for item in e.items)
            case t.Comprehension():
                return [self.value(e.item, {**env, e.name: item}) for item in self._items(e.over, env)]
            case t.Item():
                of = _readable(self.value(e.of, env), e.line)
                if isinstance(of, Elements):
                    return of.element(self.value(e.index, env), e.line)
                if not isinstance(of, list):
                    raise Outside("an element of something that is no list", e.line)
                return of[self._place(of, e.index, env, e.line)]
            case t.Slice():
                of = _readable(self.value(e.of, env), e.line)
                ends = [None if end is None else whole(self.value(end, env), e.line) for end in (e.start, e.stop)]
                if not isinstance(of, list):
                    raise Outside("a part of something that is no list", e.line)
                return (Tuple if isinstance(of, Tuple) else list)(of[ends[0] : ends[1]])
            case t.Call():
                return self._called(e.function, [self.value(a, env) for a in e.arguments], e.line)
            case t.Use():
                return self.call(self._functions[e.function], [self.value(a, env) for a in e.arguments])
            case t.Sample():
                return self._world.sample(e.kind, [self.value(a, env) for a in e.arguments], e.line)

    def _items(self, over: t.Expression, env: dict[str, Any]) -> Iterator[Any]:
        """As Python does it: a list that grows meanwhile has more turns."""
        values = _readable(self.value(over, env), over.line)
        if not isinstance(values, list):
            raise Outside("a loop over something that is no list", over.line, "", "for x in d, for i in range(len(d))")
        at = 0
        while at < len(values):
            yield values[at]
            at += 1

    @staticmethod
    def _list(env: dict[str, Any], name: str, line: int) -> list[Any]:
        if not isinstance(env.get(name), list):
            raise Outside(f"the list {name}, which is none here", line, name, f"{name} = [] before")
        found: list[Any] = env[name]
        return found

    def _place(self, of: Sequence[Any], index: t.Expression, env: dict[str, Any], line: int) -> int:
        place = whole(self.value(index, env), line)
        if not -len(of) <= place < len(of):
            raise Outside(f"element {place} of a list of {len(of)}", line, "", "a check of the length before")
        return place

    def _arithmetic(self, operator: str, a: Any, b: Any, line: int) -> Any:
        if isinstance(a, list) or isinstance(b, list):
            a, b = _readable(a, line), _readable(b, line)
            alike = isinstance(a, list) and isinstance(b, list) and isinstance(a, Tuple) == isinstance(b, Tuple)
            if operator == "+=" and alike and not isinstance(a, Tuple):
                if isinstance(a, Given):
                    raise Outside("writing to a list that was handed over", line, operator, "a copy: x = d[:]")
                a.extend(b)
                return a
            if operator in {"+", "+="} and alike:
                return type(a)(a + b) if isinstance(a, Tuple) else [*a, *b]
            if operator == "*" and isinstance(a, list) and isinstance(b, int):
                if len(a) * b > STEPS:
                    raise TooMuch("a list that is too long", line, operator, f"at most {STEPS} elements")
                return type(a)(a * b) if isinstance(a, Tuple) else [*a] * b
            raise Outside(NO_LIST, line, operator, "sum(…), or one element after the other")
        operator = operator[0] if operator == "+=" else operator
        if isinstance(a, Form) or isinstance(b, Form):
            if operator in {"//", "%"}:
                if isinstance(b, Form) or not b:
                    raise Outside(f"{operator} by something that may be zero", line, operator, "a number above 0")
                return self._world.opaque(operator, a, b, line)
            return settled(OPERATIONS[operator](a, b))
        if operator in {"/", "//", "%"} and b == 0:
            raise Outside("a division by zero", line, operator, "a check before")
        value = Fraction(a) / b if operator == "/" else OPERATIONS[operator](a, b)
        if isinstance(value, int) and value.bit_length() > STEPS:
            raise TooMuch("a number that is too large", line, operator, "smaller numbers")
        # 4/2 and 2.0 are no places in a list
        return Fraction(value) if isinstance(a, Fraction) or isinstance(b, Fraction) else value

    def _compared(self, operator: str, a: Any, b: Any, line: int) -> bool:
        if isinstance(a, list) or isinstance(b, list):
            raise Outside("a comparison of lists", line, operator, "comparisons of numbers")
        match operator:
            case "<":
                return self._above(b, a, True, line)
            case "<=":
                return self._above(b, a, False, line)
            case ">":
                return self._above(a, b, True, line)
            case ">=":
                return self._above(a, b, False, line)
        if isinstance(b, Form) and not isinstance(a, Form):
            a, b = b, a  # as Python does: the symbol is asked
        same = self._above(a, b, False, line) and not self._above(a, b, True, line)
        return same == (operator == "==")

    def _above(self, a: Any, b: Any, strict: bool, line: int) -> bool:
        difference = settled(a - b) if isinstance(a, Form) or isinstance(b, Form) else a - b
        if isinstance(difference, Form):
            if difference.plain:  # a power of ε
                return difference.constant > 0
            return self._world.positive(difference, strict, line)
        return difference > 0 if strict else difference >= 0

    def _called(self, name: str, arguments: list[Any], line: int) -> Any:
        if name == "range":
            numbers = range(*(whole(a, line) for a in arguments))
            if len(numbers) > STEPS:
                raise TooMuch("a range that is too long", line, name, f"at most {STEPS} turns")
            return list(numbers)
        if name == "abs" and len(arguments) == 1 and not isinstance(arguments[0], list):
            (a,) = arguments
            return a if self._above(a, 0, False, line) else self._arithmetic("-", 0, a, line)
        values = _readable(arguments[0] if len(arguments) == 1 else arguments, line)
        if name == "len" and isinstance(values, Elements):
            return values.length()
        if not isinstance(values, list):
            raise Outside(f"{name} of something that is no list", line, name, f"{name}(d)")
        if name == "len":
            return len(values)
        if name == "sum" and len(arguments) == 1:
            found: Any = 0
            for value in values:
                found = self._arithmetic("+", found, value, line)
            return found
        if name not in {"min", "max"} or not values:
            raise Outside(f"{name} with these arguments", line, name, f"{name}(d), of at least one number")
        best = values[0]
        for value in values[1:]:
            larger = self._above(value, best, True, line) if name == "max" else self._above(best, value, True, line)
            best = value if larger else best
        return best


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
}


def _decided(value: Any, line: int) -> bool:
    if isinstance(value, (Form, list)):
        raise Outside("a condition that is no comparison", line, "", "as in x > 0")
    return bool(value)


def whole(value: Any, line: int) -> int:
    if isinstance(value, (bool, int)):
        return int(value)
    if isinstance(value, Form):
        raise Outside("a place or a length that is symbolic", line, "", "a number; give publics as name=number")
    raise Outside("a place that is no whole number", line, "", "a whole number")
