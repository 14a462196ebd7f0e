"""The columns of an answer before there is one: what drivers and BI tools want to know first."""

from dataclasses import dataclass
from typing import Any

from nowiser.model.schema import Kind
from nowiser.sql.tree import Query


@dataclass(frozen=True)
class Described:
    """One column: its name, what it holds, whether it can be NULL."""

    name: str
    kind: Kind
    nullable: bool = True


def columns_of(question: Query) -> tuple[Described, ...]:
    return tuple(Described(o.name, o.expression.type.kind, o.expression.type.nullable) for o in question.outputs)


def columns_of_constants(names: tuple[str, ...], rows: tuple[tuple[Any, ...], ...]) -> tuple[Described, ...]:
    """Of SET, SHOW, DESCRIBE: whole numbers, truths, texts."""
    kinds = {int: Kind.INTEGER, bool: Kind.BOOLEAN}
    first = rows[0] if rows else (None,) * len(names)
    return tuple(Described(n, kinds.get(type(v), Kind.TEXT)) for n, v in zip(names, first, strict=True))
