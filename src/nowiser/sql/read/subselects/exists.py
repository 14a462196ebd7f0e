"""Conditions that look at other rows: EXISTS, IN (SELECT …), and comparisons with the least or largest of them.

    EXISTS (SELECT … WHERE …), NOT EXISTS                     about rows of the same person, or public rows
    x IN (SELECT y …), x NOT IN (SELECT y …), x = ANY (…)      the same with x = y
    x = (SELECT MAX(y) …), <, <=, >, >=; MIN                   some row says so, and none says otherwise

A row stays or goes by what rows of its own person and public tables say, so nobody has more rows than before and nobody
moves another person's (`relations.py`). That is why they stand in WHERE, joined by AND, and nowhere else: everything
else about other rows would need their exact number or sum.
"""

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from nowiser.errors import NotAnswerable
from nowiser.sql import functions
from nowiser.sql.bound.relations import names, rows
from nowiser.sql.read.clauses import condition, no_aggregate
from nowiser.sql.read.expressions.bind import Binder
from nowiser.sql.read.names import Scope
from nowiser.sql.read.source import TRUE, Context, From, Source, SubSelect, together, within
from nowiser.sql.read.subselects.lookups import Looked, Lookups
from nowiser.sql.read.text.parse import place
from nowiser.sql.tree import Column, Exists, Expression, Filter, Relation, columns

Together = Callable[[Expression | None], Relation]

# x sign MAX(y): some row with x (first) y, and none with x (second) y. MIN is its mirror image.
_LARGEST: dict[type[exp.Expr], tuple[str, str | None]] = {
    exp.EQ: ("=", "<"),
    exp.GTE: (">=", "<"),
    exp.GT: (">", "<="),
    exp.LTE: ("<=", None),
    exp.LT: ("<", None),
}
_TURNED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.EQ, exp.GT: exp.LT, exp.LT: exp.GT, exp.GTE: exp.LTE, exp.LTE: exp.GTE,
}  # fmt: skip
_MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def looked_up(context: Context, where: exp.Expr | None, scope: Scope, together: Together, sub: SubSelect) -> Relation:
    """The rows of FROM for which WHERE holds. `together`: puts the tables together under the other conditions."""
    nodes = list(_conjuncts(where.this)) if where is not None else []
    binder = Binder(scope, lambda n: no_aggregate(context, n))
    plain = [n for n in nodes if not _looks(n) and not _asks(n, binder)]
    if len(plain) == len(nodes):
        return together(condition(context, binder, where.this) if where is not None else None)
    bound = [condition(context, binder, n) for n in plain]
    reader = _Looking(context, scope, together(_all(bound)), sub)
    for node in nodes:
        if _looks(node):
            reader.keep(node)
        elif node not in plain:
            reader.keep_where(node)
    return reader.relation


def lookups(context: Context, scope: Scope, relation: Relation, sub: SubSelect, *, filters: bool = False) -> Lookups:
    """What reads sub-selects inside expressions over the rows of a relation."""
    return Lookups(context, scope, relation, _Looking(context, scope, relation, sub).look, filters=filters)


def _asks(node: exp.Expr, binder: Binder) -> bool:
    """Whether a sub-select stands in a condition that is not a number of public tables."""
    return node.find(exp.Query, exp.Exists) is not None and binder.quietly(node) is None


def _all(parts: list[Expression]) -> Expression | None:
    return together(parts) if parts else None


def _conjuncts(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Paren):
        inner = _conjuncts(node.this)
        return inner if len(inner) > 1 or _looks(inner[0]) else [node]
    if isinstance(node, exp.And):
        return [c for side in node.flatten() for c in _conjuncts(side)]
    return [node]


def _looks(node: exp.Expr) -> bool:
    if isinstance(node, exp.Not):
        inner = node.this.unnest()
        return isinstance(inner, exp.Exists) or (isinstance(inner, exp.In) and bool(inner.args.get("query")))
    if isinstance(node, exp.In):
        return bool(node.args.get("query"))
    if type(node) in _LARGEST:
        sides = (node.this.unnest(), node.expression.unnest())
        return any(_extreme(s) is not None for s in sides) or _any_row(node.expression)
    return isinstance(node, exp.Exists)


