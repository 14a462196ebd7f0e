# ruff: noqa: S608 (the SQL is made of our own words only)
"""Answers that are kept but not yet told: how long whoever else may see them has to wait.

A server tells a new answer on a grid of times, because how long it took depends a little on the rows. Whoever asks the
same question meanwhile gets the stored answer: not before the first one is told, or he would have the clock after all.
The chain says when each question was charged and when its answer was kept, so this holds for several processes too.
"""

from datetime import UTC, datetime

from nowiser.ledger.chain import COLUMNS, Row, entry_of
from nowiser.ledger.store import Work

RECENT = 32  # answers that are looked at

_SETTLED = (
    f"SELECT {COLUMNS} FROM nowiser_entries WHERE kind IN ('settle', 'failed') AND seq > :after"
    f" ORDER BY seq DESC LIMIT {RECENT}"
)
_LAST = "SELECT MAX(seq) FROM nowiser_entries"
_RESERVED = f"SELECT {COLUMNS} FROM nowiser_entries WHERE seq = :seq"


def until_told(work: Work, at_least: float) -> float:
    """Seconds until every answer that was kept lately is told, on a grid of `at_least`, twice, four times … that."""
    last = work.execute(_LAST).fetchone()[0] or 0
    now = datetime.now(UTC)
    return max(
        (_left(work, Row(*row), now, at_least) for row in list(work.execute(_SETTLED, {"after": last - 4 * RECENT}))),
        default=0.0,
    )


def _left(work: Work, row: Row, now: datetime, at_least: float) -> float:
    settled = entry_of(row).body
    reserved = entry_of(Row(*work.execute(_RESERVED, {"seq": settled["reservation"]}).fetchone())).body
    began = datetime.fromisoformat(reserved["at"])
    took, slot = (datetime.fromisoformat(settled["at"]) - began).total_seconds(), at_least
    while 0 < slot < took:
        slot *= 2
    return min(slot, slot - (now - began).total_seconds())  # no longer than a slot, whatever the clocks say
