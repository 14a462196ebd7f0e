"""What an entry of the allow-list declares.

Every function is **total**: for every row of every possible table it has a value, perhaps NULL, and never raises.
So no error can depend on the data. What is defined here for one function:

* `typing`: from the types of the arguments to the type of the result, bounds included. Raises `Mismatch`.
* `evaluate`: the reference meaning, in Python. Engines are held to it by one conformance suite.
* `sql`: a template with `{0}`, `{1}` … for the engines, and `engines` where one of them needs another. Each
  argument stands in it once where possible, so that nesting does not blow up the text.
* `partials`: bounds on |∂f/∂argument| for the slope, or None where the function can jump.
* `step`: how far the result can move besides, because it rounds to whole numbers or digits.
* `rounding`: what happens to the last digits of a real result. `exact`: the result is a double as it is. `nearest`:
  IEEE arithmetic, rounded to the nearest double. `library`: a mathematical library, right to 40 bits.
* `digits`: the function needs its real arguments to within this much: half of what it rounds to, or None.
* `overflows`: whether the value can leave the kind; then the bounds of the result must be finite.

**Bounds are those of what an engine computes**, not of the formula: `Function` rounds the ends of every real result
as the engine rounds its values (`Interval.in_doubles`). docs/mathematics/arithmetic.md has the proof.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import inf
from typing import Any, Literal

from nowiser.model.schema import Kind
from nowiser.sql.interval import LARGEST, LEAST, End, Interval, hull, times
from nowiser.sql.tree import Type

Types = tuple[Type, ...]
Sql = str | Callable[[Sequence[str]], str]

NUMBERS = (Kind.INTEGER, Kind.REAL)
ORDERED = (*NUMBERS, Kind.DATE, Kind.TIMESTAMP)


# How far a real result may lie from the exact one, as a share of its size. Rounding to nearest moves a number by at
# most 2⁻⁵³ of it; a few operations in a row are allowed for. Libraries promise a few units in the last place.
ROUNDED = {"exact": Fraction(0), "nearest": Fraction(1, 2**51), "library": Fraction(1, 2**40)}
SMALL = Fraction(1, 2**900)
# A comparison or a sum of reals wants 31 bits: the rest of what a double holds is room for rounding on the way.
WANTED = Fraction(1, 2**31)


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
    whole: Sql | None = None  # the template where the result is a whole number, on every engine
    strict: bool = True  # a NULL argument makes the result NULL, and `evaluate` never sees one
    partials: Callable[[Types], tuple[End, ...]] | None = None
    combine: Literal["sum", "max"] = "sum"  # how moves of several arguments add up
    step: Callable[[Types], Fraction] | None = None
    rounding: Literal["exact", "nearest", "library"] = "exact"
    digits: Callable[[Types], End] | None = None
    overflows: bool = False
    commutative: bool = False

    def __post_init__(self) -> None:
        bare = self.typing

        def typing(types: Types) -> Type:
            found = bare(types)
            if found.kind is not Kind.REAL:
                return found
            bounds = found.interval.widened(ROUNDED["library"]) if self.rounding == "library" else found.interval
            found = replace(found, bounds=bounds.in_doubles())
            return replace(found, error=_sum([self.carried(types), self.wobble(found)]))

        object.__setattr__(self, "typing", typing)

    def wobble(self, result: Type) -> End:
        """How far a computed result can lie from the exact result of the same (computed) arguments."""
        if result.kind is not Kind.REAL or self.rounding == "exact" or not (size := result.interval.magnitude):
            return 0
        tiny = LEAST if size < SMALL else 0  # near the end of the doubles digits are lost without regard to size
        return inf if size == inf else Fraction(size) * ROUNDED[self.rounding] + tiny

    def carried(self, types: Types) -> End:
        """How far errors of the arguments carry the result, at most. Infinite where no bound is known."""
        if self.digits is not None:  # it rounds, or cuts: a function of numbers that are as exact as it needs them
            return 0
        errors = [t.error for t in types]
        if not any(errors):
            return 0
        if self.partials is None:
            return max(errors)
        moved = [times(p, e) for p, e in zip(self.partials(types), errors, strict=True)]
        return max(moved) if self.combine == "max" else _sum(moved)

    def loses_digits(self, types: Types) -> bool:
        """Whether rounding on the way has moved an argument by more than the function can bear."""
        if self.digits is None:
            return False
        known = [t.error for t in types if t.error < inf]
        return sum(known) > self.digits(types) if known else False

    def template(self, engine: str, kind: Kind) -> Sql:
        """How an engine writes a call whose result is of this kind."""
        return self.whole if self.whole is not None and kind is Kind.INTEGER else self.engines.get(engine, self.sql)


def _sum(errors: Sequence[End]) -> End:
    """Their sum; infinite where it passes the doubles, so that no later step has to hold it."""
    if inf in errors:
        return inf
    found = sum(errors)
    return found if found <= LARGEST else inf


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


def wanted(types: Types) -> End:
    """What a comparison may be wrong by: 31 bits of the largest number that is compared."""
    sizes = [t.interval.magnitude for t in types if t.kind is Kind.REAL]
    return max(sizes) * WANTED if sizes and max(sizes) < inf else inf


def upward(found: End) -> End:
    """A bound that was computed in doubles, with room for their rounding."""
    return inf if found == inf else Fraction(found) * (1 + ROUNDED["library"])
