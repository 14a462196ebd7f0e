"""Goals that are unions of intervals on one number: values outside pay for values inside, in one sweep.

The odds are at most o if z with z' = −k|z| + s·π, s = o outside and −1 inside, z(−∞) = 0, ends with z ≥ 0; for the
smallest such o they are attained. Between two ends of the goal z follows from tilted integrals; where it changes its
sign in between, that place is looked up in them. Many victims at once; o is found by false position in logarithms.
"""

from collections.abc import Sequence

import numpy as np

from nowiser.guess.number.pieces import Pieces, Place
from nowiser.guess.number.sums import Tilted, tilted
from nowiser.guess.rounding import EPS
from nowiser.model.priors.base import Floats

SHARP = 5e-7  # of the odds
MOST = 1e30  # odds that are certainty
ROUNDS = 80


def swept(pieces: Pieces, k: float, places: Sequence[Place], inside: Sequence[bool], least: Floats) -> Floats:
    """The odds of each goal, from above; places: one for each end; least: odds that nothing is below."""
    sweep = _Sweep(pieces, k, places, inside)
    low, step = np.log(np.clip(least, 1e-300, MOST)), 0.25
    at_low = sweep.left(np.exp(low))
    high, at_high = low, at_low
    while (short := (at_high < 0) & (high < np.log(MOST))).any():  # a bracket
        low, at_low = np.where(short, high, low), np.where(short, at_high, at_low)
        high = np.where(short, high + step, high)
        at_high, step = sweep.left(np.exp(high)), step * 2
    side = np.zeros(low.shape)
    for turn in range(ROUNDS):
        going = (high - low > SHARP) & (at_low < 0)
        if not going.any():
            break
        share = np.clip(-at_low / (at_high - at_low), 0.02, 0.98) if turn % 4 else np.full(low.shape, 0.5)
        new = np.where(going, low + (high - low) * share, high)
        at = sweep.left(np.exp(new))
        good, bad = going & (at >= 0), going & (at < 0)
        at_low, at_high = (
            np.where(good & (side > 0), at_low / 2, at_low),
            np.where(bad & (side < 0), at_high / 2, at_high),
        )
        low, at_low = np.where(bad, new, low), np.where(bad, at, at_low)
        high, at_high = np.where(good, new, high), np.where(good, at, at_high)
        side = np.where(good, 1.0, -1.0)
    spare = 1e-9 + 16 * EPS * k * (pieces.x[-1] - pieces.x[0])
    return np.where((at_high < 0) | (high >= np.log(MOST)), np.inf, np.exp(high) * (1 + min(spare, 1.0)))


class _Sweep:
    """The integrals between the ends of goals, from above inside and from below outside."""

    def __init__(self, pieces: Pieces, k: float, places: Sequence[Place], inside: Sequence[bool]) -> None:
        self.pieces, self.k, self.places, self.inside = pieces, k, places, inside
        self.tilted = tilted(pieces, k)
        mirror = tilted(pieces, -k)
        first, last = places[0], places[-1]
        one, other = (mirror if flag else self.tilted for flag in (inside[0], inside[-1]))
        self.first = (_up if inside[0] else _down)(one.below(first), one.below(first, True))
        self.last = (_up if inside[-1] else _down)(other.above(last), other.above(last, True))
        self.owed = self.tilted.beyond(0, first), self.tilted.beyond(1, last)
        self.steps: list[tuple[bool, Place, Place, Floats, Floats, Floats]] = []
        for flag, a, b in zip(inside[1:-1], places[:-1], places[1:], strict=True):
            known = _up if flag else _down
            to_right, to_left = known(*self.tilted.to_right(a, b)), known(*self.tilted.to_left(a, b))
            self.steps.append((flag, a, b, np.exp(-k * (b.y - a.y)), to_right, to_left))

    def left(self, odds: Floats) -> Floats:
        """What is left at the end when values outside pay `odds` each."""
        z = -self.first if self.inside[0] else odds * self.first - self.owed[0]
        for flag, a, b, fade, to_right, to_left in self.steps:
            sign, weight = (-1.0, np.ones(odds.shape)) if flag else (1.0, odds)
            kept, grown = fade * z + sign * weight * to_right, (z + sign * weight * to_left) / fade
            same = z * sign >= 0
            new = np.where(same, kept if not flag else grown, grown if not flag else kept)
            turned = np.flatnonzero(~same & (new * sign > 0))
            if turned.size:
                due, weight = np.abs(z[turned]) / weight[turned], weight[turned]
                new[turned] = sign * weight * self._rest(flag, a.at(turned), b.at(turned), due)
            z = np.where(np.isnan(new), -np.inf, new)
        end = z - self.last if self.inside[-1] else z + odds * self.last - self.owed[1]
        return np.clip(np.where(np.isnan(end), -np.inf, end), -1e300, 1e300)

    def _rest(self, flag: bool, a: Place, b: Place, due: Floats) -> Floats:
        """What the stretch from a to b adds after it has paid what was due: per unit of weight."""
        find = _credit_ends if flag else _debt_ends
        at = find(self.tilted, a, due)
        y = np.clip(at.y, a.y, b.y)
        at = Place(np.clip(at.i, a.i, b.i), y, np.where(at.y < a.y, 0.0, np.where(at.y > b.y, 1.0, at.s)), at.over)
        if flag:  # then debt grows until b, also what the credit may be short of
            short = self.tilted.to_right(a, at)[1]
            return (_up(*self.tilted.to_left(at, b)) + short) * np.exp(self.k * (b.y - at.y))
        short = self.tilted.to_left(a, at)[1] * np.exp(self.k * ((at.y - a.y) - (b.y - at.y)))
        return np.maximum(_down(*self.tilted.to_right(at, b)) - short, 0.0)


