"""Two answers side by side: `FROM (… GROUP BY ward) a JOIN (… GROUP BY ward) b ON a.ward = b.ward`.

Both are over the same rows and the same groups, so they are one answer with more columns: what is a condition of one of
them becomes a condition of its aggregates. They cost what they would cost side by side, and what is computed from both
is free.
"""

from dataclasses import dataclass, replace

from sqlglot import exp

from nowiser.sql import functions
from nowiser.sql.read.around.further import Further, deeper, released_names
from nowiser.sql.read.expressions.bind import Binder
from nowiser.sql.read.names import Scope, matches
from nowiser.sql.read.source import Context, together
from nowiser.sql.steps import put
from nowiser.sql.tree import (
    Aggregate,
    Expression,
    Filter,
    Grouped,
    Output,
    Query,
    Relation,
    Released,
    Shown,
    columns,
    conjuncts,
    existing,
)

REWRITE = (
    "One SELECT has several totals side by side: SELECT key, COUNT(*) FILTER (WHERE …), AVG(x) FROM t GROUP BY key."
    " Totals of groups beside them: SUM(COUNT(*)) OVER (PARTITION BY key), of all: OVER ()."
)
_SIDES = ("", "LEFT", "RIGHT", "FULL")


@dataclass(frozen=True)
class Part:
    """One of the answers: the rows it is over, and what else is a condition of them."""

    source: exp.Expr
    query: Query
    base: Relation
    conditions: tuple[Expression, ...]


def part(source: exp.Expr, query: Query) -> Part:
    """An answer, taken apart."""
    base, found = query.relation, list[Expression]()
    while isinstance(base, Filter):
        found = [*conjuncts(base.condition), *found]
        base = base.source
    return Part(source, query, base, tuple(found))


def joined(context: Context, tree: exp.Select, parts: list[Part]) -> Query:
    """Several answers as one, and what the SELECT computes from it. Raises NotAnswerable."""
    first, joins = parts[0], tree.args.get("joins") or []
    if not all(_plain(p.query) and p.base == first.base and set(p.query.keys) == set(first.query.keys) for p in parts):
        raise context.refuse(joins[0], "Answers over other rows or other groups are not joined.", REWRITE)
    common = [c for c in first.conditions if all(c in p.conditions for p in parts)]
    of_keys = {c for key in first.query.keys for c in columns(key)}
    inner = all(str(j.args.get("side") or "") == "" for j in joins)
    own: list[list[Expression]] = []
    for p in parts:
        rest = [c for c in p.conditions if c not in common]
        listing = [c for c in rest if columns(c) and set(columns(c)) <= of_keys]
        if any(existing(c) for c in rest) or (listing and not inner):
            raise context.refuse(joins[0], "These answers have conditions that cannot stand in FILTER.", REWRITE)
        common += [c for c in listing if c not in common]  # an inner join shows groups of both
        own.append([c for c in rest if c not in listing])
    merged, sources = _merged(context, parts, own)
    merged = replace(merged, relation=Filter(first.base, together(common)) if common else first.base)
    scope = Scope(context.text, sources, _using(joins))
    _same_groups(context, tree, scope, merged)
    return deeper(context, tree, merged, Further(context, tree, scope, len(merged.outputs)).steps())


def _plain(query: Query) -> bool:
    """Whether it has its groups as they are: none were left out, in whatever way."""
    cut = query.having is not None or query.limit is not None or query.offset or query.distinct
    return not (cut or query.after or query.sets is not None or query.repeated is not None or query.marks)


def _merged(
    context: Context, parts: list[Part], own: list[list[Expression]]
) -> tuple[Query, dict[str, dict[str, Expression]]]:
    keys = parts[0].query.keys
    aggregates: dict[Aggregate, int] = {}
    outputs: list[Output] = []
    sources: dict[str, dict[str, Expression]] = {}
    for p, conditions in zip(parts, own, strict=True):
        held = [_held(a, conditions) for a in p.query.aggregates]
        at = [aggregates.setdefault(a, len(aggregates)) for a in held]
        places = [keys.index(k) for k in p.query.keys]

        def leaf(e: Expression, at: list[int] = at, places: list[int] = places) -> Expression | None:
            if isinstance(e, Grouped):
                return replace(e, index=places[e.index])
            return replace(e, index=at[e.index]) if isinstance(e, Released) else None

        ((name, shown),) = released_names(context, p.source, p.query).items()
        if name in sources:
            raise context.refuse(p.source, f"Two tables are called {name}.", "Give one of them another name: AS.")
        start = len(outputs)
        sources[name] = {n: replace(e, index=e.index + start) for n, e in shown.items() if isinstance(e, Shown)}
        outputs += [replace(o, expression=put(o.expression, leaf)) for o in p.query.outputs]
    return replace(parts[0].query, aggregates=tuple(aggregates), outputs=tuple(outputs), order=()), sources


def _held(a: Aggregate, conditions: list[Expression]) -> Aggregate:
    every = [*conditions, *([] if a.condition is None else conjuncts(a.condition))]
    if not every:
        return a
    return replace(a, condition=functions.call("and", tuple(every)) if len(every) > 1 else every[0])


def _using(joins: list[exp.Join]) -> frozenset[str]:
    return frozenset(i.name.lower() for j in joins for i in j.args.get("using") or ())


def _same_groups(context: Context, tree: exp.Select, scope: Scope, merged: Query) -> None:
    """Raise NotAnswerable unless every join compares all keys, and nothing else."""
    binder = Binder(scope, lambda _: None)
    names = list(scope.sources)
    for i, node in enumerate(tree.args.get("joins") or (), 1):
        side, method = str(node.args.get("side") or ""), node.args.get("method")
        extra = [n for n, v in node.args.items() if n not in ("this", "on", "using", "side", "kind") and v]
        pairs = []
        if node.args.get("on") is not None:
            on = node.args["on"]
            for p in on.flatten() if isinstance(on, exp.And) else (on,):
                bound = (binder.bind(p.this), binder.bind(p.expression)) if isinstance(p, exp.EQ) else ()
                pairs.append(tuple(_key(merged, e) for e in bound))
        for identifier in node.args.get("using") or ():
            homes = (scope.sources[names[i]], *(scope.sources[n] for n in names[:i]))
            found = [e for home in homes for n, e in home.items() if matches(identifier, n)]
            pairs.append(tuple(_key(merged, e) for e in found[:2]))
        same = all(len(p) == 2 and p[0] is not None and p[0] == p[1] for p in pairs)
        if method or extra or side not in _SIDES or not same or {p[0] for p in pairs} != set(range(len(merged.keys))):
            raise context.refuse(
                node, "Answers are joined by all keys of their groups, each equal to its own.", REWRITE
            )


def _key(merged: Query, e: Expression) -> int | None:
    found = merged.outputs[e.index].expression if isinstance(e, Shown) else None
    return found.index if isinstance(found, Grouped) else None


def items(tree: exp.Select) -> list[exp.Expr]:
    """What stands in FROM, table by table."""
    return [tree.args["from_"].this, *(j.this for j in tree.args.get("joins") or ())]
