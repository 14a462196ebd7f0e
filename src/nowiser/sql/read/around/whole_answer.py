"""A number of the whole answer in a SELECT around it: `n * 100.0 / (SELECT SUM(n) FROM t)`, where t stands in FROM too.

It is what a window over all rows gives, `SUM(n) OVER ()`, before WHERE has chosen from them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from sqlglot import exp

from nowiser.sql import functions
from nowiser.sql.read.around import windows
from nowiser.sql.read.clauses import condition, no_aggregate
from nowiser.sql.read.expressions.bind import Binder
from nowiser.sql.read.names import Scope, matches
from nowiser.sql.read.source import Context
from nowiser.sql.read.text.parse import place
from nowiser.sql.steps import Window
from nowiser.sql.tree import Expression, Shown

_CLAUSES = ("expressions", "group", "where", "having", "qualify", "order")


def asks_inside(tree: exp.Select) -> bool:
    """Whether a SELECT in brackets stands in an expression of this one."""
    return next(_inside(tree), None) is not None


def _inside(tree: exp.Select) -> Iterator[exp.Subquery]:
    for name in _CLAUSES:
        clause = tree.args.get(name)
        for node in clause if isinstance(clause, list) else [clause]:
            found = node.walk(prune=lambda n: isinstance(n, exp.Query)) if isinstance(node, exp.Expr) else ()
            yield from (n for n in found if isinstance(n, exp.Subquery))


@dataclass
class WholeAnswer:
    """The sub-selects of one SELECT that look at all rows of the answer in its FROM, which has so many columns."""

    context: Context
    tree: exp.Select
    columns: Mapping[str, Expression]
    width: int
    windows: dict[Window, int] = field(default_factory=dict)

    def numbers(self) -> dict[int, Expression]:
        """What each of them stands for, by the identity of its node. The windows stand behind the answer's columns."""
        name = _named(self.tree)
        if name is None:
            return {}
        return {id(n): e for n in _inside(self.tree) if (e := self._number(n, name)) is not None}

    def _number(self, node: exp.Subquery, name: exp.Identifier) -> Expression | None:
        select = node.this
        if not isinstance(select, exp.Select) or len(select.expressions) != 1:
            return None
        plain = all(k in ("expressions", "from_", "where") or not v for k, v in select.args.items())
        same = _named(select)
        if not plain or same is None or not matches(same, name.name):
            return None
        source = select.args["from_"].this
        scope = Scope(self.context.text, {source.alias_or_name: self.columns})
        rows = Binder(scope, lambda n: no_aggregate(self.context, n))
        where = select.args.get("where")
        only = None if where is None else condition(self.context, rows, where.this)
        binder = Binder(scope, lambda n: self._leaf(rows, n, only))
        return binder.bind(select.expressions[0].unalias())

    def _leaf(self, rows: Binder, node: exp.Expr, only: Expression | None) -> Expression | None:
        if isinstance(node, exp.Column):
            rows.bind(node)
            hint = f"Aggregate it: MAX({node.name})."
            raise self.context.refuse(node, f"{node.name} has a value in each row.", hint)
        if not isinstance(node, exp.AggFunc | exp.Filter):
            return no_aggregate(self.context, node)
        found = windows.total(rows, node, lambda n: condition(self.context, rows, n))
        if found is None:
            return None
        parts = [c for c in (found.condition, only) if c is not None]
        kept = functions.call("and", tuple(parts), parts[0].span) if len(parts) > 1 else parts[0] if parts else None
        args = () if found.argument is None else (found.argument,)
        at = self.windows.setdefault(Window(found.function, args, (), (), condition=kept), len(self.windows))
        type_ = windows.typed(found.function, found.argument)
        return Shown(self.width + at, type_, place(node, self.context.text))


def _named(tree: exp.Select) -> exp.Identifier | None:
    """The one name of WITH that stands in FROM, under the names its columns have."""
    source = tree.args.get("from_")
    table = source.this if source is not None else None
    if tree.args.get("joins") or not isinstance(table, exp.Table) or table.args.get("db"):
        return None
    alias = table.args.get("alias")
    named = alias is not None and alias.args.get("columns")
    return table.this if isinstance(table.this, exp.Identifier) and not named else None
