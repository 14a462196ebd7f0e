"""No row may break a question: every value stays inside its kind, and every summand inside known ends."""

from fractions import Fraction
from math import inf

from nowiser.errors import NotAnswerable
from nowiser.model.schema import Kind
from nowiser.sql.functions import ALLOWED, calendar, lost
from nowiser.sql.functions.base import WANTED
from nowiser.sql.interval import INT64, Interval
from nowiser.sql.tree import Call, Expression, columns, parts

LARGEST_REAL = 10**300  # far inside the doubles, so that no rounding on the way reaches infinity
LIMITS = {
    Kind.INTEGER: INT64,
    Kind.REAL: Interval(-LARGEST_REAL, LARGEST_REAL),
    Kind.DATE: Interval(calendar.FIRST, calendar.LATEST),
    Kind.TIMESTAMP: Interval(calendar.FIRST * calendar.DAY, calendar.LATEST * calendar.DAY),
}


def total(expression: Expression) -> None:
    """Refuse an expression some row could overflow. Decided from declared ranges alone."""
    for part in parts(expression):
        if not isinstance(part, Call) or not ALLOWED[part.function].overflows:
            continue
        bounds = part.type.interval
        limits = LIMITS[part.type.kind]
        fits = limits.low <= bounds.low and bounds.high <= limits.high
        if not fits:
            raise NotAnswerable(
                "Some row could overflow here: the result has no bounds that a number can hold.",
                hint=_remedy(part),
                span=part.span,
            )


def summand(argument: Expression) -> Interval:
    """Between which ends every summand lies. Refuses where they are not known, or where rounding has moved a summand
    by more than half of the unit it is added in (`cells.PRECISION`).
    """
    if argument.type.kind not in (Kind.INTEGER, Kind.REAL):
        raise NotAnswerable(
            f"SUM, AVG and the like take numbers, not {argument.type.kind.value}.",
            hint="The share that is true: AVG(CAST(x AS INTEGER))."
            if argument.type.kind is Kind.BOOLEAN
            else "Count rows with COUNT(*) and a condition in WHERE instead.",
            span=argument.span,
        )
    bounds = argument.type.interval
    unknown = not bounds.finite or (
        argument.type.kind is Kind.INTEGER and (bounds.low == INT64.low or bounds.high == INT64.high)
    )
    if unknown:
        raise NotAnswerable("How far one row can move this is not known.", hint=_remedy(argument), span=argument.span)
    if bounds.magnitude * WANTED < argument.type.error < inf:
        raise lost(argument.span)
    return Interval(Fraction(bounds.low), Fraction(bounds.high))


def _remedy(expression: Expression) -> str:
    loose = [c.attribute for c in columns(expression) if c.type.bounds and not _declared(c.type.bounds)]
    clip = "Clip it in the question, as in LEAST(GREATEST(x, 0), 100)"
    if not loose:
        return f"{clip}."
    return f"{clip}, or ask the custodian to declare a range for {', '.join(loose)}."


def _declared(bounds: Interval) -> bool:
    return bounds.finite and bounds != INT64
