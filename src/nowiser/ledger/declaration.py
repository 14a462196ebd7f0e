"""A policy enters the ledger: the first, and every change. Tightening is free, loosening needs a reason.

Costs are never reset: they are kept per attribute, whatever policy was in force when they arose.
"""

from typing import Any

from nowiser.errors import Misconfigured
from nowiser.model.policy import Policy


def declaration(last: dict[str, Any] | None, policy: Policy, reason: str | None) -> dict[str, Any] | None:
    """The body of the entry, given the body of the last declaration; None when nothing has changed.

    Raises Misconfigured when a promise is loosened and no reason is given.
    """
    from nowiser.policy import canonical, compare, from_canonical

    body: dict[str, Any] = {"digest": policy.digest, "policy": canonical(policy), "reason": reason, "loosened": []}
    if last is None:
        return body
    if last["digest"] == policy.digest:
        return None
    loosened = list(compare(from_canonical(last["policy"]), policy).loosened)
    if loosened and not (reason and reason.strip()):
        raise Misconfigured(
            "the policy was changed and promises less than the one in the ledger:\n"
            + "\n".join(f"  {line}" for line in loosened),
            hint='Undo the change, or accept it with `nowiser ledger accept --reason "why"`; costs so far stay.',
        )
    return {**body, "loosened": loosened}
