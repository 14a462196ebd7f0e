"""Sub-selects that aggregate within persons: `SELECT student, SUM(x) AS s FROM t GROUP BY student`.

Each of their rows is about one person: the keys lead to one person, and the person itself is grouped by besides. How
far a sum can go follows from how many rows one person has and between which ends each of them lies. Sums of reals
are sums of whole units, so that they do not depend on the order of rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from nowiser.model.schema import Kind
from nowiser.sql.bound import bounds
from nowiser.sql.bound.relations import Rows, rows
from nowiser.sql.functions.base import ORDERED, ROUNDED
from nowiser.sql.interval import INT64, Interval, hull
from nowiser.sql.plan.cells import sum_cell
from nowiser.sql.read.clauses import condition, named_output, no_aggregate, outputs
from nowiser.sql.read.expressions.bind import Binder
from nowiser.sql.read.names import Scope, known, matches
from nowiser.sql.read.source import Context, Source
from nowiser.sql.read.subselects.derived import carried, derived_column, person_column
from nowiser.sql.read.written import written
from nowiser.sql.tree import Column, Expression, Filter, Fold, PerPerson, Relation, Type, columns

FOLDS: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}
MOST_UNITS = 2**52  # whole numbers up to here are doubles


def per_person(
    context: Context, node: exp.Select, relation: Relation, scope: Scope, keyed: Sequence[Expression] | None = None
) -> Source:
    """The relation of a sub-select with GROUP BY. Raises NotAnswerable where a group could hold several persons.

    `keyed`: what is grouped by, where the text does not say it.
    """
    return _PerPerson(context, node, relation, scope, rows(relation, context.policy), keyed).read()


@dataclass
class _PerPerson:
    context: Context
    node: exp.Select
    source: Relation
    scope: Scope
    known: Rows
    keyed: Sequence[Expression] | None = None
    keys: dict[Expression, Column] = field(default_factory=dict)
    folds: dict[Fold, Column] = field(default_factory=dict)
    name: str = ""

    def read(self) -> Source:
        inner = Binder(self.scope, lambda n: no_aggregate(self.context, n))
        self.name = self.context.fresh(self.node)
        for i, key in enumerate(self._keys(inner)):
            self.keys.setdefault(key, self._key(f"key_{i}", key))
        self._check()
        after = Binder(self.scope, lambda n: self._leaf(n, inner, after))
        found = dict(outputs(self.context, self.node, after))
        having = self.node.args.get("having")
        kept = condition(self.context, after, having.this) if having is not None else None
        made = PerPerson(
            self.name,
            self.source,
            tuple((person_column(self.name, i, c), c) for i, c in enumerate(self.known.person)),
            tuple((new, e) for e, new in self.keys.items()),
            tuple((new, fold) for fold, new in self.folds.items()),
        )
        return Source(made if kept is None else Filter(made, kept), found)

    def _keys(self, inner: Binder) -> list[Expression]:
        group = self.node.args.get("group")
        if self.keyed is not None:
            return list(self.keyed)
        if group is None:
            if self.node.args.get("distinct"):
                return [inner.bind(e.unalias()) for e in self.node.expressions]
            return []
        inner.only(group, "expressions")
        return [inner.bind(self._target(n)) for n in group.expressions]

    def _target(self, node: exp.Expr) -> exp.Expr:
        """GROUP BY 1, or an alias of the SELECT list."""
        items = self.node.expressions
        if isinstance(node, exp.Literal) and not node.is_string:
            at = int(node.this) if str(node.this).isdecimal() and len(str(node.this)) < 6 else 0
            if not 1 <= at <= len(items):
                raise self.context.refuse(node, "There is no column of that number.", f"1 to {len(items)}.")
            found = items[at - 1]
            return found.unalias() if isinstance(found, exp.Expr) else node
        if isinstance(node, exp.Column) and not node.args.get("table") and not known(self.scope, node):
            return next(
                (o.this for o in items if isinstance(o, exp.Alias) and matches(node.this, o.alias)),
                node,
            )
        return node

    def _check(self) -> None:
        grouped = {e.ident for e in self.keys if isinstance(e, Column)}
        leads = any({i for _, i in key} <= grouped for key in self.known.leading)
        if self.known.secret and leads and self.known.person:
            return
        self.context.several = True
        if not self.known.secret:
            raise self.context.refuse(
                self.node,
                "A sub-select that aggregates a public table is not answered.",
                "Ask it as a question of its own: what is public is free.",
            )
        person = ", ".join(c.declared.name for c in self.known.person if not c.declared.name.startswith(":"))
        raise self.context.refuse(
            self.node,
            "Groups of this sub-select hold several persons, and exact totals over persons may not be used further.",
            f"Group by the column that names the person ({person}) as well, or ask it as a question of its own."
            if person
            else "Ask it as a question of its own.",
        )

    def _leaf(self, node: exp.Expr, inner: Binder, after: Binder) -> Expression | None:
        if isinstance(node, exp.AggFunc | exp.Filter):
            return self._fold(node, inner)
        if isinstance(node, exp.Star):
            raise self.context.refuse(node, "Name the columns of a sub-select that groups.")
        if isinstance(node, exp.Literal | exp.Null | exp.Boolean):
            return None
        found = inner.quietly(node)
        if found in self.keys:
            return replace(self.keys[found], span=found.span)
        if isinstance(node, exp.Column):
            if (output := named_output(self.node, self.scope, node)) is not None:
                return after.bind(output)
            raise self.context.refuse(
                node, f"{node.name} is neither aggregated nor grouped by.", "Add it to GROUP BY, or aggregate it."
            )
        return None

    def _fold(self, node: exp.Expr, inner: Binder) -> Expression:
        only = None
        call = node
        if isinstance(node, exp.Filter):
            inner.only(node, "this", "expression")
            only, call = condition(self.context, inner, node.expression.this), node.this
        function = FOLDS.get(type(call))
        if function is None:
            raise self.context.refuse(
                node,
                f"{written(call, self.context.text)} is not answered in a sub-select.",
                "COUNT, SUM, AVG, MIN, MAX are.",
            )
        inner.only(call, "this", "big_int")
        what = call.this
        if isinstance(what, exp.Distinct):
            inner.only(what, "expressions")
            if function != "count" or len(what.expressions) != 1:
                raise self.context.refuse(node, "DISTINCT is answered in COUNT(DISTINCT x) only.")
            function, what = "distinct", what.expressions[0]
        if isinstance(what, exp.Star):
            if function != "count":
                raise self.context.refuse(
                    node, f"{written(call, self.context.text)}(*) has no meaning.", "Name a column."
                )
            argument = None
        else:
            argument = inner.bind(what)
            bounds.total(argument)
            if function == "count" and not argument.type.nullable:
                argument = None
        fold, type_ = typed(self.context, node, function, argument, only=only, most=self.known.most)
        if fold not in self.folds:
            parts = [e for e in (argument, only) if e is not None]
            shown = ", ".join(c.declared.name for c in columns(argument)) or "*"
            name = f"{function}({shown[:30]})"  # as people read it; PostgreSQL cuts names at 63 bytes
            name = f"{name} {len(self.folds)}" if any(c.declared.name == name for c in self.folds.values()) else name
            self.folds[fold] = derived_column(self.name, name, type_, parts, identifies=function in ("min", "max"))
        return self.folds[fold]

    def _key(self, name: str, e: Expression) -> Column:
        return carried(self.name, name, e) if isinstance(e, Column) else derived_column(self.name, name, e.type, [e])


def typed(
    context: Context,
    node: exp.Expr,
    function: str,
    argument: Expression | None,
    *,
    only: Expression | None = None,
    most: int,
) -> tuple[Fold, Type]:
    """An aggregate over at most so many rows of one person, and what it can be."""
    if function in ("count", "distinct"):
        least = 1 if argument is None and only is None else 0
        return Fold(function, argument, only), Type(Kind.INTEGER, bounds=Interval(least, most))  # type: ignore[arg-type]  # a key of FOLDS
    assert argument is not None
    missing = argument.type.nullable or only is not None
    if function in ("min", "max"):
        if argument.type.kind not in ORDERED:
            raise context.refuse(node, f"{function.upper()} takes numbers and dates here.")
        return Fold(function, argument, only), replace(argument.type, nullable=missing)  # type: ignore[arg-type]  # ditto
    cell = sum_cell(argument, only, centred=False)
    low, high = cell.low * cell.unit, cell.high * cell.unit
    if function == "avg":
        ends = hull([low, high, argument.type.interval.low, argument.type.interval.high])
        if most * cell.largest > MOST_UNITS:  # the sum is rounded to a double before it is divided
            ends = ends.widened(ROUNDED["nearest"])
        return Fold("avg", argument, only, cell.unit), Type(Kind.REAL, missing, ends.in_doubles())
    ends = hull([low, most * low, high, most * high])
    whole = argument.type.kind is Kind.INTEGER
    if most * cell.largest > (INT64.high if whole else MOST_UNITS):
        raise context.refuse(node, "This sum over the rows of one person could be too large to be exact.")
    return Fold("sum", argument, only, cell.unit), Type(argument.type.kind, missing, ends)
