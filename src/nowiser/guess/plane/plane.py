"""A prior on a plane, for discs: masses of boxes, and bounds on its density.

Two independent attributes are a product of `Line`s; a correlated normal is turned so that its axes are independent,
which leaves Euclidean distances alone; a joint histogram is a table. A plane that mirrors itself is searched for
victims on one side only, and one that looks alike in all directions along one ray.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.density.line import line
from nowiser.guess.plane.product import Product
from nowiser.guess.plane.table import Table
from nowiser.model.prior import Histogram, JointHistogram, MultivariateNormal, Normal, Prior, Uniform
from nowiser.model.priors.base import Floats

FARTHEST = 7.0  # standard deviations up to which victims of a normal prior are looked for, at least
BEYOND = 6.0  # standard deviations beyond which a billionth is left


def farthest(spread: float, radius: float) -> float:
    """How far from the mean of a normal prior victims are looked for whose goals are so wide.

    Goals of all others begin where a billionth is left, so that there is nothing to gain by being even less likely; and
    what is told of them falls with the distance, for the prior is log-concave.
    """
    return max(FARTHEST * spread, BEYOND * spread + radius)


@dataclass(frozen=True, eq=False)
class Plane:
    """A prior in turned coordinates, the victims that are looked for, and the way back to the attributes."""

    names: tuple[str, ...]
    law: Product | Table
    low: Floats
    high: Floats
    turn: Floats
    middle: Floats

    def victim(self, at: Floats) -> dict[str, float]:
        """A place as values of the attributes."""
        return dict(zip(self.names, (self.middle + self.turn @ at).tolist(), strict=True))

    def place(self, victim: Mapping[str, Any]) -> Floats:
        """The place of a victim; Misconfigured when nobody can be there."""
        values = [victim[n] for n in self.names]
        for name, x in zip(self.names, values, strict=True):
            if isinstance(x, bool) or not isinstance(x, (int, float)) or not np.isfinite(x):
                raise Misconfigured(f"victim must have a number as {name}, found {x!r}")
        at = np.asarray(self.turn.T @ (np.array(values, float) - self.middle))
        for name, x, (low, high) in zip(self.names, at, self.law.support, strict=True):
            if not low <= x <= high:
                raise Misconfigured(
                    f"victim must have a possible value of {name} ({low:g} to {high:g}), found {victim[name]!r}"
                )
        return at


def plane_of(prior: Prior | Mapping[str, Prior], names: tuple[str, ...], radius: float = 0.0) -> Plane:
    """The prior as a plane; Misconfigured where it has not two attributes."""
    if len(names) != 2:
        raise Misconfigured(
            f"the worst victim of a disc is looked for on maps of two attributes, found {len(names)}",
            hint="Give the victim, e.g. victim=(x, y, z), or the prior as JointAtoms.",
        )
    plain = np.eye(2), np.zeros(2)
    prior = as_joint(prior, names)
    if isinstance(prior, MultivariateNormal):
        variances, turn = np.linalg.eigh(prior.covariance)
        spread = np.sqrt(variances)
        rows = Normal(0.0, float(spread[0])), Normal(0.0, float(spread[1]))
        high = np.array([farthest(s, radius) for s in spread.tolist()])  # the four quarters mirror each other
        if spread[0] == spread[1]:
            high[1] = 0.0
        return Plane(names, Product(rows), 0.0 * spread, high, turn, prior.mean)
    if isinstance(prior, JointHistogram):
        low, high = np.array([e[0] for e in prior.edges]), np.array([e[-1] for e in prior.edges])
        shares = [prior.masses.sum(axis=1), prior.masses.sum(axis=0)]
        for axis, edges in enumerate(prior.edges):  # a map that mirrors itself is looked at on one side
            same = np.array_equal(prior.masses, np.flip(prior.masses, axis))
            if same and np.array_equal(edges - low[axis], high[axis] - edges[::-1]):
                high[axis] = (low[axis] + high[axis]) / 2
        if np.abs(np.multiply.outer(*shares) - prior.masses).max() <= 1e-14 * prior.masses.max():
            first, second = (Histogram(e, s / s.sum()) for e, s in zip(prior.edges, shares, strict=True))
            return Plane(names, Product((first, second)), low, high, *plain)
        return Plane(names, Table(prior), low, high, *plain)
    assert isinstance(prior, Mapping)
    lines = [line(prior[n]) for n in names]  # also guesses beside all that is likely, which are right about some of it
    low = np.array([max(one.low, one.victims()[0].min() - radius) for one in lines])
    high = np.array([min(one.high, one.victims()[1].max() + radius) for one in lines])
    return Plane(names, Product((prior[names[0]], prior[names[1]])), low, high, *plain)


def as_joint(prior: Prior | Mapping[str, Prior], names: tuple[str, ...]) -> Prior | Mapping[str, Prior]:
    """Independent priors as the joint prior they are, where there is one: of which half or a quarter may do."""
    if not isinstance(prior, Mapping):
        return prior
    parts = [prior[n] for n in names]
    bells = [p for p in parts if isinstance(p, Normal)]
    if len(bells) == len(parts):
        return MultivariateNormal(names, [p.mean for p in bells], np.diag([p.sd**2 for p in bells]))
    flat = [Histogram([p.low, p.high], [1.0]) if isinstance(p, Uniform) else p for p in parts]
    bins = [p for p in flat if isinstance(p, Histogram)]
    if len(bins) == len(parts):
        return JointHistogram(names, [p.edges for p in bins], np.multiply.outer(bins[0].masses, bins[1].masses))
    return prior
