"""The same question asked twice at once is charged once: whoever comes second waits for the answer of the first.

Two callers can both find no stored answer. The transaction that charges looks again: for an answer that was kept in the
meantime, and for a reservation of the same question on the same data that nobody has settled or failed yet. A
reservation holds others back for `LEASE` seconds, longer than any question may run; then its owner is taken to be dead.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic, sleep
from typing import TypeVar

from nowiser.ledger.chain import COLUMNS, Row, entry_of
from nowiser.ledger.store import Work

Answer = TypeVar("Answer")

LEASE = 90.0  # seconds; engines give up after 60
RECENT = 256  # entries that are looked at

_KEPT = "SELECT 1 FROM nowiser_answers WHERE question = :question AND data_version = :data_version"
_OPEN = (
    f"SELECT {COLUMNS} FROM nowiser_entries e WHERE e.kind = 'reserve'"  # noqa: S608 (our own words only)
    f" AND e.seq > (SELECT MAX(seq) FROM nowiser_entries) - {RECENT}"
    " AND NOT EXISTS (SELECT 1 FROM nowiser_entries f WHERE f.refers = e.seq)"
)


class UnderWay(Exception):
    """The same question is being answered, or has just been. Nothing was charged."""


def check_flight(work: Work, question: str, data_version: str) -> None:
    """Raise UnderWay if this question on this data has its answer already, or will have it soon."""
    asked = {"question": question, "data_version": data_version}
    if work.execute(_KEPT, asked).fetchone() is not None:
        raise UnderWay
    for row in list(work.execute(_OPEN)):
        body = entry_of(Row(*row)).body
        if all(body[key] == value for key, value in asked.items()) and _young(body["at"]):
            raise UnderWay


def in_turn(ask: Callable[[], Answer]) -> Answer:
    """Ask; while somebody else is asking the same, wait and look again."""
    pause, end = 0.005, monotonic() + LEASE + 10
    while True:
        try:
            return ask()
        except UnderWay:
            if monotonic() > end:
                raise
        sleep(pause)
        pause = min(1.5 * pause, 0.2)


def _young(at: str) -> bool:
    return abs((datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()) < LEASE
