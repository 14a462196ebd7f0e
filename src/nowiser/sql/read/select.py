"""A SELECT of sqlglot → our Query: which rows, which groups, what is released, and what is done with it after."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from nowiser.errors import NotAnswerable
from nowiser.model.policy import Policy
from nowiser.model.schema import Kind, Role
from nowiser.sql.aggregates import running, syntax
from nowiser.sql.bound import bounds
from nowiser.sql.bound.relations import rows as relation_rows
from nowiser.sql.evaluate import evaluate
from nowiser.sql.interval import Interval, point
from nowiser.sql.read import hints
from nowiser.sql.read.around.bi_wrappers import inside, without_idle, wrapped
from nowiser.sql.read.around.further import by_name, finish, further, released_names, window
from nowiser.sql.read.around.grouping import MOST_KEYS, MOST_SETS, grouping_sets
from nowiser.sql.read.around.whole_answer import asks_inside
from nowiser.sql.read.clauses import (
    aggregates as has_aggregates,
    named,
    named_output,
    no_aggregate,
    number,
    starred,
    whole,
)
from nowiser.sql.read.expressions.bind import Binder, truth
from nowiser.sql.read.expressions.constants import null
from nowiser.sql.read.names import Scope, column, known, matches
from nowiser.sql.read.source import Context, From
from nowiser.sql.read.subselects.crossed_totals import in_brackets
from nowiser.sql.read.subselects.exists import looked_up, lookups
from nowiser.sql.read.subselects.joined_totals import items, joined, part
from nowiser.sql.read.subselects.listed_groups import refuse_counted, without_values
from nowiser.sql.read.subselects.same_rows import one_answer
from nowiser.sql.read.subselects.subselect import read_source, with_names
from nowiser.sql.read.text.length import refuse_long
from nowiser.sql.read.text.parse import parse, place
from nowiser.sql.read.undeclared import refuse_undeclared
from nowiser.sql.steps import Window, expressions, put
from nowiser.sql.tree import (
    Aggregate,
    Call,
    Column,
    Expression,
    Filter,
    Grouped,
    Literal,
    Order,
    Output,
    Query,
    Relation,
    Released,
    Scan,
    Shown,
    Type,
    columns,
    parts,
)

_CLAUSES = (
    "kind", "expressions", "from_", "joins", "where", "group", "having", "order", "limit", "offset", "hint",
    "distinct", "with_", "windows", "qualify",
)  # fmt: skip

Free = Callable[[Query], Literal]


def read(text: str, policy: Policy, public: Free | None = None, parameters: Sequence[Any] | None = None) -> Query:
    """The question as a checked tree. Raises NotAnswerable; touches no data.

    `public`: answers questions about public tables, exact and free, that stand inside the question as numbers.
    `parameters`: values of $1, $2, … or of each ? in turn; None: there are none.
    """

    def number(context: Context, node: exp.Subquery) -> Expression:
        assert public is not None
        inner = read_select(context, node.this)
        refuse_long(inner)
        return replace(public(inner), span=place(node, text))

    try:
        tree = parse(text, parameters)
    except NotAnswerable as refusal:
        columns_of_all = (c.name for table in policy.tables for c in table.columns)
        if refusal.reason == "syntax" and (meant := hints.spaced(text, columns_of_all)) is not None:
            refusal.hint, refusal.span = meant
        raise
    query = read_select(Context(text, policy, number=None if public is None else number), tree)
    refuse_long(query)
    refuse_undeclared(query, policy)
    return query


def read_select(context: Context, tree: exp.Expr) -> Query:
    """A SELECT that is released: over rows of persons, or around another that is."""
    while isinstance(tree, exp.Subquery) and not any(v for k, v in tree.args.items() if k != "this"):
        tree = tree.this
    if not isinstance(tree, exp.Select):
        raise context.refuse(
            tree,
            f"{tree.key.upper()} of answers is not answered.",
            "Ask the questions one by one, or put UNION ALL inside FROM (…) and aggregate outside.",
        )
    with with_names(context, tree):
        inner = wrapped(tree, context.named)
        select = _Select(context, tree)
        count, context.several = context.count, False
        try:
            return select.query() if inner is None else select.around(_inside(context, *inner))
        except NotAnswerable as refusal:
            context.count, first = count, refusal
        if (moved := in_brackets(context, tree)) is not None:
            with suppress(NotAnswerable):
                return read_select(context, moved)
            context.count = count
        if inner is not None:
            raise first
        if (beside := one_answer(tree, context.named)) is not None:
            with suppress(NotAnswerable):
                return _Select(context, beside).query()
            context.count = count
        if not context.several:
            raise first
        return _of_totals(context, tree, first)


def _inside(context: Context, tree: exp.Expr, named: dict[str, exp.Expr]) -> Query:
    """An answer inside of a question, which sees these names of WITH."""
    everything, context.named = context.named, named
    try:
        return read_select(context, tree)
    finally:
        context.named = everything


def _of_totals(context: Context, tree: exp.Select, refusal: NotAnswerable) -> Query:
    """A SELECT whose sub-select groups several persons: computed from its released rows, or refused as before."""
    sources, count = items(tree), context.count
    answers: list[Query] = []
    for source in sources:
        found = inside(source, context.named)
        if found is None:
            raise (_beside_public(context, source) if len(sources) > 1 else None) or refusal
        context.count = count  # the same tables have the same names in each of them
        try:
            answers.append(_inside(context, *found))
        except NotAnswerable:
            raise refusal from None
    if any(not q.aggregates and relation_rows(q.relation, context.policy).secret for q in answers):
        raise refusal  # a list of groups: those that are declared, whether or not anybody is in them
    if len(answers) > 1:
        return joined(context, tree, [part(s, q) for s, q in zip(sources, answers, strict=True)])
    (inner,) = answers
    return further(context, tree, inner, released_names(context, tree.args["from_"].this, inner))


def _beside_public(context: Context, source: exp.Expr) -> NotAnswerable | None:
    """The refusal of an answer joined with a public table: what is looked up there belongs inside."""
    table = context.policy.table(source.name) if isinstance(source, exp.Table) else None
    if table is None or not table.is_public:
        return None
    hint = (
        "Join it inside, and group by its column: SELECT d.label, COUNT(*) FROM t JOIN d USING (key) GROUP BY d.label."
    )
    return context.refuse(source, "Answers are not joined with public tables.", hint)


@dataclass
class _Select:
    """One reading of one SELECT; collects the aggregates as they are met."""

    context: Context
    tree: exp.Select
    aggregates: dict[Aggregate, int] = field(default_factory=dict)
    marks: dict[tuple[int, ...], int] = field(default_factory=dict)
    windows: dict[Window, int] = field(default_factory=dict)

    @property
    def text(self) -> str:
        return self.context.text

    def refuse(self, node: exp.Expr, message: str, hint: str | None = None) -> NotAnswerable:
        return self.context.refuse(node, message, hint)

    def query(self) -> Query:
        self.clauses()
        self.tree = self.tree.copy() if self.tree.find(exp.Values) else self.tree
        listed = without_values(self.context, self.tree)
        tables = From(self.context, self.tree, read_source, lists=True)
        scope, together = tables.read()
        missing = tables.missing | {
            c.relation for n in listed for e in scope.sources.get(n, {}).values() for c in columns(e)
        }
        refuse_counted(self.context, self.tree, Binder(scope, self.no_aggregate), missing)
        where = self.tree.args.get("where")
        relation = looked_up(self.context, where, scope, together, read_source)
        inner = lookups(self.context, scope, relation, read_source)
        rows = Binder(scope, inner.leaf)
        if self.lists(relation):
            return self.listing(relation, rows)
        if self.asks_for_names(where, Binder(scope, self.no_aggregate)):
            return Query(relation, (), (), tuple(self.nothing(rows)), limit=0)
        self.refuse_preview(relation)
        keys, sets = self.keys(scope, rows)
        after = self.after(scope, keys, rows, several=sets is not None)
        outputs = tuple(self.output(after, node) for node in self.tree.expressions)
        having, qualify = self.tree.args.get("having"), self.tree.args.get("qualify")
        if having is not None and having.find(exp.Window):
            raise self.refuse(having, "HAVING comes before windows.", "Put the window in a sub-select, and use WHERE.")
        query = Query(
            inner.relation,
            keys,
            (),
            outputs,
            having=self.condition(after, having.this, total=False) if having is not None else None,
            order=self.order(after, outputs),
            limit=whole(self.context, self.tree, "limit"),
            offset=whole(self.context, self.tree, "offset") or 0,
            sets=sets,
            distinct=bool(self.tree.args.get("distinct")) and bool(self.aggregates or self.tree.args.get("group")),
        )
        if not self.aggregates and not keys:
            raise self.refuse(
                self.tree.expressions[0],
                "This asks for single rows, and rows are never shown.",
                "Ask for COUNT, SUM or AVG, or group by a column with declared values.",
            )
        chosen = self.condition(after, qualify.this, total=False) if qualify is not None else None
        query = replace(query, aggregates=tuple(self.aggregates), marks=tuple(self.marks))
        if qualify is not None and not self.windows:
            raise self.refuse(qualify, "QUALIFY compares window functions.", "Put conditions on results in HAVING.")
        if self.windows or chosen is not None:
            query = self.windowed(query, chosen)
        return without_idle(query, self.context.policy)

    def windowed(self, query: Query, chosen: Expression | None) -> Query:
        """The question with its keys and aggregates as they are, and windows computed from them."""
        over = (e for w in self.windows for e in expressions(w))
        every = (*(o.expression for o in query.outputs), *(o.expression for o in query.order), *over)
        every = every if chosen is None else (*every, chosen)
        leaves = tuple(dict.fromkeys(p for e in every for p in parts(e) if isinstance(p, Grouped | Released)))

        def shown(e: Expression) -> Expression | None:
            return Shown(leaves.index(e), e.type, e.span) if isinstance(e, Grouped | Released) else None

        outputs = tuple(replace(o, expression=put(o.expression, shown)) for o in query.outputs)
        order = tuple(replace(o, expression=put(o.expression, shown)) for o in query.order)
        beside = tuple(w.over(shown) for w in self.windows)
        qualified = None if chosen is None else put(chosen, shown)
        names = [query.aggregates[e.index].function if isinstance(e, Released) else "key" for e in leaves]
        return replace(
            query,
            outputs=tuple(Output(n, e) for n, e in zip(names, leaves, strict=True)),
            order=(),
            limit=None,
            offset=0,
            distinct=False,
            after=tuple(finish(self.tree, self.context, beside, len(leaves), outputs, order, qualified)),
        )

    def lists(self, relation: Relation) -> bool:
        """Whether rows are asked for as they are, of public tables alone."""
        args = self.tree.args
        plain = not any(args.get(n) for n in ("group", "having", "distinct")) and not has_aggregates(self.tree)
        return plain and not relation_rows(relation, self.context.policy).secret

    def listing(self, relation: Relation, rows: Binder) -> Query:
        """Rows of public tables: groups of equal rows, each shown as often as there are such rows."""
        shown = [o for node in self.tree.expressions for o in self.shown(rows, node)]
        order = self.order(rows, tuple(shown))
        keys = tuple(dict.fromkeys((*(o.expression for o in shown), *(o.expression for o in order))))
        if len(keys) > MOST_KEYS:
            raise self.refuse(self.tree, f"There are {len(keys)} columns.", f"At most {MOST_KEYS}: name them.")
        for key in keys:
            bounds.total(key)

        def grouped(e: Expression) -> Grouped:
            return Grouped(keys.index(e), replace(e.type, nullable=True), e.span)

        return Query(
            relation,
            keys,
            (Aggregate("count"),),
            tuple(replace(o, expression=grouped(o.expression)) for o in shown),
            order=tuple(replace(o, expression=grouped(o.expression)) for o in order),
            limit=whole(self.context, self.tree, "limit"),
            offset=whole(self.context, self.tree, "offset") or 0,
            repeated=0,
        )

    def asks_for_names(self, where: exp.Expr | None, rows: Binder) -> bool:
        """Whether no row can come out, as where BI tools only want to know which columns there are."""
        if self.tree.args.get("group") or has_aggregates(self.tree):
            return False
        if whole(self.context, self.tree, "limit") == 0:
            return True
        condition = rows.quietly(where.this) if where is not None else None
        constant = condition is not None and all(isinstance(p, Call | Literal) for p in parts(condition))
        return constant and condition is not None and evaluate(condition, lambda _: None) is not True

    def refuse_preview(self, relation: Relation) -> None:
        """Rows as they are, as tools fetch them to show a table: say what shows something of it."""
        args, chosen = self.tree.args, [e.unalias() for e in self.tree.expressions]
        whole_rows = len(chosen) > 1 or any(e.is_star for e in chosen)
        if any(args.get(n) for n in ("group", "having", "distinct", "qualify")) or not whole_rows:
            return
        if all(isinstance(e, exp.Star | exp.Column) for e in chosen) and isinstance(relation, Scan | Filter):
            scanned: Relation = relation
            while isinstance(scanned, Filter):
                scanned = scanned.source
            hint = "Use COUNT(*), SUM or AVG, or GROUP BY"
            if isinstance(scanned, Scan):
                from nowiser.policy.catalogue import catalogue  # few questions need it

                asked = next(t.example for t in catalogue(self.context.policy) if t.name == scanned.table.name)
                hint = f"{hint}: {asked}"
            raise self.refuse(chosen[0], "Single rows are never shown.", f"{hint}. LIMIT 0 shows the columns, free.")

    def nothing(self, rows: Binder) -> Iterator[Output]:
        for node in self.tree.expressions:
            for output in self.shown(rows, node):
                yield replace(output, expression=null(output.expression.type.kind))

    def around(self, inner: Query) -> Query:
        """The answer with this SELECT around it: computed from what is released, free."""
        source = self.tree.args["from_"].this
        narrowed = any(self.tree.args.get(n) for n in ("where", "order", "distinct", "offset"))
        chosen = inner.limit is not None or inner.offset or inner.distinct or inner.repeated is not None
        windowed = any(n.find(exp.Window) for n in self.tree.expressions) or self.tree.args.get("qualify")
        if inner.after or windowed or (narrowed and chosen) or asks_inside(self.tree):
            return further(self.context, self.tree, inner, released_names(self.context, source, inner))
        self.clauses()
        name = next(iter(released_names(self.context, source, inner)))
        scope = Scope(self.text, {name: by_name(inner)})
        binder = Binder(scope, self.no_aggregate)
        outputs = tuple(o for node in self.tree.expressions for o in self.shown(binder, node))
        where = self.tree.args.get("where")
        order = self.order(binder, outputs)
        limit, offset = whole(self.context, self.tree, "limit"), whole(self.context, self.tree, "offset") or 0
        having = inner.having
        if where is not None:
            found = self.condition(binder, where.this, total=False)
            having = found if having is None else binder.call("and", where.this, having, found)
        return replace(
            inner,
            outputs=outputs,
            having=having,
            order=order or inner.order,
            limit=inner.limit if limit is None else limit if inner.limit is None else min(limit, inner.limit),
            offset=offset or inner.offset,
            distinct=inner.distinct or bool(self.tree.args.get("distinct")),
        )

    def shown(self, binder: Binder, node: exp.Expr) -> list[Output]:
        if isinstance(node, exp.Star):
            binder.only(node)
            return [Output(n, e) for n, e in binder.scope.everything()]
        if isinstance(node, exp.Column) and isinstance(node.this, exp.Star):
            return [Output(n, e) for n, e in starred(self.context, node, binder.scope)]
        return [Output(named(node), binder.bind(node.this if isinstance(node, exp.Alias) else node))]

    def clauses(self) -> None:
        for name, value in self.tree.args.items():
            if name not in _CLAUSES and value not in (None, False, [], ()):
                node = value[0] if isinstance(value, list) else value
                at = node if isinstance(node, exp.Expr) else self.tree
                raise self.refuse(at, f"{hints.clause(name)} is not answered.", "Ask with WHERE and GROUP BY.")
        for name in ("kind", "hint"):
            if self.tree.args.get(name):
                raise self.refuse(self.tree, f"{hints.clause(name)} is not answered.", "Write SELECT and the columns.")
        distinct = self.tree.args.get("distinct")
        if distinct is not None and distinct.args.get("on"):
            instead = "Aggregate them: SELECT AVG(x) FROM (SELECT DISTINCT ON (person) … ORDER BY person, t) AS q."
            raise self.refuse(self.tree, "DISTINCT ON chooses single rows, and rows are never shown.", instead)
        if not self.tree.args.get("from_"):
            if asks_inside(self.tree):
                message = "These are several questions: each in brackets is over other rows."
                raise self.refuse(
                    self.tree, message, "Ask them one by one, and compute with the answers: that is free."
                )
            tables = ", ".join(t.name for t in self.context.policy.tables)
            raise self.refuse(self.tree, "The question names no table.", f"Write FROM and a table: {tables}.")
        if not self.tree.expressions:
            raise self.refuse(self.tree, "The question asks for nothing.", "Write SELECT COUNT(*) FROM …")

    # -- clauses -----------------------------------------------------------------------------------------

    def no_aggregate(self, node: exp.Expr) -> Expression | None:
        return no_aggregate(self.context, node)

    def condition(self, binder: Binder, node: exp.Expr, *, total: bool = True) -> Expression:
        found = truth(binder.bind(node))
        if found.type.kind is not Kind.BOOLEAN:
            raise self.refuse(
                node, f"A condition is true or false, not {found.type.kind.value}.", hints.condition(found.type.kind)
            )
        if total:
            bounds.total(found)
        return found

    def keys(self, scope: Scope, rows: Binder) -> tuple[tuple[Expression, ...], tuple[tuple[int, ...], ...] | None]:
        """What is grouped by, and for GROUPING SETS, ROLLUP and CUBE which of it in each set."""
        group = self.tree.args.get("group")
        if group is None:
            if not self.tree.args.get("distinct") or has_aggregates(self.tree):
                return (), None
            written: list[exp.Expr] = [e.unalias() for e in self.tree.expressions]  # DISTINCT: by all of them
            sets = None
        else:
            written, sets = grouping_sets(self.context, group)
        if len(written) > MOST_KEYS:
            raise self.refuse(self.tree, f"There are {len(written)} keys.", f"At most {MOST_KEYS} are grouped by.")
        found: dict[Expression, int] = {}
        at = [found.setdefault(key, len(found)) for key in (self.key(scope, rows, n) for n in written)]
        if sets is None:
            return tuple(found), None
        chosen = tuple(tuple(sorted({at[i] for i in one})) for one in sets)
        if len(chosen) > MOST_SETS:
            raise self.refuse(self.tree, f"There would be {len(chosen):,} grouping sets.", f"At most {MOST_SETS}.")
        return tuple(found), chosen

    def key(self, scope: Scope, rows: Binder, node: exp.Expr) -> Expression:
        target = node
        if isinstance(node, exp.Literal) and not node.is_string:
            target = self.numbered(node)
        elif isinstance(node, exp.Column) and not node.args.get("table") and not known(scope, node):
            target = next(
                (o.this for o in self.tree.expressions if isinstance(o, exp.Alias) and matches(node.this, o.alias)),
                node,
            )
        target = target.unalias() if isinstance(target, exp.Alias) else target
        key = rows.bind(target)
        bounds.total(key)
        if isinstance(key, Column) and key.declared.role is Role.IDENTIFIER and key.declared.domain is None:
            raise self.refuse(
                node,
                f"The values of {key.attribute} are not declared, so listing them would tell who is there.",
                f"Group by something that many persons share, or count them: COUNT(DISTINCT {key.declared.name}).",
            )
        return key

    def numbered(self, node: exp.Literal) -> exp.Expr:
        position = int(node.this) if str(node.this).isdecimal() and len(str(node.this)) < 6 else 0
        if not 1 <= position <= len(self.tree.expressions):
            raise self.refuse(node, f"There is no column number {node.this}.", f"1 to {len(self.tree.expressions)}.")
        found = self.tree.expressions[position - 1]
        assert isinstance(found, exp.Expr)
        return found

    def after(self, scope: Scope, keys: tuple[Expression, ...], rows: Binder, *, several: bool) -> Binder:
        """Expressions over what is released: keys and aggregates, no other column."""
        computed = {k for k in keys if not isinstance(k, Column)}

        def leaf(node: exp.Expr) -> Expression | None:
            if isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
                if (output := named_output(self.tree, scope, node)) is not None:
                    return binder.bind(output)
                found = column(scope, node)
                if found in keys:
                    return Grouped(keys.index(found), replace(found.type, nullable=True), found.span)
                name = found.attribute if isinstance(found, Column) and found.derived is None else node.name
                hint = "Single rows are never shown. Use COUNT, SUM or AVG, or GROUP BY."
                if node.find_ancestor(exp.Qualify):
                    hint = "Choose rows of each person inside: SELECT COUNT(*) FROM (SELECT * FROM … QUALIFY …) AS q."
                raise self.refuse(node, f"{name} is neither counted, summed nor grouped by.", hint)
            if isinstance(node, exp.Star | exp.Column):
                raise self.refuse(node, "Single rows are never shown.", "Use COUNT(*), SUM or AVG.")
            if isinstance(node, exp.Grouping):
                return self.grouping(node, keys, rows, several=several)
            if computed and not isinstance(node, exp.AggFunc | exp.Filter | exp.Literal):
                whole = rows.quietly(node)
                if whole is not None and whole in computed:
                    return Grouped(keys.index(whole), replace(whole.type, nullable=True), place(node, self.text))
            if isinstance(node, exp.Subquery):
                return number(self.context, node)
            if isinstance(node, exp.Window) and not self.runs(node, keys, binder, several=several):
                return window(self.tree, self.windows, node, binder, lambda n: self.condition(binder, n, total=False))
            aggregate = self.aggregate(node, rows, binder)
            if aggregate is None:
                return None
            index = self.aggregates.setdefault(aggregate, len(self.aggregates))
            return Released(index, syntax.released(aggregate), aggregate.span)

        binder = Binder(scope, leaf)
        return binder

    def grouping(self, node: exp.Grouping, keys: tuple[Expression, ...], rows: Binder, *, several: bool) -> Expression:
        """GROUPING(a, b): a bit for each of these keys, set where the row is of a set without it."""
        rows.only(node, "expressions")
        found = [rows.bind(n) for n in node.expressions]
        if not found or len(found) > MOST_KEYS or any(e not in keys for e in found):
            raise self.refuse(node, "GROUPING takes keys of GROUP BY.", "Name columns as in GROUP BY ROLLUP (…).")
        type_ = Type(Kind.INTEGER, bounds=Interval(0, 2 ** len(found) - 1))
        if not several:
            return Literal(0, replace(type_, bounds=point(0)), place(node, self.text))
        at = self.marks.setdefault(tuple(keys.index(e) for e in found), len(self.marks))
        return Grouped(len(keys) + at, type_, place(node, self.text))

    def runs(self, node: exp.Window, keys: tuple[Expression, ...], after: Binder, *, several: bool) -> bool:
        """Whether it is a running count along the only key, which is measured as such, or looks at rows of data."""
        if not self.tree.args.get("group") and not has_aggregates(self.tree):
            return True
        order = node.args.get("order")
        counts = isinstance(node.this, exp.Sum) and isinstance(node.this.this, exp.Count)
        if not counts or order is None or len(order.expressions) != 1 or len(keys) != 1 or several:
            return False
        plain = not node.args.get("partition_by") and isinstance(node.this.this.this, exp.Star)
        by = after.quietly(order.expressions[0].this)
        return plain and isinstance(by, Grouped) and running.from_the_first(node)

    def aggregate(self, node: exp.Expr, rows: Binder, after: Binder) -> Aggregate | None:
        inner = node.this if isinstance(node, exp.Filter) else node
        return running.read(inner, after, rows) or syntax.read(node, rows, self.condition)

    def output(self, binder: Binder, node: exp.Expr) -> Output:
        inner = node.this if isinstance(node, exp.Alias) else node
        bound = binder.bind(inner)
        if isinstance(node, exp.Column) and isinstance(bound, Grouped):  # spelled as the policy does
            found = column(binder.scope, node)
            if isinstance(found, Column) and matches(node.this, found.declared.name):
                return Output(found.declared.name, bound)
        return Output(named(node), bound)

    def order(self, binder: Binder, outputs: tuple[Output, ...]) -> tuple[Order, ...]:
        clause = self.tree.args.get("order")
        if clause is None:
            return ()
        found = []
        for node in clause.expressions:
            binder.only(node, "this", "desc", "nulls_first")
            found.append(
                Order(
                    self.ordered(binder, node.this, outputs),
                    descending=bool(node.args.get("desc")),
                    nulls_first=bool(node.args.get("nulls_first")),
                )
            )
        return tuple(found)

    def ordered(self, binder: Binder, node: exp.Expr, outputs: tuple[Output, ...]) -> Expression:
        if isinstance(node, exp.Literal) and not node.is_string:
            position = self.tree.expressions.index(self.numbered(node))
            return outputs[position].expression
        if isinstance(node, exp.Column) and not node.args.get("table"):
            named = [o for o in outputs if matches(node.this, o.name)]
            if named:
                return named[0].expression
        return binder.bind(node)
