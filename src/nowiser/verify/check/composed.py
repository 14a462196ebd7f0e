"""Composition: a function that only calls proved functions on its private argument, and computes with their results.

The costs of calls on the whole list add up; of calls on disjoint parts of it (`d[:5]`, `d[5:]`) only those count that
see the one element that changes. What is computed from results costs nothing. A result may be a public argument of a
later call if the proof of that call leaves this argument a symbol: then it holds for every value.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from nowiser.verify.check.follow import Rejected, read


class Call(NamedTuple):
    """A call that sees private data. scale: its ε is so many times the caller's; part: of the list, from and to."""

    function: str
    private: str
    symbol: str
    scale: Fraction
    numbers: Mapping[str, Fraction]
    part: tuple[int, int | None]


def calls(text: str, question: Mapping[str, Any]) -> list[Call]:
    """The calls of a function that is a composition. Raises Rejected for any other use of the private argument."""
    read(text, question["function"])  # nothing but the language is in it, and each name has one meaning
    functions = {n.name: n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}
    body = functions[question["function"]].body
    found: list[Call] = []
    for statement in body:
        if not isinstance(statement, ast.Assign | ast.Return | ast.Expr):
            if _mentions(statement, question["private"]):
                raise Rejected("private data decide in a composition")
            continue
        _collect(statement, functions, question, found)
    names = {n.id for s in body for n in ast.walk(s) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    if not found or names & {question["private"], question["symbol"], *question["public"]}:
        raise Rejected("no composition")
    return found


def _mentions(node: ast.AST, private: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == private for n in ast.walk(node))


def _collect(
    node: ast.AST, functions: Mapping[str, ast.FunctionDef], question: Mapping[str, Any], found: list[Call]
) -> None:
    private = question["private"]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions:
        if _mentions(node, private):
            found.append(_call(node, functions[node.func.id], question))
            return
    elif isinstance(node, ast.IfExp | ast.BoolOp | ast.ListComp | ast.GeneratorExp) and _mentions(node, private):
        raise Rejected("a call on private data that may not happen, or may happen often")
    elif isinstance(node, ast.Name) and node.id == private:
        raise Rejected("private data outside of a call")
    for child in ast.iter_child_nodes(node):
        _collect(child, functions, question, found)


def _call(node: ast.Call, function: ast.FunctionDef, question: Mapping[str, Any]) -> Call:
    names = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    if node.keywords or len(node.args) != len(names):
        raise Rejected("a call without all of its arguments in order")
    seen = [i for i, a in enumerate(node.args) if _mentions(a, question["private"])]
    scales = {i: s for i, a in enumerate(node.args) if (s := _scale(a, question["symbol"])) is not None}
    if len(seen) != 1 or len(scales) != 1:
        raise Rejected("a call with the private argument, or with ε, in several places or none")
    ((place, scale),) = scales.items()
    numbers = {
        n: Fraction(str(a.value))
        for n, a in zip(names, node.args, strict=True)
        if isinstance(a, ast.Constant) and type(a.value) in {int, float}
    }
    for i, a in enumerate(node.args):
        known = isinstance(a, ast.Name) and a.id in question["public"]
        if known and isinstance(a, ast.Name) and not isinstance(question["public"][a.id], list):
            numbers[names[i]] = Fraction(question["public"][a.id])
        elif i != place and any(isinstance(n, ast.Name) and n.id == question["symbol"] for n in ast.walk(a)):
            raise Rejected("ε in an argument that is not ε")
    return Call(function.name, names[seen[0]], names[place], scale, numbers, _part(node.args[seen[0]], question))


def _part(node: ast.expr, question: Mapping[str, Any]) -> tuple[int, int | None]:
    match node:
        case ast.Name():
            return 0, None
        case ast.Subscript(value=ast.Name(), slice=ast.Slice(lower=low, upper=high, step=None)):
            start, stop = (0 if low is None else _whole(low)), (None if high is None else _whole(high))
            if question["neighbours"] != "length":
                return start, stop
    raise Rejected("a call on something else than the list or a fixed part of it")


def _whole(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    raise Rejected("a part of the list whose ends are no fixed numbers")


def _scale(node: ast.expr, symbol: str) -> Fraction | None:
    """C of `c*eps`."""
    match node:
        case ast.Name(id=name) if name == symbol:
            return Fraction(1)
        case (
            ast.BinOp(left=left, op=ast.Mult(), right=ast.Constant(value=int() | float() as c))
            | ast.BinOp(left=ast.Constant(value=int() | float() as c), op=ast.Mult(), right=left)
        ):
            inner = _scale(left, symbol)
            return None if inner is None or c <= 0 else inner * Fraction(str(c))
        case ast.BinOp(left=left, op=ast.Div(), right=ast.Constant(value=int() | float() as c)):
            inner = _scale(left, symbol)
            return None if inner is None or c <= 0 else inner / Fraction(str(c))
    return None


def composed_cost(found: Sequence[Call], costs: Sequence[Fraction], neighbours: str) -> Fraction:
    """All of them; where one element changes, those that see it, for the worst element."""
    paid = [c.scale * cost for c, cost in zip(found, costs, strict=True)]
    if not neighbours.startswith("one"):
        return sum(paid, Fraction(0))
    places = {c.part[0] for c in found}
    return max(
        sum(
            (p for c, p in zip(found, paid, strict=True) if c.part[0] <= i and (c.part[1] is None or i < c.part[1])),
            Fraction(0),
        )
        for i in places
    )


def check_composed(
    parts: Sequence[Mapping[str, Any]], text: str, question: Mapping[str, Any], check: Callable[..., str]
) -> tuple[Fraction, int | None]:
    """The cost, and the length up to which it is proved (None: every length)."""
    found = calls(text, question)
    if len(found) != len(parts) or not question["symbol"]:
        raise Rejected("a call is not treated")
    costs, sizes = [], []
    for call, part in zip(found, parts, strict=True):
        theirs, claim = part["question"], part["claim"]
        same = (theirs["function"], theirs["private"], theirs["symbol"]) == (call.function, call.private, call.symbol)
        numbers = all(call.numbers.get(n) == Fraction(v) for n, v in theirs["public"].items())
        alike = all(theirs[k] == question[k] for k in ("neighbours", "whole", "listed"))
        if not (same and numbers and alike) or claim["symbol"] != call.symbol or claim["kind"] != "eps":
            raise Rejected(f"the proof of {call.function} is about another call")
        if part["epsilon"] is not None or "composed" in part:
            raise Rejected(f"the proof of {call.function} is not for every ε")
        check(part, text)
        costs.append(Fraction(claim["factor"]))
        if part.get("every") is None and question["listed"]:
            sizes.append(len(part["sizes"]))
    return composed_cost(found, costs, question["neighbours"]), min(sizes) if sizes else None
