"""Small readers: one value of the policy, in the unit the model wants, or an error at its place."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from fractions import Fraction
from typing import TypeVar

from nowiser.model.schema import Kind, Value
from nowiser.policy.tree import Entries, Items, Leaf, Node, suggestion

_T = TypeVar("_T")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECONDS = 1_000_000


def text(node: Node, what: str) -> str:
    """Non-empty text; a bare number or date is taken as it is written."""
    if not isinstance(node, Leaf) or not node.raw.strip():
        node.place.wrong(f"{what} must be text")
    return node.raw


def number(node: Node, what: str) -> Fraction:
    value = node.value if isinstance(node, Leaf) else None
    if not isinstance(value, Fraction):
        node.place.wrong(f"{what} must be a number")
    return value


def positive(node: Node, what: str) -> Fraction:
    value = number(node, what)
    if value <= 0:
        node.place.wrong(f"{what} must be greater than 0")
    return value


def whole(node: Node, what: str, least: int = 1) -> int:
    value = node.value if isinstance(node, Leaf) else None
    if not isinstance(value, Fraction) or value.denominator != 1 or value < least:
        node.place.wrong(f"{what} must be a whole number, at least {least}")
    return int(value)


def flag(node: Node, what: str) -> bool:
    value = node.value if isinstance(node, Leaf) else None
    if not isinstance(value, bool):
        node.place.wrong(f"{what} must be true or false")
    return value


def share(node: Node, what: str) -> Fraction:
    """`5%` or `0.05`, more than 0 and at most all."""
    value: object = node.value if isinstance(node, Leaf) else None
    if isinstance(node, Leaf) and node.raw.strip().endswith("%"):
        inner = Leaf(node.place, node.raw.strip()[:-1].strip(), plain=True).value
        value = inner / 100 if isinstance(inner, Fraction) else None
    if not isinstance(value, Fraction):
        node.place.wrong(f"{what} must be a share such as 5% or 0.05")
    if not 0 < value <= 1:
        hint = f"Did you mean {float(value):g}%?" if 1 < value <= 100 else None
        node.place.wrong(f"{what} must be more than 0% and at most 100%", hint)
    return value


def choice(node: Node, what: str, options: dict[str, _T]) -> _T:
    """One of these words."""
    word = node.raw if isinstance(node, Leaf) else ""
    if word not in options:
        shown = repr(word) if word else "this"
        node.place.wrong(f"{what} cannot be {shown}", suggestion(word, options, "Allowed"))
    return options[word]


def names(node: Node, what: str) -> tuple[str, ...]:
    """One name or a list of different names."""
    found = [node] if isinstance(node, Leaf) else list(node) if isinstance(node, Items) else []
    if not found:
        node.place.wrong(f"{what} must be a name or a list of names, like [a, b]")
    seen: list[str] = []
    for item in found:
        name = text(item, what)
        if name in seen:
            item.place.wrong(f"{name!r} stands twice in {what}")
        seen.append(name)
    return tuple(seen)


def mapping(node: Node, what: str) -> Entries:
    if not isinstance(node, Entries):
        node.place.wrong(f"{what} must be a mapping, like {{key: value}}")
    return node


def sequence(node: Node, what: str) -> Items:
    if not isinstance(node, Items):
        node.place.wrong(f"{what} must be a list")
    return node


def kind_of(items: Sequence[Node]) -> Kind | None:
    """What these written values have in common; numbers without a point are integers."""
    kinds = {_kind_of_one(item) for item in items}
    if kinds == {Kind.INTEGER, Kind.REAL}:
        return Kind.REAL
    if kinds == {Kind.DATE, Kind.TIMESTAMP}:
        return Kind.TIMESTAMP
    return kinds.pop() if len(kinds) == 1 else None


def _kind_of_one(node: Node) -> Kind | None:
    value = node.value if isinstance(node, Leaf) else None
    match value:
        case bool():
            return Kind.BOOLEAN
        case Fraction():
            assert isinstance(node, Leaf)
            return Kind.INTEGER if node.is_whole else Kind.REAL
        case datetime():
            return Kind.TIMESTAMP
        case date():
            return Kind.DATE
        case str():
            return Kind.TEXT
        case _:
            return None


def raw_units(node: Node, kind: Kind, what: str) -> Fraction:
    """A number, date or timestamp in the raw unit of its kind: days or microseconds since 1970-01-01."""
    value = node.value if isinstance(node, Leaf) else None
    if kind in (Kind.INTEGER, Kind.REAL) and isinstance(value, Fraction):
        if kind is Kind.INTEGER and value.denominator != 1:
            node.place.wrong(f"{what} must be a whole number, because the column is of kind integer")
        if abs(value) > _LARGEST[kind]:
            node.place.wrong(
                f"{what} lies beyond what engines can hold", f"At most {_SPELLED[kind]}, and as far below zero."
            )
        return value
    if kind is Kind.DATE and isinstance(value, date) and not isinstance(value, datetime):
        return Fraction(value.toordinal() - _EPOCH.toordinal())
    if kind is Kind.TIMESTAMP and isinstance(value, date):
        return Fraction(_microseconds(value))
    quoted = isinstance(node, Leaf) and not node.plain
    raise node.place.error(f"{what} must be {_SPELLING[kind]}", "Write it without quotes." if quoted else None)


def _microseconds(value: date) -> int:
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)  # noqa: DTZ001 (next line)
    passed = moment.replace(tzinfo=UTC) - _EPOCH
    return (passed.days * 86_400 + passed.seconds) * _MICROSECONDS + passed.microseconds


# Whole numbers of 64 bits, and doubles with some room so that no rounding on the way reaches infinity.
_LARGEST = {Kind.INTEGER: 2**63 - 1, Kind.REAL: 10**300}
_SPELLED = {Kind.INTEGER: "9223372036854775807", Kind.REAL: "1e300"}
_SPELLING = {
    Kind.INTEGER: "a whole number",
    Kind.REAL: "a number",
    Kind.DATE: "a date like 2024-12-31",
    Kind.TIMESTAMP: "a timestamp like 2024-12-31 23:59:00",
    Kind.TEXT: "text",
    Kind.BOOLEAN: "true or false",
}


def member(node: Node, kind: Kind, what: str) -> Value:
    """One value of a domain, as the model holds it."""
    if kind is Kind.TEXT:
        if isinstance(node, Leaf) and (not node.plain or isinstance(node.value, str)):
            return node.raw
        node.place.wrong(f"{what} must be text", "Put it in quotes.")
    if kind is Kind.BOOLEAN:
        return flag(node, what)
    value = raw_units(node, kind, what)
    return int(value) if kind is not Kind.REAL else float(value)
