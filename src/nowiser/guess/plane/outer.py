"""Where a prior is cut into pieces, and what a region that goes on and on has beyond them.

*Light tails.* What lies beyond a place X of an attribute counts, seen from a point z, at most
∫_{x>X} e^{k(x−z)} dπ = e^{k(X−z)}·U(X) times ∫ e^{k'|y−z'|} dπ of the other attribute: the tail is one more piece.

*Heavy tails*, of which U is infinite. Beyond all bands and discs of an attribute x, which y are inside does not depend
on x. For each such x a likelihood moves by at most e^{k'·distance} along y, so what is inside is at most o times what
is outside, with o the largest odds of these y, one number: summed up over all x beyond X as well. Where all y are
inside, o is infinite, and so is the truth: a likelihood that grows with |x| makes everything but the tail as unlikely
as you please. Both tails of x are taken for all y; those of y only between the tails of x.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nowiser.guess.odds import odds_of
from nowiser.guess.plane.bivariate import Bivariate
from nowiser.guess.plane.product import Product
from nowiser.guess.plane.region import Placed, Round
from nowiser.guess.plane.row import Row
from nowiser.guess.plane.table import Table
from nowiser.guess.ranges import distinct
from nowiser.model.prior import Truncated
from nowiser.model.priors.base import Floats

Law = Bivariate | Table | Product
Ends = tuple[float, float]

TAIL = 9.0  # standard deviations of a normal prior beyond which nothing is counted outside
GONE = 40.0  # nats beyond which nothing is counted outside
BESIDE = 5.0  # nats beside all borders up to which heavy tails are cut into pieces
NOTHING, MUCH = 1e-9, 1e-2  # a tail that counts so little is far enough out; of so much slices are sharper
OUTERMOST = 60.0  # nats
STEPS = 12
MARKS = 96
SPARE = 1 + 1e-9


@dataclass(frozen=True, eq=False)
class Outer:
    """Between which ends a prior is cut into pieces.

    `lifted`: ∫ e^{cost to a point} dπ over all of the region that lies beyond, at some points; None where there is
    nothing. `odds`: the largest odds of what lies farther out and is held slice by slice.
    """

    ends: list[Ends]
    lifted: Callable[[Floats], Floats] | None = None
    odds: float = 0.0

    @property
    def is_endless(self) -> bool:
        return self.lifted is not None or self.odds > 0


def outer_of(law: Law, placed: Placed, rates: Floats, scale: Floats) -> Outer:
    """For the regions of some victims."""
    if isinstance(law, Table):
        return Outer(law.support)
    if isinstance(law, Bivariate):
        return _of_bell(law, placed, rates, scale)
    return _Tails(law, placed, rates, scale).outer()


def sliced(law: Product, placed: Placed, rates: Floats, axis: int) -> float:
    """The largest odds of what is inside beyond all borders of an axis, slice by slice."""
    return _Tails(law, placed, rates, law.spread).slices(law.rows[1 - axis], axis)


def _of_bell(law: Bivariate, placed: Placed, rates: Floats, scale: Floats) -> Outer:
    mean, spread, far = law.prior.mean, law.spread, np.full(2, TAIL)
    if placed.is_endless:
        a = rates * spread
        far = 2 * a + math.sqrt(140 + 4 * float(a @ a))
    ends = []
    for i in range(2):
        first, last = borders_of(placed, i)
        low, high = mean[i] - far[i] * spread[i], mean[i] + far[i] * spread[i]
        ends.append((min(float(low), first - 2 * scale[i]), max(float(high), last + 2 * scale[i])))
    return Outer(ends, (lambda points: law.beyond(rates, points, far)) if placed.is_endless else None)


def borders_of(placed: Placed, axis: int) -> Ends:
    """The first and the last place at which something of a region may end."""
    at, wide = float(placed.at[axis]), float(np.hypot(*placed.slack))
    cuts = [at, *placed.cuts(axis)]
    for part in placed.region.parts:
        if isinstance(part, Round):
            cuts += [at - part.radius - wide, at + part.radius + wide]
    return min(cuts), max(cuts)


class _Tails:
    """What regions have beyond all of their borders, where attributes are independent."""

    def __init__(self, law: Product, placed: Placed, rates: Floats, scale: Floats) -> None:
        self.law, self.placed, self.rates, self.scale = law, placed, rates.tolist(), scale
        self.borders = [borders_of(placed, i) for i in range(2)]

    def outer(self) -> Outer:
        rows, ends = self.law.rows, [self._plain(i) for i in range(2)]
        endless = [i for i in range(2) if not all(map(math.isfinite, rows[i].support)) and self._inside(i, ends).any()]
        if not endless:
            return Outer(ends)
        light, heavy = list[int](), list[int]()
        for i in endless:
            found = self._light(i)
            sliced = self.slices(rows[1 - i], i) if found is None or self._seen(i, found) > MUCH else math.inf
            if found is None or math.isfinite(sliced):
                heavy.append(i)
                ends[i] = self._heavy(i)
            else:
                light.append(i)
                ends[i] = found
        odds = 0.0
        for count, i in enumerate(heavy):
            other = rows[1 - i]
            if count:  # between the tails of the first
                low, high = ends[1 - i]
                other = Row(Truncated(other.prior, low, high))
            odds = max(odds, self.slices(other, i))
        if not light:
            return Outer(ends, None, odds)
        return Outer(ends, lambda points: self._lifted(points, light, heavy, ends), odds)

    def _plain(self, i: int) -> Ends:
        """Ends beyond which nothing is inside, and of which hardly anything outside is noticed."""
        row, (first, last), k = self.law.rows[i], self.borders[i], self.rates[i]
        near = 2 * float(self.scale[i])
        far = max(GONE / k, near) if k else math.inf
        low = max(min(row.reach[0], first - near), first - far)
        high = min(max(row.reach[1], last + near), last + far)
        return max(row.support[0], low), min(row.support[1], high)

    def _inside(self, i: int, ends: list[Ends]) -> Floats:
        """Which cells of the other attribute the region has, beyond all borders of this one (see `_cells`)."""
        beyond = self.borders[i][1] + np.array([1.0, 2.0])
        lines = [beyond, self._cells(1 - i, ends)] if i == 0 else [self._cells(1 - i, ends), beyond]
        return np.asarray(self.placed.touched(lines, 0.0).ravel())

    def _cells(self, i: int, ends: list[Ends]) -> Floats:
        marks = np.concatenate([self.law.marks(i, MARKS), self.placed.cuts(i), ends[i]])
        return distinct(np.clip(marks, *ends[i]))

    def _light(self, i: int) -> Ends | None:
        """How far out tails hardly count; None where they are infinite as near as they are looked at."""
        row, (first, last), k = self.law.rows[i], self.borders[i], self.rates[i]
        middle, found = sum(row.core) / 2, list[float]()
        for side, end, border, core in zip((-1, 1), row.support, (first, last), row.core, strict=True):
            if math.isfinite(end):
                found.append(end)
                continue
            nearest = core + side * row.spread * max(
                math.ceil((side * (border - core) + 2 * float(self.scale[i])) / row.spread), 0
            )
            farthest = 4 * abs(row.reach[side > 0] - nearest)
            farthest = min(farthest, max(OUTERMOST / k, row.spread)) if k else farthest
            best = math.inf, nearest
            for step in np.linspace(0.0, 1.0, STEPS).tolist():
                x = nearest + side * step * farthest
                with np.errstate(over="ignore"):
                    seen = row.lifted(k, x, side) * float(np.exp(k * abs(x - middle)))
                best = min(best, (seen, x))
                if seen <= NOTHING or math.isinf(seen):
                    break
            if math.isinf(best[0]):
                return None
            found.append(best[1])
        return found[0], found[1]

    def _seen(self, i: int, ends: Ends) -> float:
        """How much tails count, from the middle."""
        return float(self._tails(i, ends, np.array([sum(self.law.rows[i].core) / 2]))[0])

    def _tails(self, i: int, ends: Ends, at: Floats, both: tuple[bool, bool] = (True, True)) -> Floats:
        """∫ e^{k|x−at|} dπ over the tails, or one of them."""
        row, k, total = self.law.rows[i], self.rates[i], np.zeros(at.size)
        for side, x, end, counts in zip((-1, 1), ends, row.support, both, strict=True):
            if math.isinf(end) and counts:
                with np.errstate(over="ignore", invalid="ignore"):
                    more = row.lifted(k, x, side) * np.exp(k * np.abs(x - at))
                total = total + np.nan_to_num(more, nan=0.0, posinf=np.inf)
        return total

    def _heavy(self, i: int) -> Ends:
        row, (first, last), k = self.law.rows[i], self.borders[i], self.rates[i]
        far = max(BESIDE / k if k else 0.0, 2 * float(self.scale[i]))
        return max(row.support[0], first - far), min(row.support[1], last + far)

    def slices(self, row: Row, i: int) -> float:
        """The largest odds of what is inside of the other attribute, beyond all borders of this one.

        Of several stretches: those of the interval around them, or of all but the widest gap, whichever are smaller.
        """
        low, high = row.support
        cuts = distinct(np.clip(np.array(self.placed.cuts(1 - i)), low, high))
        lines = [-math.inf, *cuts[(cuts > low) & (cuts < high)].tolist(), math.inf]
        finite = np.array([x for x in lines if math.isfinite(x)])
        outer = np.array([finite[0] - 1, *finite, finite[-1] + 1]) if finite.size else np.array([-1.0, 1.0])
        beyond = self.borders[i][1] + np.array([1.0, 2.0])
        inside = self.placed.touched([beyond, outer] if i == 0 else [outer, beyond], 0.0).ravel()
        if not inside.any():
            return 0.0
        if inside.all():
            return math.inf
        k, stretches = self.rates[1 - i], [max(low, lines[0]), *lines[1:-1], min(high, lines[-1])]
        some, none = np.flatnonzero(inside), _runs(~inside)
        hull = stretches[some[0]], stretches[some[-1] + 1]
        found = _largest(row, k, *hull)
        for first, last in none:
            found = min(found, _all_but(row, k, stretches[first], stretches[last + 1]))
        return found * SPARE

    def _lifted(self, points: Floats, light: list[int], heavy: list[int], ends: list[Ends]) -> Floats:
        total = np.zeros(len(points))
        for i in light:
            j, inside = 1 - i, self._inside(i, ends)
            cells, z, k = self._cells(j, ends), points[:, j, None], self.rates[j]
            far = np.maximum(np.abs(cells[:-1] - z), np.abs(cells[1:] - z))
            with np.errstate(over="ignore", invalid="ignore"):
                along = np.exp(k * far) @ (self.law.rows[j].masses(cells)[1] * inside)
                if j not in heavy:
                    along = along + self._tails(j, ends[j], points[:, j], (bool(inside[0]), bool(inside[-1])))
                total = total + self._tails(i, ends[i], points[:, i]) * along
        return np.nan_to_num(total * SPARE, nan=np.inf, posinf=np.inf)


def _runs(some: Floats) -> list[tuple[int, int]]:
    """First and last of neighbours that are so."""
    found, at = list[tuple[int, int]](), 0
    for so, group in itertools.groupby(some.tolist()):
        count = len(list(group))
        if so:
            found.append((at, at + count - 1))
        at += count
    return found


def _largest(row: Row, k: float, low: float, high: float) -> float:
    """The largest odds of an interval."""
    if not k:
        return float(odds_of(min(row.mass(low, high)[1], 1.0)))
    return float(row.line.odds(k, np.array([low]), np.array([high]))[0])


def _all_but(row: Row, k: float, low: float, high: float) -> float:
    """The largest odds of everything but an interval."""
    least = (
        float(row.line.odds(-k, np.array([low]), np.array([high]))[0]) if k else float(odds_of(row.mass(low, high)[0]))
    )
    return 1 / least if least > 0 else math.inf
