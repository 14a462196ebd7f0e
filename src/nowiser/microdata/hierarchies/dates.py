"""Dates of any common spelling into month, quarter, year (and decade, where they span more than ten years).

A column is a column of dates if every value is one, in one order of day, month and year. `03/04/2021` fits two
orders; where no value of the column decides, only the year is sure, and months are left out unless the order is
given (`dates:dmy`, `dates:mdy`). Two-digit years keep their two digits: no century is guessed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from nowiser.errors import Misconfigured
from nowiser.microdata.hierarchies.climbing import Rule, climb
from nowiser.microdata.hierarchies.hierarchy import Hierarchy
from nowiser.microdata.table.column import Column

MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
NAME = (
    "(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    "|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
TIME = r"(?:[T ]\s*\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s*(?:[AaPp][Mm])?\s*(?:Z|[+-]\d{2}:?\d{2})?)?"
YEAR, SHORT, DAY, MONTH = r"(?P<y>\d{4})", r"(?P<y>\d{2})", r"(?P<d>\d{1,2})", r"(?P<m>\d{1,2})"
SHAPES = (
    ("ymd", rf"{YEAR}(?P<s>[-/.]){MONTH}(?P=s){DAY}"),
    ("ymd", r"(?P<y>(?:1[89]|20)\d{2})(?P<m>\d{2})(?P<d>\d{2})"),
    ("ym", rf"{YEAR}[-/.]{MONTH}"),
    ("dmy", rf"{DAY}(?P<s>[-/.]){MONTH}(?P=s){YEAR}"),
    ("mdy", rf"{MONTH}(?P<s>[-/.]){DAY}(?P=s){YEAR}"),
    ("dmy", rf"{DAY}(?P<s>[-/.]){MONTH}(?P=s){SHORT}"),
    ("mdy", rf"{MONTH}(?P<s>[-/.]){DAY}(?P=s){SHORT}"),
    ("dmy", rf"{DAY}[-. ]?\s*{NAME}[-. ,]*\s*{YEAR}"),
    ("mdy", rf"{NAME}\.?\s*{DAY},?\s+{YEAR}"),
)
PATTERNS = tuple((order, re.compile(shape + TIME, re.IGNORECASE)) for order, shape in SHAPES)
ORDERS = ("ymd", "dmy", "mdy", "ym")
MANY_YEARS = 10


@dataclass(frozen=True)
class Dates:
    """Every label's year, month and day (day 0: only the month is known), and how they were read."""

    parts: tuple[tuple[int, int, int], ...]
    order: str
    short: bool  # two-digit years
    sure: bool  # no other order fits


def read(labels: Sequence[str], order: str | None = None) -> Dates | None:
    """The labels as dates, or None if one of them is none."""
    found = [
        (name, parts, "y>\\d{2})" in pattern.pattern)
        for name, pattern in PATTERNS
        if order in {None, name} and (parts := _all(pattern, labels)) is not None
    ]
    if not found or not labels:
        return None
    name, parts, short = found[0]
    return Dates(parts, name, short, all(other == parts for _, other, _ in found))


def _all(pattern: re.Pattern[str], labels: Sequence[str]) -> tuple[tuple[int, int, int], ...] | None:
    out = []
    for label in labels:
        match = pattern.fullmatch(label.strip())
        parts = None if match is None else _parts(match.groupdict())
        if parts is None:
            return None
        out.append(parts)
    return tuple(out)


def _parts(named: dict[str, str | None]) -> tuple[int, int, int] | None:
    word = named.get("name")
    month = MONTHS.index(word[:3].lower()) + 1 if word else int(named["m"] or 0)
    year, day = int(named["y"] or 0), int(named.get("d") or 0)
    try:
        date(year if year > 99 else 2000 + year, month, day or 1)
    except ValueError:
        return None
    return year, month, day


def dates(column: Column, order: str | None = None) -> Hierarchy:
    """Month, quarter, year, decade, `*`. Raises Misconfigured for values that are no dates."""
    if order not in {None, *ORDERS}:
        raise Misconfigured(f"the order of dates in {column.name!r} is {', '.join(ORDERS)}, not {order!r}")
    found = read(column.labels, order)
    if found is None:
        raise Misconfigured(
            f"{column.name!r} holds values that are no dates" + (f" in the order {order}" if order else ""),
            hint="All must be written alike, as in 2021-04-03, 03.04.2021, 04/03/2021 or 3 Apr 2021.",
        )
    parts = found.parts
    width = 2 if found.short else 4

    def year(code: int) -> str:
        return f"{parts[code][0]:0{width}d}"

    rules: list[Rule] = [year]
    if found.sure or order is not None:
        months = [lambda c: f"{year(c)}-{parts[c][1]:02d}"] if found.order != "ym" else []
        rules = [*months, lambda c: f"{year(c)}-Q{(parts[c][1] + 2) // 3}", year]
    years = [y for y, _, _ in parts]
    if not found.short and max(years) - min(years) > MANY_YEARS:
        rules.append(lambda c: f"{parts[c][0] // 10}0s")
    words = "dates" if found.sure or order is not None else "dates, day and month cannot be told apart"
    return climb(column, rules, kind=words, ordered=True)
