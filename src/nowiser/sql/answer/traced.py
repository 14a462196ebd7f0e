"""A number that was computed from released ones, and where it can lie.

Every number remembers which noisy numbers it was made of. If each of k of them lies in the bar that fails 5%/k of the
time, all do in 95 of 100 cases, and intervals are carried through the expression by the rules that bound expressions
before. Where nothing can be said (a rank, a sum over rows that were chosen by their noise) there is no bar.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from nowiser.model.schema import Kind
from nowiser.sql.functions import ALLOWED
from nowiser.sql.functions.base import Mismatch
from nowiser.sql.interval import Interval, point
from nowiser.sql.tree import Call, Expression, Literal, Type

Half = float | None
Noisy = frozenset[tuple[object, ...]]  # the noisy numbers something is made of
MOST_NOISY = 500  # a bar that has to hold for more numbers at once says nothing


class Traced:
    """A value with the noisy numbers it is made of. `lies(k)`: what it can be if each is in its bar of 5%/k."""

    __slots__ = ("_known", "_lies", "cell", "of", "value")

    def __init__(
        self,
        value: Any,
        lies: Callable[[int], Type | None] | None,
        of: Noisy = frozenset(),
        cell: tuple[int, int] | None = None,  # the aggregate and the group, if it is one released sum as it came
    ) -> None:
        self.value, self.of, self.cell, self._lies = value, of, cell, lies
        self._known: dict[int, Type | None] = {}

    def lies(self, k: int) -> Type | None:
        if self._lies is None:
            return None
        if k not in self._known:
            self._known[k] = self._lies(k)
        return self._known[k]

    def bar(self, among: int) -> Half:
        """Half-width of its 95 % bar. `among`: how many rows it was chosen from by noisy numbers."""
        if self.value is None or isinstance(self.value, str | bool) or len(self.of) > MOST_NOISY:
            return None
        found = self.lies(max(1, len(self.of)) * among)
        if found is None or found.bounds is None:
            return None
        reach = found.bounds.in_doubles()
        return float(max(reach.high - self.value, self.value - reach.low, 0)) if reach.finite else None


def exact(value: Any, kind: Kind) -> Traced:
    """A value without noise."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    found = Type(kind, value is None, point(Fraction(value)) if number else None)
    return Traced(value, lambda _: found)


def barless(value: Any) -> Traced:
    """A noisy value of which nobody can say how far it is off."""
    return Traced(value, None)


def computed(e: Expression, value: Any, leaf: Callable[[Expression], Traced]) -> Traced:
    """The value of an expression whose leaves are traced."""
    if isinstance(e, Literal):
        return exact(e.value, e.type.kind)
    if not isinstance(e, Call):
        return leaf(e)
    of: Noisy = frozenset().union(*(leaf(x).of for x in _leaves(e)))
    return Traced(value, lambda k: _carried(e, k, leaf), of)


def _leaves(e: Expression) -> list[Expression]:
    if isinstance(e, Call):
        return [x for a in e.args for x in _leaves(a)]
    return [] if isinstance(e, Literal) else [e]


def _carried(e: Expression, k: int, leaf: Callable[[Expression], Traced]) -> Type | None:
    if isinstance(e, Literal):
        return e.type
    if not isinstance(e, Call):
        return leaf(e).lies(k)
    args = [_carried(a, k, leaf) for a in e.args]
    if e.function == "coalesce" and args[0] is not None and not args[0].nullable:
        return args[0]
    if any(a is None for a in args):
        return None
    try:
        return ALLOWED[e.function].typing(tuple(a for a in args if a is not None))
    except Mismatch:
        return None


def together(values: Sequence[Traced]) -> Noisy:
    """What several values are made of."""
    return frozenset().union(*(v.of for v in values))


def intervals(values: Sequence[Traced], k: int) -> list[Interval] | None:
    """Where each of several numbers lies; None unless that is known of all."""
    found = [v.lies(k) for v in values]
    bounds = [None if t is None else t.bounds for t in found]
    return None if any(b is None for b in bounds) else [b for b in bounds if b is not None]
