"""What names mean: each name that a mechanism uses has one meaning in its file, and the text shows which.

`S = 1` followed by `S /= 1000`, a sample imported under another's name, a decorator that replaces what it decorates: a
proof about the text would not be one about what runs. Only the functions that the mechanism calls are read.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

SAMPLES = ("laplace", "discrete_laplace", "geometric", "exponential", "gaussian", "uniform", "flip", "choose")
FUNCTIONS = ("len", "range", "sum", "min", "max", "abs")
SOURCE = "nowiser.verify.samples"
DYNAMIC = {
    "getattr",
    "globals",
    "exec",
    "eval",
    "setattr",
    "delattr",
    "vars",
    "locals",
    "builtins",
    "__import__",
    "__builtins__",
}
Def = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda


class Unclear(Exception):
    """A name could mean something else. Where, and what would be accepted."""

    def __init__(self, reason: str, node: ast.AST, construct: str, hint: str) -> None:
        super().__init__(f"line {getattr(node, 'lineno', '?')}: {reason}")
        self.reason, self.line, self.construct, self.hint = reason, getattr(node, "lineno", None), construct, hint


@dataclass(frozen=True)
class Used:
    """What a mechanism is made of: its function and those it calls, and numbers of the file, in the file's order."""

    functions: dict[str, ast.FunctionDef]
    numbers: dict[str, ast.expr]

    @property
    def module(self) -> ast.Module:
        numbers = [ast.Assign([ast.Name(n, ast.Store())], value) for n, value in self.numbers.items()]
        return ast.fix_missing_locations(ast.Module([*numbers, *self.functions.values()], []))


