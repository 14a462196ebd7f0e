"""One normal prior, possibly cut off at the ends, and single victims of it, in plain doubles.

Everything is in standard units: mean 0, sd 1, the prior on [low, high], goals [x − ρ, x + ρ], κ = k·sd nats per unit.
The theorem of `line` is symmetric, so both sides are treated alike, as rows of one array: with y = t on the left and
y = −t on the right, F(y) = ln ∫_{−∞}^y e^{κx} dπ (mirrored on the right), and e = l or −u the end of the goal,

    1 + odds ≤ e^W,   W = max over both rows of F(y) − F(e),   for every t inside the goal.

Used in the ordinary range only (costs and tails that doubles hold comfortably); everything else takes the way of
`tilt`, with which the tests compare it.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nowiser.guess.line import EPS
from nowiser.guess.profile import Near
from nowiser.guess.tilt import Piece, TiltLine
from nowiser.model.priors.base import Floats

Kinds = npt.NDArray[np.int8]
Flags = npt.NDArray[np.bool_]

STEEPEST = 14.0  # κ + ρ up to which Φ is an ordinary double as far out as victims are looked at
DEEPEST = 6.0  # how far out the prior may be cut off
HIGHEST = 20.0  # the largest jump
CHEAPEST = 1e-7  # nats over the goal: below, differences of ordinary doubles have too few digits
NARROWEST = 1e-3  # the smallest radius, in standard deviations; likewise
GRAIN = 1e3  # digits may cancel by this factor where the prior is cut to little
_ROOT_HALF = math.sqrt(0.5)
_ROOT_2PI = math.sqrt(2 * math.pi)


def bell_of(profile: Near) -> "Bell | None":
    """The bell of this prior and cost; None where it is another prior, or plain doubles do not suffice."""
    line = profile.line
    if not isinstance(line, TiltLine) or len(line.pieces) != 1 or not line.pieces[0].sd:
        return None
    bell = Bell(line.pieces[0], profile.radius, profile.rate, profile.jump)
    usual = (
        bell.reach >= NARROWEST
        and bell.shift + bell.reach <= STEEPEST
        and profile.jump <= HIGHEST
        and bell.shift * bell.reach + profile.jump >= CHEAPEST
        and bell.low <= DEEPEST
        and bell.high >= -DEEPEST
        and bell.high - bell.low >= 2.5 * bell.reach
        and bell.grain <= GRAIN
    )
    return bell if usual else None


def _erfc(v: Floats) -> Floats:
    """The complementary error function of arrays: for some dozens of numbers quicker than any series in numpy."""
    return np.fromiter(map(math.erfc, v.ravel().tolist()), float, v.size).reshape(v.shape)


class Bell:
    """The prior, the radius and the cost, in standard units."""

    def __init__(self, piece: Piece, radius: float, rate: float, jump: float) -> None:
        self.mean, self.sd = piece.mean, piece.sd
        self.low, self.high = (piece.low - piece.mean) / piece.sd, (piece.high - piece.mean) / piece.sd
        self.shift, self.reach = rate * piece.sd, radius / piece.sd
        self.lift = math.exp(min(jump, HIGHEST + 1))
        self.cut_off = self.low > -math.inf or self.high < math.inf
        cut = np.array([[self.low], [-self.high]]) - self.shift
        self._sign = np.where(cut <= 0, 1.0, -1.0)  # integrals are taken from the side on which fewer digits cancel
        self._cut = _erfc(-self._sign * cut * _ROOT_HALF) * (self._sign / 2)
        self.total = 1.0
        self.total = float(self.mass(np.array([self.low]), np.array([self.high]))[0])
        inner = 0.0 if self.low < 0 < self.high else min(abs(self.low), abs(self.high))
        beyond = math.erfc(inner * _ROOT_HALF) * (1 + inner * inner)
        self.grain = beyond / self.total if self.total > 0 else math.inf  # by how much digits cancel in masses

    def mass(self, l: Floats, u: Floats) -> Floats:
        """Prior probability of [l, u], inside [low, high]."""
        left, right = _erfc(np.abs(np.array([l, u])) * _ROOT_HALF) / 2  # beyond each end, away from the mean
        found = np.where(u <= 0, right - left, np.where(l >= 0, left - right, 1 - left - right))
        return np.asarray(found / self.total)

    def half(self, y: Floats) -> tuple[Floats, Floats]:
        """e^F·e^{−κ²/2} for both rows; and the factor by which digits cancel in it."""
        part = _erfc((y - self.shift) * (-_ROOT_HALF * self._sign)) * (self._sign / 2)
        found = part - self._cut
        return found, np.maximum(np.abs(part), np.abs(self._cut)) / found if self.cut_off else np.ones_like(found)

    def ends(self, x: Floats) -> Floats:
        """The rows l and −u of these victims' goals; what is beyond the prior by rounding alone is not beyond."""
        found = np.array([x - self.reach, -x - self.reach])
        if self.cut_off:
            edge = np.array([[self.low], [-self.high]])
            found = np.where(found > edge + 32 * EPS * (np.abs(x) + self.reach), found, edge)
        return found


