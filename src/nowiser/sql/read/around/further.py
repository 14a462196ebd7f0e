"""A SELECT around an answer: WHERE, GROUP BY, aggregates, windows, ORDER BY, LIMIT over rows that were released.

Which sub-selects are answers is not decided here: `select.py` reads a sub-select as rows of single persons first, and
as an answer only if its groups hold several. So what one person's rows come to never passes for an answer.
"""

from dataclasses import dataclass, field, replace

from sqlglot import exp

from nowiser.errors import NotAnswerable
from nowiser.model.schema import Kind
from nowiser.sql.read import hints
from nowiser.sql.read.around import windows
from nowiser.sql.read.around.grouping import MOST_KEYS
from nowiser.sql.read.around.whole_answer import WholeAnswer
from nowiser.sql.read.clauses import aggregates as has_aggregates, named, named_output, number, starred, whole
from nowiser.sql.read.expressions.bind import DEEPEST, Binder, truth
from nowiser.sql.read.names import Scope, known, matches
from nowiser.sql.read.source import Context
from nowiser.sql.read.text.parse import place
from nowiser.sql.read.written import written
from nowiser.sql.steps import Beside, Gather, Keep, Once, Project, Slice, Sort, Step, Total, Window, expressions, put
from nowiser.sql.tree import Call, Expression, Order, Output, Query, Shown, parts

CLAUSES = (
    "expressions", "from_", "joins", "where", "group", "having", "qualify", "windows", "order", "limit", "offset",
    "distinct", "with_",
)  # fmt: skip


def by_name(query: Query) -> dict[str, Expression]:
    """What names stand for outside of an answer nothing was computed from yet; of columns with one name the first."""
    found: dict[str, Expression] = {}
    for output in query.outputs:
        found.setdefault(output.name, output.expression)
    return found


def released_names(context: Context, source: exp.Expr, inner: Query) -> dict[str, dict[str, Expression]]:
    """The name of an answer in FROM, and what its columns are called and stand for."""
    alias = source.args.get("alias")
    given = alias.this if alias is not None else None
    name = given.name if given is not None else source.name if isinstance(source, exp.Table) else "unnamed"
    wanted = [i.name for i in (alias.args.get("columns") or ())] if alias is not None else []
    if len(wanted) > len(inner.results):
        raise context.refuse(source, f"{len(wanted)} names for {len(inner.results)} columns.")
    found: dict[str, Expression] = {}
    for i, output in enumerate(inner.results):
        called = wanted[i] if i < len(wanted) else output.name
        found.setdefault(called, Shown(i, replace(output.expression.type, error=0)))
    return {name: found}


def further(context: Context, tree: exp.Select, inner: Query, sources: dict[str, dict[str, Expression]]) -> Query:
    """The answer to `inner`, and what this SELECT computes from it. `sources`: the names of its columns."""
    steps = Further(context, tree, Scope(context.text, sources), len(inner.results)).steps()
    return deeper(context, tree, inner, steps)


def deeper(context: Context, tree: exp.Select, inner: Query, steps: list[Step]) -> Query:
    """The answer with these steps behind it, as far as it may be nested."""
    query = replace(inner, after=(*inner.after, *steps))
    deep = sum(
        max((p.depth for e in expressions(s) for p in parts(e) if isinstance(p, Call)), default=0) for s in steps
    )
    context.deep += deep
    if context.deep > DEEPEST:
        raise context.refuse(tree, "The question is nested too deeply.", f"At most {DEEPEST} functions in one another.")
    return query


