"""Outputs of any mechanism as columns in which a difference may show.

An output may be a number, a text, a list, an array, a mapping, None, or an exception that was raised. It becomes

* its numbers, one column each, in order; and differences of pairs of them while there are few;
* the lowest set bit of each floating-point number: float noise reaches other numbers from other inputs;
* its shape (types and lengths) and its whole text, as categories.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MOST_NUMBERS = 64  # of one output; the rest is in its text only
MOST_PAIRED = 8  # numbers whose differences are looked at
LONGEST = 200  # characters of an output that are compared


@dataclass(frozen=True)
class Raised:
    """The mechanism raised instead of answering. The kind of an error is an output like any other."""

    kind: str


@dataclass(frozen=True, eq=False)
class Outputs:
    """Columns of so many outputs. NaN: this output has no such number."""

    numbers: dict[str, Floats]
    labels: dict[str, NDArray[np.object_]]

    def __len__(self) -> int:
        return len(next(iter(self.labels.values())))

    def take(self, part: slice) -> "Outputs":
        return Outputs({n: c[part] for n, c in self.numbers.items()}, {n: c[part] for n, c in self.labels.items()})


def outputs(values: Sequence[Any]) -> Outputs:
    """The columns of these outputs."""
    flat = [_flat(value) for value in values]
    width = min(MOST_NUMBERS, max((len(numbers) for numbers, _ in flat), default=0))
    table = np.full((len(values), width), np.nan)
    for row, (numbers, _) in enumerate(flat):
        found = numbers[:width]
        table[row, : len(found)] = [_real(x) for x in found]
    names = [f"output[{i}]" for i in range(width)]
    columns: dict[str, Floats] = {name: table[:, i] for i, name in enumerate(names)}
    if width <= MOST_PAIRED:
        for i, j in combinations(range(width), 2):
            columns[f"{names[i]} - {names[j]}"] = table[:, i] - table[:, j]
    labels: dict[str, NDArray[np.object_]] = {
        "the shape of the output": _objects([shape for _, shape in flat]),
        "the output": _objects([repr(value)[:LONGEST] for value in values]),
    }
    for i, name in enumerate(names):
        column = [row[i] if i < len(row) else None for row, _ in flat]
        if any(isinstance(x, float) and not x.is_integer() for x in column):
            labels[f"the lowest set bit of {name}"] = _objects([_lowest_bit(x) for x in column])
    return Outputs(columns, labels)


def _objects(values: Sequence[Any]) -> NDArray[np.object_]:
    found = np.empty(len(values), dtype=object)
    found[:] = values
    return found


def _flat(value: Any) -> tuple[list[Any], str]:
    """Its numbers, and its shape in a word."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if value is None or isinstance(value, str | bytes | Raised):
        return [], type(value).__name__
    if isinstance(value, Real) or hasattr(value, "__float__"):
        return [value], "number" if math.isfinite(_real(value)) else str(_real(value))
    inside: Iterable[Any]
    if isinstance(value, Mapping):
        inside = [value[key] for key in sorted(value, key=repr)]
        word = f"keys {sorted(map(repr, value))}"
    elif isinstance(value, Iterable):
        inside = sorted(value, key=repr) if isinstance(value, set | frozenset) else list(value)
        word = type(value).__name__
    else:
        return [], type(value).__name__
    numbers: list[Any] = []
    shapes: list[str] = []
    for part in inside:
        more, shape = _flat(part)
        numbers += more
        shapes.append(shape)
    return numbers, f"{word}[{len(shapes)}: {' '.join(dict.fromkeys(shapes))}]"[:LONGEST]


def _real(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _lowest_bit(value: Any) -> str:
    """The power of two that the lowest set bit of a number stands for."""
    if not isinstance(value, float) or not math.isfinite(value) or value == 0:
        return "none"
    numerator, denominator = value.as_integer_ratio()
    return f"2^{-denominator.bit_length() + 1 if denominator > 1 else (numerator & -numerator).bit_length() - 1}"
