"""Two tables whose declared ranges end where arithmetic breaks, with rows at those ends.

`v` protects values, `p` protects persons; both have the same columns and rows. One row is one person. For every secret
column there are *lines*: rows that are equal but for that column. Two rows of one line are what an attacker cannot
tell apart but for one secret.
"""

import csv
import io
import math
import random
from dataclasses import dataclass
from typing import Any

TINY = 5e-324  # the smallest double
NORMAL = 2.2250738585072014e-308  # the smallest that has all its digits
MOST = 1.7976931348623157e308
LAST, FIRST = 2**63 - 1, -(2**63)


def beside(x: float) -> list[float]:
    """A double and its two neighbours."""
    return [math.nextafter(x, -math.inf), x, math.nextafter(x, math.inf)]


def around(n: int) -> list[int]:
    return [n - 1, n, n + 1]


def ends(low: float, high: float) -> list[float]:
    """What a range from low to high holds that is nasty, and its ends with what lies just outside."""
    inside = [0.0, -0.0, TINY, -TINY, NORMAL, 0.5, -0.5, 1.5, 2.5, 15.0, 15.999999999999998, 31.5, 45.0, 1e-10, 1e-300]
    inside += [(low + high) / 2, low / 3 + high / 5, 2.0**24, 2.0**52 + 0.5, 2.0**52 + 1]
    return [*beside(low), *beside(high), *(x for x in inside if low <= x <= high)]


def whole_ends(low: int, high: int) -> list[int]:
    inside = [0, 1, -1, 7, 2**24 + 1, 2**31, -(2**31), 2**52 + 1, 2**53 - 1, -(2**53), 2**62 - 1, -(2**62)]
    return [
        max(FIRST, low - 1),
        low,
        low + 1,
        high - 1,
        high,
        min(LAST, high + 1),
        *(n for n in inside if low < n < high),
    ]


@dataclass(frozen=True)
class Made:
    """A column: what the policy declares, and what its rows may hold (as written in a file)."""

    name: str
    kind: str  # R, I, B, T, D or S
    declared: str
    values: tuple[Any, ...]
    type: str  # in PostgreSQL

    @property
    def secret(self) -> bool:
        return self.declared.startswith("{sensitive")


def real(name: str, declared: str, values: list[float]) -> Made:
    return Made(name, "R", declared, tuple(dict.fromkeys(repr(x) for x in values)), "double precision")


def whole(name: str, declared: str, values: list[int]) -> Made:
    return Made(name, "I", declared, tuple(dict.fromkeys(values)), "bigint")


def ranged(role: str, low: Any, high: Any, more: str = "") -> str:
    return f"{{{role}: [{low}, {high}]{more}}}"


