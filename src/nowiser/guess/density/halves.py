"""The tilted integrals of a lognormal prior, which have no closed form, by Gauss's rule with a proved error.

For one k (of either sign) the integrals

    A(y) = ∫_{x ≤ y} e^{−k(y−x)} dπ        B(y) = ∫_{x ≥ y} e^{−k(x−y)} dπ

are kept at some hundred knots, each computed from its neighbour (A shrinks by e^{−kw} and gains what lies in the cell);
between knots the rest is integrated from the nearest knot on. All terms are positive, so the relative error of a sum is
at most the largest of its terms': what must be known is how wrong a single cell can be.

**One cell.** Let f be analytic and |f| ≤ M inside the ellipse with foci at the ends of [a, y] whose half axes add up to
ϱ times the half width c. Its Chebyshev coefficients are at most 2Mϱ^{−j}; Gauss's rule with n points integrates
polynomials up to the degree 2n − 1 exactly and its weights add up to the width. So it is off by at most twice the width
times the rest of the Chebyshev series, 8Mc·ϱ^{−(2n−1)}/(ϱ − 1). The ellipse of a part of a cell lies inside that of the
cell, in it |e^{∓k(y−x)}| exceeds its largest value on [a, y] by at most e^{|k|c(q−1)}, q = (ϱ + 1/ϱ)/2, and

    |p(x)| = e^{−(ln²|x| − θ²)/2σ²} / (|x|·σ·√2π),     θ = arg x, |θ| ≤ arcsin(cq/m),  m − cq ≤ |x| ≤ m + cq

with m the cell's middle. On [a, y] the integral is at least the smallest density there (at an end of the cell, because
it rises and then falls) times that of the exponential. The quotient is the relative error, which only grows with y; it
is evaluated for every cell, for a few ϱ of which the best counts (`_wrong`).

Where the prior goes on beyond the first or the last knot, what lies there is left out (except in `whole`). Relative to
A(y) that is largest at the smallest y, to B(y) at the largest (e^{ky}A(y) grows, e^{−ky}B(y) falls), and part of the
error there.
"""

import math
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from nowiser.guess.density.line import EPS
from nowiser.guess.density.lognormal import LogShape
from nowiser.model.priors.base import Floats

NODES = 20
DEEPEST, FARTHER = -12.0, 3.0  # standard deviations: from where on A is needed, and how much before that knots begin
FADED = 45.0  # nats after which what lies beyond does not count
MOST = 12_000  # cells
LARGEST = 600.0  # nats by which integrals grow (for k < 0) that doubles can hold
WIDTHS = 1e-3, 8.0  # standard deviations of the logarithm for which doubles suffice
WRONG = 1e-13  # relative error of an integral from which on cells are too coarse
RATIOS = np.array([2.5, 4.0, 6.0, 9.0])[:, None]


@lru_cache(maxsize=1)
def _gauss() -> tuple[Floats, Floats]:
    """Nodes on [0, 1] and weights, by Newton's method on the Legendre polynomial."""
    x = np.cos(math.pi * (np.arange(NODES, 0, -1) - 0.25) / (NODES + 0.5)).astype(np.longdouble)
    for _ in range(6):
        last, value = np.ones_like(x), x
        for n in range(2, NODES + 1):
            last, value = value, ((2 * n - 1) * x * value - (n - 1) * last) / n
        slope = NODES * (x * value - last) / (x * x - 1)
        x = x - value / slope
    weights = 2 / ((1 - x * x) * slope * slope)
    return ((1 + x) / 2).astype(float)[:, None], (weights / 2).astype(float)[:, None]


class Halves:
    """A and B at any point between `first` and `last`, for one k. Made by `halves_of`."""

    def __init__(self, shape: LogShape, k: float, knots: Floats) -> None:
        self.shape, self.k, self.knots = shape, k, knots
        self._square = -0.5 / shape.sd**2
        self._scale = 1 / (shape.sd * math.sqrt(2 * math.pi) * shape.total)
        width = np.diff(knots)
        grain = np.abs(shape.z(knots))
        grain = np.maximum(grain[1:], grain[:-1])
        # rounding: of the exponent z²/2 (z itself off by a unit, and by one of x), of k·w, of the sum
        self._unit = EPS * (16 + 2 * grain * (grain + 1 / shape.sd) + 2 * abs(k) * width)
        cells = *self._cells(width), np.exp(-k * width), self._unit, EPS * (4 + abs(k) * width)
        left, left_off = _run(cells[0], *cells[2:])
        right, right_off = _run(*(one[::-1] for one in cells[1:]))
        self.sums = np.array([left[:-1], right[-2::-1]])
        self._off = np.array([left_off[:-1], right_off[-2::-1]])
        self.wrong = float(_wrong(shape, k, knots).max())
        self.whole = math.inf  # B at the first knot, with all that lies below

    def _stretch(self, start: Floats, ahead: Floats) -> Floats:
        """∫ p(x)·e^{−k|end − x|} between start and end = start + ahead, which lies on the side of its sign."""
        nodes, weights = _gauss()
        log = np.log(start + ahead * nodes)
        far = np.abs(ahead)
        inner = np.exp(log * (log * self._square - 1) - self.k * far * (1 - nodes))
        inner *= weights
        return np.asarray(inner.sum(axis=0) * (far * self._scale))

    def _cells(self, width: Floats) -> tuple[Floats, Floats]:
        """`_stretch` of whole cells, forward and backward."""
        nodes, weights = _gauss()
        log = np.log(self.knots[:-1] + width * nodes)
        inner = np.exp(log * (log * self._square - 1))
        inner *= weights * self._scale * width
        fall = np.exp(-self.k * width * nodes)
        return (inner * fall[::-1]).sum(axis=0), (inner * fall).sum(axis=0)

    def left(self, y: Floats) -> tuple[Floats, Floats]:
        """A at points between the knots, and its relative rounding error."""
        i = self._cell(y)
        ahead = y - self.knots[i]
        found = self.sums[0, i] * np.exp(-self.k * ahead) + self._stretch(self.knots[i], ahead)
        return found, self._off[0, i] + self._unit[i] + self.wrong

    def right(self, y: Floats) -> tuple[Floats, Floats]:
        """B likewise."""
        i = self._cell(y)
        ahead = self.knots[i + 1] - y
        found = self.sums[1, i] * np.exp(-self.k * ahead) + self._stretch(self.knots[i + 1], -ahead)
        return found, self._off[1, i] + self._unit[i] + self.wrong

    def _cell(self, y: Floats) -> npt.NDArray[np.intp]:
        return np.minimum(np.maximum(np.searchsorted(self.knots, y, "right") - 1, 0), self.knots.size - 2)