def used(module: ast.Module, name: str) -> Used:
    """What the function of this name uses. Raises Unclear."""
    bound = _bindings(module)
    top = {n.name: n for n in module.body if isinstance(n, ast.FunctionDef)}
    functions, numbers = {}, {}
    waiting = [name]
    while waiting:
        current = waiting.pop()
        if current in functions or current not in top:
            continue
        function = functions[current] = top[current]
        _once(current, bound)
        own = local_names(function)
        called = {n.func.id for n in ast.walk(function) if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
        _shape(function, own, {*SAMPLES, *FUNCTIONS, *called}, bound)
        for node in [n for s in function.body for n in ast.walk(s)]:
            if not isinstance(node, ast.Name) or node.id in own:
                continue
            if node.id in {*SAMPLES, *FUNCTIONS}:
                _sample(node.id, bound)
            elif node.id in bound:
                _once(node.id, bound)
                waiting.append(node.id)
                value = _number(bound[node.id][0], node.id, module)
                if value is not None:
                    numbers[node.id] = value
    return Used({n: f for n, f in top.items() if n in functions}, numbers)


def local_names(function: ast.FunctionDef) -> set[str]:
    """Parameters, and what the body gives a value."""
    a = function.args
    parameters = {p.arg for p in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if p is not None}
    names = (n for n in ast.walk(function) if isinstance(n, ast.Name))
    return parameters | {n.id for n in names if not isinstance(n.ctx, ast.Load)}


def is_number(node: ast.AST | None) -> bool:
    """`3`, `0.5`, `-1`."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) in {int, float, bool}


def _shape(function: ast.FunctionDef, own: set[str], taken: set[str], bound: dict[str, list[ast.AST]]) -> None:
    """No decorator but `@private`, no default but a number, no local name that means a function elsewhere."""
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        ours = isinstance(called, ast.Name) and called.id == "private" and _from(bound, "private", "decorator")
        if not ours:
            said = f"@{ast.unparse(decorator)}"
            raise Unclear("a decorator: it may replace the function", decorator, said, "no decorator but @private")
    for default in (*function.args.defaults, *function.args.kw_defaults):
        if default is not None and not is_number(default):
            raise Unclear("a default that is no number", default, ast.unparse(default), "a number")
    for name in sorted(own & taken):
        raise Unclear(f"{name} with another meaning", function, name, "another name for this variable")


def _once(name: str, bound: dict[str, list[ast.AST]]) -> None:
    if len(bound[name]) > 1:
        raise Unclear(f"{name} has several meanings in this file", bound[name][1], name, "one definition of each name")


def _sample(name: str, bound: dict[str, list[ast.AST]]) -> None:
    if name in bound and not (name in SAMPLES and _from(bound, name, "samples")):
        hint = f"from {SOURCE} import …" if name in SAMPLES else "another name"
        raise Unclear(f"{name} with another meaning", bound[name][0], name, hint)


def _from(bound: dict[str, list[ast.AST]], name: str, module: str) -> bool:
    """Whether a name is only ever imported, as itself, from this module of `nowiser.verify`."""
    return bool(bound.get(name)) and all(
        isinstance(node, ast.ImportFrom)
        and node.module == f"nowiser.verify.{module}"
        and not node.level
        and all(a.name == name for a in node.names if (a.asname or a.name) == name)
        for node in bound[name]
    )


def _number(node: ast.AST, name: str, module: ast.Module) -> ast.expr | None:
    """The number that an assignment of the file gives this name."""
    if node in module.body and isinstance(node, ast.Assign) and len(node.targets) == 1 and is_number(node.value):
        return node.value
    if node in module.body and isinstance(node, ast.AnnAssign) and is_number(node.value):
        return node.value
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom) and node in module.body:
        return None  # what it is, the reader of the mechanism says
    raise Unclear(f"{name} is not a number that stands in the file", node, name, f"{name} = a number, once")


def _bindings(module: ast.Module) -> dict[str, list[ast.AST]]:
    """Every statement that gives a name of the file a meaning."""
    found: dict[str, list[ast.AST]] = {}
    for name, node in _bound(module):
        if name == "*":
            raise Unclear("an import of everything", node, "import *", "the names that are needed")
        found.setdefault(name, []).append(node)
    for node in ast.walk(module):
        if isinstance(node, ast.Name) and node.id in DYNAMIC:
            raise Unclear("names may change while the file runs", node, node.id, "mechanisms in a file of their own")
        if isinstance(node, ast.Attribute) and node.attr.startswith("__"):  # f.__code__ = g.__code__, f.__globals__
            raise Unclear("functions may change while the file runs", node, f".{node.attr}", "no such attributes")
    return found


def _bound(module: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    for statement in module.body:
        for node in _outside_of_functions(statement):
            match node:
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                    yield name, node
                case ast.Name(id=name) if not isinstance(node.ctx, ast.Load):
                    yield name, statement
                case ast.Import(names=names) | ast.ImportFrom(names=names):
                    yield from ((a.asname or a.name.split(".")[0], node) for a in names)
                case ast.ExceptHandler(name=str() as name) | ast.MatchAs(name=str() as name):
                    yield name, node
                case ast.MatchStar(name=str() as name) | ast.MatchMapping(rest=str() as name):
                    yield name, node
    for node in ast.walk(module):
        if isinstance(node, ast.Global):
            yield from ((name, node) for name in node.names)
        elif isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load):
            yield node.attr, node  # module.name = …


def _outside_of_functions(node: Any) -> Iterator[ast.AST]:
    """What runs with a statement: of a definition its defaults, annotations, bases and decorators."""
    yield node
    for child in _at_definition(node) if isinstance(node, Def) else ast.iter_child_nodes(node):
        yield from _outside_of_functions(child)


def _at_definition(node: Def) -> Iterator[ast.AST]:
    yield from getattr(node, "decorator_list", ())
    if isinstance(node, ast.ClassDef):
        yield from (*node.bases, *node.keywords)
        return
    a = node.args
    yield from (*a.defaults, *(d for d in a.kw_defaults if d is not None))
    every = (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg)
    yield from (p.annotation for p in every if p is not None and p.annotation is not None)
    if not isinstance(node, ast.Lambda) and node.returns is not None:
        yield node.returns