WHOLE = ", kind: integer"
DAYS = ("2019-01-01", "2025-12-31", "2020-02-29", "2024-12-30", "2021-01-31", "1969-12-31")
EVER = ("0001-01-01", "9999-12-31", "2024-02-29", "1582-10-10", "1900-02-28")
MOMENTS = ("2019-01-01 00:00:00", "2025-12-31 23:59:59", "2020-02-29 23:59:59.999999", "2024-12-30 12:30:00.000001")
TEXTS = ("", "a", "A-1", "12", "-3.5e7", "9223372036854775807", "999999999999999999", "-0", "1e99", "1e-99", "ab%_\\", "ÄÖß🚀", " x ")  # fmt: skip
COLUMNS = (
    real("r60", ranged("sensitive", 0, 60), ends(0.0, 60.0)),
    real("r1", ranged("sensitive", -1, 1), ends(-1.0, 1.0)),
    real("rhuge", ranged("sensitive", "-1.0e+300", "1.0e+300"), ends(-1e300, 1e300)),
    real("rtiny", ranged("sensitive", "1.0e-300", 1), ends(1e-300, 1.0)),
    real("r53", ranged("sensitive", 0, 2**53), ends(0.0, 2.0**53)),
    real("rn", ranged("sensitive", 0, 60, ", nullable: true"), ends(0.0, 60.0)),
    real("ru", "{sensitive: real}", [*ends(-MOST / 2, MOST / 2), MOST, -MOST, 1e16, 4503599627370497.5]),
    real("q60", ranged("public", 0, 60), ends(0.0, 60.0)),
    real("qu", "{public: real}", [0.0, -0.0, TINY, -MOST, MOST, 0.5, 1.5, 1e300]),
    whole("i1", ranged("sensitive", 0, 1, WHOLE), [0, 1]),
    whole("i31", ranged("sensitive", -(2**31), 2**31 - 1, WHOLE), whole_ends(-(2**31), 2**31 - 1)),
    whole("i53", ranged("sensitive", -(2**53), 2**53, WHOLE), whole_ends(-(2**53), 2**53)),
    whole("i62", ranged("sensitive", -(2**62), 2**62, WHOLE), whole_ends(-(2**62), 2**62)),
    whole("i63", ranged("sensitive", FIRST + 1, LAST - 1, WHOLE), whole_ends(FIRST + 1, LAST - 1)),
    whole("im", ranged("sensitive", -5, 5, WHOLE + ", nullable: true"), whole_ends(-5, 5)),
    whole("iu", "{sensitive: integer}", whole_ends(FIRST, LAST)),
    whole("j31", ranged("public", -(2**31), 2**31 - 1, WHOLE), whole_ends(-(2**31), 2**31 - 1)),
    Made("bs", "B", "{sensitive: boolean}", ("true", "false"), "boolean"),
    Made("bp", "B", "{public: boolean}", ("true", "false"), "boolean"),
    Made("diag", "T", "{sensitive: {values: [HIV, flu, cold]}}", ("HIV", "flu", "cold"), "text"),
    Made("ts", "T", "{sensitive: text}", TEXTS, "text"),
    Made("tp", "T", "{public: {values: [A, B]}}", ("A", "B"), "text"),
    Made("ds", "D", "{sensitive: {range: [2019-01-01, 2025-12-31]}}", DAYS, "date"),
    Made("du", "D", "{sensitive: date}", (*DAYS, *EVER), "date"),
    Made("ms", "S", "{sensitive: {range: [2019-01-01 00:00:00, 2025-12-31 23:59:59]}, kind: timestamp}", MOMENTS, "timestamp"),
    Made("mu", "S", "{sensitive: timestamp}", (*MOMENTS, "0001-01-01 00:00:00", "9999-12-31 23:59:59.999999"), "timestamp"),
)  # fmt: skip
NAMES = {c.name: c for c in COLUMNS}
SECRET = frozenset(c.name for c in COLUMNS if c.secret)
MISSING = frozenset({"rn", "ru", "q60", "qu", "im", "iu", "bs", "bp", "ts", "tp", "du", "mu"})  # some rows have none
LINE = 14  # rows of a line
BASES = 2  # lines of a column
LOOSE = 24  # rows of no line
TYPES = {"k": "bigint", **{c.name: c.type for c in COLUMNS}}

_TABLE = """  {name}:
    source: {name}.csv
    person: k
    protect: {protect}
    columns:
      k: {{identifier: integer}}
{columns}
"""
POLICY = "nowiser: 1\ntables:\n" + "".join(
    _TABLE.format(name=name, protect=protect, columns="\n".join(f"      {c.name}: {c.declared}" for c in COLUMNS))
    for name, protect in (("v", "values"), ("p", "persons"))
)
POLICY += (
    "attackers:\n"
    "  - {guess: v.r60 within 2, gain: 45%}\n"
    "  - {guess: p.diag exactly, gain: 45%}\n"
    "  - {guess: present in p, gain: 45%}\n"
    "answers: {spend: 0.5%}\n"
)


@dataclass(frozen=True)
class Rows:
    """The rows of a table, and which of them (by place) are the lines of each secret column."""

    values: tuple[dict[str, Any], ...]
    lines: dict[str, tuple[tuple[int, ...], ...]]

    def written(self) -> str:
        """As a csv file. Numbers `k` from 0 on are the places."""
        out = io.StringIO()
        writer = csv.DictWriter(out, ["k", *NAMES])
        writer.writeheader()
        writer.writerows({"k": i, **row} for i, row in enumerate(self.values))
        return out.getvalue()


def make_rows(seed: int) -> Rows:
    toss = random.Random(f"rows {seed}")

    def value(c: Made) -> Any:
        if c.name in MISSING and toss.random() < 0.06:
            return ""
        if toss.random() < 0.2:
            fresh = {"r60": (0, 60), "rn": (0, 60), "q60": (0, 60), "r1": (-1, 1), "r53": (0, 2**53)}.get(c.name)
            if fresh is not None:
                return repr(toss.uniform(*fresh))
        return toss.choice(c.values)

    rows = [{c.name: value(c) for c in COLUMNS} for _ in range(LOOSE)]
    lines: dict[str, list[tuple[int, ...]]] = {}
    for c in COLUMNS:
        for _ in range(BASES if c.secret else 0):
            base = {d.name: value(d) for d in COLUMNS}
            line = list(c.values) if len(c.values) < LINE else toss.sample(c.values, LINE)
            line = [*line, *([""] if c.name in MISSING else [])][:LINE]
            line += [value(c) for _ in range(LINE - len(line))]
            lines.setdefault(c.name, []).append(tuple(range(len(rows), len(rows) + LINE)))
            rows += [base | {c.name: x} for x in line]
    return Rows(tuple(rows), {name: tuple(found) for name, found in lines.items()})
