"""What the attacker wants to guess: the set g(x) of guesses that count as correct for a victim with value x.

| goal               | g(x)                                     | text                                       |
|--------------------|------------------------------------------|--------------------------------------------|
| `Within(r)`        | {x' : distance(x', x) ≤ r}               | `visits.time within 2`                     |
| `Exactly()`        | {x}                                      | `visits.dish exactly`                      |
| `In([a, b])`       | the set, whoever the victim is           | `visits.dish in {soup, pasta}`             |
| `In.between(a, b)` | the closed interval                      | `visits.time in [10, 20]`                  |
| `Present(T)`       | the person is in the table               | `present in visits`                        |
| `And, Or, Not`     | of such goals, nested                    | `a within 2 and not (b exactly or c in {1})` |

A goal names its attribute with `On("visits.time", Within(2))`; a bare `Within(2)` is about the one attribute
of the prior. `On(("home.x", "home.y"), Within(2))` is a disc on a map (text `(home.x, home.y) within 2`).
`str(goal)` is the canonical text; `parse_goal` (`goal_text`) reads it back to an equal goal. Import all of it from
`nowiser.model.goal`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.model.checks import number

Value = int | float | str | bool


class Goal:
    """One of the classes below. Goals are values: equal when they say the same."""

    @property
    def attributes(self) -> tuple[str, ...]:
        """Every attribute the goal names, each once, in order; `T` for `present in T`; empty for a bare goal."""
        return ()

    def __and__(self, other: "Goal") -> "Goal":
        return And((self, other))

    def __or__(self, other: "Goal") -> "Goal":
        return Or((self, other))

    def __invert__(self) -> "Goal":
        return Not(self)


@dataclass(frozen=True)
class Within(Goal):
    """At most `radius` away: absolute difference on a line, Euclidean distance on a map."""

    radius: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", number("radius of `within`", self.radius, low=0.0, strict=True))

    def __str__(self) -> str:
        return f"within {shown(self.radius)}"


@dataclass(frozen=True)
class Exactly(Goal):
    """The very value."""

    def __str__(self) -> str:
        return "exactly"


@dataclass(frozen=True)
class In(Goal):
    """One of `values`, or between `low` and `high` (both included)."""

    values: frozenset[Value] | None = None
    low: float | None = None
    high: float | None = None

    def __post_init__(self) -> None:
        if self.values is not None:
            if self.low is not None or self.high is not None:
                raise Misconfigured("a goal `in` takes either values or an interval, found both")
            given: Any = self.values  # callers without a type checker may pass a single value
            found = {given} if isinstance(given, (str, int, float)) else given
            kept = frozenset(_plain(v) for v in found)
            if not kept:
                raise Misconfigured("the goal `in` needs at least one value, found none: an empty goal is never met")
            object.__setattr__(self, "values", kept)
        else:
            if self.low is None or self.high is None:
                raise Misconfigured("a goal `in` needs values, or an interval with both ends")
            low, high = number("low end of `in`", self.low), number("high end of `in`", self.high)
            if low > high:
                raise Misconfigured(
                    f"the interval of `in` must not be empty: low end {low:g} is above high end {high:g}"
                )
            object.__setattr__(self, "low", low)
            object.__setattr__(self, "high", high)

    @staticmethod
    def between(low: float, high: float) -> "In":
        return In(low=low, high=high)

    def __str__(self) -> str:
        if self.values is None:
            return f"in [{shown(self.low)}, {shown(self.high)}]"
        inner = ", ".join(shown(v) for v in sorted(self.values, key=_order))
        return f"in {{{inner}}}"


@dataclass(frozen=True)
class Present(Goal):
    """The person is in the table (named, when there are several)."""

    table: str | None = None

    @property
    def attributes(self) -> tuple[str, ...]:
        return () if self.table is None else (self.table,)

    def __str__(self) -> str:
        return "present" if self.table is None else f"present in {named(self.table)}"


@dataclass(frozen=True)
class On(Goal):
    """A goal about this attribute, or about these attributes together (a point on a map)."""

    attribute: str | tuple[str, ...]
    goal: Within | Exactly | In

    def __post_init__(self) -> None:
        names: tuple[Any, ...] = (self.attribute,) if isinstance(self.attribute, str) else tuple(self.attribute)
        if not names or not all(isinstance(n, str) and n for n in names) or len(set(names)) != len(names):
            raise Misconfigured(f"a goal needs the name of its attribute, or distinct names, found {self.attribute!r}")
        if not isinstance(self.goal, (Within, Exactly, In)):
            raise Misconfigured(f"a goal on an attribute is within, exactly or in; found {self.goal}")
        if len(names) > 1 and isinstance(self.goal, In):
            raise Misconfigured("a goal `in` is about one attribute; join several with `and`")
        object.__setattr__(self, "attribute", names[0] if len(names) == 1 else names)

    @property
    def attributes(self) -> tuple[str, ...]:
        return (self.attribute,) if isinstance(self.attribute, str) else self.attribute

    def __str__(self) -> str:
        names = [named(a) for a in self.attributes]
        return f"{names[0] if len(names) == 1 else '(' + ', '.join(names) + ')'} {self.goal}"


@dataclass(frozen=True)
class _Joined(Goal):
    parts: tuple[Goal, ...]

    def __post_init__(self) -> None:
        flat: list[Goal] = []
        for part in self.parts:
            if not isinstance(part, Goal):
                raise Misconfigured(f"goals are joined with goals, found {part!r}")
            flat += part.parts if isinstance(part, type(self)) else (part,)
        if not flat:
            raise Misconfigured("a joined goal needs at least one part, found none: an empty goal is never met")
        object.__setattr__(self, "parts", tuple(flat))

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(a for part in self.parts for a in part.attributes))


class And(_Joined):
    """All of them. Nested `And`s are flattened, so that equal goals are equal values."""

    def __str__(self) -> str:
        return " and ".join(f"({p})" if isinstance(p, (And, Or)) else str(p) for p in self.parts)


class Or(_Joined):
    """At least one of them."""

    def __str__(self) -> str:
        return " or ".join(f"({p})" if isinstance(p, Or) else str(p) for p in self.parts)


@dataclass(frozen=True)
class Not(Goal):
    """Anything but this goal: `~nw.In({"soup"})`, `not dish in {soup}`."""

    goal: Goal

    def __post_init__(self) -> None:
        if not isinstance(self.goal, Goal):
            raise Misconfigured(f"only a goal can be negated, found {self.goal!r}")

    @property
    def attributes(self) -> tuple[str, ...]:
        return self.goal.attributes

    def __str__(self) -> str:
        return f"not ({self.goal})" if isinstance(self.goal, (And, Or)) else f"not {self.goal}"


# --- text ---------------------------------------------------------------------------------------------------

KEYWORDS = frozenset({"and", "or", "not", "within", "exactly", "in", "present", "between"})
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def named(attribute: str) -> str:
    """An attribute as the parser reads it back: dotted words, each quoted where needed."""
    return ".".join(p if _BARE.fullmatch(p) and p.lower() not in KEYWORDS else _quoted(p) for p in attribute.split("."))


def shown(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        plain = _BARE.fullmatch(value) and value.lower() not in KEYWORDS | {"true", "false"}
        return value if plain else _quoted(value)
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _plain(value: Any) -> Value:
    if isinstance(value, (bool, str)):
        return value
    found = number("a value of `in`", value)
    return int(found) if found == int(found) and abs(found) < 2**53 else found


def _order(value: Value) -> tuple[str, float, str]:
    return (type(value).__name__, 0.0, value) if isinstance(value, str) else ("", float(value), "")


def joined(kind: type[And] | type[Or], parts: Iterable[Goal]) -> Goal:
    """One goal from several; a single part stays itself."""
    found = tuple(parts)
    return found[0] if len(found) == 1 else kind(found)
