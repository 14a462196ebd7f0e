"""Victims far out in a heavy tail, all at once.

Let |∂ ln p| ≤ g along an attribute x, everywhere beyond some place c and a window of W before it. Within W of a victim
v beyond c, h·p is p(v) times a likelihood that moves by at most k + g per unit: what is inside the window is held
against what is outside in it as if x were uniform there, wherever v is.

All else lies more than W from v: there "within r" of x is never met, and no disc is. Where bands that do not move with
the victim are, x is between two places, too: that part is a plane of its own. In all the rest nothing depends on x any
more: it is held slice by slice (see `outer`). The odds of the whole are at most the largest of the three. That leaves
one number, y, along which boxes of victims are bounded through a region that has all of theirs, the largest first.

Victims who are far out in both attributes are bounded likewise, with a window along both, where all bands move.
"""

import heapq
import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nowiser.guess.odds import lifted
from nowiser.guess.plane.border import bounded, cut_up, surely
from nowiser.guess.plane.outer import sliced
from nowiser.guess.plane.pieces import Grain, Rate
from nowiser.guess.plane.product import Product
from nowiser.guess.plane.region import Band, Placed, Region, Round
from nowiser.guess.plane.sharing import Effort
from nowiser.model.prior import Truncated, Uniform
from nowiser.model.priors.base import Floats

SMALL, SMOOTH = 0.25, 0.02  # how much g may be: of the rate, and in nats per radius
WINDOW = 6.0  # nats
FEW, PLACES = 1e-3, 40  # people beyond c, at most; places that are tried for c
BOXES, FINEST, CLOSE = 50, 0.05, 1.1  # boxes along the other attribute; of a radius; above one victim's bound
HOW = Grain(8, 3, 1.5, 2.0), Effort(64, (0.3, 0.1, 0.03), 6)
Ends = tuple[float, float]


class Remote:
    """Victims of regions on a plane of independent attributes."""

    def __init__(self, law: Product, region: Region, rates: Floats, jump: float, *, straight: bool) -> None:
        self.law, self.region, self.rates, self.jump, self.straight = law, region, rates, jump, straight
        self.radius = min(
            [p.radius for p in region.parts if p.radius is not None], default=max(p.scale for p in region.parts)
        )

    @cached_property
    def near(self) -> tuple[Ends, Ends]:
        """Where victims are looked at one by one, along both axes: elsewhere the density is nearly flat."""
        return self._near(0), self._near(1)

    def people(self, axis: int) -> Ends:
        """Where victims are looked for: also beside all that is likely, where goals still hold some of it."""
        row, wide = self.law.rows[axis], max([p.radius for p in self.region.parts if p.radius is not None], default=0.0)
        return max(row.support[0], row.people[0] - wide), min(row.support[1], row.people[1] + wide)

    def _near(self, axis: int) -> Ends:
        row, people = self.law.rows[axis], self.people(axis)
        found = list(people)
        if not self.region.moves(axis):
            return found[0], found[1]
        for side, core in zip((-1, 1), row.quantile(np.array([FEW, 1 - FEW])).tolist(), strict=True):
            end = people[side > 0]
            if math.isfinite(row.support[side > 0]):
                continue
            way = abs(end - core)
            steps = self.radius * np.geomspace(1.0, max(way / self.radius, 1.0), PLACES)
            for c in (core + side * steps).tolist():
                if self._is_beyond(axis, c, side) and self.lean(axis, c, side) <= self._most(axis):
                    found[side > 0] = c if side * c < side * end else end
                    break
        return found[0], found[1]

    def _most(self, axis: int) -> float:
        return max(SMALL * float(self.rates[axis]), SMOOTH / self.radius)

    def _wide(self, axis: int) -> float:
        return max(WINDOW / max(float(self.rates[axis]), 1e-300), 0.0) if self.rates[axis] else 0.0

    def window(self, axis: int) -> float:
        """W, more than any radius."""
        radii = [p.radius for p in self.region.parts if p.radius is not None]
        return max(self._wide(axis), 3 * max(radii, default=self.radius))

    def statics(self, axis: int) -> list[float]:
        return [e for b in self.region.bands if b.axis == axis and b.radius is None for e in (b.low, b.high)]

    def _is_beyond(self, axis: int, c: float, side: int) -> bool:
        """Whether the window of every victim beyond c is beyond all bands that do not move."""
        before = c - side * self.window(axis)
        return all(side * end < side * before for end in self.statics(axis))

    def lean(self, axis: int, c: float, side: int) -> float:
        """The g of all victims beyond c."""
        row, wide = self.law.rows[axis], self.window(axis)
        last = max(side * self.people(axis)[side > 0], side * c) * side + side * wide
        ends = np.array([c - side * wide]), np.array([last])
        falls, rises = row.leanings(*(ends if side > 0 else ends[::-1]))
        inside = row.support[0] <= min(ends)[0] and max(ends)[0] <= row.support[1]
        return float(max(abs(falls[0]), abs(rises[0]))) if inside else math.inf

    def gain(self) -> float:
        """A bound on the gain of all victims that are not near."""
        found, near = 0.0, self.near
        far = [(i, s) for i in range(2) for s in (-1, 1) if near[i][s > 0] != self.people(i)[s > 0]]
        if not far:
            return 0.0
        for axis, side in far:
            found = max(found, self._beyond(axis, side))
        if any(i == 0 for i, _ in far) and any(i == 1 for i, _ in far):
            found = max(found, self._corners(far))
        return min(found + self.law.slip, 1.0)

    def flat(self, axis: int, lean: float) -> tuple[Uniform, float]:
        """The window as a prior, and the rate in it."""
        wide = self.window(axis)
        return Uniform(-wide, wide), float(self.rates[axis]) + lean

    def _rate(self, rates: Floats) -> tuple[Floats, Rate]:
        """Of both axes, and of distances."""
        return (np.full(2, rates.max()), float(rates.max())) if self.straight else (rates, rates)

    def odds(self, law: Product, placed: Placed, rates: Floats) -> float:
        both, rate = self._rate(rates)
        return bounded(cut_up(law, placed, both, HOW[0], straight=self.straight), rate, HOW[1]).odds

    def _beyond(self, axis: int, side: int) -> float:
        """Of those far out along one axis, and near along the other: the largest first."""
        strip, ends = _Strip(self, axis, side), self.near[1 - axis]
        if not self.region.moves(1 - axis):
            ends = sum(ends) / 2, sum(ends) / 2
        queue = [(-strip.gain(*ends), *ends)]
        for _ in range(BOXES):
            bound, low, high = queue[0]
            middle = (low + high) / 2
            # nearly what the one in the middle has, or as small as boxes are made
            if high - low <= FINEST * self.radius or -bound <= CLOSE * strip.gain(middle, middle):
                break
            heapq.heappop(queue)
            for a, b in ((low, middle), (middle, high)):
                heapq.heappush(queue, (-min(strip.gain(a, b), -bound), a, b))
        return -queue[0][0]

    def _corners(self, far: list[tuple[int, int]]) -> float:
        """Of those far out along both axes."""
        if any(self.statics(i) for i in range(2)):
            return 1.0
        leans = [max(self.lean(i, self.near[i][s > 0], s) for j, s in far if j == i) for i in range(2)]
        (first, a), (second, b) = (self.flat(i, leans[i]) for i in range(2))
        law, k, placed = Product((first, second)), np.array([a, b]), Placed(self.region, np.zeros(2), np.zeros(2))
        odds = max(self.odds(law, placed, k), *(sliced(law, placed, k, i) for i in range(2)))
        return float(lifted(np.asarray(odds), self.jump))


