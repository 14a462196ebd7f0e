"""The most exposed victim of a goal on a grid: boxes of victims, those with the largest bounds first.

Three bounds for a box. *Screened:* what the largest likelihoods could add to anybody's goal, ∫ (e^J·f⁺ − 1)⁺ dπ over
all that is inside for somebody. *Enclosed:* that of a goal that encloses all of theirs. *Corners:* with f a likelihood
of prior mean 1, a victim gains φ(v) = ∫ (f − 1) dπ over his goal. Along one axis, from one end of the box to the other,
w apart, φ is above the straight line between its values at the ends by at most w/4 times what its derivative is on
average more before than after. The derivative is a sum of ±(f − 1)p over the ends of the goal that move, for every
place on the other axes. f changes by at most e^{kw} on the way; where p is between q and P, the difference is at most
q·(e^{kw} − 1)/2·f⁺ + (P − q)·o with o = max(f⁺ − 1, 1 − f⁻, (e^{kw} − 1)f⁺); and P·o for an end that is there on a part
of the way only. Axis after axis nobody gains more than the corners do and these sums.

A box whose bound is too large is halved. The largest bound that is left is reported, whenever the search ends.
"""

import heapq
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.figures import lifted, odds_of
from nowiser.guess.joint.carried import QUICK
from nowiser.guess.joint.cells import enclosing
from nowiser.guess.joint.grid import Box, Grid
from nowiser.guess.joint.grids import Asked
from nowiser.guess.joint.terms import Shares, guesses_about, limits, parts_of, radii_of
from nowiser.model.goal import Exactly, On, Within
from nowiser.model.prior import MultivariateNormal
from nowiser.model.priors.base import Floats

GAP = 0.03  # how far the bound for everybody may stay above that of one victim
WORK, BOXES = 3.2e6, 4_000  # cells for which plans are made (those of maps count four times), and boxes
LINES = 24  # borders of first boxes along an axis, at most
LOCAL = 2.0  # the widest box that gets a grid of its own, in radii
LARGE = 1.0  # the widest box whose corners are looked at
FINER = 4  # parts of a box in which corners are on lines of its grid
SLIP = 1e-9
SPARE = 1e-8


def worst_on_cells(asked: Asked) -> tuple[dict[str, Any], float]:
    """The most exposed victim found, and a bound on everybody's gain."""
    search = _Search(asked)
    while search.open():
        search.step()
    return search.found()


@dataclass(frozen=True, eq=False)
class _Local:
    """A grid around a box, and gains (without jump) of victims on it."""

    grid: Grid
    wide: dict[str, float]
    gains: dict[tuple[Any, ...], float] = field(default_factory=dict)
    heights: dict[str, Floats] = field(default_factory=dict)

    @cached_property
    def up(self) -> Shares:
        (low, high), jump, masses = self.grid.limits, min(self.grid.jump, 600.0), self.grid.masses
        with np.errstate(over="ignore", invalid="ignore"):
            up = np.nan_to_num(masses * np.maximum(math.exp(jump) * high - 1, 0.0), nan=0.0, posinf=np.inf)
        return up, masses * np.maximum(1 - math.exp(-jump) * low, 0.0)