@dataclass
class Further:
    """Reads one SELECT over a table of `width` released columns."""

    context: Context
    tree: exp.Select
    scope: Scope
    width: int
    totals: dict[Total, int] = field(default_factory=dict)
    windows: dict[Window, int] = field(default_factory=dict)
    numbers: dict[int, Expression] = field(default_factory=dict)  # of the whole answer, by their nodes

    def refuse(self, node: exp.Expr, message: str, hint: str | None = None) -> NotAnswerable:
        return self.context.refuse(node, message, hint)

    def steps(self) -> list[Step]:
        self._clauses()
        args = self.tree.args
        rows = Binder(self.scope, self._no_aggregate)
        found = self._whole_answer()
        if args.get("where"):
            found.append(Keep(self._condition(rows, args["where"].this)))
        grouped = bool(args.get("group")) or has_aggregates(self.tree)
        keys = self._keys(rows) if grouped else ()
        after = self._after(rows, keys) if grouped else Binder(self.scope, lambda n: self._window(n, plain))
        plain = after
        outputs = tuple(o for node in self.tree.expressions for o in self._shown(after, node))
        having = self._condition(after, args["having"].this) if args.get("having") else None
        if having is not None and (not grouped or self.windows_in(having)):
            raise self.refuse(args["having"], "HAVING goes with GROUP BY, before windows.", "Use WHERE outside.")
        qualified = self._condition(after, args["qualify"].this) if args.get("qualify") else None
        order = self._order(after, outputs)
        if grouped:
            found.append(Gather(keys, tuple(self.totals)))
        if having is not None:
            found.append(Keep(having))
        width = len(keys) + len(self.totals) if grouped else self.width
        return [*found, *finish(self.tree, self.context, tuple(self.windows), width, outputs, order, qualified)]

    def _whole_answer(self) -> list[Step]:
        """What comes first: numbers of the whole answer, behind its columns."""
        (columns,) = self.scope.sources.values() if len(self.scope.sources) == 1 else ({},)
        whole_ = WholeAnswer(self.context, self.tree, columns, self.width)
        self.numbers = whole_.numbers()
        self.width += len(whole_.windows)
        return [Beside(tuple(whole_.windows))] if whole_.windows else []

    def _number(self, node: exp.Subquery) -> Expression:
        found = self.numbers.get(id(node))
        return number(self.context, node) if found is None else found

    def windows_in(self, e: Expression) -> bool:
        return any(isinstance(p, Shown) and p.index < 0 for p in parts(e))

    def _clauses(self) -> None:
        for name, value in self.tree.args.items():
            if name not in CLAUSES and value not in (None, False, [], ()):
                node = value[0] if isinstance(value, list) else value
                at = node if isinstance(node, exp.Expr) else self.tree
                raise self.refuse(at, f"{hints.clause(name)} is not answered around an answer.", "Use WHERE, GROUP BY.")
        distinct = self.tree.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            raise self.refuse(self.tree, "DISTINCT ON is not answered.", "ROW_NUMBER() OVER (…), and WHERE outside.")

    def _no_aggregate(self, node: exp.Expr) -> Expression | None:
        if isinstance(node, exp.AggFunc):
            raise self.refuse(
                node, f"{written(node, self.context.text)} cannot stand here.", "Conditions on results go in HAVING."
            )
        return self._number(node) if isinstance(node, exp.Subquery) else None

    def _condition(self, binder: Binder, node: exp.Expr) -> Expression:
        found = truth(binder.bind(node))
        if found.type.kind is not Kind.BOOLEAN:
            kind = found.type.kind
            raise self.refuse(node, f"A condition is true or false, not {kind.value}.", hints.condition(kind))
        return found

    def _keys(self, rows: Binder) -> tuple[Expression, ...]:
        group = self.tree.args.get("group")
        if group is None:
            return ()
        rows.only(group, "expressions")
        found = dict.fromkeys(rows.bind(self._target(n)) for n in group.expressions)
        if len(found) > MOST_KEYS:
            raise self.refuse(group, f"There are {len(found)} keys.", f"At most {MOST_KEYS} are grouped by.")
        return tuple(found)

    def _target(self, node: exp.Expr) -> exp.Expr:
        """GROUP BY 1, or an alias of the SELECT list."""
        items = self.tree.expressions
        if isinstance(node, exp.Literal) and not node.is_string:
            return numbered(self.context, self.tree, node)
        if isinstance(node, exp.Column) and not node.args.get("table") and not known(self.scope, node):
            return next((o.this for o in items if isinstance(o, exp.Alias) and matches(node.this, o.alias)), node)
        return node

    def _after(self, rows: Binder, keys: tuple[Expression, ...]) -> Binder:
        def gathered(e: Expression) -> Expression | None:
            """A number of the whole answer is the same in all rows of a group."""
            if not isinstance(e, Shown):
                return None
            at = self.totals.setdefault(Total("max", e), len(self.totals))
            return replace(e, index=len(keys) + at)

        def leaf(node: exp.Expr) -> Expression | None:
            if isinstance(node, exp.Window):
                return self._window(node, binder)
            if isinstance(node, exp.AggFunc | exp.Filter):
                found = windows.total(rows, node, lambda n: self._condition(rows, n))
                if found is None:
                    return None
                at = self.totals.setdefault(found, len(self.totals))
                return Shown(
                    len(keys) + at, windows.typed(found.function, found.argument), place(node, rows.scope.text)
                )
            if isinstance(node, exp.Literal | exp.Null | exp.Boolean):
                return None
            key = rows.quietly(node)
            if key is not None and key in keys:
                return Shown(keys.index(key), key.type, key.span)
            if isinstance(node, exp.Subquery):
                return put(self._number(node), gathered)
            if isinstance(node, exp.Column):
                if (output := named_output(self.tree, self.scope, node)) is not None:
                    return binder.bind(output)
                rows.bind(node)
                raise self.refuse(node, f"{node.name} is neither aggregated nor grouped by.", "Add it to GROUP BY.")
            return None

        binder = Binder(self.scope, leaf)
        return binder

    def _window(self, node: exp.Expr, binder: Binder) -> Expression | None:
        if not isinstance(node, exp.Window):
            if isinstance(node, exp.Column) and (output := named_output(self.tree, self.scope, node)) is not None:
                return binder.bind(output)
            return self._no_aggregate(node)
        return window(self.tree, self.windows, node, binder, lambda n: self._condition(binder, n))

    def _shown(self, binder: Binder, node: exp.Expr) -> list[Output]:
        pairs: list[tuple[str, Expression]] | None = None
        if isinstance(node, exp.Star):
            pairs = self.scope.everything()
        elif isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
            pairs = starred(self.context, node, self.scope)
        if pairs is not None:
            if self.tree.args.get("group"):
                raise self.refuse(node, "Name the columns of a SELECT that groups.")
            return [Output(n, e) for n, e in pairs]
        return [Output(named(node), binder.bind(node.this if isinstance(node, exp.Alias) else node))]

    def _order(self, binder: Binder, outputs: tuple[Output, ...]) -> tuple[Order, ...]:
        clause = self.tree.args.get("order")
        found = []
        for node in clause.expressions if clause is not None else ():
            binder.only(node, "this", "desc", "nulls_first")
            down, first = bool(node.args.get("desc")), bool(node.args.get("nulls_first"))
            found.append(Order(self._ordered(binder, node.this, outputs), down, first))
        return tuple(found)

    def _ordered(self, binder: Binder, node: exp.Expr, outputs: tuple[Output, ...]) -> Expression:
        if isinstance(node, exp.Literal) and not node.is_string:
            at = self.tree.expressions.index(numbered(self.context, self.tree, node))
            return outputs[at].expression
        if isinstance(node, exp.Column) and not node.args.get("table"):
            same = [o.expression for o in outputs if matches(node.this, o.name)]
            if same:
                return same[0]
        return binder.bind(node)


