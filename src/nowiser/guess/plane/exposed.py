"""The most exposed victim on a plane: branch and bound over boxes of victims.

A `Family` of goals, one for each victim, says how much a single victim gains at most, and bounds the gains of all
victims of a box: through one goal that encloses all of theirs, and as the most of the box's corners and what may be
added between corners.

The box with the largest bound is looked at first, and cut in parts where that does not settle it. The largest bound
that is left is reported: an upper bound whenever the search ends. It ends when that bound is `GAP` above the bound for
the single victim it names, or when the `WORK` is done.
"""

import heapq
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from nowiser.model.priors.base import Floats

WORK = 16_000  # boxes that are looked at for one question, at most
GAP, FINEST = 0.05, 1e-9  # how far the bound may stay above that of one victim
NEAR = 0.1  # likewise, of what is known beforehand: then a search, of minutes, is not worth it
FAR, VAIN = 0.3, 1 / 6  # likewise, where it has not come below that after this share of the work
WORTH = 0.4  # up to which share of the gain what is added to corners is worth looking at them
TRIED, SEEDS = 600, 3  # victims of whom it is asked about how much they gain, and with how many of them it begins
EACH = 10  # what looking at a victim counts, next to looking at a box
Corner = tuple[int, int, int]  # how often the grid was halved, and the steps along both axes


@dataclass(frozen=True, eq=False)
class Exposed:
    """A victim (coordinates of the plane), his prior probability from below, bounds on his own gain and on everybody's
    (his own where nobody else was asked about), and where a cone, or (sign −1) a valley, that nearly attains his peaks.
    """

    at: Floats
    before: float
    own: float
    gain: float
    peak: Floats
    sign: int = 1


@dataclass(frozen=True)
class Seen:
    """A bound on one victim's gain; settled where asking again would not sharpen it."""

    gain: float
    settled: bool


class Family(Protocol):
    """A goal for each victim of a plane. `most`: what nobody's gain is above, known beforehand."""

    most: float

    @property
    def lines(self) -> tuple[Floats, Floats]:
        """The borders of the boxes to start from, along both axes; one line where it does not matter."""
        ...

    def first(self) -> Floats:
        """Bounds for all boxes to start from."""
        ...

    def likely(self, places: Floats) -> Floats:
        """About how much victims at these places gain: to begin with the right ones, nothing is built on it."""
        ...

    def at(self, place: Floats, enough: float, *, rough: bool) -> Seen:
        """The bound for one victim; not settled where it stopped because it is at most `enough`, or is `rough`."""
        ...

    def exposed(self, place: Floats, *, sharp: bool) -> Exposed:
        """One victim: as sharply as a search asks, or as can be."""
        ...

    def box(self, low: Floats, high: Floats) -> Any:
        """The victims of a box."""
        ...

    def more(self, box: Any, known: float, bound: float) -> float:
        """What may be added to the gains of its corners, where somebody gains `known` and nobody more than `bound`."""
        ...

    def enclosed(self, box: Any) -> float:
        """A bound through a goal that encloses all of theirs."""
        ...


def worst(family: Family, work: int = WORK) -> Exposed:
    """The most exposed victim found, and a bound on everybody's gain. `work`: more only sharpens the bound."""
    search, done = _Search(family), 0
    work = 0 if search.is_near else work
    while done < work and search.open():
        done += search.step()
        if done > VAIN * work and search.is_vain:
            break
    return search.found(sharp=True)


def within_limit(family: Family, limit: float, work: int = WORK) -> Exposed:
    """The most exposed victim found; `gain` is at most the limit only if nobody gains more than the limit."""
    search = _Search(family, limit)
    while work > 0 and search.open():
        work -= search.step()
    found = search.found(sharp=False)
    settled = not search.open() and found.own <= limit
    return replace(found, gain=found.own if settled else max(found.gain, limit * (1 + 1e-9)))


def likeliest(family: Family) -> Exposed:
    """Whom a search would begin with; nothing is known about all others."""
    return _Search(family).found(sharp=False)