class _Search:
    def __init__(self, asked: Asked) -> None:
        self.asked, self.radii, self.count = asked, radii_of(asked.goal), itertools.count()
        self.parts = parts_of(asked.goal)
        self.moving = [n for n in asked.names if n in self.radii and (asked.points(n) is None or self._on_disc(n))]
        self.work, self.settled, self.best, self.who = 0, 0.0, -1.0, dict[str, Any]()
        first = list(self._first())
        whole = {n: (min(b[n][0] for b in first), max(b[n][1] for b in first)) for n in self.moving}
        local = self._local(whole | {n: first[0][n] for n in first[0] if n not in whole})
        self.queue = [(-self._screened(box, local), next(self.count), box, local) for box in first]
        heapq.heapify(self.queue)

    def _on_disc(self, name: str) -> bool:
        return any(name in p.attributes and len(p.attributes) > 1 for p in self.parts)

    def _first(self) -> Iterator[Box]:
        choices: list[list[tuple[Any, Any]]] = []
        for name in self.asked.names:
            axis, own = self.asked.points(name), [p.goal for p in self.parts if p.attributes == (name,)]
            exact = any(isinstance(g, Exactly) for g in own)
            if name in self.moving:
                choices.append(self._sides(name))
            elif axis is None:
                if exact and not self.asked.singles(name):
                    raise Misconfigured(
                        f"nobody can be guessed exactly on a continuous scale ({name}); ask for `within`"
                    )
                middle = sum(self.asked.ends(name)) / 2
                choices.append([(x, x) for x in ([middle, *self.asked.singles(name)] if exact else [middle])])
            else:
                codes = guesses_about(axis.low, own).tolist()
                values = codes if axis.labels is None else [axis.labels[int(code)] for code in codes]
                choices.append([(x, x) for x in values])
        for each in itertools.product(*choices):
            yield dict(zip(self.asked.names, each, strict=True))

    def _sides(self, name: str) -> list[tuple[float, float]]:
        """Stretches of victims to begin with: up to where an end of a band meets an edge of the prior or another."""
        asked, axis = self.asked, self.asked.points(name)
        low, high = asked.ends(name) if axis is None else (float(axis.low[0]), float(axis.high[-1]))
        if axis is None:  # also from beside everybody a wide goal may be guessed
            first, last, most = *asked.possible(name), asked.widest(name)
            low, high = max(low - most, first), min(high + most, last)
        if isinstance(asked.prior, MultivariateNormal):
            i = asked.prior.names.index(name)
            mean, spread = float(asked.prior.mean[i]), math.sqrt(float(asked.prior.covariance[i, i]))
            far = 7 * spread + asked.widest(name)
            # whoever is mirrored at the mean gains the same, where all that is asked moves with the victim
            mirrored = name == self.moving[0] and all(isinstance(p.goal, Within) for p in self.parts)
            low, high = mean if mirrored else max(low, mean - far), min(high, mean + far)
        single = asked.singles(name) if axis is None else []
        radii = {p.goal.radius for p in self.parts if isinstance(p.goal, Within) and p.attributes == (name,)}
        for known in ([*asked.edges(name), *asked.fixed(name)], [*single, *asked.fixed(name)], []):
            meets = {float(e + s * r) for e in known for r in radii for s in (-1, 1)} | set(single)
            ends = sorted({low, high, *(x for x in meets if low < x < high)})
            if len(ends) <= LINES or not known:
                break
        if not single:
            return list(itertools.pairwise(ends)) if low < high else [(low, high)]
        room = 1e-12 * (high - low)  # next to single values goals change at once: those at them are by themselves
        return [(a + room, b - room) for a, b in itertools.pairwise(ends) if b - a > 2 * room] + [(x, x) for x in ends]

    def _local(self, box: Box) -> _Local:
        return _Local(self.asked.grid(box, many=True), {n: box[n][1] - box[n][0] for n in self.moving})

    # --- bounds -----------------------------------------------------------------------------------------------------

    def _screened(self, box: Box, local: _Local) -> float:
        least, most = local.grid.shares(self.asked.goal, box)
        up, down = local.up
        found = min(float(up[most > 0].sum()), float(down[least < 1].sum())) * (1 + SPARE) + local.grid.lost(
            self.asked.goal
        )
        return min(found, 1.0)

    def look(self, box: Box, local: _Local) -> float:
        """The gain of the goal that encloses those of a box (of one victim: his own), without the jump of cells."""
        key = tuple(box.items())
        if key not in local.gains:
            grid = local.grid
            self.work += grid.masses.size * (4 if grid.rates.on_map else 1)
            least, most = grid.shares(self.asked.goal, box)
            odds, heights = grid.odds(most, QUICK, local.heights.get("last"))
            local.heights["last"] = heights
            low, high = grid.weigh(least, most)
            share = odds / (1 + odds) if math.isfinite(odds) else 1.0
            share = share + (1 - share) * grid.lost(self.asked.goal)
            local.gains[key] = enclosing(share, high, low, grid.extent(most) - grid.jump)
            if all(a == b for a, b in box.values()):
                gain = self._lifted(local.gains[key], low, high, grid)
                if gain > self.best:
                    self.best, self.who = gain, {n: a for n, (a, _) in box.items()}
        return local.gains[key]

    def _lifted(self, gain: float, low: float, high: float, grid: Grid) -> float:
        """With the jump: whatever the prior probability of the goal is between these."""
        if not grid.jump:
            return min(gain, 1.0)
        best = 1 / (1 + math.exp(min(grid.jump / 2, 300.0))) - gain
        tries = [low, high, *([best] if low <= best <= high else [])]
        found = [float(lifted(odds_of(min(x + gain, 1 - 1e-16)), grid.jump)) - x for x in tries]
        return min(max(found) + 1e-12, 1.0)

    def _bent(self, box: Box, local: _Local) -> dict[str, float]:
        """How far those inside a box may be above its corners, for each axis that moves."""
        grid, wide = local.grid, {n: box[n][1] - box[n][0] for n in self.moving}
        met, top, zero = {p: grid.met(p, box) for p in self.parts}, grid.limits[1], np.zeros(grid.masses.shape)
        found = dict.fromkeys(self.moving, 0.0)
        for part in self.parts:
            names = [n for n in part.attributes if wide.get(n)]
            if not isinstance(part.goal, Within) or not names:
                continue
            none, all_ = (limits(self.asked.goal, ({**met, part: (v, v)}).__getitem__) for v in (zero, zero + 1))
            live = ~((none[0] == none[1]) & (all_[0] == all_[1]) & (none[0] == all_[0]))
            for name in names:
                odd = np.zeros(grid.masses.shape, bool)
                for other in self.parts:
                    if other != part and name in other.attributes:
                        odd = odd | (met[other][1] > met[other][0])
                for way in self._ways(part, name, box, grid):
                    found[name] += _added(grid, name, wide[name], way, (top, live, odd)) * wide[name] / 4
        return found

    def _ways(self, part: On, name: str, box: Box, grid: Grid) -> list[Shares]:
        """Between which places on an axis the lower and the upper end of a part move; not at all beside a disc."""
        assert isinstance(part.goal, Within)
        (low, high), r = box[name], part.goal.radius
        others = [i for i, a in enumerate(grid.axes) if a.name in part.attributes and a.name != name]
        if not others:
            return [(np.array(low - r), np.array(high - r)), (np.array(low + r), np.array(high + r))]
        near, far = grid.squares(others, box)
        most, least = np.sqrt(np.maximum(r * r - near, 0.0)), np.sqrt(np.maximum(r * r - far, 0.0))
        gone = np.where(near <= r * r * (1 + 1e-9), 0.0, np.inf)
        return [(low - most + gone, high - least + gone), (low + least + gone, high + most + gone)]

    # --- the search -------------------------------------------------------------------------------------------------

    def _target(self) -> float:
        return self.best * (1 + GAP) + 1e-9 if self.best >= 0 else 0.0

    def open(self) -> bool:
        spent = self.work >= WORK or next(self.count) >= BOXES
        return not spent and bool(self.queue) and -self.queue[0][0] > self._target()

    def step(self) -> None:
        """Look at the box with the largest bound."""
        top, _, box, local = heapq.heappop(self.queue)
        wide = {n: (box[n][1] - box[n][0]) / self.radii[n] for n in self.moving}
        widest = max(wide.values(), default=0.0)
        coarse = any(w * self.radii[n] < local.wide[n] / FINER * (1 - SLIP) for n, w in wide.items())
        if widest <= LOCAL and coarse and widest:
            local = self._local(box)
        bound, each = (-top, wide) if widest > LARGE else self._small(box, local, -top)
        if bound <= self._target() or not widest:
            self.settled = max(self.settled, bound)
            return
        axis = max(wide, key=lambda n: each[n] if wide[n] else -1.0)
        middle = box[axis][0] / 2 + box[axis][1] / 2
        for side in ((box[axis][0], middle), (middle, box[axis][1])):
            part = box | {axis: side}
            heapq.heappush(self.queue, (-min(bound, self._screened(part, local)), next(self.count), part, local))

    def _small(self, box: Box, local: _Local, bound: float) -> tuple[float, dict[str, float]]:
        """A bound for a small box; and how much of what is added is due to each axis."""
        grid, wide = local.grid, {n: (box[n][1] - box[n][0]) / self.radii[n] for n in self.moving}
        low, high = grid.weigh(*grid.shares(self.asked.goal, box))
        more = self._bent(box, local) if any(wide.values()) else {}
        total = sum(more.values())
        if total < min(bound, high - low):
            sides = [sorted(set(box[n])) for n in self.moving]
            corners = [
                box | {n: (x, x) for n, x in zip(self.moving, c, strict=True)} for c in itertools.product(*sides)
            ]
            gain = max(self.look(corner, local) for corner in corners) + total
        else:
            self.look(box | {n: (box[n][0] / 2 + box[n][1] / 2,) * 2 for n in self.moving}, local)
            gain = self.look(box, local)
        found = max(self._lifted(gain * (1 + SPARE) + grid.lost(self.asked.goal), low, high, grid), self.best)
        return min(bound, found), more if 0 < total < math.inf else wide

    def found(self) -> tuple[dict[str, Any], float]:
        if self.best < 0:
            _, _, box, local = (
                self.queue[0] if self.queue else (0, 0, next(self._first()), self._local(next(self._first())))
            )
            self.look({n: (a, a) if a == b else (a / 2 + b / 2,) * 2 for n, (a, b) in box.items()}, local)
        left = -self.queue[0][0] if self.queue else 0.0
        # a named victim's grid is another: he is not to seem more exposed than everybody
        return self.who, min(max(left, self.settled, self.best * (1 + GAP / 2), 0.0), 1.0)


