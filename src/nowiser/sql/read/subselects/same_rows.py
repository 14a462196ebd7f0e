"""Totals of the same rows in brackets: `COUNT(*) * 100.0 / (SELECT COUNT(*) FROM visits)`.

    SELECT COUNT(*) * 1.0 / (SELECT COUNT(*) FROM t) FROM t WHERE late              → COUNT(*) FILTER (…), COUNT(*)
    SELECT (SELECT COUNT(*) FROM t WHERE late) * 1.0 / (SELECT COUNT(*) FROM t)     → the same
    SELECT ward, COUNT(*) * 1.0 / (SELECT COUNT(*) FROM t) FROM t GROUP BY ward     → GROUPING SETS ((ward), ())

What is a condition of one of them becomes a condition of its aggregates, so that all are parts of one answer. Beside
groups the total is that of a set of its own, rows without a key included, and is not shown as a row.
"""

from collections.abc import Iterator, Mapping

from sqlglot import exp

_OUTSIDE = ("expressions", "having", "order")
_INSIDE = {"expressions", "from_", "joins", "where"}
_PLAIN = {*_INSIDE, "group", "having", "order", "limit", "offset", "with_"}


def one_answer(tree: exp.Select, named: Mapping[str, exp.Expr]) -> exp.Select | None:
    """The SELECT with aggregates in place of its sub-selects; None where that is not what they ask.

    `named`: what WITH has; `(SELECT n FROM total)` is the question that `total` is.
    """
    made = tree.copy()
    inner = list(_asked(made))
    for asked in inner:
        _written_out(asked, named)
    subs = [n.this for n in inner]
    if not inner or {k for k, v in made.args.items() if v} - _PLAIN or not all(map(_one_number, subs)):
        return None
    if any(n.find(exp.Window) for k in _OUTSIDE for n in _nodes(made, k)):
        return None
    totals = [a for k in _OUTSIDE for n in _nodes(made, k) for a in _aggregates(n)]
    own: list[exp.Expr] = []
    if made.args.get("from_"):
        if not totals and not made.args.get("group"):
            return None  # a row for each row
        own = _conditions(made)
        common = _shared([own, *map(_conditions, subs)])
        own = [c for c in own if c not in common]
    else:
        made.set("from_", subs[0].args["from_"].copy())
        made.set("joins", [j.copy() for j in subs[0].args.get("joins") or ()])
        common = _shared([_conditions(s) for s in subs])
    keys = _keys(made)
    if keys is None or not all(_same_rows(made, s) for s in subs):
        return None
    shown = [c for c in own if keys and _columns(c) <= set(keys)]  # it chooses groups
    own = [c for c in own if c not in shown]
    if any(_columns(c) & {x for k in keys for x in _columns(k)} for c in own):
        return None
    for node in totals:
        node.replace(_held(node, own))
    for node, sub in zip(inner, subs, strict=True):
        total = _held(sub.expressions[0].unalias(), [c for c in _conditions(sub) if c not in common])
        node.replace(_beside(total, keys, node) if keys else exp.paren(total, copy=False))
    made.set("where", exp.Where(this=exp.and_(*common, copy=True)) if common else None)
    if keys:
        having = made.args.get("having")
        kept = [*shown, *([having.this] if having is not None else []), exp.EQ(this=_mark(keys), expression=_ZERO)]
        sets = [exp.Tuple(expressions=[k.copy() for k in keys]), exp.Tuple(expressions=[])]
        made.set("group", exp.Group(grouping_sets=[exp.GroupingSets(expressions=sets)]))
        made.set("having", None)  # the total is that of all groups
        made.set("qualify", exp.Qualify(this=exp.and_(*(exp.paren(c) for c in kept), copy=True)))
    return made


_ZERO = exp.Literal.number(0)


def _mark(keys: list[exp.Expr]) -> exp.Expr:
    return exp.Grouping(expressions=[keys[0].copy()])


def _beside(total: exp.Expr, keys: list[exp.Expr], at: exp.Expr) -> exp.Expr:
    """The total of all groups in the row of each."""
    order = exp.Order(expressions=[exp.Ordered(this=_mark(keys), desc=True)])
    found = exp.Window(this=exp.FirstValue(this=total), order=order, over="OVER")
    for part in found.walk():
        part.meta.update({k: v for k, v in at.meta.items() if k in ("from", "to") and k not in part.meta})
    return found


