"""The worst victim of three normal attributes with a cost each: two of them together, then the third given both.

Let D be what is asked about two attributes x and y, C what is asked about the third, f a likelihood of prior mean 1.

*Two of them.* Given (x, y), the third attribute is β·(x, y) and noise that does not depend on them. Moving (x, y)
with the same noise moves it by at most |β|, so the likelihood of (x, y) alone moves by at most e to the (k_x +
k_z|β_x|) per unit of x, and so on (`marginal`): a = Pr(D | answer) gains at most G₂, the worst ceiling on a plane
with these rates.

*The third given both.* For given (x, y) it is normal, with the noise's standard deviation, around m = β·(x, y): Pr(C
| x, y, answer) is at most G₁ above Pr(C | x, y) = q(m), the worst gain of one normal number. Averaged over D with
what the answer makes of (x, y) there instead of with the prior, q gains at most

    (range of q over D)·tanh(T/4),      T the largest cost between two points of D,

because the two averages are those of densities whose quotient varies by at most e^T. So c = Pr(C | D, answer) is at
most G₁ + range·tanh(T/4) =: G above d = Pr(C | D), and with b = Pr(D)

    a·c − b·d  =  (a − b)·c + b·(c − d)  ≤  G₂·c̄ + b̄·G,        =  (a − b)·d + a·(c − d)  ≤  G₂·d̄ + ā·G

with bars for upper limits over all victims. A disjunction is the denial of both being denied, of which the losses are
bounded in the same way: G₂ is that of "D or …", G₁ that of C itself, and the limits are 1. Any of the three
attributes may be the third.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nowiser.guess.density.gauss import ndtr
from nowiser.guess.parts.formula import Leaf, Node
from nowiser.guess.plane.bivariate import Bivariate
from nowiser.guess.plane.exposed import GAP, likeliest
from nowiser.guess.plane.region import Band, Region
from nowiser.guess.plane.regions import Regions, worst_region
from nowiser.model.cost import Cost
from nowiser.model.goal import Goal, Not, Within
from nowiser.model.prior import MultivariateNormal, Normal
from nowiser.model.priors.base import Floats

ROOM = 1 + 1e-12
STEPS = 4_000  # of a search for the largest difference of a hill


@dataclass(frozen=True, eq=False)
class Chain:
    """One attribute given two others."""

    prior: MultivariateNormal
    region: Region
    rates: Floats
    jump: float
    last: int

    @cached_property
    def pair(self) -> list[int]:
        return [i for i in range(3) if i != self.last]

    @cached_property
    def slopes(self) -> Floats:
        """β, of the last attribute."""
        cov = self.prior.covariance
        return np.asarray(np.linalg.solve(cov[np.ix_(self.pair, self.pair)], cov[self.pair, self.last]))

    @cached_property
    def sd(self) -> float:
        """Of what is left of the last attribute."""
        cov = self.prior.covariance
        return math.sqrt(float(cov[self.last, self.last] - self.slopes @ cov[self.pair, self.last]))

    @cached_property
    def regions(self) -> Regions:
        """What is asked about the other two, with the rates that all three amount to."""
        cov, names = self.prior.covariance, tuple(self.prior.names[i] for i in self.pair)
        both = MultivariateNormal(names, self.prior.mean[self.pair], cov[np.ix_(self.pair, self.pair)])
        leaves = [self._leaf(i) for i in self.pair]
        bands = tuple(Band(n, b.radius, b.low, b.high) for n, (_, b) in enumerate(leaves))
        of = Node(self._every, tuple(Leaf(n, leaf.negated) for n, (leaf, _) in enumerate(leaves)))
        rates = (self.rates[self.pair] + self.rates[self.last] * np.abs(self.slopes)) * ROOM
        return Regions(Bivariate(both), Region(of, bands), rates, self.jump)

    @property
    def _every(self) -> bool:
        assert isinstance(self.region.of, Node)
        return self.region.of.every

    def _leaf(self, axis: int) -> tuple[Leaf, Band]:
        of = self.region.of
        assert isinstance(of, Node)
        bands = self.region.bands
        return next((p, bands[p.index]) for p in of.parts if isinstance(p, Leaf) and bands[p.index].axis == axis)

    @cached_property
    def third(self) -> tuple[float, float, float]:
        """G, and the largest Pr(C | x, y) before and after."""
        from nowiser.guess.ceiling import ceiling

        leaf, band = self._leaf(self.last)
        wide, rate = band.scale, float(self.rates[self.last])
        goal: Goal = Not(Within(wide)) if leaf.negated else Within(wide)
        alone = ceiling(Normal(0.0, self.sd), goal, Cost(rate * wide * ROOM, self.jump)).gain * ROOM
        reach, spread = 0.0, 0.0
        for k, slope, i in zip(self.regions.rates.tolist(), self.slopes.tolist(), self.pair, strict=True):
            other, own = self._leaf(i)
            finite = other.negated != self._every  # what D has of this attribute is a band
            reach += 2 * own.scale * k if finite or not k else math.inf
            spread += 2 * own.scale * abs(slope) if finite or not slope else math.inf
        gain = alone + self._difference(wide, spread) * math.tanh(min((reach + self.jump) / 4, 50.0))
        most = 1.0 if leaf.negated or not self._every else min(1.0, 2 * float(ndtr(wide / self.sd)) - 1 + 1e-12)
        return min(gain * ROOM, 1.0), most, min(1.0, most + alone)

    def _difference(self, wide: float, spread: float) -> float:
        """The largest difference of the normal masses of two windows whose middles are at most `spread` apart."""

        def mass(at: Floats) -> Floats:
            return np.asarray(ndtr((at + wide) / self.sd) - ndtr((at - wide) / self.sd))

        if math.isinf(spread):
            return float(mass(np.zeros(1))[0])
        # one of them is on each side of a maximum, or both on one side: where the nearer is somewhere up to the far end
        at = np.linspace(0.0, wide + 9 * self.sd, STEPS + 1)
        step = float(at[1]) / (self.sd * math.sqrt(2 * math.pi))
        return min(float((mass(at) - mass(at + spread)).max()) + 2 * step, float(mass(np.zeros(1))[0])) + 1e-12

    @cached_property
    def before(self) -> float:
        """b̄: no box is more probable than one in the middle."""
        if not self._every or any(self._leaf(i)[0].negated for i in self.pair):
            return 1.0
        sides = [self._leaf(i)[1].scale for i in self.pair]
        ends = [float(self.prior.mean[i]) + s * np.array([-1.0, 1.0]) for i, s in zip(self.pair, sides, strict=True)]
        law = self.regions.law
        assert isinstance(law, Bivariate)
        return min(1.0, float(law.masses(ends)[0, 0]) + 1e-12)

    def gain(self, two: float) -> float:
        """The bound, from G₂."""
        rest, before, after = self.third
        return min(
            1.0, (min(two * after + self.before * rest, two * before + min(1.0, self.before + two) * rest)) * ROOM
        )

    def room(self, limit: float) -> float:
        """How large G₂ may be where the bound is to be at most the limit."""
        rest, before, after = self.third
        return (
            max((limit / ROOM - self.before * rest) / after, (limit / ROOM - rest * self.before) / (before + rest))
            / ROOM
        )


def chains(prior: MultivariateNormal, region: Region, rates: Floats, jump: float) -> list[Chain]:
    """All ways to take one attribute last; none where the goal is not one condition on each, all joined alike."""
    of, bands = region.of, region.bands
    if not isinstance(of, Node) or len(of.parts) != 3 or not all(isinstance(p, Leaf) for p in of.parts):
        return []
    if {b.axis for b in bands} != {0, 1, 2} or len(bands) != 3:
        return []
    return sorted((Chain(prior, region, rates, jump, i) for i in range(3)), key=_guessed)


def _guessed(chain: Chain) -> float:
    """About what the bound will be: with the gain of whoever is in the middle."""
    return chain.gain(chain.regions.exposed(chain.prior.mean[chain.pair], sharp=False).gain)


def worst_by_chain(chain: Chain, limit: float | None) -> tuple[float, Floats]:
    """A bound on everybody's gain, and the place of somebody whose gain is large.

    With a limit the bound is at most the limit only if nobody gains more than the limit.
    """
    allowed = None if limit is None else chain.room(limit)
    if allowed is not None and allowed <= 0:  # what the third adds is too much already
        return 1.0, np.array(chain.prior.mean, float)
    worst = worst_region(chain.regions, allowed)
    return chain.gain(worst.gain), _place(chain, worst.at)


def about_by_chain(chain: Chain) -> tuple[float, Floats]:
    """The same, about: from whom the search for the worst victim of two attributes begins with."""
    found = likeliest(chain.regions)
    return chain.gain(min(1.0, found.own * (1 + GAP))), _place(chain, found.at)


def _place(chain: Chain, at: Floats) -> Floats:
    """Somebody who is there with two attributes, and in the middle of what is left with the third."""
    place, mean = np.empty(3), chain.prior.mean
    place[chain.pair] = at
    place[chain.last] = mean[chain.last] + chain.slopes @ (at - mean[chain.pair])
    return place
