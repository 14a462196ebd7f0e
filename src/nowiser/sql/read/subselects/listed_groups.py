"""A public table as the list of groups: `FROM wards w LEFT JOIN stays s ON s.ward = w.ward GROUP BY w.ward`.

Groups are reported whether or not anybody is in them, and the values of a public key are read where they stand. So the
rows of the list that find no partner would add nothing: aggregates of columns of persons ignore them, as they are NULL
there. What would count such rows (`COUNT(*)`, COALESCE) is refused.

Constants are a list too: `(VALUES ('A'), ('B')) AS g (ward)` becomes `ward IN ('A', 'B')`.
"""

from collections.abc import Iterator

from sqlglot import exp

from nowiser.errors import NotAnswerable
from nowiser.sql.functions import ALLOWED
from nowiser.sql.read.expressions.bind import Binder
from nowiser.sql.read.names import matches
from nowiser.sql.read.source import Context
from nowiser.sql.tree import Call, Column, Expression, columns

_COUNT = "Name a column of the persons: COUNT(s.id), or SUM, AVG of one. Groups without rows show 0, with noise."


def vanishes(e: Expression, missing: frozenset[str]) -> bool:
    """Whether an expression is NULL wherever the columns of these relations are."""
    if isinstance(e, Column):
        return e.relation in missing
    if isinstance(e, Call) and e.function == "or":
        return all(vanishes(a, missing) for a in e.args)
    if isinstance(e, Call) and e.function in ("in", "and"):
        return vanishes(e.args[0], missing) or (e.function == "and" and any(vanishes(a, missing) for a in e.args))
    return isinstance(e, Call) and ALLOWED[e.function].strict and any(vanishes(a, missing) for a in e.args)


def refuse_counted(context: Context, tree: exp.Select, rows: Binder, missing: frozenset[str]) -> None:
    """Raise NotAnswerable where a row of the list without partner would count."""
    if not missing:
        return
    for node in _aggregates(tree):
        filtered = node.parent if isinstance(node.parent, exp.Filter) else None
        only = rows.quietly(filtered.expression.this) if filtered is not None else None
        if only is not None and vanishes(only, missing):
            continue
        what = node.this
        if isinstance(node, exp.WithinGroup):
            what = node.expression.expressions[0].this
        elif isinstance(what, exp.Distinct):
            what = what.expressions[0]
        found = None if isinstance(what, exp.Star) else rows.quietly(what)
        asks = found is None and isinstance(what, exp.Expr) and what.find(exp.Query, exp.Exists) is not None
        if isinstance(what, exp.Star) or asks or (found is not None and not vanishes(found, missing)):
            raise context.refuse(node, "This would also count rows of the list that nobody belongs to.", _COUNT)
    where = tree.args.get("where")
    inner = [] if where is None else list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]
    for part in inner:
        found = rows.quietly(part)
        if found is not None and {c.relation for c in columns(found)} & missing and not vanishes(found, missing):
            raise context.refuse(
                part, "Which groups nobody is in is not told by WHERE.", "Ask for the counts of all groups."
            )


def _aggregates(tree: exp.Select) -> Iterator[exp.Expr]:
    for item in (*tree.expressions, tree.args.get("having"), tree.args.get("order"), tree.args.get("qualify")):
        if isinstance(item, exp.Expr):
            for node in item.walk(prune=lambda n: isinstance(n, exp.Query)):
                inside = isinstance(node, exp.AggFunc | exp.WithinGroup) and not isinstance(
                    node.parent, exp.WithinGroup
                )
                if inside and not isinstance(node.parent, exp.Window) and not (node.this and _nested(node)):
                    yield node


def _nested(node: exp.Expr) -> bool:
    """Whether it is over released numbers: SUM(COUNT(*)) OVER ()."""
    if not isinstance(node.this, exp.Expr) or node.key == "withingroup":
        return False
    inside = node.this.walk(prune=lambda n: isinstance(n, exp.Query))  # a sub-select's aggregates are its own
    return any(isinstance(n, exp.AggFunc) for n in inside)


# -- VALUES ----------------------------------------------------------------------------------------------


