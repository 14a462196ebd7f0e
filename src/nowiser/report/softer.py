"""What would be charged by distance instead: a RAMP in place of a threshold on a secret number."""

from fractions import Fraction

from nowiser.report.spoken import spoken
from nowiser.sql.aggregates.ranges import range_of
from nowiser.sql.bound.bounds import summand
from nowiser.sql.bound.sensitivity import lipschitz, secret
from nowiser.sql.functions.base import NUMBERS
from nowiser.sql.plan.cells import Reading
from nowiser.sql.plan.plan import Plan
from nowiser.sql.tree import Expression, holding

SHARE = 12  # a ramp goes a twelfth of the range to either side of the threshold


def softer(plan: Plan) -> list[str]:
    """A line for each count with one threshold on a secret number, where nothing else secret decides which rows."""
    found = (_ramp(plan, reading) for reading in plan.readings)
    return list(dict.fromkeys(line for line in found if line is not None))


def _ramp(plan: Plan, reading: Reading) -> str | None:
    aggregate = reading.aggregate
    plain = aggregate.function == "count" and aggregate.argument is None and not aggregate.distinct
    if not plain or plan.reaches[reading.top].persons is not None or secret(*plan.query.keys):
        return None
    deciding = [c for c in (*holding(plan.query.relation), aggregate.condition) if c is not None and secret(c)]
    cut = range_of(deciding[0]) if len(deciding) == 1 else None
    if cut is None or (cut.start is None) == (cut.stop is None) or not _smooth(cut.of):
        return None
    at = Fraction((cut.start or cut.stop or (0, 0))[0])
    ends = summand(cut.of)
    away = (Fraction(ends.high) - Fraction(ends.low)) / SHARE
    ramp = f"RAMP({spoken(cut.of)}, {float(at - away):.4g}, {float(at + away):.4g})"
    what = f"SUM({ramp})" if cut.stop is None else f"SUM(1 - {ramp})"
    return f"  a threshold on a secret costs a jump; {what}, a soft one, is charged by distance and may be more precise"


def _smooth(e: Expression) -> bool:
    line = lipschitz(e) if e.type.kind in NUMBERS else None
    return line is not None and bool(line.slope)
