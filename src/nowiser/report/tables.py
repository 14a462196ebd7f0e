"""The tables of a policy as a value that prints as a table and draws itself in a notebook; and the policy itself."""

import html
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nowiser.model.policy import Policy
from nowiser.policy.catalogue import ColumnFacts, TableFacts, catalogue
from nowiser.report.visible import on_one_line

HEAD = ("column", "type", "role", "values")


@dataclass(frozen=True)
class Tables(Mapping[str, TableFacts]):
    """What may be asked about: tables by name, each with its columns, roles, types, values and ranges.

    Declared by the custodian, never read from the data.
    """

    facts: tuple[TableFacts, ...]

    @staticmethod
    def of(policy: Policy) -> "Tables":
        return Tables(catalogue(policy))

    def __getitem__(self, name: str) -> TableFacts:
        return {t.name: t for t in self.facts}[name]

    def __iter__(self) -> Iterator[str]:
        return (t.name for t in self.facts)

    def __len__(self) -> int:
        return len(self.facts)

    def to_dict(self) -> dict[str, Any]:
        """Exactly what `nowiser tables --json` prints."""
        return {"tables": [t.to_dict() for t in self.facts]}

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)

    def __str__(self) -> str:
        return "\n\n".join(map(_printed, self.facts))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return "".join(map(_drawn, self.facts))


def whose(table: TableFacts) -> str:
    """Whose rows a table has and what is secret, in one sentence."""
    if table.rows_per_person is None:
        return "Public: answers are exact and free."
    many = "1 row" if table.rows_per_person == 1 else f"up to {table.rows_per_person:,} rows"
    person = "Each row is a person" if table.person == "each row" else f"One person is one {table.person}, {many} each"
    secret = {"values": "the sensitive columns", "persons": "who is in the table, and every column"}[table.protect]
    return f"{person}. Secret: {secret}."


def _cells(column: ColumnFacts) -> tuple[str, ...]:
    return column.name, column.type, column.role, column.declared


def _printed(table: TableFacts) -> str:
    rows = [HEAD, *(tuple(map(on_one_line, _cells(c))) for c in table.columns)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEAD))]
    lines = ["  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
    asked = f"  For example: {table.example}"
    return "\n".join([f"{on_one_line(table.name)}: {on_one_line(whose(table))}", *lines, asked])


def _drawn(table: TableFacts) -> str:
    head = "".join(f"<th>{name}</th>" for name in HEAD)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in _cells(c)) + "</tr>" for c in table.columns
    )
    return (
        f"<p><b>{html.escape(table.name)}</b>. {html.escape(whose(table))}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        f"<p>For example: <code>{html.escape(table.example)}</code></p>"
    )


def promises(policy: Policy) -> list[str]:
    """What is promised about each attacker, one sentence each."""
    return [str(attacker) for attacker in policy.attackers]


def policy_html(policy: Policy) -> str:
    """A policy in a notebook: its tables, and what is promised about each attacker."""
    promised = "".join(f"<li>{html.escape(line)}</li>" for line in promises(policy))
    return f"{Tables.of(policy)._repr_html_()}<p>Attackers may guess</p><ul>{promised}</ul>"


def policy_text(policy: Policy) -> str:
    """The same on a terminal."""
    return "\n".join([str(Tables.of(policy)), "", "Attackers may guess", *(f"  {line}" for line in promises(policy))])
