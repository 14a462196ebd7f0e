"""The checker's own way to follow a program: Python itself runs it on symbols.

Arithmetic on `Symbol` gives linear forms; a comparison asks which outcome is being followed. Only the statements and
names of the language may occur in the text, and no builtin is reachable but seven, so that running it is safe.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

from nowiser.verify.check.arithmetic import Form, plus
from nowiser.verify.check.names import SAMPLES, Unclear, used

STATEMENTS = "Module FunctionDef arguments arg Assign AugAssign Expr If While For Break Return Pass"
EXPRESSIONS = (
    "Constant Name Load Store UnaryOp BinOp BoolOp Compare IfExp List Tuple ListComp GeneratorExp comprehension"
)
OPERATORS = "USub UAdd Not Add Sub Mult Div FloorDiv Mod And Or Lt LtE Gt GtE Eq NotEq"
NODES = frozenset(f"{STATEMENTS} {EXPRESSIONS} {OPERATORS} Subscript Slice Call Attribute keyword".split())
MOST = 200_000  # decisions


class Rejected(Exception):
    """Why a certificate does not prove its claim."""


class Decision(NamedTuple):
    kind: str
    form: Form
    strict: bool
    outcome: int
    scores: tuple[tuple[Form, int], ...] = ()

    @property
    def noisy(self) -> bool:
        return self.kind != "row" or any(n.startswith("x") for n in self.form)

    @property
    def row(self) -> tuple[Form, bool]:
        return (self.form, self.strict) if self.outcome else (plus((-1, self.form)), not self.strict)


@dataclass(frozen=True)
class Path:
    decisions: tuple[Decision, ...]
    noises: tuple[tuple[str, Fraction, int], ...]  # kind, number and power of the scale
    output: Any

    @property
    def name(self) -> str:
        return "".join(str(d.outcome) + ("," if d.kind == "choose" else "") for d in self.decisions)

    def rows(self, *, noisy: bool) -> list[tuple[Form, bool]]:
        return [d.row for d in self.decisions if d.kind == "row" and d.noisy == noisy]


class Known:
    """The closest known bound of every direction."""

    def __init__(self, rows: Sequence[tuple[Form, bool]] = ()) -> None:
        self.least: dict[Any, tuple[Fraction, bool]] = {}
        for form, strict in rows:
            self.add(form, strict)

    @staticmethod
    def _of(form: Form) -> tuple[Any, Fraction]:
        names = sorted(n for n in form if n)
        size = abs(form[names[0]])
        return tuple((n, form[n] / size) for n in names), -form.get("", Fraction(0)) / size

    def add(self, form: Form, strict: bool) -> None:
        if any(form):
            direction, value = self._of(form)
            self.least[direction] = max(self.least.get(direction, (value, strict)), (value, strict))

    def decide(self, form: Form, strict: bool) -> bool | None:
        if not any(form):
            return form.get("", 0) > 0 or (not strict and not form)
        direction, value = self._of(form)
        if direction in self.least and self.least[direction] >= (value, strict):
            return True
        direction, value = self._of(plus((-1, form)))
        return False if direction in self.least and self.least[direction] >= (value, not strict) else None


class World:
    """One run: the outcomes it is told, then the first; what it decided and drew."""

    def __init__(self, told: Sequence[int]) -> None:
        self.told, self.known = list(told), Known()
        self.decisions: list[Decision] = []
        self.noises: list[tuple[str, Fraction, int]] = []
        self.open: list[list[int]] = []
        self.steps = 0

    def step(self) -> None:
        self.steps += 1
        if self.steps > MOST:
            raise Rejected("a loop takes too many turns")

    def take(self, outcomes: Sequence[int]) -> int:
        at = len(self.decisions)
        if at > MOST:
            raise Rejected("a run decides too often")
        if at < len(self.told):
            return self.told[at]
        self.open += [[*(d.outcome for d in self.decisions), other] for other in outcomes[1:]]
        return outcomes[0]

    def above(self, form: Form, strict: bool) -> bool:
        known = self.known.decide(form, strict)
        if known is None:
            decision = Decision("row", form, strict, self.take((1, 0)))
            self.decisions.append(decision)
            self.known.add(*decision.row)
            return bool(decision.outcome)
        return known

    def above_known(self, form: Form) -> bool:
        """Whether a form is surely above 0."""
        return self.known.decide(form, True) is True

    def sample(self, kind: str, values: Sequence[Any]) -> Any:
        if kind == "choose":
            scores = tuple((dict(s.form), s.power) for s in (self.lift(v) for v in values[0]))
            self.decisions.append(Decision("choose", {}, False, self.take(range(len(scores))), scores))
            return self.decisions[-1].outcome
        scale = self.lift(values[0] if kind != "uniform" else 1)
        number = scale.form.get("", Fraction(0))
        if any(scale.form):
            raise Rejected(f"the argument of {kind} is no public number")
        if kind == "flip":
            if scale.power or not 0 <= number <= 1:
                raise Rejected("a probability is no number between 0 and 1")
            if number in {0, 1}:
                return bool(number)
            self.decisions.append(Decision("flip", {"": number}, False, self.take((1, 0))))
            return bool(self.decisions[-1].outcome)
        if number <= 0:
            raise Rejected(f"the scale of {kind} is not above 0")
        name = f"x{len(self.noises)}"
        self.noises.append((kind, number, scale.power))
        for form, strict in support(kind, name):
            self.known.add(form, strict)
        return Symbol(self, {name: Fraction(1)})

    def opaque(self, operator: str, a: Any, b: Any) -> Any:
        del a, b
        raise Rejected(f"{operator} of a symbol")

    def lift(self, value: Any) -> "Symbol":
        return value if isinstance(value, Symbol) else Symbol(self, plus((Fraction(value), {"": Fraction(1)})))


def support(kind: str, name: str) -> list[tuple[Form, bool]]:
    least: list[tuple[Form, bool]] = [({name: Fraction(1)}, False)]
    if kind == "uniform":
        return [*least, ({name: Fraction(-1), "": Fraction(1)}, True)]
    return least if kind in {"exponential", "geometric"} else []


class Symbol:
    """form·ε^power."""

    def __init__(self, world: World, form: Form, power: int = 0) -> None:
        self.world, self.form, self.power = world, form, power if form else 0

    def _new(self, form: Form, power: int) -> Any:
        if any(form) or power:
            return Symbol(self.world, form, power)
        number = form.get("", Fraction(0))
        return number.numerator if number.denominator == 1 else number

    def _sum(self, sign: int, other: Any) -> Any:
        right = self.world.lift(other)
        if self.form and right.form and self.power != right.power:
            raise Rejected("a sum of terms with different powers of ε")
        return self._new(plus((1, self.form), (sign, right.form)), self.power if self.form else right.power)

    def __add__(self, other: Any) -> Any:
        return self._sum(1, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._sum(-1, other)

    def __neg__(self) -> Any:
        return self._new(plus((-1, self.form)), self.power)

    def __rsub__(self, other: Any) -> Any:
        return self.world.lift(other) - self

    def __floordiv__(self, other: Any) -> Any:
        return self.world.opaque("//", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self.world.opaque("//", other, self)

    def __mod__(self, other: Any) -> Any:
        return self.world.opaque("%", self, other)

    def __rmod__(self, other: Any) -> Any:
        return self.world.opaque("%", other, self)

    def __mul__(self, other: Any) -> Any:
        a, b = self, self.world.lift(other)
        if any(b.form):
            a, b = b, a
        if any(b.form):
            raise Rejected("a product of symbols")
        form = plus((b.form.get("", Fraction(0)), a.form))
        return self._new(form, a.power + b.power if form else 0)

    __rmul__ = __mul__

    def divided(self, other: "Symbol") -> Any:
        if any(other.form) or not other.form:
            raise Rejected("a division by a symbol or by zero")
        return self._new(plus((1 / other.form[""], self.form)), self.power - other.power)

    def _above(self, strict: bool, sign: int, other: Any) -> bool:
        difference = self.world.lift(sign * (self - other))
        return self.world.above(difference.form, strict)

    def __gt__(self, other: Any) -> bool:
        return self._above(True, 1, other)

    def __ge__(self, other: Any) -> bool:
        return self._above(False, 1, other)

    def __lt__(self, other: Any) -> bool:
        return self._above(True, -1, other)

    def __le__(self, other: Any) -> bool:
        return self._above(False, -1, other)

    def __eq__(self, other: object) -> bool:
        return self._above(False, 1, other) and not self._above(True, 1, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # type: ignore[assignment]  # symbols are no keys

    def __bool__(self) -> bool:
        raise Rejected("a symbol where a truth value is needed")

    def __abs__(self) -> Any:
        return self if self >= 0 else -self


class _Exact(ast.NodeTransformer):
    """Numbers as they are written, operations that stay exact, loops that end."""

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, float):
            return ast.Call(ast.Name("_number", ast.Load()), [ast.Constant(str(node.value))], [])
        if type(node.value) not in {int, bool}:
            raise Rejected(f"line {node.lineno}: {node.value!r} is not of the language")
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if type(node.op) in WATCHED:
            return ast.Call(ast.Name(WATCHED[type(node.op)], ast.Load()), [node.left, node.right], [])
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if not isinstance(node.op, ast.Add | ast.Sub | ast.Mod):  # x *= 2 is x = x * 2, but for lists
            if not isinstance(node.target, ast.Name):
                raise Rejected(f"line {node.lineno}: this assignment is not of the language")
            value = ast.BinOp(ast.Name(node.target.id, ast.Load()), node.op, node.value)
            return self.visit_Assign(ast.Assign([node.target], value, lineno=node.lineno))
        self.generic_visit(node)
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, ast.Expr(ast.Call(ast.Name("_step", ast.Load()), [], [])))
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, ast.Expr(ast.Call(ast.Name("_step", ast.Load()), [], [])))
        return node


WATCHED = {ast.Div: "_divided", ast.FloorDiv: "_floored", ast.Mult: "_times"}
OURS = {*WATCHED.values(), "_number", "_step"}


def read(text: str, name: str) -> ast.Module:
    """The function of this name, those it calls, and numbers; refused if anything in them is not of the language."""
    try:
        found = used(ast.parse(text), name)
    except Unclear as no:
        raise Rejected(str(no)) from None
    module = _Bare().visit(found.module)
    for part in [n for top in module.body for n in ast.walk(top) if n is not top]:
        bad = type(part).__name__ not in NODES or isinstance(part, ast.FunctionDef)
        bad = bad or (isinstance(part, ast.Attribute) and part.attr != "append")
        name = part.id if isinstance(part, ast.Name) else part.arg if isinstance(part, ast.arg) else ""
        if bad or name.startswith("_"):
            raise Rejected(f"line {getattr(part, 'lineno', '?')}: {type(part).__name__} is not of the language")
    exact: ast.Module = _Exact().visit(module)
    return ast.fix_missing_locations(exact)


class _Bare(ast.NodeTransformer):
    """Without annotations, decorators and docstrings; `used` has looked at them."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.decorator_list, node.returns = [], None
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            argument.annotation = None
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is None:
            raise Rejected(f"line {node.lineno}: a variable without a value")
        return ast.Assign([node.target], node.value, lineno=node.lineno)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        said = isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        return ast.Pass(lineno=node.lineno) if said else node