def _added(grid: Grid, name: str, wide: float, way: Shares, where: tuple[Floats, Any, Any]) -> float:
    """What one end that moves through these cells adds, at all places on the other axes.

    where: the largest likelihood, cells that the end matters in, and those where it is there on a part of its way.
    """
    i = next(i for i, a in enumerate(grid.axes) if a.name == name)
    axis, k, least, (most, live, odd) = grid.axes[i], grid.rates.along[i], grid.limits[0], where
    left, right, slip = grid.on(i, axis.low), grid.on(i, axis.high), SLIP * wide
    on = np.broadcast_to((right > way[0] + slip) & (left < way[1] - slip), grid.masses.shape)
    single = np.broadcast_to((left == right) & (left >= way[0] - slip) & (left <= way[1] + slip), grid.masses.shape)
    some = on & live
    if (single & live & (grid.masses > 0)).any():
        return math.inf
    if not some.any():
        return 0.0
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        sizes = grid.on(i, axis.wide)
        u = np.minimum(grid.slopes[i] * sizes, 700.0)
        mean = np.where(grid.masses > 0, grid.masses / sizes, 0.0) * (1 + SPARE)
        thick = np.where(some, np.where(u > 0, mean * u / -np.expm1(-u), mean), 0.0).max(axis=i)
        thin = np.where(on, np.where(u > 0, mean * u / np.expm1(u), mean), np.inf).min(axis=i) * (1 - 2 * SPARE)
        inner = (way[0] >= axis.low[0] - slip) & (way[1] <= axis.high[-1] + slip)  # else a part of the way is empty
        inner = np.broadcast_to(inner, [1 if j == i else n for j, n in enumerate(grid.masses.shape)])
        thin = np.where(np.take(inner, 0, axis=i) & np.isfinite(thin) & ~(on & (odd | ~live)).any(axis=i), thin, 0.0)
        top, low = np.where(some, most, 0.0).max(axis=i), np.where(some, least, np.inf).min(axis=i)
        rises = math.expm1(min(k * wide, 700.0))
        jumps = np.maximum(np.maximum(top - 1, 1 - np.minimum(low, 1.0)), rises * top)
        each = thin * rises * top / 2 + (thick - thin) * jumps
        if grid.smooth:
            off, bend = np.maximum(top - 1, 1.0), np.where(some, grid.slopes[i], 0.0).max(axis=i)
            calm = thick * (rises * top + np.expm1(np.minimum(bend * wide, 700.0)) * off) / 2
            each = np.where(~(on & (odd | ~live)).any(axis=i), np.minimum(each, calm), each)
        return float(np.nan_to_num(np.where(thick > 0, each, 0.0), nan=np.inf, posinf=np.inf).sum())
