"""What SELECT lists and conditions have in common, wherever they stand."""

from collections.abc import Iterator

from sqlglot import exp

from nowiser.errors import NotAnswerable
from nowiser.model.schema import Kind
from nowiser.sql.bound import bounds
from nowiser.sql.read import hints
from nowiser.sql.read.expressions.bind import Binder, truth
from nowiser.sql.read.expressions.reasons import ASK_FIRST
from nowiser.sql.read.names import Scope, known, matches
from nowiser.sql.read.source import Context
from nowiser.sql.read.written import written
from nowiser.sql.tree import Expression

# The parser's names of functions → PostgreSQL's
_CALLED = {
    "timestamptrunc": "date_trunc",
    "datetrunc": "date_trunc",
    "timetostr": "to_char",
    "strposition": "position",
    "trim": "btrim",
    "variance": "var_samp",
    "variancepop": "var_pop",
    "logicalor": "bool_or",
    "logicaland": "bool_and",
    "groupconcat": "string_agg",
    "datediff": "date_diff",
    "percentilecont": "percentile_cont",
    "percentiledisc": "percentile_disc",
    "mode": "mode",
}
# What a constant that is cast is called
_TYPES = {
    "INT": "int4",
    "BIGINT": "int8",
    "SMALLINT": "int2",
    "DOUBLE": "float8",
    "FLOAT": "float4",
    "DECIMAL": "numeric",
    "TEXT": "text",
    "VARCHAR": "varchar",
    "BOOLEAN": "bool",
    "DATE": "date",
    "TIMESTAMP": "timestamp",
}
LIMITLESS = 1_000_000  # no question has more groups


def outputs(context: Context, node: exp.Select, binder: Binder) -> Iterator[tuple[str, Expression]]:
    """Name and meaning of each column of a SELECT, stars written out."""
    seen: set[str] = set()
    for item in node.expressions:
        for name, found in _output(context, item, binder):
            if name in seen:
                raise context.refuse(item, f"Two columns of the sub-select are called {name}.", "Rename one: AS.")
            seen.add(name)
            yield name, found


def _output(context: Context, item: exp.Expr, binder: Binder) -> list[tuple[str, Expression]]:
    if isinstance(item, exp.Star):
        binder.only(item)
        return binder.scope.everything()
    if isinstance(item, exp.Column) and isinstance(item.this, exp.Star):
        return starred(context, item, binder.scope)
    inner = item.this if isinstance(item, exp.Alias) else item
    return [(named(item), binder.bind(inner))]


def starred(context: Context, item: exp.Column, scope: Scope) -> list[tuple[str, Expression]]:
    """`t.*`"""
    qualifier = item.args["table"]
    found = [c for n, c in scope.sources.items() if matches(qualifier, n)]
    if not found:
        raise context.refuse(item, f"There is no table {qualifier.name} in this question.")
    return list(found[0].items())


def named(node: exp.Expr) -> str:
    """What PostgreSQL calls a column: its alias, folded unless quoted, or a name made from the expression."""
    if isinstance(node, exp.Alias):
        # PostgreSQL folds names that are not quoted, so that N and n are the same column of the same question.
        return node.alias if node.args["alias"].args.get("quoted") else node.alias.lower()
    match node:
        case exp.Column():
            return node.name
        case exp.Filter() | exp.Window() | exp.WithinGroup() | exp.Paren():
            return named(node.this)
        case exp.Case():
            other = node.args.get("default")
            inner = "?column?" if other is None else named(other)
            return inner if inner != "?column?" else "case"
        case exp.Cast():
            inner = named(node.this)
            return inner if inner != "?column?" else _TYPES.get(node.to.this.name, "?column?")
        case exp.And() | exp.Or() | exp.Mod():
            return "?column?"
        case exp.Anonymous():
            return node.name.lower()
        case exp.Func():
            return _CALLED.get(node.key) or node.sql_name().lower()
    return "?column?"


def named_output(select: exp.Select, scope: Scope, node: exp.Column) -> exp.Expr | None:
    """What a name of SELECT stands for in HAVING and ORDER BY, where no column is called so."""
    clause = node.find_ancestor(exp.Having, exp.Order, exp.Select)
    if node.args.get("table") or known(scope, node) or clause is None or clause.parent is not select:
        return None
    outputs = (o for o in select.expressions if isinstance(o, exp.Alias))
    return next((o.this for o in outputs if matches(node.this, o.alias)), None)


def condition(context: Context, binder: Binder, node: exp.Expr) -> Expression:
    found = truth(binder.bind(node))
    if found.type.kind is not Kind.BOOLEAN:
        raise context.refuse(
            node, f"A condition is true or false, not {found.type.kind.value}.", hints.condition(found.type.kind)
        )
    bounds.total(found)
    return found


def no_aggregate(context: Context, node: exp.Expr) -> Expression | None:
    """A leaf of expressions over rows: refuses aggregates; a sub-select may stand for a number."""
    if isinstance(node, exp.AggFunc):
        raise context.refuse(
            node, f"{written(node, context.text)} cannot stand here.", "Conditions on results go in HAVING."
        )
    return number(context, node) if isinstance(node, exp.Subquery) else None


def number(context: Context, node: exp.Subquery) -> Expression:
    """The one value of a sub-select over public tables, exact and free: as if it had been asked before."""
    refusal = context.refuse(
        node,
        "A question inside a condition is not answered, unless it gives one number of public tables alone.",
        ASK_FIRST,
    )
    if context.number is None:
        raise refusal
    try:
        return context.number(context, node)
    except NotAnswerable:  # it is not public, not one value, or cannot be read
        raise refusal from None


def whole(context: Context, tree: exp.Select, clause: str) -> int | None:
    """The number of LIMIT, FETCH FIRST or OFFSET. A limit above what is ever reported means nothing."""
    node = tree.args.get(clause)
    if node is None:
        return None
    value = node.args.get("count" if isinstance(node, exp.Fetch) else "expression")
    if isinstance(value, exp.Var) and value.name.upper() == "ALL":
        return None
    options = node.args.get("limit_options")  # with ties or per cent it means more
    known = options is None or not any(options.args.get(n) for n in ("percent", "with_ties"))
    ignored = ("expression", "this", "count", "direction", "limit_options")
    known = known and all(v in (None, False, [], ()) for n, v in node.args.items() if n not in ignored)
    if not known or not isinstance(value, exp.Literal) or not str(value.this).isdecimal() or len(str(value.this)) > 18:
        raise context.refuse(node, f"{clause.upper()} takes a whole number.", f"{clause.upper()} 10")
    most = int(value.this)
    return None if clause == "limit" and most >= LIMITLESS else most


def aggregates(node: exp.Select) -> bool:
    """Whether the outputs of a SELECT aggregate."""
    return any(
        isinstance(found, exp.AggFunc)
        for item in (*node.expressions, node.args.get("having"))
        if isinstance(item, exp.Expr)
        for found in item.walk(prune=lambda n: isinstance(n, exp.Window | exp.Query))
        if not isinstance(found.parent, exp.Window)
    )
