"""Priors as a row of cells: atoms (width zero) and intervals of constant density, with prefix sums of e^{±kx}.

One `np.searchsorted` finds the crossing (see `line`) for all victims at once: E⁻/E⁺ at the cell borders falls from
left to
right, and the crossing is where it passes b/a. Prefix sums are taken in extended precision (`np.longdouble`), so that a
million terms cost less than the rounding of the result; its actual precision on this machine enters the error budget.

A distribution that is only known by its distribution function F is cut into fine cells with exact masses. What the
constant density inside a cell gets wrong is bounded, not ignored: on a cell of width w where the density is monotone
between values p and q, no partial mass is off by more than η = |p − q|·w/4, hence (integrating by parts) no partial
integral of e^{kx} by more than η·e^{kx} at the border and η·(variation of e^{kx}) for whole cells to its left. These
errors are summed like masses and pushed to the unfavourable side. Between victims, where only the cells with their
constant densities are followed, the error is bounded for a whole range of victims at once (`Sums.spread`).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from nowiser.guess.density.discrete import Tail
from nowiser.guess.density.line import EPS
from nowiser.guess.ranges import Indices, Largest, Ranges
from nowiser.guess.rounding import above, below
from nowiser.model.priors.base import Floats

if TYPE_CHECKING:
    from nowiser.guess.density.sums import Sums

LONG = np.longdouble
MAX_CELLS = 2_000_000


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells in ascending order; they touch at most at their ends. An atom comes before an interval that starts
    there.
    """

    starts: Floats
    ends: Floats
    masses: Floats
    wobble: Floats  # η per cell, 0 where the density is constant by definition
    first: float = -np.inf  # victims are looked for between these
    last: float = np.inf
    part: Callable[[Floats, Floats], Floats] | None = None  # the exact mass between two points, where it is known
    floor: Floats | None = None  # bounds on the density of each cell, where it is not constant
    roof: Floats | None = None
    lean: Callable[[Floats, Floats], tuple[Floats, Floats]] | None = None  # bounds on the slope of ln density
    tails: tuple[Tail, ...] = ()  # single values that are not listed


