"""Where one attacker's promise ends: which costs keep it, the largest multiple of a cost that does, figures to print.

Everything is answered from bounds that are tabulated once (`tables`) or known in closed form, never too low. A promise
is kept where the *bound* on the gain is within the limit, and the bound is what is printed: so an admission and the
figures beside it cannot contradict each other. Where the gain of slopes is read off the next row, up to 1.5 % of a
multiple is lost; nowhere is one too large.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import product

import numpy as np

from nowiser.guess.bracket import bracketed
from nowiser.guess.budget import on_average, told
from nowiser.guess.budget.exposure import Exposure, exposure, up
from nowiser.guess.budget.goal_bounds import (
    FAR,
    Priors,
    before_after,
    costs,
    known_beforehand,
    most,
    nats,
    only_jumps,
    whole_record,
)
from nowiser.guess.budget.tables import Part
from nowiser.guess.figures import raised
from nowiser.guess.formula import Formula, Leaf, merged, value
from nowiser.model.attacker import Attacker
from nowiser.model.charge import Charge
from nowiser.model.goal import Goal
from nowiser.model.policy import Policy

Figures = tuple[float, float]  # before, and a bound on the gain
Point = tuple[tuple[float, float], ...]  # slope per radius and jump of each part

ABOVE = 1 + 1e-6  # what the table does not admit is shown as more than allowed, by that at least
ROUNDED = 1 + 2.0**-50  # a product of two floats, rounded up
SHARP, ROUGH = 1e-6, 1e-3  # how near to its end a promise is followed, on one attribute and on several
LEAST = 1e-9  # of a gain: the search does not begin beyond
FIRST = 0.2  # of the largest slopes, together: there the search on several attributes begins
CALCULUS = 2  # grows when tables of an earlier version are not to be used any more
CERTAIN = Fraction(9, 10)  # of a part: a gain beyond which it is taken to be known
BOTH, FEWER, MORE = (1.0, 0.0), (0.95, 0.88, 0.75, 0.45), (1.03, 1.09, 1.25, 2.0, 6.0)  # weights: any, `and`, `or`


def keeps(policy: Policy, attacker: Attacker, totals: Charge) -> bool:
    """Whether this attacker's gain stays within its limit, with and without the rows that were released."""
    return told.keeps(policy, attacker, totals) and _keeps(policy, attacker, totals)


def figures(policy: Policy, attacker: Attacker, totals: Charge) -> tuple[float, float]:
    """Before and after of the worst victim, to be printed: rounded up, and within the limit if the promise is kept."""
    found = _figures(policy, attacker, totals)
    shown = told.figures(policy, attacker, totals)
    return found if shown is None else max(found, shown, key=lambda pair: pair[1] - pair[0])


def largest(policy: Policy, attacker: Attacker, charge: Charge) -> Fraction | None:
    """The largest multiple of a charge that keeps the promise to this attacker, rounded down; None if it is free."""
    found = (_largest(policy, attacker, charge), told.largest(policy, attacker, charge))
    return min((multiple for multiple in found if multiple is not None), default=None)


def _keeps(policy: Policy, attacker: Attacker, totals: Charge) -> bool:
    if attacker.on_average:
        return on_average.keeps(policy, attacker, totals)
    suffered = exposure(policy, attacker, totals)
    return not suffered or Fraction(_bound(policy, attacker, suffered)[1]) <= attacker.gain


def _figures(policy: Policy, attacker: Attacker, totals: Charge) -> tuple[float, float]:
    if attacker.on_average:
        return on_average.figures(policy, attacker, totals)
    suffered = exposure(policy, attacker, totals)
    if not suffered:
        return before_after(policy, attacker, suffered)
    before, gain = _bound(policy, attacker, suffered)
    return raised(before, before, gain)


def _largest(policy: Policy, attacker: Attacker, charge: Charge) -> Fraction | None:
    if attacker.on_average:
        return on_average.largest(policy, attacker, charge)
    suffered = exposure(policy, attacker, charge)
    if not suffered:
        return None
    frontier = frontier_of(policy, attacker)
    if not attacker.gain:
        return Fraction(0)
    if suffered.shares is None or suffered.rho:  # all that counts is the reach: of the whole record, or a jump
        return suffered.multiple_within(frontier.reach if suffered.shares is None else frontier.jump)
    return frontier.along([(slope, jump) for _, slope, jump in costs(policy, attacker, suffered)], suffered.reach)


def frontier_of(policy: Policy, attacker: Attacker) -> "Frontier":
    return _frontier(attacker.goal, attacker.gain, known_beforehand(policy, attacker))


def parts_of(policy: Policy) -> dict[str, tuple[Part, ...]]:
    """What is tabulated for the attackers of a policy; not for those who are judged by the whole record."""
    every = [a for a in policy.attackers if not a.on_average]
    found = {f"{a.goal}: {a.gain}": a for a in every if exposure(policy, a, Charge()).shares is not None}
    return {name: frontier_of(policy, attacker).parts for name, attacker in found.items()}


