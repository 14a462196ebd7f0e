"""The ceiling of a disc on a map, ray by ray: an upper bound in a thousandth of a second, as sharp as a programme.

Take any point c in the disc g and cut the map into sectors around it. Each sector gets the point z where its middle ray
leaves the disc. A likelihood h that moves by at most e^{k·distance} is at most h(z)·e^{k|x−z|} at the points x of the
sector inside g, and at least h(z)·e^{−k|x−z|} at those outside. With A and B the integrals of the two exponentials over
the sector,

    odds(g)  ≤  Σ h(z)·A / Σ h(z)·B,      h(z) ≤ e^{k|z−z'|}·h(z')  for every two sectors.

On a line, with its two rays, the best c makes both quotients equal and the bound is attained (see `line`); on a plane
it is attained where the prior looks alike in all directions. How large can the right side be? *Quickly:* no two points
of the circle are farther apart than its diameter D, so at worst h(z) is e^{kD} in the sectors with the largest A/B and
1 in the others. *Sharply:* by a linear programme with one variable per sector. A jump J multiplies the odds by e^J.

The integrals are taken over cells, in which the density is constant or bounded from both sides (`Space.shape`). With p
the middle of a cell, d the distance of its corners from there, D = |p−z| and v = x − p,

    |x−z|  ≤  D + g·v + d²/2D      (g of length 1),

so that averages over the cell differ from e^{±kD} only in the second order: the average of e^{kg·v} is at most
sinhc(k·half width) for each side, of e^{−kg·v} at least 1; a density that varies by a factor τ moves both by at most
2·sinh(kd)·(τ−1)/(τ+1). In cells that the circle cuts, |x−z| ≤ D + d.
"""

from dataclasses import dataclass

import numpy as np

from nowiser.guess.disc import circle_shares
from nowiser.guess.programme import Programme, joined, solve
from nowiser.guess.space import Space
from nowiser.model.priors.base import Floats

SECTORS = 32
FAINT = 1e-9  # the smallest share of a sector that is told apart
SPARE = 1 + 1e-10  # far above the rounding error of sums of positive terms