def halves_of(shape: LogShape, k: float, last: float) -> Halves | None:
    """The integrals at points up to `last`; None where that takes too many cells, they are too coarse or too large."""
    sd, low, high = shape.sd, shape.low, shape.high
    if not WIDTHS[0] <= sd <= WIDTHS[1] or not shape.grain < 1e3 or not last > 0 or (k < 0 and high == math.inf):
        return None
    last = max(last, min(1.0, high))
    start = max(low, math.exp((DEEPEST - FARTHER) * sd))
    top = math.exp(min(sd * math.hypot(math.sqrt(2 * FADED), max(math.log(last) / sd, 0.0)), 700.0))
    end = high if k < 0 else min(high, top, last + FADED / k if k else math.inf)
    if not start < end or abs(k) * end > 30 * MOST or -k * (end - start) > LARGEST:
        return None
    knots = _knots(sd, abs(k), start, end)
    if knots.size > MOST:
        return None
    with np.errstate(all="ignore"):
        made = Halves(shape, k, knots)
        first, last = max(low, math.exp(DEEPEST * sd)), min(last, end)
        rest = 0.0
        made.whole = float(made.right(knots[:1])[0][0])
        if low < start:
            below = float(shape.mass(np.array([low]), knots[:1])[0]) * math.exp(min(abs(k) * (start - low), 700.0))
            made.whole += below
            rest = below * math.exp(min(-k * (first - start), 700.0)) / float(made.left(np.array([first]))[0][0])
        if end < high:
            above = float(shape.mass(knots[-1:], np.array([high]))[0])
            rest = max(rest, above * math.exp(-k * (end - last)) / float(made.right(np.array([last]))[0][0]))
    made.wrong += 1.01 * rest
    return made if made.wrong < WRONG else None


def _knots(sd: float, k: float, start: float, end: float) -> Floats:
    """Cells over which ln density moves by some five, and k·x by some twenty."""
    log = np.linspace(math.log(start), math.log(end), 513)
    rate = np.abs(log) / (5 * sd * sd) + 0.6 / sd + 1.0 + np.exp(log) * (k / 30)
    sums = np.append(0.0, np.cumsum((rate[1:] + rate[:-1]) / 2 * np.diff(log)))
    knots = np.exp(np.interp(np.linspace(0.0, sums[-1], math.ceil(sums[-1]) + 1), sums, log))
    knots[0], knots[-1] = start, end
    return np.asarray(knots)


def _run(inside: Floats, shrink: Floats, unit: Floats, step: Floats) -> tuple[Floats, Floats]:
    """Running sums from 0 on: each shrinks and gains what is inside; and their relative rounding errors."""
    total, off, totals, errors = 0.0, 0.0, [0.0], [0.0]
    for more, less, new, old in zip(*(one.tolist() for one in (inside, shrink, unit, step)), strict=True):
        total = total * less + more
        off = off * less + more * new + total * old
        totals.append(total)
        errors.append(off / total if total else 0.0)
    return np.array(totals), np.array(errors)


def _most(square: float, middle: Floats, away: Floats) -> Floats:
    """Ln of the largest |p|·σ√2π within a distance of a point: |x| and arg x are bounded there."""
    inner, outer, angle = np.log(middle - away), np.log(middle + away), np.arcsin(away / middle)
    log = np.minimum(np.maximum(-square, inner), outer)
    return np.asarray(-log * (log / (2 * square) + 1) + angle**2 / (2 * square))


def _wrong(shape: LogShape, k: float, knots: Floats) -> Floats:
    """The relative error of Gauss's rule on any part of each cell that begins or ends at a knot."""
    square = shape.sd**2
    middle, c = (knots[1:] + knots[:-1]) / 2, np.diff(knots) / 2
    q = (RATIOS + 1 / RATIOS) / 2
    with np.errstate(all="ignore"):
        most = _most(square, middle, c * q)
        ends = np.log(knots)
        logs = -ends * (ends / (2 * square) + 1)
        turn = 2 * abs(k) * c
        share = np.where(turn > 1e-8, turn / -np.expm1(-turn), 1.0 + turn)
        found = most - np.minimum(logs[1:], logs[:-1]) + abs(k) * c * (q - 1) - (2 * NODES - 1) * np.log(RATIOS)
        found = 4 * share * np.exp(found) / (RATIOS - 1)
    return np.asarray(np.where(np.isnan(found), np.inf, found).min(axis=0))
