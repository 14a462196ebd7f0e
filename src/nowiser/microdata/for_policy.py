"""A table of a policy as something to publish: its columns' roles, what it promises, and its ledger.

Every attacker of the policy constrains a publication, in one of three ways.

* A column released by a step that claims differential privacy is paid for: the charge is admitted by the same rule
  as the gateway's answers, together with everything charged before.
* A goal on one sensitive column becomes a `gain` model: counted in every group of look-alikes. Where another step
  changes that column's values, the attackers of `nowiser.microdata.risk` are tried with this goal as well.
* Any other goal (several columns at once, presence) refuses the publication while one of its columns is in it.
  Counting each column for itself would not bound it: a pair may be rare in the table and certain in a group where
  neither of its values is.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.microdata import recipe as recipes
from nowiser.microdata.candidates import Candidate, private_columns
from nowiser.microdata.recipe import Recipe
from nowiser.microdata.release import Run
from nowiser.model.attacker import Attacker
from nowiser.model.charge import Charge
from nowiser.model.goal import Goal, In, Not, On, Present, Within
from nowiser.model.policy import Policy
from nowiser.model.schema import Protect, Role, Table


@dataclass(frozen=True)
class Source:
    """What is published, and what the policy already says about it."""

    data: Any = None
    quasi: dict[str, Any] = field(default_factory=dict)
    sensitive: dict[str, Any] = field(default_factory=dict)
    identifiers: list[str] = field(default_factory=list)
    promised: Callable[[Recipe], Recipe] = lambda recipe: recipe  # with what the policy promises
    check: Callable[[Candidate, Run], None] | None = None  # raises unless a version keeps it
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
    source: Any = data
    if source is None:
        from nowiser.microdata.engine_table import engine_table

        source = engine_table(policy, chosen)
    return Source(
        source,
        dict.fromkeys(columns[Role.PUBLIC]),
        dict.fromkeys(columns[Role.SENSITIVE]),
        columns[Role.IDENTIFIER],
        lambda recipe: promised(policy, chosen, recipe),
        lambda candidate, run: check(policy, chosen, candidate, run),
        lambda candidate, digest: enter(policy, chosen.name, candidate, digest),
    )


def promised(policy: Policy, table: Table, recipe: Recipe) -> Recipe:
    """The recipe with the policy's promises as models of its own. Raises Misconfigured where they cannot be kept."""
    private: list[Any] = [step for step in recipe.steps if recipes.is_private(step)]
    for step in private:
        _payable(table, step)
    secret = {c.name for c in table.columns if c.role is Role.SENSITIVE}
    paid = {step.column for step in private}
    if open_ := sorted(secret & ({*recipe.quasi, *recipe.keep} - paid)):
        raise Misconfigured(
            f"the policy says that {open_[0]!r} of {table.name!r} is sensitive, and the recipe releases it as known",
            hint=f"List it under sensitive, or leave it out. (Sensitive columns: {', '.join(sorted(secret))}.)",
        )
    models: list[Any] = list(recipe.models)
    for attacker in policy.attackers:
        limit = limited(attacker, table.name)
        if limit is not None and limit["about"] in recipe.sensitive and limit["about"] not in paid:
            models.extend(recipes.model("gain", limit, tuple(recipe.sensitive)))
    return replace(recipe, models=tuple(dict.fromkeys(models)))


def _payable(table: Table, step: Any) -> None:
    """Raises Misconfigured unless what a private step charges is what its release costs under this policy.

    A file has a line for everybody in the table, so it tells who is there whatever happens to the values: where even
    presence is secret no charge would be enough.
    """
    if step.table != table.name:
        raise Misconfigured(f"{step.name}: table must be {table.name!r}, whose account pays, not {step.table!r}")
    if table.protect is Protect.PERSONS:
        raise Misconfigured(
            f"{step.name} cannot be used for {table.name!r}: its policy keeps even presence secret "
            "(protect: persons), and a file with a line for everybody tells who is there",
            hint="Publish answers or synthetic rows, or declare protect: values if who is in the table is known.",
        )
    if step.rows_per_person < table.rows_per_person:
        raise Misconfigured(
            f"{step.name}: rows_per_person must be at least {table.rows_per_person}, as in the policy, "
            f"not {step.rows_per_person}"
        )


