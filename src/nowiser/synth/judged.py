"""Synthetic rows held against the real ones: distances, a classifier tried on real rows, what attackers gain.

This reads the data again and is charged to nobody: it is for the custodian alone, like every comparison with an
original, and the file says so. Nothing of it goes into the rows.
"""

from typing import Any

from nowiser.bought import rows as bought_rows
from nowiser.errors import Misconfigured
from nowiser.microdata.compare import Comparison, compare
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.model.goal import On, Within
from nowiser.model.policy import Policy
from nowiser.model.schema import Role, Table


def held_against_real_rows(policy: Policy, table: Table, drawn: MicroTable, target: str | None) -> Comparison:
    """As `nowiser compare`, with the sensitive columns and the precision of the policy's attackers."""
    names = drawn.names
    real = bought_rows.counted(policy, table, names)
    secret = [c.name for c in table.columns if c.role is Role.SENSITIVE and c.name in names]
    return compare(
        real,
        drawn,
        quasi=[c.name for c in table.columns if c.role is Role.PUBLIC and c.name in names],
        sensitive=secret,
        within={n: r for n, r in _near(policy, table).items() if n in secret},
        target=target,
        title=f"synthetic rows of {table.name}",
    )


def check_target(names: tuple[str, ...], target: str | None) -> None:
    if target is not None and target not in names:
        raise Misconfigured(f"the rows have no column {target!r} to predict", hint=f"Columns: {', '.join(names)}.")


def summary(found: Comparison) -> dict[str, Any]:
    """Some figures of it, for the words that are printed."""
    whole = found.to_json()
    utility = whole["utility"]
    return {
        "kept": utility["kept"],
        "marginals": utility["marginals"],
        "pairs": utility["pairs"],
        "classifier": utility.get("classifier"),
        "strongest": whole["strongest"],
    }


def _near(policy: Policy, table: Table) -> dict[str, float]:
    """How near a guess of a number must come, by the attackers' goals."""
    found: dict[str, float] = {}
    for attacker in policy.attackers:
        goal = attacker.goal
        if isinstance(goal, On) and isinstance(goal.goal, Within) and len(goal.attributes) == 1:
            home, _, column = goal.attributes[0].partition(".")
            if home == table.name:
                found[column] = goal.goal.radius
    return found
