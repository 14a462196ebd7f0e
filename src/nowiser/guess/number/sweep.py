"""Goals that are unions of intervals on one number: values outside pay for values inside, in one sweep.

The odds are at most o if z with z' = −k|z| + s·π, s = o outside and −1 inside, z(−∞) = 0, ends with z ≥ 0; for the
smallest such o they are attained. Between two ends of the goal z follows from tilted integrals; where it changes its
sign in between, that place is looked up in them. Many victims at once; o is found in logarithms.

For one interval this says: what is inside left of some t is paid for by what lies left of the interval, the rest by
what lies right of it; the largest odds are attained by a Laplace peak at that t.
"""

import math
from collections.abc import Sequence

import numpy as np

from nowiser.guess.number.pieces import Pieces, Place, chosen
from nowiser.guess.number.sums import Tilted, tilted
from nowiser.guess.rounding import EPS
from nowiser.model.priors.base import Floats

SHARP = 1e-11  # of the odds
MOST = 1e30  # odds that are certainty
ROUNDS = 80
NEAR = 4  # pieces that are tried around one that was looked up


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
    new, other, third = (high, at_high), (low, at_low), (high, at_high)  # Chandrupatla's method, as in `bracket`
    for _ in range(ROUNDS):
        apart = np.abs(new[0] - other[0])
        going = (apart > SHARP) & (at_low < 0) & (at_high >= 0)
        if not going.any():
            break
        (x1, f1), (x2, f2), (x3, f3) = new, other, third
        xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
        share = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
        share = np.where((phi * phi < xi) & ((1 - phi) ** 2 < 1 - xi), share, 0.5)
        aside = np.minimum(SHARP / (3 * apart), 0.5)
        probe = np.where(going, x1 + np.clip(np.nan_to_num(share, nan=0.5), aside, 1 - aside) * (x2 - x1), x1)
        found = probe, sweep.left(np.exp(probe))
        same = (found[1] >= 0) == (f1 >= 0)
        third = np.where(same, x1, x2), np.where(same, f1, f2)
        other = np.where(same, x2, x1), np.where(same, f2, f1)
        new = found
    at_high = np.maximum(new[1], other[1])
    high = np.where(new[1] >= other[1], new[0], other[0])
    spare = np.minimum(1e-12 + 16 * EPS * k * (places[-1].y - places[0].y), 1.0)
    return np.where((at_high < 0) | (high >= np.log(MOST)), np.inf, np.exp(high) * (1 + spare))


def peak(pieces: Pieces, k: float, low: Place, high: Place, odds: Floats) -> Place:
    """Where a likelihood e^{−k·distance} reaches about these odds of what is between two places; k < 0: of the rest.

    There what is left of it and inside is paid for by what is left of it and outside.
    """
    t, mirror = tilted(pieces, abs(k)), tilted(pieces, -abs(k))
    at = _paid_off(t, low, odds * t.below(low) if k > 0 else mirror.below(low) / odds, math.copysign(1.0, k))
    return chosen(low.upto(at), chosen(at.upto(high), at, high), low)


def reached(pieces: Pieces, k: float, t: Place, places: Sequence[Place], inside: Sequence[bool]) -> Floats:
    """The odds of what is inside after the likelihood e^{−k·distance from t}, from below."""
    tilt, shape = tilted(pieces, k), t.y.shape
    first, last = (pieces.place(np.full(shape, pieces.x[end]), after=bool(end)) for end in (0, -1))
    edges, own, rest = [first, *places, last], np.zeros(shape), np.zeros(shape)
    for flag, a, b in zip(inside, edges[:-1], edges[1:], strict=True):
        (left, near), (start, end) = ([chosen(e.upto(t) == lower, e, t) for e in (a, b)] for lower in (True, False))
        (below, off), (above, wrong) = tilt.to_right(left, near), tilt.to_left(start, end)
        fade, grow = np.exp(-k * (t.y - near.y)), np.exp(-k * (start.y - t.y))
        if flag:
            own = own + np.maximum(below - off, 0.0) * fade + np.maximum(above - wrong, 0.0) * grow
        else:
            rest = rest + (below + off) * fade + (above + wrong) * grow
    for side, flag, way in ((0, inside[0], t.y - pieces.x[0]), (1, inside[-1], pieces.x[-1] - t.y)):
        if pieces.lost[side] and not flag:
            rest = rest + (pieces.lost[side] if k > 0 else tilt.tail(side)) * np.exp(-k * way)
    return np.nan_to_num(own / rest * (1 - 1e-12), nan=0.0)


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
        at = _paid_off(self.tilted, a, due, 1.0 if flag else -1.0)
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


def _paid_off(t: Tilted, a: Place, due: Floats, sign: float) -> Place:
    """Where ∫ e^{±k(x−a)} from a onward reaches what is due."""
    p, k, last = t.pieces, sign * t.k, t.pieces.m.size - 1
    start = k * (a.y - p.x[p.x.size // 2])
    if sign > 0:
        i = np.searchsorted(t.totals[0], np.log(t.below(a) + due) + start, "right") - 1
    else:
        i = p.m.size - np.searchsorted(t.totals[1], np.log(np.maximum(t.above(a) - due, 0.0)) + start, "left")
    i = np.clip(i, a.i, last)
    for turn in range(NEAR):  # the tables are exact around the middle; far from it the piece may be another
        later, none = i > a.i, np.zeros(a.y.shape)
        base = chosen(later, Place(i, p.x[i], none, none), Place(i, a.y, a.s, none))
        so_far = t.to_right(a, base)[0] if sign > 0 else t.to_left(a, base)[0] * np.exp(k * (a.y - base.y))
        rest = due * np.exp(-k * (base.y - a.y)) - np.where(later, so_far, 0.0)
        g, h, tall = p.c[i] + k, p.x[i + 1] - base.y, p.p[i] * np.exp(p.c[i] * (base.y - p.x[i]))
        way = np.where(np.abs(g * h) < 1e-9, rest / tall, np.log1p(np.maximum(g * rest / tall, -1.0)) / g)
        share = np.where(p.w[i] > 0, way / h, rest / p.m[i] + base.s)
        new = np.clip(i - (later & (rest < 0)) + (share > 1 + 1e-9), a.i, last)
        if (new == i).all() or turn == NEAR - 1:
            break
        i = new
    y = np.where(p.w[i] > 0, base.y + h * np.clip(np.nan_to_num(share), 0.0, 1.0), p.x[i])
    s = np.where(p.w[i] > 0, 1.0, np.clip(share, 0.0, 1.0))
    return Place(i, y, s, none)
