"""The ceiling of a disc on a plane: the pieces of `pieces`, shared out among points of the circle as in `sharing`.

It starts from the best cone h = e^{−k|x−t|} (planar Laplace noise, of which `t` is the output): that one any mechanism
may attain, and it is seldom more than 1 % below the bound.
"""

from dataclasses import dataclass

import numpy as np

from nowiser.guess.plane.pieces import Pieces, Side
from nowiser.guess.plane.sharing import Effort, Shares, equalised
from nowiser.model.priors.base import Floats

SPARE = 1 + 1e-10  # far above the rounding error of sums of positive terms
GRID = np.stack(np.meshgrid(*[np.arange(-2.0, 3.0)] * 2), -1).reshape(-1, 2)


@dataclass(frozen=True, eq=False)
class Held:
    """A bound on the odds, and the peak (as seen from the middle of the disc) of the best cone with its odds."""

    odds: float
    peak: Floats
    attained: float


def held(pieces: Pieces, radius: float, rate: float, box: Floats, effort: Effort, *, enough: float = 0.0) -> Held:
    """The bound on the odds of the disc. `box`: where the prior is, as seen from the middle of the disc.

    It stops as soon as the bound is at most `enough`.
    """
    inside, outside = pieces.inside, pieces.outside.noticed(radius, rate)
    if not outside.mass.size:
        return Held(np.inf, np.zeros(2), np.inf)
    if not rate:
        odds = float(inside.mass.sum() / outside.mass.sum())
        return Held(odds * SPARE, np.zeros(2), odds)
    peak, attained = _cone(inside, outside, radius, rate)
    points = _points(radius, box, effort.points)
    up, down = inside.lifted(points, rate), outside.lowered(points, rate)
    if not np.isfinite(up).all() or not down.any():
        return Held(np.inf, peak, attained)
    apart = np.exp(rate * np.hypot(*np.moveaxis(points[:, None] - points, -1, 0))) * SPARE
    shares = Shares(inside.mass, up, outside.mass, down, apart)
    heights = np.exp(-rate * np.hypot(*(points - peak).T))
    return Held(equalised(shares, heights, rate * radius, effort, enough) * SPARE, peak, attained)


def _points(radius: float, box: Floats, count: int) -> Floats:
    """Points of the circle, as many as wanted, where the prior is."""
    for finer in (1, 4, 16, 64):
        angle = (np.arange(count * finer) + 0.5) / (count * finer) * 2 * np.pi
        found = radius * np.stack([np.cos(angle), np.sin(angle)], -1)
        found = found[((found >= box[0]) & (found <= box[1])).all(axis=1)]
        if found.shape[0] >= count:
            break
    if not found.shape[0]:  # hardly anything of the circle is where the prior is; any point will do
        return np.array([[radius, 0.0], [-radius, 0.0], [0.0, radius], [0.0, -radius]])
    return found[np.linspace(0, found.shape[0] - 1, min(count, found.shape[0])).astype(np.intp)]


def _cone(inside: Side, outside: Side, radius: float, rate: float) -> tuple[Floats, float]:
    """The peak in the disc of the cone with the largest odds, looked for on ever smaller grids."""
    peak, best, step = np.zeros(2), 0.0, 0.4 * radius
    for _ in range(5):
        tried = peak + step * GRID
        tried = tried[(tried**2).sum(axis=1) < radius**2]
        left, out = (np.einsum("i,ij->j", s.mass, np.exp(-s.costs(tried, rate))) for s in (inside, outside))
        with np.errstate(divide="ignore", invalid="ignore"):
            odds = np.where(out > 0, left / out, np.inf)
        i = int(np.argmax(odds))
        peak, best, step = tried[i], float(odds[i]), step / 2.5
    return peak, best