def without_values(context: Context, tree: exp.Select) -> frozenset[str]:
    """Put `x IN (…)` in the place of a list of constants; the names of tables whose rows the list only groups."""
    source, joins = tree.args.get("from_"), tree.args.get("joins") or []
    lists = [n for n in (source.this if source is not None else None, *(j.this for j in joins)) if _is_list(n)]
    if not lists:
        return frozenset()
    at = _values(lists[0])
    if len(lists) > 1 or len(joins) != 1 or source is None:
        raise _refusal(context, at)
    (join,) = joins
    other = join.this if _is_list(source.this) else source.this
    side = str(join.args.get("side") or "").upper()
    keeps = {"LEFT": _is_list(source.this), "RIGHT": not _is_list(source.this), "": False}.get(side)
    if keeps is None or (side and not keeps) or join.args.get("using") or _is_list(other):
        raise _refusal(context, at)
    column = _column(context, lists[0])
    on = join.args.get("on")
    parts = list(on.flatten()) if isinstance(on, exp.And) else [on]
    pairs = [p for p in parts if isinstance(p, exp.EQ) and sum(_named(x, *column) for x in (p.this, p.expression)) == 1]
    if not pairs:
        raise _refusal(context, at)
    partner = pairs[0].expression if _named(pairs[0].this, *column) else pairs[0].this
    values = [_constant(context, row) for row in at.expressions]
    member = exp.In(this=partner.copy(), expressions=values)
    member.meta.update(pairs[0].meta)
    where = tree.args.get("where")
    conditions = [member, *(p for p in parts if p is not pairs[0]), *([where.this] if where is not None else [])]
    tree.set("joins", None)
    tree.set("from_", exp.From(this=other))
    tree.set("where", exp.Where(this=_all(conditions)))
    for node in list(tree.find_all(exp.Column)):
        if _named(node, *column):
            node.replace(partner.copy())
    for item in tree.expressions:  # named as it was written
        if isinstance(item, exp.Column) and item.name != column[1] and _same(item, partner):
            item.replace(exp.alias_(item.copy(), column[1]))
    return frozenset({other.alias_or_name.lower()}) if keeps else frozenset()


def _all(conditions: list[exp.Expr]) -> exp.Expr:
    found = conditions[0]
    for one in conditions[1:]:
        found = exp.And(this=found, expression=exp.Paren(this=one) if isinstance(one, exp.Or) else one)
    return found


def _same(one: exp.Expr, other: exp.Expr) -> bool:
    return one == other


def _is_list(node: exp.Expr | None) -> bool:
    while isinstance(node, exp.Subquery):
        node = node.this
    return isinstance(node, exp.Values)


def _values(node: exp.Expr) -> exp.Expr:
    while isinstance(node, exp.Subquery):
        node = node.this
    return node


def _column(context: Context, node: exp.Expr) -> tuple[exp.Identifier, str]:
    alias = node.args.get("alias") or _values(node).args.get("alias")
    names = alias.args.get("columns") if alias is not None else None
    if alias is None or alias.this is None or not names or len(names) != 1:
        raise _refusal(context, _values(node))
    return alias.this, names[0].name


def _named(node: exp.Expr, table: exp.Identifier, name: str) -> bool:
    if not isinstance(node, exp.Column) or node.name.lower() != name.lower():
        return False
    home = node.args.get("table")
    return home is not None and matches(home, table.name)


def _constant(context: Context, row: exp.Expr) -> exp.Expr:
    inner = row.expressions if isinstance(row, exp.Tuple) else [row.unnest() if isinstance(row, exp.Paren) else row]
    plain = len(inner) == 1 and isinstance(inner[0], exp.Literal | exp.Boolean | exp.Neg | exp.Cast)
    if not plain:
        raise _refusal(context, row)
    found = inner[0]
    assert isinstance(found, exp.Expr)
    return found


def _refusal(context: Context, node: exp.Expr) -> NotAnswerable:
    return context.refuse(
        node,
        "VALUES is answered as a list of one column, joined to one table by that column.",
        "WHERE x IN ('a', 'b') … GROUP BY x lists the same groups.",
    )
