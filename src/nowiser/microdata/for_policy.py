"""A table of a policy as something to publish: its columns' roles, its limits, and its ledger."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.microdata.candidates import Candidate
from nowiser.microdata.engine_table import engine_table
from nowiser.model.attacker import Attacker
from nowiser.model.charge import Charge
from nowiser.model.goal import In, On, Within
from nowiser.model.policy import Policy
from nowiser.model.schema import Role


@dataclass(frozen=True)
class Source:
    """What is published, and what the policy already says about it."""

    data: Any = None
    quasi: dict[str, Any] = field(default_factory=dict)
    sensitive: dict[str, Any] = field(default_factory=dict)
    identifiers: list[str] = field(default_factory=list)
    models: list[dict[str, Any]] = field(default_factory=list)
    enter: Callable[[Candidate, str], None] | None = None

    def needed(self) -> Any:
        if self.data is None:
            raise Misconfigured("there is nothing to publish", hint="Name a file, or a policy and one of its tables.")
        return self.data


def from_policy(path: Path, table: str | None, data: str | None) -> Source:
    """The policy's table: public columns are what attackers know, sensitive ones what they guess."""
    from nowiser.policy.reader import read

    policy = read(path)
    names = [t.name for t in policy.tables]
    name = table if table is not None else names[0] if len(names) == 1 else None
    chosen = policy.table(name) if name is not None else None
    if chosen is None:
        raise Misconfigured(f"name one table of the policy with --table: {', '.join(names)}")
    columns = {role: [c.name for c in chosen.columns if c.role is role] for role in Role}
    models = [m for attacker in policy.attackers for m in limits(attacker, chosen.name)]
    source: Any = data
    if source is None:
        source = engine_table(policy, chosen)
    return Source(
        source,
        dict.fromkeys(columns[Role.PUBLIC]),
        dict.fromkeys(columns[Role.SENSITIVE]),
        columns[Role.IDENTIFIER],
        models,
        lambda candidate, digest: enter(policy, chosen.name, candidate, digest),
    )


def limits(attacker: Attacker, table: str) -> list[dict[str, Any]]:
    """The gain an attacker may have, for goals on one sensitive column. Goals on several are not enforced by counting
    groups and stay with the gateway.
    """
    goal = attacker.goal
    if not isinstance(goal, On) or len(goal.attributes) != 1:
        return []
    owner, _, column = goal.attributes[0].partition(".")
    if owner != table:
        return []
    options: dict[str, Any] = {"gain": float(attacker.gain), "about": column}
    if isinstance(goal.goal, Within):
        options["within"] = goal.goal.radius
    elif isinstance(goal.goal, In) and goal.goal.values is not None:
        options["among"] = [str(v) for v in goal.goal.values]
    return [{"gain": options}]


def enter(policy: Policy, table: str, candidate: Candidate, digest: str) -> None:
    """The publication in the policy's ledger, before the file appears."""
    from nowiser.ledger.opening import for_policy

    charge = Charge()
    for step in candidate.steps:
        charge = charge + step.charge
    with for_policy(policy) as ledger:
        ledger.declare(policy)
        ledger.publish(charge, lambda _all, _own: None, what=f"rows of {table}", analyst="custodian", digest=digest)
