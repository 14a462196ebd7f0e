"""A table of a policy as something to publish: its columns' roles, what it promises, and its ledger.

Every attacker of the policy constrains a publication, in one of four ways.

* A column released by a step that claims differential privacy is paid for: the charge is admitted by the same rule
  as the gateway's answers, together with everything charged before.
* A goal on one sensitive column becomes a `gain` model: counted in every group of look-alikes. Where another step
  changes that column's values, the attackers of `nowiser.microdata.risk` are tried with this goal as well.
* A goal joined by and, or, not becomes a `joint-gain` model, counted over the columns' joint values: counting each
  column for itself would not bound it, a pair may be rare in the table and certain in a group where neither of its
  values is. All its columns are released, or none.
* Any other goal (presence, columns of several tables, a place on a map) refuses the publication while one of its
  columns is in it.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nowiser.errors import Exhausted, Misconfigured, NotAnswerable
from nowiser.guess.budget.told import Lift
from nowiser.microdata import recipe as recipes
from nowiser.microdata.candidates import Candidate, private_columns
from nowiser.microdata.groups.compound import tree_of
from nowiser.microdata.method_contract import Guessing, Run, silent
from nowiser.microdata.models.joint_gain import JointGain
from nowiser.microdata.recipe import Recipe
from nowiser.microdata.releases import account
from nowiser.microdata.releases.known import with_all_known
from nowiser.microdata.releases.persons import ever, have_several
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.model.attacker import Attacker
from nowiser.model.charge import Charge
from nowiser.model.goal import And, Goal, In, Not, On, Or, Present, Within
from nowiser.model.policy import Policy
from nowiser.model.schema import Protect, Role, Table
from nowiser.percent import percent

if TYPE_CHECKING:
    from nowiser.microdata.table.counting import Counting


@dataclass(frozen=True)
class Source:
    """What is published, and what the policy already says about it."""

    data: Any = None
    quasi: dict[str, Any] = field(default_factory=dict)
    sensitive: dict[str, Any] = field(default_factory=dict)
    identifiers: list[str] = field(default_factory=list)
    promised: Callable[[Recipe], Recipe] = lambda recipe: recipe  # with what the policy promises
    check: Callable[[Candidate, Run], None] | None = None  # raises unless a version keeps it
    counting: "Counting | None" = None  # which rows count
    enter: Callable[[Candidate, str], None] | None = None
    price: Callable[[Candidate], tuple[float, float]] | None = None  # after `check`: what it would use, what is left

    def needed(self) -> Any:
        if self.data is None:
            raise Misconfigured("there is nothing to publish", hint="Name a file, or a policy and one of its tables.")
        return self.data


def from_policy(path: Path, table: str | None, data: str | None, by: str = "custodian") -> Source:
    """The policy's table, published by `by`: public columns are what attackers know, sensitive ones what they guess."""
    from nowiser.microdata.table.counting import Counting
    from nowiser.policy.reader import read

    policy = read(path)
    names = [t.name for t in policy.tables]
    name = table if table is not None else names[0] if len(names) == 1 else None
    chosen = policy.table(name) if name is not None else None
    if chosen is None:
        raise Misconfigured(f"name one table of the policy with --table: {', '.join(names)}")
    if chosen.ends is not None:
        raise Misconfigured(
            f"rows of {chosen.name!r} join two people: they are released as a graph",
            hint="nowiser publish --graph FILE, without a policy; or nowiser graph synthetic, under it.",
        )
    columns = {role: [c.name for c in chosen.columns if c.role is role] for role in Role}
    counted = account.Counting(policy, chosen)
    source: Any = data
    if source is None:
        from nowiser.microdata.table.engine_table import engine_table

        source = engine_table(policy, chosen)
    return Source(
        source,
        dict.fromkeys(columns[Role.PUBLIC]),
        dict.fromkeys(columns[Role.SENSITIVE]),
        columns[Role.IDENTIFIER],
        lambda recipe: promised(policy, chosen, recipe),
        lambda candidate, run: check(policy, chosen, candidate, run, counted),
        Counting(policy, chosen),
        lambda candidate, digest: enter(policy, candidate, digest, counted, by),
        lambda candidate: price(policy, candidate, counted),
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
        limit, joint = limited(attacker, table.name), joined(attacker, table.name)
        if limit is not None and limit["about"] in recipe.sensitive and limit["about"] not in paid:
            models.extend(recipes.model("gain", limit, tuple(recipe.sensitive)))
        elif limit is None and joint is not None and set(joint.parts) <= set(recipe.sensitive) - paid:
            models.append(joint)
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


def joined(attacker: Attacker, table: str) -> JointGain | None:
    """The model that bounds an attacker whose goal joins columns of this table, or negates one."""
    tree = tree_of(attacker.goal, table)
    return None if tree is None else JointGain(float(attacker.gain), str(alone(attacker.goal)))


def alone(goal: Goal) -> Goal:
    """The goal with the columns' own names."""
    if isinstance(goal, Not):
        return Not(alone(goal.goal))
    if isinstance(goal, And | Or):
        return type(goal)(tuple(alone(part) for part in goal.parts))
    return On(goal.attributes[0].partition(".")[2], goal.goal) if isinstance(goal, On) else goal


def check(policy: Policy, table: Table, candidate: Candidate, run: Run, counted: account.Counting) -> None:
    """Raises NotAnswerable or Exhausted unless this version keeps what the policy promises about every attacker."""
    private = private_columns(candidate.steps)
    run = with_all_known(table, candidate, run)
    for attacker in policy.attackers:
        about = {c for owner, c in _named(attacker.goal) if owner == table.name}
        if _is_presence(attacker.goal, table.name):
            raise NotAnswerable(
                f"the policy promises that `{attacker.text}` stays hidden, and released rows tell who is there",
                hint="Publish answers instead of rows, or take this attacker out of the policy.",
            )
        open_ = sorted(c for c in about if c in candidate.names and c not in private)
        if not open_:
            continue
        joint = joined(attacker, table.name)
        if joint is None:
            raise NotAnswerable(
                f"the policy limits `{attacker.text}`, and counting groups of look-alikes cannot promise that",
                hint=f"Leave out {', '.join(open_)}, release it by a private step, or limit one column at a time.",
            )
        if apart := sorted(about - set(open_)):
            raise NotAnswerable(
                f"the policy limits `{attacker.text}`, and of its columns only {', '.join(open_)} would be released by "
                f"counting: what {', '.join(apart)} adds to a guess is then not counted",
                hint=f"Release {', '.join(sorted(about))} alike, or leave out {', '.join(open_)}.",
            )
        if run.in_order:
            raise NotAnswerable(
                f"the policy limits `{attacker.text}`, and rows in the order of the original tell whose they are",
                hint="Leave out --keep-order: the rows are then written in random order.",
            )
        counted.tried[attacker.text] = _measured(attacker, joint, candidate, run)
        if candidate.streamed is None and have_several(candidate.table, run):
            counted.ever[attacker.text] = ever(candidate.table, run, joint)
    from nowiser.ledger.opening import for_policy

    charge = charged(candidate)
    counted.take(candidate, run)
    counted.warn(run.notice)
    with for_policy(policy) as ledger:
        counted.measure(ledger.releases(), ledger.totals() + charge, run.notice)
    if charge:
        from nowiser.guess.budget import allowance
        from nowiser.microdata.table.counting import Counting

        if Counting(policy, table).of(run.original).rows < run.original.rows:
            raise Misconfigured(
                f"the release has more rows of a person than count in {table.name!r}, and only those are paid for",
                hint=f"Keep at most {table.rows_per_person} of each person, as the policy says.",
            )
        with for_policy(policy) as ledger, _said_of_rows():
            allowance.admits(policy, ledger.totals(), charge)


@contextmanager
def _said_of_rows() -> Iterator[None]:
    """What is advised when an answer costs too much, in the words of a publication."""
    try:
        yield
    except Exhausted as error:
        left = f"{error.hint.partition('. ')[0]}. " if error.hint and "of the allowance is left" in error.hint else ""
        advice = "Perturb more in the private steps (a larger scale, a smaller jump), or release fewer columns by them."
        raise Exhausted(error.message, hint=left + advice) from None


def _measured(attacker: Attacker, joint: JointGain, candidate: Candidate, run: Run) -> tuple[Lift, ...]:
    """Columns whose values were changed: the attackers are tried with the policy's own goal.

    The worst victim's figure decides where it can be counted; elsewhere the upper end of the intervals for drawn
    victims, and for the tenth of them about whom most is gained, and that this is no promise about each is said.
    """
    from nowiser.microdata.risk import worst_victim as worst

    original, table = run.original, candidate.table
    changed = [c for c in joint.parts if not original[c].same_rows(table[c], table.origin)]
    if not changed:
        return ()
    channels = worst.known_channels(candidate.steps, original, table)
    for law in filter(None, (getattr(channels.get(c), "together", None) for c in changed)):
        if law.fewest < law.enough:
            raise NotAnswerable(
                f"the policy limits `{attacker.text}`, and correlated_noise keeps sums of {', '.join(law.names)} to "
                f"the last digit: of {law.fewest:,} rows they may tell the values to whoever solves for them",
                hint=f"Say whole: true, or have at least {law.enough:,} rows in each stratum.",
            )
    guessed = list(_one_column(attacker, joint, table, run, channels))
    published = set(changed) <= set(channels) and not any(worst.tells_spread(channels[c]) for c in changed)
    belief = worst.JointBelief.of(
        original, table, joint.tree, channels if published else {**worst.tried_as(original, table, changed), **channels}
    )
    if published and belief.is_countable and worst.independent(candidate.steps, joint.parts, belief.together):
        guessed.append(worst.worst_victim(belief, joint.goal))
    else:
        guessed += worst.worst_part(belief, joint.goal)
        part = "".join(f" and the {g.attacker.partition(', ')[2]}" for g in guessed if "% of" in g.attacker)
        run.notice(
            f"`{attacker.text}`: what a step did to {', '.join(changed)} cannot be counted for every victim; the limit "
            f"was held against the average victim{part} (upper end of a 95 % interval), not against the worst one."
        )
    quasi = tuple(q for q in run.roles.quasi if q in table and q in original)
    guessed += worst.average_victims(belief, quasi, joint.goal)
    for found in guessed:
        most = found.after if found.high is None else found.high
        if most - found.before > float(attacker.gain):
            raise NotAnswerable(
                f"the policy lets `{attacker.text}` gain {percent(float(attacker.gain))}, and an attacker who "
                f"{found.attacker} may gain {percent(most - found.before)} ({percent(found.before)} → {percent(most)})",
                hint="Perturb more, or release the column by a private step.",
            )
    return tuple(Lift(g.before, max(g.before, g.after if g.high is None else g.high)) for g in guessed)


def _one_column(
    attacker: Attacker, joint: JointGain, table: MicroTable, run: Run, channels: Mapping[str, Any]
) -> tuple[Guessing, ...]:
    """The attackers that `publish` prints, for goals they know: one column, exactly or within a distance."""
    from nowiser.microdata.risk.best_guess import Goal as Aim
    from nowiser.microdata.risk.guessing import guesses

    goal = attacker.goal.goal if isinstance(attacker.goal, On) else None
    if goal is None or isinstance(goal, In):
        return ()
    original = run.original
    aim = Aim(joint.parts[0], goal.radius if isinstance(goal, Within) else None)
    quasi = tuple(q for q in run.roles.quasi if q in table and q in original)
    return guesses(original, table, quasi, joint.parts[0], goal=aim, channels=channels)


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


def enter(policy: Policy, candidate: Candidate, digest: str, counted: account.Counting, by: str = "custodian") -> None:
    """The publication in the policy's ledger, before the file appears.

    Admitted like an answer, under the ledger's lock: raises Exhausted or NotAnswerable, with nothing charged, if a
    promise would break. Whoever published or asked meanwhile is counted: then the release is measured again.
    """
    from nowiser.guess.budget import allowance
    from nowiser.ledger.opening import for_policy
    from nowiser.ledger.shown import Meanwhile

    charge = charged(candidate)
    admission = allowance.admit(policy, charge) if charge else _nothing_more
    shown = None if counted.record is None else counted.record.to_bytes()
    with for_policy(policy) as ledger:
        ledger.declare(policy)
        while True:
            before = ledger.totals()
            counted.measure(ledger.releases(), before + charge, silent)

            def admit(totals: Charge, own: Charge, seen: Charge = before) -> None:
                if totals != seen:
                    raise Meanwhile
                admission(totals, own)

            with suppress(Meanwhile), _said_of_rows():
                ledger.publish(
                    charge + counted.charge(before),
                    admit,
                    policy=policy.digest,
                    what=counted.what,
                    analyst=by,
                    digest=digest,
                    shown=shown,
                    after=counted.seen,
                )
                return


def price(policy: Policy, candidate: Candidate, counted: account.Counting) -> tuple[float, float]:
    """The share of the allowance that a version would use if it were published now, and what would be left of it."""
    from nowiser.guess.budget.allowance import share_used
    from nowiser.ledger.opening import for_policy

    charge = charged(candidate)
    with for_policy(policy) as ledger:
        before = ledger.totals()
        counted.measure(ledger.releases(), before + charge, silent)
    charge = charge + counted.charge(before)
    return float(share_used(policy, charge)), max(0.0, 1 - float(share_used(policy, before + charge)))


def _nothing_more(_all: Charge, _own: Charge) -> None:
    """A release without a charge is measured with all answers, not charged beside them."""
