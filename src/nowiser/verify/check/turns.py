"""The checker's way to follow one turn of a loop: the statements of a piece are run by Python on symbols.

At a loop head a number is the symbol `x.name` if the certificate says that noise may be in it, else `v.name`; a turn
sees one element of the private list, the symbol `d`. A list that is being filled starts empty and cannot be read.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

from nowiser.verify.check.arithmetic import plus
from nowiser.verify.check.follow import Given, Path, Rejected, Symbol, World, every_path, namespace, read
from nowiser.verify.check.loops import plain
from nowiser.verify.check.names import local_names

ONE = Fraction(1)


@dataclass(frozen=True)
class Ends:
    """How a turn ends: the head it reaches (None: returned), the new numbers, what it let out.

    same: truth values and numbers that stay; opaque: quotients, with the symbols they were computed from.
    """

    to: int | None
    numbers: Mapping[str, Symbol]
    same: tuple[tuple[str, Any], ...]
    outputs: Any
    touched: bool
    opaque: frozenset[str]


class Returned(Exception):
    def __init__(self, value: Any) -> None:
        self.value = value


class Filled(list[Any]):
    """A list of which only what this turn appends is known."""

    def _no(self, *_: Any) -> NoReturn:
        raise Rejected("a list that a loop fills is read")

    __getitem__ = __setitem__ = __iter__ = __len__ = __add__ = __radd__ = __mul__ = __iadd__ = _no
    __eq__ = __ne__ = __contains__ = __lt__ = __gt__ = __le__ = __ge__ = __rmul__ = __imul__ = _no
    __hash__ = None


class Seen:
    """The private list in one turn."""

    def __init__(self, world: World) -> None:
        self.world, self.index, self.touched = world, None, False  # type: World, Any, bool
        self.bounded = False  # whether a `while` must have compared its counter with the length

    def __getitem__(self, index: Any) -> Symbol:
        if self.index is None or self.world.lift(index).form != self.world.lift(self.index).form:
            raise Rejected("an element that is not the loop's own is read")
        if self.bounded and not self.world.above_known(plus((1, {"n": ONE}), (-1, self.world.lift(index).form))):
            raise Rejected("an element that is perhaps beyond the end of the list")
        self.touched = True
        return Symbol(self.world, {"d": ONE})

    def __iter__(self) -> NoReturn:
        raise Rejected("a pass over the private list that is no loop of the function itself")


class Turn(World):
    """Quotients of whole symbols are symbols; what they were computed from is remembered."""

    def __init__(self, told: Sequence[int]) -> None:
        super().__init__(told)
        self.sources: set[str] = set()

    def opaque(self, operator: str, a: Any, b: Any) -> Any:
        said = []
        for side in (a, b):
            if isinstance(side, Symbol):
                self.sources |= {n for n in side.form if n}
                parts = [f"{c}·{n}" for n, c in sorted(side.form.items()) if n]
                said.append(" + ".join([*parts, *([str(side.form[""])] if "" in side.form else [])]))
            else:
                said.append(str(side))
        return Symbol(self, {f"u.{said[0]}{operator}{said[1]}": ONE})


class _Raising(ast.NodeTransformer):
    """`return value` as an exception, so that a part of a function can run by itself."""

    def visit_Return(self, node: ast.Return) -> ast.AST:
        call = ast.Call(ast.Name("_returned", ast.Load()), [node.value or ast.Constant(None)], [])
        return ast.Raise(call, None)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node


class Pieces:
    """A function cut at the loops over its private list."""

    def __init__(self, text: str, question: Mapping[str, Any], epsilon: Fraction | None) -> None:
        self._question, self._epsilon = question, epsilon
        module = read(plain(text, question["function"], question["private"]), question["function"])
        self._holder: list[World] = [World([])]
        self._reach = namespace(self._holder)
        exec(compile(module, "program", "exec"), self._reach)  # noqa: S102 (only the language's statements)
        (function,) = [n for n in module.body if isinstance(n, ast.FunctionDef) and n.name == question["function"]]
        self._own = local_names(function)
        arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        self.parameters = [a.arg for a in arguments]
        self.loops: list[ast.For | ast.While] = []
        parts: list[list[ast.stmt]] = [[]]
        for node in function.body:
            if isinstance(node, ast.While) or (isinstance(node, ast.For) and self.start(node) is not None):
                self.loops.append(node)
                parts.append([])
            else:
                parts[-1].append(node)
        self.first = 1 if self.loops and self.start(self.loops[0]) == 1 else 0
        self._pieces = [_code(part) for part in parts]
        self._bodies = [
            _code(
                [ast.For(ast.Name("_once", ast.Store()), ast.Tuple([ast.Constant(0)], ast.Load()), loop.body, _flag())]
            )
            for loop in self.loops
        ]
        self._tests = [
            compile(ast.fix_missing_locations(ast.Expression(loop.test)), "program", "eval")
            if isinstance(loop, ast.While)
            else None
            for loop in self.loops
        ]
        self.changed = {
            n.id
            for loop in self.loops
            for n in ast.walk(loop)
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
        }
        self.changed |= {
            n.value.id
            for loop in self.loops
            for n in ast.walk(loop)
            if isinstance(n, ast.Subscript) and isinstance(n.ctx, ast.Store) and isinstance(n.value, ast.Name)
        }

    def start(self, loop: ast.stmt) -> int | None:
        """Where a `for` over the private list begins; None for other loops."""
        if not isinstance(loop, ast.For):
            return None
        private = self._question["private"]
        over = ast.unparse(loop.iter)
        if over in {private, f"range(len({private}))"}:
            return 0
        for before, after in ((f"{private}[", ":]"), ("range(", f", len({private}))")):
            number = over.removeprefix(before).removesuffix(after)
            if over == before + number + after and number.isdigit():
                return int(number)
        return None

    def counter(self, at: int) -> str | None:
        """The name with which a `while` reads the private list."""
        private = self._question["private"]
        names = {
            ast.unparse(n.slice)
            for n in ast.walk(self.loops[at])
            if isinstance(n, ast.Subscript) and isinstance(n.value, ast.Name) and n.value.id == private
        }
        return names.pop() if len(names) == 1 else None

    def begin(self) -> list[tuple[str, Path]]:
        def call(world: World) -> Ends:
            env, seen = self._fresh(world)
            question = self._question
            seen.index = 0 if self.first and question["neighbours"] != "length" else None
            for name in self.parameters:
                if name == question["private"]:
                    continue
                if name == question["symbol"]:
                    env[name] = Symbol(world, {"": ONE}, 1) if self._epsilon is None else _plain(self._epsilon)
                elif name in question["public"]:
                    value = question["public"][name]
                    env[name] = Given(_plain(v) for v in value) if isinstance(value, list) else _plain(value)
                else:
                    env[name] = Symbol(world, {f"p_{name}": ONE})
            return self._onward(world, env, 0, seen)

        return [("start", p) for p in self._every(call)]

    def turns(
        self, at: int, noisy: Sequence[str], numbers: Sequence[str], kept: Mapping[str, Any], lists: Sequence[str]
    ) -> Iterator[tuple[str, Path]]:
        loop = self.loops[at]
        for mode in ("turn", "exit") if isinstance(loop, ast.For) else ("turn",):

            def call(world: World, mode: str = mode) -> Ends:
                env, seen = self._fresh(world)
                env |= kept
                env |= {n: Symbol(world, {f"{'x' if n in noisy else 'v'}.{n}": ONE}) for n in numbers}
                env |= {n: Filled() for n in lists}
                return self._turn(world, env, at, seen, mode, {*numbers, *kept, *lists})

            yield from ((mode, p) for p in self._every(call))

    def _fresh(self, world: World) -> tuple[dict[str, Any], Seen]:
        self._holder[0] = world
        seen = Seen(world)

        def length(values: Any) -> Any:
            return Symbol(world, {"n": ONE}) if values is seen else len(values)

        reach = {n: v for n, v in self._reach.items() if n not in self._own}
        return {**reach, "_returned": Returned, "len": length, self._question["private"]: seen}, seen

    def _turn(self, world: World, env: dict[str, Any], at: int, seen: Seen, mode: str, names: set[str]) -> Ends:  # noqa: PLR0917
        loop, test = self.loops[at], self._tests[at]
        if test is not None:
            counter = self.counter(at)
            seen.index, seen.bounded = (env.get(counter) if counter is not None else None), True
            go = eval(test, env)  # noqa: S307 (as above)
            if not isinstance(go, bool):
                raise Rejected("a condition that is no comparison")
            if not go:
                return self._onward(world, env, at + 1, seen)
        elif mode == "exit":
            return self._onward(world, env, at + 1, seen)
        elif isinstance(loop, ast.For) and isinstance(loop.target, ast.Name):
            if isinstance(loop.iter, ast.Call):
                env[loop.target.id] = seen.index = Symbol(world, {"i": ONE})
            else:
                env[loop.target.id] = Symbol(world, {"d": ONE})
                seen.touched = True
        try:
            exec(self._bodies[at], env)  # noqa: S102 (as above)
        except Returned as done:
            return self._ends(world, env, None, seen, done.value)
        if not env.pop("_fell", False):
            return self._onward(world, env, at + 1, seen)
        return self._ends(world, env, at, seen, None, names)

    def _onward(self, world: World, env: dict[str, Any], piece: int, seen: Seen) -> Ends:
        if piece:
            seen.index, seen.bounded = None, False
        try:
            exec(self._pieces[piece], env)  # noqa: S102 (as above)
        except Returned as done:
            return self._ends(world, env, None, seen, done.value)
        if piece == len(self.loops):
            raise Rejected("a run ends without return")
        return self._ends(world, env, piece, seen, None)

    def _ends(  # noqa: PLR0917
        self,
        world: World,
        env: Mapping[str, Any],
        to: int | None,
        seen: Seen,
        value: Any,
        names: set[str] | None = None,
    ) -> Ends:
        own = {n: v for n, v in env.items() if n in self._own and n != self._question["private"]}
        lists = [[n, _content(v)] for n, v in sorted(own.items()) if isinstance(v, list)]
        numbers: dict[str, Symbol] = {}
        same: list[tuple[str, Any]] = []
        for n, v in sorted(own.items()):
            if names is not None and n not in names:
                continue
            if isinstance(v, list):
                same.append((n, "list"))
            elif isinstance(v, bool):
                same.append((n, v))
            elif n not in self.changed and not (isinstance(v, Symbol) and any(v.form)):
                same.append((n, _Kept(v)))
            else:
                numbers[n] = world.lift(v)
        opaque = frozenset(world.sources) if isinstance(world, Turn) else frozenset()
        said = None if to is not None else _said(value, own)
        return Ends(
            to, {} if to is None else numbers, () if to is None else tuple(same), [said, lists], seen.touched, opaque
        )

    @staticmethod
    def _every(call: Any) -> list[Path]:
        return every_path(call, world=Turn)


class _Kept:
    """A number that no loop changes, compared by value."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self._key = (tuple(value.form.items()), value.power) if isinstance(value, Symbol) else value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Kept) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def kept_values(same: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    return {n: v.value if isinstance(v, _Kept) else v for n, v in same if v != "list"}


def _content(values: list[Any]) -> list[Any]:
    return list(list.__iter__(values))


def _said(value: Any, env: Mapping[str, Any]) -> Any:
    for name, known in env.items():
        if value is known and isinstance(value, list):
            return f"the list {name}"
    if isinstance(value, list | tuple):
        return (tuple if isinstance(value, tuple) else list)(_said(v, env) for v in value)
    return value


def _plain(text: Any) -> Any:
    value = Fraction(text)
    return value.numerator if value.denominator == 1 else value


def _flag() -> list[ast.stmt]:
    return [ast.Assign([ast.Name("_fell", ast.Store())], ast.Constant(True))]


def _code(body: list[ast.stmt]) -> Any:
    module = ast.Module([_Raising().visit(node) for node in body], [])
    return compile(ast.fix_missing_locations(module), "program", "exec")
