"""Priors made of closed-form pieces: normal, uniform, and their mixtures (also with histograms of few bins) and
truncations. `tilt(k, a, b, at)` is ln ∫_a^b e^{k(x − at)} dπ(x), see `closed_form`.
"""

import math

import numpy as np

from nowiser.guess.density import gauss
from nowiser.guess.density.closed_form import STEEP, Piece, pieces_of, total_of
from nowiser.guess.density.line import EPS, LARGEST
from nowiser.guess.ranges import distinct
from nowiser.model.prior import Prior
from nowiser.model.priors.base import Floats

MOST_STEPS = 60  # in the search for t; each halves the gap or what is left of the goal
FURTHER = 4.0  # how far such a step may go at first, in nats of ln((t−l)/(u−t))
_LOG_SQRT_2PI = math.log(2 * math.pi) / 2


class TiltLine:
    """A prior made of closed-form pieces."""

    def __init__(self, prior: Prior) -> None:
        self.pieces = pieces_of(prior)
        self.total = total_of(self.pieces)
        self.atoms = np.zeros(0)
        self.low = min(p.low for p in self.pieces)
        self.high = max(p.high for p in self.pieces)
        ends = [end for p in self.pieces for end in (p.low, p.high) if math.isfinite(end)]
        self._jumps = distinct(np.array(ends, float))

    def tilt(self, k: float, a: Floats, b: Floats, at: Floats, *, rough: bool = False) -> Floats:
        found = self.pieces[0].tilt(k, a, b, at, rough=rough)
        for piece in self.pieces[1:]:
            found = np.logaddexp(found, piece.tilt(k, a, b, at, rough=rough))
        return found

    def mass(self, l: Floats, u: Floats) -> Floats:
        return np.minimum(np.exp(self.tilt(0.0, l, u, l) - self.total), 1.0)

    def _factors(
        self, k: float, l: Floats, u: Floats, t: Floats, out: tuple[Floats, Floats], *, rough: bool = False
    ) -> tuple[Floats, Floats]:
        """Ln of the two factors of the theorem, at t; an absent side is +∞."""
        with np.errstate(invalid="ignore"):
            left = self.tilt(k, l, t, l, rough=rough) - out[0]
            right = self.tilt(-k, t, u, u, rough=rough) - out[1]
        return np.where(out[0] == -np.inf, np.inf, left), np.where(out[1] == -np.inf, np.inf, right)

    def density(self, t: Floats) -> Floats:
        """Ln of the prior density, unnormalised as `tilt` is."""
        found = np.full_like(t, -np.inf)
        for p in self.pieces:
            inner = -(((t - p.mean) / p.sd) ** 2) / 2 - math.log(p.sd) - _LOG_SQRT_2PI if p.sd else 0.0 * t
            found = np.logaddexp(found, np.where((t >= p.low) & (t <= p.high), p.weight + inner, -np.inf))
        return found

    def crossing(self, k: float, l: Floats, u: Floats) -> tuple[Floats, Floats, Floats, tuple[Floats, Floats]]:
        """The ends clipped to the support, t, and ln of the outside integrals.

        Newton's method on ln P(t)/a − ln Q(t)/b in the variable s = ln((t−l)/(u−t)), in which both logarithms are
        nearly straight lines, kept inside a shrinking bracket. Any t is sound; more steps only sharpen.
        """
        l = np.clip(l, self.low, self.high)
        u = np.clip(u, self.low, self.high)
        far = np.full_like(l, np.inf)
        out = self.tilt(k, -far, l, l), self.tilt(-k, u, far, u)
        open_ = (out[0] > -np.inf) & (out[1] > -np.inf) & (l < u)
        t = np.where(out[0] == -np.inf, l, np.where(out[1] == -np.inf, u, u))
        if not open_.any():
            return l, u, t, out
        t[open_] = self._newton(k, l[open_], u[open_], (out[0][open_], out[1][open_]))
        return l, u, t, out

    def _newton(self, k: float, l: Floats, u: Floats, out: tuple[Floats, Floats]) -> Floats:
        """The t with the sharpest bound met on the way; stops where a further step would gain less than 1e-12 of it.

        Where the density jumps, or has a narrow peak, Newton's steps may lead to and fro for ever: the crossing is
        looked for between two jumps, and a step after one that did not halve the gap halves the bracket.
        """
        one = self.pieces[0]
        if len(self.pieces) == 1 and self.low == -math.inf and self.high == math.inf and abs(k) * one.sd < STEEP:
            return _normal_crossing(one, k, l, u)
        best, sharpest = (l + u) / 2, np.full_like(l, np.inf)
        side, todo, before = math.copysign(1.0, k), np.arange(l.size), np.full_like(l, np.inf)
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            low, high = self._between_jumps(k, l, u, out)
            # from the middle of the goal; else from that of the bracket, not too far from its finite end
            middle = (low + high) / 2
            s = np.where(low >= 0, np.minimum(middle, low + FURTHER), 0.0)
            s = np.where(high <= 0, np.maximum(middle, high - FURTHER), s)
            for _ in range(MOST_STEPS):
                ends = l[todo], u[todo]
                width, beyond, now = ends[1] - ends[0], (out[0][todo], out[1][todo]), s[todo]
                share, rest = gauss.expit(now), gauss.expit(-now)
                t = np.where(now < 0, ends[0] + width * share, ends[1] - width * rest)
                left, right = self._factors(k, *ends, t, beyond, rough=True)
                gap, value = left - right, np.maximum(side * left, side * right)
                better = value < sharpest[todo]
                best[todo[better]], sharpest[todo[better]] = t[better], value[better]
                low[todo], high[todo] = np.where(gap < 0, now, low[todo]), np.where(gap > 0, now, high[todo])
                inner = self.density(t) + np.log(width * share * rest)
                rises = np.exp(inner + k * (t - ends[0]) - beyond[0] - left)
                falls = np.exp(inner + k * (ends[1] - t) - beyond[1] - right)
                step = gap / (rises + falls)
                new = now - step
                safe = (new > low[todo]) & (new < high[todo]) & (np.abs(gap) <= before[todo] / 2)
                before[todo] = np.abs(gap)
                reach = FURTHER + np.abs(now)
                s[todo] = np.where(safe, new, np.clip((low[todo] + high[todo]) / 2, now - reach, now + reach))
                todo = todo[~(np.abs(step) * np.where(side * gap > 0, rises, falls) <= 1e-12)]
                if not todo.size:
                    break
        return best

    def _between_jumps(self, k: float, l: Floats, u: Floats, out: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        """The bracket of s in which the crossing lies and the density does not jump (see `_newton`)."""
        low, high = np.full_like(l, -745.0), np.full_like(l, 745.0)
        i, j = np.searchsorted(self._jumps, l, "right"), np.searchsorted(self._jumps, u, "left")
        while (todo := np.flatnonzero(i < j)).size:
            middle = (i[todo] + j[todo]) // 2
            t, ends = self._jumps[middle], (l[todo], u[todo])
            left, right = self._factors(k, *ends, t, (out[0][todo], out[1][todo]), rough=True)
            at, rises = np.log((t - ends[0]) / (ends[1] - t)), left < right
            low[todo], high[todo] = np.where(rises, at, low[todo]), np.where(rises, high[todo], at)
            i[todo], j[todo] = np.where(rises, middle + 1, i[todo]), np.where(rises, j[todo], middle)
        return low, high

    def odds(self, k: float, l: Floats, u: Floats) -> Floats:
        return self.tight(k, np.atleast_1d(l).astype(float), np.atleast_1d(u).astype(float))[0]

    def _bound(self, k: float, ends: tuple[Floats, Floats], t: Floats, out: tuple[Floats, Floats]) -> Floats:
        """The bound of the theorem at t, with its rounding error."""
        l, u = ends
        left, right = self._factors(k, l, u, t, out)
        only_right, only_left = out[0] == -np.inf, out[1] == -np.inf
        sign = math.copysign(1.0, k)
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            chosen = np.maximum(left, right) if k > 0 else np.minimum(left, right)
            chosen = np.where(only_right, right, np.where(only_left, left, chosen))
            short = np.where(only_left | only_right, u - l, np.minimum(t - l, u - t))
            chosen = chosen + sign * self._slack(k, (l, u), short, chosen)
            if k > 0:  # the theorem at t = u and at t = l needs one side only: sharp far out in a tail
                whole = np.fmin(self.tilt(k, l, u, l) - out[0], self.tilt(-k, l, u, u) - out[1])
                whole = whole + self._slack(k, (l, u), u - l, whole)
                chosen = np.where(only_left | only_right, chosen, np.fmin(chosen, whole))
            found = np.exp(chosen) if k > 0 else np.exp(np.minimum(chosen, math.log(LARGEST)))
        found = np.where(np.isnan(found), np.inf if k > 0 else 0.0, found)
        return np.where(only_left & only_right, np.inf, found)

    def _slack(self, k: float, ends: tuple[Floats, Floats], width: Floats, log: Floats) -> Floats:
        """Rounding error of ln of an integral over a stretch of this width between the ends, over one outside.

        Integrals over a stretch are differences of half lines; the half line is sd/max(1, |z|) times the density wide,
        with z counted from the tilted mean, so that much is lost. Exponents are as large as z² and k·width.
        """
        l, u = ends
        worst = np.zeros_like(l)
        for p in self.pieces:
            if not p.sd:
                continue
            a, b = (np.clip(l, p.low, p.high) - p.mean) / p.sd, (np.clip(u, p.low, p.high) - p.mean) / p.sd
            shift = abs(k) * p.sd
            near = np.minimum(_from_zero(a - shift, b - shift), _from_zero(a + shift, b + shift))
            grain = 1 + p.sd / (np.maximum(0.8, near) * np.maximum(width, 1e-300))
            worst = np.maximum(worst, (4 + np.maximum(a * a, b * b)) * grain)
        size = abs(k) * (u - l) + np.abs(np.where(np.isfinite(log), log, 0.0))
        found = 8 * EPS * (4 + worst + size)
        return np.minimum(np.where(np.isnan(found), 0.5, found), 0.5)

    @property
    def concave(self) -> bool:
        """Whether the density is log-concave: then `shared` bounds whole ranges of victims."""
        return len(self.pieces) == 1

    def shared(self, k: float, first: Floats, last: Floats, radius: float, offset: Floats) -> Floats:
        """One bound on the odds for all victims between `first` and `last`, for a log-concave density and k > 0.

        Take t = x + offset for every victim x. E⁺ and E⁻ are log-concave because e^{±kx}π is, so that
        E⁺(x + offset)/E⁺(x − r) falls with x and E⁻(x + offset)/E⁻(x + r) rises: the first is largest at `first`, the
        second at `last`. Where all goals reach beyond an end of the support, only the other side counts, with t at
        that end.
        """
        l1, l2 = np.clip(first - radius, self.low, self.high), np.clip(last - radius, self.low, self.high)
        u1, u2 = np.clip(first + radius, self.low, self.high), np.clip(last + radius, self.low, self.high)
        no_left, no_right = l2 <= self.low, u1 >= self.high
        far = np.full_like(l1, np.inf)
        t1 = np.where(no_right, self.high, np.clip(first + offset, l1, u1))
        t2 = np.where(no_left, self.low, np.clip(last + offset, l2, u2))
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            left = self.tilt(k, l1, t1, l1) - self.tilt(k, -far, l1, l1)
            right = self.tilt(-k, t2, u2, u2) - self.tilt(-k, u2, far, u2)
            left = np.where(no_left, -np.inf, left + self._slack(k, (l1, t1), t1 - l1, left))
            right = np.where(no_right, -np.inf, right + self._slack(k, (t2, u2), u2 - t2, right))
            found = np.exp(np.maximum(left, right))
        return np.where(np.isnan(found) | (no_left & no_right), np.inf, found)

    def tight(self, k: float, l: Floats, u: Floats) -> tuple[Floats, Floats]:
        """The bound on the odds, and t, in one go."""
        l, u, t, out = self.crossing(k, l, u)
        return self._bound(k, (l, u), t, out), t

    def weight(self, k: float, t: Floats) -> Floats:
        """∫ e^{−k|x−t|} dπ."""
        far = np.full_like(t, np.inf)
        return np.exp(np.logaddexp(self.tilt(k, -far, t, t), self.tilt(-k, t, far, t)) - self.total)

    def drift(self, k: float, t: Floats) -> Floats:
        """The slope of ln `weight` at t: the balance of what lies right and left of it."""
        far = np.full_like(t, np.inf)
        with np.errstate(invalid="ignore", over="ignore"):
            return k * np.tanh((self.tilt(-k, t, far, t) - self.tilt(k, -far, t, t)) / 2)

    def heights(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Bounds on the density over (a, b), piece by piece: each is highest nearest its mean, lowest at an end."""
        both = [self._height(p, a, b) for p in self.pieces]
        return np.asarray(sum(low for low, _ in both)), np.asarray(sum(high for _, high in both))

    def _height(self, p: Piece, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        scale = np.exp(p.weight - self.total)
        if p.sd:
            scale /= p.sd * math.sqrt(2 * math.pi)
            near = np.clip(p.mean, np.maximum(a, p.low), np.minimum(b, p.high))
            far = np.maximum(np.abs(a - p.mean), np.abs(b - p.mean))
            top, bottom = np.exp(-(((near - p.mean) / p.sd) ** 2) / 2), np.exp(-((far / p.sd) ** 2) / 2)
        else:
            top, bottom = np.ones_like(a), np.ones_like(a)
        inside, touched = (a >= p.low) & (b <= p.high), (b > p.low) & (a < p.high)
        return np.where(inside, scale * bottom, 0.0), np.where(touched, scale * top, 0.0)

    def peak(self, k: float, l: float, u: float) -> float:
        return float(self.crossing(k, np.array([l], dtype=float), np.array([u], dtype=float))[2][0])

    def leanings(self, a: Floats, b: Floats) -> tuple[Floats, Floats]:
        """Bounds on the slope of ln density over (a, b): an average of the pieces' slopes, weighted with their heights.

        So it lies between them, and near that of the highest piece: each other pulls it away by at most its weight,
        which is at most its largest height over the smallest height of all together.
        """
        smooth = np.ones(a.shape, bool)
        falls, rises, floors, roofs = [], [], [], []
        for p in self.pieces:
            away = (b <= p.low) | (a >= p.high)
            smooth &= away | ((a >= p.low) & (b <= p.high))
            falls.append(np.where(away, np.inf, (p.mean - b) / p.sd**2 if p.sd else 0.0))
            rises.append(np.where(away, -np.inf, (p.mean - a) / p.sd**2 if p.sd else 0.0))
            floor, roof = self._height(p, a, b)
            floors.append(floor)
            roofs.append(roof)
        low, high = np.minimum.reduce(falls), np.maximum.reduce(rises)
        smooth &= low <= high
        if len(self.pieces) > 1:
            total = np.sum(floors, axis=0)
            with np.errstate(all="ignore"):
                for j in range(len(self.pieces)):
                    down, up = falls[j], rises[j]
                    for i in range(len(self.pieces)):
                        if i != j:
                            weight = np.where(roofs[i] > 0, np.fmin(roofs[i] / total, 1.0), 0.0)
                            up = up + np.where(weight > 0, weight * np.maximum(rises[i] - falls[j], 0.0), 0.0)
                            down = down - np.where(weight > 0, weight * np.maximum(rises[j] - falls[i], 0.0), 0.0)
                    sure = np.isfinite(up) & np.isfinite(down) & (floors[j] > 0)
                    low, high = np.where(sure, np.maximum(low, down), low), np.where(sure, np.minimum(high, up), high)
        return np.where(smooth, low, -np.inf), np.where(smooth, high, np.inf)

    def landmarks(self) -> Floats:
        grid = np.linspace(-8, 8, 65)
        found = [p.mean + p.sd * grid if p.sd else np.linspace(p.low, p.high, 33) for p in self.pieces]
        ends = [e for p in self.pieces for e in (p.low, p.high) if math.isfinite(e)]
        return np.concatenate([*found, ends])

    def victims(self) -> tuple[Floats, Floats]:
        """The support; of an unbounded normal up to where its mass is smaller than any double (see `FARTHEST`)."""
        spans = sorted(p.possible() for p in self.pieces)
        merged = [list(spans[0])]
        for low, high in spans[1:]:
            if low <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], high)
            else:
                merged.append([low, high])
        return np.array([m[0] for m in merged]), np.array([m[1] for m in merged])

    def wiggle(self) -> float:
        return 0.0


def _from_zero(a: Floats, b: Floats) -> Floats:
    """The distance of the interval [a, b] from zero."""
    return np.maximum(np.maximum(a, -b), 0.0)


def _normal_crossing(normal: Piece, k: float, l: Floats, u: Floats) -> Floats:
    """The crossing for one normal: ln Φ(t−κ) − ln Φ(−t−κ) = ln Φ(l−κ) − ln Φ(−u−κ) in standard units, by Newton."""
    shift = k * normal.sd
    low, high = (l - normal.mean) / normal.sd, (u - normal.mean) / normal.sd
    target = gauss.log_ndtr(low - shift) - gauss.log_ndtr(-high - shift)
    t, a, b = (low + high) / 2, low.copy(), high.copy()
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        for _ in range(30):
            left, right = gauss.log_ndtr(t - shift), gauss.log_ndtr(-t - shift)
            gap = left - right - target
            a, b = np.where(gap < 0, t, a), np.where(gap > 0, t, b)
            rate = np.exp(-((t - shift) ** 2) / 2 - left) + np.exp(-((t + shift) ** 2) / 2 - right)
            new = t - gap * math.sqrt(2 * math.pi) / rate
            new = np.where((new >= a) & (new <= b), new, (a + b) / 2)
            if not (np.abs(new - t) > 1e-13 * (1 + np.abs(t))).any():
                break
            t = new
    return np.clip(normal.mean + normal.sd * t, l, u)
