"""Goals on a grid of cells held against the rest by `carried`: averages over cells, their parts, and what they cost.

What f has in a cell is its mass times an average. *From cell to cell* along one axis, for every place on the others: f
falls at most as e^{−kx} from one stretch to one that is apart from it, so averages differ by at most the quotient of
those of e^{−kx}, e^{k·|centres|}·s(kh)/s(kh') with half widths h and s(u) = sinh(u)/u; over one stretch they are the
same. Axis by axis these factors multiply. *Weighted averages* (`lean`) and *parts of cells* (`loaded`) cost more, which
is counted into masses. *Distances on a map*: at most the length of the way on
which one box is moved and stretched to become the other; or, with m = √(|centres|² + Σh'²/3) the root mean square of
distances from a centre, k(m + Σh²/2m) and Σ ln s(kh), because the average of e^{−kd} over a box is at least e to that
of −kd, and f at a place of the first is at most that over it. *Jumps* of labels and single values are paid along their
axes, those of axes with cells once, by all (`metric.solved` has the proof).
"""

import functools
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.grid.carried import Along, Carried, Effort, Kernel, Pairs, along, carried
from nowiser.guess.grid.disc import Shares
from nowiser.guess.grid.metric import Question, spread
from nowiser.guess.grid.programme import Mask
from nowiser.guess.grid.space import Space
from nowiser.model.priors.base import Floats

ALL = Effort()
TRIED = 300  # peaks on a map


@dataclass(frozen=True, eq=False)
class Peak:
    """The best of many cones (sign 1) or valleys (−1): in which cell it peaks, and its odds."""

    at: tuple[int, ...]
    sign: int
    odds: float


