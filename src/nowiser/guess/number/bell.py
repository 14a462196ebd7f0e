"""One normal prior, possibly cut off at the ends, and single victims of it, in plain doubles.

Everything is in standard units: mean 0, sd 1, the prior on [low, high], goals [x − ρ, x + ρ], κ = k·sd nats per unit.
The theorem of `line` is symmetric, so both sides are treated alike, as rows of one array: with y = t on the left and
y = −t on the right, F(y) = ln ∫_{−∞}^y e^{κx} dπ (mirrored on the right), and e = l or −u the end of the goal,

    1 + odds ≤ e^W,   W = max over both rows of F(y) − F(e),   for every t inside the goal.

Between two neighbouring victims x₁ < x₂ (see `neighbours`) everything follows from log-concavity. F is concave, because
integrals of log-concave functions are log-concave; so t − l grows with the victim and u − t shrinks (see `follow`), N
is log-concave in t, and the values at x₁ and x₂ bound them. A further bound is sharp for large costs:

* *chords*: let t move evenly from t₁ to t₂. F(y) is below its tangents at y₁ and y₂, and F(e) above its chord; prior
  masses of goals of one size are log-concave in the victim, so b is above b₁^{1−λ}·b₂^λ. `after` rises with W and is
  concave in it (for jumps ≥ 0), so for either row the gain is below a concave function of λ, and that is below its
  tangents at 0 and 1.

Of all victims farther out than the last: with t = u only the left row counts, whose F(u) − F(l) falls with x; likewise
on the other side with t = l.

Used in the ordinary range only (costs and tails that doubles hold comfortably); everything else takes the way of
`tilt`, with which the tests compare it.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from nowiser.guess.density.closed_form import Piece
from nowiser.guess.density.line import EPS
from nowiser.guess.density.tilt import TiltLine
from nowiser.guess.number.follow import Objective
from nowiser.guess.number.profile import Near
from nowiser.guess.number.victims import Between, Flags, Kinds, Victims, tent
from nowiser.model.priors.base import Floats

FAR = 8.0  # standard deviations beyond the tilted mean, where nothing is left of the other side
STEP = 0.35  # between the first victims
NARROW = 1.0  # radius, in standard deviations, up to which the ends of a goal are looked at together
STEEPEST_BEND = 0.56  # a normal density's third derivative is at most that
LARGE = 0.1  # nats over the goal from which on chords are worth asking
SPARE = 1e-12  # relative rounding error, amply
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
        self.origin, self.unit = piece.mean, piece.sd
        self.low, self.high = (piece.low - piece.mean) / piece.sd, (piece.high - piece.mean) / piece.sd
        self.shift, self.reach = rate * piece.sd, radius / piece.sd
        self.lift = math.exp(min(jump, HIGHEST + 1))
        self.costly = self.shift * self.reach > LARGE or self.lift > 1 + LARGE
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

    def first(self) -> tuple[Floats, Kinds]:
        """Victims to start from. A symmetric prior has symmetric victims: only those below the mean are looked at.

        A victim whose goal just touches an end of the prior is looked at as one of either kind.
        """
        far = self.shift + self.reach + FAR
        low, high = max(self.low, -far), min(self.high, far) if self.low != -self.high else 0.0
        touching = [x for x in (self.low + self.reach, self.high - self.reach) if low < x < high]
        xs, kinds = [], []
        for a, b in itertools.pairwise([low, *touching, high]):
            xs.append(np.linspace(a, b, math.ceil((b - a) / STEP) + 1))
            middle = (a + b) / 2
            kind = -1 if middle - self.reach < self.low else int(middle + self.reach > self.high)
            kinds.append(np.full(xs[-1].size, kind, np.int8))
        return np.concatenate(xs), np.concatenate(kinds)

    def beyond(self, objective: Objective, x: Floats) -> float:
        """A bound for all victims outside the first and the last that are looked at (mirrored ones are not outside)."""
        outside = np.array([self.high > x[-1] and self.low != -self.high, self.low < x[0]])
        if not outside.any():
            return -math.inf
        y = np.array([[x[-1] + self.reach, x[-1] - self.reach], [self.reach - x[0], -self.reach - x[0]]])
        with np.errstate(divide="ignore", invalid="ignore"):
            log = np.log(self.half(np.minimum(y, np.array([[self.high], [-self.low]])))[0])
        odds = np.expm1((log[:, 0] - log[:, 1])[outside].max() + SPARE) * self.lift
        return float((objective.offset + objective.up * odds / (1 + odds)).max())

    def look(self, x: Floats, kind: Kinds, start: Floats | None, sharp: float) -> "BellVictims":
        """The figures of these victims. `start`: where to look for t; `sharp`: how far both rows may differ."""
        k, ends = self.shift, self.ends(x)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            beyond, lost = self.half(ends)
            there, out = beyond > 0, np.log(beyond)
            y, inside, w, slope, gap, more = _peak(self, ends, (there, out), start, sharp)
            slack = 16 * EPS * (1 + (np.abs(ends).max(axis=0) + k) ** 2)  # erfc, its rounded argument, the logarithm
            if self.cut_off:
                slack = slack * np.where(there, np.maximum(lost, more), 1.0).max(axis=0)
            w = np.where(there, w + 2 * slack, 0.0)
        odds = np.expm1(w)
        lifted, plain = odds * self.lift, odds.max(axis=0)
        weights = inside * np.exp(k * k / 2 - k * y) / self.total
        weight = weights[0] + weights[1]
        height = np.exp(ends * ends / -2) / (_ROOT_2PI * self.total)
        if self.cut_off:
            height[0, kind < 0] = 0.0
            height[1, kind > 0] = 0.0
        return BellVictims(
            x=x,
            kind=kind,
            t=y[0],
            # the rows part at a speed of at least 0.79, a normal's hazard at its mean
            slip=1.3 * (np.abs(gap) + 4 * slack),
            slack=slack + np.abs(gap),
            after=lifted / (1 + lifted) * (1 + 4 * EPS),
            bend=(self.lift + lifted) / (1 + lifted) ** 2,
            plain=plain / (1 + plain),
            before=np.maximum(self.mass(ends[0], -ends[1]) - 32 * EPS * self.grain, 0.0),
            weight=weight,
            fall=np.exp(-k * (y - ends)),
            height=height,
            y=y,
            out=out,
            slope=slope,
            drift=k * (weights[1] - weights[0]) / weight,
        )

    def between(self, known: "BellVictims") -> Between:
        """What holds between neighbours."""
        slip = np.maximum(known.slip[1:], known.slip[:-1])
        f1, f2, h1, h2 = known.fall[:, :-1], known.fall[:, 1:], known.height[:, :-1], known.height[:, 1:]
        tall, low = np.maximum(h1, h2), np.minimum(h1, h2)
        for row, end in enumerate((known.x - self.reach, known.x + self.reach)):
            passing = (end[:-1] < 0) & (end[1:] > 0) & (tall[row] > 0)  # the mean, where the density is highest
            tall[row, passing] = 1 / (_ROOT_2PI * self.total)
        lean, spare = known.fall[1] - known.fall[0], 2 * self.shift * slip + 8 * EPS
        apart = None
        if self.reach < NARROW:
            width = known.x[1:] - known.x[:-1]
            bent = STEEPEST_BEND * self.reach / self.total * width**2 / 4 + 4 * EPS / self.total
            ends = known.height[1] - known.height[0]
            apart = np.minimum(ends[1:], ends[:-1]) - bent, np.maximum(ends[1:], ends[:-1]) + bent
        return Between(
            (low, tall),
            (np.minimum(f1, f2), np.maximum(f1, f2)),
            self._scale(known, slip),
            apart,
            (lean[:-1] - spare, lean[1:] + spare),  # it grows with the victim, as u − t shrinks and t − l grows
        )

    def _scale(self, known: "BellVictims", slip: Floats) -> tuple[Floats, Floats]:
        """The smallest and the largest 1/N between neighbours: N is log-concave in t, so below its tangents."""
        ahead = np.maximum(known.t[1:] - known.t[:-1], 0.0) + 2 * slip
        n1, n2 = known.weight[:-1], known.weight[1:]
        rising, falling = np.maximum(known.drift[:-1], 0.0), np.maximum(-known.drift[1:], 0.0)
        thick = np.minimum(n1 * np.exp(rising * ahead), n2 * np.exp(falling * ahead))
        off = np.exp(2 * self.shift * slip + SPARE)
        return 1 / (thick * off), off / np.minimum(n1, n2)

    def further(self, known: "BellVictims", objective: Objective) -> Floats:
        """The bound by chords, for every two neighbours."""
        up, down = objective.up[:, None, None], objective.down[:, None, None]
        spare = known.slack[1:] + known.slack[:-1]
        b1, b2 = known.before[:-1], known.before[1:]
        with np.errstate(all="ignore"):
            ahead, out = known.y[:, 1:] - known.y[:, :-1], known.out[:, 1:] - known.out[:, :-1]
            log = np.log(b2 / b1)
            first = known.bend[:, :-1] * (known.slope[:, :-1] * ahead - out + spare)
            second = known.bend[:, 1:] * (known.slope[:, 1:] * ahead - out - spare)
            rise, fall = up * first - down * (b1 * log), up * second - down * (b2 * log)
            found = tent(up * known.after - down * known.before, rise, fall) + objective.offset[:, None, None]
        gone = known.out == -np.inf  # nothing beyond: the row does not count, or its chord has no end
        found = np.where(gone[:, 1:] & gone[:, :-1], -np.inf, np.where(gone[:, 1:] | gone[:, :-1], np.inf, found))
        return np.asarray(found.max(axis=(0, 1)))


@dataclass(frozen=True, eq=False)
class BellVictims(Victims):
    """With what chords and tangents need."""

    y: Floats  # t and −t
    out: Floats  # F at the ends of the goal; −∞ where nothing is beyond
    slope: Floats  # of F at y
    drift: Floats  # the slope of ln N at t


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
