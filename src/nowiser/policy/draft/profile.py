"""What a file shows of itself, and what follows from it about a column: a list of values, a range, names of rows."""

import re
from dataclasses import dataclass
from datetime import date, datetime
from fractions import Fraction

from nowiser.model.schema import Csv, Kind
from nowiser.policy.draft.round_numbers import near, outward

FEW = 50  # so many different texts are listed, more become free text
FEW_NUMBERS = 20  # so many different whole numbers are values, more become a range
_ROW_NAMES = ("id", "nr", "no", "key", "number", "index")

Edge = int | float | date | datetime


@dataclass(frozen=True)
class Seen:
    """What the file shows of one column."""

    name: str
    kind: Kind
    distinct: int
    nulls: bool
    low: Edge | None = None
    high: Edge | None = None
    values: tuple[str | int, ...] | None = None  # all of them, in order, when they are few texts or whole numbers
    bulk: tuple[float, float] | None = None  # between these lie 98 of 100 numbers
    blanks: bool = False  # texts of several words: names, addresses, notes

    @property
    def words(self) -> tuple[str, ...]:
        """`PassengerId`, `passenger_id` → passenger, id."""
        return tuple(w.lower() for w in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", self.name))

    @property
    def is_number(self) -> bool:
        return self.kind in (Kind.INTEGER, Kind.REAL) and self.low is not None and self.high is not None

    @property
    def has_range(self) -> bool:
        """A number with so many values that a distance means something."""
        return self.is_number and self.values is None

    @property
    def is_dated(self) -> bool:
        """A date or time, between two that are known."""
        return self.kind in (Kind.DATE, Kind.TIMESTAMP) and self.low is not None and self.high is not None

    @property
    def is_listed(self) -> bool:
        """Whether all values are declared: few texts, few whole numbers, true and false."""
        return self.values is not None or self.kind is Kind.BOOLEAN

    def span(self) -> tuple[Fraction, Fraction]:
        """The range that is proposed: round numbers around the values; without a tail that is longer than half of
        where 98 of 100 lie, because a range costs noise in proportion.
        """
        low, high = self._ends()
        return outward(low, high, whole=self.kind is Kind.INTEGER)

    def cut(self) -> bool:
        """Whether some values lie outside the proposed range."""
        low, high = self.span()
        assert isinstance(self.low, int | float)
        assert isinstance(self.high, int | float)
        return Fraction(self.low) < low or Fraction(self.high) > high

    def _ends(self) -> tuple[float, float]:
        low, high = self.low, self.high
        assert isinstance(low, int | float)
        assert isinstance(high, int | float)
        if self.bulk is None or not self.bulk[0] < self.bulk[1]:
            return low, high
        bottom, top = self.bulk
        tail = (top - bottom) / 2
        return (bottom if bottom - low > tail else low), (top if high - top > tail else high)

    def radius(self) -> Fraction | None:
        """How close a guess hurts, at a first guess: a round number near a fortieth of the range; None: exactly."""
        if isinstance(self.low, date) and isinstance(self.high, date) and self.kind is Kind.DATE:
            return max(near(Fraction((self.high - self.low).days + 1, 40)), Fraction(1))
        if not self.has_range:
            return None
        low, high = self.span()
        radius = near((high - low) / 40)
        return max(radius, Fraction(1)) if self.kind is Kind.INTEGER else radius

    def numbers_rows(self, rows: int) -> bool:
        """Whole numbers that count the rows, whatever they are called."""
        return (
            self.kind is Kind.INTEGER
            and self.distinct == rows > 1
            and isinstance(self.low, int)
            and isinstance(self.high, int)
            and self.high - self.low + 1 == rows
        )

    def names_rows(self, rows: int) -> bool:
        """Texts that hardly repeat (names, addresses), and whole numbers that never do and count, or are called so."""
        if self.kind is Kind.TEXT:
            return self.values is None and self.distinct > rows // 2
        called = any(word in _ROW_NAMES for word in self.words) or self.name.lower().endswith("id")
        return self.numbers_rows(rows) or (self.kind is Kind.INTEGER and self.distinct == rows > 1 and called)


@dataclass(frozen=True)
class Profile:
    table: str
    source: str
    engine: str
    rows: int
    columns: tuple[Seen, ...]
    csv: Csv | None = None  # where the file is not written as files of its name usually are

    def column(self, name: str) -> Seen | None:
        return next((c for c in self.columns if c.name == name), None)


def listed_numbers(values: list[int]) -> tuple[int, ...]:
    """Few whole numbers as values. Where all between them are few, too, these are listed with them: that one of them
    happens not to occur is nobody's business.
    """
    low, high = min(values), max(values)
    return tuple(range(low, high + 1)) if high - low < FEW_NUMBERS else tuple(sorted(values))