def _bound(policy: Policy, attacker: Attacker, suffered: Exposure) -> Figures:
    """Before of the worst victim and a bound on everybody's gain; more than the limit where the table ends."""
    frontier = frontier_of(policy, attacker)
    if suffered.shares is None:
        return frontier.whole(suffered.reach)
    charged = costs(policy, attacker, suffered)
    found = frontier.bound(tuple((up(slope), nats(jump)) for _, slope, jump in charged))
    if len(charged) > 1:
        whole = frontier.whole(suffered.reach)
        return min(found or whole, whole, key=lambda pair: pair[1])
    if found is None:
        before, gain = _gain(before_after(policy, attacker, suffered))
        return before, max(gain, float(attacker.gain) * ABOVE)
    return found


def _gain(pair: tuple[float, float]) -> Figures:
    """After − before, rounded up."""
    return pair[0], up(Fraction(pair[1]) - Fraction(pair[0]))


@dataclass(frozen=True, eq=False)
class Frontier:
    """The promise to one attacker: his goal as a formula over parts on independent attributes, each with its table."""

    goal: Goal
    gain: Fraction
    priors: Priors
    ends: list[float] = field(default_factory=list)  # where the last search on several attributes ended

    @cached_property
    def _merged(self) -> tuple[Formula, tuple[Goal, ...]]:
        return merged(self.goal)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        of, goals = self._merged
        priors, gain = dict(self.priors), self.gain
        if len(goals) == 1:
            return (Part(priors[goals[0].attributes[0]], goals[0], goals[0].attributes[0], gain),)
        joins, parts = _joins(of), list[Part]()
        ends = [(0.0, most(priors, part)) for part in goals]
        for i, part in enumerate(goals):
            # what one part adds to the goal is at most this share of what it gains, whoever the victim is
            others = product(*ends[:i], (1.0,), *ends[i + 1 :])
            share = max(value(of, at) - value(of, [*at[:i], 0.0, *at[i + 1 :]]) for at in others)
            limit = min(gain / Fraction(share), CERTAIN) if share > 0 else CERTAIN
            weights = BOTH + FEWER * (True in joins) + MORE * (False in joins)
            one = Part(priors[part.attributes[0]], part, part.attributes[0], limit, weights)
            parts.append(next((replace(one, rows_made=p.rows_made, known=p.known) for p in parts if p.like(one)), one))
        return tuple(parts)

    def whole(self, reach: Fraction) -> Figures:
        """Before and gain by the odds bound over the whole record."""
        return _gain(whole_record(self.priors, self.goal, reach))

    def bound(self, point: Point) -> Figures | None:
        """Before of the worst victim, and a gain that nobody exceeds; None where the table ends."""
        if not point[0][0] and only_jumps(self.priors, self.goal):
            return self.whole(Fraction(point[0][1]))
        if len(self.parts) == 1:
            found = self.parts[0].bounds(*point[0])
            return None if found is None else (found[0], found[1])
        corners = [part.corners(*at) for part, at in zip(self.parts, point, strict=True)]
        before, after = (value(self._merged[0], np.ix_(*(corner[i] for corner in corners))) for i in (0, 1))
        best = int(np.argmax(after - before))
        low = float(before.flat[best])
        return low, float(after.flat[best]) - low + 16 * len(self.parts) * 2.0**-52

    @cached_property
    def reach(self) -> Fraction:
        """The largest reach over the whole record that keeps the promise."""
        return self._largest(lambda reach: self.whole(Fraction(reach)))

    @cached_property
    def jump(self) -> Fraction:
        """The largest jump about the only attribute that keeps the promise."""
        return self._largest(lambda jump: self.bound(((0.0, min(jump, FAR)),)))

    def along(self, unit: Sequence[tuple[Fraction, Fraction]], reach: Fraction) -> Fraction:
        """The largest multiple of costs that grow in proportion."""
        (slope, jump), *others = unit
        if not others and not slope:
            return self.jump / jump
        if not others and not (jump and self.parts[0].steepest):
            return Fraction(self.parts[0].steepest) / slope
        per_nat = [(up(slope / reach) * ROUNDED, up(jump / reach) * ROUNDED) for slope, jump in unit]

        def at(many: float) -> Figures | None:
            return self.bound(tuple((slope * many, min(jump * many, FAR)) for slope, jump in per_nat))

        if others:
            far = sum(
                slope / (part.steepest or 1.0) + jump for (slope, jump), part in zip(per_nat, self.parts, strict=True)
            )
            found = self._largest(at, (self.ends[-1] if self.ends else FIRST) / far, sharp=ROUGH)
            self.ends[:] = [float(found) * far]
            return max(found, self.reach) / reach
        straight = slope / Fraction(self.parts[0].steepest) + jump / max(self.jump, Fraction(LEAST))
        return self._largest(at, float(reach / straight)) / reach

    def _largest(self, at: Callable[[float], Figures | None], first: float = 0.0, *, sharp: float = SHARP) -> Fraction:
        """The most nats that keep the promise. The worst prior gains tanh(nats/4): there the search begins."""

        def excess(many: float) -> Fraction:
            found = at(many)
            return Fraction(found[1] if found else 1.0) - self.gain

        first = first or 4 * math.atanh(float(self.gain)) * (1 - 1e-9)
        return Fraction(bracketed(excess, first, 2.0**20, -self.gain, sharp=sharp)[0])


_frontier = lru_cache(maxsize=256)(Frontier)


def _joins(of: Formula) -> set[bool]:
    """Which words join the parts: True for `and`, False for `or`."""
    return set() if isinstance(of, Leaf) else {of.every}.union(*map(_joins, of.parts))
