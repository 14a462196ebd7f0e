"""Where one attacker's promise ends: which costs keep it, and the largest multiple of a cost that does.

Costs only hurt: below a cost that keeps the promise every cost keeps it, above one that breaks it every cost breaks
it. So what was once computed is remembered as points on either side of the frontier, and most admissions compare
a few floats instead of evaluating a ceiling.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any

from nowiser.guess.budget.exposure import Exposure, Share, exposure, up
from nowiser.guess.budget.goal_bounds import FAR, before_after, costs
from nowiser.model.attacker import Attacker
from nowiser.model.charge import Charge, ceil_fraction
from nowiser.model.policy import Policy

Point = tuple[float, ...]  # the costs of a goal, each part of which only hurts

FINE, ROUGH = 1e-8, 1e-3  # how near to the frontier a search ends, as a share of the cost
NEAR = 1e-2  # how near a remembered point must be to stand for the frontier in a displayed share
KEPT = 64  # points remembered on either side
GRAIN = 2048  # printed figures may be too high by this part of the promised gain


def keeps(policy: Policy, attacker: Attacker, totals: Charge) -> bool:
    """Whether this attacker's gain stays within its limit."""
    return _keeps(policy, attacker, exposure(policy, attacker, totals))


def largest(policy: Policy, attacker: Attacker, charge: Charge, *, displayed: bool = False) -> Fraction | None:
    """The largest multiple of a charge that keeps the promise to this attacker, rounded down; None if it costs nothing.

    Without Gaussian noise a multiple of the charge is the same multiple of every cost: only the direction matters,
    which is rounded up to 1/1024 and remembered. With it, ρ grows differently, and the charge itself is searched.
    `displayed`: up to one hundredth less will do, if that is known already.
    """
    suffered = exposure(policy, attacker, charge)
    if not suffered:
        return None
    if gaussian(charge):
        at = lru_cache(maxsize=None)(lambda m: exposure(policy, attacker, charge.times(m)))
        return _by_knowledge(policy, attacker, at) if displayed else _along(policy, attacker, at, FINE)[0]
    frontier = _frontier(policy, attacker, suffered)
    direction = _direction(suffered)
    if direction in frontier.multiples:
        return frontier.multiples[direction] / suffered.reach
    if displayed:
        known = frontier.between(_point(policy, attacker, suffered))
        return known or _explore(policy, attacker, suffered, NEAR / 2)
    frontier.multiples[direction] = _explore(policy, attacker, direction, FINE)
    return frontier.multiples[direction] / suffered.reach


def gaussian(charge: Charge) -> bool:
    return any(account.kind in ("rho", "rho_presence") for account, _ in charge.amounts)


def figures(policy: Policy, attacker: Attacker, totals: Charge) -> tuple[float, float]:
    """Before and after to be printed: of the worst victim, after rounded up by at most 1/GRAIN of the promised gain.

    Costs only hurt, so what was computed for a slightly higher cost holds for this one; and what was computed for a
    slightly lower one shows that it is not much too high. Where nothing near is known the ceiling is evaluated a
    little ahead, for the questions to come.
    """
    suffered = exposure(policy, attacker, totals)
    if not suffered:
        return before_after(policy, attacker, suffered)
    frontier, point = _frontier(policy, attacker, suffered), _point(policy, attacker, suffered)
    grain = float(attacker.gain) / GRAIN
    if (known := frontier.figured(point, grain)) is not None:
        return known
    used = 1 / (largest(policy, attacker, totals, displayed=True) or Fraction(1)) if attacker.gain else Fraction(1)
    ahead = _times(suffered, max(Fraction(1), Fraction(math.ceil(used * GRAIN), GRAIN) / used))
    found = before_after(policy, attacker, ahead)
    if Fraction(found[1]) - Fraction(found[0]) > attacker.gain:  # ahead is beyond the limit: only this cost counts
        ahead, found = suffered, before_after(policy, attacker, suffered)
    frontier.figure(_point(policy, attacker, ahead), found)
    return found