def limited(attacker: Attacker, table: str) -> dict[str, Any] | None:
    """The options of the `gain` model that bounds this attacker in every group of look-alikes, if there is one."""
    goal, outside = attacker.goal, False
    while isinstance(goal, Not):
        goal, outside = goal.goal, not outside
    if not isinstance(goal, On) or len(goal.attributes) != 1:
        return None
    owner, _, column = goal.attributes[0].partition(".")
    if owner != table:
        return None
    options: dict[str, Any] = {"gain": float(attacker.gain), "about": column}
    if isinstance(goal.goal, In):
        kind = "among" if goal.goal.values is not None else "between"
        found = goal.goal.values if goal.goal.values is not None else (goal.goal.low, goal.goal.high)
        options[kind] = [str(v) for v in found] if kind == "among" else list(found)
        options["outside"] = outside
    elif outside:
        return None
    elif isinstance(goal.goal, Within):
        options["within"] = goal.goal.radius
    return options


def check(policy: Policy, table: Table, candidate: Candidate, run: Run) -> None:
    """Raises NotAnswerable or Exhausted unless this version keeps what the policy promises about every attacker."""
    private = private_columns(candidate.steps)
    for attacker in policy.attackers:
        about = {c for owner, c in _named(attacker.goal) if owner == table.name}
        if _is_presence(attacker.goal, table.name):
            raise NotAnswerable(
                f"the policy promises that `{attacker.text}` stays hidden, and released rows tell who is there",
                hint="Publish answers instead of rows, or take this attacker out of the policy.",
            )
        open_ = sorted(c for c in about if c in candidate.table and c not in private)
        if not open_:
            continue
        if limited(attacker, table.name) is None:
            raise NotAnswerable(
                f"the policy limits `{attacker.text}`, and counting groups of look-alikes cannot promise that",
                hint=f"Leave out {', '.join(open_)}, release it by a private step, or limit one column at a time.",
            )
        _measured(attacker, open_[0], candidate, run)
    if charge := charged(candidate):
        from nowiser.guess import allowance
        from nowiser.ledger.opening import for_policy

        with for_policy(policy) as ledger:
            allowance.admits(policy, ledger.totals(), charge)


def _measured(attacker: Attacker, column: str, candidate: Candidate, run: Run) -> None:
    """A column whose values were changed: the attackers are tried with the policy's own goal."""
    from nowiser.microdata.risk.best_guess import Goal as Aim
    from nowiser.microdata.risk.guessing import guesses

    original, released = run.original, candidate.table[column]
    if (
        released.values is original[column].values
        and (released.codes == original[column].codes[candidate.table.origin]).all()
    ):
        return
    goal = attacker.goal.goal if isinstance(attacker.goal, On) else None
    if goal is None or isinstance(goal, In):
        raise NotAnswerable(
            f"the policy limits `{attacker.text}`, and a step changes {column!r}: how well a set is then guessed is "
            "not measured",
            hint="Leave the column as it is (generalise the others), or release it by a private step.",
        )
    aim = Aim(column, goal.radius if isinstance(goal, Within) else None)
    quasi = tuple(q for q in run.roles.quasi if q in candidate.table and q in original)
    for found in guesses(original, candidate.table, quasi, column, goal=aim):
        most = found.after if found.high is None else found.high
        if most - found.before > float(attacker.gain):
            raise NotAnswerable(
                f"the policy lets `{attacker.text}` gain {float(attacker.gain):.1%}, and an attacker who "
                f"{found.attacker.removeprefix('who ')} may gain {most - found.before:.1%} "
                f"({found.before:.1%} → {most:.1%})",
                hint="Perturb more, or release the column by a private step.",
            )


def _named(goal: Goal) -> list[tuple[str, str]]:
    return [(owner, column) for owner, _, column in (a.partition(".") for a in goal.attributes)]


def _is_presence(goal: Goal, table: str) -> bool:
    if isinstance(goal, Present):
        return goal.table in (None, table)
    inner = (goal.goal,) if isinstance(goal, Not) else getattr(goal, "parts", ())
    return any(_is_presence(part, table) for part in inner)


def charged(candidate: Candidate) -> Charge:
    charge = Charge()
    for step in candidate.steps:
        charge = charge + step.charge
    return charge


def enter(policy: Policy, table: str, candidate: Candidate, digest: str) -> None:
    """The publication in the policy's ledger, before the file appears.

    Admitted like an answer, under the ledger's lock: raises Exhausted, with nothing charged, if a promise would break.
    """
    from nowiser.guess import allowance
    from nowiser.ledger.opening import for_policy

    charge = charged(candidate)
    with for_policy(policy) as ledger:
        ledger.declare(policy)
        admission = allowance.admit(policy, charge) if charge else _nothing_to_admit
        ledger.publish(charge, admission, what=f"rows of {table}", analyst="custodian", digest=digest)


def _nothing_to_admit(_all: Charge, _own: Charge) -> None:
    """A release without a charge is bounded by counting; what has been charged before cannot forbid it."""