class CellLine:
    """A prior in cells. Prefix sums are kept for the last few k."""

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self.low, self.high = float(cells.starts[0]), float(cells.ends[-1])
        self.starts, self.ends = cells.starts, cells.ends
        self.masses = cells.masses
        self.widths = self.ends - self.starts
        self.atoms = self.starts[self.widths == 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            self.density = np.where(self.widths > 0, self.masses / np.where(self.widths > 0, self.widths, 1), 0.0)
        total = np.cumsum(self.masses.astype(LONG))
        self.total = float(total[-1])
        self.below = np.concatenate([np.zeros(1, LONG), total])
        self._sums: dict[float, Sums] = {}
        self._whole: CellLine | None = None  # the same cells with their wobble

    @cached_property
    def plain(self) -> "CellLine":
        """The same cells with a constant density in each: what the search for the worst victim may follow exactly."""
        if not self.cells.wobble.any():
            return self
        flat = replace(self.cells, wobble=np.zeros(self.starts.size), part=None, floor=None, roof=None, lean=None)
        found = CellLine(flat)
        found._whole = self
        return found

    @cached_property
    def wobbles(self) -> Largest:
        """The largest η among neighbouring cells."""
        return Largest(self.cells.wobble)

    def leanings(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Bounds on the slope of ln density over (a, b): flat inside one cell, unknown across borders."""
        if self.cells.lean is not None:
            whole = (a >= self.low) & (b <= self.high)
            low, high = self.cells.lean(a, b)
            return np.where(whole, low, -np.inf), np.where(whole, high, np.inf)
        i = np.clip(np.searchsorted(self.starts, a, "right") - 1, 0, self.starts.size - 1)
        inside = (a >= self.starts[i]) & (b <= self.ends[i])
        return np.where(inside, 0.0, -np.inf), np.where(inside, 0.0, np.inf)

    def landmarks(self) -> Floats:
        first, last = self.victims()
        some = np.linspace(0, first.size - 1, min(first.size, 256)).astype(np.intp)
        return np.concatenate([first[some], last[-1:]])

    def victims(self) -> tuple[Floats, Floats]:
        first, last = self.cells.first, self.cells.last
        if first == -np.inf and last == np.inf:
            return self.starts, self.ends
        some = (self.ends >= first) & (self.starts <= last)
        return np.maximum(self.starts[some], first), np.minimum(self.ends[some], last)

    def wiggle(self) -> float:
        if self.cells.part is not None:
            return 64 * EPS
        return float(2 * self.cells.wobble.max()) / self.total

    def _share(self, i: Indices, a: Floats, b: Floats) -> Floats:
        """Mass of cell i between a and b (an atom counts whole)."""
        if self.cells.part is not None:
            return self.cells.part(np.maximum(a, self.starts[i]), np.clip(b, self.starts[i], self.ends[i]))
        inside = np.clip(np.minimum(b, self.ends[i]) - np.maximum(a, self.starts[i]), 0.0, None)
        return np.where(self.widths[i] > 0, self.density[i] * inside, self.masses[i])

    def mass(self, l: Floats, u: Floats) -> Floats:
        """Prior probability of [l, u], both ends included."""
        l, u = np.asarray(l, float), np.asarray(u, float)
        n = self.starts.size
        i = np.searchsorted(self.starts, l, "left")  # cells that start below l: all but the last lie below
        first = np.clip(i - 1, 0, n - 1)
        partial = (i > 0) & (self.ends[first] > l)
        j = np.searchsorted(self.starts, u, "right")  # cells that start at or below u
        last = np.clip(j - 1, 0, n - 1)
        whole = np.clip(np.asarray(self.below[last] - self.below[np.minimum(i, last)], float), 0.0, None)
        found = whole + np.where(j > 0, self._share(last, l, u), 0.0)
        found = found + np.where(partial & (first < last), self._share(first, l, u), 0.0)
        beyond = (j == 0) | (self.ends[last] < l) | (l > u)
        return np.clip(np.where(beyond, 0.0, found) / self.total, 0.0, 1.0)

    def sums(self, k: float) -> "Sums":
        if k not in self._sums:
            if len(self._sums) >= 8:
                self._sums.pop(next(iter(self._sums)))
            from nowiser.guess.density.sums import Sums

            self._sums[k] = Sums(self, k) if self._whole is None else self._whole.sums(k).plain(self)
        return self._sums[k]

    def odds(self, k: float, l: Floats, u: Floats, sharp: float = 1e-13) -> Floats:
        return self.sums(k).odds(np.atleast_1d(l).astype(float), np.atleast_1d(u).astype(float), sharp)[0]

    def tight(self, k: float, l: Floats, u: Floats) -> tuple[Floats, Floats]:
        """The bound on the odds, and t, in one go."""
        return self.sums(k).odds(l, u)

    def weight(self, k: float, t: Floats) -> Floats:
        """∫ e^{−k|x−t|} dπ."""
        sums = self.sums(k)
        c = np.clip(np.searchsorted(self.starts, t, "right") - 1, 0, self.starts.size - 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            after = np.where(self.widths[c] > 0, sums.minus_at(t, c), sums.minus[c + 1])  # an atom counts once
            left, right = sums.plus_at(t, c) - k * (t - sums.x0), after + k * (t - sums.x1)
            return np.exp(np.logaddexp(left, right)) / self.total

    def heights(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Bounds on the density over (a, b); (0, ∞) where there are atoms."""
        n = self.starts.size
        # where there are atoms, those at a and b count as touched
        i = np.searchsorted(self.ends, a, "left" if self.atoms.size else "right")
        j = np.searchsorted(self.starts, b, "right" if self.atoms.size else "left") - 1
        first, last = np.clip(i, 0, n - 1), np.clip(j, 0, n - 1)
        last = np.maximum(first, last)
        floor, roof = self._ranges.between(first, last)
        whole = (i < n) & (self.starts[first] <= a) & (j >= 0) & (self.ends[last] >= b)
        whole &= self._gaps[first] == self._gaps[last]
        nothing = (i >= n) | (j < 0) | (i > j)
        return np.where(whole & ~nothing, floor, 0.0) / self.total, np.where(nothing, 0.0, roof) / self.total

    @cached_property
    def _ranges(self) -> Ranges:
        flat, cells = self.widths > 0, self.cells
        floor = self.density if cells.floor is None else cells.floor
        roof = self.density if cells.roof is None else cells.roof
        return Ranges(np.where(flat, floor, 0.0), np.where(flat, roof, np.inf))

    @cached_property
    def _gaps(self) -> Floats:
        """How many gaps of the support lie left of each cell."""
        return np.concatenate([[0.0], np.cumsum(self.starts[1:] > self.ends[:-1])])

    def level(self, k: float, first: Floats, last: Floats, radius: float) -> tuple[Floats, Floats]:
        """Odds (from above) and prior mass of all goals of victims between `first` and `last` that lie in one cell.

        Inside a cell of constant density p the equation of `UniformLine` holds with α = k·E⁺(l)e^{−kl}/p and
        β = k·E⁻(u)e^{ku}/p, whatever lies outside the cell. Both are 1 minus a multiple of e^{∓kx}, so on a range each
        is smallest at one of the ends, and the odds fall with both. (∞, 0) where goals leave the cell; for k > 0.
        """
        ends = below(first, -radius), above(last, -radius), below(first, radius), above(last, radius)
        n = self.starts.size
        i = np.clip(np.searchsorted(self.starts, ends[0], "right") - 1, 0, n - 1)
        inside = (self.starts[i] <= ends[0]) & (self.ends[i] >= ends[3]) & (self.density[i] > 0)
        if not inside.any() or self.cells.wobble.any():
            return np.full(first.size, np.inf), np.zeros(first.size)
        sums, scale = self.sums(k), np.log(np.where(inside, self.density[i], 1.0) / k)
        with np.errstate(all="ignore"):
            alpha = [np.asarray(sums.plus_at(l, i) - k * (l - sums.x0) - scale, float) for l in ends[:2]]
            beta = [np.asarray(sums.minus_at(u, i) + k * (u - sums.x1) - scale, float) for u in ends[2:]]
            a, b = np.exp(np.minimum(*alpha)), np.exp(np.minimum(*beta))
            rise = np.expm1(2 * k * radius)
            odds = 2 * rise / (a + b + np.sqrt((a + b) ** 2 + 4 * a * b * rise)) * (1 + 4 * sums.slack)
        mass = 2 * radius * self.density[i] / self.total
        return np.where(inside & np.isfinite(odds), odds, np.inf), np.where(inside, mass * (1 - 8 * EPS), 0.0)

    def peak(self, k: float, l: float, u: float) -> float:
        return float(self.sums(k).odds(np.array([l], float), np.array([u], float))[1][0])