def _keys(tree: exp.Select) -> list[exp.Expr] | None:
    """What is grouped by, written out; None where that is more than a list."""
    group = tree.args.get("group")
    if group is None:
        return []
    if {k for k, v in group.args.items() if v} != {"expressions"}:
        return None
    named = {i.alias.lower(): i.this for i in tree.expressions if isinstance(i, exp.Alias)}
    found: list[exp.Expr] = []
    for key in group.expressions:
        if isinstance(key, exp.Literal):
            at = int(key.name) if key.name.isdecimal() and len(key.name) < 4 else 0
            if not 1 <= at <= len(tree.expressions):
                return None
            found.append(tree.expressions[at - 1].unalias())
        else:
            plain = isinstance(key, exp.Column) and not key.table
            found.append(named.get(key.name.lower(), key) if plain else key)
    return found


def _columns(node: exp.Expr) -> set[exp.Expr]:
    return set(node.find_all(exp.Column))


def _nodes(tree: exp.Select, clause: str) -> list[exp.Expr]:
    found = tree.args.get(clause)
    return [n for n in (found if isinstance(found, list) else [found]) if isinstance(n, exp.Expr)]


def _asked(tree: exp.Select) -> Iterator[exp.Subquery]:
    for clause in _OUTSIDE:
        for node in _nodes(tree, clause):
            for part in node.walk(prune=lambda n: isinstance(n, exp.Query)):
                if isinstance(part, exp.Subquery):
                    yield part


def _written_out(node: exp.Subquery, named: Mapping[str, exp.Expr]) -> None:
    select = node.this
    if not isinstance(select, exp.Select) or {k for k, v in select.args.items() if v} != {"expressions", "from_"}:
        return
    table, shown = select.args["from_"].this, select.expressions
    cte = named.get(table.name) if isinstance(table, exp.Table) and not table.args.get("db") else None
    inner = cte.this if cte is not None else None
    if not isinstance(inner, exp.Select) or len(shown) != 1 or len(inner.expressions) != 1:
        return
    column = shown[0].unalias()
    if isinstance(column, exp.Column) and column.name == inner.expressions[0].alias:
        node.set("this", inner.copy())


def _one_number(select: exp.Expr) -> bool:
    """Whether a sub-select asks for one aggregate of its rows and nothing else."""
    if not isinstance(select, exp.Select) or {k for k, v in select.args.items() if v} - _INSIDE:
        return False
    one = len(select.expressions) == 1 and bool(select.args.get("from_"))
    return one and isinstance(select.expressions[0].unalias(), exp.AggFunc | exp.Filter)


def _aggregates(node: exp.Expr) -> list[exp.Expr]:
    """The outermost aggregates of an expression, with their FILTER."""
    kinds = (exp.AggFunc, exp.Filter, exp.WithinGroup)
    walked = node.walk(prune=lambda n: isinstance(n, (*kinds, exp.Query)))
    return [n for n in walked if isinstance(n, kinds)]


def _conditions(select: exp.Select) -> list[exp.Expr]:
    where = select.args.get("where")
    if where is None:
        return []
    inner = where.this.unnest()
    return [c.unnest() for c in (inner.flatten() if isinstance(inner, exp.And) else [inner])]


def _shared(every: list[list[exp.Expr]]) -> list[exp.Expr]:
    return [c for c in every[0] if all(c in others for others in every[1:])]


def _same_rows(tree: exp.Select, sub: exp.Select) -> bool:
    """Whether a sub-select is over the same FROM; of a single table, its names become those of the SELECT."""
    if (tree.args.get("joins") or []) != (sub.args.get("joins") or []):
        return False
    one, other = tree.args["from_"].this, sub.args["from_"].this
    if one == other:
        return True
    tables = isinstance(one, exp.Table) and isinstance(other, exp.Table) and not tree.args.get("joins")
    if not tables or (one.this, one.args.get("db")) != (other.this, other.args.get("db")):
        return False
    for column in sub.find_all(exp.Column):
        if column.table and column.table != other.alias_or_name:
            return False
        if column.table:
            column.set("table", exp.to_identifier(one.alias_or_name))
    return True


def _held(aggregate: exp.Expr, conditions: list[exp.Expr]) -> exp.Expr:
    """An aggregate of the rows that meet these conditions."""
    if not conditions:
        return aggregate.copy()
    inner = aggregate
    if isinstance(aggregate, exp.Filter):
        inner, conditions = aggregate.this, [*conditions, aggregate.expression.this]
    where = exp.Where(this=exp.and_(*(exp.paren(c) for c in conditions), copy=True))
    found = exp.Filter(this=inner.copy(), expression=where)
    found.meta.update({k: aggregate.meta[k] for k in ("from", "to") if k in aggregate.meta})
    return found
