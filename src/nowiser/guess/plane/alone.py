"""A region of a plane bounded from what each attribute tells about itself.

The posterior of a band is at most its ceiling by the prior of its own attribute, at the effective cost (`marginal`),
and at least its smallest posterior likewise. A conjunction is met with at most the least of its parts' probabilities,
a disjunction with at most their sum. That is far from sharp where both attributes matter, but holds where a region lies
so far out, or has so much mass on both sides, that pieces tell nothing.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nowiser.guess.density.line import Line, line
from nowiser.guess.grid.marginal import effective, marginal
from nowiser.guess.grid.metric import Question
from nowiser.guess.odds import lifted, odds_of
from nowiser.guess.plane.region import Band, Placed, share
from nowiser.model.cost import Cost
from nowiser.model.prior import JointHistogram, MultivariateNormal, Prior
from nowiser.model.priors.base import Floats


@dataclass(frozen=True, eq=False)
class Alone:
    """A prior of two attributes with a rate each, and one jump for both."""

    prior: MultivariateNormal | JointHistogram | tuple[Prior, Prior]  # of two independent ones
    rates: Floats
    jump: float

    @cached_property
    def lines(self) -> list[Line]:
        if isinstance(self.prior, tuple):
            return [line(prior) for prior in self.prior]
        return [line(marginal(self.prior, name)) for name in self.prior.names]

    @cached_property
    def costs(self) -> list[Cost]:
        if isinstance(self.prior, tuple):
            return [Cost(rate, self.jump) for rate in self.rates.tolist()]
        question = Question(tuple(self.rates.tolist()), (self.jump, *[0.0] * (self.rates.size - 1)))
        return [effective(self.prior, question, name) for name in self.prior.names]

    def after(self, placed: Placed) -> float:
        """A bound on the posterior of each victim's region."""
        known = []
        for part in placed.region.parts:
            bands = [part] if isinstance(part, Band) else [Band(axis, part.radius) for axis in range(2)]
            limits = [self._limits(band, placed) for band in bands]
            # a disc is in the bands of both axes; of what it has at least they tell nothing
            known.append(limits[0] if isinstance(part, Band) else (0.0, min(most for _, most in limits)))
        return float(share(placed.region.of, known, above=True))

    @cached_property
    def _asked(self) -> dict[tuple[Band, float, float], tuple[float, float]]:
        """Victims on a grid have their places along an axis in common."""
        return {}

    def _limits(self, band: Band, placed: Placed) -> tuple[float, float]:
        at, slack = float(placed.at[band.axis]), float(placed.slack[band.axis])
        if (band, at, slack) not in self._asked:
            self._asked[band, at, slack] = self._between(band, at, slack)
        return self._asked[band, at, slack]

    def _between(self, band: Band, at: float, slack: float) -> tuple[float, float]:
        i = band.axis
        row, cost = self.lines[i], self.costs[i]
        (low, high), (far, near) = band.ends(at, slack), band.ends(at, -slack)
        slope, jump = float(cost.slope), float(cost.jump)
        most = lifted(_odds(row, slope, low, high, 1), jump)
        least = lifted(_odds(row, slope, far, near, -1), -jump) if far < near else np.zeros(1)
        return float(least[0]), float(most[0])


def _odds(row: Line, rate: float, low: float, high: float, sign: int) -> Floats:
    """The largest odds of [low, high] (sign 1), or the smallest (−1)."""
    ends = np.array([low]), np.array([high])
    if rate:
        return row.odds(sign * rate, *ends)
    return np.asarray(odds_of(np.clip(row.mass(*ends) + sign * row.wiggle(), 0.0, 1.0)), float)
