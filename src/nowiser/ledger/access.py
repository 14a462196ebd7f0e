"""Under which policy questions are taken: the one in force, which is the last one declared, wherever that was done."""

import json
from functools import lru_cache

from nowiser.errors import Misconfigured
from nowiser.ledger.store import Work

_POLICY = "SELECT body FROM nowiser_entries WHERE kind = 'policy' ORDER BY seq DESC LIMIT 1"


def in_force(work: Work) -> str:
    """The digest of the policy declared last; empty before the first."""
    row = work.execute(_POLICY).fetchone()
    return _digest(row[0]) if row is not None else ""


@lru_cache(maxsize=16)
def _digest(body: str) -> str:
    """Read once: a policy may be long, and is asked for with every question."""
    return str(json.loads(body)["digest"])


def check_policy(work: Work, held: str) -> None:
    """Raise Misconfigured unless the policy with this digest is in force.

    Inside the transaction that charges this binds every open gateway, on every host, to the policy declared last: a
    declaration is committed before the charge, and seen, or after it, and then the charge came first.
    """
    if in_force(work) != held:
        raise Misconfigured(
            "the policy was changed since this gateway was opened; it answers under the old one no more",
            hint="Open the gateway again: it then reads the policy file as it is now. Nothing was charged.",
        )
