"""The same question asked twice at once is charged once: whoever comes second waits for the answer of the first.

Two callers can both find no stored answer. The transaction that charges looks again: for an answer that was kept in the
meantime, and for a reservation of the same question on the same data that nobody has settled or failed yet. A
reservation holds others back until its process is gone, as seen from the same machine, or for `LEASE` seconds, longer
than any question may run.

*What a dead process had reserved* is charged, and nobody was told anything. The same question takes it over: its entry
closes the old reservation and charges nothing, so whoever held that can settle it no more. Once: that a process died
may depend on the data, so a question that kills twice is charged twice. Where the policy was declared
anew meanwhile, or the price is another, it is a new question.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from time import monotonic, sleep
from typing import Any, TypeVar

from nowiser.ledger import owner
from nowiser.ledger.base import Entry
from nowiser.ledger.chain import COLUMNS, Row, entry_of
from nowiser.ledger.store import Work
from nowiser.model.charge import Charge, from_json

Answer = TypeVar("Answer")

LEASE = 90.0  # seconds; engines give up after 60
RECENT = 256  # entries that are looked at

_KEPT = "SELECT 1 FROM nowiser_answers WHERE question = :question AND data_version = :data_version"
_OPEN = (
    f"SELECT {COLUMNS} FROM nowiser_entries e WHERE e.kind = 'reserve'"  # noqa: S608 (our own words only)
    f" AND e.seq > (SELECT MAX(seq) FROM nowiser_entries) - {RECENT}"
    " AND NOT EXISTS (SELECT 1 FROM nowiser_entries f WHERE f.refers = e.seq)"
)

_DECLARED = "SELECT coalesce(MAX(seq), 0) FROM nowiser_entries WHERE kind = 'policy'"


class UnderWay(Exception):
    """The same question is being answered, or has just been. Nothing was charged."""


def check_flight(work: Work, question: str, data_version: str) -> None:
    """Raise UnderWay if this question on this data has its answer already, or will have it soon."""
    asked = {"question": question, "data_version": data_version}
    if work.execute(_KEPT, asked).fetchone() is not None:
        raise UnderWay
    if any(not _dead(entry.body) for entry in _open(work, question, data_version)):
        raise UnderWay


def abandoned(work: Work, question: str, data_version: str) -> tuple[int, Charge] | None:
    """The reservation of a dead process that may be taken over: its entry, and what it charged."""
    for entry in _open(work, question, data_version):
        first = "reservation" not in entry.body and "alarm" not in entry.body
        if first and _dead(entry.body) and entry.seq > work.execute(_DECLARED).fetchone()[0]:
            return entry.seq, from_json(entry.body["charge"])
    return None


def _open(work: Work, question: str, data_version: str) -> list[Entry]:
    every = (entry_of(Row(*row)) for row in list(work.execute(_OPEN)))
    return [e for e in every if (e.body["question"], e.body["data_version"]) == (question, data_version)]


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


def _dead(body: dict[str, Any]) -> bool:
    age = abs((datetime.now(UTC) - datetime.fromisoformat(body["at"])).total_seconds())
    return age >= LEASE or owner.gone(body.get("owner", ""))
