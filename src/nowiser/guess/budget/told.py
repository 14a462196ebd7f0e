"""Released rows and answers together, whichever came first.

Rows that were released under a policy lift the odds of a guess: somebody's value v, which `before` of the released
people have, is hers with chance h. That is entered as `told` = logit h − logit before, for every guess that may become
the worst one. Answers come on top. Given the rows, people of a group have its values in some order, so another value of
the victim is another value of somebody else too: worlds in which she has v and worlds in which she has not differ in
`people` records, two for one release. Each record moves ln ℓ of the answers by their reach at most, hence

    logit after  ≤  logit before + told + people · reach,       and   after ≤ before + gain   is the promise.

The same inequality admits a release after answers (`nowiser.microdata.releases.account`) and answers after a release.
An attacker who was declared after rows were released is not measured yet: answers he is after are refused until then.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from nowiser.errors import Exhausted
from nowiser.guess.budget.exposure import Identical, exposure, scope_of, up
from nowiser.model.attacker import Attacker
from nowiser.model.charge import PICO, Account, Charge, ceil_fraction
from nowiser.model.goal import Goal
from nowiser.model.policy import Policy

LEAST = 1e-9  # of a share: less is as good as nothing
MOST = 700.0  # nats of odds: beyond, a guess is certain
SLACK = 1e-9  # of a gain: the rounding of counts and of piconats, far less than any answer costs


@dataclass(frozen=True)
class Lift:
    """The chance of one guess, beforehand and given the released rows; how many records a change of it concerns."""

    before: float
    after: float
    people: int = 2

    @property
    def _nats(self) -> float:
        return max(0.0, logit(self.after) - logit(self.before))

    def account(self, goal: Goal) -> tuple[Account, int]:
        about = (str(goal), repr(max(self.before, LEAST)), str(self.people))
        return Account("told", about), ceil_fraction(Fraction(self._nats) * PICO) + 1


def logit(share: float) -> float:
    inside = min(max(share, LEAST), 1.0)
    return MOST if inside == 1.0 else math.log(inside) - math.log1p(-inside)


def lifts(goal: Goal, totals: Charge) -> Iterator[tuple[float, Fraction, int]]:
    """Of everything that was told about a goal: the share before, how many nats the odds rose, and people."""
    name = str(goal)
    for account, amount in totals.amounts:
        if account.kind == "told" and account.about[0] == name:
            yield float(account.about[1]), Fraction(amount, PICO), int(account.about[2])


def news(goal: Goal, totals: Charge, found: tuple[Lift, ...]) -> Charge:
    """What must be charged so that these totals tell at least this much. Nothing where they do already."""
    more = []
    for account, amount in (lift.account(goal) for lift in found):
        before, people = float(account.about[1]), int(account.about[2])
        there = [(b, nats, many) for b, nats, many in lifts(goal, totals) if b <= before and many >= people]
        after = logit(before) + amount / PICO
        if not any(logit(b) + float(nats) >= after for b, nats, _ in there):
            more.append((account, max(0, amount - totals[account])))
    return Charge.of(more)


def _room(attacker: Attacker, before: float) -> Fraction | None:
    """How far the odds may rise; None where even certainty is allowed."""
    most = before + float(attacker.gain) + SLACK
    return None if most >= 1 else Fraction(logit(most)) - Fraction(logit(before)) + Fraction(4, PICO)


def keeps(policy: Policy, attacker: Attacker, totals: Charge) -> bool:
    found = list(lifts(attacker.goal, totals))
    if not found:
        return True
    reach = exposure(policy, attacker, totals).reach
    rooms = ((_room(attacker, before), nats + people * reach) for before, nats, people in found)
    return all(room is None or used <= room for room, used in rooms)


def figures(policy: Policy, attacker: Attacker, totals: Charge) -> tuple[float, float] | None:
    """Before and after of the guess that gains most; None where no rows were released."""
    found = list(lifts(attacker.goal, totals))
    if not found:
        return None
    reach = up(exposure(policy, attacker, totals).reach)
    pairs = []
    for before, nats, people in found:
        odds = min(MOST, logit(before) + up(nats) + people * reach)
        pairs.append((before, min(1.0, (1 + 1e-12) / (1 + math.exp(-odds)))))
    best = max(pairs, key=lambda pair: pair[1] - pair[0])
    kept = keeps(policy, attacker, totals)
    return (best[0], min(best[1], best[0] + float(attacker.gain))) if kept else best


def largest(policy: Policy, attacker: Attacker, charge: Charge) -> Fraction | None:
    """The largest multiple of a charge that keeps the promise; None where no rows were released."""
    shown, found = list(lifts(attacker.goal, charge)), []
    if not shown:
        return None
    suffered = exposure(policy, attacker, charge)
    for before, nats, people in shown:
        room = _room(attacker, before)
        if room is not None and (suffered.reach or nats):
            found.append(max(Fraction(0), suffered.multiple_within(room / people, nats / people)))
    return min(found, default=None)


def refuse_unmeasured(policy: Policy, totals: Charge, charge: Charge) -> None:
    """Raise Exhausted where an attacker whom a charge helps was declared after rows had been released."""
    shown = {name for account, _ in totals.amounts if account.kind == "shown" for name in account.about}
    if not shown:
        return
    known = {f"{t.name}.{c.name}" for t in policy.tables for c in t.columns}
    for attacker in policy.attackers:
        names = frozenset().union(*(group for _, group in scope_of(Identical(policy), attacker.goal).groups))
        concerned = set(attacker.goal.attributes) & shown or (shown - known) & names
        if concerned and not any(lifts(attacker.goal, totals)) and exposure(policy, attacker, charge):
            raise Exhausted(
                f"rows with {', '.join(sorted(concerned))} were released, and what they tell about `{attacker.text}` "
                "together with answers was not measured",
                hint="Rows released in a stream cannot be. Else the custodian publishes the same release again: it is "
                "then measured for every attacker of the policy.",
            )
