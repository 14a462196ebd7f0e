"""A program whose passes over the private list are loops of their own: sums and comprehensions are written out.

`return sum([f(x) for x in d]) + y` becomes `t = 0`, `for x in d: t = t + f(x)`, `return t + y`. Only statements of the
function's own body are rewritten, and only where the expression is surely evaluated once.
"""

import ast
from copy import deepcopy

from nowiser.verify.check.names import local_names

OURS = "each_"  # how names that are written out begin


def plain(text: str, name: str, private: str) -> str:
    """The text with the function of this name rewritten; everything else stays."""
    module = ast.parse(text)
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and node.name == name and not _has(node, OURS):
            body: list[ast.stmt] = []
            for statement in node.body:
                hoist = _Hoist(private, len(body))
                kept = hoist.visit(statement) if not isinstance(statement, ast.For | ast.While | ast.If) else statement
                body += [*hoist.before, kept]
            node.body = body
    return ast.unparse(ast.fix_missing_locations(module))


def _has(function: ast.FunctionDef, start: str) -> bool:
    """Whether the function has such a name already; then nothing is written out, so that none is written over."""
    return any(n.startswith(start) for n in local_names(function))


class _Hoist(ast.NodeTransformer):
    def __init__(self, private: str, number: int) -> None:
        self._private, self._number = private, number
        self.before: list[ast.stmt] = []

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        return node  # perhaps not evaluated

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        return node

    def visit_ListComp(self, node: ast.ListComp) -> ast.AST:
        return self._written(node, "[]", "{t}.append({item})") or node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        if isinstance(node.func, ast.Name) and node.func.id == "sum" and len(node.args) == 1:
            (of,) = node.args
            if isinstance(of, ast.Name) and of.id == self._private:
                target = ast.Name("each", ast.Store())
                of = ast.ListComp(ast.Name("each", ast.Load()), [ast.comprehension(target, of, [], 0)])
            if isinstance(of, ast.ListComp | ast.GeneratorExp):
                found = self._written(of, "0", "{t} = {t} + ({item})")
                if found is not None:
                    return found
        return self.generic_visit(node)

    def _written(self, node: ast.ListComp | ast.GeneratorExp, start: str, step: str) -> ast.AST | None:
        (over, *more) = node.generators
        mentions = any(isinstance(n, ast.Name) and n.id == self._private for n in ast.walk(over.iter))
        if more or over.ifs or not mentions or not isinstance(over.target, ast.Name):
            return None
        t = f"{OURS}{self._number}_{len(self.before)}"
        item = _Renamed(over.target.id, f"{t}_x").visit(deepcopy(node.elt))
        loop = f"for {t}_x in {ast.unparse(over.iter)}:\n    {step.format(t=t, item=ast.unparse(item))}"
        self.before += ast.parse(f"{t} = {start}\n{loop}").body
        return ast.Name(t, ast.Load())


class _Renamed(ast.NodeTransformer):
    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = old, new

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self._new, node.ctx) if node.id == self._old else node
