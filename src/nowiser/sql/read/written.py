"""What the analyst wrote: refusals name functions and clauses by the words of the question, never by the parser's."""

import re
from collections.abc import Iterable

from sqlglot import exp

_CALLED = re.compile(r"([A-Za-z_]\w{0,60})\s*\(")
# Words before a bracket that are no functions
_WORDS = frozenset(
    {
        *(
            "all",
            "and",
            "any",
            "array",
            "as",
            "between",
            "by",
            "case",
            "distinct",
            "else",
            "except",
            "exists",
            "filter",
        ),
        *("from", "group", "having", "in", "intersect", "is", "join", "lateral", "like", "limit", "not", "on", "or"),
        *("order", "over", "select", "some", "then", "union", "using", "values", "when", "where", "with", "within"),
    }
)
# Nodes that are no functions, and stand for a part of one
_NODES = {
    "windowspec": "A window",
    "window": "A window",
    "ordered": "ORDER BY",
    "group": "GROUP BY",
    "star": "*",
    "filter": "FILTER",
    "withingroup": "WITHIN GROUP",
    "distinct": "DISTINCT",
    "cast": "CAST",
    "case": "CASE",
    "interval": "INTERVAL",
    "like": "LIKE",
    "ilike": "ILIKE",
    "in": "IN",
    "between": "BETWEEN",
    "is": "IS",
}


def written(node: exp.Expr, text: str) -> str:
    """The name of a function as it stands in the question; `This` where it has none."""
    if not isinstance(node, exp.Func):
        return _NODES.get(node.key, "This")
    calls = [m[1] for m in _CALLED.finditer(text)]
    if isinstance(node, exp.Anonymous):
        return node.name.upper()
    own = _plain(_names(node))
    for word in calls:
        if _bare(word) in own:
            return str(word).upper()
    others = {n for f in node.root().find_all(exp.Func) if type(f) is not type(node) for n in _plain(_names(f))}
    left = dict.fromkeys(w.upper() for w in calls if w.lower() not in _WORDS and _bare(w) not in others)
    if len(left) == 1:
        return str(next(iter(left)))
    word = next((n for n in _names(node) if re.search(rf"\b{re.escape(n)}\b", text, re.IGNORECASE)), None)
    return _NODES.get(node.key, "This") if word is None else str(word).upper()


def _names(node: exp.Func) -> list[str]:
    return [node.key, *(type(node).sql_names() if type(node) is not exp.Anonymous else [node.name])]


def _plain(names: Iterable[str]) -> set[str]:
    return {_bare(n) for n in names}


def _bare(word: str) -> str:
    return word.replace("_", "").lower()
