"""One text per meaning: what makes two questions the same question.

White space, case of names, aliases of tables and the order of what commutes do not count. Names and order of the
result's columns do: they are part of the answer.
"""

import hashlib

from nowiser.sql.functions import ALLOWED
from nowiser.sql.tree import (
    Aggregate,
    Call,
    Column,
    Expression,
    Filter,
    Grouped,
    Literal,
    Query,
    Relation,
    Released,
    Scan,
)


def canonical(query: Query) -> str:
    """The question in one unambiguous line."""
    parts = [
        ("from", _relation(query.relation)),
        ("by", " ".join(expression(k) for k in query.keys)),
        ("of", " ".join(_aggregate(a) for a in query.aggregates)),
        ("show", " ".join(f"{o.name!r}={expression(o.expression)}" for o in query.outputs)),
        ("having", expression(query.having) if query.having is not None else ""),
        ("order", " ".join(f"{expression(o.expression)}:{o.descending:d}{o.nulls_first:d}" for o in query.order)),
        ("limit", f"{query.limit} {query.offset}"),
    ]
    return " ".join(f"({name} {text})" for name, text in parts)


def digest(query: Query, precision: str) -> str:
    """The name under which an answer of this precision is kept."""
    return hashlib.sha256(f"{precision} {canonical(query)}".encode()).hexdigest()


def expression(e: Expression) -> str:
    match e:
        case Column():
            return f"{e.relation}.{e.declared.name!r}"
        case Literal():
            return f"{e.type.kind.value}:{e.value!r}"
        case Grouped():
            return f"key{e.index}"
        case Released():
            return f"agg{e.index}"
        case Call():
            args = [expression(a) for a in e.args]
            return f"({e.function} {' '.join(sorted(args) if ALLOWED[e.function].commutative else args)})"


def _aggregate(a: Aggregate) -> str:
    inner = expression(a.argument) if a.argument is not None else "*"
    return f"({a.function} {inner}{' if ' + expression(a.condition) if a.condition is not None else ''})"


def _relation(relation: Relation) -> str:
    match relation:
        case Scan():
            return f"(scan {relation.relation} {relation.table.name!r})"
        case Filter():
            return f"(where {_relation(relation.source)} {expression(relation.condition)})"