@dataclass(frozen=True, eq=False)
class _Strip:
    """All who are far out along one axis, on one side."""

    of: Remote
    axis: int
    side: int

    @property
    def before(self) -> float:
        """Where the window of the nearest of them begins."""
        return self.of.near[self.axis][self.side > 0] - self.side * self.of.window(self.axis)

    @cached_property
    def window(self) -> tuple[Product, Region, Floats]:
        """The window, what is inside in it, and the rates."""
        of, axis, rates = self.of, self.axis, self.of.rates.copy()
        flat, rates[axis] = of.flat(axis, of.lean(axis, of.near[axis][self.side > 0], self.side))
        return self._with(flat), _without(of.region, axis, static=True, to=4 * of.window(axis)), rates

    @cached_property
    def gone(self) -> Region:
        """What is inside elsewhere."""
        far = 1e9 * (self.of.window(self.axis) + abs(self.before))
        return _without(self.of.region, self.axis, static=False, to=far)

    @cached_property
    def rest(self) -> Product | None:
        """Where bands that do not move are, if there are some."""
        if not (statics := self.of.statics(self.axis)):
            return None
        row, wide = self.of.law.rows[self.axis], self.of.window(self.axis)
        low, high = sorted([self.before, min(statics) - wide if self.side > 0 else max(statics) + wide])
        return self._with(Truncated(row.prior, max(low, row.support[0]), min(high, row.support[1])))

    def _with(self, prior: Uniform | Truncated) -> Product:
        both = list(self.of.law.prior)
        both[self.axis] = prior
        return Product((both[0], both[1]))

    def gain(self, first: float, last: float) -> float:
        """Of those between two places along the other axis."""
        at, slack = np.zeros(2), np.zeros(2)
        at[1 - self.axis], slack[1 - self.axis] = (first + last) / 2, (last - first) / 2
        law, region, rates = self.window
        here, elsewhere = Placed(region, at, slack), Placed(self.gone, at, slack)
        odds = max(self.of.odds(law, here, rates), sliced(law, here, rates, self.axis))
        if self.rest is not None:
            odds = max(odds, self.of.odds(self.rest, elsewhere, self.of.rates))
        row, (low, high) = self.of.law.rows[self.axis], self.of.law.support[self.axis]
        beyond = row.mass(self.before, high)[1] if self.side > 0 else row.mass(low, self.before)[1]
        least = max(surely(self.of.law, elsewhere) - beyond, 0.0)
        return max(float(lifted(np.asarray(odds), self.of.jump)) - least, 0.0)


def _without(region: Region, axis: int, *, static: bool, to: float) -> Region:
    """The region where bands of an axis that do not move (`static`) are never met, or all else that is about it."""
    parts = list[Band | Round]()
    for part in region.parts:
        if isinstance(part, Band):
            away = part.axis == axis and (part.radius is None) == static
            parts.append(replace(part, radius=None, low=to, high=2 * to) if away else part)
        else:
            parts.append(part if static else Band(axis, None, to, 2 * to))
    return Region(region.of, tuple(parts))
