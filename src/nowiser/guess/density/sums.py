"""Running sums of e^{±kx} over the cells of a prior, and the crossing of `line` found in them."""

import copy

import numpy as np

from nowiser.guess.density.cells import LONG, CellLine
from nowiser.guess.density.discrete import beyond, reached
from nowiser.guess.density.line import EPS, LARGEST
from nowiser.guess.number.victims import Flags
from nowiser.guess.ranges import Indices
from nowiser.model.priors.base import Floats

LONG_EPS = float(np.finfo(LONG).eps)
# prefix sums span e^{±k·range}; beyond this they are taken piece by piece in logarithms
WIDEST = float(np.log(np.finfo(LONG).max)) * 0.95
SPAN, MOST_PIECES = 600.0, 20_000  # nats of such a piece, and pieces
STEEP = 1e4  # nats over the range from which on exponents are kept in extended precision


class Sums:
    """ln E⁺ and ln E⁻ at the cell borders for one k (of either sign), each with a bound on its error.

    Stored as logarithms relative to a running scale: `plus[i]` = ln ∫_{cells < i} e^{k(x − x0)} with x0 the end of the
    support at which e^{kx} is largest; `minus[i]` = ln ∫_{cells ≥ i} e^{−k(x − x1)} likewise.
    """

    def __init__(self, row: CellLine, k: float) -> None:
        self.row, self.k = row, k
        reach = abs(k) * (row.high - row.low)
        self.kind: type = LONG if reach > STEEP else float  # exponents this large eat the digits of a double
        self.x0, self.x1 = (row.high, row.low) if k > 0 else (row.low, row.high)
        n = row.starts.size
        near = (row.ends if k > 0 else row.starts).astype(self.kind)
        far = (row.starts if k > 0 else row.ends).astype(self.kind)
        turn = abs(k) * row.widths
        with np.errstate(divide="ignore", invalid="ignore"):
            shape = np.where(turn > 0, -np.expm1(-turn) / np.where(turn > 0, turn, 1.0), 1.0)
        sway = row.cells.wobble * -np.expm1(-turn)
        self.plus = prefix(row.masses * shape, k * (near - self.x0), self.kind)
        self.minus = prefix((row.masses * shape)[::-1], -k * (far[::-1] - self.x1), self.kind)[::-1]
        if k < 0 and row.cells.tails:  # what is not listed begins the sums
            rest = [
                self.kind(beyond(row.cells.tails, -k, at, above=up)) for at, up in ((row.low, False), (row.high, True))
            ]
            self.plus, self.minus = np.logaddexp(self.plus, rest[0]), np.logaddexp(self.minus, rest[1])
        self.wobbly = bool(row.cells.wobble.any())
        # what a cell that is cut in two adds: its unknown shape moves the mass, or (known mass) only its weight
        with np.errstate(divide="ignore"):
            self.rough = np.log(row.cells.wobble if row.cells.part is None else sway)
        if k < 0:  # then the weight is largest where the cell begins, not where it is cut
            self.rough = self.rough + abs(k) * row.widths
        if self.wobbly:
            self.plus_err = prefix(sway, k * (near - self.x0))
            self.minus_err = prefix(sway[::-1], -k * (far[::-1] - self.x1))[::-1]
        with np.errstate(invalid="ignore"):
            falling = self.plus - self.minus
        falling[0], falling[n] = -np.inf, np.inf
        self.rising = np.maximum.accumulate(falling)
        # sixteen roundings of exponents as large as the reach
        unit = LONG_EPS if self.kind is LONG else EPS
        self.slack = 64 * EPS + 16 * unit * reach
        self.slack += 4 * LONG_EPS * n * (1 + (reach if reach > WIDEST else 0.0))

    def plain(self, row: CellLine) -> "Sums":
        """The sums of the same cells when each has a constant density."""
        found = copy.copy(self)
        found.row, found.wobbly = row, False
        return found

    def _dense(self, i: Indices, a: Floats, b: Floats) -> Floats:
        """The mean density of cell i between a and b."""
        exact = self.row.cells.part
        if exact is None:
            return self.row.density[i]
        width = b - a
        return np.where(width > 0, exact(a.astype(float), b.astype(float)) / np.where(width > 0, width, 1.0), 0.0)

    def plus_at(self, y: Floats, i: Indices) -> Floats:
        """Ln ∫ e^{k(x−x0)} over the cells before i and the part of cell i up to y."""
        row, k = self.row, self.k
        top: Floats = np.minimum(y, row.ends[i]).astype(self.kind)
        part = np.where(
            row.widths[i] > 0, self._dense(i, row.starts[i], top) * _lean(k, top - row.starts[i]), row.masses[i]
        )
        return np.logaddexp(
            self.plus[i], np.log(part) + k * ((top if k > 0 else row.starts[i].astype(self.kind)) - self.x0)
        )

    def minus_at(self, y: Floats, i: Indices) -> Floats:
        """Ln ∫ e^{−k(x−x1)} over the part of cell i from y on and the cells after i."""
        row, k = self.row, self.k
        bottom: Floats = np.maximum(y, row.starts[i]).astype(self.kind)
        part = np.where(
            row.widths[i] > 0, self._dense(i, bottom, row.ends[i]) * _lean(k, row.ends[i] - bottom), row.masses[i]
        )
        return np.logaddexp(
            self.minus[i + 1], np.log(part) - k * ((bottom if k > 0 else row.ends[i].astype(self.kind)) - self.x1)
        )

    def odds(self, l: Floats, u: Floats, sharp: float = 1e-13) -> tuple[Floats, Floats]:
        """The bound on the odds, and t. `sharp`: how much looser than tight ln odds may be (soundness never
        suffers).
        """
        row, k, n = self.row, self.k, self.row.starts.size
        sign = 1.0 if k > 0 else -1.0
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            i = np.searchsorted(row.starts, l, "left")
            a = np.where(i > 0, self.plus_at(l, np.maximum(i - 1, 0)), self.plus[0])
            j = np.searchsorted(row.ends, u, "right")
            b = np.where(j < n, self.minus_at(u, np.minimum(j, n - 1)), self.minus[n])
            c = np.clip(np.searchsorted(self.rising, a - b, "right") - 1, 0, n - 1)
            t, left, right = self._solve(c, (l, u), (a, b), sharp)
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
            unlisted = np.zeros(best.shape, bool)
            if k > 0:
                best = np.fmin(best, self._one_sided(l, u, a, b) if self.wobbly else self._ends(l, u, a, b))
            if k > 0 and row.cells.tails:
                best, unlisted = self._with_unlisted(best, (l, u), (a, b))
            odds = np.expm1(np.maximum(best, 0.0))
            odds = odds if k > 0 else np.minimum(odds, LARGEST)
        odds = np.where(no_left & no_right, np.inf, odds)
        if not self.wobbly:
            odds = np.where((row.mass(l, u) <= 0) & ~unlisted, 0.0, odds)
        return odds, np.clip(t, l, u)

    def _with_unlisted(
        self, best: Floats, goal: tuple[Floats, Floats], out: tuple[Floats, Floats]
    ) -> tuple[Floats, Flags]:
        """For goals that reach values which are not listed: the theorem at the end that is there; for k > 0."""
        row, k = self.row, self.k
        more = [
            reached(row.cells.tails, k, at, end, above=up)
            for at, end, up in ((row.low, goal[0], False), (row.high, goal[1], True))
        ]
        left, right = np.logaddexp(self.minus[0], more[0]) - out[1], np.logaddexp(self.plus[-1], more[1]) - out[0]
        best = np.where(more[0] > -np.inf, left + self.slack, best)
        best = np.where(more[1] > -np.inf, right + self.slack, best)
        return best, (more[0] > -np.inf) | (more[1] > -np.inf)

    def of_atoms(self, first: Indices, beyond: Indices) -> Floats:
        """The bound on the odds of goals that hold the cells first ≤ i < beyond, where all cells are atoms; for k > 0.

        As in `odds`: the crossing is at an atom, which is split; or t is at an end of the goal.
        """
        k, n = self.k, self.row.starts.size
        a, b = self.plus[first], self.minus[beyond]
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            c = np.clip(np.searchsorted(self.rising, a - b, "right") - 1, 0, n - 1)
            t = self.row.starts[c]
            # differences are short where the exponents themselves are long
            gap = ((b + k * (t - self.x1)) - (a - k * (t - self.x0))).astype(float)
            left, right = (self.plus[c + 1] - a).astype(float), (self.minus[c + 1] - b).astype(float)
            best = np.logaddexp(left - np.logaddexp(0.0, gap), right - np.logaddexp(0.0, -gap))
            best = np.where(np.isnan(best), np.inf, best)
            ends = np.fmin(self.minus[first] - b, self.plus[beyond] - a).astype(float)
            best = np.fmin(best, ends) + self.slack
            odds = np.expm1(np.maximum(best, 0.0))
        odds = np.where((first == 0) & (beyond == n), np.inf, odds)
        return np.where(first >= beyond, 0.0, odds)

    def _ends(self, l: Floats, u: Floats, a: Floats, b: Floats) -> Floats:
        """The theorem at t = l and at t = u: sharp where the crossing is closer to an end than doubles can say."""
        row, n = self.row, self.row.starts.size
        to = np.clip(np.searchsorted(row.ends, l, "left"), 0, n - 1)
        at = np.clip(np.searchsorted(row.starts, u, "right") - 1, 0, n - 1)
        return np.fmin(self.minus_at(l, to) - b, self.plus_at(u, at) - a) + self.slack

    def _one_sided(self, l: Floats, u: Floats, a: Floats, b: Floats) -> Floats:
        """The theorem at t = l and at t = u: each needs only one of a, b, which helps when the other is uncertain."""
        row, n = self.row, self.row.starts.size
        to = np.clip(np.searchsorted(row.ends, l, "left"), 0, n - 1)
        at = np.clip(np.searchsorted(row.starts, u, "right") - 1, 0, n - 1)
        rough = self.rough
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

    def _solve(
        self, c: Indices, goal: tuple[Floats, Floats], out: tuple[Floats, Floats], sharp: float
    ) -> tuple[Floats, Floats, Floats]:
        """T in cell c, and ln of E⁺(t)/a, E⁻(t)/b there; Newton on their difference, which is smooth and rises.

        The best t met on the way counts (the theorem holds for every t): near the crossing doubles may
        have none that Newton's next step leads to. Where next to nothing lies outside on one side, the two doubles
        around the crossing are worlds apart, and the farther one may say as much as the crossing itself.
        """
        row, k, (a, b) = self.row, self.k, out
        low, high = row.starts[c], row.ends[c]
        f0, f1 = self.rising[c], self.rising[c + 1]
        share = np.where(np.isfinite(f1 - f0) & (f1 > f0), (a - b - f0) / (f1 - f0), 0.5)
        t = low + np.clip(np.where(np.isnan(share), 0.5, share), 0.0, 1.0).astype(float) * (high - low)
        # the crossing lies inside the goal; a narrow goal in a wide cell would be missed otherwise
        low, high = np.clip(goal[0], low, high), np.clip(goal[1], low, high)
        t = np.where((t > low) & (t < high), t, (low + high) / 2)
        left, right = self.plus_at(t, c) - a, self.minus_at(t, c) - b
        best = t.copy(), left.copy(), right.copy()
        todo = np.flatnonzero((high > low) & np.isfinite(left - right))
        first, last, low, high = low, high, low.copy(), high.copy()
        # what Newton has not found by then lies closer to an end than doubles can say, where `_ends` is sharp
        for _ in range(16 if k > 0 else 60):
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
            moves = new != now
            if k < 0:  # to the next double, which is the other side of the crossing, or nearer to it
                new = np.where(moves, new, np.nextafter(now, np.where(gap < 0, np.inf, -np.inf)))
                moves = np.nextafter(low[todo], np.inf) < high[todo]
            todo, now, cell, gap, new = todo[moves], now[moves], cell[moves], gap[moves], new[moves]
            # a step beyond the cell goes to its end, which may be the crossing; other steps outside halve
            inner = (new > low[todo]) & (new < high[todo])
            beyond = ((gap < 0) & (new >= last[todo]) & (now < last[todo])) | (
                (gap > 0) & (new <= first[todo]) & (now > first[todo])
            )
            ends = np.clip(new, low[todo], high[todo])
            new = np.where(inner | beyond, ends, (low[todo] + high[todo]) / 2).astype(float)
            t[todo] = new
            left[todo], right[todo] = self.plus_at(new, cell) - a[todo], self.minus_at(new, cell) - b[todo]
            if k > 0:
                better = todo[np.abs(left[todo] - right[todo]) < np.abs(best[1][todo] - best[2][todo])]
            else:
                found, known = (np.minimum(x[1][todo], x[2][todo]) for x in ((t, left, right), best))
                better = todo[found > known]
            for kept, found in zip(best, (t, left, right), strict=True):
                kept[better] = found[better]
        return best

    def _drift(self, goal: tuple[Floats, Floats], out: tuple[Floats, Floats], t: Floats, c: Indices) -> Floats:
        """Bound on the error of ln(E(t)/a) and ln(E(t)/b) from the unknown shape of the density inside cells."""
        (l, u), (a, b) = goal, out
        row, k = self.row, self.k
        n = row.starts.size
        rough = self.rough
        at = np.clip(np.searchsorted(row.starts, l, "left") - 1, 0, n - 1)
        to = np.clip(np.searchsorted(row.ends, u, "right"), 0, n - 1)
        err_a = np.exp(np.logaddexp(self.plus_err[at], rough[at] + k * (l - self.x0)) - a)
        err_b = np.exp(np.logaddexp(self.minus_err[to + 1], rough[to] - k * (u - self.x1)) - b)
        top_a = np.exp(np.logaddexp(self.plus_err[c], rough[c] + k * (t - self.x0)) - self.plus_at(t, c))
        top_b = np.exp(np.logaddexp(self.minus_err[c + 1], rough[c] - k * (t - self.x1)) - self.minus_at(t, c))
        worst = np.fmax(np.where(a > -np.inf, err_a, 0.0), np.where(b > -np.inf, err_b, 0.0))
        top = np.fmax(np.where(a > -np.inf, top_a, 0.0), np.where(b > -np.inf, top_b, 0.0))
        return np.log1p(top) - np.log1p(-np.minimum(worst, 1 - 1e-16))

    def spread(self, first: tuple[Floats, Floats, Floats], last: tuple[Floats, Floats, Floats]) -> Floats:
        """How far ln of the factors of the theorem can be from those of the plain cells, for all victims of a range.

        first, last: l, u and the plain crossing t of the victims at its ends; all three move forward between them. The
        theorem holds for every t, hence for the plain one. What the cells get wrong up to y is at most the whole cells'
        η·(variation of e^{kx}) and the cut cell's η·e^{kx}; it only grows with y, and so do the integrals it is to be
        compared with: the error at one end over the integral at the other bounds the share of it in between.
        """
        row, k, n = self.row, self.k, self.row.starts.size
        plain = row.plain.sums(k)
        (l1, u1, t1), (l2, u2, t2) = first, last

        def left(y1: Floats, y2: Floats) -> Floats:
            i, j = (np.clip(np.searchsorted(row.starts, y, "left") - 1, 0, n - 1) for y in (y1, y2))
            border = k * ((y2 if k > 0 else row.starts[i]) - self.x0)
            wrong = np.logaddexp(self.plus_err[j], np.log(row.wobbles.between(i, j)) + border)
            return np.where(y2 <= row.low, 0.0, np.where(y1 <= row.low, np.inf, np.exp(wrong - plain.plus_at(y1, i))))

        def right(y1: Floats, y2: Floats) -> Floats:
            i, j = (np.clip(np.searchsorted(row.ends, y, "right"), 0, n - 1) for y in (y1, y2))
            border = -k * ((y1 if k > 0 else row.ends[j]) - self.x1)
            wrong = np.logaddexp(self.minus_err[i + 1], np.log(row.wobbles.between(i, j)) + border)
            return np.where(
                y1 >= row.high, 0.0, np.where(y2 >= row.high, np.inf, np.exp(wrong - plain.minus_at(y2, j)))
            )

        with np.errstate(all="ignore"):
            # a side on which nothing lies outside the goals takes no part
            sides = [(left(l1, l2), left(t1, t2), l2 <= row.low), (right(u1, u2), right(t1, t2), u1 >= row.high)]
            found = [np.where(gone, 0.0, np.log1p(top) - np.log1p(-np.minimum(out, 1.0))) for out, top, gone in sides]
        return np.nan_to_num(np.maximum(*found), nan=np.inf, posinf=np.inf)


