"""What a policy says about its tables, for those who ask questions: names, roles, types, values, ranges.

All of it is declared by the custodian. Nothing is read from the data, so it is free, and the same whoever is in them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

from nowiser.model.policy import Policy
from nowiser.model.schema import Column, Kind, Protect, Role, Table

SHOWN = 12  # values of a column in a sentence; JSON has all of them
PLAIN = re.compile(r"[a-z_][a-z0-9_]*", re.ASCII)
WORDS = {"all", "and", "as", "case", "desc", "from", "group", "in", "not", "or", "order", "select", "table", "user"}
NUMBERS = (Kind.INTEGER, Kind.REAL)


@dataclass(frozen=True)
class ColumnFacts:
    """One column as declared. `values`: all there are; `range`: lowest and highest; None where not declared."""

    name: str
    type: str
    role: str
    values: tuple[Any, ...] | None
    range: tuple[Any, Any] | None
    nullable: bool

    @property
    def declared(self) -> str:
        """The values or the range in words."""
        if self.values is not None:
            more = f", … ({len(self.values):,} values)" if len(self.values) > SHOWN else ""
            return ", ".join(map(_word, self.values[:SHOWN])) + more
        return f"{self.range[0]} to {self.range[1]}" if self.range is not None else ""

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "type": self.type,
            "role": self.role,
            "values": None if self.values is None else list(self.values),
            "range": None if self.range is None else list(self.range),
            "nullable": self.nullable,
        }


@dataclass(frozen=True)
class TableFacts:
    """One table as declared: whose rows it has, what is secret, its columns, a question one may ask."""

    name: str
    person: str
    rows_per_person: int | None
    protect: str
    columns: tuple[ColumnFacts, ...]
    example: str

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "person": self.person,
            "rows_per_person": self.rows_per_person,
            "protect": self.protect,
            "columns": [c.to_dict() for c in self.columns],
            "example": self.example,
        }


def facts_of(said: Mapping[str, Any]) -> TableFacts:
    """What `to_dict` says, as a value again."""
    columns = tuple(
        ColumnFacts(
            **{
                **c,
                "values": None if c["values"] is None else tuple(c["values"]),
                "range": None if c["range"] is None else tuple(c["range"]),
            }
        )
        for c in said["columns"]
    )
    return TableFacts(**{**said, "columns": columns})


def catalogue(policy: Policy) -> tuple[TableFacts, ...]:
    """The tables in the order of the policy."""
    return tuple(_table(t) for t in policy.tables)


def _table(table: Table) -> TableFacts:
    return TableFacts(
        name=table.name,
        person=_person(table),
        rows_per_person=None if table.is_public else table.rows_per_person,
        protect="nothing" if table.is_public else table.protect.value,
        columns=tuple(_column(c) for c in table.columns),
        example=_example(table),
    )


def _person(table: Table) -> str:
    if table.is_public:
        return "none: public"
    if table.row_is_person:
        return "each row"
    if table.link is not None:
        there = ", ".join(f"{table.link.table}.{c}" for c in table.link.references)
        return f"{', '.join(table.link.columns)} → {there}"
    return ", ".join(table.person)


def _column(column: Column) -> ColumnFacts:
    ends = (column.low, column.high)
    found = tuple(_end(e, column.kind) for e in ends if e is not None)
    return ColumnFacts(
        name=column.name,
        type=column.kind.value,
        role=column.role.value,
        values=None if column.domain is None else tuple(_value(v, column.kind) for v in column.domain),
        range=(found[0], found[1]) if len(found) == 2 else None,
        nullable=column.nullable,
    )


def _end(end: Fraction, kind: Kind) -> Any:
    """An end of a range as people write it: a number, or a date in ISO 8601."""
    if kind in (Kind.DATE, Kind.TIMESTAMP):
        return _value(int(end), kind)
    return int(end) if end.denominator == 1 else float(end)


def _value(value: Any, kind: Kind) -> Any:
    try:
        if kind is Kind.DATE and not isinstance(value, str):
            return str(date(1970, 1, 1) + timedelta(days=int(value)))
        if kind is Kind.TIMESTAMP and not isinstance(value, str):
            return str(datetime(1970, 1, 1) + timedelta(microseconds=int(value)))  # noqa: DTZ001 (instants in UTC)
    except OverflowError:  # beyond the years that Python's dates know
        return int(value)
    return value


def _word(value: Any) -> str:
    """A value as SQL writes it, where that is not a number."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def _example(table: Table) -> str:
    """A question about the table that is answered, made of what is declared."""
    keys = [c for c in table.columns if c.role is not Role.IDENTIFIER and 1 < len(c.domain or ()) <= 20]
    key = next((c for c in keys if c.role is Role.PUBLIC), keys[0] if keys else None)  # those cost less to group by
    ranged = [c for c in table.columns if c.kind in NUMBERS and c.low is not None and c.domain is None]
    number = next((c for c in ranged if c.role is Role.SENSITIVE), ranged[0] if ranged else None)
    what = f"AVG({named(number.name)})" if number is not None else "COUNT(*)"
    by = named(key.name) if key is not None and (number is None or table.protect is Protect.VALUES) else None
    start = f"SELECT {by}, {what}" if by else f"SELECT {what}"
    return f"{start} FROM {named(table.name)}" + (f" GROUP BY {by}" if by else "")


def named(name: str) -> str:
    """A name as it stands in SQL: in quotes where it must."""
    plain = PLAIN.fullmatch(name) and name not in WORDS
    return name if plain else '"' + name.replace('"', '""') + '"'
