"""Goals on three continuous attributes that depend on each other, where each has its own cost: one victim, or the
worst.

One victim's ceiling is that of `patches`, or what each attribute tells about itself (`alone`) where that is less. The
most exposed victim is looked for as on a plane (`exposed`): boxes of victims in order of their bounds, which are, the
quickest first, what the largest likelihoods could add (`drifting.screened`), and the gains of a box's corners with
what may be added between them (`drifting.gain`). A box whose bound is too large is halved across the axis to which
most of that is due. The largest bound that is left is reported: an upper bound whenever the search ends. Of a normal
prior `chain` has another, which is quicker.
"""

import heapq
import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from nowiser.guess.odds import lifted, odds_of
from nowiser.guess.plane.alone import Alone
from nowiser.guess.plane.exposed import FINEST, Exposed
from nowiser.guess.plane.maps import enclosing
from nowiser.guess.plane.region import Placed, Region
from nowiser.guess.plane.sharing import Effort
from nowiser.guess.ranges import distinct
from nowiser.guess.solid.chain import Chain, about_by_chain, chains, worst_by_chain
from nowiser.guess.solid.drifting import COARSE, Box, Corner, Drifting
from nowiser.guess.solid.patches import Faces, Fine, Grid, Law, bounded, grid_of, met
from nowiser.guess.solid.trivariate import Trivariate, law_of
from nowiser.model.prior import JointHistogram, MultivariateNormal
from nowiser.model.priors.base import Floats

ROUGH = Fine(4, 1.7, 3.0, 5_000, 300), Effort(100, (1.0, 0.1, 0.02), 8)
QUICK = COARSE, Effort(60, (1.0, 0.1, 0.02), 8)
SHARP = Fine(6, 1.5, 3.0, 9_000, 600), Effort(216, (1.0, 0.3, 0.1, 0.03, 0.01), 12)
GAP = 0.4  # how far the bound for everybody may stay above that of one victim
LARGE = 0.5  # the widest box whose corners are looked at, in scales of the goal
CORNERS = 1_000  # victims that are looked at for one question, at most
BOXES = 60_000