def _any_row(node: exp.Expr) -> bool:
    """ANY over a SELECT; over a list of values it is a plain condition."""
    return isinstance(node, exp.Any) and isinstance(node.this.unnest(), exp.Query)


def _extreme(node: exp.Expr) -> exp.Min | exp.Max | None:
    """The MIN or MAX that a SELECT in brackets asks for and nothing else."""
    select = node.this if isinstance(node, exp.Subquery) else node
    if not isinstance(select, exp.Select) or len(select.expressions) != 1 or select.args.get("group"):
        return None
    found = select.expressions[0].unalias()
    return found if isinstance(found, exp.Min | exp.Max) else None


class _Looking:
    """Reads one WHERE; `relation` is what is left after each condition."""

    def __init__(self, context: Context, scope: Scope, relation: Relation, sub: SubSelect) -> None:
        self.context, self.scope, self.relation, self.sub = context, scope, relation, sub
        self.binder = Binder(scope, lambda n: no_aggregate(context, n))

    def keep(self, node: exp.Expr) -> None:
        """Drop the rows for which the condition does not hold."""
        negated = isinstance(node, exp.Not)
        inner = node.this.unnest() if negated else node
        if isinstance(inner, exp.Exists):
            relation, parts, _ = self._select(inner.this, None)
            self._filter(node, relation, parts, negated=negated)
        elif isinstance(inner, exp.In):
            self.binder.only(inner, "this", "query")
            self._member(node, inner.this, inner.args["query"], negated=negated)
        elif _any_row(inner.expression):
            if not isinstance(inner, exp.EQ):
                raise self.context.refuse(node, "ANY is answered with = only.", "Compare with (SELECT MAX(…) …).")
            self._member(node, inner.this, inner.expression.this, negated=False)
        else:
            self._compared(node)

    def keep_where(self, node: exp.Expr) -> None:
        """The same, where sub-selects stand anywhere in the condition."""
        reader = Lookups(self.context, self.scope, self.relation, self.look, filters=True)
        found = condition(self.context, Binder(self.scope, reader.leaf), node)
        kept = Filter(reader.relation, found)
        rows(kept, self.context.policy)
        self.relation = kept

    def _filter(self, node: exp.Expr, inner: Relation, parts: list[Expression], *, negated: bool) -> None:
        whole = within(self.relation, inner, parts, self.context.policy)
        found = Exists(inner, together(whole), negated, span=place(node, self.context.text))
        kept = Filter(self.relation, found)
        rows(kept, self.context.policy)
        self.relation = kept

    def _select(self, node: exp.Expr, shown: exp.Expr | None) -> tuple[Relation, list[Expression], Expression]:
        """The rows a SELECT looks among, the conditions that look at the row outside too, and what `shown` is."""
        found = self.look(node)
        if shown is None:
            return found.relation, found.across, TRUE
        scope = replace(found.scope, outer=self.scope)
        binder = Binder(scope, lambda n: no_aggregate(self.context, n))
        return found.relation, found.across, binder.bind(shown)

    def look(self, node: exp.Expr) -> Looked:
        """The rows a SELECT looks among, and the conditions that look at the row outside too."""
        while isinstance(node, exp.Subquery | exp.Paren):
            node = node.this
        if not isinstance(node, exp.Select) or not node.args.get("from_"):
            raise self.context.refuse(node, "EXISTS takes a SELECT with FROM.", "EXISTS (SELECT 1 FROM … WHERE …)")
        limit = node.args.get("limit")
        some = limit is None or (isinstance(limit, exp.Limit) and str(limit.expression.name).strip("0").isdecimal())
        for name in ("group", "having", "with_", "offset", "windows", "qualify", "limit"):
            if node.args.get(name) and not (name == "limit" and some):
                word = name.strip("_").upper()
                raise self.context.refuse(
                    node, f"{word} is not answered inside EXISTS.", "Use x IN (SELECT y … GROUP BY … HAVING …)."
                )
        inside, put = From(self.context, node, self.sub).read()
        scope = replace(inside, outer=self.scope)
        where = node.args.get("where")
        nodes = _conjuncts(where.this) if where is not None else []
        binder = Binder(scope, lambda n: no_aggregate(self.context, n))
        bound = [condition(self.context, binder, n) for n in nodes if not _looks(n)]
        around = names(self.relation)
        across = [c for c in bound if {x.relation for x in columns(c)} & around]
        deeper = _Looking(self.context, scope, put(_all([c for c in bound if c not in across])), self.sub)
        for n in nodes:
            if _looks(n):
                deeper.keep(n)
        return Looked(deeper.relation, across, inside)

    def _member(self, node: exp.Expr, x: exp.Expr, query: exp.Expr, *, negated: bool) -> None:
        inner = x.unnest()
        several = inner.expressions if isinstance(inner, exp.Tuple) else [x]
        source = self._listed(query, len(several))
        pairs = [
            self.binder.meet(self.binder.bind(one), y) for one, y in zip(several, source.columns.values(), strict=True)
        ]
        equal = [self.binder.call("=", node, a, b) for a, b in pairs]
        if negated and any(
            e.type.nullable and not self._names_person(e, of)
            for a, b in pairs
            for e, of in ((a, self.relation), (b, source.relation))
        ):
            if len(pairs) > 1:
                raise self.context.refuse(
                    node, "NOT IN is not true where a value is missing, and these values may be.", "Use NOT EXISTS."
                )
            self._nothing_missing(node, source.relation, *pairs[0])
        self._filter(node, source.relation, equal, negated=negated)

    def _names_person(self, e: Expression, of: Relation) -> bool:
        """Whether it says whose a row is, which is never missing: rows of nobody are left out."""
        return isinstance(e, Column) and e.ident in {c.ident for c in rows(of, self.context.policy).person}

    def _nothing_missing(self, node: exp.Expr, inner: Relation, x: Expression, y: Expression) -> None:
        """NOT IN is not true where a listed value is NULL, nor for NULL itself unless nothing is listed."""
        if rows(inner, self.context.policy).secret:
            raise self.context.refuse(
                node, "NOT IN is not true where a value is missing, and these values may be.", "Use NOT EXISTS."
            )
        if y.type.nullable:
            self._filter(node, inner, [self.binder.call("is_null", node, y)], negated=True)
        if x.type.nullable:
            there = self.binder.call("not", node, self.binder.call("is_null", node, x))
            nothing = Exists(inner, TRUE, negated=True, span=place(node, self.context.text))
            self.relation = Filter(self.relation, self.binder.call("or", node, there, nothing))

    def _listed(self, query: exp.Expr, wanted: int) -> Source:
        found = self.sub(self.context, query.this if isinstance(query, exp.Subquery) else query)
        if len(found.columns) != wanted:
            columns_ = "one column" if wanted == 1 else f"{wanted} columns"
            several = "(a, b) IN (SELECT x, y FROM …) compares several."
            raise self.context.refuse(query, f"IN takes {columns_} here, not {len(found.columns)}.", several)
        return found

    def _compared(self, node: exp.Expr) -> None:
        """X = (SELECT MAX(y) …): some row has y = x, and none has more."""
        turned = _extreme(node.this.unnest()) is not None
        inner, x = (node.this, node.expression) if turned else (node.expression, node.this)
        found = _extreme(inner.unnest())
        assert found is not None
        self.binder.only(found, "this")
        sign = _TURNED[type(node)] if turned else type(node)
        some, none = _LARGEST[sign] if isinstance(found, exp.Max) else _least(sign)
        for word, negated in ((some, False), (none, True)):
            if word is None:
                continue
            relation, across, y = self._select(inner, found.this)
            pair = self.binder.meet(self.binder.bind(x), y)
            compared = functions.call(word, pair, place(node, self.context.text))
            try:
                self._filter(node, relation, [*across, compared], negated=negated)
            except NotAnswerable as reason:
                kind = "MAX" if isinstance(found, exp.Max) else "MIN"
                raise NotAnswerable(
                    f"{kind} over rows of other persons is exact inside a condition. {reason.message}",
                    hint="Ask for it on its own first and write the number, or compare rows of the same person.",
                    span=reason.span,
                ) from None


def _least(sign: type[exp.Expr]) -> tuple[str, str | None]:
    some, none = _LARGEST[_TURNED[sign]]
    return _MIRRORED[some], None if none is None else _MIRRORED[none]
