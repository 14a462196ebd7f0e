"""A SELECT of sqlglot → our Query: which rows, which groups, what is released, and what is done with it after."""

from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from sqlglot import exp

from nowiser.errors import NotAnswerable
from nowiser.model import schema
from nowiser.model.policy import Policy
from nowiser.model.schema import Kind
from nowiser.sql import bounds
from nowiser.sql.bind import Binder
from nowiser.sql.interval import EVERYTHING
from nowiser.sql.names import Scope, column, matches
from nowiser.sql.parse import parse, place
from nowiser.sql.tree import (
    Aggregate,
    Column,
    Expression,
    Filter,
    Grouped,
    Order,
    Output,
    Query,
    Relation,
    Released,
    Scan,
    Type,
)

_CLAUSES = ("kind", "expressions", "from_", "where", "group", "having", "order", "limit", "offset", "hint", "distinct")
_AGGREGATES: dict[type[exp.Expr], str] = {exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg"}
_SCHEMAS = ("public", "main")


def read(text: str, policy: Policy) -> Query:
    """The question as a checked tree. Raises NotAnswerable; touches no data."""
    tree = parse(text)
    assert isinstance(tree, exp.Select), "parse returns nothing else"
    return _Select(text, policy, tree).query()


@dataclass
class _Select:
    """One reading of one SELECT; collects the aggregates as they are met."""

    text: str
    policy: Policy
    tree: exp.Select
    aggregates: dict[Aggregate, int] = field(default_factory=dict)
    key_names: list[str] = field(default_factory=list)

    def refuse(self, node: exp.Expr, message: str, hint: str | None = None) -> NotAnswerable:
        return NotAnswerable(message, hint=hint, span=place(node, self.text))

    def query(self) -> Query:
        self.clauses()
        relation, scope = self.source()
        rows = Binder(scope, self.no_aggregate)
        where = self.tree.args.get("where")
        if where is not None:
            condition = self.condition(rows, where.this)
            relation = Filter(relation, condition)
        keys = self.keys(scope)
        self.key_names = [k.declared.name for k in keys]
        after = self.after(scope, keys, rows)
        outputs = tuple(self.output(after, node) for node in self.tree.expressions)
        having = self.tree.args.get("having")
        query = Query(
            relation,
            keys,
            (),
            outputs,
            having=self.condition(after, having.this, total=False) if having is not None else None,
            order=self.order(after, outputs),
            limit=self.whole("limit"),
            offset=self.whole("offset") or 0,
        )
        if not self.aggregates and not keys:
            raise self.refuse(
                self.tree.expressions[0],
                "This asks for single rows, and rows are never shown.",
                "Ask for COUNT, SUM or AVG, or group by a column with declared values.",
            )
        return replace(query, aggregates=tuple(self.aggregates))

    def clauses(self) -> None:
        for name, value in self.tree.args.items():
            if name not in _CLAUSES and value not in (None, False, [], ()):
                node = value[0] if isinstance(value, list) else value
                at = node if isinstance(node, exp.Expr) else self.tree
                word = {"with_": "WITH", "joins": "JOIN", "windows": "WINDOW"}.get(name, name.upper())
                raise self.refuse(at, f"{word} is not answered.", "Ask about one table with WHERE and GROUP BY.")
        for name in ("kind", "hint", "distinct"):
            if self.tree.args.get(name):
                raise self.refuse(self.tree, f"SELECT {name.upper()} is not answered.", "Use GROUP BY.")
        if not self.tree.args.get("from_"):
            raise self.refuse(self.tree, "The question names no table.", "Write FROM and a table of the policy.")
        if not self.tree.expressions:
            raise self.refuse(self.tree, "The question asks for nothing.", "Write SELECT COUNT(*) FROM …")

    def source(self) -> tuple[Relation, Scope]:
        table = self.tree.args["from_"].this
        if not isinstance(table, exp.Table) or not isinstance(table.this, exp.Identifier):
            raise self.refuse(table, "FROM takes the name of a table.", f"There are {self.names()}.")
        for name, value in table.args.items():
            if name not in ("this", "alias", "db") and value not in (None, False, [], ()):
                raise self.refuse(table, f"A table with {name} is not answered.", "Name the table alone.")
        home = table.args.get("db")
        if home is not None and home.name.lower() not in _SCHEMAS:
            raise self.refuse(table, f"There is no schema {home.name}.", "Write the name of the table alone.")
        found = [t for t in self.policy.tables if matches(table.this, t.name)]
        if len(found) != 1:
            near = get_close_matches(table.name, [t.name for t in self.policy.tables], 1)
            hint = f"Did you mean {near[0]}?" if near else f"There are {self.names()}."
            raise self.refuse(table, f"There is no table {table.name}.", hint)
        alias = table.args.get("alias")
        if alias is not None and alias.args.get("columns"):
            raise self.refuse(table, "Columns cannot be renamed here.", "Rename them in SELECT.")
        known = alias.name if alias is not None else found[0].name
        return Scan("t0", found[0]), Scope(self.text, {known: ("t0", found[0])})

    def names(self) -> str:
        return ", ".join(t.name for t in self.policy.tables)

    # -- clauses -----------------------------------------------------------------------------------------

    def no_aggregate(self, node: exp.Expr) -> None:
        if isinstance(node, exp.AggFunc):
            raise self.refuse(node, f"{node.key.upper()} cannot stand here.", "Conditions on results go in HAVING.")

    def condition(self, binder: Binder, node: exp.Expr, *, total: bool = True) -> Expression:
        found = binder.bind(node)
        if found.type.kind is not Kind.BOOLEAN:
            raise self.refuse(node, f"A condition is true or false, not {found.type.kind.value}.")
        if total:
            bounds.total(found)
        return found

    def keys(self, scope: Scope) -> tuple[Column, ...]:
        group = self.tree.args.get("group")
        if group is None:
            return ()
        for name, value in group.args.items():
            if name != "expressions" and value not in (None, False, [], ()):
                raise self.refuse(group, f"GROUP BY {name.upper()} is not answered.", "Name the columns one by one.")
        found = tuple(self.key(scope, node) for node in group.expressions)
        return tuple(dict.fromkeys(found))

    def key(self, scope: Scope, node: exp.Expr) -> Column:
        target = node
        if isinstance(node, exp.Literal) and not node.is_string:
            target = self.numbered(node)
        elif isinstance(node, exp.Column) and not node.args.get("table") and not _known(scope, node):
            target = next(
                (o.this for o in self.tree.expressions if isinstance(o, exp.Alias) and matches(node.this, o.alias)),
                node,
            )
        target = target.unalias() if isinstance(target, exp.Alias) else target
        if not isinstance(target, exp.Column):
            raise self.refuse(node, "GROUP BY takes columns with declared values.", "Group by the column itself.")
        key = column(scope, target)
        if domain(key.declared) is None:
            raise self.refuse(
                node,
                f"The values of {key.attribute} are not declared, so listing them would tell who is there.",
                f"The custodian can declare them, as in {{{key.declared.role.value}: [a, b, c]}}.",
            )
        return key

    def numbered(self, node: exp.Literal) -> exp.Expr:
        position = int(node.this) if str(node.this).isdigit() else 0
        if not 1 <= position <= len(self.tree.expressions):
            raise self.refuse(node, f"There is no column number {node.this}.", f"1 to {len(self.tree.expressions)}.")
        found = self.tree.expressions[position - 1]
        assert isinstance(found, exp.Expr)
        return found

    def after(self, scope: Scope, keys: tuple[Column, ...], rows: Binder) -> Binder:
        """Expressions over what is released: keys and aggregates, no other column."""

        def leaf(node: exp.Expr) -> Expression | None:
            if isinstance(node, exp.Column):
                found = column(scope, node)
                if found in keys:
                    return Grouped(keys.index(found), found.type, found.span)
                raise self.refuse(
                    node,
                    f"{found.attribute} is neither counted, summed nor grouped by.",
                    "Single rows are never shown. Use COUNT, SUM or AVG, or GROUP BY.",
                )
            if isinstance(node, exp.Star):
                raise self.refuse(node, "Single rows are never shown.", "Use COUNT(*), SUM or AVG.")
            aggregate = self.aggregate(node, rows)
            if aggregate is None:
                return None
            index = self.aggregates.setdefault(aggregate, len(self.aggregates))
            return Released(index, released_type(aggregate), aggregate.span)

        return Binder(scope, leaf)

    def aggregate(self, node: exp.Expr, rows: Binder) -> Aggregate | None:
        condition = None
        inner = node
        if isinstance(node, exp.Filter):
            rows.only(node, "this", "expression")
            condition = self.condition(rows, node.expression.this)
            inner = node.this
        if type(inner) not in _AGGREGATES:
            return None
        span = place(node, self.text)
        rows.only(inner, "this", "big_int")
        what = inner.this
        if isinstance(what, exp.Star):
            rows.only(what)
            if not isinstance(inner, exp.Count):
                raise self.refuse(inner, f"{inner.key.upper()}(*) has no meaning.", "Name a column.")
            return Aggregate("count", None, condition, span)
        if isinstance(what, exp.Distinct):
            raise self.refuse(inner, "DISTINCT is not answered.", "Count rows with COUNT(*).")
        argument = rows.bind(what)
        bounds.total(argument)
        if isinstance(inner, exp.Count):
            if not argument.type.nullable:  # it counts every row
                return Aggregate("count", None, condition, span)
            return Aggregate("count", argument, condition, span)
        bounds.summand(argument)
        return Aggregate("sum" if isinstance(inner, exp.Sum) else "avg", argument, condition, span)

    def output(self, binder: Binder, node: exp.Expr) -> Output:
        inner = node.this if isinstance(node, exp.Alias) else node
        bound = binder.bind(inner)
        if isinstance(node, exp.Alias):
            alias = node.args["alias"]
            # PostgreSQL folds names that are not quoted, so that N and n are the same column of the same question.
            return Output(node.alias if alias.args.get("quoted") else node.alias.lower(), bound)
        return Output(self.key_names[bound.index] if isinstance(bound, Grouped) else _name(inner), bound)

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

    def whole(self, clause: str) -> int | None:
        node = self.tree.args.get(clause)
        if node is None:
            return None
        value = node.args.get("expression")
        known = all(v in (None, False, [], ()) for n, v in node.args.items() if n not in ("expression", "this"))
        if not known or not isinstance(value, exp.Literal) or not str(value.this).isdigit():
            raise self.refuse(node, f"{clause.upper()} takes a whole number.")
        return int(value.this)


def domain(declared: schema.Column) -> tuple[schema.Value, ...] | None:
    """Every value a group key can show, in order: the declared values, or the whole numbers of a short range."""
    if declared.domain is not None:
        return declared.domain
    if declared.kind is not Kind.INTEGER or declared.low is None or declared.high is None:
        return None
    short = declared.high - declared.low < 100_000
    return tuple(range(int(declared.low), int(declared.high) + 1)) if short else None


def released_type(aggregate: Aggregate) -> Type:
    if aggregate.function == "count":
        return Type(Kind.INTEGER, bounds=EVERYTHING)
    assert aggregate.argument is not None
    if aggregate.function == "avg":
        return Type(Kind.REAL, nullable=True, bounds=EVERYTHING)
    return Type(aggregate.argument.type.kind, bounds=EVERYTHING)


def _known(scope: Scope, node: exp.Column) -> bool:
    return any(matches(node.this, c.name) for _, t in scope.tables.values() for c in t.columns)


def _name(node: exp.Expr) -> str:
    """What PostgreSQL calls a column without an alias."""
    match node:
        case exp.Column():
            return node.name
        case exp.Filter():
            return _name(node.this)
        case exp.Case():
            return "case"
        case exp.And() | exp.Or() | exp.Cast():
            return "?column?"
        case exp.Func():
            return node.sql_name().lower()
    return "?column?"
