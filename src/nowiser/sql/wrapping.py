"""SELECTs that only wrap another, as BI tools write them: computed from what is released, free."""

from sqlglot import exp

from nowiser.sql.clauses import aggregates as has_aggregates
from nowiser.sql.names import matches

Named = dict[str, exp.Expr]


def wrapped(tree: exp.Select, named: Named) -> tuple[exp.Expr, Named] | None:
    """The SELECT that this one only wraps, as BI tools do: nothing is grouped, aggregated or joined outside."""
    source = tree.args.get("from_")
    if source is None or tree.args.get("joins") or tree.args.get("group") or has_aggregates(tree):
        return None
    inner = source.this
    if isinstance(inner, exp.Subquery):
        return None if _rowwise(inner.this, named) else (inner.this, named)
    if isinstance(inner, exp.Table) and isinstance(inner.this, exp.Identifier) and not inner.args.get("db"):
        name = next((n for n in named if matches(inner.this, n)), None)
        if name is None:
            return None
        before = dict(list(named.items())[: list(named).index(name)])  # it sees those before it
        return None if _rowwise(named[name].this, before) else (named[name].this, before)
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