@dataclass(frozen=True, eq=False)
class Sectors:
    """A and B of every sector, where its ray leaves the disc, and the largest cost between two such points."""

    inside: Floats
    outside: Floats
    points: Floats
    reach: float

    def quick(self) -> float:
        """The bound on the odds where any two points of the circle may differ by e^{reach}."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            order = np.argsort(-self.inside / self.outside)
            a, b = self.inside[order], self.outside[order]
            lift = float(np.expm1(min(self.reach, 700.0)))
            found = (a.sum() + lift * np.append(0.0, np.cumsum(a))) / (b.sum() + lift * np.append(0.0, np.cumsum(b)))
        return float(np.nan_to_num(found, nan=np.inf).max()) * SPARE

    def sharp(self, rate: float) -> float:
        """The bound on the odds by the programme over sectors, certified (see `programme`)."""
        a, b = self.inside, self.outside
        n, total = a.size, float(a.sum() + b.sum())
        if not np.isfinite(total) or not b.any():
            return self.quick()
        # masses beyond the solver's digits: more of them inside and none outside is sound
        a, b = np.where(a > 0, np.maximum(a / total, FAINT), 0.0), np.where(b / total < FAINT, 0.0, b / total)
        i, j = np.nonzero(~np.eye(n, dtype=bool))
        apart = rate * np.hypot(*(self.points[i] - self.points[j]).T) * SPARE
        own, none = np.arange(n), np.zeros(n)
        rows = joined([(i, j, apart), (own + n, own, none), (own, own + n, none)])
        ceiling = solve(
            Programme(np.concatenate([b, a]) / (a.sum() + b.sum()), rows), np.repeat([False, True], n)
        ).ceiling
        return min(ceiling / (1 - ceiling) * SPARE if ceiling < 1 else np.inf, self.quick())


class Rays:
    """The cells of a map, prepared for one rate."""

    def __init__(self, space: Space, rate: float) -> None:
        self.space, self.rate = space, rate
        places, halves = [a.places for a in space.axes if a.places is not None], [a.half for a in space.axes]
        self.x, self.y = np.meshgrid(*places, indexing="ij")
        width, depth = np.meshgrid(*halves, indexing="ij")
        self.corner = np.hypot(width, depth)
        self.density = space.masses / (4 * width * depth)
        self.tilt = np.ones_like(self.x)  # τ
        if space.shape is not None:
            low = np.meshgrid(*[b[:-1] for b in space.borders], indexing="ij")
            high = np.meshgrid(*[b[1:] for b in space.borders], indexing="ij")
            with np.errstate(all="ignore"):
                bottom, top = space.shape.heights(list(low), list(high))
                self.tilt = np.where(bottom > 0, top / bottom, np.inf)
        with np.errstate(all="ignore"):
            self.far = rate * self.corner
            sway = 2 * np.sinh(self.far) * np.where(np.isinf(self.tilt), 1.0, (self.tilt - 1) / (self.tilt + 1))
            self.most = np.log(_sinhc(rate * width) * _sinhc(rate * depth) + sway)  # ln of the average of e^{kg·v}
            self.least = np.log(np.maximum(1 - sway, 0.0))

    def shares(self, at: Floats, radius: float) -> tuple[Floats, Floats]:
        """At least and at most which share of each cell's mass is in a disc."""
        least, most = circle_shares(self.space, at.tolist(), radius)
        with np.errstate(invalid="ignore"):
            upper = np.where(most > 0, most / (most + (1 - most) / self.tilt), 0.0)
            lower = np.where(least < 1, least / self.tilt / (least / self.tilt + 1 - least), 1.0)
        return np.where(np.isinf(self.tilt) & (least < 1), 0.0, lower), upper

    def densities(self, at: Floats, inner: float, outer: float) -> tuple[float, float]:
        """Bounds on the density between two circles; from below 0 where they leave the map."""
        away = np.hypot(self.x - at[0], self.y - at[1])
        some = (away - self.corner <= outer) & (away + self.corner >= inner)
        inside = all(b[0] <= v - outer and v + outer <= b[-1] for b, v in zip(self.space.borders, at, strict=True))
        with np.errstate(invalid="ignore"):
            low, high = (self.density / self.tilt)[some], (self.density * self.tilt)[some]
        return float(low.min()) * (1 - 1e-12) if inside else 0.0, float(np.nan_to_num(high, nan=np.inf).max()) * (
            1 + 1e-12
        )

    def sectors(self, at: Floats, radius: float, centre: Floats, share: Floats) -> Sectors:
        """The sectors around a point inside the disc; `share`: at most which part of each cell is in the disc."""
        k = self.rate
        turn = np.arctan2(self.y - centre[1], self.x - centre[0]) / (2 * np.pi) + 0.5
        i = (turn * SECTORS).astype(np.intp) % SECTORS
        angle = ((np.arange(SECTORS) + 0.5) / SECTORS - 0.5) * 2 * np.pi
        ray, off = np.stack([np.cos(angle), np.sin(angle)], -1), centre - at
        along = ray @ off
        way = np.sqrt(np.maximum(along**2 - off @ off + radius**2, 0.0)) - along
        points = centre + ray * way[:, None]
        away = np.hypot(self.x - points[i, 0], self.y - points[i, 1])
        with np.errstate(all="ignore"):
            bend = k * self.corner**2 / (2 * away)
            whole = (share <= 0) | (share >= 1)
            up = np.exp(k * away + np.where(whole, np.fmin(self.far, bend + self.most), self.far))
            down = np.exp(-k * away - np.where(whole, np.fmin(self.far, bend - self.least), self.far))
            masses = self.space.masses
            within = np.where(share > 0, masses * share * up, 0.0)
            beyond = np.where(share < 1, masses * (1 - share) * down, 0.0)
        inside, outside = (np.bincount(i.ravel(), w.ravel(), SECTORS).astype(float) for w in (within, beyond))
        some = (inside > 0) | (outside > 0)
        return Sectors(inside[some], outside[some], points[some], 2 * k * radius * SPARE)


def _sinhc(x: Floats) -> Floats:
    """The average of e^{xs} over −1 ≤ s ≤ 1."""
    return np.where(x > 1e-4, np.sinh(x) / np.where(x > 1e-4, x, 1.0), 1 + x * x / 6 * 1.001)
