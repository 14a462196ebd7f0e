"""The first policy for a file: pure text from what was seen and what the custodian answered.

Ranges are rounded outward to numbers that anybody could have written down without seeing the data, and every
statement that nevertheless came from the data is marked *to be confirmed as public*: declaring a range, a list of
values or a number of rows publishes it, and only the custodian can say whether that is harmless.
"""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction

from nowiser.model.goal import named
from nowiser.model.schema import Csv, Kind, Protect
from nowiser.policy.csv import spelled
from nowiser.policy.tables import EACH_ROW
from nowiser.policy.tree import Leaf, Place

CONFIRM = "to be confirmed as public"
_FEW = 50  # so many different values are listed, more become a range or free text
_WIDTH = 60  # where comments start

_ROW_NAMES = ("id", "nr", "no", "key", "number", "index")

Edge = int | float | date | datetime


@dataclass(frozen=True)
class Seen:
    """What the file shows of one column."""

    name: str
    kind: Kind
    distinct: int
    nulls: bool
    low: Edge | None = None
    high: Edge | None = None
    values: tuple[str, ...] | None = None  # all of them, in order, when they are few texts


@dataclass(frozen=True)
class Profile:
    table: str
    source: str
    engine: str
    rows: int
    columns: tuple[Seen, ...]
    csv: Csv | None = None  # where the file is not written as files of its name usually are

    def column(self, name: str) -> Seen | None:
        return next((c for c in self.columns if c.name == name), None)


@dataclass(frozen=True)
class Wishes:
    """The answers to the three questions."""

    person: tuple[str, ...]  # empty: each row is a person
    secrets: tuple[tuple[str, Fraction | None], ...]  # column and how close a guess hurts; None: exactly
    gain: Fraction
    protect: Protect = Protect.PERSONS
    rows_per_person: int = 1


def draft(profile: Profile, wishes: Wishes) -> str:
    """The text of a policy that reads back without error."""
    secret = dict(wishes.secrets)
    person = ", ".join(map(spell, wishes.person))
    known = (
        "who is in the table is public" if wishes.protect is Protect.VALUES else "even who is in the table is secret"
    )
    lines = [
        f"# What is marked `{CONFIRM}` was read off the data and rounded.",
        "# Keep it only if saying it aloud harms nobody. Then run `nowiser check`.",
        "nowiser: 1",
        f"engine: {spell(profile.engine)}",
        "tables:",
        f"  {spell(profile.table)}:",
        f"    source: {spell(profile.source)}",
        *([_noted(f"    csv: {_dialect(profile.csv)}", "how the file is written")] if profile.csv else []),
        _noted(f"    person: {f'[{person}]' if len(wishes.person) > 1 else person}", "one person = one value of this")
        if wishes.person
        else _noted(f"    person: {EACH_ROW}", "no column names a person"),
    ]
    if wishes.person:
        note = "further rows of a person are left out" if wishes.rows_per_person > 1 else "enforced, not trusted"
        lines.append(_noted(f"    rows_per_person: {wishes.rows_per_person}", f"{CONFIRM}; {note}"))
    lines += [_noted(f"    protect: {wishes.protect.value}", known), "    columns:"]
    for column in profile.columns:
        lines.append(_column(column, wishes, profile.rows, is_secret=column.name in secret))
    gain = percent(wishes.gain)
    lines += [
        "",
        f"# Nothing below may become guessable more than {gain[:-1]} points better than before.",
        "attackers:",
    ]
    goals = [_goal(profile.table, name, radius) for name, radius in wishes.secrets]
    if wishes.protect is Protect.PERSONS:
        goals.append(f"present in {named(profile.table)}")
    lines += [f"  - {{guess: {spell(goal)}, gain: {gain}}}" for goal in goals]
    lines += ["", _noted("answers: {spend: 5%}", "default share of the whole allowance per question")]
    return "\n".join(lines) + "\n"


def _dialect(csv: Csv) -> str:
    usual = Csv(escape=csv.quote)
    said = {key: getattr(csv, key) for key in ("delimiter", "quote", "escape")}
    said = {key: value for key, value in said.items() if value != getattr(usual, key)}
    return f"{{{', '.join(f'{key}: {spelled(value)}' for key, value in said.items())}}}"


def _column(seen: Seen, wishes: Wishes, rows: int, *, is_secret: bool) -> str:
    name = f"      {spell(seen.name)}"
    if seen.name in wishes.person:
        return f"{name}: {{identifier: {seen.kind.value}}}"
    # Under `protect: persons` what is not asked about is kept secret all the same; that costs nothing.
    role = "sensitive" if is_secret or wishes.protect is Protect.PERSONS else "public"
    if not is_secret and names_rows(seen, rows):
        return _noted(f"{name}: {{identifier: {seen.kind.value}}}", "nearly every row has its own")
    declared, confirm = _declared(seen)
    extra = ", kind: integer" if seen.kind is Kind.INTEGER and seen.low is not None else ""
    if is_secret:
        extra += ", prior: unknown"
    if seen.nulls and role == "sensitive" and confirm:
        extra += ", nullable: true"
    notes = [CONFIRM] if confirm or role == "public" else []
    if not confirm and seen.kind is not Kind.BOOLEAN:
        notes.append("no range declared: counted, not summed" if seen.kind is not Kind.TEXT else "any text")
    return _noted(f"{name}: {{{role}: {declared}{extra}}}", "; ".join(notes))


