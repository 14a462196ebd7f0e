"""Who may ask: under the policy in force, wherever it was declared, and while few of her questions have failed.

That a run fails may depend on the data, so failures are told sparingly: after `MOST` of them an analyst is refused
until the custodian has looked (`reopened` in the chain). Where the policy lists no analysts, names are what somebody
writes, and everybody's failures count together.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from nowiser.errors import Misconfigured, NotAuthorised
from nowiser.ledger.store import Work

MOST = 3  # failed questions until access is closed

POLICY = "SELECT body FROM nowiser_entries WHERE kind = 'policy' ORDER BY seq DESC LIMIT 1"
_FAILED = (
    "SELECT f.kind, f.body, r.body FROM nowiser_entries f LEFT JOIN nowiser_entries r ON r.seq = f.refers"
    " WHERE f.kind IN ('failed', 'reopened') ORDER BY f.seq"
)


@dataclass(frozen=True)
class InForce:
    """What of the policy declared last matters here; an empty digest before the first."""

    digest: str = ""
    analysts: frozenset[str] = frozenset()


def in_force(work: Work) -> InForce:
    row = work.execute(POLICY).fetchone()
    return _read(row[0]) if row is not None else InForce()


@lru_cache(maxsize=16)
def _read(body: str) -> InForce:
    """Read once: a policy may be long, and is asked for with every question."""
    found = json.loads(body)
    return InForce(found["digest"], frozenset(found["policy"]["analysts"]))


def failures(work: Work) -> dict[str, int]:
    """Per analyst, how many questions failed since the custodian last looked."""
    found: dict[str, int] = {}
    for kind, body, reserved in work.execute(_FAILED):
        if kind == "failed":
            name = json.loads(reserved)["analyst"]
            found[name] = found.get(name, 0) + 1
        elif (name := json.loads(body)["analyst"]) is None:
            found.clear()
        else:
            found.pop(name, None)
    return found


def closed(failed: Mapping[str, int], analyst: str, listed: frozenset[str]) -> bool:
    """Whether too many questions failed. `listed`: the analysts of the policy; without any, all count together."""
    return (failed.get(analyst, 0) if listed else sum(failed.values())) >= MOST


def check_policy(work: Work, held: str) -> InForce:
    """Raise Misconfigured unless the policy with this digest is in force.

    Inside the transaction that charges this binds every open gateway, on every host, to the policy declared last: a
    declaration is committed before the charge, and seen, or after it, and then the charge came first.
    """
    found = in_force(work)
    if found.digest != held:
        raise Misconfigured(
            "the policy was changed since this gateway was opened; it answers under the old one no more",
            hint="Open the gateway again: it then reads the policy file as it is now. Nothing was charged.",
        )
    return found


def check_access(work: Work, held: str, analyst: str) -> None:
    """Raise Misconfigured as above, and NotAuthorised where too many questions failed."""
    found = check_policy(work, held)
    if closed(failures(work), analyst, found.analysts):
        whose = f" --analyst {analyst}" if found.analysts else ""
        raise NotAuthorised(
            f"access is closed: {MOST} questions failed, and the custodian has not looked at them yet",
            hint=f'The custodian opens it again with `nowiser ledger reopen{whose} --reason "why"`. '
            "Nothing was charged.",
        )
