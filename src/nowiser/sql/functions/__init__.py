"""The allow-list: every function a question may use, and how a call of one is built.

Adding a function is adding an entry to one of the files here; the conformance suite then holds every engine to
its reference meaning over nasty inputs, and the brute-force suite its bounds and slopes.
"""

import math
from functools import cache
from typing import Any

from nowiser.errors import NotAnswerable, Span
from nowiser.sql.functions import (
    arithmetic,
    casts,
    choice,
    dates,
    elapsed,
    logic,
    numbers,
    patterns,
    powers,
    soft,
    strings,
    text,
)
from nowiser.sql.functions.base import Function, Mismatch
from nowiser.sql.tree import Call, Expression, Literal

SPELLED = {  # what analysts call functions that have a name of their own here
    "round_to": "ROUND",
    "to_integer": "A cast to INTEGER",
    "to_real": "A cast to DOUBLE PRECISION",
    "integer_to_boolean": "A cast to BOOLEAN",
    "div": "/",
    "neg": "-",
}
WIDEST = 10**38  # of whole numbers computed from answers; a product of large ones would never end
HEAVIEST = 200_000  # letters of one expression; the longest text that is read has 20,000

ALLOWED: dict[str, Function] = {
    f.name: f
    for home in (arithmetic, casts, choice, dates, elapsed, logic, numbers, patterns, powers, soft, strings, text)
    for f in home.FUNCTIONS
}


def call(name: str, args: tuple[Expression, ...], span: Span | None = None) -> Call:
    """A typed call. Raises NotAnswerable where the arguments do not fit."""
    types = tuple(a.type for a in args)
    try:
        result = ALLOWED[name].typing(types)
    except Mismatch as mismatch:
        raise NotAnswerable(
            f"{SPELLED.get(name, name.upper())} {mismatch.message}.", hint=mismatch.hint, span=span
        ) from None
    if ALLOWED[name].loses_digits(types):
        raise lost(span)
    own, uses = _shape(name, len(args))
    weight = own + sum(n * weigh(a) for n, a in zip(uses, args, strict=True))
    if weight > HEAVIEST:
        raise NotAnswerable(
            "Written out for an engine this would be too long: each function around it repeats what is inside.",
            hint="Nest fewer functions, or compute it step by step in a sub-select with GROUP BY.",
            span=span,
        )
    return Call(name, args, result, span, weight)


def lost(span: Span | None) -> NotAnswerable:
    """The refusal of an expression whose value is mostly rounding."""
    return NotAnswerable(
        "This expression loses the digits it is about.",
        hint="Reals have about 16 digits, and 9 of them must be left: add nothing that is 10 million times the result.",
        span=span,
    )


def weigh(e: Expression) -> int:
    """About how many letters an expression takes when it is written out; a part that is repeated counts each time."""
    if isinstance(e, Call):
        return e.weight
    return 20 + len(e.value) if isinstance(e, Literal) and isinstance(e.value, str) else 20


@cache
def _shape(name: str, arguments: int) -> tuple[int, tuple[int, ...]]:
    """How long the longest template of a function is, and how often each argument stands in one."""
    marks = [chr(0xE000 + i) for i in range(arguments)]
    function = ALLOWED[name]
    templates = (function.sql, *([] if function.whole is None else [function.whole]), *function.engines.values())
    texts = [t.format(*marks) if isinstance(t, str) else t(marks) for t in templates]
    return max(map(len, texts)), tuple(max(1, *(t.count(m) for t in texts)) for m in marks)


def apply(name: str, values: list[Any]) -> Any:
    """The reference meaning of a call. A result that is no finite number, or a whole one of over 38 digits, is NULL."""
    function = ALLOWED[name]
    if function.strict and any(v is None for v in values):
        return None
    try:
        result = function.evaluate(*values)
    except (OverflowError, ValueError):  # mathematics has no value there
        return None
    if isinstance(result, float):
        return result if math.isfinite(result) else None
    return None if isinstance(result, int) and abs(result) >= WIDEST else result


__all__ = ["ALLOWED", "Function", "apply", "call", "lost"]
