"""PostgreSQL raises an error where a double becomes too small, so what could is refused there beforehand.

`finest(e)`: no value of `e` but zero is smaller in size than 2 to this power. Prepared columns on PostgreSQL hold
nothing smaller than 2⁻³⁰⁰ (about 5·10⁻⁹¹; smaller numbers are read as zero), and from there on it is arithmetic.
"""

from math import floor, frexp, log2

from nowiser.model import schema
from nowiser.model.schema import Kind
from nowiser.sql.tree import Call, Column, Expression, Literal

COLUMN = -300
LEAST = -1021  # the smallest double without loss of digits is 2⁻¹⁰²²
MOST = 1023
UNKNOWN = -1074


def finest(e: Expression) -> int:
    """A bound on the binary exponent of every value but zero."""
    if e.type.kind is not Kind.REAL:
        return 0  # whole numbers
    match e:
        case Column():
            return _of_column(e.declared)
        case Literal():
            return frexp(float(e.value))[1] - 1 if e.value else 0
        case Call():
            return _of_call(e)
    return UNKNOWN


def _of_column(c: schema.Column) -> int:
    """Also of the ends it is clipped to, of what stands for a missing value between them, and of listed values."""
    ends = [c.low, c.high, (c.low + c.high) / 2] if c.low is not None and c.high is not None else []
    known = [float(v) for v in (*ends, *(c.domain or ())) if v]
    return min([COLUMN, *(frexp(v)[1] - 1 for v in known if v)])


def _of_call(e: Call) -> int:
    inner = [finest(a) for a in e.args if a.type.kind is Kind.REAL] or [0]
    match e.function:
        case "*":
            return sum(inner)
        case "/":
            return inner[0] - 1 - _most(e.args[1])
        case "+" | "-":
            return min(inner) - 53  # the last digit of the finer one
        case "neg" | "abs" | "case" | "coalesce" | "nullif" | "greatest" | "least":
            return min(inner)
        case "floor" | "ceil" | "round" | "trunc" | "to_real":
            return 0
        case "round_to":
            return -40  # at most twelve decimal places
        case "sqrt":
            return min(inner) // 2 - 1
        case "ln" | "log10":
            return -54
        case "ramp":
            return -57  # zero, or above 10⁻¹⁷
        case "distance":
            return -499  # zero, or 10⁻¹⁵⁰ and more
    return UNKNOWN


def _most(e: Expression) -> int:
    """The binary exponent nothing passes; without bounds, that of the largest double."""
    size = e.type.interval.magnitude
    return MOST if size == float("inf") or size > 2**MOST else floor(log2(size)) + 1 if size > 1 else 0


def risk(e: Call) -> str | None:
    """Why this product or quotient could leave the doubles at either end; None if it cannot."""
    if e.type.kind is not Kind.REAL or e.function not in ("*", "/"):
        return None
    too_large = e.function == "/" and _most(e.args[0]) - finest(e.args[1]) > MOST
    if too_large or finest(e) < LEAST:
        return "some row could give a number too small or too large for a double, which is an error there"
    return None
