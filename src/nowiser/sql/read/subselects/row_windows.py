"""Window functions over rows of one person: `ROW_NUMBER() OVER (PARTITION BY person ORDER BY t)` in a sub-select.

The first visit, the one before, how many there are: each row gets a number or a value that depends on rows of its own
person alone, so nobody has more rows than before and nobody moves another's (`relations.py`). PARTITION BY names the
person; the person itself is compared besides. Rows that ORDER BY leaves equal are put in order by a unique key, else
by everything that can be seen of them, so that it is the same row whatever engine looks, and whoever else is there.

`DISTINCT ON (person) … ORDER BY person, t` is `ROW_NUMBER() OVER (PARTITION BY person ORDER BY t) = 1`, and QUALIFY is
a condition on these numbers.
"""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from nowiser.model.schema import Kind, Role
from nowiser.sql import functions
from nowiser.sql.bound import bounds
from nowiser.sql.bound.relations import Rows, rows
from nowiser.sql.interval import Interval
from nowiser.sql.read.around.windows import MOST_WINDOWS, OTHERS, RANKS, fixed, ordered
from nowiser.sql.read.clauses import aggregates, condition, named, no_aggregate
from nowiser.sql.read.expressions.bind import Binder
from nowiser.sql.read.expressions.reasons import NTILES
from nowiser.sql.read.names import Scope, known, matches
from nowiser.sql.read.source import Context, filtered
from nowiser.sql.read.subselects.derived import carried, derived_column, person_column
from nowiser.sql.read.subselects.per_person import FOLDS, typed
from nowiser.sql.read.written import written
from nowiser.sql.tree import Call, Column, Expression, Literal, Order, Relation, RowWindow, Type, Windowed, columns

_PLACES = ("row_number", "rank", "dense_rank")
_VALUES = ("lag", "lead", "first_value")
_TIED = ("row_number", *_VALUES)  # where it matters which of equal rows comes first


def has_windows(node: exp.Select) -> bool:
    """Whether a SELECT of rows numbers them, or takes the first of each."""
    rows_ = not node.args.get("group") and not aggregates(node)
    return rows_ and (bool(next(_windows(node), None)) or bool(_first_of(node)))


def beside(context: Context, node: exp.Select, relation: Relation, scope: Scope) -> tuple[exp.Select, Relation, Scope]:
    """The SELECT with names in place of windows, over rows that have them beside."""
    node = node.copy()
    on = _first_of(node)
    if on:
        first = exp.Window(this=exp.RowNumber(), partition_by=on, order=node.args.get("order"))
        first.meta.update(node.meta)
        node.set("distinct", None)
    found = {w: w for w in _windows(node)} | ({first: first} if on else {})
    if len(found) > MOST_WINDOWS:
        raise context.refuse(node, f"There are {len(found)} windows.", f"At most {MOST_WINDOWS}.")
    made, names, inside = _Windows(context, node, relation, scope).made(list(found))
    _named(node)
    for w in list(_windows(node)):
        w.replace(_name(names[w], w))
    if on:
        kept = functions.call("=", (inside.beside[names[first]], Literal(1, Type(Kind.INTEGER, bounds=Interval(1, 1)))))
        return node, filtered(made, [kept]), inside
    if (qualify := node.args.get("qualify")) is not None:
        _spelled_out(node, qualify, inside)
        binder = Binder(inside, lambda n: no_aggregate(context, n))
        made = filtered(made, [condition(context, binder, qualify.this)])
        node.set("qualify", None)
    return node, made, inside


def _first_of(node: exp.Select) -> list[exp.Expr]:
    """What DISTINCT ON names."""
    distinct = node.args.get("distinct")
    on = distinct.args.get("on") if distinct is not None else None
    return [] if on is None else list(on.expressions) if isinstance(on, exp.Tuple) else [on.unnest()]


