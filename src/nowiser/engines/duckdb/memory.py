"""How much memory a question may take: little where it only adds up, much where rows are brought together.

DuckDB keeps every page of a copy it has read until its limit is reached, though the operating system holds the file
anyway. A question that adds up rows by declared keys needs no more than some pages and its sums, so it is asked of a
DuckDB with little memory: no more than half as much again as the raw query takes, however large the table. Joins,
sub-selects per person, different values and keys nobody declared may need all there is; they are asked of a second
DuckDB, opened when the first of them comes. So is what turned out not to fit, with the same answer.
"""

import os
import secrets
from pathlib import Path
from typing import Any

from nowiser.engines.render import Dialect, text
from nowiser.engines.statement import counted, from_totals
from nowiser.model.schema import Kind
from nowiser.sql.plan.tally import Tally
from nowiser.sql.tree import Column, Expression, Filter, Scan, existing

MEMORY = "3GB"  # NOWISER_MEMORY says otherwise
FEW = 2**16  # groups whose sums stand in an array (DENSE in `engine.py`)
PAGES, EACH = 16, 12  # MB: to read, and besides for each thread, which keeps sums of its own


def declared() -> bool:
    """Whether the custodian said how much there is: then one DuckDB does everything within that."""
    return "NOWISER_MEMORY" in os.environ


def little() -> str:
    return f"{PAGES + EACH * (os.cpu_count() or 1)}MB"


def limits(spill: Path, memory: str | None = None) -> dict[str, Any]:
    """What does not fit in memory goes to disk beside the copy, readable by the custodian alone."""
    return {"memory_limit": memory or os.environ.get("NOWISER_MEMORY", MEMORY), "temp_directory": str(spill)}


def adds_up(tally: Tally, dialect: Dialect) -> bool:
    """Whether a tally needs little memory: sums of the rows of one table, in few groups, known beforehand."""
    if counted(tally, dialect) is not None:
        return True
    relation = tally.relation
    while isinstance(relation, Filter):
        if existing(relation.condition):
            return False
        relation = relation.source
    if not isinstance(relation, Scan) or any(c.distinct for c in tally.cells):
        return False
    if tally.clip is not None and from_totals(tally, tally.clip, dialect) is None:
        return False
    groups = 1
    for key in tally.keys:
        groups *= _values(key)
    return groups <= FEW


def _values(key: Expression) -> int:
    """How many values a key can have, NULL among them."""
    if isinstance(key, Column) and key.declared.domain is not None:
        return len(key.declared.domain) + 1
    if key.type.kind is Kind.BOOLEAN:
        return 3
    bounds = key.type.bounds
    if key.type.kind not in (Kind.INTEGER, Kind.DATE) or bounds is None or not bounds.finite:
        return FEW + 1
    return int(bounds.high - bounds.low) + 2


def roomy(copy: Path, spill: Path, settings: dict[str, str], locked: dict[str, str]) -> Any:
    """A second DuckDB on the same copy, as locked as the first. Cursors of it begin with `USE prepared`."""
    import duckdb

    connection = duckdb.connect(config=settings | limits(spill.with_name(f"{spill.name}-{secrets.token_hex(4)}")))
    connection.execute(f"ATTACH {text(str(copy))} AS prepared (READ_ONLY)")
    for setting, value in locked.items():
        connection.execute(f"SET GLOBAL {setting} = {value}")  # for every cursor
    return connection
