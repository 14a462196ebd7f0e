"""Columns of a policy as the domain of a model: ranges and values as they are declared."""

from collections.abc import Sequence

from nowiser.bought.domain import Attribute, domain_of
from nowiser.errors import NotAnswerable
from nowiser.learn.domain import MISSING, Category, Domain, Kind, Number
from nowiser.model.policy import Policy
from nowiser.model.schema import Column, Role, Table


def features_of(policy: Policy, table: Table, features: Sequence[str] | None, target: str | None) -> Domain:
    """The declared columns of the features; by default all that are declared, but identifiers and the target."""
    if features is None:
        features = [c.name for c in table.columns if c.role is not Role.IDENTIFIER and c.name != target and _said(c)]
    if not features:
        raise NotAnswerable("there is nothing to learn from: name at least one feature")
    if target in features:
        raise NotAnswerable(f"{target!r} is the target, and cannot be a feature as well")
    attributes = domain_of(policy, table, features, dict.fromkeys(_ranges(table, features), 1))
    return Domain(tuple(kind_of(a) for a in attributes), tuple(a.name for a in attributes))


def classes_of(policy: Policy, table: Table, target: str) -> tuple[object, ...]:
    """The declared values of the target."""
    (attribute,) = domain_of(policy, table, [target])
    if attribute.values is None:
        raise NotAnswerable(
            f"{target!r} is a number: a classifier needs a target with declared values",
            hint="Use nw.learn.LinearRegression (--model linear), or declare the values of the column.",
        )
    return (*attribute.values, *([MISSING] if attribute.missing else []))


def range_of(policy: Policy, table: Table, target: str) -> tuple[float, float]:
    """The declared range of the target."""
    (attribute,) = domain_of(policy, table, [target], dict.fromkeys(_ranges(table, [target]), 1))
    kind = kind_of(attribute)
    if isinstance(kind, Category):
        raise NotAnswerable(f"{target!r} has declared values, no range: use a classifier")
    return kind.low, kind.high


def kind_of(attribute: Attribute) -> Kind:
    if attribute.values is not None:
        return Category((*attribute.values, *([MISSING] if attribute.missing else [])))
    assert attribute.edges is not None
    low, high = float(attribute.edges[0]), float(attribute.edges[-1])
    if low == high:
        raise NotAnswerable(f"{attribute.name!r} has one possible value: there is nothing to learn from it")
    return Number(low, high)


def _ranges(table: Table, names: Sequence[str]) -> list[str]:
    there = {c.name: c for c in table.columns}
    return [n for n in names if n in there and there[n].domain is None and there[n].low is not None]


def _said(column: Column) -> bool:
    return column.domain is not None or column.low is not None or column.kind.value == "boolean"
