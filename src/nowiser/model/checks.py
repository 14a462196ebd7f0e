"""Checks on arguments, each with a message that names the argument, what is allowed and what was found."""

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

from nowiser.errors import Misconfigured


def number(name: str, value: Any, *, low: float = -math.inf, high: float = math.inf, strict: bool = False) -> float:
    """`value` as a finite float in [low, high] (in (low, high) when strict), or Misconfigured."""
    allowed = _allowed(low, high, strict=strict)
    if isinstance(value, bool) or (not isinstance(value, (int, float, Fraction)) and not hasattr(value, "__float__")):
        raise Misconfigured(f"{name} must be {allowed}, found {value!r}")
    try:
        real = bool(getattr(value, "imag", 0) == 0)
        result = float(value) if real else math.nan
    except (TypeError, ValueError, OverflowError):  # an array, a Decimal('sNaN'), an integer beyond all floats
        real = False
    if not real:
        raise Misconfigured(f"{name} must be {allowed}, found {_shortened(value)}")
    inside = low < result < high if strict else low <= result <= high
    if not math.isfinite(result) or not inside:
        raise Misconfigured(f"{name} must be {allowed}, found {result!r}")
    return result


def _shortened(value: Any) -> str:
    """The value as it was given, on one line of bearable length."""
    text = f"a whole number of {value.bit_length()} bits" if isinstance(value, int) else " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "…"


def _allowed(low: float, high: float, *, strict: bool) -> str:
    if low == -math.inf and high == math.inf:
        return "a finite number"
    if high == math.inf:
        return f"a finite number {'above' if strict else 'of at least'} {low:g}"
    if strict:
        return f"a number between {low:g} and {high:g}, both excluded"
    return f"a number between {low:g} and {high:g}"


def percentage(text: Any, name: str = "gain") -> Fraction:
    """`5%` or `0.05` (text or number) as an exact fraction; anything else is Misconfigured.

    Floats are read by their shortest decimal form, so that 0.05 means one twentieth.
    """
    refused = Misconfigured(f"{name} must be a percentage like 5%, or a share between 0 and 1, found {text!r}")
    if isinstance(text, bool):
        raise refused
    if isinstance(text, (int, Fraction)) or (isinstance(text, Decimal) and text.is_finite()):
        value = Fraction(text)
    else:
        written = repr(float(text)) if isinstance(text, float) or hasattr(text, "dtype") else text
        if not isinstance(written, str):
            raise refused
        written = written.strip()
        hundredths = written.endswith("%")
        try:
            if "/" in written or "_" in written:
                raise refused
            value = Fraction(written[:-1].strip() if hundredths else written)
        except (ValueError, ZeroDivisionError):
            raise refused from None
        value = value / 100 if hundredths else value
    if not 0 <= value <= 1:
        if 1 < value <= 100 and "%" not in str(text):
            refused.hint = f"Did you mean {float(value):g}%?"
        raise refused
    return value
