"""Which column a name means."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from sqlglot import exp

from nowiser.errors import NotAnswerable
from nowiser.model import schema
from nowiser.model.schema import Kind
from nowiser.sql.functions.dates import EVER
from nowiser.sql.interval import EVERYTHING, INT64, Interval
from nowiser.sql.read import hints
from nowiser.sql.read.text.parse import place
from nowiser.sql.tree import Expression, Type

SCHEMAS = ("public", "main")  # names before a table that mean nothing
DATABASE = "nowiser"  # the name before those, as in nowiser.public.visits


@dataclass(frozen=True)
class Scope:
    """What is in sight: for each name of the FROM clause, its columns and what they stand for."""

    text: str
    sources: Mapping[str, Mapping[str, Expression]]
    merged: frozenset[str] = frozenset()  # columns named in USING: the same on both sides
    outer: "Scope | None" = None  # what is in sight around an EXISTS
    beside: Mapping[str, Expression] = field(default_factory=dict)  # windows, by names that no analyst writes

    def everything(self) -> list[tuple[str, Expression]]:
        """What a star stands for."""
        return [pair for columns in self.sources.values() for pair in columns.items()]


def column_type(declared: schema.Column) -> Type:
    """What a prepared column can hold."""
    match declared.kind:
        case Kind.TEXT | Kind.BOOLEAN:
            bounds = None
        case kind:
            unknown = INT64 if kind is Kind.INTEGER else EVER.get(kind, EVERYTHING)
            bounds = unknown if declared.low is None or declared.high is None else Interval(declared.low, declared.high)
            bounds = bounds.in_doubles() if kind is Kind.REAL else bounds  # preparation clips to doubles
    return Type(declared.kind, declared.nullable, bounds)


def column(scope: Scope, node: exp.Column) -> Expression:
    """What is meant by a name. Unquoted names match whatever their case, quoted ones exactly."""
    span = place(node, scope.text)
    if scope.outer is not None and not _inside(scope, node):
        return column(scope.outer, node)
    home = node.args.get("db")
    if (
        not of_database(node)
        or (home is not None and home.name.lower() not in SCHEMAS)
        or not isinstance(node.this, exp.Identifier)
    ):
        raise NotAnswerable("Name columns as column or table.column.", span=span)
    wanted = node.this
    if wanted.this in scope.beside:
        return replace(scope.beside[wanted.this], span=span)
    homes = scope.sources
    qualifier = node.args.get("table")
    if qualifier is not None:
        homes = {n: home for n, home in homes.items() if matches(qualifier, n)}
        if not homes:
            raise NotAnswerable(
                f"There is no table {qualifier.name} in this question.",
                hint=hints.near(qualifier.name, list(scope.sources)),
                span=span,
                reason="no table",
            )
    exactly, name = bool(wanted.args.get("quoted")), str(wanted.this)
    name = name if exactly else name.lower()
    found = [e for home in homes.values() for n, e in home.items() if (n if exactly else n.lower()) == name]
    if not found:
        names = sorted({name for home in homes.values() for name in home})
        everything = [e for home in homes.values() for e in home.values()]
        hint = hints.column(node, names, everything, _beside(scope, node))
        raise NotAnswerable(f"There is no column {wanted.name}.", hint=hint, span=span, reason="no column")
    if len(found) > 1 and wanted.name.lower() not in scope.merged:
        raise NotAnswerable(f"More than one column is called {wanted.name}.", hint="Write table.column.", span=span)
    return replace(found[0], span=span)


def _beside(scope: Scope, node: exp.Column) -> Expression | None:
    """The column that a name is compared with, where that is one."""
    other = hints.compared(node)
    if not isinstance(other, exp.Column) or not isinstance(other.this, exp.Identifier):
        return None
    qualifier = other.args.get("table")
    homes = [home for n, home in scope.sources.items() if qualifier is None or matches(qualifier, n)]
    return next((e for home in homes for n, e in home.items() if matches(other.this, n)), None)


def _inside(scope: Scope, node: exp.Column) -> bool:
    """Whether a name is of the innermost question: names inside come before those outside."""
    qualifier = node.args.get("table")
    if qualifier is not None:
        return any(matches(qualifier, n) for n in scope.sources)
    return isinstance(node.this, exp.Identifier) and known(scope, node)


def known(scope: Scope, node: exp.Column) -> bool:
    """Whether a name without a table is a column in sight."""
    return any(matches(node.this, name) for home in scope.sources.values() for name in home)


def of_database(node: exp.Expr) -> bool:
    """Whether no database is named, or the only one there is."""
    named = node.args.get("catalog")
    return named is None or named.name.lower() == DATABASE


def matches(identifier: exp.Identifier, name: str) -> bool:
    if identifier.args.get("quoted"):
        return str(identifier.this) == name
    return str(identifier.this).lower() == name.lower()
