# ruff: noqa: S608 (example questions for the planner, which are never run)
"""What the allowance buys, in questions somebody might ask: planned, never run.

The error bars are those the planner would give: the same noise, the same calibration, the same account. How many
people stand behind an average is public under `protect: values`; otherwise a round number is taken.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from nowiser.errors import Exhausted
from nowiser.guess.budget.allowance import largest_multiple, share_used
from nowiser.model.charge import Charge
from nowiser.model.policy import Policy
from nowiser.model.schema import Column, Kind, Protect, Table

_ROUND_NUMBER = 1_000


@dataclass(frozen=True)
class Purchase:
    """So many questions of this form, each with this error bar (95 %); or a single one with that.

    needed: how many rows it would take for a bar of a twentieth of the range, where the bar is too wide to be useful.
    """

    sql: str
    what: str
    people: int
    questions: int
    error: float
    alone: float
    needed: int | None = None

    def __str__(self) -> str:
        said = f"about {self.questions} {self.what}, each ±{_short(self.error)}"
        if self.questions > 1:
            said += f"; or a single one, ±{_short(self.alone)}"
        if self.needed is not None:
            said += f" (too coarse: {self.questions} useful ones need some {self.needed:,} rows behind each)"
        return said

    def to_json(self) -> dict[str, Any]:
        return {
            "sql": self.sql,
            "rows": self.people,
            "questions": self.questions,
            "error": self.error,
            "error_if_alone": self.alone,
            "rows_needed": self.needed,
            "text": str(self),
        }


def _short(value: float) -> str:
    """Two digits that count, written out: 15, 0.079, 1,500."""
    return f"{float(f'{value:.2g}'):,.12g}"


def purchases(policy: Policy, totals: Charge, rows: dict[str, int]) -> tuple[Purchase, ...]:
    """One example per sensitive attribute somebody is after, and a count per table whose persons are secret."""
    left = 1 - share_used(policy, totals)
    questions = int(left / policy.spend)
    if questions < 1:
        return ()
    found: list[Purchase] = []
    for table, column in _wanted(policy):
        people = rows.get(table.name, _ROUND_NUMBER) if table.protect is Protect.VALUES else _ROUND_NUMBER
        asked = _question(table, column, people)
        if asked is None or people < 1:
            continue
        sql, what = asked
        try:
            bars = [_error(policy, totals, sql, people, share) for share in (policy.spend, left)]
        except Exhausted:
            continue
        if bars[0] and bars[1]:
            bought = Purchase(sql, what, people, questions, bars[0], bars[1])
            found.append(_needed(policy, totals, bought, column))
    return tuple(found)


def _needed(policy: Policy, totals: Charge, purchase: Purchase, column: Column | None) -> Purchase:
    """The purchase with the rows a useful average would need, as a power of ten, if its bar is too wide."""
    if column is None or "AVG" not in purchase.sql or column.low is None or column.high is None:
        return purchase
    wide = float(column.high - column.low)
    if purchase.error <= wide / 4:
        return purchase
    for rows in (100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000):
        bar = _error(policy, totals, purchase.sql, rows, policy.spend)
        if bar is not None and bar <= wide / 20:
            return replace(purchase, needed=rows)
    return purchase


def _wanted(policy: Policy) -> list[tuple[Table, Column | None]]:
    """What attackers are after, each once, in their order; None stands for presence."""
    found: dict[tuple[str, str], tuple[Table, Column | None]] = {}
    for attacker in policy.attackers:
        for name in attacker.goal.attributes:
            head, _, rest = name.partition(".")
            table = policy.table(head)
            if table is not None:
                found.setdefault((head, rest), (table, table.column(rest) if rest else None))
    return list(found.values())


def _question(table: Table, column: Column | None, people: int) -> tuple[str, str] | None:
    source = _quoted(table.name)
    if column is None:
        return f"SELECT COUNT(*) FROM {source}", f"counts of rows of {table.name}"
    name = _quoted(column.name)
    if column.kind in (Kind.INTEGER, Kind.REAL) and column.low is not None:
        return f"SELECT AVG({name}) FROM {source}", f"averages of {table.name}.{column.name} over {people:,} rows"
    if column.kind is Kind.TEXT:
        value = str(column.domain[0]) if column.domain else "x"
        literal = value.replace("'", "''")
        return (
            f"SELECT COUNT(*) FROM {source} WHERE {name} = '{literal}'",
            f"counts with a condition on {table.name}.{column.name}",
        )
    if column.kind is Kind.BOOLEAN:
        return f"SELECT COUNT(*) FROM {source} WHERE {name}", f"counts with a condition on {table.name}.{column.name}"
    return None


def _error(policy: Policy, totals: Charge, sql: str, people: int, share: Fraction) -> float | None:
    """The smallest error bar that this share of the allowance buys for the question, over `people` rows."""
    from nowiser.sql.answer.results import results
    from nowiser.sql.plan.plan import plan
    from nowiser.sql.read.select import read

    planned = plan(read(sql, policy), policy)
    bars = []
    for way in planned.ways:
        noise = way.noise(largest_multiple(policy, totals, way.unit, share))
        # a sum of zero over so many rows: the bar of an average depends on the count only
        cells = [[people] if cell.argument is None else [0] for cell in planned.tally.cells]
        bars.append(results(planned, noise, cells).errors[0])
    return min((bar for bar in bars if isinstance(bar, float)), default=None)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
