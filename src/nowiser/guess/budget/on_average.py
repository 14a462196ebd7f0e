"""Promises on average: what all charges so far told about an attacker's goal, and how much more of a charge keeps it.

Accounts become totals as in `exposure`: of an attribute and all that may depend on it. Distances of dependent
attributes count over their ranges, as jumps do. A goal on several attributes is judged by the whole record.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from nowiser.guess.average.promise import Target, Told
from nowiser.guess.bracket import bracketed
from nowiser.guess.budget.exposure import Identical, linked, matching, scope_of, width
from nowiser.guess.budget.goal_bounds import known_beforehand
from nowiser.model.attacker import Attacker
from nowiser.model.charge import SQUARES, Charge
from nowiser.model.goal import Goal
from nowiser.model.policy import Policy

SHARP = 1e-6  # how near to its end a promise is followed
MOST = 2.0**60
NONE = Fraction(0)


def target_of(policy: Policy, attacker: Attacker) -> Target:
    separate = scope_of(Identical(policy), attacker.goal).separate
    return Target(attacker.goal, known_beforehand(policy, attacker), separate)


def told(policy: Policy, attacker: Attacker, totals: Charge) -> Told:
    """What these totals tell about the goal of an attacker."""
    return _told(Identical(policy), attacker.goal, totals)


@lru_cache(maxsize=1024)
def _told(key: Identical, goal: Goal, totals: Charge) -> Told:
    policy, scope = key.policy, scope_of(key, goal)
    slopes, near, sums = matching(policy, scope, totals)
    own = scope.groups[0][0] if scope.separate and len(scope.groups) == 1 and "." in scope.groups[0][0] else None
    slope, c2 = (by.pop(own, NONE) if own is not None else NONE for by in (slopes, near))
    moved = sum((s * width(policy, a) for a, s in slopes.items() if s), NONE)
    shifted = sum((c * width(policy, a) ** 2 for a, c in near.items() if c), NONE)
    wide = width(policy, own) if own is not None and (slope or c2) else NONE

    def of(value: str, presence: str) -> Fraction:
        """Of a kind that comes in two: which of them tell about the goal."""
        if not any("." in name for name, _ in scope.groups):
            return max(sums[presence], sums[value] * linked(policy, scope))
        return sums[value] + (sums[presence] if any("." not in name for name, _ in scope.groups) else 0)

    sums["old"] = max(NONE, sums["jump"] - sums["squared"])
    sums["old_presence"] = max(NONE, sums["presence"] - sums["squared_presence"])
    return Told(
        mu2=of("mu", "mu_presence") + shifted,
        c2=c2,
        square=of("square", "square_presence"),
        unsquared=of("old", "old_presence") + moved + slope * wide,
        jump=of("jump", "presence") + moved,
        slope=slope,
        rho=of("rho", "rho_presence"),
        width=wide,
    )


def keeps(policy: Policy, attacker: Attacker, totals: Charge) -> bool:
    found = told(policy, attacker, totals)
    return not found or target_of(policy, attacker).gain(found) <= attacker.gain


def figures(policy: Policy, attacker: Attacker, totals: Charge) -> tuple[float, float]:
    """How often the best guess is right before any answer, and on average at most after all of them."""
    return target_of(policy, attacker).figures(told(policy, attacker, totals))


def largest(policy: Policy, attacker: Attacker, charge: Charge) -> Fraction | None:
    """How many such charges keep the promise, rounded down; None if it costs this attacker nothing."""
    once = told(policy, attacker, charge)
    return _most(policy, attacker, once.times) if once else None


def sharpest(policy: Policy, attacker: Attacker, unit: Charge, share: Fraction) -> Fraction | None:
    """How many times as precise as `unit` an answer may be, if 1/share such answers are to keep the promise."""
    once = told(policy, attacker, unit)
    if not once:
        return None
    if not any(account.kind in SQUARES for account, _ in unit.amounts):
        return share * (largest(policy, attacker, unit) or NONE)
    return _most(policy, attacker, lambda factor: once.sharper(factor).times(1 / share))


def empty_promise(policy: Policy, attacker: Attacker) -> float | None:
    """How often the best guess is right beforehand, if even certainty is no further off than the gain."""
    before, _ = target_of(policy, attacker).baseline
    return before if before and Fraction(before) + attacker.gain >= 1 else None


def gaussian_allowed(policy: Policy, unit: Charge) -> bool:
    """Whether Gaussian noise may be used: the policy has a δ, or only attackers on average learn something by it."""
    if policy.delta > 0 or not any(attacker.on_average for attacker in policy.attackers):
        return policy.delta > 0
    every = [attacker for attacker in policy.attackers if not attacker.on_average]
    return not any(told(policy, attacker, unit) for attacker in every)


def _most(policy: Policy, attacker: Attacker, at: Callable[[Fraction], Told]) -> Fraction:
    target = target_of(policy, attacker)
    if not attacker.gain:
        return NONE

    def most(first: float, *, coarse: bool) -> float:
        def excess(many: float) -> Fraction:
            return target.gain(at(Fraction(many)), coarse=coarse) - attacker.gain

        return bracketed(excess, first, MOST, -attacker.gain, sharp=SHARP, least=1 / MOST)[0]

    begin = most(1.0, coarse=True)  # keeps the promise too, by closed forms: what is looked up is dear, and near
    return Fraction(most(1.02 * begin or 1 / MOST, coarse=False))
