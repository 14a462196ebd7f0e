"""The allow-list: every function a question may use, and how a call of one is built.

Adding a function is adding an entry to one of the files here; the conformance suite then holds every engine to
its reference meaning over nasty inputs, and the brute-force suite its bounds and slopes.
"""

import math
from typing import Any

from nowiser.errors import NotAnswerable, Span
from nowiser.sql.functions import arithmetic, casts, choice, dates, logic, numbers, patterns, powers, strings, text
from nowiser.sql.functions.base import Function, Mismatch
from nowiser.sql.tree import Call, Expression

ALLOWED: dict[str, Function] = {
    f.name: f
    for home in (arithmetic, casts, choice, dates, logic, numbers, patterns, powers, strings, text)
    for f in home.FUNCTIONS
}


def call(name: str, args: tuple[Expression, ...], span: Span | None = None) -> Call:
    """A typed call. Raises NotAnswerable where the arguments do not fit."""
    try:
        result = ALLOWED[name].typing(tuple(a.type for a in args))
    except Mismatch as mismatch:
        raise NotAnswerable(f"{name.upper()} {mismatch.message}.", hint=mismatch.hint, span=span) from None
    return Call(name, args, result, span)


def apply(name: str, values: list[Any]) -> Any:
    """The reference meaning of a call. A result that is no finite number is NULL."""
    function = ALLOWED[name]
    if function.strict and any(v is None for v in values):
        return None
    try:
        result = function.evaluate(*values)
    except OverflowError:
        return None
    return None if isinstance(result, float) and not math.isfinite(result) else result


__all__ = ["ALLOWED", "Function", "apply", "call"]
