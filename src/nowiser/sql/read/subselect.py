"""Sub-selects of FROM and WITH: a question inside a question becomes a relation.

* Without aggregates its columns stand for their expressions and its conditions join those outside: nothing is left
  of it.
* With GROUP BY over columns that lead to one person it is a relation with one row per group (`per_person`).
* UNION ALL puts the rows of its branches together.

Exact totals over several persons never become rows: that would be an answer without noise inside a question.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlglot import exp

from nowiser.errors import NotAnswerable
from nowiser.model import schema
from nowiser.model.schema import Role
from nowiser.sql.bound.relations import Rows, rows
from nowiser.sql.interval import hull
from nowiser.sql.read import hints
from nowiser.sql.read.bind import Binder
from nowiser.sql.read.clauses import aggregates, no_aggregate, outputs
from nowiser.sql.read.derived import derived_column
from nowiser.sql.read.exists import looked_up
from nowiser.sql.read.names import Scope
from nowiser.sql.read.per_person import per_person
from nowiser.sql.read.reasons import SET_OPERATIONS
from nowiser.sql.read.source import Context, From, Source
from nowiser.sql.tree import Column, Expression, Type, Union

_CLAUSES = ("expressions", "from_", "joins", "where", "group", "having", "order", "limit", "distinct", "with_")


def read_source(context: Context, node: exp.Expr) -> Source:
    """The relation of a sub-select, and what its columns stand for."""
    while isinstance(node, exp.Subquery) and not node.args.get("alias"):
        node = node.this
    if isinstance(node, exp.SetOperation):
        return _union(context, node)
    if not isinstance(node, exp.Select):
        raise context.refuse(node, "FROM takes tables and sub-selects.", "Write (SELECT …) AS name.")
    refusal: NotAnswerable | None = None
    for name, value in node.args.items():
        if name not in _CLAUSES and value not in (None, False, [], ()):
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


# -- UNION ALL -------------------------------------------------------------------------------------------


def _union(context: Context, node: exp.SetOperation) -> Source:
    if not isinstance(node, exp.Union) or node.args.get("distinct"):
        word = node.key.upper()
        raise context.refuse(
            node, f"{word} compares rows of different persons and is not answered.", SET_OPERATIONS[word]
        )
    for name, value in node.args.items():
        if name not in ("this", "expression", "distinct", "with_") and value not in (None, False, [], ()):
            raise context.refuse(node, f"UNION ALL with {hints.words(name)} is not answered in a sub-select.")
    with with_names(context, node):
        branches = [read_source(context, branch) for branch in _branches(node)]
    found = [rows(b.relation, context.policy) for b in branches]
    _check(context, node, branches, found)
    name = context.fresh(node)
    arms = [tuple(b.columns.values()) for b in branches]
    made = [_united(context, node, name, n, [a[i] for a in arms]) for i, n in enumerate(branches[0].columns)]
    fitted = [tuple(c[1][k] for c in made) for k in range(len(branches))]
    new = [c[0] for c in made]
    person: list[Column] = []
    if found[0].secret and all(r.person for r in found):
        for i, column_ in enumerate(found[0].person):
            declared = schema.Column(f":person:{i}", column_.declared.kind, Role.IDENTIFIER, nullable=False)
            person.append(Column(name, "union", declared, Type(declared.kind, bounds=column_.type.bounds), derived=()))
        fitted = [(*arm, *r.person) for arm, r in zip(fitted, found, strict=True)]
    relation = Union(
        name,
        (*new, *person),
        tuple((b.relation, arm) for b, arm in zip(branches, fitted, strict=True)),
        tuple(person),
    )
    return Source(relation, dict(zip(branches[0].columns, new, strict=True)))


def _branches(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Union) and not node.args.get("distinct"):
        return [*_branches(node.this), *_branches(node.expression)]
    return [node]


def _check(context: Context, node: exp.Expr, branches: list[Source], found: list[Rows]) -> None:
    if len({len(b.columns) for b in branches}) > 1:
        raise context.refuse(node, "The branches of UNION ALL have different numbers of columns.")
    persons = {r.persons.name if r.persons is not None else None for r in found}
    if len(persons) > 1:
        raise context.refuse(
            node, "UNION ALL of rows about different persons is not answered.", "Ask about them one by one."
        )


def _united(
    context: Context, node: exp.Expr, relation: str, name: str, arms: list[Expression]
) -> tuple[Column, list[Expression]]:
    binder = Binder(Scope(context.text, {}), lambda _: None)
    fitted = list(binder.meet(*arms))
    kinds = {e.type.kind for e in fitted}
    if len(kinds) > 1:
        raise context.refuse(node, f"Column {name} of UNION ALL is of different kinds in its branches.")
    kind = kinds.pop()
    nullable = any(e.type.nullable for e in fitted)
    ends = [e.type.interval for e in fitted if e.type.bounds is not None]
    bounds = hull(x for b in ends for x in (b.low, b.high)) if len(ends) == len(fitted) else None
    domains = [e.declared.domain if isinstance(e, Column) else None for e in fitted]
    same = domains[0] if all(d == domains[0] for d in domains) else None
    type_ = Type(kind, nullable, bounds, max(e.type.error for e in fitted))
    return derived_column(relation, name, type_, fitted, same), fitted
