"""The columns of an answer before there is one: what drivers and BI tools want to know first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nowiser.model.schema import Kind
from nowiser.sql.read.text.length import every_expression
from nowiser.sql.tree import Literal, Query, parts


@dataclass(frozen=True)
class Described:
    """One column: its name, what it holds, whether it can be NULL."""

    name: str
    kind: Kind
    nullable: bool = True


def columns_of(question: Query) -> tuple[Described, ...]:
    return tuple(Described(o.name, o.expression.type.kind, o.expression.type.nullable) for o in question.results)


def columns_of_constants(names: tuple[str, ...], rows: tuple[tuple[Any, ...], ...]) -> tuple[Described, ...]:
    """Of SET, SHOW, DESCRIBE: whole numbers, truths, texts."""
    kinds = {int: Kind.INTEGER, bool: Kind.BOOLEAN}
    first = rows[0] if rows else (None,) * len(names)
    return tuple(Described(n, kinds.get(type(v), Kind.TEXT)) for n, v in zip(names, first, strict=True))


def kinds_at(question: Query, places: Mapping[int, int], values: Sequence[Any]) -> tuple[Kind | None, ...]:
    """The kind that each parameter took on from what it stands beside. `places`: where each stands; None: unknown."""
    found: list[Kind | None] = [{int: Kind.INTEGER, str: Kind.TEXT}.get(type(v)) for v in values]
    for expression in every_expression(question):
        for part in parts(expression):
            if isinstance(part, Literal) and part.span is not None and part.span.start in places:
                at = places[part.span.start] - 1
                found[at] = found[at] or part.type.kind
    return tuple(found)