@dataclass
class _Frontier:
    """What is known about one attacker's limit: costs that keep it, costs that do not, largest multiples."""

    safe: list[Point] = field(default_factory=list)
    unsafe: list[Point] = field(default_factory=list)
    multiples: dict[Exposure, Fraction] = field(default_factory=dict)
    figures: list[tuple[Point, tuple[float, float]]] = field(default_factory=list)

    def figure(self, point: Point, found: tuple[float, float]) -> None:
        """Remember before and after; the oldest is forgotten. Totals only grow, so only the latest are asked for again:
        keeping more would make each question of a long account slower than the one before.
        """
        self.figures[:] = [*self.figures[1 - KEPT :], (point, found)]

    def figured(self, point: Point, grain: float) -> tuple[float, float] | None:
        """Before and after of a cost not below this one, if one not above it has nearly the same gain."""
        every = [(at, found, found[1] - found[0]) for at, found in self.figures]
        above = min((e for e in every if _below(point, e[0])), key=lambda e: e[2], default=None)
        if above is None or above[2] - max((e[2] for e in every if _below(e[0], point)), default=0.0) > grain:
            return None
        return above[1]

    def knows(self, point: Point) -> bool | None:
        """Whether this cost keeps the promise, if that follows from what is known."""
        if any(_below(point, safe) for safe in self.safe):
            return True
        if any(_below(unsafe, point) for unsafe in self.unsafe):
            return False
        return None

    def learn(self, point: Point, *, kept: bool) -> None:
        """Remember a point and drop those it makes useless; replaced in one step for the sake of threads."""
        points = self.safe if kept else self.unsafe
        useful = [old for old in points if not (_below(old, point) if kept else _below(point, old))]
        points[:] = [*useful[1 - KEPT :], point]

    def between(self, point: Point) -> Fraction | None:
        """A safe multiple of this cost, if a known unsafe one is near."""
        low = max((_multiple(point, safe, min) for safe in self.safe), default=0.0)
        high = min((_multiple(point, unsafe, max) for unsafe in self.unsafe), default=math.inf)
        return Fraction(low * (1 - 1e-15)) if low > 0 and high <= low * (1 + NEAR) else None

    def hint(self, point: Point) -> Fraction | None:
        """Where the frontier should be, were it straight between known points; a guess, nothing rests on it."""
        if len(point) != 2 or len(self.safe) < 2:
            return None
        best = 0.0
        for (a, b), (c, d) in itertools.combinations(self.safe, 2):
            determinant = a * d - b * c
            if determinant:
                v, w = (point[0] * d - point[1] * c) / determinant, (a * point[1] - b * point[0]) / determinant
                if v >= 0 and w >= 0:
                    best = max(best, 1 / (v + w))
        return Fraction(best) if best > 0 else None


def _multiple(point: Point, known: Point, choose: Callable[[list[float]], float]) -> float:
    """How often `point` fits below `known` (min), or until it is above `known` (max)."""
    ratios = [k / p if p else math.inf for p, k in zip(point, known, strict=True) if p or (choose is max and k)]
    return choose(ratios)


def _frontier(policy: Policy, attacker: Attacker, suffered: Exposure) -> _Frontier:
    names = attacker.goal.attributes
    priors = tuple((name, policy.priors.get(name)) for name in names)
    return _remembered(attacker, priors, _shape(policy, names), suffered.shares is None)


@lru_cache(maxsize=1024)
def _remembered(_attacker: Attacker, _priors: Any, _shape: Any, _whole: bool) -> _Frontier:
    return _Frontier()


def _shape(policy: Policy, names: tuple[str, ...]) -> tuple[Any, ...]:
    """What else a ceiling depends on: which attributes depend on each other, and ranges."""
    ranges = []
    for name in names:
        table, _, column = name.partition(".")
        found = policy.table(table)
        inner = found.column(column) if found is not None else None
        ranges.append((policy.dependents(name), inner.low if inner else None, inner.high if inner else None))
    return tuple(ranges)


def _keeps(policy: Policy, attacker: Attacker, suffered: Exposure) -> bool:
    if not suffered:
        return True
    frontier = _frontier(policy, attacker, suffered)
    point = _point(policy, attacker, suffered)
    known = frontier.knows(point)
    if known is None:
        _explore(policy, attacker, suffered, ROUGH)
        known = frontier.knows(point)
    if known is None:  # within ROUGH of the frontier
        known = _excess(policy, attacker, suffered) <= 0
        frontier.learn(point, kept=known)
    return known


def _explore(policy: Policy, attacker: Attacker, suffered: Exposure, tolerance: float) -> Fraction:
    """The largest safe multiple of a cost; what was found on both sides of the frontier is remembered."""
    frontier = _frontier(policy, attacker, suffered)
    hint = frontier.hint(_point(policy, attacker, suffered))
    found, beyond = _along(policy, attacker, lambda m: _times(suffered, m), tolerance, hint)
    frontier.learn(_point(policy, attacker, _times(suffered, found)), kept=True)
    if beyond is not None:
        frontier.learn(_point(policy, attacker, _times(suffered, beyond)), kept=False)
    return found


def _by_knowledge(policy: Policy, attacker: Attacker, at: Callable[[Fraction], Exposure]) -> Fraction:
    """The largest multiple, to one hundredth, asking mostly what is known: for shares that are shown or compared."""
    low, high = Fraction(0), Fraction(1)
    while _keeps(policy, attacker, at(high)):
        low, high = high, high * 4
        if at(low).reach >= FAR:
            return low
    while not low or high - low > low * Fraction(NEAR):
        middle = _short((low + high) / 2 if low else high / 8)
        if _keeps(policy, attacker, at(middle)):
            low = middle
        else:
            high = middle
        if high < Fraction(1, 1 << 40):
            return low
    return low