def numbered(context: Context, tree: exp.Select, node: exp.Literal) -> exp.Expr:
    """What GROUP BY 1 and ORDER BY 1 stand for."""
    items = tree.expressions
    at = int(node.this) if str(node.this).isdecimal() and len(str(node.this)) < 6 else 0
    if not 1 <= at <= len(items) or any(i.find(exp.Star) for i in items[:at] if not i.find(exp.AggFunc)):
        raise context.refuse(node, f"There is no column number {node.this}.", f"1 to {len(items)}.")
    found = items[at - 1]
    assert isinstance(found, exp.Expr)
    return found.unalias() if isinstance(found, exp.Alias) and node.find_ancestor(exp.Group) else found


def window(
    tree: exp.Select, known_: dict[Window, int], node: exp.Window, binder: Binder, condition: object
) -> Expression:
    """A window of this SELECT: a column behind all others, whose number is known later; until then it is negative."""
    named_ = {w.this.name.lower(): w for w in tree.args.get("windows") or ()}
    found, type_ = windows.read(binder, node, named_, condition)  # type: ignore[arg-type]
    if len(known_) >= windows.MOST_WINDOWS:
        raise binder.refuse(node, "There are too many windows.", f"At most {windows.MOST_WINDOWS}.")
    at = known_.setdefault(found, len(known_))
    return Shown(-1 - at, type_, place(node, binder.scope.text))


def finish(  # noqa: PLR0917 (the clauses of a SELECT, in their order)
    tree: exp.Select,
    context: Context,
    beside: tuple[Window, ...],
    width: int,
    outputs: tuple[Output, ...],
    order: tuple[Order, ...],
    qualified: Expression | None = None,
) -> list[Step]:
    """Windows, QUALIFY, ORDER BY, SELECT, DISTINCT and LIMIT over a table of so many columns."""

    def leaf(e: Expression) -> Expression | None:
        return replace(e, index=width - 1 - e.index) if isinstance(e, Shown) and e.index < 0 else None

    for w in beside:
        inner = (*w.args, *w.partition, *(o.expression for o in w.order), *((w.condition,) if w.condition else ()))
        if any(isinstance(p, Shown) and p.index < 0 for e in inner for p in parts(e)):
            raise context.refuse(
                tree, "A window inside a window is not answered.", "Put the inner one in a sub-select."
            )
    found: list[Step] = [Beside(beside)] if beside else []
    if qualified is not None:
        found.append(Keep(put(qualified, leaf)))
    if order:
        found.append(Sort(tuple(replace(o, expression=put(o.expression, leaf)) for o in order)))
    found.append(Project(tuple(replace(o, expression=put(o.expression, leaf)) for o in outputs)))
    if tree.args.get("distinct"):
        found.append(Once())
    limit, offset = whole(context, tree, "limit"), whole(context, tree, "offset") or 0
    if limit is not None or offset:
        found.append(Slice(limit, offset))
    return found
