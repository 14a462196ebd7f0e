"""How often the best window is right, for whoever sees `X + N(0, 1/c²)`: a bound for all Gaussian answers about X.

**Theorem** (docs/mathematics/expected.md). Let answers tell any two values x, x' that are more than 2r apart no better
than N(0, 1) is told from N(c·|x − x'|, 1). Then, for every prior, nobody guesses X within r more often than somebody
who sees X + N(0, 1/c²). Lipschitz questions with `c² = Σ (L/σ)²` are such answers. So are questions that move by at
most Δ in all, with `c² = Σ (Δ/σ)²/(2r)²`, since only values more than 2r apart matter. Both kinds add.

Normal and uniform priors have closed forms. Any other is replaced by single values: moving a value by up to h/2 is
worth a shift of c·h/2 (`by_shift`), and a window of length n·h meets at most n + 1 cells of width h. Over the output y
the weight of the best window is integrated by trapezia. The weight H_w of one window has `H_w″ ≥ −c²·H_w`; so has their
maximum H, hence the integral is at most the trapezia and (c·step)²/12 of it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt
from numpy.lib.stride_tricks import sliding_window_view

from nowiser.guess.average.lifts import by_shift, ndtr
from nowiser.guess.number import law
from nowiser.guess.rounding import grain
from nowiser.model.prior import Normal, Prior, Truncated, Uniform
from nowiser.model.priors.base import Floats

CELLS = 6000  # of a density, at most
STEP = 1 / 16  # between outputs, in standard deviations of the noise
FAR = 9.5  # standard deviations beyond which nothing is seen
ROWS = 128  # c is rounded up to one of so many for each factor e
CURVED = 1 + 1.5 * STEP * STEP / 12  # half a step from a node, H is at most 1.5 times that at the node
SLACK = 1e-11  # of sums of some thousand floats
NOTHING = 1e-5  # of a standard deviation: noise so wide that the whole range is one point
MANY = 64  # outputs at a time

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Laid:
    """A prior as single values x with masses w; windows hold those from each to before its `last`.

    wide: of the cells that the values are the middles of; 0 where they are the values themselves.
    apart: any two values that no window holds together are at least so far apart.
    """

    x: Floats
    w: Floats
    last: Indices
    wide: float
    apart: float

    def told(self, c: float) -> float:
        """E over y = X + N(0, 1/c²) of the posterior of the heaviest window, rounded up."""
        across = float(self.x[-1]) - float(self.x[0]) + self.wide
        if c * across < NOTHING:  # as if all values were moved to the middle, where outputs tell nothing
            return by_shift(min(1.0, float(_heaviest(self.w[None, :], self.last)[0]) + SLACK), c * across / 2)
        if c * self.wide > 2:  # a window is hundreds of standard deviations wide: everybody is found
            return 1.0
        low, high = float(self.x[0]) - FAR / c, float(self.x[-1]) + FAR / c
        every = math.floor(STEP / c / self.wide) if self.wide else 0  # cells from one output to the next
        if (high - low) / (self.wide or math.inf) > self.x.size * (high - low) * c / STEP:
            every = 0  # wide noise over few cells: one row of distances would be longer than all of them together
        step = every * self.wide if every else (high - low) / math.ceil((high - low) * c / STEP)
        y: Floats = low + step * np.arange(math.ceil((high - low) / step) + 1, dtype=np.float64)
        total = sum(float(_heaviest(rows, last).sum()) for rows, last in self._rows(y, c, every))
        found = total * step * c / math.sqrt(2 * math.pi) * CURVED + SLACK
        return by_shift(min(1.0, found), c * self.wide / 2)

    def _rows(self, y: Floats, c: float, every: int) -> Iterator[tuple[Floats, Indices]]:
        """For some outputs at a time the weights of the values near them, and where windows end."""
        if every:  # all distances are whole numbers of cells: their weights are shifted copies of one row
            apart = float(self.x[-1] - y[0]) - self.wide * np.arange((y.size - 1) * every + self.x.size)
            shifted = sliding_window_view(np.exp(-0.5 * (c * apart[::-1]) ** 2), self.x.size)[::-1][::every]
        for i in range(0, y.size, MANY):
            some = y[i : i + MANY]
            near = slice(*(int(k) for k in np.searchsorted(self.x, [some[0] - FAR / c, some[-1] + FAR / c])))
            if near.start == near.stop:
                continue
            away = (some[:, None] - self.x[near]) if not every else None
            weights = shifted[i : i + MANY, near] if away is None else np.exp(-0.5 * (c * away) ** 2)
            yield weights * self.w[near], np.minimum(self.last[near], near.stop) - near.start


@lru_cache(maxsize=64)
def laid(prior: Prior, radius: float) -> Laid:
    """A prior on a line and the windows within a radius; radius 0 for `exactly`."""
    single = law.points(prior)
    if single is not None:
        x, w = single
        last = np.searchsorted(x, x + 2 * radius + 2 * grain(x, radius) if radius else x, side="right")
        beyond = x[last[last < x.size]] - x[last < x.size]
        return Laid(x, w / w.sum(), last, 0.0, max(2 * radius, float(beyond.min(initial=math.inf))))
    low, high = law.support(prior)
    n = max(1, math.floor(2 * radius * CELLS / (high - low)))  # cells of a window
    wide = 2 * radius / n
    edges: Floats = low + wide * np.arange(math.ceil((high - low) / wide * (1 - 1e-12)) + 1, dtype=np.float64)
    w = law.spread(prior, edges)
    at, masses = law.atoms(prior)
    np.add.at(w, np.clip(np.searchsorted(edges, at, side="right") - 1, 0, w.size - 1), masses)
    last = np.minimum(np.arange(w.size) + n + (2 if at.size else 1), w.size)
    return Laid(edges[:-1] + wide / 2, w / w.sum(), last, wide, 2 * radius)


def seen(prior: Prior, radius: float, c: float) -> float:
    """The largest average success within the radius after answers with this c per unit of the value; rounded up."""
    if (even := uniform(prior)) is not None and radius:
        share = min(1.0, 2 * radius / (even.high - even.low))
        return min(1.0, (1 - (1 - share) * 2 * ndtr(-c * radius)) * (1 + SLACK))
    bell = prior.prior if isinstance(prior, Truncated) else prior
    if isinstance(bell, Normal) and radius:
        found = (1 - 2 * ndtr(-radius * math.hypot(1 / bell.sd, c))) * (1 + SLACK)
        if isinstance(prior, Truncated):  # who is right about somebody in the range is right about somebody
            inside = law.mass(bell, prior.low, prior.high)
            return min(1.0, found / inside) if inside > 1 - 1e-4 else _tabulated(prior, radius, _row(c))
        return min(1.0, found)
    return _tabulated(prior, radius, _row(c))


def uniform(prior: Prior) -> Uniform | None:
    """The prior, or the part of it in a range, where all values are equally likely."""
    inner = prior.prior if isinstance(prior, Truncated) else prior
    if not isinstance(inner, Uniform) or inner is prior:
        return inner if isinstance(inner, Uniform) else None
    return Uniform(max(inner.low, prior.low), min(inner.high, prior.high))  # type: ignore[attr-defined]


def _row(c: float) -> int:
    return math.ceil(ROWS * math.log(max(c, 1e-100)) - 1e-9)


@lru_cache(maxsize=4096)
def _tabulated(prior: Prior, radius: float, row: int) -> float:
    return laid(prior, radius).told(math.exp(row / ROWS) * (1 + 1e-9))


def _heaviest(weights: Floats, last: Indices) -> Floats:
    total = np.zeros((weights.shape[0], weights.shape[1] + 1))
    np.cumsum(weights, axis=1, out=total[:, 1:])
    full = int(last[0])
    if last[-1] == last.size and (np.diff(last[: last.size - full + 1]) == 1).all():  # all of one length but at the end
        return np.asarray((total[:, full:] - total[:, : last.size + 1 - full]).max(axis=1))
    return np.asarray((total[:, last] - total[:, :-1]).max(axis=1))
