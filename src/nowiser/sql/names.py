"""Which column a name means."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from sqlglot import exp

from nowiser.errors import NotAnswerable
from nowiser.model import schema
from nowiser.model.schema import Kind
from nowiser.sql.interval import EVERYTHING, INT64, Interval
from nowiser.sql.parse import place
from nowiser.sql.tree import Column, Type


@dataclass(frozen=True)
class Scope:
    """The tables in sight, by the name the question uses for them."""

    text: str
    tables: Mapping[str, tuple[str, schema.Table]]  # name → (relation, table)


def column_type(declared: schema.Column) -> Type:
    """What a prepared column can hold."""
    match declared.kind:
        case Kind.TEXT | Kind.BOOLEAN:
            bounds = None
        case kind:
            unknown = INT64 if kind is Kind.INTEGER else EVERYTHING
            bounds = unknown if declared.low is None or declared.high is None else Interval(declared.low, declared.high)
    return Type(declared.kind, declared.nullable, bounds)


def column(scope: Scope, node: exp.Column) -> Column:
    """The column meant by a name. Unquoted names match whatever their case, quoted ones exactly."""
    span = place(node, scope.text)
    if node.args.get("db") or node.args.get("catalog") or not isinstance(node.this, exp.Identifier):
        raise NotAnswerable("Name columns as column or table.column.", span=span)
    wanted = node.this
    homes = scope.tables
    qualifier = node.args.get("table")
    if qualifier is not None:
        homes = {n: home for n, home in homes.items() if matches(qualifier, n)}
        if not homes:
            raise NotAnswerable(f"There is no table {qualifier.name} in this question.", span=span)
    found = [(r, t, c) for r, t in homes.values() for c in t.columns if matches(wanted, c.name)]
    if not found:
        names = sorted({c.name for _, t in homes.values() for c in t.columns})
        near = get_close_matches(wanted.name, names, 1)
        hint = f"Did you mean {near[0]}?" if near else f"There are {', '.join(names)}."
        raise NotAnswerable(f"There is no column {wanted.name}.", hint=hint, span=span)
    if len(found) > 1:
        raise NotAnswerable(f"More than one column is called {wanted.name}.", hint="Write table.column.", span=span)
    relation, table, declared = found[0]
    return Column(relation, table.name, declared, column_type(declared), span)


def matches(identifier: exp.Identifier, name: str) -> bool:
    if identifier.args.get("quoted"):
        return str(identifier.this) == name
    return str(identifier.this).lower() == name.lower()
