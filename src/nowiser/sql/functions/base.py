"""What an entry of the allow-list declares.

Every function is **total**: for every row of every possible table it has a value, perhaps NULL, and never raises.
So no error can depend on the data. What is defined here for one function:

* `typing`: from the types of the arguments to the type of the result, bounds included. Raises `Mismatch`.
* `evaluate`: the reference meaning, in Python. Engines are held to it by one conformance suite.
* `sql`: a template with `{0}`, `{1}` … for the engines, and `engines` where one of them needs another. Each
  argument stands in it once where possible, so that nesting does not blow up the text.
* `partials`: bounds on |∂f/∂argument| for the slope, or None where the function can jump.
* `step`: how far the result can move besides, because it rounds.
* `overflows`: whether the value can leave the kind; then the bounds of the result must be finite.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

from nowiser.model.schema import Kind
from nowiser.sql.interval import End, Interval, hull
from nowiser.sql.tree import Type

Types = tuple[Type, ...]
Sql = str | Callable[[Sequence[str]], str]

NUMBERS = (Kind.INTEGER, Kind.REAL)
ORDERED = (*NUMBERS, Kind.DATE, Kind.TIMESTAMP)


class Mismatch(Exception):
    """The arguments are of kinds the function does not take."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


@dataclass(frozen=True)
class Function:
    name: str
    typing: Callable[[Types], Type]
    evaluate: Callable[..., Any]
    sql: Sql
    engines: Mapping[str, Sql] = field(default_factory=dict)
    strict: bool = True  # a NULL argument makes the result NULL, and `evaluate` never sees one
    partials: Callable[[Types], tuple[End, ...]] | None = None
    combine: Literal["sum", "max"] = "sum"  # how moves of several arguments add up
    step: Callable[[Types], Fraction] | None = None
    overflows: bool = False
    commutative: bool = False

    def __post_init__(self) -> None:
        bare = self.typing

        def typing(types: Types) -> Type:
            found = bare(types)
            held = None if found.bounds is None else found.bounds.within_doubles()
            return found if held is found.bounds else replace(found, bounds=held)

        object.__setattr__(self, "typing", typing)

    def template(self, engine: str) -> Sql:
        return self.engines.get(engine, self.sql)


def count(types: Types, least: int, most: int | None = None) -> None:
    most = least if most is None else most
    if not least <= len(types) <= most:
        wanted = str(least) if least == most else f"{least} to {most}"
        raise Mismatch(f"takes {wanted} argument{'s' if most != 1 else ''}, not {len(types)}")


def want(types: Types, *kinds: Kind) -> None:
    for t in types:
        if t.kind not in kinds:
            names = " or ".join(k.value for k in kinds)
            raise Mismatch(f"takes {names}, not {t.kind.value}")


def nullable(types: Types) -> bool:
    return any(t.nullable for t in types)


def same(types: Types) -> Kind:
    """The one kind of all arguments; the binder has already made integers real where they meet reals."""
    kinds = {t.kind for t in types}
    if len(kinds) > 1:
        raise Mismatch(f"cannot put {' and '.join(sorted(k.value for k in kinds))} together")
    return types[0].kind


def union(types: Types) -> Interval | None:
    found = [t.bounds for t in types if t.bounds is not None]
    return hull(e for b in found for e in (b.low, b.high)) if len(found) == len(types) and found else None


def one(_: Types) -> tuple[End, ...]:
    return (1,)


def ones(types: Types) -> tuple[End, ...]:
    return (1,) * len(types)
