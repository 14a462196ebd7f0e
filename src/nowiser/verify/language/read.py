"""Python text → the tree of the language. What the tree cannot say is `Outside`, with its line and a way out."""

import ast
import builtins
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.verify import samples, tree as t
from nowiser.verify.check.names import Unclear, Used, local_names, used
from nowiser.verify.decorator import private
from nowiser.verify.outside import Outside

OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%"}
COMPARISONS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
STATEMENTS = "assignments, if, while, for over a list or range, break, append, return"
CALLS = f"{', '.join(t.FUNCTIONS)}, the samples {', '.join(t.SAMPLES)}, and functions of the same file"
# what people write, and what to write for it
INSTEAD = {
    "enumerate": "for i in range(len(d)): … d[i] …",
    "zip": "for i in range(len(d)): … d[i] …",
    "float": "a number, or start from the first element",
    "sorted": "noise first; the language has no sorting",
    "Continue": "if … else …",
    "Try": "a condition that is checked before",
    "Pow": "x * x for a public x; a private x may not be multiplied by itself",
    "In": "a comparison of numbers",
    "Lambda": "the expression itself",
    "Dict": "a list",
    "JoinedStr": "numbers",
}


def read(program: str | Callable[..., Any], name: str | None = None) -> t.Program:
    """The program of this text (the function `name`, or the only one that no other calls) or of a Python function."""
    if callable(program):
        return _of_function(program)
    try:
        module = ast.parse(program)
    except SyntaxError as error:
        raise Misconfigured(f"line {error.lineno}: this is not Python: {error.msg}") from None
    chosen = _chosen({node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}, name)
    return _Reader(_used(module, chosen.name), program).program(chosen)


def _used(module: ast.Module, name: str) -> Used:
    try:
        return used(module, name)
    except Unclear as no:
        raise Outside(no.reason, no.line, no.construct, no.hint) from None


def _of_function(function: Callable[..., Any]) -> t.Program:
    """A file of its own for the function: its text, that of the functions it calls, and numbers as they are now."""
    _as_written(function, function.__name__)
    world: Mapping[str, Any] = getattr(function, "__globals__", {})
    texts: list[str] = []
    numbers: dict[str, str] = {}
    lines: dict[str, int] = {}
    waiting, seen = [(function, function.__name__)], {function.__name__}
    while waiting:
        current, name = waiting.pop(0)
        _as_written(current, name)
        if getattr(current, "__globals__", None) is not world:
            raise Outside(f"{name}, which another module defines", None, name, "functions of the same file")
        text, node, first = _text_of(current, name)
        texts.append(text)
        lines[name] = first
        own = local_names(node)
        for inner in ast.walk(node):
            if not isinstance(inner, ast.Name) or inner.id in {*own, *seen}:
                continue
            value = world.get(inner.id)
            seen.add(inner.id)
            if inner.id in {*t.SAMPLES, *t.FUNCTIONS}:
                _as_meant(inner.id, world, first + inner.lineno - 1)
            elif type(value) in {int, float}:
                numbers[inner.id] = f"{inner.id} = {value!r}\n"
            elif inspect.isfunction(value) and inner.id != "private":
                waiting.append((value, inner.id))
    text = "\n".join([*numbers.values(), *texts])
    module = ast.parse(text)
    for each in module.body:  # messages are about the lines of the file
        if isinstance(each, ast.FunctionDef):
            ast.increment_lineno(each, lines[each.name] - each.lineno)
    ours = next(n for n in module.body if isinstance(n, ast.FunctionDef) and n.name == function.__name__)
    return _Reader(_used(module, ours.name), text).program(ours)


def _as_written(function: Callable[..., Any], name: str) -> None:
    """What runs must be what the source says: no wrapper, no values from an enclosing function."""
    if hasattr(function, "__wrapped__"):
        raise Outside("a decorator: it may replace the function", None, name, "no decorator but @private")
    if getattr(getattr(function, "__code__", None), "co_freevars", ()):
        raise Outside("values of an enclosing function", None, name, "arguments, or numbers of the file")


