# ruff: noqa: S608 (the SQL is made of our own words only)
"""What one analyst was charged since some hour: a brake for programs that ask by themselves.

Entries carry the clock of the host that wrote them, so this is as exact as the clocks. No promise rests on it.
"""

from datetime import datetime

from nowiser.ledger.chain import COLUMNS, Row, entry_of
from nowiser.ledger.store import Work
from nowiser.model.charge import Account, Charge, from_json

STEP = 512  # entries read at a time, backwards

_LAST = "SELECT MAX(seq) FROM nowiser_entries"
_PIECE = f"SELECT {COLUMNS} FROM nowiser_entries WHERE seq > :low AND seq <= :high AND kind IN ('reserve', 'failed')"
_AT = f"SELECT {COLUMNS} FROM nowiser_entries WHERE seq = :seq"


def charged_since(work: Work, analyst: str, at: datetime) -> Charge:
    """The sum of an analyst's charges in entries since `at`, read backwards from the last."""
    high = work.execute(_LAST).fetchone()[0] or 0
    amounts: list[tuple[Account, int]] = []
    while high > 0:
        low = max(0, high - STEP)
        for row in list(work.execute(_PIECE, {"low": low, "high": high})):
            body = entry_of(Row(*row)).body
            if body.get("analyst") == analyst and datetime.fromisoformat(body["at"]) >= at:
                amounts.extend(from_json(body.get("charge", ())).amounts)
        first = work.execute(_AT, {"seq": low + 1}).fetchone()
        if first is None or datetime.fromisoformat(entry_of(Row(*first)).body["at"]) < at:
            break
        high = low
    return Charge.of(amounts)
