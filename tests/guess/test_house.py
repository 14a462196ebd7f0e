"""The house: no import of ours inside a function of guess/ or model/, and guess/ stays small."""

import ast
from pathlib import Path

import pytest

import nowiser

HOUSE = Path(nowiser.__file__).parent
FILES = [*(HOUSE / "guess").rglob("*.py"), *(HOUSE / "model").rglob("*.py")]
MOST_LINES = 8_330  # without promises on average, which have rooms of their own; it may only fall
LONGEST = 400


def local_imports(tree):
    """Names of modules that functions import, also by string."""
    for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)):
        for node in ast.walk(function):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield "nowiser" if node.level else node.module
            elif isinstance(node, ast.Call) and "import" in ast.unparse(node.func):
                yield ast.unparse(node)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(HOUSE)))
def test_imports_of_ours_stand_at_the_top(path):
    assert [name for name in local_imports(ast.parse(path.read_text())) if "nowiser" in name] == []


def test_guess_stays_small():
    lines = {path: len(path.read_text().splitlines()) for path in FILES if path.is_relative_to(HOUSE / "guess")}
    assert sum(n for path, n in lines.items() if "average" not in str(path.relative_to(HOUSE))) <= MOST_LINES
    assert {str(path.relative_to(HOUSE)): n for path, n in lines.items() if n > LONGEST} == {}