def _excess(policy: Policy, attacker: Attacker, suffered: Exposure) -> Fraction:
    """By how much the gain is above its limit; negative when the promise is kept."""
    before, after = before_after(policy, attacker, suffered)
    return Fraction(after) - Fraction(before) - attacker.gain


def _along(
    policy: Policy,
    attacker: Attacker,
    at: Callable[[Fraction], Exposure],
    tolerance: float,
    hint: Fraction | None = None,
) -> tuple[Fraction, Fraction | None]:
    """The largest multiple that keeps the promise, from below; and one just beyond that does not, if there is one.

    Starts where no prior whatsoever could gain too much (the worst prior gains tanh(reach/4)), steps on until the
    promise breaks, then closes in by false position. Every multiple returned was itself
    evaluated, or is one that no prior could break. `hint` is where to look first.
    """

    def excess(multiple: Fraction) -> Fraction:
        return _excess(policy, attacker, at(multiple))

    if not attacker.gain:
        return Fraction(0), None
    worst = 4 * math.atanh(float(attacker.gain)) * (1 - 1e-9)
    reach = at(Fraction(1)).reach
    low = _short(Fraction(worst) / reach)
    if at(low).reach > worst:  # ρ does not grow in proportion
        low = Fraction(0)
    high, low_excess = (low or 1 / reach) * 2, -attacker.gain
    if hint is not None and hint > low:
        below = _short(hint * (1 - Fraction(tolerance) / 3))
        if (found := excess(below)) <= 0:
            low, low_excess, high = below, found, _short(hint * (1 + Fraction(tolerance) / 3))
        else:
            high = below
    while (high_excess := excess(high)) <= 0:
        low, low_excess = high, high_excess
        if at(low).reach >= FAR:
            return low, None
        # the gain grows about in proportion: aim a little beyond the limit
        ahead = attacker.gain / (low_excess + attacker.gain) if low_excess + attacker.gain > 0 else Fraction(8)
        aimed = low * min(max(ahead * Fraction(103, 100), Fraction(103, 100)), Fraction(8))
        high = _short(min(aimed, low * (1 + FAR / at(low).reach)))
    side = 0
    for _ in range(80):
        if high - low <= high * Fraction(tolerance):
            break
        weight = low_excess / (low_excess - high_excess)
        margin = max(Fraction(tolerance) * high / (high - low) / 3, Fraction(1, 1 << 30))
        middle = _short(low + (high - low) * min(max(weight, margin), 1 - margin))
        found = excess(middle)
        if found <= 0:
            low, low_excess = middle, found
            high_excess = high_excess / 2 if side < 0 else high_excess
            side = -1
        else:
            high, high_excess = middle, found
            low_excess = low_excess / 2 if side > 0 else low_excess
            side = 1
    return low, high


def _point(policy: Policy, attacker: Attacker, suffered: Exposure) -> Point:
    if suffered.shares is None:
        return (up(suffered.reach),)
    flat = [x for _, slope, jump in costs(policy, attacker, suffered) for x in (slope, jump)]
    return (*flat, up(suffered.reach)) if len(suffered.shares) > 1 else tuple(flat)


def _below(a: Point, b: Point) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True))


def _times(suffered: Exposure, factor: Fraction) -> Exposure:
    shares = suffered.shares
    if shares is not None:
        shares = tuple((name, Share(s.slope * factor, s.jump * factor)) for name, s in shares)
    return Exposure(shares, suffered.reach * factor)


def _direction(suffered: Exposure) -> Exposure:
    """The same cost with reach 1, every part rounded up to ten binary digits, so that directions repeat."""
    if suffered.shares is None:
        return Exposure(None, Fraction(1))
    parts = []
    for name, share in suffered.shares:
        slope = share.slope / suffered.reach
        over_range = (suffered.reach - share.jump) / suffered.reach
        if slope and len(suffered.shares) == 1:
            # slopes have units of their own: their share of the reach is what is rounded
            slope *= _ten_digits(over_range) / over_range
        parts.append((name, Share(slope, _ten_digits(share.jump / suffered.reach))))
    return Exposure(tuple(parts), Fraction(1))


def _ten_digits(part: Fraction) -> Fraction:
    """Rounded up; nothing is finer than 2^-30."""
    digits = min(30, 10 + max(0, part.denominator.bit_length() - part.numerator.bit_length()))
    return Fraction(ceil_fraction(part * (1 << digits)), 1 << digits)


def _short(value: Fraction) -> Fraction:
    """The same to 60 binary digits, so that numbers do not grow."""
    shift = value.denominator.bit_length() - value.numerator.bit_length() + 60
    return Fraction(int(value * (1 << shift)), 1 << shift) if shift > 0 else value
