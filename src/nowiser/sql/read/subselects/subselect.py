"""Sub-selects of FROM and WITH: a question inside a question becomes a relation.

* Without aggregates its columns stand for their expressions and its conditions join those outside: nothing is left
  of it.
* With GROUP BY over columns that lead to one person it is a relation with one row per group (`per_person`).
* Window functions within persons put numbers beside its rows (`row_windows`).
* UNION, INTERSECT and EXCEPT: `set_operations.py`.

Exact totals over several persons never become rows: that would be an answer without noise inside a question.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlglot import exp

from nowiser.errors import NotAnswerable
from nowiser.sql.bound.relations import rows
from nowiser.sql.read import hints
from nowiser.sql.read.clauses import aggregates, no_aggregate, outputs
from nowiser.sql.read.expressions.bind import Binder
from nowiser.sql.read.source import Context, From, Source
from nowiser.sql.read.subselects.exists import looked_up
from nowiser.sql.read.subselects.per_person import per_person
from nowiser.sql.read.subselects.row_windows import beside, has_windows
from nowiser.sql.read.subselects.set_operations import united
from nowiser.sql.tree import Column

_CLAUSES = ("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "distinct", "with_")


def read_source(context: Context, node: exp.Expr) -> Source:
    """The relation of a sub-select, and what its columns stand for."""
    while isinstance(node, exp.Subquery) and not node.args.get("alias"):
        node = node.this
    if isinstance(node, exp.SetOperation):
        with with_names(context, node):
            return united(context, node, read_source)
    if not isinstance(node, exp.Select):
        raise context.refuse(node, "FROM takes tables and sub-selects.", "Write (SELECT …) AS name.")
    refusal: NotAnswerable | None = None
    clauses = (*_CLAUSES, "qualify") if has_windows(node) else _CLAUSES
    for name, value in node.args.items():
        if name not in clauses and value not in (None, False, [], ()):
            refusal = context.refuse(node, f"{hints.clause(name)} is not answered in a sub-select.")
    if refusal is not None and not (node.args.get("group") or aggregates(node)):
        raise refusal
    with with_names(context, node):
        found = _select(context, node)  # which may find that its groups hold several persons: an answer
    if refusal is not None:
        raise refusal
    return found


def _select(context: Context, node: exp.Select) -> Source:
    if not node.args.get("from_"):
        raise context.refuse(node, "A sub-select without FROM is not answered.", "Name a table of the policy.")
    scope, together = From(context, node, read_source).read()
    binder = Binder(scope, lambda n: no_aggregate(context, n))
    where = node.args.get("where")
    relation = looked_up(context, where, scope, together, read_source)
    if has_windows(node):
        node, relation, scope = beside(context, node, relation, scope)
        binder = Binder(scope, lambda n: no_aggregate(context, n))
    elif node.args.get("distinct") and node.args["distinct"].args.get("on"):
        raise context.refuse(node, "DISTINCT ON is not answered beside GROUP BY and aggregates.", "Use MIN or MAX.")
    found = rows(relation, context.policy)
    if node.args.get("distinct") and not node.args.get("group") and not aggregates(node) and not found.secret:
        columns_ = dict(outputs(context, node, binder))
        shown = {e.ident for e in columns_.values() if isinstance(e, Column)}
        if any(key <= shown for key in found.unique):
            return Source(relation, columns_)  # no two rows are equal
    made = None
    if node.args.get("group") or node.args.get("distinct") or aggregates(node):
        made = per_person(context, node, relation, scope)
    if node.args.get("limit"):
        raise context.refuse(node, "LIMIT inside chooses single rows, and that is not answered.", "Leave it out.")
    if made is not None:
        return made
    if node.args.get("having"):
        raise context.refuse(node, "HAVING without GROUP BY is not answered in a sub-select.", "Use WHERE.")
    return Source(relation, dict(outputs(context, node, binder)))


@contextmanager
def with_names(context: Context, node: exp.Expr) -> Iterator[None]:
    """Sub-selects of WITH are in sight inside."""
    clause = node.args.get("with_")
    before = context.named
    if clause is not None:
        if clause.args.get("recursive"):
            raise context.refuse(clause, "WITH RECURSIVE is not answered.", "Ask without recursion.")
        found = dict(before)
        for cte in clause.expressions:
            found.pop(cte.alias, None)
            found[cte.alias] = cte
        context.named = found
    try:
        yield
    finally:
        context.named = before
