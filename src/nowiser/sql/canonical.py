"""One text per meaning: what makes two questions the same question.

White space, case of names, aliases of tables and the order of what commutes do not count. Names and order of the
result's columns do: they are part of the answer.
"""

import hashlib

from nowiser.sql import steps
from nowiser.sql.functions import ALLOWED
from nowiser.sql.tree import (
    Aggregate,
    Call,
    Column,
    Exists,
    Expression,
    Filter,
    Fold,
    Grouped,
    Join,
    Literal,
    PerPerson,
    Query,
    Relation,
    Released,
    RowWindow,
    Scan,
    Shown,
    Union,
    Windowed,
)


def canonical(query: Query) -> str:
    """The question in one unambiguous line."""
    parts = [
        ("from", relation_text(query.relation)),
        ("by", " ".join(expression(k) for k in query.keys)),
        ("of", " ".join(_aggregate(a) for a in query.aggregates)),
        ("show", " ".join(f"{o.name!r}={expression(o.expression)}" for o in query.outputs)),
        ("having", expression(query.having) if query.having is not None else ""),
        ("order", " ".join(f"{expression(o.expression)}:{o.descending:d}{o.nulls_first:d}" for o in query.order)),
        ("limit", f"{query.limit} {query.offset}"),
        ("sets", "" if query.sets is None else f"{query.sets}"),
        ("distinct", f"{query.distinct:d}"),
    ]
    if query.repeated is not None:
        parts.append(("repeated", f"{query.repeated}"))
    if query.after:
        parts.append(("after", steps.text(query.after, expression)))
    if query.marks:
        parts.append(("marks", f"{query.marks}"))
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
        case Shown():
            return f"column{e.index}"
        case Exists():
            return f"({'none' if e.negated else 'some'} {relation_text(e.relation)} {expression(e.condition)})"
        case Released():
            return f"agg{e.index}"
        case Call():
            args = [expression(a) for a in e.args]
            return f"({e.function} {' '.join(sorted(args) if ALLOWED[e.function].commutative else args)})"


def _aggregate(a: Aggregate) -> str:
    inner = expression(a.argument) if a.argument is not None else "*"
    inner += f" {expression(a.second)}" if a.second is not None else ""
    inner += f"{' distinct' if a.distinct else ''}{f' at {a.at}' if a.at is not None else ''}"
    inner += " descending" if a.descending else ""
    return f"({a.function} {inner}{' if ' + expression(a.condition) if a.condition is not None else ''})"


def relation_text(relation: Relation) -> str:
    """A relation in one unambiguous line."""
    match relation:
        case Scan():
            return f"(scan {relation.relation} {relation.table.name!r})"
        case Filter():
            return f"(where {relation_text(relation.source)} {expression(relation.condition)})"
        case Join():
            sides = f"{relation_text(relation.left)} {relation_text(relation.right)}"
            return f"({'left' if relation.outer else 'join'} {sides} {expression(relation.condition)})"
        case PerPerson():
            keys = " ".join(f"{expression(c)}={expression(e)}" for c, e in (*relation.person, *relation.keys))
            folds = " ".join(f"{expression(c)}={_fold(f)}" for c, f in relation.folds)
            return f"(per {relation.relation} {relation_text(relation.source)} (by {keys}) (of {folds}))"
        case Windowed():
            shown = " ".join(f"{expression(c)}={expression(e)}" for c, e in relation.columns)
            over = " ".join(f"{expression(c)}={_window(w)}" for c, w in relation.windows)
            return f"(beside {relation.relation} {relation_text(relation.source)} (show {shown}) (of {over}))"
        case Union():
            branches = " ".join(
                f"({relation_text(source)} {' '.join(expression(e) for e in arm)})" for source, arm in relation.branches
            )
            columns = " ".join(expression(c) for c in relation.columns)  # names decide what is read from outside
            return f"(union {relation.relation} {columns} {branches})"


def _window(w: RowWindow) -> str:
    inner = f"{expression(w.argument)} {w.offset}" if w.argument is not None else "*"
    by = " ".join(expression(e) for e in w.partition)
    order = " ".join(f"{expression(o.expression)}:{o.descending:d}{o.nulls_first:d}" for o in w.order)
    return f"({w.function} {inner} (by {by}) (order {order}))"


def _fold(f: Fold) -> str:
    inner = expression(f.argument) if f.argument is not None else "*"
    return f"({f.function} {inner}{' if ' + expression(f.condition) if f.condition is not None else ''})"
