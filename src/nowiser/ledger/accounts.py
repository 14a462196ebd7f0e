# ruff: noqa: S608 (the SQL is made of our own words only)
"""Accounts beside the chain: who may log in, as `nowiser serve` keeps it.

The chain says what was done to which account, and the digest of the account after it. The table beside it holds the
account itself, with its verifiers: so credentials are in no export of the chain, and a changed row is found out.
"""

from typing import Any

from nowiser.errors import LedgerBroken
from nowiser.ledger.chain import COLUMNS, Row, canonical, digest, entry_of
from nowiser.ledger.store import Work

_ONE = "SELECT name, seq, body FROM nowiser_accounts WHERE name = :name"
_EVERY = "SELECT name, seq, body FROM nowiser_accounts ORDER BY name"
_KEEP = (
    "INSERT INTO nowiser_accounts (name, seq, body) VALUES (:name, :seq, :body)"
    " ON CONFLICT (name) DO UPDATE SET seq = excluded.seq, body = excluded.body"
)
_DROP = "DELETE FROM nowiser_accounts WHERE name = :name"
_ENTRY = f"SELECT {COLUMNS} FROM nowiser_entries WHERE seq = :seq"
_LATER = f"SELECT {COLUMNS} FROM nowiser_entries WHERE kind = 'act' AND seq > :seq ORDER BY seq"
_ACTS = f"SELECT {COLUMNS} FROM nowiser_entries WHERE kind = 'act' ORDER BY seq"


def packed(body: dict[str, Any] | None) -> str:
    """How an account is stored; empty where it is no more."""
    return "" if body is None else canonical(body)


def keep(work: Work, seq: int, name: str, text: str) -> None:
    if text:
        work.execute(_KEEP, {"name": name, "seq": seq, "body": text})
    else:
        work.execute(_DROP, {"name": name})


def find(work: Work, name: str) -> str | None:
    """The account as stored. Raises LedgerBroken unless it is what the chain says."""
    row = work.execute(_ONE, {"name": name}).fetchone()
    return None if row is None else _checked(work, *row)


def every(work: Work) -> dict[str, str]:
    return {row[0]: _checked(work, *row) for row in list(work.execute(_EVERY))}


def check(work: Work) -> None:
    """Raise LedgerBroken unless the accounts are those the last acts left: none changed, put back, added or dropped."""
    last = {}
    for row in list(work.execute(_ACTS)):
        body = entry_of.__wrapped__(Row(*row)).body
        if "account" in body:
            last[body["account"]] = body["digest"]
    kept = {name: digest(text.encode()) for name, text in every(work).items()}
    wanted = {name: found for name, found in last.items() if found != digest(b"")}
    if kept != wanted:
        name = min(name for name in kept.keys() | wanted.keys() if kept.get(name) != wanted.get(name))
        raise LedgerBroken(f"the ledger does not verify: the account {name} is not what the chain says")


def _checked(work: Work, name: str, seq: int, text: str) -> str:
    row = work.execute(_ENTRY, {"seq": seq}).fetchone()
    body = entry_of(Row(*row)).body if row is not None else {}
    later = (entry_of(Row(*r)).body for r in list(work.execute(_LATER, {"seq": seq})))
    right = (body.get("account"), body.get("digest")) == (name, digest(text.encode()))
    if not right or any(act.get("account") == name for act in later):
        raise LedgerBroken(f"the ledger does not verify: the account {name} is not what the chain says")
    return text