class Given(list[Any]):
    """A list that was handed over: a program that writes to it tells its caller something."""

    def _no(self, *_: Any) -> Any:
        raise Rejected("a list that was handed over is written to")

    append = __setitem__ = __iadd__ = _no


def namespace(holder: list[World]) -> dict[str, Any]:
    """What a program can reach; `holder` has the world of the run."""

    def sampler(kind: str) -> Callable[..., Any]:
        def sample(*values: Any, **named: Any) -> Any:
            given = [*values, *named.values()]
            if len(given) != (kind != "uniform"):
                raise Rejected(f"{kind} with {len(given)} arguments")
            return holder[0].sample(kind, given)

        return sample

    def divided(a: Any, b: Any) -> Any:
        if isinstance(a, Symbol) or isinstance(b, Symbol):
            return holder[0].lift(a).divided(holder[0].lift(b))
        return Fraction(a) / b

    def floored(a: Any, b: Any) -> Any:
        return Fraction(a // b) if isinstance(a, Fraction) or isinstance(b, Fraction) else a // b

    def times(a: Any, b: Any) -> Any:
        sizes = [len(x) if isinstance(x, list | tuple) else x if isinstance(x, int) else 1 for x in (a, b)]
        if any(isinstance(x, list | tuple) for x in (a, b)) and sizes[0] * sizes[1] > MOST:
            raise Rejected("a list that is too long")
        found = a * b
        if isinstance(found, int) and found.bit_length() > MOST:
            raise Rejected("a number that is too large")
        return found

    def numbers(*ends: int) -> range:
        if len(range(*ends)) > MOST:
            raise Rejected("a range that is too long")
        return range(*ends)

    return {
        "__builtins__": {},
        "_number": Fraction,
        "_divided": divided,
        "_floored": floored,
        "_times": times,
        "_step": lambda: holder[0].step(),  # noqa: PLW0108 (the world of each run is another)
        **{f.__name__: f for f in (len, sum, min, max, abs)},
        "range": numbers,
        **{kind: sampler(kind) for kind in SAMPLES},
    }


def number(text: Any) -> Any:
    value = Fraction(text)
    return value.numerator if value.denominator == 1 else value


def every_path(call: Callable[[Any], Any], most: int = 20_000, world: type[World] = World) -> list[Path]:
    """All runs."""
    waiting: list[list[int]] = [[]]
    found = []
    while waiting:
        run = world(waiting.pop())
        output = call(run)
        waiting += run.open
        found.append(Path(tuple(run.decisions), tuple(run.noises), output))
        if len(found) > most:
            raise Rejected("too many paths")
    return found


def values(output: Any) -> tuple[str, list[tuple[Form, int]]]:
    """The shape of an output, and its forms in order. Lists are no tuples, 2 is not 2.0 and 1 is not True."""
    if isinstance(output, list | tuple):
        parts = [values(o) for o in output]
        brackets = "()" if isinstance(output, tuple) else "[]"
        return brackets[0] + " ".join(s for s, _ in parts) + brackets[1], [f for _, forms in parts for f in forms]
    if isinstance(output, Symbol):
        return ("*", [(output.form, output.power)]) if any(output.form) else (f"{output.form} {output.power}", [])
    if not isinstance(output, bool | int | Fraction | str | None):  # texts are names of lists that loops fill
        raise Rejected("an output that is neither a number nor a list")
    return f"{type(output).__name__} {output}", []


def arguments(question: Mapping[str, Any], names: Sequence[str], size: int, epsilon: Fraction | None) -> Any:
    """A function of the world that gives the arguments as symbols."""

    def given(world: World) -> list[Any]:
        found: list[Any] = []
        for name in names:
            if name == question["private"]:
                data = Given(Symbol(world, {f"d{i}": Fraction(1)}) for i in range(size))
                found.append(data if question["listed"] else data[0])
            elif name == question["symbol"]:
                found.append(Symbol(world, {"": Fraction(1)}, 1) if epsilon is None else number(epsilon))
            elif name in question["public"]:
                value = question["public"][name]
                found.append(Given(number(v) for v in value) if isinstance(value, list) else number(value))
            else:
                found.append(Symbol(world, {f"p_{name}": Fraction(1)}))
        return found

    return given
