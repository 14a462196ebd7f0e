"""How much may still be asked: totals and a policy in, admissions and shares out.

A promise is kept when after ≤ before + gain for every attacker. The *allowance* is everything that can be charged
until a promise would break; a charge uses the share 1/λ of it, where λ is the largest multiple of that charge that
keeps every promise. All answers count together, whoever asked: k analysts who put their answers together have one
allowance, not k. An analyst's own share is a further limit inside it.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from math import log, nextafter
from typing import Any

from nowiser.errors import Exhausted, Misconfigured, NotAuthorised
from nowiser.guess.bracket import bracketed
from nowiser.guess.budget import on_average, told
from nowiser.guess.budget.exposure import Identical, exposure, failing, up
from nowiser.guess.budget.frontier import figures, keeps, largest
from nowiser.guess.budget.goal_bounds import empty_promise
from nowiser.guess.budget.parts import touched, views
from nowiser.model.attacker import EVERY_ANSWER, Attacker
from nowiser.model.charge import COVERED, GAUSSIAN, PICO, SQUARES, UNIT, Account, Charge
from nowiser.model.policy import Policy
from nowiser.model.schema import Protect, Role
from nowiser.percent import percent

NOTHING = Charge()


@dataclass(frozen=True)
class Guess:
    """One attacker, so far: how well he guessed before, at most guesses now, and may guess at most."""

    guess: str
    before: float
    after: float
    limit: float
    promise: str = EVERY_ANSWER

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.guess}: {percent(self.before)} → at most {percent(self.after)} (limit {percent(self.limit)})"


def standing(policy: Policy, totals: Charge) -> tuple[Guess, ...]:
    """Before → after of every attacker, given everything charged.

    `before` is fixed: that of the victim who is guessed best beforehand, with room for the whole gain below certainty.
    Who gains the attacker most may be another victim for other totals. His gain bounds everybody's, so it is what is
    added: no victim becomes guessable by more points than `after − before`.
    """
    found = []
    for attacker in policy.attackers:
        before, after = _worst(policy, attacker, totals)
        start = _beforehand(Identical(policy), attacker)
        gain = max(Fraction(0), Fraction(after) - Fraction(before))
        limit = start + float(attacker.gain)
        now = up(start + gain) if gain > attacker.gain else min(up(start + gain), limit)
        found.append(Guess(attacker.text, start, min(1.0, now), limit, attacker.promise))
    return tuple(found)


@lru_cache(maxsize=256)
def _beforehand(key: Identical, attacker: Attacker) -> float:
    before, _ = figures(key.policy, attacker, NOTHING)
    return max(0.0, min(before, nextafter(1.0 - float(attacker.gain), 0.0)))


def _kept(policy: Policy, attacker: Attacker, totals: Charge) -> bool:
    """Whether the promise is kept to persons of every cell."""
    return all(keeps(policy, attacker, view) for view in views(policy, totals))


def _worst(policy: Policy, attacker: Attacker, totals: Charge) -> tuple[float, float]:
    """Before and after of the most exposed person of the most exposed cell."""
    found = (figures(policy, attacker, view) for view in views(policy, totals))
    return max(found, key=lambda pair: pair[1] - pair[0])


def answers_left(policy: Policy, attacker: Attacker, totals: Charge, charge: Charge) -> tuple[Fraction, int | None]:
    """The share of an attacker's limit that is used, and about how many more answers at this price he allows.

    None where the price is nothing to him. Both are about the persons whom the charge concerns.
    """
    concerned = touched(totals, charge) if charge else totals
    most, one = multiple(policy, attacker, concerned), multiple(policy, attacker, charge)
    used = Fraction(0) if most is None else min(Fraction(1), 1 / most) if most else Fraction(1)
    return used, None if one is None else int((1 - used) * one * Fraction(1001, 1000))  # a rounding error more


def multiple(policy: Policy, attacker: Attacker, charge: Charge) -> Fraction | None:
    """The largest multiple of a charge that keeps the promise to persons of every cell; None if it costs nobody."""
    found = [m for view in views(policy, charge) if (m := largest(policy, attacker, view)) is not None]
    return min(found, default=None)


def refuse_empty_promises(policy: Policy) -> None:
    """Raise Misconfigured for a promise that no answer could break: before + gain is certainty for every victim."""
    for attacker in policy.attackers:
        empty = on_average.empty_promise if attacker.on_average else empty_promise
        if (before := empty(policy, attacker)) is not None:
            who = "the best guess is right in" if attacker.on_average else "every victim is guessed right with"
            raise Misconfigured(
                f"the promise about `{attacker.text}` is empty: {who} {percent(before)} or more"
                f" beforehand, so {percent(float(attacker.gain))} more would be certainty",
                hint="Choose a narrower goal, a smaller gain, or another prior.",
            )


def unguarded(policy: Policy) -> tuple[str, ...]:
    """Sensitive attributes about which answers are never used up: no attacker's goal is charged for them.

    Where presence is secret, every answer is charged for presence too, and an attacker after that uses it up.
    """
    found = []
    for table in policy.tables:
        for column in table.columns:
            name = f"{table.name}.{column.name}"
            if table.is_public or column.role is not Role.SENSITIVE:
                continue
            presence = {Account("presence", (table.name,)): PICO} if table.protect is Protect.PERSONS else {}
            about = Charge.of({Account("jump", (name,)): PICO} | presence)
            if not any(exposure(policy, attacker, about) for attacker in policy.attackers):
                found.append(name)
    return tuple(found)


def admit(policy: Policy, charge: Charge, *, analyst: str | None = None) -> Callable[[Charge, Charge], None]:
    """What `Ledger.reserve` calls with everybody's totals and the analyst's own."""

    def check(totals: Charge, own: Charge) -> None:
        admits(policy, totals, charge, analyst=analyst, own=own)

    return check


def admits(
    policy: Policy, totals: Charge, charge: Charge, *, analyst: str | None = None, own: Charge = NOTHING
) -> None:
    """Return quietly if every promise is kept after this charge; otherwise raise Exhausted, saying what is left."""
    after = totals + charge
    _check_delta(policy, after)
    told.refuse_unmeasured(policy, totals, charge)
    for attacker in policy.attackers:
        if not _kept(policy, attacker, after):
            _refuse(policy, attacker, totals, after)
    if analyst is None or not policy.analysts:
        return
    if analyst not in policy.analysts:
        raise NotAuthorised(
            f"the policy gives no share of the allowance to {analyst!r}",
            hint="The custodian lists analysts and their shares under `analysts:` in the policy.",
        )
    share = policy.analysts[analyst]
    if charge and not within(policy, own + charge, share):
        left = max(Fraction(0), share - share_used(policy, own))
        raise Exhausted(
            f"this would use more than the share of {analyst!r}, which is {_percent(share)} of the allowance",
            hint=f"{_percent(left)} of the allowance is left for {analyst!r}. Ask for less precision, or ask less.",
        )


def within(policy: Policy, charge: Charge, share: Fraction) -> bool:
    """Whether these charges use at most this share of the whole allowance."""
    return share > 0 and all(_kept(policy, attacker, charge.times(1 / share)) for attacker in policy.attackers)


def share_used(policy: Policy, totals: Charge) -> Fraction:
    """Which share of the allowance these totals use, from 0 to 1; rounded up, by at most a hundredth of itself."""
    multiples = [largest(policy, attacker, view) for attacker in policy.attackers for view in views(policy, totals)]
    return min(Fraction(1), max((1 / m if m else Fraction(1) for m in multiples if m is not None), default=Fraction(0)))


def largest_multiple(
    policy: Policy, totals: Charge, unit: Charge, share: Fraction, *, analyst: str | None = None, own: Charge = NOTHING
) -> Fraction:
    """The factor s for which `unit.sharper(s)` spends `share` of the whole allowance, rounded down.

    Where Gaussian noise meets other noise, in the totals or in the unit, costs do not add up in proportion: there the
    share used may grow by `share`, given what has been charged so far.

    Raises Exhausted when that much is not left, on top of `totals` and (for an analyst) `own`.
    What no attacker is after is treated as if the attacker with the smallest gain were, knowing nothing beforehand.
    """
    if not any(account.kind != "delta" for account, _ in unit.amounts):
        raise ValueError("a question that costs nothing needs no noise")
    if not 0 < share <= 1:
        raise Misconfigured(f"spend must be a share of the allowance above 0% and up to 100%, found {float(share):.6g}")
    factor, guarded = _spending(Identical(policy), unit, share)
    if not factor:
        raise Exhausted("an attacker who may gain nothing at all leaves no room for any answer about that")
    if guarded and _mixed(totals + unit):
        factor = _on_top(policy, touched(totals, unit), unit, factor, share)
    admits(policy, totals, unit.sharper(factor), analyst=analyst, own=own)
    return factor


def owed_for_failing(policy: Policy, unit: Charge, charged: Charge) -> Charge:
    """What a failed run is charged besides, so that it costs the policy's default spend at least.

    What a failure tells is not known, and certainly not less because the answer was to be coarse. Never refused: the
    run is over. So the totals may go beyond a limit, and then nothing more is answered.
    """
    if not unit:
        return NOTHING
    least = unit.sharper(_spending(Identical(policy), unit, policy.spend)[0])
    return Charge.of((account, max(0, amount - charged[account])) for account, amount in least.amounts)


@lru_cache(maxsize=1024)
def _spending(key: Identical, unit: Charge, share: Fraction) -> tuple[Fraction, bool]:
    """The factor whose charge is `share` of an untouched allowance, and whether an attacker is after it at all."""
    policy = key.policy
    every = views(policy, unit)
    found = [_sharpest(policy, attacker, view, share) for attacker in policy.attackers for view in every]
    multiples = [multiple for multiple in found if multiple is not None]
    factor = min(multiples) if multiples else share * _undefended(policy, every[0])
    return factor * (1 - _rounding(policy, unit, factor)) if factor else factor, bool(multiples)


def _sharpest(policy: Policy, attacker: Attacker, unit: Charge, share: Fraction) -> Fraction | None:
    if attacker.on_average:
        return on_average.sharpest(policy, attacker, unit, share)
    found = largest(policy, attacker, unit)
    return None if found is None else share * found


def _mixed(charge: Charge) -> bool:
    """Gaussian noise beside other noise, or squares of losses beside losses: then shares used do not simply add up."""
    kinds = {account.kind for account, _ in charge.amounts} - {"delta"}
    return bool(kinds & SQUARES) or (bool(kinds & GAUSSIAN) and not kinds <= GAUSSIAN)


def _on_top(policy: Policy, totals: Charge, unit: Charge, most: Fraction, share: Fraction) -> Fraction:
    """The largest factor, to one hundredth and up to `most`, whose charge raises the share used by at most `share`."""
    more = share * Fraction(101, 100)
    limit = share_used(policy, totals) + more

    def excess(factor: float) -> Fraction:
        return share_used(policy, totals + unit.sharper(Fraction(factor))) - limit

    found, _ = bracketed(excess, float(most), float(most), -more, sharp=0.02, least=float(most) * 2.0**-60)
    if not found:
        raise Exhausted("Gaussian noise on top of other noise would use more of the allowance than that")
    return min(Fraction(found), most)


def _rounding(policy: Policy, unit: Charge, factor: Fraction) -> Fraction:
    """How much less to spend, because whole piconats are charged, rounded up: n questions of 1/n must fit together.

    Rounding adds at most one piconat to each account. A hundredfold, since those may hurt more than what was meant.
    """
    adds = []
    for view in views(policy, unit):
        ones = Charge(tuple((account, 1) for account, _ in view.amounts if account.kind not in COVERED))
        for a in policy.attackers:
            if a.on_average or exposure(policy, a, view).rho:  # no sum of losses says how far these reach
                more, meant = (largest(policy, a, charge) for charge in (ones, view.sharper(factor)))
                adds.append(meant / more if meant and more else Fraction(0))
            elif reach := exposure(policy, a, view).reach * factor:
                adds.append(exposure(policy, a, ones).reach / reach)
    return min(Fraction(1, 2), 100 * max(adds, default=Fraction(0)))


def _undefended(policy: Policy, unit: Charge) -> Fraction:
    gain = min((float(a.gain) for a in policy.attackers if a.gain > 0), default=0.01)
    total = sum((Fraction(n, UNIT[a.kind]) for a, n in unit.amounts if a.kind != "delta"), Fraction(0))
    return Fraction(2 * log((1 + gain) / (1 - gain))) / total if total else Fraction(1)


def _check_delta(policy: Policy, totals: Charge) -> None:
    allowed = policy.delta + policy.key_delta
    if (used := failing(policy, totals)) > allowed:
        raise Exhausted(
            f"the promise could then fail with probability {float(used):.3g}; the policy allows {float(allowed):.3g}",
            hint="Declare the possible values of the columns you group by, or let the policy allow more.",
        )


def _refuse(policy: Policy, attacker: Attacker, totals: Charge, after: Charge) -> None:
    """Figures begin where those of `standing` do: at the chance of guessing whoever is guessed best beforehand."""
    found = next(g for g, a in zip(standing(policy, after), policy.attackers, strict=True) if a == attacker)
    before, would, allowed = found.before, found.after, found.limit
    digits = next((d for d in range(2, 12) if percent(would, d) != percent(allowed, d)), 12)
    left = max(Fraction(0), 1 - share_used(policy, totals))
    how = " on average" if attacker.on_average else ""
    how += " with the rows that were released" if any(told.lifts(attacker.goal, after)) else ""
    raise Exhausted(
        f"the allowance does not cover this: `{attacker.text}` could be guessed right with {percent(would, digits)}"
        f"{how} afterwards ({percent(before, digits)} before any answer, {percent(allowed, digits)} allowed)",
        hint=f"{_percent(left)} of the allowance is left. Ask for less precision (--spend, --error), or ask less.",
    )


def _percent(share: Fraction) -> str:
    return f"{float(share) * 100:.3g} %"