class _Search:
    """Boxes of victims in order of their bounds. Their corners are points of a grid that can be halved."""

    def __init__(self, family: Family, limit: float | None = None) -> None:
        self.family, self.limit, self.lines = family, limit, family.lines
        along = [(0, 1) if line.size > 1 else (0,) for line in self.lines]
        self.ways = [(a, b) for a in along[0] for b in along[1]]  # to the corners of a box, and to its parts
        bounds = family.first()
        capped = np.minimum(bounds, family.most).ravel().tolist()
        self.queue = [(-c, i, 0, *divmod(i, bounds.shape[1])) for i, c in enumerate(capped)]
        heapq.heapify(self.queue)
        self.number, self.seen = len(self.queue), dict[Corner, Seen]()
        self.best: tuple[float, Corner] | None = None
        self._begin(bounds)

    def _begin(self, bounds: Floats) -> None:
        """Look at some victims that probably gain the most: who gains little is then soon told from them."""
        order = np.argsort(-bounds, axis=None)[:TRIED]
        steps = {(int(i) + a, int(j) + b) for i, j in zip(*np.divmod(order, bounds.shape[1]), strict=True)
                 for a, b in self.ways}  # fmt: skip
        corners: list[Corner] = [(0, i, j) for i, j in sorted(steps)]
        likely = self.family.likely(np.array([self._place(corner) for corner in corners]))
        self.is_near = bool(self.top <= likely.max() * (1 + NEAR))
        for i in np.argsort(-likely, kind="stable")[: 1 if self.is_near else SEEDS].tolist():
            self._gain(corners[i], -1.0)

    @property
    def top(self) -> float:
        """The largest bound that is left."""
        return float(-self.queue[0][0])

    @property
    def is_vain(self) -> bool:
        """Whether it will hardly come far below what was known beforehand."""
        return self.best is not None and self.family.most <= min(self.top, self.best[0] * (1 + FAR))

    def open(self) -> bool:
        """Whether somebody might gain noticeably more than the most exposed victim so far, or than the limit."""
        beyond = self.limit is not None and self.best is not None and self.best[0] > self.limit
        return not beyond and self.top > self._target()

    def step(self) -> int:
        """Look at the box with the largest bound. Says how much work that was."""
        bound, _, level, i, j = heapq.heappop(self.queue)
        box, looked = self.family.box(self._place((level, i, j)), self._place((level, i + 1, j + 1))), len(self.seen)
        known = self.limit if self.limit is not None else self.best[0] if self.best else 0.0
        more = self.family.more(box, known, -bound)
        if more < WORTH * self._target() or self.best is None:
            most = max(self._gain((level, i + a, j + b), self._target() - more) for a, b in self.ways)
            found = max(most + more, known)  # only of those who gain more than is known `more` tells something
        else:
            found = self.family.enclosed(box)
        if found <= self._target():
            self._add(min(found, -bound), level, i, j)
        else:
            for a, b in self.ways:
                self._add(min(found, -bound), level + 1, 2 * i + a, 2 * j + b)
        return 1 + EACH * (len(self.seen) - looked)

    def found(self, *, sharp: bool) -> Exposed:
        """The most exposed victim, and the bound."""
        if self.best is None:
            _, _, level, i, j = self.queue[0]
            self._gain((level, i, j), -1.0)
        assert self.best is not None
        his = self.family.exposed(self._place(self.best[1]), sharp=sharp)
        return replace(his, gain=min(max(self.top, his.own), 1.0))

    def _target(self) -> float:
        if self.limit is not None:
            return self.limit
        return self.best[0] * (1 + GAP) + FINEST if self.best else 0.0

    def _add(self, bound: float, level: int, i: int, j: int) -> None:
        self.number += 1
        heapq.heappush(self.queue, (-bound, self.number, level, i, j))

    def _place(self, corner: Corner) -> Floats:
        level, *steps = corner
        return np.array(
            [
                np.interp(step / 2.0**level, np.arange(line.size), line)
                for step, line in zip(steps, self.lines, strict=True)
            ]
        )

    def _gain(self, corner: Corner, enough: float) -> float:
        """The bound for one victim, no sharper than needed."""
        level, i, j = corner
        while level and not i % 2 and not j % 2:
            level, i, j = level - 1, i // 2, j // 2
        corner = (level, i, j)
        seen = self.seen.get(corner)
        if seen is None:
            seen = self.family.at(self._place(corner), enough, rough=True)
        if seen.gain > enough and not seen.settled:
            seen = self.family.at(self._place(corner), enough, rough=False)
        self.seen[corner] = seen
        if seen.settled and (self.best is None or seen.gain > self.best[0]):
            self.best = seen.gain, corner
        return seen.gain