def _windows(node: exp.Select) -> Iterator[exp.Window]:
    for item in (*node.expressions, node.args.get("qualify")):
        if isinstance(item, exp.Expr):
            for part in item.walk(prune=lambda n: isinstance(n, exp.Window | exp.Query)):
                if isinstance(part, exp.Window):
                    yield part


def _named(node: exp.Select) -> None:
    """Columns keep the names they have as windows."""
    for item in node.expressions:
        if isinstance(item, exp.Window):
            item.replace(exp.Alias(this=item.copy(), alias=exp.to_identifier(named(item), quoted=True)))


def _name(name: str, at: exp.Expr) -> exp.Column:
    found = exp.Column(this=exp.to_identifier(name, quoted=True))
    found.meta.update({k: at.meta[k] for k in ("from", "to") if k in at.meta})
    return found


def _spelled_out(node: exp.Select, qualify: exp.Expr, scope: Scope) -> None:
    """QUALIFY may name columns of SELECT, where no column of FROM is called so."""
    for column in list(qualify.find_all(exp.Column)):
        if not column.args.get("table") and isinstance(column.this, exp.Identifier) and not known(scope, column):
            items = (i for i in node.expressions if isinstance(i, exp.Alias))
            meant = next((i.this for i in items if matches(column.this, i.alias)), None)
            if meant is not None:
                column.replace(meant.copy())


