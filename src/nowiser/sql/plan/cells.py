"""What an engine computes exactly: whole numbers per group, and how an aggregate is read off them.

A sum of reals is computed in *units*: each summand is rounded to a whole number of units, clipped to its public
ends, and the whole numbers are added. So sums do not depend on the order of rows, noise is integer noise, and
no float error hides in the account. The unit is a power of two, about 2⁻³⁰ of the largest summand: dividing a
double by it is exact, and what rounding loses is far below any noise. Whole numbers have unit one.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, frexp
from typing import Literal

from nowiser.model.schema import Kind
from nowiser.sql.bound.bounds import summand
from nowiser.sql.tree import Aggregate, Expression

PRECISION = 30  # bits
FINEST = 62  # bits, where no noise will hide what rounding loses; whole numbers of 64 bits hold it


@dataclass(frozen=True)
class Cell:
    """Σ over rows with `condition` of (argument in units − shift), or their number if there is no argument.

    Rows whose argument is NULL contribute nothing. Every contribution lies in [low, high].
    """

    argument: Expression | None
    condition: Expression | None
    unit: Fraction = Fraction(1)
    shift: int = 0
    low: int = 1
    high: int = 1
    not_null: Expression | None = None  # counts only rows where this is not NULL
    distinct: tuple[Expression, ...] = ()  # counts different values, as those that name persons; or adds them up
    weighed: bool = False  # of a person with more rows in a group than count, its share (`clipped_totals.py`)
    pick: Literal["min", "max"] | None = None  # the least or largest instead of the sum; of public rows only, 0 if none

    @property
    def largest(self) -> int:
        return max(abs(self.low), abs(self.high))


@dataclass(frozen=True)
class Reading:
    """How an aggregate is computed: a count, a sum, a sum over a count, moments, or runs of a histogram's buckets.

    Numbers of cells; those from `len(tally.cells)` on are the histograms of the plan.
    """

    aggregate: Aggregate
    top: int
    bottom: int | None = None
    more: tuple[int, ...] = ()  # of moments: what else it takes
    run: tuple[int, int] | None = None  # of a histogram: which buckets are added

    @property
    def cells(self) -> tuple[int, ...]:
        return tuple(i for i in (self.top, self.bottom, *self.more) if i is not None)


def count_cell(argument: Expression | None, condition: Expression | None) -> Cell:
    return Cell(None, condition, not_null=argument if argument is not None and argument.type.nullable else None)


def sum_cell(argument: Expression, condition: Expression | None, *, centred: bool, exact: bool = False) -> Cell:
    """The cell of a sum; `centred` measures from the middle of the range, which halves what presence can move.

    `exact`: it will be shown without noise, so its unit is as fine as 64 bits allow.
    """
    ends = summand(argument)
    if argument.type.kind is Kind.INTEGER:
        unit = Fraction(1)
    else:
        _, exponent = frexp(float(max(ends.magnitude, Fraction(1, 2**200))))
        unit = Fraction(2) ** (exponent - (FINEST if exact else PRECISION))
    low, high = floor(Fraction(ends.low) / unit), ceil(Fraction(ends.high) / unit)
    shift = (low + high) // 2 if centred else 0
    return Cell(argument, condition, unit, shift, low - shift, high - shift)