def _lean(k: float, width: Floats) -> Floats:
    """∫ over a stretch of this width of e^{−|k|·(distance to its heavier end)}."""
    return -np.expm1(-abs(k) * np.maximum(width, 0.0)) / abs(k)


def prefix(weights: Floats, exponents: Floats, kind: type = float) -> Floats:
    """Logarithms of the running sums of weights·e^{exponents}, one longer than the input and starting at −∞."""
    with np.errstate(divide="ignore", invalid="ignore", under="ignore"):
        widest = float(np.abs(exponents).max())
        if widest < 600:
            found = np.log(np.cumsum((weights * np.exp(exponents)).astype(LONG)).astype(float))
        elif widest < WIDEST:
            found = np.log(np.cumsum(weights.astype(LONG) * np.exp(exponents.astype(LONG))))
        else:
            found = _piecewise(weights, exponents.astype(LONG))
    return np.concatenate([np.full(1, -np.inf), found]).astype(kind)


def _piecewise(weights: Floats, exponents: Floats) -> Floats:
    """The same in pieces whose exponents span so little that each fits into doubles."""
    falling = exponents[-1] < exponents[0]  # then the first terms outweigh all others, in one piece
    piece = np.floor((exponents - exponents[0]) / (np.inf if falling else SPAN))
    ends = np.append(np.flatnonzero(piece[1:] != piece[:-1]) + 1, exponents.size)
    if ends.size > MOST_PIECES or weights.min() < 1e-300:  # a long run of nothing would be lost
        return np.asarray(np.logaddexp.accumulate(np.log(weights.astype(LONG)) + exponents))
    base = exponents[:1] if falling else exponents[ends - 1]
    short = exponents - np.repeat(base, np.diff(ends, prepend=0))
    head = short.astype(float)
    terms = weights * np.exp(head) * (1 + (short - head).astype(float))  # the tail of an exponent is its relative error
    found = np.empty_like(exponents)
    total, start = LONG(0.0), 0
    for end, at, before in zip(ends.tolist(), base, np.append(base[:1], base[:-1]), strict=True):
        running = np.cumsum(terms[start:end].astype(LONG)) + total * np.exp(before - at)
        found[start:end] = np.log(running) + at
        total, start = running[-1], end
    return found
