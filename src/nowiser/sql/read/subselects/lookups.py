"""Sub-selects about the same person, wherever an expression stands.

    cost > (SELECT AVG(b.cost) FROM visits b WHERE b.person = v.person)       one number for each row
    smoker OR EXISTS (SELECT 1 FROM visits b WHERE b.person = p.id)           under OR, NOT, CASE
    COUNT(*) FILTER (WHERE id IN (SELECT person FROM visits))                 in FILTER and inside of aggregates

A number becomes a LEFT JOIN with a sub-select that has one row per person and value of the columns that are compared
(`per_person.py`), so every row finds at most one partner and nobody has more rows than before. Where a condition of
rows asks whether others exist, the question stays as it is in the tree: it only decides which rows there are. In SELECT
it is joined too, as a count. What may be asked is what could be written with LEFT JOIN, at the same price.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from nowiser.errors import NotAnswerable
from nowiser.model.schema import Kind
from nowiser.sql import functions
from nowiser.sql.bound.relations import names, rows
from nowiser.sql.interval import point
from nowiser.sql.read.clauses import no_aggregate
from nowiser.sql.read.expressions.bind import Binder
from nowiser.sql.read.names import Scope
from nowiser.sql.read.source import Context, filtered, joined_within, pulled, together, within
from nowiser.sql.read.subselects.per_person import per_person
from nowiser.sql.tree import (
    Call,
    Column,
    Exists,
    Expression,
    Literal,
    PerPerson,
    Relation,
    Type,
    columns,
)

_VALUE = "v"
_LISTED = ":listed"  # a name no analyst writes
_PLAIN = (exp.And, exp.Or, exp.Paren)


@dataclass(frozen=True)
class Looked:
    """What a sub-select looks among: its rows, the conditions that look at the row outside, the names inside."""

    relation: Relation
    across: list[Expression]
    scope: Scope


Look = Callable[[exp.Expr], Looked]


class Lookups:
    """A leaf for expressions over rows. `relation`: the rows, with what was joined to them so far."""

    def __init__(self, context: Context, scope: Scope, relation: Relation, look: Look, *, filters: bool) -> None:
        self.known: dict[exp.Expr, Expression] = {}  # the same text is the same sub-select
        self.context, self.scope, self.relation, self.look, self.filters = context, scope, relation, look, filters

    def leaf(self, node: exp.Expr) -> Expression | None:
        """A sub-select as an expression; refuses aggregates, as elsewhere over rows."""
        asks = isinstance(node, exp.Exists | exp.Subquery) or (isinstance(node, exp.In) and node.args.get("query"))
        if not asks:
            return no_aggregate(self.context, node)
        if node not in self.known and (found := self._read(node)) is not None:
            self.known[node] = found
        return self.known.get(node)

    def _read(self, node: exp.Expr) -> Expression | None:
        if isinstance(node, exp.Exists):
            return self._there(node, node.this)
        if isinstance(node, exp.In):
            return self._listed(node)
        try:
            return no_aggregate(self.context, node)  # a number of public tables
        except NotAnswerable as refusal:
            select = node.this
            if not isinstance(select, exp.Select) or len(select.expressions) != 1 or not select.args.get("where"):
                raise refusal from None
            return self._number(node, select, refusal)

    # -- a number ----------------------------------------------------------------------------------------

    def _number(self, node: exp.Expr, select: exp.Select, refusal: NotAnswerable) -> Expression:
        shown = select.expressions[0].unalias()
        if not shown.find(exp.AggFunc):
            raise self.context.refuse(
                node,
                "A sub-select in an expression gives one number: an aggregate over rows of the same person.",
                "Write x IN (SELECT y …), or aggregate: (SELECT MAX(y) …), or join the table.",
            )
        found = self.look(select)
        if not found.across:
            raise refusal
        made, value = self._joined(node, found, shown)
        return _of_nothing(value, {c for c, fold in made.folds if fold.function in ("count", "distinct")})

    def _joined(self, node: exp.Expr, found: Looked, shown: exp.Expr) -> tuple[PerPerson, Expression]:
        """One row per person and value of what is compared, joined to the rows."""
        pairs = [self._sides(node, c) for c in found.across]
        select = exp.Select(expressions=[exp.Alias(this=shown.copy(), alias=exp.to_identifier(_VALUE))])
        select.meta.update({k: node.meta[k] for k in ("from", "to") if k in node.meta})
        source = per_person(self.context, select, found.relation, found.scope, [inner for _, inner in pairs])
        made = source.relation
        assert isinstance(made, PerPerson)
        by = {e: new for new, e in made.keys}
        on: list[Expression] = [functions.call("=", (outer, by[inner]), outer.span) for outer, inner in pairs]
        base, above = pulled(self.relation)
        self.relation = filtered(joined_within(base, made, on, self.context.policy, outer=True), above)
        return made, source.columns[_VALUE]

    def _sides(self, node: exp.Expr, condition: Expression) -> tuple[Expression, Expression]:
        """What is compared: of the row outside, and of the rows inside."""
        around = names(self.relation)
        if isinstance(condition, Call) and condition.function == "=":
            for outer, inner in (condition.args, condition.args[::-1]):
                out, within_ = ({c.relation for c in columns(e)} for e in (outer, inner))
                if out and out <= around and within_ and not within_ & around:
                    return outer, inner
        raise self.context.refuse(
            node,
            "Rows of the same person are compared with = here.",
            "WHERE b.person = a.person AND b.x = a.x; other conditions on both rows stand in EXISTS, in WHERE.",
        )

    # -- whether there are rows --------------------------------------------------------------------------

    def _there(self, node: exp.Expr, select: exp.Expr) -> Expression:
        found = self.look(select)
        if not self.filters:
            made, n = self._joined(node, found, exp.Count(this=exp.Star()))
            counted = _of_nothing(n, {c for c, _ in made.folds})
            zero = Literal(0, Type(Kind.INTEGER, bounds=point(0)))
            return functions.call(">", (counted, zero), counted.span)
        whole = within(self.relation, found.relation, found.across, self.context.policy)
        exists = Exists(found.relation, together(whole), span=Binder(self.scope, self.leaf).place(node))
        rows(filtered(self.relation, [exists]), self.context.policy)
        return exists

    def _listed(self, node: exp.In) -> Expression:
        """`x IN (SELECT y …)` is `EXISTS (SELECT 1 FROM (SELECT y …) AS q WHERE q.y = x)`, but for missing values."""
        query = node.args["query"]
        inner = query.this if isinstance(query, exp.Subquery) else query
        row = node.this.unnest()
        several = row.expressions if isinstance(row, exp.Tuple) else [node.this]
        if not isinstance(inner, exp.Query) or len(inner.selects) != len(several):
            raise self.context.refuse(
                node, "IN takes a SELECT of as many columns as are compared.", "(a, b) IN (SELECT x, y FROM …)"
            )
        name = exp.to_identifier(_LISTED, quoted=True)
        names_ = [exp.to_identifier(f"{_LISTED}:{i}", quoted=True) for i in range(len(several))]
        source = exp.Subquery(this=inner.copy(), alias=exp.TableAlias(this=name, columns=names_))
        pairs = [
            exp.EQ(this=exp.Column(this=n.copy(), table=name.copy()), expression=e.copy())
            for n, e in zip(names_, several, strict=True)
        ]
        equal = exp.and_(*pairs, copy=False)
        select = exp.Select(
            expressions=[exp.Literal.number(1)],
            from_=exp.From(this=source),
            where=exp.Where(this=equal),
        )
        for part in (select, equal, *pairs):
            part.meta.update({k: node.meta[k] for k in ("from", "to") if k in node.meta})
        if not _positive(node):
            self._nothing_missing(node, select)
        return self._there(node, select)

    def _nothing_missing(self, node: exp.In, select: exp.Select) -> None:
        found = self.look(select.copy())
        if any(c.type.nullable for c in found.across):
            raise self.context.refuse(
                node,
                "Whether a missing value is in a list is unknown, and these values may be missing.",
                "Use EXISTS (SELECT 1 FROM … WHERE y = x), which is true or false.",
            )


def _of_nothing(e: Expression, counts: set[Column]) -> Expression:
    """The value where LEFT JOIN finds no rows: counts are zero there, everything else is missing."""
    if isinstance(e, Column):
        empty = replace(e, type=replace(e.type, nullable=True))
        if e not in counts:
            return empty
        zero = Literal(0, Type(Kind.INTEGER, bounds=point(0)))
        return functions.call("coalesce", (empty, zero), e.span)
    if isinstance(e, Call):
        return functions.call(e.function, tuple(_of_nothing(a, counts) for a in e.args), e.span)
    return e


def _positive(node: exp.Expr) -> bool:
    """Whether unknown and false come to the same: only AND, OR and brackets up to the condition."""
    here: exp.Expr = node
    while isinstance(here.parent, _PLAIN):
        here = here.parent
    parent = here.parent
    return isinstance(parent, exp.Where) or (isinstance(parent, exp.If) and parent.this is here)
