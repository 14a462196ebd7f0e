"""Where one attacker's promise ends: which costs keep it, and the largest multiple of a cost that does.

Costs only hurt: below a cost that keeps the promise every cost keeps it. So what was once computed is remembered as
points, and most admissions compare a few floats instead of evaluating a ceiling.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any

from nowiser.guess.exposure import Exposure, Share, exposure
from nowiser.guess.goal_bounds import FAR, before_after, costs
from nowiser.model.attacker import Attacker
from nowiser.model.charge import Charge
from nowiser.model.policy import Policy


def keeps(policy: Policy, attacker: Attacker, totals: Charge) -> bool:
    """Whether this attacker's gain stays within its limit."""
    return _keeps(policy, attacker, exposure(policy, attacker, totals))


def largest(policy: Policy, attacker: Attacker, charge: Charge) -> Fraction | None:
    """The largest multiple of a charge that keeps the promise to this attacker, rounded down; None if it costs nothing.

    Without Gaussian noise a multiple of the charge is the same multiple of every cost: only the direction matters,
    which is rounded up to 1/1024 and remembered. With it, ρ grows differently, and the charge itself is searched.
    """
    suffered = exposure(policy, attacker, charge)
    if not suffered:
        return None
    if any(account.kind in ("rho", "rho_presence") for account, _ in charge.amounts):
        return _search(lambda m: keeps(policy, attacker, charge.times(m)), FAR / suffered.reach)
    frontier = _frontier(policy, attacker)
    direction = _rounded(suffered)
    if direction not in frontier.multiples:
        frontier.multiples[direction] = _search(lambda m: _keeps(policy, attacker, _times(direction, m)), FAR)
    return frontier.multiples[direction] / suffered.reach


class _Frontier:
    """What is known about one attacker's limit: costs that keep it, costs that do not, largest multiples."""

    def __init__(self) -> None:
        self.safe: list[tuple[float, ...]] = []
        self.unsafe: list[tuple[float, ...]] = []
        self.multiples: dict[Exposure, Fraction] = {}


def _frontier(policy: Policy, attacker: Attacker) -> _Frontier:
    names = attacker.goal.attributes
    return _remembered(attacker, tuple((name, policy.priors.get(name)) for name in names), _shape(policy, names))


@lru_cache(maxsize=1024)
def _remembered(_attacker: Attacker, _priors: Any, _shape: Any) -> _Frontier:
    return _Frontier()


def _shape(policy: Policy, names: tuple[str, ...]) -> tuple[Any, ...]:
    """What else `before_after` depends on: which attributes depend on each other, and ranges."""
    ranges = []
    for name in names:
        table, _, column = name.partition(".")
        found = policy.table(table)
        inner = found.column(column) if found is not None else None
        ranges.append((policy.dependents(name), inner.low if inner else None, inner.high if inner else None))
    return tuple(ranges)


def _keeps(policy: Policy, attacker: Attacker, suffered: Exposure) -> bool:
    """Costs only hurt, so a cost below one that keeps the promise keeps it: most answers need no calculus at all."""
    if not suffered:
        return True
    frontier = _frontier(policy, attacker)
    point = _point(policy, attacker, suffered)
    if any(_below(point, safe) for safe in frontier.safe):
        return True
    if any(_below(unsafe, point) for unsafe in frontier.unsafe):
        return False
    if not _evaluate(policy, attacker, suffered):
        _remember(frontier.unsafe, point, keep=lambda old: not _below(point, old))
        return False
    twice = _times(suffered, Fraction(2))
    further = twice if _evaluate(policy, attacker, twice) else suffered
    reached = _point(policy, attacker, further)
    _remember(frontier.safe, reached, keep=lambda old: not _below(old, reached))
    return True


def _evaluate(policy: Policy, attacker: Attacker, suffered: Exposure) -> bool:
    before, after = before_after(policy, attacker, suffered)
    return Fraction(after) - Fraction(before) <= attacker.gain


def _point(policy: Policy, attacker: Attacker, suffered: Exposure) -> tuple[float, ...]:
    if suffered.shares is None:
        return (float(suffered.reach),)
    flat = [x for _, slope, jump in costs(policy, attacker, suffered) for x in (slope, jump)]
    return (*flat, float(suffered.reach)) if len(suffered.shares) > 1 else tuple(flat)


def _below(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return all(x <= y for x, y in zip(a, b, strict=True))


def _remember(
    points: list[tuple[float, ...]], point: tuple[float, ...], keep: Callable[[tuple[float, ...]], bool]
) -> None:
    """Add a point and drop those it makes useless; a bounded list, replaced in one step for the sake of threads."""
    points[:] = [*[old for old in points if keep(old)][-31:], point]


def _times(suffered: Exposure, factor: Fraction) -> Exposure:
    shares = suffered.shares
    if shares is not None:
        shares = tuple((name, Share(s.slope * factor, s.jump * factor)) for name, s in shares)
    return Exposure(shares, suffered.reach * factor)


def _rounded(suffered: Exposure) -> Exposure:
    """The direction of a cost, of reach 1, every part rounded up to 1/1024 of it."""
    if suffered.shares is None:
        return Exposure(None, Fraction(1))
    parts = []
    for name, share in suffered.shares:
        jump = -(-share.jump * 1024 // suffered.reach)
        # slopes have units of their own: their share of the reach is what is rounded
        slope = share.slope / suffered.reach
        over_range = (suffered.reach - share.jump) / suffered.reach if share.slope else Fraction(0)
        if over_range > 0 and len(suffered.shares) == 1:
            slope *= Fraction(-(-over_range * 1024 // 1), 1024) / over_range
        parts.append((name, Share(slope, Fraction(jump, 1024))))
    return Exposure(tuple(parts), Fraction(1))


def _search(fits: Callable[[Fraction], bool], ceiling: Fraction) -> Fraction:
    """The largest factor that fits, from below, to nine digits; `ceiling` if even that fits."""
    if fits(ceiling):
        return ceiling
    high, low = ceiling, ceiling / 2
    while not fits(low):
        high, low = low, low / 2
        if low.denominator > low.numerator << 400:
            return low
    for _ in range(32):
        middle = _short((low + high) / 2)
        if fits(middle):
            low = middle
        else:
            high = middle
    return low


def _short(value: Fraction) -> Fraction:
    """The same to 60 binary digits, so that numbers do not grow."""
    shift = value.denominator.bit_length() - value.numerator.bit_length() + 60
    return Fraction(int(value * (1 << shift)), 1 << shift) if shift > 0 else value