@dataclass(frozen=True, eq=False)
class Solids:
    """A region for each victim. Jumps of all attributes count together."""

    law: Law
    region: Region
    rates: Floats
    jump: float

    @cached_property
    def alone(self) -> Alone:
        return Alone(self.law.prior, self.rates, self.jump)

    @cached_property
    def drifting(self) -> Drifting:
        return Drifting(self.law, self.region, self.rates, self.jump)

    def corner(self, place: Floats) -> Corner:
        """One victim, as a corner of boxes."""
        fine, effort = QUICK
        grid = grid_of(self.law, self.region, place, self.rates, fine)
        found = bounded(self.law, grid, self.rates, fine, effort)
        inside = max(_after(found.odds, 0.0), 0.0)
        if found.faces is None:  # all inside, or nothing
            faces = Faces(
                np.zeros(1, np.intp), np.zeros((1, 3), np.intp), place[None], np.zeros((1, 3)), np.zeros((1, 3))
            )
            return Corner(place, faces, np.ones(1), np.zeros(1), grid.least, inside, np.ones(1))
        return Corner(place, found.faces, found.up, found.down, grid.least, inside, found.heights)

    def own(self, corner: Corner) -> float:
        """A bound on the gain of one victim."""
        if not self.rates.any() and not self.jump:
            return 0.0
        alone = self.alone.after(Placed(self.region, corner.at, np.zeros(3)))
        return max(min(_after(float(odds_of(np.asarray(corner.inside))), self.jump), alone) - corner.least, 0.0)

    def exposed(self, place: Floats, *, sharp: bool) -> Exposed:
        """One victim: as sharply as can be, or in a second."""
        fine, effort = SHARP if sharp else ROUGH
        grid = grid_of(self.law, self.region, place, self.rates, fine)
        if sharp and grid.endless:  # so many cells that it would take minutes
            fine, effort = ROUGH
            grid = grid_of(self.law, self.region, place, self.rates, fine)
        found = bounded(self.law, grid, self.rates, fine, effort)
        gain = self._gain(found.odds, grid, place)
        return Exposed(place, grid.least, gain, gain, found.peak, found.sign)

    def smallest(self, place: Floats) -> float:
        """The smallest posterior of one victim, from below: 1 minus the ceiling of everything else."""
        if not self.rates.any() and not self.jump:
            return 1.0  # what he has before
        other, (fine, effort) = self.region.denied(), ROUGH
        found = bounded(self.law, grid_of(self.law, other, place, self.rates, fine), self.rates, fine, effort)
        return 1 - min(_after(found.odds, self.jump), self.alone.after(Placed(other, place, np.zeros(3))))

    def _gain(self, odds: float, grid: Grid, place: Floats) -> float:
        if not self.rates.any() and not self.jump:
            return 0.0
        extent = [math.inf] * 3 if grid.endless else [float(b[-1] - b[0]) for b in grid.borders]
        reach = sum(k * x for k, x in zip(self.rates.tolist(), extent, strict=True) if k) + self.jump
        gain = enclosing(_after(odds, self.jump), grid.most, grid.least, reach)
        alone = self.alone.after(Placed(self.region, place, np.zeros(3)))
        return max(min(gain, alone - grid.least), 0.0)

    @cached_property
    def scales(self) -> Floats:
        """How far one must go, along each axis, for a region to look different."""
        own = [[b.scale for b in self.region.bands if b.axis == i] for i in range(3)]
        return np.array([min([*s, 2 * float(w)]) for s, w in zip(own, self.law.spread, strict=True)])

    @cached_property
    def lines(self) -> list[Floats]:
        """The borders of the boxes of victims to start from: beyond which a border meets an edge of the prior or the
        end of another band. One line where it does not matter.
        """
        return [self._lines(i) for i in range(3)]

    def _lines(self, axis: int) -> Floats:
        low, high = self.law.victims(axis, self.region.radius(axis))
        if not self.region.moves(axis):
            return np.array([(low + high) / 2])
        bands = [b for b in self.region.bands if b.axis == axis]
        fixed = [e for b in bands if b.radius is None for e in (b.low, b.high)]
        radii = {b.radius for b in bands if b.radius is not None}
        if isinstance(self.law, Trivariate) and axis == self.mirror:
            low = float(self.law.prior.mean[axis])
        meets = np.array([e + s * r for e in (*self.law.edges[axis].tolist(), *fixed) for r in radii for s in (-1, 1)])
        return distinct(np.concatenate([[low, high], meets[(meets > low) & (meets < high)]]))

    @cached_property
    def mirror(self) -> int | None:
        """The axis on one side of which victims are looked for: whoever is mirrored gains the same, where all bands
        move.
        """
        if not isinstance(self.law, Trivariate) or any(b.radius is None for b in self.region.bands):
            return None
        return next(i for i in range(3) if self.region.moves(i))

    def box(self, low: Floats, high: Floats) -> Box:
        """The victims between two corners."""
        at, slack, borders = (low + high) / 2, (high - low) / 2, []
        for i in range(3):
            bands = [b for b in self.region.bands if b.axis == i]
            cuts = [e for b in bands for s in (-slack[i], slack[i]) for e in b.ends(float(at[i]), float(s))]
            a, b = self.law.ends(i, cuts or [float(at[i])], self.rates, endless=False)
            borders.append(distinct(np.array([a, b, *[c for c in (*cuts, *self.law.edges[i].tolist()) if a < c < b]])))
        least = self.law.tables(borders, np.zeros(3)).least[0, 0, 0]
        return Box(low, high, float(least[met(self.region, at, borders, slack, above=False)].sum()))

    def enclosed(self, box: Box) -> float:
        """A bound on the gain of everybody in a box, from what each attribute tells about itself and the largest
        likelihoods.
        """
        alone = self.alone.after(Placed(self.region, box.at, box.slack)) - box.least
        return max(min(self.drifting.screened(box), alone), 0.0)


def _after(odds: float, jump: float) -> float:
    return float(lifted(np.asarray(odds), jump))


def solids_of(prior: MultivariateNormal | JointHistogram, region: Region, rates: Floats, jump: float) -> Solids | None:
    """None where the prior is too narrow, the costs are too steep, or a part is a disc."""
    law = law_of(prior)
    return Solids(law, region, rates, jump) if not region.discs and law.is_known(rates) else None


