"""Columns, conditions and arithmetic of a question: values of Python that print SQL.

An expression is a tuple of pieces, texts of SQL and names of columns, and says how tightly it binds, so that brackets
stand where SQL needs them and nowhere else.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from nowiser.builder.names import name
from nowiser.errors import Misconfigured
from nowiser.sql.literals import literal

OR, AND, NOT, COMPARES, ADDS, MULTIPLIES, ALONE = range(7)  # from the loosest to the tightest


@dataclass(frozen=True)
class Name:
    """A column, by its name; `of_rows`: never a result of the question, because it stands inside an aggregate."""

    text: str
    of_rows: bool = False


Piece = str | Name


@dataclass(frozen=True, eq=False, repr=False)
class Expression:
    """Part of a question: a column, a condition, arithmetic, an aggregate.

    Compare and calculate with Python's operators; join conditions by `&`, `|` and `~`, with brackets around each.
    """

    pieces: tuple[Piece, ...]
    binds: int = ALONE

    def sql(self, meant: Mapping[str, str] | None = None) -> str:
        """The text. `meant`: what stands for a name, where it is the name of a result."""

        def written(piece: Piece) -> str:
            if isinstance(piece, str):
                return piece
            found = None if piece.of_rows or meant is None else meant.get(piece.text)
            return name(piece.text) if found is None else found

        return "".join(map(written, self.pieces))

    @property
    def alone(self) -> str | None:
        """The name of the column, where it is nothing but a column."""
        first, *more = self.pieces
        return first.text if isinstance(first, Name) and not more else None

    # -- conditions ------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> "Expression":  # type: ignore[override]  # a condition, not a truth value
        return self._compare("=", other)

    def __ne__(self, other: object) -> "Expression":  # type: ignore[override]  # as above
        return self._compare("<>", other)

    __hash__ = None  # type: ignore[assignment]  # equal is a condition here

    def __lt__(self, other: Any) -> "Expression":
        return self._compare("<", other)

    def __le__(self, other: Any) -> "Expression":
        return self._compare("<=", other)

    def __gt__(self, other: Any) -> "Expression":
        return self._compare(">", other)

    def __ge__(self, other: Any) -> "Expression":
        return self._compare(">=", other)

    def isin(self, values: Iterable[Any]) -> "Expression":
        """Whether it is one of these values."""
        found = [] if isinstance(values, str | bytes) else list(values)
        if not found:
            raise Misconfigured("isin takes a list of at least one value.", hint='For example isin(["math", "law"]).')
        return self._says(" IN (", ", ".join(map(literal, found)), ")")

    def between(self, low: Any, high: Any) -> "Expression":
        """Whether it lies between these ends, ends included."""
        return self._says(" BETWEEN ", *within(low, ADDS), " AND ", *within(high, ADDS))

    def like(self, pattern: str) -> "Expression":
        """Whether a text fits a pattern: % stands for any letters, _ for one."""
        return self._says(" LIKE ", literal(pattern))

    def is_null(self) -> "Expression":
        """Whether there is no value."""
        return self._says(" IS NULL")

    def not_null(self) -> "Expression":
        """Whether there is a value."""
        return self._says(" IS NOT NULL")

    def __and__(self, other: "Expression") -> "Expression":
        return self._join(AND, " AND ", condition(other))

    def __or__(self, other: "Expression") -> "Expression":
        return self._join(OR, " OR ", condition(other))

    def __invert__(self) -> "Expression":
        return Expression(("NOT ", *within(self, COMPARES)), NOT)

    def __bool__(self) -> bool:
        raise Misconfigured(
            "A condition has no truth value in Python: it is asked of every row.",
            hint="Write & for and, | for or, ~ for not, with brackets: (a > 1) & (b < 2); isin for in; "
            "between for a < x < b.",
        )

    # -- arithmetic ------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> "Expression":
        return self._join(ADDS, " + ", other)

    def __sub__(self, other: Any) -> "Expression":
        return self._join(ADDS, " - ", other)

    def __mul__(self, other: Any) -> "Expression":
        return self._join(MULTIPLIES, " * ", other)

    def __truediv__(self, other: Any) -> "Expression":
        return self._join(MULTIPLIES, " / ", other)

    def __mod__(self, other: Any) -> "Expression":
        return self._join(MULTIPLIES, " % ", other)

    def __radd__(self, other: Any) -> "Expression":
        return expression(other) + self

    def __rsub__(self, other: Any) -> "Expression":
        return expression(other) - self

    def __rmul__(self, other: Any) -> "Expression":
        return expression(other) * self

    def __rtruediv__(self, other: Any) -> "Expression":
        return expression(other) / self

    def __rmod__(self, other: Any) -> "Expression":
        return expression(other) % self

    def __neg__(self) -> "Expression":
        return Expression(("(-", *within(self, ALONE), ")"))

    def __repr__(self) -> str:
        return f"<Expression: {self.sql()}>"

    # -- how it is written -----------------------------------------------------------------------------------

    def _compare(self, sign: str, other: object) -> "Expression":
        if other is None:
            raise Misconfigured("Nothing equals NULL.", hint="Write is_null() or not_null().")
        return self._says(f" {sign} ", *within(other, ADDS))

    def _says(self, *pieces: Piece) -> "Expression":
        """A condition about this."""
        return Expression((*within(self, ADDS), *pieces), COMPARES)

    def _join(self, binds: int, sign: str, other: Any) -> "Expression":
        """Chains of one sign need no brackets on their left; of AND and OR not on their right either."""
        right = within(other, binds if binds in (AND, OR) else binds + 1)
        return Expression((*within(self, binds), sign, *right), binds)


@dataclass(frozen=True, eq=False, repr=False)
class Ordering:
    """A column or result to order by."""

    by: Expression
    largest_first: bool = False


def col(name: str) -> Expression:
    """A column of a table; in `having` and `order_by` also a result, by the name it was given in `agg`."""
    if name and isinstance(name, str):
        return Expression((Name(name),))
    raise Misconfigured(f"A column has a name, not {name!r}.", hint='For example nw.col("time").')


def desc(by: str | Expression) -> Ordering:
    """For `order_by`: the largest first."""
    return Ordering(column(by), largest_first=True)


def column(given: str | Expression) -> Expression:
    """An expression; a text is the name of a column."""
    return given if isinstance(given, Expression) else col(given)


def condition(given: Any) -> Expression:
    """A condition; anything else is refused, for example the result of Python's own `==`."""
    if not isinstance(given, Expression):
        raise Misconfigured(
            f"A condition is made of columns, not of {given!r}.", hint='For example nw.col("time") > 20.'
        )
    return given


def expression(given: Any) -> Expression:
    """An expression; anything else is a value."""
    return given if isinstance(given, Expression) else Expression((literal(given),))


def within(given: Any, binds: int) -> tuple[Piece, ...]:
    """The pieces of an operand, in brackets where it binds less tightly than it must."""
    found = expression(given)
    return found.pieces if found.binds >= binds else ("(", *found.pieces, ")")
