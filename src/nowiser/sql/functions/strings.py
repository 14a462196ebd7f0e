"""Texts: letters, parts, positions, putting together. All positions count code points.

UPPER and LOWER change the letters listed here one for one (Latin, Greek, Cyrillic), whatever an engine's locale thinks
of them. No function makes a text longer than its arguments together, so no row can be made to take long.
"""

from collections.abc import Callable, Sequence

from nowiser.model.schema import Kind
from nowiser.sql.functions.base import Function, Mismatch, Types, count, nullable, want
from nowiser.sql.functions.text import LONGEST
from nowiser.sql.interval import Interval
from nowiser.sql.tree import Type

_PLANES = ((0x41, 0x5A), (0xC0, 0xDE), (0x391, 0x3A9), (0x400, 0x42F))  # A–Z, À–Þ, Α–Ω, Ѐ–Я
UPPER = "".join(
    c for low, high in _PLANES for c in map(chr, range(low, high + 1)) if len(c.lower()) == 1 and c.lower() != c
)
LOWER = UPPER.lower()
_DOWN, _UP = str.maketrans(UPPER, LOWER), str.maketrans(LOWER, UPPER)


def lowered(text: str) -> str:
    return text.translate(_DOWN)


def _texts(least: int, most: int | None = None) -> Callable[[Types], Type]:
    def typing(types: Types) -> Type:
        count(types, least, most)
        want(types, Kind.TEXT)
        return Type(Kind.TEXT, nullable(types))

    return typing


def _joined(types: Types) -> Type:
    count(types, 1, 100)
    want(types, Kind.TEXT)
    return Type(Kind.TEXT)


def _fixed(types: Types, at: int, least: int) -> int:
    t = types[at]
    if t.kind is not Kind.INTEGER or t.interval.low != t.interval.high or not least <= t.interval.low <= 10**6:
        raise Mismatch(f"takes fixed whole numbers from {least} to 1,000,000 for positions and lengths")
    return int(t.interval.low)


def _cut(least: tuple[int, ...]) -> Callable[[Types], Type]:
    def typing(types: Types) -> Type:
        count(types, 1 + len(least))
        want(types[:1], Kind.TEXT)
        for i, low in enumerate(least):
            _fixed(types, i + 1, low)
        return Type(Kind.TEXT, types[0].nullable)

    return typing


def _position(types: Types) -> Type:
    count(types, 2)
    want(types, Kind.TEXT)
    return Type(Kind.INTEGER, nullable(types), Interval(0, LONGEST))


def _starts(types: Types) -> Type:
    count(types, 2)
    want(types, Kind.TEXT)
    return Type(Kind.BOOLEAN, nullable(types))


def _concat_sql(args: Sequence[str]) -> str:
    return "(" + " || ".join(f"coalesce({a}, '')" for a in args) + ")"


def _trim(name: str, evaluate: Callable[[str], str], spark: str) -> Function:
    return Function(
        name,
        _texts(1),
        evaluate,
        f"{name}({{0}}, ' ')",
        engines={
            "postgres": f"{'btrim' if name == 'trim' else name}({{0}}, ' ')",
            "spark": f"trim({spark} ' ' FROM {{0}})",
        },
    )


def _everywhere(sql: str, **other: str) -> dict[str, str]:
    return {"postgres": sql, "spark": sql, **other}


_LOWER = f"translate({{0}}, '{UPPER}', '{LOWER}')"
_UPPER = f"translate({{0}}, '{LOWER}', '{UPPER}')"

FUNCTIONS = (
    Function("lower", _texts(1), lowered, _LOWER, engines=_everywhere(_LOWER)),
    Function("upper", _texts(1), lambda x: x.translate(_UP), _UPPER, engines=_everywhere(_UPPER)),
    Function(
        "substring",
        _cut((1, 0)),
        lambda x, start, length: x[start - 1 : start - 1 + length],
        "substring({0}, CAST({1} AS INTEGER), CAST({2} AS INTEGER))",
        engines=_everywhere("substring({0}, CAST({1} AS INTEGER), CAST({2} AS INTEGER))"),
    ),
    Function(
        "left",
        _cut((0,)),
        lambda x, n: x[:n],
        "left({0}, CAST({1} AS INTEGER))",
        engines=_everywhere("left({0}, CAST({1} AS INTEGER))"),
    ),
    Function(
        "right",
        _cut((0,)),
        lambda x, n: x[len(x) - min(n, len(x)) :],
        "right({0}, CAST({1} AS INTEGER))",
        engines=_everywhere("right({0}, CAST({1} AS INTEGER))"),
    ),
    _trim("trim", lambda x: x.strip(" "), "BOTH"),
    _trim("ltrim", lambda x: x.lstrip(" "), "LEADING"),
    _trim("rtrim", lambda x: x.rstrip(" "), "TRAILING"),
    Function("||", _texts(2), lambda a, b: a + b, "({0} || {1})", engines=_everywhere("({0} || {1})")),
    Function(
        "concat",
        _joined,
        lambda *parts: "".join(p for p in parts if p is not None),
        _concat_sql,
        engines={"postgres": _concat_sql, "spark": _concat_sql},
        strict=False,
    ),
    Function(
        "replace",
        _texts(3),
        lambda x, old, new: x.replace(old, new) if old else x,
        "replace({0}, {1}, {2})",
        engines=_everywhere("replace({0}, {1}, {2})"),
    ),
    Function(
        "position",
        _position,
        lambda x, part: x.find(part) + 1,
        "CAST(strpos({0}, {1}) AS BIGINT)",
        engines={
            "postgres": "CAST(strpos({0}, {1}) AS BIGINT)",
            "spark": "CAST(locate({1}, {0}) AS BIGINT)",
        },
    ),
    Function(
        "starts_with",
        _starts,
        str.startswith,
        "starts_with({0}, {1})",
        engines={"postgres": "starts_with({0}, {1})", "spark": "startswith({0}, {1})"},
    ),
)