def worst_solid(solids: Solids, limit: float | None = None, most: float = 1.0) -> Exposed:
    """The most exposed victim found, and a bound on everybody's gain, of which `most` is known already.

    With a limit, `gain` is at most the limit only if nobody gains more than the limit.
    """
    if (links := _links(solids)) is not None:
        gain, place = about_by_chain(links)
        if gain < most:  # else the search would find nothing that is not known
            gain, place = worst_by_chain(links, limit)
        his = solids.exposed(place, sharp=limit is None)
        gain = min(gain, most)
        return replace(his, own=min(his.own, gain), gain=gain)
    search = _Search(solids, limit)
    while search.open() and len(search.known) < CORNERS and search.number < BOXES:
        search.step()
    found = search.found(sharp=limit is None)
    if limit is None:
        return found
    settled = not search.open() and found.own <= limit
    return replace(found, gain=found.own if settled else max(found.gain, limit * (1 + 1e-9)))


def about_worst(solids: Solids) -> tuple[float, float] | None:
    """Before and after that `worst_solid` would probably report; None where that takes as long."""
    if (links := _links(solids)) is None:
        return None
    gain, place = about_by_chain(links)
    before = solids.box(place, place).least
    return before, min(1.0, before + gain)


def _links(solids: Solids) -> Chain | None:
    """Of a normal prior, where the goal is one condition on each attribute."""
    if not isinstance(solids.law, Trivariate):
        return None
    found = chains(solids.law.prior, solids.region, solids.rates, solids.jump)
    return found[0] if found else None


class _Search:
    """Boxes of victims in order of their bounds."""

    def __init__(self, solids: Solids, limit: float | None) -> None:
        self.solids, self.limit = solids, limit
        self.queue: list[tuple[float, int, Box]] = []
        self.number = 0
        self.known = dict[tuple[float, ...], Corner]()
        self.best: tuple[float, Corner] | None = None
        sides = [list(itertools.pairwise(x.tolist())) if x.size > 1 else [(x[0], x[0])] for x in solids.lines]
        for box in itertools.product(*sides):
            first = solids.box(*np.array(box).T)
            self._add(solids.enclosed(first), first)
        self.look(self._middle())

    def _middle(self) -> Floats:
        """Somebody whose gain is likely to be large: in the middle of the prior."""
        law = self.solids.law
        if isinstance(law, Trivariate):
            return np.array([float(m) for m in law.prior.mean])
        shares = [law.prior.masses.sum(axis=tuple(j for j in range(3) if j != i)) for i in range(3)]
        return np.array([float(((e[1:] + e[:-1]) / 2) @ s / s.sum()) for e, s in zip(law.edges, shares, strict=True)])

    def open(self) -> bool:
        """Whether somebody might gain noticeably more than the most exposed victim so far, or than the limit."""
        beyond = self.limit is not None and self.best is not None and self.best[0] > self.limit
        return not beyond and -self.queue[0][0] > self._target()

    def step(self) -> None:
        """Look at the box with the largest bound."""
        top, _, box = heapq.heappop(self.queue)
        bound, wide = -top, (box.high - box.low) / self.solids.scales
        each = wide
        if wide.max() <= LARGE:
            sides = [sorted({float(a), float(b)}) for a, b in zip(box.low, box.high, strict=True)]
            found, each = self.solids.drifting.gain(box, [self.look(np.array(c)) for c in itertools.product(*sides)])
            bound = min(bound, found)
            if bound <= self._target():
                self._add(bound, box)
                return
        axis = int(np.argmax(each if np.isfinite(each).all() and each.any() else wide))
        middle = (box.low[axis] + box.high[axis]) / 2
        for side in range(2):
            a, b = box.low.copy(), box.high.copy()
            (b if side == 0 else a)[axis] = middle
            part = self.solids.box(a, b)
            self._add(min(bound, self.solids.enclosed(part)), part)

    def found(self, *, sharp: bool) -> Exposed:
        """The most exposed victim, and the bound."""
        assert self.best is not None
        gain, corner = self.best
        his = (
            self.solids.exposed(corner.at, sharp=True)
            if sharp
            else Exposed(corner.at, corner.least, gain, gain, corner.at)
        )
        return replace(his, gain=min(max(-self.queue[0][0], his.own), 1.0))

    def _target(self) -> float:
        if self.limit is not None:
            return self.limit
        return self.best[0] * (1 + GAP) + FINEST if self.best else 0.0

    def _add(self, bound: float, box: Box) -> None:
        self.number += 1
        heapq.heappush(self.queue, (-bound, self.number, box))

    def look(self, place: Floats) -> Corner:
        """One victim, looked at once."""
        key = tuple(place.tolist())
        if key not in self.known:
            self.known[key] = corner = self.solids.corner(place)
            gain = self.solids.own(corner)
            if self.best is None or gain > self.best[0]:
                self.best = gain, corner
        return self.known[key]
