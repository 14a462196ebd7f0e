"""Numbers in intervals: nested widths that are given, or nice ones found for the column.

Nice widths are 1, 2 or 5 times a power of ten; the first cuts the bulk of the rows into at most twenty intervals and
each next one unites a few of the one before. Where a few rows lie far from the bulk, everything beyond a round number
is one interval (`top`, `bottom`): single outliers would otherwise keep their own.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.hierarchies.climbing import climb
from nowiser.microdata.hierarchies.hierarchy import Hierarchy
from nowiser.microdata.table.column import Column, Floats

FINE = 20  # intervals of the first level, at most
TAIL = 0.01  # share of the rows that may count as far from the bulk, on each side
ENOUGH = 0.75  # of the range that the widest interval may take
FAR = 1.0  # … if they lie farther out than this many widths of the bulk


@dataclass(frozen=True)
class Intervals:
    """Widths from level to level; what lies beyond `bottom` and `top` is one interval each."""

    widths: tuple[float, ...]
    start: float = 0.0
    bottom: float | None = None
    top: float | None = None

    @property
    def text(self) -> str:
        """As a recipe or the command line writes it."""
        ends = [f"{name}={plain(x)}" for name in ("bottom", "top") if (x := getattr(self, name)) is not None]
        start = [f"from={plain(self.start)}"] if self.start else []
        return ":".join(["intervals", *map(plain, self.widths), *start, *ends])


def plain(number: float) -> str:
    """All its digits, and no more of them than it has."""
    return f"{number:.15g}" if abs(number) < 1e15 and number != round(number) else f"{number:.0f}"


def intervals(column: Column, wanted: Intervals) -> Hierarchy:
    """Raises Misconfigured for values that are no numbers, and for widths or ends that do not nest."""
    name, widths, start = column.name, wanted.widths, wanted.start
    if not column.is_numeric:
        bad = [lab for lab, x in zip(column.labels, column.value_numbers, strict=True) if not math.isfinite(x)]
        raise Misconfigured(
            f"intervals need numbers, and {name!r} holds values that are none: {', '.join(map(repr, bad[:5]))}"
        )
    for small, large in pairwise(widths):
        if large <= small or not _multiple(large, small):
            raise Misconfigured(
                f"interval widths of {name!r} must be multiples of each other to be nested, "
                f"and {large:g} is not a multiple of {small:g}"
            )
    for end in (wanted.bottom, wanted.top):
        if end is not None and not _multiple(end - start, widths[-1]):
            raise Misconfigured(
                f"the ends of the intervals of {name!r} must be multiples of the widest, {widths[-1]:g}, "
                f"counted from {start:g}, and {end:g} is not"
            )
    numbers = column.value_numbers
    whole = bool(np.all(numbers == np.round(numbers))) and all(w == round(w) for w in widths) and start == round(start)
    rules = [partial(_label, numbers, wanted, whole, w) for w in widths]
    ends = "".join(f", {k} {x:g}" for k in ("bottom", "top") if (x := getattr(wanted, k)) is not None)
    return climb(column, rules, kind="intervals " + ", ".join(f"{w:g}" for w in widths) + ends, ordered=True)


def _multiple(large: float, small: float) -> bool:
    return abs(large / small - round(large / small)) <= 1e-9


def _label(numbers: Floats, wanted: Intervals, whole: bool, width: float, code: int) -> str:
    number = float(numbers[code])
    if wanted.top is not None and number >= wanted.top:
        return f"{plain(wanted.top)} or more"
    if wanted.bottom is not None and number < wanted.bottom:
        return f"below {plain(wanted.bottom)}"
    low = wanted.start + math.floor((number - wanted.start) / width) * width
    if not whole:
        return f"[{plain(low)}, {plain(low + width)})"
    if width == 1:
        return plain(low)
    return f"{plain(low)}{' to ' if low < 0 else '-'}{plain(low + width - 1)}"


def nice(column: Column) -> Intervals | None:
    """Intervals that suit the column's rows; None where it has too few different numbers for any."""
    numbers, counts = column.value_numbers, column.counts()
    used = counts > 0
    numbers, counts = numbers[used], counts[used]
    if len(numbers) < 2:
        return None
    low, high = float(numbers.min()), float(numbers.max())
    inner_low, inner_high = _bulk(numbers, counts)
    bulk = inner_high - inner_low
    far_up, far_down = high - inner_high > FAR * bulk > 0, inner_low - low > FAR * bulk > 0
    span = (inner_high if far_up else high) - (inner_low if far_down else low)
    first = next_nice(span / FINE)
    if np.all(numbers == np.round(numbers)):
        first = max(first, 2.0)
    widths = [first]
    while (after := _wider(widths[-1], span, first=len(widths) == 1)) is not None:
        widths.append(after)
    if first > span:
        return None
    last = widths[-1]
    top = (math.floor(inner_high / last) + 1) * last if far_up else None
    bottom = math.floor(inner_low / last) * last if far_down else None
    return Intervals(tuple(widths), 0.0, bottom, top)


def _bulk(numbers: Floats, counts: Sequence[int] | np.typing.NDArray[np.int64]) -> tuple[float, float]:
    """The range of the rows without a share of TAIL on each side."""
    order = np.argsort(numbers)
    share = np.cumsum(np.asarray(counts)[order]) / np.sum(counts)
    low = numbers[order][int(np.searchsorted(share, TAIL))]
    high = numbers[order][min(len(order) - 1, int(np.searchsorted(share, 1 - TAIL)))]
    return float(low), float(high)


def next_nice(width: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is at least this."""
    if width <= 0 or not math.isfinite(width):
        return 1.0
    power = 10.0 ** math.floor(math.log10(width))
    found = next(m for m in (1, 2, 5, 10, 20) if m * power >= width * (1 - 1e-12))
    return float(f"{found * power:.6g}")


def _wider(width: float, span: float, *, first: bool) -> float | None:
    """The next interval, which unites whole ones: 1 → 5 → 10 → 20 → 100; None where it would leave less than two."""
    digit = round(width / 10.0 ** math.floor(math.log10(width) + 1e-9))
    fives = digit == 2 or (digit == 1 and first)
    options = [float(f"{width * by:.6g}") for by in ((5, 2) if fives else (2,))]
    return next((w for w in options if w <= ENOUGH * span), None)
