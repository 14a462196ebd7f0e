# ruff: noqa: S608 (the SQL is made of our own words only)
"""Alarms in a ledger: a reservation with a secret, looks that refer to it, and its end.

The chain says what an alarm is and whether it is over; the table beside it keeps the secret of its threshold, whose
digest is in the chain, until then. Nobody but the gateway reads the secret: it is not printed, reported or logged.
"""

import json
from typing import Any

from nowiser.errors import LedgerBroken
from nowiser.ledger.base import Armed, Entry, Reservation
from nowiser.ledger.chain import COLUMNS, Row, digest, entry_of
from nowiser.ledger.store import Work

_KEEP = (
    "INSERT INTO nowiser_alarms (seq, question, secret, looks, looked) VALUES (:seq, :question, :secret, 0, :looked)"
)
_FIND = "SELECT seq, secret, looks, looked FROM nowiser_alarms WHERE question = :question ORDER BY seq DESC LIMIT 1"
_LOOKED = "UPDATE nowiser_alarms SET looks = looks + 1, looked = :looked WHERE seq = :seq"
_OVER = "UPDATE nowiser_alarms SET secret = :nothing WHERE seq = :seq"
_EVERY = "SELECT seq, question, secret FROM nowiser_alarms"
_ABOUT = f"SELECT {COLUMNS} FROM nowiser_entries WHERE seq = :seq OR refers = :seq ORDER BY seq"


class AlreadyArmed(Exception):
    """Somebody else armed an alarm of that name, just now."""


def keep(work: Work, seq: int, *, question: str, secret: bytes, after: int) -> None:
    """Raises AlreadyArmed, so that nothing is written, where an alarm of that name came after the one seen last."""
    last = work.execute(_FIND, {"question": question}).fetchone()
    if last is not None and last[0] != after:
        raise AlreadyArmed
    work.execute(_KEEP, {"seq": seq, "question": question, "secret": secret, "looked": ""})


def find(work: Work, question: str) -> Armed | None:
    """The last alarm of that name. Raises LedgerBroken unless the chain knows it and its secret."""
    row = work.execute(_FIND, {"question": question}).fetchone()
    if row is None:
        return None
    seq, secret, looks, looked = row
    entry, end = _about(work, seq, question, bytes(secret))
    body = entry.body
    held = Reservation(seq, question, body["data_version"], analyst=body["analyst"])
    over = None if end is None else str(end.body["at"])
    return Armed(held, body["alarm"], bytes(secret), looks, looked, over, end is not None and end.kind == "failed")


def looked(work: Work, seq: int, data_version: str, *, over: bool) -> None:
    work.execute(_LOOKED, {"seq": seq, "looked": data_version})
    if over:
        work.execute(_OVER, {"seq": seq, "nothing": b""})


def check(work: Work) -> None:
    """Raise LedgerBroken unless every alarm is one of the chain, with its secret."""
    for seq, question, secret in list(work.execute(_EVERY)):
        _about(work, seq, question, bytes(secret))


def _about(work: Work, seq: int, question: str, secret: bytes) -> tuple[Entry, Entry | None]:
    """The entries that begin and, if it is over, end an alarm."""
    found = [entry_of(Row(*row)) for row in list(work.execute(_ABOUT, {"seq": seq}))]
    if not found or "alarm" not in found[0].body or found[0].body["question"] != question:
        raise LedgerBroken(f"the ledger does not verify: entry {seq} is no alarm of this name")
    begin, *end = found
    if digest(secret) != begin.body["secret"] if not end else secret:
        raise LedgerBroken(f"the ledger does not verify: the secret of the alarm of entry {seq} was changed")
    return begin, end[0] if end else None


def packed(number: int, salt: bytes) -> bytes:
    """A secret number, beside enough randomness that its digest tells nothing."""
    return json.dumps([number, salt.hex()]).encode()


def unpacked(secret: bytes) -> int:
    found: Any = json.loads(secret)
    return int(found[0])