@dataclass(frozen=True, eq=False)
class Cells:
    """A grid with costs."""

    space: Space
    question: Question

    @cached_property
    def jump(self) -> float:
        """That of all axes with cells."""
        jumps = zip(self.space.axes, self.question.jumps, strict=True)
        return sum(j for a, j in jumps if a.borders is not None) + self.question.map_jump

    @cached_property
    def span(self) -> Floats:
        """The largest cost inside each cell."""
        return 2 * spread(self.space, self.question).reshape(self.space.masses.shape)

    @cached_property
    def slopes(self) -> list[Floats]:
        """The steepest slopes of ln density in each cell, along the axes with cells (`which`)."""
        shape = self.space.masses.shape
        if self.space.shape is None:
            return [np.zeros(shape) for _ in self.which]
        return [np.broadcast_to(m, shape) for m in self.space.shape.slopes(*self.ends)]

    @cached_property
    def which(self) -> list[int]:
        """The axes with cells."""
        return [i for i, a in enumerate(self.space.axes) if a.borders is not None]

    @cached_property
    def ends(self) -> tuple[list[Floats], list[Floats]]:
        """The lower and upper ends of the cells on each of these, to be broadcast against each other."""
        low, high = [], []
        for i in self.which:
            b, along_i = self.space.axes[i].borders, [-1 if j == i else 1 for j in range(len(self.space.axes))]
            assert b is not None
            low.append(b[:-1].reshape(along_i))
            high.append(b[1:].reshape(along_i))
        return low, high

    @cached_property
    def lean(self) -> Floats:
        """How far averages weighted with the density are from plain ones, as logarithms.

        Over a box of sides w the variance of g is at most Σ (wᵢ/π)²·E(∂ᵢg)² (Poincaré's inequality), where ∂ᵢf ≤ kᵢf
        and ∂ᵢp ≤ mᵢp; and of what varies by at most a factor e^a, √(E g²) ≤ cosh(a/2)·E g (Kantorovich's). So the
        covariance of f and p is at most the product of two such roots; and no average differs by more than the span.
        """
        if self.space.shape is None:
            return np.zeros(self.space.masses.shape)
        low, high = self.ends
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            bottom, top = self.space.shape.heights(low, high)
            wide = [b - a for a, b in zip(low, high, strict=True)]
            rates = [self.rates[i] for i in self.which]
            if self.question.map_rate is not None:  # the length of the slope is at most the rate
                own = self.question.map_rate * functools.reduce(np.maximum, wide)
            else:
                own = np.sqrt(sum((k * w) ** 2 for k, w in zip(rates, wide, strict=True)))
            other = np.sqrt(sum((m * w) ** 2 for m, w in zip(self.slopes, wide, strict=True)))
            far = np.cosh(np.minimum(self.span / 2, 300.0)) * (np.sqrt(top / bottom) + np.sqrt(bottom / top)) / 2
            part = np.nan_to_num(own * other * far / np.pi**2, nan=np.inf)
        small = part < 1 - 1e-9
        found = np.where(small, -np.log1p(-np.where(small, part, 0.0)), np.inf)
        return np.minimum(found, self.span)

    @cached_property
    def rates(self) -> list[float]:
        """Along each axis; the distance on a map is at most the sum of those along its axes."""
        if self.question.map_rate is not None:
            return [self.question.map_rate] * len(self.space.axes)
        return list(self.question.rates)

    @cached_property
    def kernel(self) -> Along:
        return Along(tuple(self._table(i) for i in range(len(self.space.axes))))

    def _table(self, i: int) -> Floats:
        axis, rate = self.space.axes[i], self.rates[i]
        plain = self._plain(i)
        if axis.borders is None:
            return plain
        own = _log_mean(rate * axis.half)
        return np.where(np.eye(axis.size, dtype=bool), 0.0, np.maximum(plain + own[:, None] - own, 0.0))

    def _plain(self, i: int) -> Floats:
        """Between the places of points, or the middles of cells."""
        axis, rate = self.space.axes[i], self.rates[i]
        jump = 0.0 if axis.borders is not None or self.question.map_rate is not None else self.question.jumps[i]
        if axis.places is None:
            if rate:
                raise Misconfigured(f"{axis.name} has labels, which have no distances: its slope must be 0")
            return jump * (1 - np.eye(axis.size))
        return rate * np.abs(axis.places[:, None] - axis.places) + jump * (1 - np.eye(axis.size))

    def loaded(self, share: Floats) -> tuple[Floats, Floats]:
        """The masses of what has this share of the cells' masses, and of the rest, with what it costs to leave and to
        enter parts of cells. What may be wrong about a mass counts inside and not outside.

        A part with the share s of a cell has an average of f of at most 1/(s + (1 − s)e^{−span}) times that of the
        cell, and at least 1/(s + (1 − s)e^{span}) times, because the rest differs by at most the span. Both masses,
        with these factors, err to the safe side where s is too large.
        """
        space, lean = self.space, np.exp(np.minimum(self.lean, 700.0))
        inside = np.where(share > 0, space.masses * share + space.off * (space.masses > 0), 0.0)
        outside = np.where(share < 1, np.maximum(space.masses * (1 - share) - space.off, 0.0), 0.0)
        with np.errstate(over="ignore", divide="ignore"):  # of no share of an endless cell nothing is known: the cap
            rise = 1 / (share + (1 - share) * np.exp(-self.span))
            fall = 1 - share + share * np.exp(np.minimum(self.span, 700.0))
            cap = np.exp(np.minimum(self.span, 700.0))
            return inside * np.minimum(rise * lean, cap), outside / np.minimum(fall * lean, cap)

    def odds(self, share: Floats, effort: Effort = ALL, start: Floats | None = None, enough: float = 0.0) -> Carried:
        """A bound on the odds, without the jump of axes with cells."""
        masses = self.loaded(np.broadcast_to(share, self.space.masses.shape))
        kernel: Kernel = self.kernel
        if self.question.map_rate is not None:
            kernel = Pairs(self._distances(masses[0] > 0, masses[1] > 0), masses[0] > 0, masses[1] > 0)
        return carried(masses, kernel, effort, start, enough)

    @cached_property
    def _where(self) -> tuple[Floats, Floats]:
        """Middles and half widths of all cells, one in a row."""
        places = np.meshgrid(*[a.places for a in self.space.axes if a.places is not None], indexing="ij")
        halves = np.meshgrid(*[a.half for a in self.space.axes], indexing="ij")
        return np.stack([x.ravel() for x in places], -1), np.stack([x.ravel() for x in halves], -1)

    def _distances(self, inside: Mask, outside: Mask) -> Floats:
        rate = self.question.map_rate
        assert rate is not None
        places, halves = self._where
        i, j = np.flatnonzero(inside), np.flatnonzero(outside)
        apart, wider, square, far = (np.zeros((i.size, j.size)) for _ in range(4))
        for a in range(places.shape[1]):
            away = np.abs(places[i, a][:, None] - places[j, a])
            apart += (away + np.abs(halves[i, a][:, None] - halves[j, a])) ** 2
            far += away**2 + halves[j, a] ** 2 / 3
            wider += _log_mean(rate * halves[i, a])[:, None]
            square += halves[i, a][:, None] ** 2
        far = np.sqrt(far)
        with np.errstate(divide="ignore", invalid="ignore"):
            other = np.nan_to_num(rate * (far + square / (2 * far)) + wider, nan=np.inf)
        return np.minimum(rate * np.sqrt(apart), other)

    def peak(self, shares: Shares) -> Peak:
        """The best likelihood e^{∓cost of the distance from a place}, about: everybody in the middle of his cell."""
        inside = self.space.masses * shares.least
        outside = self.space.masses * (1 - shares.least)
        if self.question.map_rate is not None:
            return self._peak_on_map(inside, outside)
        best = Peak((0,) * inside.ndim, 1, -1.0)
        plain = [self._plain(i) for i in range(inside.ndim)]
        for sign in (1, -1):
            tables = [np.exp(-sign * t - (0 if sign > 0 else t.max())) for t in plain]
            with np.errstate(divide="ignore", invalid="ignore"):
                found = np.nan_to_num(along(tables, inside) / along(tables, outside), nan=-1.0)
            at = np.unravel_index(int(np.argmax(found)), found.shape)
            if found[at] > best.odds:
                best = Peak(tuple(int(x) for x in at), sign, float(found[at]))
        return best

    def _peak_on_map(self, inside: Floats, outside: Floats) -> Peak:
        rate, (places, _) = self.question.map_rate, self._where
        assert rate is not None
        best = Peak((0,) * inside.ndim, 1, -1.0)
        for sign, side in ((1, inside), (-1, outside)):
            for at in np.argsort(-side.ravel())[:TRIED].tolist():
                away = -sign * rate * np.sqrt(((places - places[at]) ** 2).sum(axis=1))
                f = np.exp(away - away.max())
                with np.errstate(divide="ignore", invalid="ignore"):
                    found = float(f @ inside.ravel()) / max(float(f @ outside.ravel()), 1e-300)
                if found > best.odds:
                    best = Peak(tuple(int(x) for x in np.unravel_index(at, inside.shape)), sign, found)
        return best

    @cached_property
    def limits(self) -> tuple[Floats, Floats]:
        """The smallest and the largest value that a likelihood of prior mean 1 (without the jump of axes with cells)
        can have anywhere in each cell: f(x)·∫e^{−cost of x to y} dπ(y) ≤ 1 ≤ f(x)·∫e^{cost} dπ.
        """
        low, high = self._means
        masses, lean, off = self.space.masses, self.lean, self.space.off
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            least = 1 / along(high, (masses + off) * np.exp(np.minimum(lean, 700.0)))
            most = 1 / along(low, np.maximum(masses - off, 0.0) * np.exp(-lean))
        return np.nan_to_num(least, nan=0.0) * (1 - 1e-9), np.nan_to_num(most, nan=np.inf, posinf=np.inf) * (1 + 1e-9)

    @cached_property
    def _means(self) -> tuple[list[Floats], list[Floats]]:
        """Averages of e^{−cost} and e^{cost} over cells, from the worst place of others: along each axis."""
        low, high = [], []
        for i, axis in enumerate(self.space.axes):
            plain = self._plain(i)
            if axis.borders is None:
                low.append(np.exp(-plain))
                high.append(np.exp(np.minimum(plain, 700.0)))
                continue
            u = self.rates[i] * axis.half
            far, mean, own = plain + u[:, None], _log_mean(u), np.eye(axis.size, dtype=bool)
            with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
                inner = np.where(u > 0, -np.expm1(-2 * u) / (2 * u), 1.0)
                outer = np.where(u > 0, np.expm1(np.minimum(2 * u, 700.0)) / (2 * u), 1.0)
                low.append(np.where(own, inner[:, None], np.exp(-far + mean)))
                high.append(np.where(own, outer[:, None], np.exp(np.minimum(far + mean, 700.0))))
        return low, high


def _log_mean(u: Floats) -> Floats:
    """Ln of the average of e^{kx} over a stretch of half width u/k around 0, ln(sinh(u)/u)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(u < 1e-3, u * u / 6, u + np.log1p(-np.exp(-2 * u)) - np.log(2 * u))