class _Windows:
    """Reads the windows of one SELECT."""

    def __init__(self, context: Context, node: exp.Select, relation: Relation, scope: Scope) -> None:
        self.context, self.node, self.relation, self.scope = context, node, relation, scope
        self.known: Rows = rows(relation, context.policy)
        self.binder = Binder(scope, lambda n: no_aggregate(context, n))
        self.seen = columns(*(e for _, e in scope.everything()))

    def made(self, windows: list[exp.Window]) -> tuple[Relation, dict[exp.Window, str], Scope]:
        if not self.known.secret or not self.known.person:
            raise self.context.refuse(
                windows[0],
                "Window functions over rows of data are answered within persons, and these rows are nobody's.",
                "Use GROUP BY.",
            )
        name = self.context.fresh(self.node)
        of_source = dict(enumerate(self.seen, 1))
        shown = [(carried(name, f"column_{i}", e), e) for i, e in of_source.items()]
        idents = {e.ident for e in self.seen}
        hidden = ((person_column(name, i, c), c) for i, c in enumerate(self.known.person) if c.ident not in idents)
        read = [self.window(w) for w in windows]
        over = [(self.column(name, i, w, type_), w) for i, (w, type_) in enumerate(read, 1)]
        found = Windowed(name, self.relation, self.known.person, (*shown, *hidden), tuple(over))
        rows(found, self.context.policy)
        new = {e.ident: c for c, e in shown}
        beside_ = {f":window:{i}": c for i, (c, _) in enumerate(over)}  # no analyst's column is called so
        sources = {n: {k: _moved(e, new) for k, e in home.items()} for n, home in self.scope.sources.items()}
        scope = replace(self.scope, sources=sources, beside=beside_)
        return found, dict(zip(windows, beside_, strict=True)), scope

    def window(self, node: exp.Window) -> tuple[RowWindow, Type]:
        b = self.binder
        b.only(node, "this", "partition_by", "order", "over")
        partition = [b.bind(p) for p in node.args.get("partition_by") or ()]
        self.within_persons(node, partition)
        partition += [c for c in self.known.person if c not in partition]
        order = ordered(b, node.args.get("order"))
        for e in (*partition, *(o.expression for o in order)):
            bounds.total(e)
        function, argument, offset = self.function(node.this, node)
        if argument is not None:
            bounds.total(argument)
        most, unit = self.known.most, Fraction(1)
        if function in _PLACES:
            type_ = Type(Kind.INTEGER, bounds=Interval(1, most))
        elif function in _VALUES:
            assert argument is not None
            type_ = replace(argument.type, nullable=function != "first_value" or argument.type.nullable)
        else:
            if order:
                raise self.context.refuse(
                    node,
                    "Running totals over rows of data are not answered.",
                    "Leave out ORDER BY for all rows of the person, or take ROW_NUMBER().",
                )
            argument = None if function == "count" and argument is not None and not argument.type.nullable else argument
            fold, type_ = typed(self.context, node, function, argument, most=most)
            unit = fold.unit
        if function in _TIED:
            order += self.ties(partition, order)
        return RowWindow(function, tuple(partition), order, argument, offset, unit), type_  # type: ignore[arg-type]  # of the lists above

    def function(self, inner: exp.Expr, node: exp.Window) -> tuple[str, Expression | None, int]:
        b = self.binder
        function = RANKS.get(type(inner)) or OTHERS.get(type(inner)) or FOLDS.get(type(inner)) or ""
        if function in _PLACES:
            b.only(inner)
            return function, None, 1
        if function in _VALUES:
            b.only(inner, "this", *(("offset",) if function != "first_value" else ()))
            away = inner.args.get("offset")
            by = fixed(b, inner, away, 0).value if away is not None else 1
            assert isinstance(by, int)
            return function, b.bind(inner.this), by
        if function in FOLDS.values():
            b.only(inner, "this", "big_int")
            star = isinstance(inner.this, exp.Star)
            if not isinstance(inner.this, exp.Distinct) and (not star or function == "count"):
                return function, None if star else b.bind(inner.this), 1
        raise b.refuse(
            node,
            f"{written(inner, self.scope.text)} is not answered as a window function over rows of data.",
            "ROW_NUMBER, RANK, DENSE_RANK, LAG, LEAD, FIRST_VALUE, COUNT, SUM, AVG, MIN, MAX are, within persons.",
        )

    def within_persons(self, node: exp.Window, partition: list[Expression]) -> None:
        grouped = {e.ident for e in partition if isinstance(e, Column)}
        if not any({i for _, i in key} <= grouped for key in self.known.leading):
            person = ", ".join(c.declared.name for c in self.known.person if not c.declared.name.startswith(":"))
            instead = f"PARTITION BY the column that names the person ({person})." if person else "Use GROUP BY."
            if isinstance(node.this, exp.Ntile):
                instead = NTILES
            message = "This window looks at rows of several persons, and is not answered."
            raise self.context.refuse(node, message, instead)

    def ties(self, partition: list[Expression], order: tuple[Order, ...]) -> tuple[Order, ...]:
        """What puts rows in order that ORDER BY leaves equal."""
        have = {e.ident for e in (*partition, *(o.expression for o in order)) if isinstance(e, Column)}
        there = {c.ident: c for c in self.seen}
        keys = sorted((sorted(k) for k in self.known.unique if k <= there.keys() | have), key=lambda k: (len(k), k))
        for key in keys:
            return tuple(Order(there[i]) for i in key if i not in have)
        secret = sorted(self.seen, key=lambda c: (c.declared.role is Role.SENSITIVE, c.ident))
        return tuple(Order(c) for c in secret if c.ident not in have)

    def column(self, relation: str, i: int, w: RowWindow, type_: Type) -> Column:
        shown = ", ".join(c.declared.name for c in columns(w.argument))[:30]  # as people read it
        called = f"{w.function}({shown}) {i}"
        made = derived_column(relation, called, type_, list(w.expressions), identifies=False)
        shows = w.function in (*_VALUES, "min", "max")
        if shows and any(c.declared.role is Role.IDENTIFIER for c in columns(w.argument)) and not _secret(made):
            return replace(made, declared=replace(made.declared, role=Role.IDENTIFIER))
        return made


def _secret(c: Column) -> bool:
    return c.declared.role is Role.SENSITIVE


def _moved(e: Expression, new: dict[tuple[str, str], Column]) -> Expression:
    """The same expression over columns of the new relation."""
    if isinstance(e, Column):
        return replace(new[e.ident], type=e.type, span=e.span)
    if isinstance(e, Call):
        return functions.call(e.function, tuple(_moved(a, new) for a in e.args), e.span)
    return e
