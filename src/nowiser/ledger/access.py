# ruff: noqa: S608 (the SQL is made of our own words only)
"""Who may ask: under the policy in force, wherever it was declared, and while few of her questions have failed.

That a run fails may depend on the data, so failures are told sparingly: after `MOST` of them an analyst is refused
until the custodian has looked (`reopened` in the chain). Where the policy lists no analysts and no server keeps
accounts, names are what somebody writes, and everybody's failures count together.
"""

from collections.abc import Collection, Mapping
from typing import Any

from nowiser.errors import Misconfigured, NotAuthorised
from nowiser.ledger.chain import COLUMNS, Row, entry_of
from nowiser.ledger.store import Work

MOST = 3  # failed questions until access is closed

_POLICY = f"SELECT {COLUMNS} FROM nowiser_entries WHERE kind = 'policy' ORDER BY seq DESC LIMIT 1"
_FAILED = f"SELECT {COLUMNS} FROM nowiser_entries WHERE kind IN ('failed', 'reopened') ORDER BY seq"
_SERVED = "SELECT 1 FROM nowiser_accounts LIMIT 1"
_ONE = f"SELECT {COLUMNS} FROM nowiser_entries WHERE seq = :seq"


def in_force(work: Work) -> dict[str, Any] | None:
    """What was said when the policy in force was declared; None before the first."""
    row = work.execute(_POLICY).fetchone()
    return entry_of(Row(*row)).body if row is not None else None


def failures(work: Work) -> dict[str, int]:
    """Per analyst, how many questions failed since the custodian last looked."""
    found: dict[str, int] = {}
    for row in list(work.execute(_FAILED)):
        entry = entry_of(Row(*row))
        if entry.kind == "failed":
            name = _whose(work, entry.body)
            found[name] = found.get(name, 0) + 1
        elif (name := entry.body["analyst"]) is None:
            found.clear()
        else:
            found.pop(name, None)
    return found


def _whose(work: Work, failed: dict[str, Any]) -> str:
    """Ledgers of version 0.1.0 name the analyst in the reservation only."""
    if "analyst" in failed:
        return str(failed["analyst"])
    row = work.execute(_ONE, {"seq": failed["reservation"]}).fetchone()
    return str(entry_of(Row(*row)).body["analyst"]) if row is not None else ""


def closed(failed: Mapping[str, int], analyst: str, *, proved: bool) -> bool:
    """Whether too many questions failed. proved: names are more than what somebody writes; else all count together."""
    return (failed.get(analyst, 0) if proved else sum(failed.values())) >= MOST


def check_policy(work: Work, held: str) -> Collection[str]:
    """Raise Misconfigured unless the policy with this digest is in force; the analysts it lists.

    Inside the transaction that charges this binds every open gateway, on every host, to the policy declared last: a
    declaration is committed before the charge, and seen, or after it, and then the charge came first.
    """
    found = in_force(work)
    if (found["digest"] if found is not None else "") != held:
        raise Misconfigured(
            "the policy was changed since this gateway was opened; it answers under the old one no more",
            hint="Open the gateway again: it then reads the policy file as it is now. Nothing was charged.",
        )
    return found["policy"]["analysts"] if found is not None else ()


def check_access(work: Work, held: str, analyst: str) -> None:
    """Raise Misconfigured as above, and NotAuthorised where too many questions failed."""
    listed = check_policy(work, held)
    proved = bool(listed) or work.execute(_SERVED).fetchone() is not None  # a server proves who asks
    if closed(failures(work), analyst, proved=proved):
        whose = f" --analyst {analyst}" if proved else ""
        raise NotAuthorised(
            f"access is closed: {MOST} questions failed, and the custodian has not looked at them yet",
            hint=f'The custodian opens it again with `nowiser ledger reopen{whose} --reason "why"`. '
            "Nothing was charged.",
        )
