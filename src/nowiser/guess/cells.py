"""Priors as a row of cells: atoms (width zero) and intervals of constant density, with prefix sums of e^{±kx}.

One `np.searchsorted` finds the crossing (see `line`) for all victims at once: E⁻/E⁺ at the cell borders falls from
left to
right, and the crossing is where it passes b/a. Prefix sums are taken in extended precision (`np.longdouble`), so that a
million terms cost less than the rounding of the result; its actual precision on this machine enters the error budget.

A distribution that is only known by its distribution function F is cut into fine cells with exact masses. What the
constant density inside a cell gets wrong is bounded, not ignored: on a cell of width w where the density is monotone
between values p and q, no partial mass is off by more than η = |p − q|·w/4, hence (integrating by parts) no partial
integral of e^{kx} by more than η·e^{kx} at the border and η·(variation of e^{kx}) for whole cells to its left. These
errors are summed like masses and pushed to the unfavourable side.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nowiser.guess.line import EPS
from nowiser.model.priors.base import Floats

Indices = npt.NDArray[np.intp]

LONG = np.longdouble
LONG_EPS = float(np.finfo(LONG).eps)
# prefix sums span e^{±k·range}; beyond this they are taken piece by piece in logarithms
WIDEST = float(np.log(np.finfo(LONG).max)) * 0.95
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
        self._sums: dict[float, _Sums] = {}

    def leanings(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Bounds on the slope of ln density over (a, b): flat inside one cell, unknown across borders."""
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
        return float(2 * self.cells.wobble.max()) / self.total

    def _share(self, i: Indices, a: Floats, b: Floats) -> Floats:
        """Mass of cell i between a and b (an atom counts whole)."""
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

    def sums(self, k: float) -> "_Sums":
        if k not in self._sums:
            if len(self._sums) >= 8:
                self._sums.pop(next(iter(self._sums)))
            self._sums[k] = _Sums(self, k)
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
            left, right = sums.plus_at(t, c) - k * (t - sums.x0), sums.minus_at(t, c) + k * (t - sums.x1)
            return np.exp(np.logaddexp(left, right)) / self.total

    def heights(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Bounds on the density over (a, b): of one or two touching cells; (0, ∞) when more are involved."""
        n = self.starts.size
        # where there are atoms, those at a and b count as touched
        i = np.searchsorted(self.ends, a, "left" if self.atoms.size else "right")
        j = np.searchsorted(self.starts, b, "right" if self.atoms.size else "left") - 1
        first, last = np.clip(i, 0, n - 1), np.clip(j, 0, n - 1)
        whole = (i < n) & (self.starts[first] <= a) & (j >= 0) & (self.ends[last] >= b)
        p, q = self.density[first], self.density[last]
        gap = (self.widths[first] == 0) | (self.widths[last] == 0) | (j - i > 1)
        low = np.where(whole & (j - i <= 1) & (self.starts[last] <= self.ends[first]), np.minimum(p, q), 0.0)
        high = np.where(gap, np.inf, np.maximum(p, q))
        nothing = (i >= n) | (j < 0) | (i > j)
        return np.where(nothing | gap, 0.0, low) / self.total, np.where(nothing, 0.0, high) / self.total

    def peak(self, k: float, l: float, u: float) -> float:
        return float(self.sums(k).odds(np.array([l], float), np.array([u], float))[1][0])


class _Sums:
    """ln E⁺ and ln E⁻ at the cell borders for one k (of either sign), each with a bound on its error.

    Stored as logarithms relative to a running scale: `plus[i]` = ln ∫_{cells < i} e^{k(x − x0)} with x0 the end of the
    support at which e^{kx} is largest; `minus[i]` = ln ∫_{cells ≥ i} e^{−k(x − x1)} likewise.
    """

    def __init__(self, row: CellLine, k: float) -> None:
        self.row, self.k = row, k
        self.x0, self.x1 = (row.high, row.low) if k > 0 else (row.low, row.high)
        n = row.starts.size
        near = row.ends if k > 0 else row.starts
        far = row.starts if k > 0 else row.ends
        turn = abs(k) * row.widths
        with np.errstate(divide="ignore", invalid="ignore"):
            shape = np.where(turn > 0, -np.expm1(-turn) / np.where(turn > 0, turn, 1.0), 1.0)
        sway = row.cells.wobble * -np.expm1(-turn)
        self.plus = _prefix(row.masses * shape, k * (near - self.x0))
        self.minus = _prefix((row.masses * shape)[::-1], -k * (far[::-1] - self.x1))[::-1]
        self.wobbly = bool(row.cells.wobble.any())
        if self.wobbly:
            self.plus_err = _prefix(sway, k * (near - self.x0))
            self.minus_err = _prefix(sway[::-1], -k * (far[::-1] - self.x1))[::-1]
        with np.errstate(invalid="ignore"):
            falling = self.plus - self.minus
        falling[0], falling[n] = -np.inf, np.inf
        self.rising = np.maximum.accumulate(falling)
        reach = abs(k) * (row.high - row.low)
        scale = max(abs(row.low), abs(row.high), row.high - row.low)
        self.slack = 64 * EPS * (2 + abs(k) * scale) + 4 * LONG_EPS * n * (1 + (reach if reach > WIDEST else 0.0))

    def plus_at(self, y: Floats, i: Indices) -> Floats:
        """Ln ∫ e^{k(x−x0)} over the cells before i and the part of cell i up to y."""
        row, k = self.row, self.k
        top = np.minimum(y, row.ends[i])
        part = np.where(row.widths[i] > 0, row.density[i] * _lean(k, top - row.starts[i]), row.masses[i])
        return np.logaddexp(self.plus[i], np.log(part) + k * ((top if k > 0 else row.starts[i]) - self.x0))

    def minus_at(self, y: Floats, i: Indices) -> Floats:
        """Ln ∫ e^{−k(x−x1)} over the part of cell i from y on and the cells after i."""
        row, k = self.row, self.k
        bottom = np.maximum(y, row.starts[i])
        part = np.where(row.widths[i] > 0, row.density[i] * _lean(k, row.ends[i] - bottom), row.masses[i])
        return np.logaddexp(self.minus[i + 1], np.log(part) - k * ((bottom if k > 0 else row.ends[i]) - self.x1))

    def odds(self, l: Floats, u: Floats, sharp: float = 1e-13) -> tuple[Floats, Floats]:
        """The bound on the odds, and t. `sharp`: how much looser than tight ln odds may be (soundness never
        suffers).
        """
        row, k, n = self.row, self.k, self.row.starts.size
        sign = 1.0 if k > 0 else -1.0
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            i = np.searchsorted(row.starts, l, "left")
            a = np.where(i > 0, self.plus_at(l, np.maximum(i - 1, 0)), -np.inf)
            j = np.searchsorted(row.ends, u, "right")
            b = np.where(j < n, self.minus_at(u, np.minimum(j, n - 1)), -np.inf)
            c = np.clip(np.searchsorted(self.rising, a - b, "right") - 1, 0, n - 1)
            t, left, right = self._solve(c, a, b, sharp)
            best = np.maximum(left, right) if k > 0 else np.minimum(left, right)
            flat = row.widths[c] == 0
            if flat.any():  # the crossing is at an atom, which is split: everything over what lies outside
                sides = a[flat] - k * (t[flat] - self.x0), b[flat] + k * (t[flat] - self.x1)
                weigh = -np.logaddexp(0.0, sides[1] - sides[0]), -np.logaddexp(0.0, sides[0] - sides[1])
                ci = c[flat]
                best[flat] = np.logaddexp(
                    self.plus[ci + 1] - a[flat] + weigh[0], self.minus[ci + 1] - b[flat] + weigh[1]
                )
            no_left, no_right = a == -np.inf, b == -np.inf
            t = np.where(no_left, np.maximum(l, row.low), np.where(no_right, np.minimum(u, row.high), t))
            best = np.where(no_left, self.minus[0] - b, np.where(no_right, self.plus[-1] - a, best))
            best = np.where(np.isnan(best), np.inf if k > 0 else 0.0, best)
            drift = self._drift((l, u), (a, b), t, c) if self.wobbly else 0.0
            best = best + sign * (self.slack + drift)
            if self.wobbly and k > 0:
                best = np.fmin(best, self._one_sided(l, u, a, b))
            odds = np.expm1(np.maximum(best, 0.0))
        odds = np.where(no_left & no_right, np.inf, odds)
        if not self.wobbly:
            odds = np.where(row.mass(l, u) <= 0, 0.0, odds)
        return odds, np.clip(t, l, u)

    def _one_sided(self, l: Floats, u: Floats, a: Floats, b: Floats) -> Floats:
        """The theorem at t = l and at t = u: each needs only one of a, b, which helps when the other is uncertain."""
        row, n = self.row, self.row.starts.size
        to = np.clip(np.searchsorted(row.ends, l, "left"), 0, n - 1)
        at = np.clip(np.searchsorted(row.starts, u, "right") - 1, 0, n - 1)
        rough = np.log(row.cells.wobble)
        return (
            np.fmin(
                self._sure(self.minus_at(l, to), self.minus_err[to + 1], rough[to] - self.k * (l - self.x1), up=True)
                - self._sure(
                    b,
                    self.minus_err[np.clip(np.searchsorted(row.ends, u, "right"), 0, n - 1) + 1],
                    rough[np.clip(np.searchsorted(row.ends, u, "right"), 0, n - 1)] - self.k * (u - self.x1),
                    up=False,
                ),
                self._sure(self.plus_at(u, at), self.plus_err[at], rough[at] + self.k * (u - self.x0), up=True)
                - self._sure(
                    a,
                    self.plus_err[np.clip(np.searchsorted(row.starts, l, "left") - 1, 0, n - 1)],
                    rough[np.clip(np.searchsorted(row.starts, l, "left") - 1, 0, n - 1)] + self.k * (l - self.x0),
                    up=False,
                ),
            )
            + self.slack
        )

    @staticmethod
    def _sure(log: Floats, whole: Floats, edge: Floats, *, up: bool) -> Floats:
        """The logarithm of an integral, moved by its error to the unfavourable side."""
        error = np.minimum(np.exp(np.logaddexp(whole, edge) - log), 1e300 if up else 1.0)
        return log + (np.log1p(error) if up else np.log1p(-error))

    def _solve(self, c: Indices, a: Floats, b: Floats, sharp: float) -> tuple[Floats, Floats, Floats]:
        """T in cell c, and ln of E⁺(t)/a, E⁻(t)/b there; Newton on their difference, which is smooth and rises."""
        row, k = self.row, self.k
        low, high = row.starts[c], row.ends[c]
        f0, f1 = self.rising[c], self.rising[c + 1]
        share = np.where(np.isfinite(f1 - f0) & (f1 > f0), (a - b - f0) / (f1 - f0), 0.5)
        t = low + np.clip(np.where(np.isnan(share), 0.5, share), 0.0, 1.0) * (high - low)
        left, right = self.plus_at(t, c) - a, self.minus_at(t, c) - b
        todo = np.flatnonzero((high > low) & np.isfinite(left - right))
        low, high = low.copy(), high.copy()
        for _ in range(40):
            gap = left[todo] - right[todo]
            wide = np.abs(gap) > sharp * (1 + np.abs(a[todo]) + np.abs(b[todo]))
            todo, gap = todo[wide], gap[wide]
            if not todo.size:
                break
            now, cell = t[todo], c[todo]
            low[todo], high[todo] = np.where(gap < 0, now, low[todo]), np.where(gap > 0, now, high[todo])
            p = row.density[cell]
            rate = p * np.exp(k * (now - self.x0) - left[todo] - a[todo])
            rate += p * np.exp(-k * (now - self.x1) - right[todo] - b[todo])
            new = now - gap / rate
            # a step beyond the cell goes to its end, which may be the crossing; other steps outside halve
            inner = (new > low[todo]) & (new < high[todo])
            out = ((gap < 0) & (new >= row.ends[cell]) & (now < row.ends[cell])) | (
                (gap > 0) & (new <= row.starts[cell]) & (now > row.starts[cell])
            )
            ends = np.clip(new, low[todo], high[todo])
            new = np.where(inner | out, ends, (low[todo] + high[todo]) / 2)
            t[todo] = new
            left[todo], right[todo] = self.plus_at(new, cell) - a[todo], self.minus_at(new, cell) - b[todo]
            todo = todo[new != now]
        return t, left, right

    def _drift(self, goal: tuple[Floats, Floats], out: tuple[Floats, Floats], t: Floats, c: Indices) -> Floats:
        """Bound on the error of ln(E(t)/a) and ln(E(t)/b) from the unknown shape of the density inside cells."""
        (l, u), (a, b) = goal, out
        row, k = self.row, self.k
        n = row.starts.size
        rough = np.log(row.cells.wobble)
        at = np.clip(np.searchsorted(row.starts, l, "left") - 1, 0, n - 1)
        to = np.clip(np.searchsorted(row.ends, u, "right"), 0, n - 1)
        err_a = np.exp(np.logaddexp(self.plus_err[at], rough[at] + k * (l - self.x0)) - a)
        err_b = np.exp(np.logaddexp(self.minus_err[to + 1], rough[to] - k * (u - self.x1)) - b)
        top_a = np.exp(np.logaddexp(self.plus_err[c], rough[c] + k * (t - self.x0)) - self.plus_at(t, c))
        top_b = np.exp(np.logaddexp(self.minus_err[c + 1], rough[c] - k * (t - self.x1)) - self.minus_at(t, c))
        worst = np.fmax(np.where(a > -np.inf, err_a, 0.0), np.where(b > -np.inf, err_b, 0.0))
        top = np.fmax(np.where(a > -np.inf, top_a, 0.0), np.where(b > -np.inf, top_b, 0.0))
        return np.log1p(top) - np.log1p(-np.minimum(worst, 1 - 1e-16))


def _lean(k: float, width: Floats) -> Floats:
    """∫ over a stretch of this width of e^{−|k|·(distance to its heavier end)}."""
    return -np.expm1(-abs(k) * np.maximum(width, 0.0)) / abs(k)


def _prefix(weights: Floats, exponents: Floats) -> Floats:
    """Logarithms of the running sums of weights·e^{exponents}, one longer than the input and starting at −∞."""
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        widest = float(np.abs(exponents).max())
        if widest < 600:
            found = np.log(np.cumsum((weights * np.exp(exponents)).astype(LONG)).astype(float))
        elif widest < WIDEST:
            found = np.log(np.cumsum(weights.astype(LONG) * np.exp(exponents.astype(LONG))))
        else:
            found = np.logaddexp.accumulate(np.log(weights.astype(LONG)) + exponents.astype(LONG))
    return np.concatenate([np.full(1, -np.inf), found.astype(float)])
