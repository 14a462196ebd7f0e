"""What a new edition of a policy changes: every change tightens, loosens, or leaves the promise as it is.

The promise is: for every declared attacker, over all answers ever given, after ≤ before + gain. The ledger lets an
edition pass without a reason only if nothing in it loosens that promise, so the rule is: *what is not provably
tightening or neutral counts as loosening.* The arguments:

* **attackers**: fewer attackers or larger gains admit more. More attackers or smaller gains admit less. What is kept
  for every answer is kept on average, not the other way round: a promise that becomes one on average loosens.
* **priors**: `before` and the ceiling are computed from them, in both directions; so a changed prior loosens, except
  a change to `unknown`, whose advantage is the largest over all priors (a gain kept there is kept under each).
* **dependence**: a goal is charged with everything released about the attributes in `dependents`. A set that shrinks
  (by `independent`, or because a column is gone) forgets charges: loosening, whatever the reason.
* **rows_per_person, groups_per_person, grid, domains, spend**: enter the *cost* of each later question, which is
  computed from the policy then in force, and leave the limits alone; costs of earlier answers were right when they
  were charged and stay. Neutral. So are wider ranges of sensitive columns: sums cost more.
* **at_least**: how long an answer took is told more coarsely the longer it is. Shorter loosens, longer tightens.
* **source, csv**: which rows are read, and how; limits and costs hold for whatever rows there are. Neutral.
* **from**: what is answered from the synopsis was paid for with it. Neutral.
* **analysts' shares**: divide the allowance; the limit holds for all analysts together whatever they are. Neutral.
* **one_per_person**: says how values in several rows of a person depend on each other, and makes slopes of all of them
  move together. Declaring it assumes more about the data: loosening; taking it back tightens.
* **partition**: charges to one value no longer count for the others. Declaring one loosens; taking it back tightens,
  because what was charged to its values then counts for everybody.
* **what can be asked at all**: a new table about persons or a new column admits answers that were refused. Loosening.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any

from nowiser.model.attacker import Attacker
from nowiser.model.policy import Policy
from nowiser.model.prior import Unknown
from nowiser.model.schema import Column, Protect, Role, Table


class Effect(Enum):
    TIGHTENS = "tightens"
    LOOSENS = "loosens"
    NEUTRAL = "neutral"


@dataclass(frozen=True)
class Change:
    about: str  # `attackers`, `visits`, `visits.time`, `delta` …
    effect: Effect
    text: str  # one sentence for people

    def __str__(self) -> str:
        return f"{self.about}: {self.text}"

    def to_json(self) -> dict[str, str]:
        return {"about": self.about, "effect": self.effect.value, "text": self.text}


@dataclass(frozen=True)
class Changes:
    """All changes, those that loosen first; each line names what it is about."""

    changes: tuple[Change, ...]

    def __iter__(self) -> Iterator[Change]:
        return iter(self.changes)

    def __len__(self) -> int:
        return len(self.changes)

    def _lines(self, effect: Effect) -> tuple[str, ...]:
        return tuple(str(change) for change in self.changes if change.effect is effect)

    @property
    def loosened(self) -> tuple[str, ...]:
        return self._lines(Effect.LOOSENS)

    @property
    def tightened(self) -> tuple[str, ...]:
        return self._lines(Effect.TIGHTENS)

    @property
    def neutral(self) -> tuple[str, ...]:
        return self._lines(Effect.NEUTRAL)


def compare(old: Policy, new: Policy) -> Changes:
    """What `new` changes over `old`; empty exactly when both mean the same."""
    found = [
        *_attackers(old, new),
        *_priors(old, new),
        *_dependence(old, new),
        *_tables(old, new),
        *_numbers(old, new),
    ]
    order = [Effect.LOOSENS, Effect.TIGHTENS, Effect.NEUTRAL]
    return Changes(tuple(sorted(found, key=lambda change: (order.index(change.effect), change.about, change.text))))


def _attackers(old: Policy, new: Policy) -> Iterator[Change]:
    before = {_promised(a): a for a in old.attackers}
    after = {_promised(a): a for a in new.attackers}
    for goal in before.keys() - after.keys():
        stricter = after.get(str(before[goal].goal))
        if stricter is not None and stricter.gain <= before[goal].gain:
            yield Change("attackers", Effect.TIGHTENS, f"`{goal}` is now defended for every answer")
            continue
        weaker = " for every answer, only on average" if f"{goal} on average" in after else " against"
        yield Change("attackers", Effect.LOOSENS, f"`{goal}` is no longer defended{weaker}")
    for goal in after.keys() - before.keys():
        yield Change("attackers", Effect.TIGHTENS, f"`{goal}` is now defended against")
    for goal in before.keys() & after.keys():
        a, b = before[goal].gain, after[goal].gain
        if a != b:
            effect = Effect.LOOSENS if b > a else Effect.TIGHTENS
            yield Change("attackers", effect, f"`{goal}` may gain {100 * float(b):.6g}%, was {100 * float(a):.6g}%")
        if before[goal].knows != after[goal].knows:
            yield Change("attackers", Effect.LOOSENS, f"`{goal}` knows something else")


def _promised(attacker: Attacker) -> str:
    return f"{attacker.goal} on average" if attacker.on_average else str(attacker.goal)


def _priors(old: Policy, new: Policy) -> Iterator[Change]:
    for name in sorted(old.priors.keys() & new.priors.keys()):
        a, b = old.priors[name], new.priors[name]
        if a == b or (isinstance(a, Unknown) and isinstance(b, Unknown)):
            continue  # an unknown prior changes only with the range, which is compared below
        if isinstance(b, Unknown):
            yield Change(name, Effect.TIGHTENS, "the prior is now unknown, the worst there is")
        else:
            yield Change(name, Effect.LOOSENS, "attackers are taken to believe something else beforehand")


def _dependence(old: Policy, new: Policy) -> Iterator[Change]:
    for attribute in _secrets(old):
        before, after = set(old.dependents(attribute)), set(new.dependents(attribute))
        if attribute not in _secrets(new):
            continue
        if lost := sorted(before - after):
            yield Change(attribute, Effect.LOOSENS, f"what is released about {', '.join(lost)} no longer counts")
        elif more := sorted(after - before):
            yield Change(attribute, Effect.TIGHTENS, f"what is released about {', '.join(more)} counts too")

    if _groups(old) != _groups(new):
        yield Change("independent", Effect.NEUTRAL, "stated in another way")


def _groups(policy: Policy) -> set[frozenset[str]]:
    return {frozenset(group) for group in policy.independent}


def _secrets(policy: Policy) -> list[str]:
    return [f"{t.name}.{c.name}" for t in policy.tables if not t.is_public for c in t.columns if c.secret]


def _tables(old: Policy, new: Policy) -> Iterator[Change]:
    before, after = {t.name: t for t in old.tables}, {t.name: t for t in new.tables}
    for name in sorted(before.keys() - after.keys()):
        yield Change(name, Effect.NEUTRAL, "the table can no longer be asked about; its costs stay in the ledger")
    for name in sorted(after.keys() - before.keys()):
        if after[name].is_public:
            yield Change(name, Effect.NEUTRAL, "a new public table")
        else:
            yield Change(name, Effect.LOOSENS, "a new table about persons can be asked about")
    for name in sorted(before.keys() & after.keys()):
        yield from _table(before[name], after[name])


def _table(old: Table, new: Table) -> Iterator[Change]:
    owner_before, owner_after = ((t.person, t.link, t.row_is_person, t.ends) for t in (old, new))
    if owner_before != owner_after:
        text = "the table is now public" if new.is_public else "rows belong to persons in another way"
        yield Change(new.name, Effect.LOOSENS, text)
    if old.protect is not new.protect and not new.is_public:
        effect = Effect.LOOSENS if new.protect is Protect.VALUES else Effect.TIGHTENS
        yield Change(new.name, effect, f"protects {new.protect.value}, was {old.protect.value}")
    for key in ("rows_per_person", "groups_per_person", "people", "source", "csv"):
        yield from _neutral(new.name, key, getattr(old, key), getattr(new, key))
    if old.partition != new.partition:
        if new.partition is None:
            yield Change(new.name, Effect.TIGHTENS, f"what was asked about one {old.partition} counts for everybody")
        else:
            text = f"questions about one {new.partition} no longer count for the others"
            yield Change(new.name, Effect.LOOSENS, text)
    keys_before, keys_after = ({frozenset(key) for key in t.unique} for t in (old, new))
    for columns in keys_after - keys_before:
        yield Change(new.name, Effect.LOOSENS, f"{', '.join(sorted(columns))} is now trusted to be unique")
    for columns in keys_before - keys_after:
        yield Change(new.name, Effect.TIGHTENS, f"{', '.join(sorted(columns))} is no longer trusted to be unique")
    for link in set(new.references) - set(old.references):
        yield Change(new.name, Effect.LOOSENS, f"{', '.join(link.columns)} can now be joined with {link.table}")
    for link in set(old.references) - set(new.references):
        yield Change(new.name, Effect.TIGHTENS, f"{', '.join(link.columns)} can no longer be joined with {link.table}")
    before, after = {c.name: c for c in old.columns}, {c.name: c for c in new.columns}
    for name in sorted(before.keys() - after.keys()):
        yield Change(f"{new.name}.{name}", Effect.NEUTRAL, "the column can no longer be asked about")
    for name in sorted(after.keys() - before.keys()):
        effect = Effect.NEUTRAL if new.is_public else Effect.LOOSENS
        yield Change(f"{new.name}.{name}", effect, "a new column can be asked about")
    for name in sorted(before.keys() & after.keys()):
        yield from _column(f"{new.name}.{name}", before[name], after[name])


def _column(about: str, old: Column, new: Column) -> Iterator[Change]:
    if old.role is not new.role:
        # From sensitive to identifier loosens too: attackers cannot be declared on identifiers.
        effect = Effect.TIGHTENS if old.role is Role.PUBLIC else Effect.LOOSENS
        yield Change(about, effect, f"is {new.role.value}, was {old.role.value}")
    if old.kind is not new.kind:
        yield Change(about, Effect.LOOSENS, f"is of kind {new.kind.value}, was {old.kind.value}")
    if old.nullable != new.nullable:
        effect = Effect.TIGHTENS if new.nullable else Effect.LOOSENS
        text = "missing values are now a secret" if new.nullable else "missing values are no longer a secret"
        yield Change(about, effect if old.secret and new.secret else Effect.NEUTRAL, text)
    if old.one_per_person != new.one_per_person:
        effect = Effect.LOOSENS if new.one_per_person else Effect.TIGHTENS
        text = "is now one value per person" if new.one_per_person else "is no longer one value per person"
        yield Change(about, effect if new.secret else Effect.NEUTRAL, text)
    yield from _range(about, old, new)
    for key in ("domain", "grid"):
        yield from _neutral(about, key, getattr(old, key), getattr(new, key))


def _range(about: str, old: Column, new: Column) -> Iterator[Change]:
    if (old.low, old.high) == (new.low, new.high):
        return
    if new.role is not Role.SENSITIVE:
        yield Change(about, Effect.NEUTRAL, "another range")
    elif new.low is None or new.high is None:
        yield Change(about, Effect.LOOSENS, "no longer has a range")
    elif old.low is not None and old.high is not None and new.low <= old.low and old.high <= new.high:
        yield Change(about, Effect.NEUTRAL, "a wider range")
    else:
        yield Change(about, Effect.LOOSENS, "a narrower range: attackers are told more beforehand")


def _numbers(old: Policy, new: Policy) -> Iterator[Change]:
    for key in ("delta", "key_delta"):
        a, b = getattr(old, key), getattr(new, key)
        if a != b:
            effect = Effect.LOOSENS if b > a else Effect.TIGHTENS
            yield Change(key, effect, f"the promise may fail with probability {float(b):.3g}, was {float(a):.3g}")
    if old.at_least != new.at_least:
        effect = Effect.LOOSENS if new.at_least < old.at_least else Effect.TIGHTENS
        yield Change("at_least", effect, f"answers are told after {float(new.at_least):.3g} s at the earliest")
    for key in ("spend", "reuse", "answers_from", "version", "engine", "ledger", "analysts"):
        yield from _neutral(key, key, getattr(old, key), getattr(new, key))


def _neutral(about: str, key: str, old: Any, new: Any) -> Iterator[Change]:
    if old != new:
        yield Change(about, Effect.NEUTRAL, f"another {key}" if about != key else "changed")