def _up(found: Floats, off: Floats) -> Floats:
    return found + off * 1.01


def _down(found: Floats, off: Floats) -> Floats:
    return np.maximum(found - off * 1.01, 0.0)


def _credit_ends(t: Tilted, a: Place, due: Floats) -> Place:
    """Where ∫ e^{k(x−a)} from a onward reaches what is due."""
    p, k = t.pieces, t.k
    middle = p.x[p.x.size // 2]
    target = np.log(t.below(a) + due) + k * (a.y - middle)
    i = np.clip(np.searchsorted(t.totals[0], target, "right") - 1, a.i, p.m.size - 1)
    rest = np.maximum(np.exp(target - k * (p.x[i] - middle)) - t.a[i], 0.0)  # ∫ e^{k(x − left edge)} of the part
    g = p.c[i] + k
    way = np.where(np.abs(g * p.w[i]) < 1e-9, rest / p.p[i], np.log1p(g * rest / p.p[i]) / g)
    y = np.where(p.w[i] > 0, np.minimum(p.x[i] + np.nan_to_num(way, nan=0.0), p.x[i + 1]), p.x[i])
    s = np.where(p.w[i] > 0, 1.0, np.clip(rest / p.m[i], 0.0, 1.0))
    return Place(i, y, s, np.zeros(y.shape))


def _debt_ends(t: Tilted, a: Place, due: Floats) -> Place:
    """Where ∫ e^{−k(x−a)} from a onward reaches what is due."""
    p, k = t.pieces, t.k
    middle = p.x[p.x.size // 2]
    target = np.log(np.maximum(t.above(a) - due, 0.0)) - k * (a.y - middle)
    i = np.clip(p.m.size - np.searchsorted(t.totals[1], target, "left"), a.i, p.m.size - 1)
    whole = np.exp(target + k * (p.x[i] - middle))
    rest = np.maximum(whole - t.b[i + 1] * np.exp(-k * p.w[i]), 0.0)  # ∫ e^{−k(x − left edge)} of what is left of it
    g, w = p.c[i] - k, p.w[i]
    tall = p.p[i] * np.exp(g * w)
    way = np.where(np.abs(g * w) < 1e-9, w - rest / tall, w + np.log1p(-g * rest / tall) / g)
    y = np.where(w > 0, np.maximum(np.minimum(p.x[i] + np.nan_to_num(way, nan=0.0), p.x[i + 1]), p.x[i]), p.x[i])
    s = np.where(w > 0, 1.0, np.clip(1 - rest / p.m[i], 0.0, 1.0))
    return Place(i, y, s, np.zeros(y.shape))