def names_rows(seen: Seen, rows: int) -> bool:
    """Texts that hardly repeat (names, addresses), and whole numbers that never do and are called a number or key."""
    if seen.kind is Kind.TEXT:
        return seen.values is None and seen.distinct > rows // 2
    words = seen.name.lower().replace("-", "_").split("_")
    called = any(word in _ROW_NAMES for word in words) or seen.name.lower().endswith("id")
    return seen.kind is Kind.INTEGER and seen.distinct == rows and called


def _declared(seen: Seen) -> tuple[str, bool]:
    """The declaration, and whether it tells something about the data."""
    if seen.values is not None:
        return f"[{', '.join(map(spell, seen.values))}]", True
    if seen.low is None or seen.high is None:
        return seen.kind.value, False
    if isinstance(seen.low, date) and isinstance(seen.high, date):
        return f"[{_span_of_years(seen.kind, seen.low.year, seen.high.year)}]", True
    assert isinstance(seen.low, int | float)
    assert isinstance(seen.high, int | float)
    low, high = outward(seen.low, seen.high, whole=seen.kind is Kind.INTEGER)
    return f"[{decimal(low)}, {decimal(high)}]", True


def _span_of_years(kind: Kind, first: int, last: int) -> str:
    if kind is Kind.DATE:
        return f"{date(first, 1, 1)}, {date(last, 12, 31)}"
    end = datetime(last, 12, 31) + timedelta(hours=23, minutes=59, seconds=59)  # noqa: DTZ001 (policies have no zones)
    return f"{first:04d}-01-01 00:00:00, {end:%Y-%m-%d %H:%M:%S}"


def outward(low: float, high: float, *, whole: bool = False) -> tuple[Fraction, Fraction]:
    """The range widened to round numbers: [3.9, 38.2] becomes [0, 40], [1931, 2004] becomes [1930, 2010]."""
    a, b = Fraction(low), Fraction(high)
    if a > 0 and (a <= b / 2 or a == b):
        a = Fraction(0)
    if b < 0 and (a / 2 <= b or a == b):
        b = Fraction(0)
    if a == b:
        b = Fraction(1)
    step = _nice((b - a) / 8)
    step = max(step, Fraction(1)) if whole else step
    return math.floor(a / step) * step, math.ceil(b / step) * step


def _nice(value: Fraction) -> Fraction:
    """The smallest 1, 2 or 5 times a power of ten that is at least this."""
    digits = math.log10(value.numerator) - math.log10(value.denominator)  # also where no float is that small
    power = Fraction(10) ** math.floor(digits)
    return next(m * power for m in (1, 2, 5, 10, 100) if m * power >= value)


def radius_of(seen: Seen) -> Fraction | None:
    """A first guess at how close a guess hurts: a round number near a thirtieth of the range."""
    if seen.kind not in (Kind.INTEGER, Kind.REAL) or seen.low is None or seen.high is None:
        return None
    assert isinstance(seen.low, int | float)
    assert isinstance(seen.high, int | float)
    low, high = outward(seen.low, seen.high, whole=seen.kind is Kind.INTEGER)
    radius = _nice((high - low) / 40)
    return max(radius, Fraction(1)) if seen.kind is Kind.INTEGER else radius


def is_listed(distinct: int) -> bool:
    return 0 < distinct <= _FEW


def percent(value: Fraction) -> str:
    return f"{decimal(value * 100)}%"


def decimal(value: Fraction) -> str:
    """A fraction with a finite decimal form, written as people do."""
    if value.denominator == 1:
        return str(value.numerator)
    digits = next((d for d in range(1, 30) if (value * 10**d).denominator == 1), 12)
    return f"{float(value):.{digits}f}"


def _goal(table: str, column: str, radius: Fraction | None) -> str:
    name = named(f"{table}.{column}")
    return f"{name} exactly" if radius is None else f"{name} within {decimal(radius)}"


def _noted(line: str, note: str) -> str:
    return f"{line:<{_WIDTH}} # {note}" if note else line


def spell(text: str) -> str:
    """The text as YAML reads it back: bare where that is safe, otherwise in double quotes."""
    return text if _is_plain(text) else json.dumps(text, ensure_ascii=False)


def _is_plain(text: str) -> bool:
    letters = text.replace("_", "").replace(" ", "").replace("-", "").replace(".", "").replace("/", "")
    if not letters.isalnum() or not letters.isascii() or text != text.strip() or text[0] in "-./ ":
        return False
    if not text[0].isalpha():
        return False
    return isinstance(Leaf(Place("", text, 0, len(text)), text, plain=True).value, str)


def table_name(stem: str, taken: Iterable[str] = ()) -> str:
    """A name SQL takes without quotes, from the name of a file."""
    name = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in stem.lower()).strip("_") or "data"
    name = name if name[0].isalpha() else f"t_{name}"
    while name in taken:
        name += "_"
    return name
