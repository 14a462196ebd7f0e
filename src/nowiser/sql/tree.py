"""The questions nowiser can think: a small frozen tree, typed when it is built.

    Query ─ relation ──── Scan | Filter                      (joins, unions, per-person sums are further Relations)
          ├ keys          Column of a declared domain
          ├ aggregates    Aggregate(function, argument, condition): what will be released, with noise
          └ outputs, having, order, limit                    over Grouped and Released: after the noise, free

An expression is a Column, a Literal, or a Call of a function on the allow-list (`nowiser.sql.functions`);
comparisons, AND, CASE, IN and LIKE are Calls too. What the tree cannot say cannot be asked. Two trees are equal
if they mean the same text-for-text; where in the SQL a node came from (`span`) does not count.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal as OneOf

from nowiser.errors import Span
from nowiser.model import schema
from nowiser.model.schema import Kind, Value
from nowiser.sql.interval import Interval


@dataclass(frozen=True)
class Type:
    """What an expression can be: its kind, whether it can be NULL, and for ordered kinds between which ends."""

    kind: Kind
    nullable: bool = False
    bounds: Interval | None = None

    @property
    def interval(self) -> Interval:
        assert self.bounds is not None, "only ordered kinds have bounds"
        return self.bounds


@dataclass(frozen=True)
class Column:
    """A column of a scanned table, with everything the policy declares about it."""

    relation: str  # which scan: t0, t1, …
    table: str
    declared: schema.Column
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)
    of: str | None = None  # the declared column this one was derived from when the table was prepared

    @property
    def attribute(self) -> str:
        """What of the person it tells: `table.column`."""
        return f"{self.table}.{self.of or self.declared.name}"


@dataclass(frozen=True)
class Literal:
    """A constant. Dates are days and timestamps microseconds since 1970-01-01."""

    value: Value | None
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Call:
    """A function of the allow-list applied to arguments. Build it with `functions.call`, which types it."""

    function: str
    args: tuple["Expression", ...]
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Grouped:
    """In outputs: the value of the i-th group key."""

    index: int
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Released:
    """In outputs: the i-th aggregate, as released."""

    index: int
    type: Type
    span: Span | None = field(default=None, compare=False, repr=False)


Expression = Column | Literal | Call | Grouped | Released


@dataclass(frozen=True)
class Scan:
    """All rows of a table of the policy, at most `rows_per_person` of each person."""

    relation: str
    table: schema.Table


@dataclass(frozen=True)
class Filter:
    """The rows for which the condition is true (not false, not NULL)."""

    source: "Relation"
    condition: Expression


Relation = Scan | Filter


@dataclass(frozen=True)
class Aggregate:
    """Over the rows of a group for which `condition` is true: COUNT(*) if there is no argument."""

    function: OneOf["count", "sum", "avg"]
    argument: Expression | None = None
    condition: Expression | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Output:
    name: str
    expression: Expression


@dataclass(frozen=True)
class Order:
    expression: Expression
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True)
class Query:
    relation: Relation
    keys: tuple[Column, ...]
    aggregates: tuple[Aggregate, ...]
    outputs: tuple[Output, ...]
    having: Expression | None = None
    order: tuple[Order, ...] = ()
    limit: int | None = None
    offset: int = 0


def parts(expression: Expression) -> Iterator[Expression]:
    """The expression and everything inside it."""
    yield expression
    if isinstance(expression, Call):
        for arg in expression.args:
            yield from parts(arg)


def columns(*expressions: Expression | None) -> tuple[Column, ...]:
    """Every column these expressions look at, once."""
    found = {p: None for e in expressions if e is not None for p in parts(e) if isinstance(p, Column)}
    return tuple(found)


def scan(relation: Relation) -> Scan:
    """The table a relation reads."""
    return relation if isinstance(relation, Scan) else scan(relation.source)


def conditions(relation: Relation) -> tuple[Expression, ...]:
    """Every condition between the scan and here."""
    return () if isinstance(relation, Scan) else (*conditions(relation.source), relation.condition)
