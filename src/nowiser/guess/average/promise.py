"""What an attacker reaches on average at most, given totals of all answers: the smallest of several bounds.

Let κ be how often his best guess was right before any answer (`baseline`). Answers of each kind are counted by
`lifts` and `channel`; proofs are in docs/mathematics/expected.md. With μ² of Gaussian answers about the record, c² of
Gaussian answers by distance, Σε and Σε² of pure answers, all of them also bounds for questions chosen in view of
earlier answers:

    shift of  odds_ε(κ)     by μ and c over the whole range                         (pure answers first)
    shift of  κ             by μ, c over the whole range, and √(π/2·Σε²)            (many small pure answers)
    channel with            c² + (μ² + π/2·Σε²)/(2r)²                               (within r, on one number)
    shift of  channel(c)    by μ and √(π/2·Σε²)                                     (ditto, where κ is small)

Pure answers of ledgers that kept no squares count by odds, Gaussian ones of which only ρ was kept by Rényi divergences.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import lru_cache

from nowiser.guess.average.baseline import Bounds, baseline
from nowiser.guess.average.channel import laid, seen
from nowiser.guess.average.lifts import PER_NAT, by_divergence, by_factor, by_odds, by_shift
from nowiser.guess.number import law, victims as number
from nowiser.model.cost import Cost
from nowiser.model.goal import Exactly, Goal, On, Within
from nowiser.model.prior import Histogram, LogNormal, Normal, Prior, Truncated, Uniform

FAR = 60.0  # nats that tell everything
FINE = 64  # costs of the ceiling are rounded up to one of so many for each factor e
GOLDEN = (math.sqrt(5) - 1) / 2
NEAR = 1e-7  # how well the worst κ is found where none is known
NONE = Fraction(0)


@dataclass(frozen=True)
class Told:
    """Totals of answers about a goal: of any change of the record, and by distance about the only attribute of it."""

    mu2: Fraction = NONE  # Σ (Δ/σ)² of Gaussian answers
    c2: Fraction = NONE  # Σ (L/σ)² of Gaussian answers by distance, per unit²
    square: Fraction = NONE  # Σ ε² of pure answers
    unsquared: Fraction = NONE  # Σ ε of those that are not in `square`
    jump: Fraction = NONE  # Σ ε of all pure answers, but for
    slope: Fraction = NONE  # those by distance, per unit
    rho: Fraction = NONE  # of answers with ρ alone
    width: Fraction = NONE  # of the range that distances are within

    def times(self, many: Fraction) -> "Told":
        """So many times as much of everything."""
        each = {f.name: getattr(self, f.name) * many for f in fields(self) if f.name != "width"}
        return replace(self, **each)

    def sharper(self, factor: Fraction) -> "Told":
        """As precise as that many times: squares of losses grow with both."""
        return replace(self.times(factor), square=self.square * factor**2)

    def __bool__(self) -> bool:
        return any(getattr(self, f.name) for f in fields(self) if f.name != "width")


@dataclass(frozen=True)
class Target:
    """A goal, and what is known beforehand; `separate`: its attributes are independent and each stands in it once."""

    goal: Goal
    priors: tuple[tuple[str, Prior], ...]
    separate: bool = True

    @property
    def baseline(self) -> Bounds:
        return _baseline(self)

    @property
    def window(self) -> tuple[Prior, float] | None:
        """The prior and the radius of a goal within a distance of one number; radius 0 for `exactly`."""
        if not self.separate or len(self.priors) != 1 or self.priors[0][1].kind != "line":
            return None
        prior, own = self.priors[0][1], self.goal.goal if isinstance(self.goal, On) else None
        if isinstance(own, Within):
            return prior, own.radius
        return (prior, 0.0) if isinstance(own, Exactly) and law.points(prior) is not None else None

    def figures(self, told: Told, *, coarse: bool = False) -> tuple[float, float]:
        """How often the best guess is right before, and at most afterwards; where κ is not known, at the worst κ.

        `coarse`: by closed forms alone, which is quick and more.
        """
        low, high = self.baseline
        if not told:  # of a κ that is not known: even chances, where a small cost gains most
            return (low or min(high, 0.5),) * 2
        before, after = _most(lambda kappa: self._after(kappa, told, coarse=coarse), low, high)
        return before, max(before, after)

    def gain(self, told: Told, *, coarse: bool = False) -> Fraction:
        """By how much more he is right at most; what rounding may lack is within the bounds."""
        before, after = self.figures(told, coarse=coarse)
        return max(NONE, Fraction(after) - Fraction(before))

    def _after(self, kappa: float, told: Told, *, coarse: bool) -> float:
        all_over = told.mu2 + told.c2 * told.width**2
        squares = Fraction(PER_NAT * (1 + 1e-15)) * told.square
        pure = told.jump + told.slope * told.width
        first = min(by_odds(kappa, _nats(pure)), 1.0 if coarse else self._ceiling(told))
        old = by_odds(kappa, _nats(told.unsquared))
        found = [by_shift(first, _root(all_over)), by_shift(old, _root(all_over + squares))]
        if self.window is not None and not coarse:
            prior, radius = self.window
            near = told.mu2 + squares
            apart = laid(prior, radius).apart  # endless where one window holds everybody
            channel = seen(prior, radius, _root(told.c2 + (near / Fraction(apart) ** 2 if apart < math.inf else 0)))
            both = min(channel, by_shift(seen(prior, radius, _root(told.c2)), _root(near))) if told.c2 else channel
            found.append(by_factor(both, _nats(told.unsquared)))
        after = by_divergence(min(found), _float(told.rho))
        if told.rho or told.square:
            every = told.rho + (all_over + told.square) / 2
            after = min(after, by_divergence(old, _float(every)))
        return after

    def _ceiling(self, told: Told) -> float:
        """The largest posterior of any guess after pure answers, where slopes tell less than over the whole range."""
        if not told.slope or self.window is None or not _gapless(self.window[0]) or not self.window[1]:
            return 1.0
        return _ceiling(self, _row(_float(told.slope) * self.window[1]), _row(_nats(told.jump)))


@lru_cache(maxsize=256)
def _baseline(target: Target) -> Bounds:
    return baseline(dict(target.priors), target.goal, separate=target.separate)


def _most(after: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Where after(κ) − κ is largest between two ends: `after` rises and is concave, so golden sections find it."""
    a, b = low, high
    if low:  # known to many digits
        return a, after(b)
    x, y = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
    left, right = after(x) - x, after(y) - y
    while b - a > NEAR:
        if left >= right:
            b, y, right = y, x, left
            x = b - GOLDEN * (b - a)
            left = after(x) - x
        else:
            a, x, left = x, y, right
            y = a + GOLDEN * (b - a)
            right = after(y) - y
    return a, after(b)


@lru_cache(maxsize=4096)
def _ceiling(target: Target, slope: int | None, jump: int | None) -> float:
    prior, _ = target.window or (None, 0.0)
    assert prior is not None
    cost = Cost(*(0.0 if row is None else math.exp(row / FINE) for row in (slope, jump)))
    return min(1.0, number.victims_of(prior, target.goal, cost, target.priors[0][0]).worst(1.0, 0.0).value)


def _row(nats: float) -> int | None:
    return math.ceil(FINE * math.log(nats)) if nats > 0 else None


def _gapless(prior: Prior) -> bool:
    """Whether every value between any two is possible: then no guess is better than one that some victim has."""
    inner = prior.prior if isinstance(prior, Truncated) else prior
    return isinstance(inner, Uniform | Normal | LogNormal) or (
        isinstance(inner, Histogram) and bool(inner.masses.all())
    )


def _nats(amount: Fraction) -> float:
    return _float(min(amount, Fraction(FAR)))


def _float(amount: Fraction) -> float:
    found = float(amount)
    return found if Fraction(found) >= amount else math.nextafter(found, math.inf)


def _root(amount: Fraction) -> float:
    return math.sqrt(_float(amount)) * (1 + 1e-15)
