"""What a released label covers: `compare` and the red team read the labels of a release as an attacker does.

A label covers itself; `*` covers everything, `12**` what begins so, `20-29` and `[20, 29]` the numbers between; `a | b`
covers what its parts cover; a word of a hierarchy covers the values below it, if the hierarchy is given. A missing
value of the release covers missing values, and others too if what is known of the victims has none (it was suppressed).
What is written otherwise is read all the same: `true` for `True`, `40.0` for `40`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nowiser.microdata.hierarchies.hierarchy import Hierarchy
from nowiser.microdata.table.column import Column, Floats, Mask

Rules = Mapping[str, frozenset[str]]  # label → the values it covers
_NUMBER = r"([+-]?[0-9]+(?:\.[0-9]+)?)"
_RANGE = re.compile(rf"([\[(]?)\s*{_NUMBER}\s*(?:-|–|,|\.\.)\s*{_NUMBER}\s*([\])]?)")
_OPEN = re.compile(rf"(<=|>=|≤|≥|<|>)\s*{_NUMBER}|{_NUMBER}\s*(\+)")


@dataclass(frozen=True, eq=False)
class Fit:
    """`fits[v, l]`: label l of the release covers value v of what is known; the last row and column are NULL's."""

    fits: Mask
    readable: Mask  # labels that cover anything
    unread: float  # share of the released rows whose label nobody can read


def rules(h: Hierarchy) -> dict[str, frozenset[str]]:
    """What each label of a hierarchy covers. A word that stands for other values on another level covers both."""
    under: dict[str, set[str]] = {}
    for value, path in h.path().items():
        for label in path:
            if label is not None and value is not None:
                under.setdefault(label, set()).add(value)
    return {label: frozenset(values) for label, values in under.items()}


def fit(known: Column, seen: Column, told: Rules | None = None) -> Fit:
    """Which labels of the released column fit which known values."""
    values, labels = known.labels, seen.labels
    place = {v: i for i, v in enumerate(values)}
    written: dict[str, list[int]] | None = None
    numbers = known.value_numbers if len(values) else np.zeros(0)
    fits = np.zeros((len(values) + 1, len(labels) + 1), dtype=bool)
    readable = np.ones(len(labels) + 1, dtype=bool)
    own = np.isfinite(seen.value_numbers) if len(labels) else np.zeros(0, bool)
    for j, label in enumerate(labels):
        covered = covers(label, values, place, numbers, told or {})
        if covered is None:
            written = _otherwise(values) if written is None else written
            same = written.get(_plain(label))
            covered = None if same is None else np.isin(np.arange(len(values)), same)
        if covered is None:
            readable[j] = bool(own[j])  # a number that no victim has is still read
        else:
            fits[: len(values), j] = covered
    fits[-1, -1] = True
    fits[-1, [j for j, label in enumerate(labels) if label == "*"]] = True
    if not known.nulls:
        fits[: len(values), -1] = True
    counts = seen.counts()
    unread = float(counts[~readable[:-1]].sum() / max(1, len(seen))) if len(labels) else 0.0
    return Fit(fits, readable, unread)


def covers(
    label: str, values: tuple[str, ...], place: Mapping[str, int], numbers: Floats, told: Rules
) -> NDArray[np.bool_] | None:
    """Which of the values a label covers; None if nobody can read it."""
    out: NDArray[np.bool_] = np.zeros(len(values), dtype=bool)
    if label == "*":
        return ~out
    if label in place:
        out[place[label]] = True
        return out | _told(label, place, told)
    if label in told:
        return _told(label, place, told)
    if " | " in label:
        parts = [covers(part.strip(), values, place, numbers, told) for part in label.split(" | ")]
        read = [p for p in parts if p is not None]
        for part in read:
            out |= part
        return out if read else None
    if label.endswith("*"):
        start = label.rstrip("*")
        return np.array([v.startswith(start) and len(v) >= len(start) for v in values], dtype=bool)
    return _numeric(label, numbers)


def _otherwise(values: tuple[str, ...]) -> dict[str, list[int]]:
    """The values by what is left of them without case, spaces around them, and how a number is written."""
    found: dict[str, list[int]] = {}
    for i, value in enumerate(values):
        found.setdefault(_plain(value), []).append(i)
    return found


def _plain(text: str) -> str:
    bare = text.strip().casefold()
    if not bare[-1:].isdigit():
        return bare
    try:
        return repr(float(bare))
    except ValueError:
        return bare


def _told(label: str, place: Mapping[str, int], told: Rules) -> NDArray[np.bool_]:
    out: NDArray[np.bool_] = np.zeros(len(place), dtype=bool)
    out[[place[v] for v in told.get(label, ()) if v in place]] = True
    return out


def _numeric(label: str, numbers: Floats) -> NDArray[np.bool_] | None:
    if not len(numbers) or not np.isfinite(numbers).any():
        return None
    ends = _RANGE.fullmatch(label.strip())
    if ends is not None:
        low, high = float(ends[2]), float(ends[3])
        above = numbers > low if ends[1] == "(" else numbers >= low
        below = numbers < high if ends[4] == ")" else numbers <= high
        return np.asarray(above & below)
    one = _OPEN.fullmatch(label.strip())
    if one is None:
        return None
    if one[4]:
        return np.asarray(numbers >= float(one[3]))
    end = float(one[2])
    sides = {"<": numbers < end, ">": numbers > end, "<=": numbers <= end, ">=": numbers >= end}
    return np.asarray(sides[one[1].replace("≤", "<=").replace("≥", ">=")])