def _text_of(function: Callable[..., Any], name: str) -> tuple[str, ast.FunctionDef, int]:
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        lines, first = [], 0
    text = textwrap.dedent("".join(lines))
    node = _first(text)
    if not isinstance(node, ast.FunctionDef) or node.name != name:
        raise Misconfigured("the source of this function cannot be found; give the text or a file of it")
    kept = [line for i, line in enumerate(text.splitlines(), 1) if i >= node.lineno]  # without decorators
    for decorator in node.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        world = getattr(function, "__globals__", {})
        if not (isinstance(called, ast.Name) and world.get(called.id) is private):
            said = ast.unparse(decorator)
            raise Outside("a decorator: it may replace the function", first, f"@{said}", "no decorator but @private")
    return "\n".join(kept) + "\n", node, first + node.lineno - 1


def _as_meant(name: str, world: Mapping[str, Any], line: int) -> None:
    """A sample is nowiser's, a builtin is Python's."""
    value = world.get(name, getattr(builtins, name, None))
    code = getattr(value, "__code__", None)
    right = (
        value is getattr(builtins, name, None)
        if name in t.FUNCTIONS
        else value is None or (code is not None and (code.co_filename, code.co_name) == (samples.__file__, name))
    )
    if not right:
        raise Outside(f"{name} with another meaning", line, name, "from nowiser.verify.samples import …")


def _first(text: str) -> ast.stmt | None:
    try:
        return next(iter(ast.parse(text).body), None)
    except SyntaxError:
        return None


def _chosen(functions: Mapping[str, ast.FunctionDef], name: str | None) -> ast.FunctionDef:
    if name is not None:
        if name not in functions:
            raise Misconfigured(f"no function {name!r}; the file has {', '.join(functions) or 'none'}")
        return functions[name]
    called = {n.id for f in functions.values() for n in ast.walk(f) if isinstance(n, ast.Name) and n.id != f.name}
    free = [f for f in functions.values() if f.name not in called]
    if len(free) != 1:
        raise Misconfigured(
            f"say which function: the file has {', '.join(f.name for f in free) or 'none'}", hint="as in file.py:name"
        )
    return free[0]


