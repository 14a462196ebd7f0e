# ruff: noqa: S608 (example questions for the planner, which are never run)
"""Questions somebody might ask under a policy: averages, shares and counts, what attackers are after first."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from nowiser.model.policy import Policy
from nowiser.model.schema import Column, Kind, Protect, Role, Table

MOST = 10
GROUPS = 12  # a key with more values makes no first question


@dataclass(frozen=True)
class Question:
    sql: str
    what: str  # in the plural: averages of visits.time
    table: Table
    about: Column | None  # None: the rows themselves

    @property
    def average(self) -> bool:
        return self.sql.startswith("SELECT AVG")


def questions(policy: Policy) -> tuple[Question, ...]:
    """At most ten, each once. First one for every attribute that an attacker is after."""
    found = {q.sql: q for q in _all(policy)}
    return tuple(islice(found.values(), MOST))


def _all(policy: Policy) -> Iterator[Question]:
    wanted = list(_wanted(policy))
    for table, column in wanted:
        yield from _about(table, column)
    for name in dict.fromkeys(table.name for table, _ in wanted):
        yield from _others(policy, name)


def _wanted(policy: Policy) -> Iterator[tuple[Table, Column | None]]:
    """What attackers are after, in their order; None stands for presence."""
    for attacker in policy.attackers:
        for name in attacker.goal.attributes:
            head, _, rest = name.partition(".")
            table = policy.table(head)
            if table is not None and table.ends is None:
                yield table, table.column(rest) if rest else None


def _others(policy: Policy, name: str) -> Iterator[Question]:
    table = policy.table(name)
    assert table is not None
    secret = [c for c in table.columns if c.role is Role.SENSITIVE]
    keys = [c for c in table.columns if c.role is Role.PUBLIC and c.domain and len(c.domain) <= GROUPS]
    for column in secret:
        if column.domain is None or column.kind in (Kind.INTEGER, Kind.REAL):
            yield from _about(table, column)
    numbers = [c for c in secret if _is_number(c)]
    for key in keys[:2]:
        for column in numbers[:1]:
            named, by = _quoted(column.name), _quoted(key.name)
            sql = f"SELECT {by}, AVG({named}) FROM {_quoted(table.name)} GROUP BY {by}"
            yield Question(sql, f"averages of {table.name}.{column.name} by {key.name}", table, column)
    for column in secret:
        if column.domain is not None:
            yield from _about(table, column)


def _about(table: Table, column: Column | None) -> Iterator[Question]:
    source = _quoted(table.name)
    if column is None:
        yield Question(f"SELECT COUNT(*) FROM {source}", f"counts of rows of {table.name}", table, None)
        return
    name, said = _quoted(column.name), f"{table.name}.{column.name}"
    if _is_number(column):
        share = column.domain is not None and set(column.domain) == {0, 1}
        words = f"shares of {said} = 1" if share else f"averages of {said}"
        yield Question(f"SELECT AVG({name}) FROM {source}", words, table, column)
    elif column.domain is not None and len(column.domain) <= GROUPS:
        yield Question(f"SELECT {name}, COUNT(*) FROM {source} GROUP BY {name}", f"counts by {said}", table, column)
    elif column.kind in (Kind.DATE, Kind.TIMESTAMP) and column.low is not None:
        yield Question(f"SELECT MEDIAN({name}) FROM {source}", f"medians of {said}", table, column)
    elif column.kind is Kind.TEXT:
        value = str(column.domain[0] if column.domain else "x").replace("'", "''")
        sql = f"SELECT COUNT(*) FROM {source} WHERE {name} = '{value}'"
        yield Question(sql, f"counts with a condition on {said}", table, column)


def found_keys(policy: Policy) -> Iterator[Question]:
    """Counts by secret texts without declared values: their groups are found in the data, and small ones hidden."""
    for table in policy.tables:
        for column in () if table.is_public or table.ends is not None else table.columns:
            secret = column.role is Role.SENSITIVE or (column.role is Role.PUBLIC and table.protect is Protect.PERSONS)
            if secret and column.kind is Kind.TEXT and column.domain is None:
                name = _quoted(column.name)
                sql = f"SELECT {name}, COUNT(*) FROM {_quoted(table.name)} GROUP BY {name}"
                yield Question(sql, f"counts by {table.name}.{column.name}", table, column)


def free(policy: Policy) -> tuple[str, ...]:
    """Columns by which rows are counted exactly and for nothing."""
    return tuple(
        f"{t.name}.{c.name}"
        for t in policy.tables
        if t.protect is Protect.VALUES and not t.is_public
        for c in t.columns
        if c.role is Role.PUBLIC
    )


def _is_number(column: Column) -> bool:
    return column.kind in (Kind.INTEGER, Kind.REAL) and column.low is not None


def _quoted(name: str) -> str:
    return name if name.isidentifier() and name.islower() else '"' + name.replace('"', '""') + '"'
