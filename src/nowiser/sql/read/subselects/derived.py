"""Columns of sub-selects: what is known about a value that was computed inside a question."""

from dataclasses import replace
from fractions import Fraction
from math import isfinite

from nowiser.model import schema
from nowiser.model.schema import Role
from nowiser.sql.interval import INT64
from nowiser.sql.tree import Column, Expression, Type, columns


def carried(relation: str, name: str, e: Column) -> Column:
    """A column as it is, under a name of a new relation."""
    declared = replace(e.declared, name=name, nullable=e.type.nullable)
    return Column(relation, e.table, declared, e.type, e.span, e.of or e.declared.name, e.attributes)


def person_column(relation: str, i: int, c: Column) -> Column:
    """What names the person of a row, under a name of a new relation that no analyst writes."""
    declared = schema.Column(f":person:{i}", c.declared.kind, Role.IDENTIFIER, nullable=False)
    return Column(relation, c.table, declared, replace(c.type, nullable=False), derived=())


def derived_column(
    relation: str,
    name: str,
    type_: Type,
    parts: list[Expression],
    domain: tuple[schema.Value, ...] | None = None,
    *,
    identifies: bool = True,
) -> Column:
    """A column computed from these expressions: secret if they look at a secret.

    `identifies`: it shows values of theirs as they are, so that identifiers stay identifiers.
    """
    looked = columns(*parts)
    secret = [c for c in looked if c.declared.role is Role.SENSITIVE]
    about = tuple(sorted({a for c in secret for a in c.attributes}))
    plain = bool(looked) and all(isinstance(p, Column) for p in parts)
    role = Role.SENSITIVE if secret else Role.PUBLIC
    if identifies and not secret and plain and all(c.declared.role is Role.IDENTIFIER for c in looked):
        role = Role.IDENTIFIER
    ends = type_.bounds
    finite = ends is not None and isfinite(ends.low) and isfinite(ends.high) and ends != INT64
    declared = schema.Column(
        name,
        type_.kind,
        role,
        Fraction(ends.low) if finite and ends is not None else None,
        Fraction(ends.high) if finite and ends is not None else None,
        domain=domain,
        nullable=type_.nullable,
    )
    return Column(relation, "sub-select", declared, type_, derived=about)
