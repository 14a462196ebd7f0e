"""What BI tools put around a question and what means nothing: wrapping SELECTs, HAVING (COUNT(1) > 0)."""

from dataclasses import replace

from sqlglot import exp

from nowiser.model.policy import Policy
from nowiser.sql.bound.relations import rows
from nowiser.sql.read.clauses import aggregates as has_aggregates
from nowiser.sql.read.names import matches
from nowiser.sql.tree import Aggregate, Call, Literal, Query, Released, parts

Named = dict[str, exp.Expr]


def wrapped(tree: exp.Select, named: Named) -> tuple[exp.Expr, Named] | None:
    """The SELECT that this one only wraps, as BI tools do: nothing is grouped, aggregated or joined outside."""
    source = tree.args.get("from_")
    if source is None or tree.args.get("joins") or tree.args.get("group") or has_aggregates(tree):
        return None
    found = inside(source.this, named)
    return None if found is None or _rowwise(*found) else found


def inside(source: exp.Expr, named: Named) -> tuple[exp.Expr, Named] | None:
    """The sub-select that stands in FROM, there or in WITH; None if it is a table."""
    if isinstance(source, exp.Subquery):
        return source.this, named
    if isinstance(source, exp.Table) and isinstance(source.this, exp.Identifier) and not source.args.get("db"):
        name = next((n for n in named if matches(source.this, n)), None)
        if name is None:
            return None
        return named[name].this, dict(list(named.items())[: list(named).index(name)])  # it sees those before it
    return None


def _rowwise(node: exp.Expr, named: Named) -> bool:
    """Whether a sub-select gives rows as they are; then it is not an answer to wrap."""
    while isinstance(node, exp.Subquery):
        node = node.this
    if not isinstance(node, exp.Select):
        return True
    if node.args.get("group") or has_aggregates(node):
        return False
    clause = node.args.get("with_")
    inside = named | {c.alias: c for c in clause.expressions} if clause is not None else named
    return wrapped(node, inside) is None


def without_idle(query: Query, policy: Policy) -> Query:
    """The question without HAVING COUNT(*) > 0 where nothing else asks for that count, and rows are somebody's.

    Groups are reported whether or not anybody is in them, so it says nothing; as a noisy count it would cost as much as
    all the rest.
    """
    last, having = len(query.aggregates) - 1, query.having
    if not isinstance(having, Call) or last < (0 if query.keys else 1) or query.aggregates[last] != Aggregate("count"):
        return query
    shown = (*(o.expression for o in query.outputs), *(o.expression for o in query.order))
    used = any(isinstance(p, Released) and p.index == last for e in shown for p in parts(e))
    what, bound = having.args[0], having.args[-1]
    some = isinstance(bound, Literal) and (having.function, bound.value) in {(">", 0), (">=", 1), ("<>", 0)}
    if (
        used
        or not some
        or not isinstance(what, Released)
        or what.index != last
        or not rows(query.relation, policy).secret
    ):
        return query
    return replace(query, having=None, aggregates=query.aggregates[:last])