@dataclass(frozen=True, eq=False)
class Victims:
    """Single victims: what is known about each, rounded against ourselves. Arrays of two rows are left and right."""

    x: Floats
    kind: Kinds  # −1 where the goal is taken to reach beyond `low`, 1 beyond `high`, else 0
    t: Floats
    y: Floats  # t and −t
    out: Floats  # F at the ends of the goal; −∞ where nothing is beyond
    slope: Floats  # of F at y
    slack: Floats  # rounding error of F
    slip: Floats  # of t
    after: Floats  # by either row; the larger one is the ceiling
    bend: Floats  # how fast it grows with W
    plain: Floats  # the posterior before the jump
    before: Floats
    weight: Floats  # N(t) = ∫ e^{−κ|x−t|} dπ
    drift: Floats  # the slope of ln N at t
    fall: Floats  # e^{−κ|x−t|} at the ends of the goal
    height: Floats  # density there; 0 where an end lies beyond the prior


def victims(bell: Bell, x: Floats, kind: Kinds, start: Floats | None, sharp: float) -> Victims:
    """The figures of these victims. `start`: where to look for t; `sharp`: how far both rows may differ in the end."""
    k, ends = bell.shift, bell.ends(x)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        beyond, lost = bell.half(ends)
        there, out = beyond > 0, np.log(beyond)
        y, inside, w, slope, gap, more = _peak(bell, ends, (there, out), start, sharp)
        slack = 16 * EPS * (1 + (np.abs(ends).max(axis=0) + k) ** 2)  # erfc, its rounded argument, the logarithm
        if bell.cut_off:
            slack = slack * np.where(there, np.maximum(lost, more), 1.0).max(axis=0)
        w = np.where(there, w + 2 * slack, 0.0)
    odds = np.expm1(w)
    lifted, plain = odds * bell.lift, odds.max(axis=0)
    weights = inside * np.exp(k * k / 2 - k * y) / bell.total
    weight = weights[0] + weights[1]
    height = np.exp(ends * ends / -2) / (_ROOT_2PI * bell.total)
    if bell.cut_off:
        height[0, kind < 0] = 0.0
        height[1, kind > 0] = 0.0
    return Victims(
        x=x,
        kind=kind,
        t=y[0],
        y=y,
        out=out,
        slope=slope,
        slack=slack,
        slip=1.3
        * (np.abs(gap) + 4 * slack),  # the rows part at a speed of at least 0.79, a normal's hazard at its mean
        after=lifted / (1 + lifted) * (1 + 4 * EPS),
        bend=(bell.lift + lifted) / (1 + lifted) ** 2,
        plain=plain / (1 + plain),
        before=np.maximum(bell.mass(ends[0], -ends[1]) - 32 * EPS * bell.grain, 0.0),
        weight=weight,
        drift=k * (weights[1] - weights[0]) / weight,
        fall=np.exp(-k * (y - ends)),
        height=height,
    )


def _peak(
    bell: Bell, ends: Floats, beyond: tuple[Flags, Floats], start: Floats | None, sharp: float
) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats]:
    """Newton's method, kept inside a bracket, for the t at which both rows are equal; any t is sound.

    Where nothing lies beyond one end of the goal, t is that end. Returned are y, e^F there, W, the slope of F, by how
    much the rows differ, and the factor by which digits cancel.
    """
    (there, out), low, high = beyond, ends[0], -ends[1]
    both = there[0] & there[1]
    every = bool(both.all())
    if start is None:  # a straight line from one end of the goal to the other
        right, left = np.log(bell.half(-ends[::-1])[0]) - out
        start = low + (high - low) * (left / (left + right))
    t = np.minimum(np.maximum(start, low), high)
    if not every:
        t = np.where(there[0], np.where(there[1], t, high), low)
    for _ in range(40):
        y = np.array([t, -t])
        inside, lost = bell.half(y)
        w = np.log(inside) - out
        slope = np.exp((y - bell.shift) ** 2 / -2) / (inside * _ROOT_2PI)
        gap = w[0] - w[1] if every else np.where(both, w[0] - w[1], 0.0)
        if not (np.abs(gap) > (sharp * lost.max(axis=0) if bell.cut_off else sharp)).any():
            break
        low, high = np.where(gap < 0, t, low), np.where(gap > 0, t, high)
        new = t - gap / (slope[0] + slope[1])
        t = np.where((new >= low) & (new <= high), new, (low + high) / 2)
    return y, inside, w, slope, gap, lost