class _Reader:
    def __init__(self, found: Used, source: str) -> None:
        self._functions, self._source = found.functions, source
        self._constants = found.numbers
        self._done: dict[str, t.Program] = {}
        self._open: list[str] = []

    def program(self, node: ast.FunctionDef) -> t.Program:
        read = self._function(node)
        return replace(read, functions=tuple(p for name, p in self._done.items() if name != node.name))

    def _function(self, node: ast.FunctionDef) -> t.Program:
        if node.name in self._open:
            raise Outside("a function that calls itself", node.lineno, node.name, "a loop")
        self._open.append(node.name)
        a = node.args
        if a.vararg or a.kwarg:
            raise Outside("a variable number of arguments", node.lineno, "*", "named arguments")
        parameters = [*a.posonlyargs, *a.args, *a.kwonlyargs]
        plain = [*a.posonlyargs, *a.args]
        given = [*zip(plain[len(plain) - len(a.defaults) :], a.defaults, strict=True)]
        given += [(p, d) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d is not None]
        self._local = local_names(node)
        kinds = tuple((p.arg, ast.unparse(p.annotation)) for p in parameters if p.annotation is not None)
        defaults = tuple((p.arg, self._default(d)) for p, d in given)
        body = self._block(_without_docstring(node.body))
        read = t.Program(node.name, tuple(p.arg for p in parameters), body, self._source, kinds, defaults)
        self._open.pop()
        self._done[node.name] = read
        return read

    def _default(self, node: ast.expr) -> Fraction:
        value = self._expression(node)
        assert isinstance(value, t.Number | t.Truth)  # `used` has seen to it
        return Fraction(value.value)

    def _block(self, nodes: list[ast.stmt]) -> tuple[t.Statement, ...]:
        return tuple(s for node in nodes for s in self._statement(node))

    def _statement(self, node: ast.stmt) -> tuple[t.Statement, ...]:
        line = node.lineno
        match node:
            case ast.Pass():
                return ()
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
                # all values are known before the first name changes
                kept = [t.Assign(f"{line}:{i}", self._expression(v), line) for i, v in enumerate(values)]
                return (*kept, *(self._store(n, t.Name(f"{line}:{i}", line), line) for i, n in enumerate(names)))
            case ast.Assign(targets=[target], value=value):
                return (self._store(target, self._expression(value), line),)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                return (self._store(target, self._expression(value), line),)
            case ast.AugAssign(target=target, op=op, value=value):
                old = self._expression(_loaded(target))
                if not isinstance(target, ast.Name) and any(isinstance(n, ast.Call) for n in ast.walk(target)):
                    where = ast.unparse(target)
                    raise Outside("a call in a place that is read and written", line, where, "i = … before")
                found = self._operation(op, old, self._expression(value), node)
                if isinstance(op, ast.Add) and isinstance(target, ast.Name):
                    found = t.Arithmetic("+=", old, self._expression(value), line)
                return (self._store(target, found, line),)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item])):
                return (t.Append(name, self._expression(item), line),)
            case ast.If(test=test, body=body, orelse=orelse):
                return (t.If(self._expression(test), self._block(body), self._block(orelse), line),)
            case ast.While(test=test, body=body, orelse=[]):
                return (t.While(self._expression(test), self._block(body), line),)
            case ast.For(target=ast.Name(id=name), iter=over, body=body, orelse=[]):
                return (t.For(name, self._expression(over), self._block(body), line),)
            case ast.Break():
                return (t.Break(line),)
            case ast.Return(value=ast.expr() as value):
                return (t.Return(self._expression(value), line),)
        raise self._outside(node, f"the statement {type(node).__name__.lower()}", STATEMENTS)

    def _store(self, target: ast.expr, value: t.Expression, line: int) -> t.Statement:
        match target:
            case ast.Name(id=name):
                return t.Assign(name, value, line)
            case ast.Subscript(value=ast.Name(id=name), slice=index) if not isinstance(index, ast.Slice):
                return t.AssignItem(name, self._expression(index), value, line)
        raise Outside("an assignment to this", line, ast.unparse(target), "name = … or name[index] = …")

    def _expression(self, node: ast.expr) -> t.Expression:
        line = node.lineno
        match node:
            case ast.Constant(value=bool() as value):
                return t.Truth(value, line)
            case ast.Constant(value=int() | float() as value) if value not in {float("inf"), float("-inf")}:
                return t.Number(Fraction(str(value)), line, isinstance(value, float))
            case ast.Name(id=name):
                if name not in self._local and name in self._constants:
                    return self._expression(self._constants[name])
                return t.Name(name, line)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                inner = self._expression(operand)
                if isinstance(inner, t.Number):
                    return t.Number(-inner.value, line, inner.real)
                return t.Arithmetic("-", t.Number(Fraction(0), line), inner, line)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self._expression(operand)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return t.Logical("not", (self._expression(operand),), line)
            case ast.BinOp(left=left, op=op, right=right):
                return self._operation(op, self._expression(left), self._expression(right), node)
            case ast.BoolOp(op=op, values=values):
                parts = tuple(self._expression(v) for v in values)
                return t.Logical("and" if isinstance(op, ast.And) else "or", parts, line)
            case ast.Compare(left=left, ops=operators, comparators=others):
                return self._comparison([left, *others], operators, node)
            case ast.IfExp(test=test, body=yes, orelse=no):
                return t.Choice(self._expression(test), self._expression(yes), self._expression(no), line)
            case ast.List(elts=items) | ast.Tuple(elts=items):
                return t.Listing(tuple(self._expression(i) for i in items), line, isinstance(node, ast.Tuple))
            case (
                ast.ListComp(elt=item, generators=[ast.comprehension(target=ast.Name(id=name), iter=over, ifs=[])])
                | ast.GeneratorExp(
                    elt=item, generators=[ast.comprehension(target=ast.Name(id=name), iter=over, ifs=[])]
                )
            ):
                return t.Comprehension(self._expression(item), name, self._expression(over), line)
            case ast.Subscript(value=of, slice=ast.Slice(lower=lower, upper=upper, step=None)):
                start = None if lower is None else self._expression(lower)
                stop = None if upper is None else self._expression(upper)
                return t.Slice(self._expression(of), start, stop, line)
            case ast.Subscript(value=of, slice=index) if not isinstance(index, ast.Slice):
                return t.Item(self._expression(of), self._expression(index), line)
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords):
                return self._call(name, arguments, keywords, node)
        raise self._outside(node, f"the expression {ast.unparse(node)}", "arithmetic, comparisons, lists and calls")

    def _operation(self, op: ast.operator, left: t.Expression, right: t.Expression, node: ast.AST) -> t.Expression:
        if type(op) not in OPERATORS:
            raise self._outside(op, f"the operator {type(op).__name__}", "+ - * / // %", getattr(node, "lineno", None))
        return t.Arithmetic(OPERATORS[type(op)], left, right, getattr(node, "lineno", 0))

    def _comparison(self, sides: list[ast.expr], operators: list[ast.cmpop], node: ast.expr) -> t.Expression:
        for op in operators:
            if type(op) not in COMPARISONS:
                raise self._outside(op, f"the comparison {type(op).__name__}", "< <= > >= == !=", node.lineno)
        if any(isinstance(n, ast.Call) for side in sides[1:-1] for n in ast.walk(side)):
            raise Outside("a call inside a chain of comparisons", node.lineno, ast.unparse(node), "a < b and b < c")
        read = [self._expression(side) for side in sides]
        parts = tuple(
            t.Comparison(COMPARISONS[type(op)], read[i], read[i + 1], node.lineno) for i, op in enumerate(operators)
        )
        return parts[0] if len(parts) == 1 else t.Logical("and", parts, node.lineno)

    def _call(self, name: str, arguments: list[ast.expr], keywords: list[ast.keyword], node: ast.expr) -> t.Expression:
        line = node.lineno
        if name in t.SAMPLES:
            wanted = 1 if t.SAMPLES[name] else 0
            given = [*arguments, *(k.value for k in keywords)]
            if len(given) != wanted:
                raise Outside(
                    f"{name} with {len(given)} arguments", line, ast.unparse(node), f"{name}({t.SAMPLES[name]})"
                )
            return t.Sample(name, tuple(self._expression(a) for a in given), line)
        if name in t.FUNCTIONS and not keywords:
            return t.Call(name, tuple(self._expression(a) for a in arguments), line)
        if name in self._functions and not keywords:
            if name not in self._done:
                kept = self._local
                self._function(self._functions[name])
                self._local = kept
            if len(arguments) != len(self._done[name].parameters):
                raise Outside(
                    f"{name} with {len(arguments)} arguments", line, ast.unparse(node), "all of its arguments"
                )
            return t.Use(name, tuple(self._expression(a) for a in arguments), line)
        raise Outside(f"a call of {name}", line, ast.unparse(node), INSTEAD.get(name, CALLS))

    def _outside(self, node: ast.AST, what: str, instead: str, line: int | None = None) -> Outside:
        construct = "" if isinstance(node, (ast.operator, ast.cmpop)) else ast.unparse(node).splitlines()[0]
        hint = INSTEAD.get(type(node).__name__, instead)
        return Outside(what, getattr(node, "lineno", line), construct or type(node).__name__, hint)


def _loaded(target: ast.expr) -> ast.expr:
    """The target of `x += e` as an expression."""
    copied = ast.parse(ast.unparse(target), mode="eval").body
    return ast.copy_location(copied, target)


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    said = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    return body[1:] if said else body
