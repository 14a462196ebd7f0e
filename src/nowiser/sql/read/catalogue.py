"""SHOW TABLES, DESCRIBE and SHOW COLUMNS: what the policy declares, as rows. Constants: nothing is read, and free.

SHOW TABLES                       a row for each table: whose rows it has, what is secret
DESCRIBE visits                   a row for each column: type, role, values or range
SHOW COLUMNS FROM visits          the same
"""

import re
from difflib import get_close_matches
from typing import TYPE_CHECKING

from nowiser.errors import NotAnswerable, Span
from nowiser.model.policy import Policy
from nowiser.sql.read.bi import MOST_CHARACTERS, Setting

if TYPE_CHECKING:
    from nowiser.policy.catalogue import TableFacts

_NAME = r"(?:(?:public|main)\s*\.\s*)?(?:\"(?P<quoted>(?:[^\"]|\"\"){1,200})\"|(?P<name>[^\W\d]\w{0,199}))"
_TABLES = re.compile(r"\s*SHOW\s+(?:ALL\s+)?TABLES\s*;?\s*", re.IGNORECASE)
_COLUMNS = re.compile(
    rf"\s*(?:DESCRIBE|DESC|SHOW\s+COLUMNS\s+(?:FROM|IN))\s+(?:TABLE\s+)?{_NAME}\s*;?\s*", re.IGNORECASE
)

TABLE_COLUMNS = ("table_name", "person", "rows_per_person", "protect")
COLUMN_COLUMNS = ("column_name", "column_type", "role", "values", "nullable")


def described(text: str, policy: Policy) -> Setting | None:
    """What SHOW TABLES or DESCRIBE gives; None for anything else. Raises NotAnswerable for an unknown table."""
    if len(text) > MOST_CHARACTERS:
        return None
    if _TABLES.fullmatch(text):
        facts = _facts(policy)
        return Setting(TABLE_COLUMNS, tuple((t.name, t.person, t.rows_per_person, t.protect) for t in facts))
    if (found := _COLUMNS.fullmatch(text)) is None:
        return None
    group = "quoted" if found["quoted"] is not None else "name"
    table = _found(found[group].replace('""', '"'), Span(text, *found.span(group)), policy, exact=group == "quoted")
    rows = tuple((c.name, c.type, c.role, c.declared, c.nullable) for c in table.columns)
    return Setting(COLUMN_COLUMNS, rows)


def _facts(policy: Policy) -> "tuple[TableFacts, ...]":
    from nowiser.policy.catalogue import catalogue  # few questions need it

    return catalogue(policy)


def _found(name: str, span: Span, policy: Policy, *, exact: bool) -> "TableFacts":
    facts = _facts(policy)
    table = next((t for t in facts if t.name == name or (not exact and t.name.lower() == name.lower())), None)
    if table is not None:
        return table
    names = [t.name for t in facts]
    near = get_close_matches(name, names, n=1)
    meant = f"Did you mean {near[0]}? " if near else ""
    raise NotAnswerable(
        f"There is no table {name}.", hint=f"{meant}Tables: {', '.join(names)}.", span=span, reason="no table"
    )
