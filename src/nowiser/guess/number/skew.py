"""Victims of one lognormal prior, cut off or not, single and between neighbours: the `Shape` of `neighbours`.

Everything is in units of the median (`lognormal`), with the tilted integrals A and B of `halves`. A lognormal density
is not log-concave, so bounds between two neighbouring victims come from the equation of its tilted hazards h⁺ and h⁻
(`hazards`). From bounds on them at l, t and u follows all that is needed:

* the crossing moves at t' = (h⁺(l) + h⁻(u)) / (h⁺(t) + h⁻(t)), by differentiating E⁺(t)/E⁺(l) = E⁻(t)/E⁻(u); it never
  moves backward, and never leaves the goal. So τ = t − x is bounded between neighbours, and with it e^{−κ|x−t|} at both
  ends of the goal, e^{−κ(r±τ)};
* (ln N)' = κ(h⁺ − h⁻)/(h⁺ + h⁻), because N = A + B and N' = κ(B − A);
* p(u)·φ(u) moves at s(u) − κ(1 − t') − t'·(ln N)' relative to itself, p(l)·φ(l) at s(l) + κ(1 − t') − t'·(ln N)'.

Densities rise up to the mode and fall from there on; p(u) − p(l) is nearly a chord, because its second derivative in
the victim is 2r·p''' somewhere in between.

A further bound is sharp for large costs, above all in the long flat tail: *gliding*. Let t move evenly from t₁ to t₂,
at the speed θ; the theorem of `line` holds for every t. Then ln(1 + odds) of the left row moves at θ·h⁺(t) − h⁺(l),
which is (θ − 1)·h⁺(t) plus t − l times the slope of h⁺ somewhere in between, and that of the right row at the mirror
image, with the opposite sign. `after` is concave in ln(1 + odds) (for jumps ≥ 0), so below its tangents at both
neighbours.

Victims whose goal begins where the prior is cut off, or more than twelve standard deviations (of the logarithm) below
the median, where 10^{−33} of the people live, are bounded by the theorem at t = l, of which only the right side is
left: 1 + odds ≤ E⁻(l)/E⁻(u) ≤ E⁻(0)/E⁻(u). They are of the kind −1; those few people do not count in their `before`.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np

from nowiser.guess.density.halves import DEEPEST, Halves
from nowiser.guess.density.line import EPS
from nowiser.guess.density.lognormal import LogShape
from nowiser.guess.density.lognormal_line import LogLine
from nowiser.guess.number.bell import CHEAPEST, HIGHEST, NARROWEST
from nowiser.guess.number.follow import Objective
from nowiser.guess.number.hazards import bends, hazards
from nowiser.guess.number.profile import Near
from nowiser.guess.number.victims import Between, Kinds, Victims, tent
from nowiser.model.priors.base import Floats

STEEPEST = 100.0  # nats over the goal: beyond, odds are soon no doubles
STEP = 0.35  # between the first victims, in standard deviations of the logarithm
LARGE = 0.1  # nats over the goal from which on gliding is worth asking
SPARE = 1e-12  # relative rounding error, amply
STEPS = 24  # of Halley's method, kept inside a bracket


def skew_of(profile: Near) -> "Skew | None":
    """The shape of this prior and cost; None where it is another prior, or plain doubles do not suffice."""
    line = profile.line
    if type(profile) is not Near or not isinstance(line, LogLine):
        return None
    shape, reach, rate = line.shape, profile.radius / line.shape.unit, profile.rate * line.shape.unit
    low, high = max(shape.low, math.exp(DEEPEST * shape.sd)), min(shape.high, line.range[1] / shape.unit + reach)
    usual = (
        reach >= NARROWEST * shape.sd
        and profile.jump <= HIGHEST
        and rate * reach + profile.jump >= CHEAPEST
        and rate * reach <= STEEPEST
        and high - low >= 2.5 * reach
    )
    halves = line.halves(rate, high + 1.01 * reach) if usual else None
    return (
        None
        if halves is None
        else Skew(shape, halves, reach, profile.jump, (max(low, line.range[0] / shape.unit - reach), high))
    )


@dataclass(frozen=True, eq=False)
class SkewVictims(Victims):
    """With the tilted hazards: the speeds of ln E⁺ and ln E⁻, at t and at the ends of the goal."""

    hazard: Floats
    outer: Floats  # ∞ where nothing is beyond


class Skew:
    """The prior, the radius and the cost, in units of the median; victims are looked for between `ends`."""

    origin = 0.0

    def __init__(self, shape: LogShape, halves: Halves, reach: float, jump: float, ends: tuple[float, float]) -> None:
        self.shape, self.halves, self.reach, self.rate = shape, halves, reach, halves.k
        self.unit, self.lift = shape.unit, math.exp(jump)
        self.low, self.high = max(shape.low, math.exp(DEEPEST * shape.sd)), shape.high
        self.ends = ends
        self.costly = self.rate * reach > LARGE or self.lift > 1 + LARGE

    def first(self) -> tuple[Floats, Kinds]:
        """Evenly in the logarithm: of the victim, and of the lower end of his goal where that is near zero."""
        (low, high), sd, reach = self.ends, self.shape.sd, self.reach
        steps = np.exp(np.arange(math.log(max(low, self.low)), math.log(high), STEP * sd))
        every = np.concatenate([steps, self.low + reach + steps[: np.searchsorted(steps, 4 * reach)]])
        touching = [x for x in (self.low + reach, self.high - reach) if low < x < high]
        xs, kinds = [], []
        for a, b in itertools.pairwise([low, *touching, high]):
            xs.append(np.concatenate([[a], np.sort(every[(every > a) & (every < b)]), [b]]))
            middle = (a + b) / 2
            kind = -1 if middle - reach < self.low else int(middle + reach > self.high)
            kinds.append(np.full(xs[-1].size, kind, np.int8))
        return np.concatenate(xs), np.concatenate(kinds)

    def beyond(self, objective: Objective, x: Floats) -> float:
        """All victims are looked at."""
        del objective, x
        return -math.inf

    def goal(self, x: Floats) -> tuple[Floats, Floats]:
        """Its ends; what is beyond the prior by rounding alone is not beyond."""
        spare = 32 * EPS * (x + self.reach)
        l, u = x - self.reach, x + self.reach
        return np.where(l > self.low + spare, l, self.low), np.where(u < self.high - spare, u, self.high)

    def look(self, x: Floats, kind: Kinds, start: Floats | None, sharp: float) -> SkewVictims:
        """The figures of these victims. `start`: where to look for t; `sharp`: how far both rows may differ."""
        k, shape, halves, (l, u) = self.rate, self.shape, self.halves, self.goal(x)
        there = np.array([l > self.low, u < self.high])
        there[0] |= (kind == 0) & (shape.low < self.low)  # a goal that begins just there has people below it
        near = np.minimum(u, halves.knots[-1])
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            (a, off_a), (b, off_b) = halves.left(l), halves.right(near)
            t = np.where(there[0], np.where(there[1], x if start is None else start, u), halves.knots[0])
            t, inside, off, gap, w = self._peak((l, u), (a, b), there, t, sharp)
            dense, at_t = shape.density(np.array([l, u])), shape.density(t)
            hazard, outer = at_t / inside, np.where(there, dense / np.array([a, b]), np.inf)
            w, off = np.where(there, w, 0.0), np.where(there, off + np.array([off_a, off_b]), 0.0).max(axis=0)
            fall, weight = np.exp(-k * np.array([t - l, u - t])), inside[0] + inside[1]
            # One end of the goal may be taken as exact, that at which it counts more; then the other end and the victim
            # himself carry a unit of theirs. ln(1 + odds) moves at (p(u)·φ(u) − p(l)·φ(l))·(1 + odds) with him.
            moves = outer.min(axis=0) + (dense * fall).sum(axis=0) / weight * np.exp(w.max(axis=0))
            slack = off + 8 * EPS * (1 + 2 * k * self.reach) + 4 * EPS * (x + self.reach) * moves
            odds = np.expm1(np.where(there, w + slack, 0.0))
            slip = np.where(there.all(axis=0), self._slip(t, inside, at_t, np.abs(gap) + 2 * slack), 0.0)
            slip = slip + 4 * EPS * (x + self.reach)
            lifted, plain = odds * self.lift, odds.max(axis=0)
            height = np.where(np.array([kind >= 0, kind <= 0]), dense, 0.0)
            return SkewVictims(
                x=x,
                kind=kind,
                t=t,
                slip=slip,
                slack=slack + np.abs(gap),
                after=lifted / (1 + lifted) * (1 + 4 * EPS),
                bend=(self.lift + lifted) / (1 + lifted) ** 2,
                plain=plain / (1 + plain),
                before=np.maximum(shape.mass(l, u) - 32 * EPS * shape.grain, 0.0),
                weight=weight,
                fall=fall,
                height=height,
                hazard=hazard,
                outer=outer,
            )

    def _peak(
        self, goal: tuple[Floats, Floats], out: tuple[Floats, Floats], there: Floats, t: Floats, sharp: float
    ) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Halley's method, kept inside a bracket, for the t at which both rows are equal; any t is sound.

        Returned are t, A and B there and their relative errors, by how much the rows differ, and ln(1 + odds) by row.
        """
        (l, u), k, both = goal, self.rate, there[0] & there[1]
        t = np.where(both, np.minimum(np.maximum(t, l), u), t)
        low, high, found, logs = l, u, t, (np.log(out[0]), np.log(out[1]))
        for _ in range(STEPS):
            (a, off_a), (b, off_b) = self.halves.left(t), self.halves.right(t)
            b = np.where(there[0], b, self.halves.whole)
            w = np.array([np.log(a) - logs[0] + k * (t - l), np.log(b) - logs[1] + k * (u - t)])
            gap = np.where(both, w[0] - w[1], 0.0)
            p, s = self.shape.density(t), self.shape.slope(t)
            left, right = p / a, p / b
            first, second = left + right, left * (k + s - left) + right * (right + s - k)
            wide = np.abs(gap) > sharp + 4 * EPS * t * np.where(both, first, 0.0)  # no nearer than t is a double
            if not wide.any():
                break
            low, high = np.where(gap < 0, t, low), np.where(gap > 0, t, high)
            new = t - gap * first / (first * first - gap * second / 2)
            found, t = t, np.where(wide, np.where((new > low) & (new < high), new, (low + high) / 2), t)
        else:
            t = found
        return t, np.array([a, b]), np.array([off_a, off_b]), gap, w

    def _slip(self, t: Floats, inside: Floats, dense: Floats, gap: Floats) -> Floats:
        """How far the crossing can be from a t at which the rows differ by at most `gap`.

        They part at h⁺ + h⁻. Within δ of t, A and B are at most what they are at t times e^{κδ}, plus δ times the
        largest density; so the crossing lies there if that leaves hazards of gap/δ. Twice the distance that the speed
        at t suggests is tried.
        """
        away = 2 * gap / (dense / inside).sum(axis=0)
        near, far = t - away, t + away
        ends = self.shape.density(near), self.shape.density(far)
        most = np.maximum(np.maximum(*ends), self.shape.passing(near, far))
        least = (np.minimum(*ends) / (inside * np.exp(self.rate * away) + away * most)).sum(axis=0)
        return np.where(away * least * (1 - SPARE) >= gap, away, np.inf)

    def between(self, known: SkewVictims) -> Between:
        """What holds between neighbours."""
        k, reach, shape = self.rate, self.reach, self.shape
        slip, width = _larger(known.slip), known.x[1:] - known.x[:-1]
        (l, u), (t1, t2) = self.goal(known.x), _ahead(known.t)
        with np.errstate(all="ignore"):
            at_l, at_u = shape.slopes(l[:-1], l[1:]), shape.slopes(u[:-1], u[1:])
            (out_l, left, right, out_u), (top_l, top_left, top_right, top_u) = self.hazards(known)
            forward = (out_l + out_u) / (top_left + top_right), (top_l + top_u) / (left + right)
            offset = known.t - known.x
            first = np.fmax(-tent(-offset, (1 - forward[0]) * width, (1 - forward[1]) * width), t1 - known.x[1:]) - slip
            last = np.fmin(tent(offset, (forward[1] - 1) * width, (forward[0] - 1) * width), t2 - known.x[:-1]) + slip
            first, last = np.maximum(first, -reach), np.minimum(last, reach)
            drift = (left - top_right) / (left + top_right), (top_left - right) / (top_left + right)
            drift = np.fmax(k * drift[0], -k), np.fmin(k * drift[1], k)
            ahead, log = t2 - t1, np.log(known.weight)
            spare = (2 * k * slip if k else 0.0) + SPARE
            scale = np.exp(-tent(log, drift[1] * ahead, drift[0] * ahead) - spare)
            most = np.exp(tent(-log, -drift[0] * ahead, -drift[1] * ahead) + spare)
            inner = (known.kind[1:] == 0) & (known.kind[:-1] == 0)
            falls = np.exp(-k * np.array([[reach + last, reach - first], [reach + first, reach - last]]))
            f1, f2 = known.fall[:, :-1], known.fall[:, 1:]
            fall = np.where(inner, falls[0], np.minimum(f1, f2)), np.where(inner, falls[1], np.maximum(f1, f2))
            h1, h2 = known.height[:, :-1], known.height[:, 1:]
            tall = np.maximum(h1, h2)
            peaks = np.array([shape.passing(l[:-1], l[1:]), shape.passing(u[:-1], u[1:])])
            tall = np.where(tall > 0, np.maximum(tall, peaks), 0.0)
            lean = 2 * math.exp(-k * reach) * np.sinh(k * np.array([first, last]))
            logs = np.log(known.height * known.fall / known.weight)
            # how fast p(l)·φ(l) and p(u)·φ(u) move, relative to themselves
            moves = [
                np.array(
                    [at_l[i] + k - forward[1 - i] * (k + drift[1 - i]), at_u[i] - k + forward[i] * (k - drift[1 - i])]
                )
                for i in (0, 1)
            ]
            flow = (
                np.exp(-tent(-logs, -moves[0] * width, -moves[1] * width) - spare),
                np.exp(tent(logs, moves[1] * width, moves[0] * width) + spare),
            )
        return Between(
            (np.minimum(h1, h2), tall),
            fall,
            (scale, most),
            self._apart(known),
            (lean[0] - 8 * EPS, lean[1] + 8 * EPS),
            flow,
        )

    def _apart(self, known: SkewVictims) -> tuple[Floats, Floats]:
        """Bounds on p(u) − p(l) where both ends lie inside the prior."""
        width, (l, u) = known.x[1:] - known.x[:-1], self.goal(known.x)
        ends = known.height[1] - known.height[0]
        bent = self.shape.bend(l[:-1], u[1:]) * (1 + SPARE) * self.reach * width**2 / 4
        bent = bent + SPARE * np.maximum(known.height[:, 1:], known.height[:, :-1]).max(axis=0)
        return np.minimum(ends[1:], ends[:-1]) - bent, np.maximum(ends[1:], ends[:-1]) + bent

    def further(self, known: SkewVictims, objective: Objective) -> Floats:
        """The bound by gliding, for every two neighbours."""
        return np.asarray(self.gliding(known, objective).max(axis=(0, 1)))

    def gliding(self, known: SkewVictims, objective: Objective) -> Floats:
        """The same for each choice and row. Infinite where nothing is beyond an end of the goal, as its hazard is."""
        width, up, down = known.x[1:] - known.x[:-1], objective.up[:, None, None], objective.down[:, None, None]
        with np.errstate(all="ignore"):
            (slow, quick), apart = self.glide(known), self._apart(known)
            rise = (up * known.bend[:, :-1] * quick - down * apart[0]) * width
            fall = (up * known.bend[:, 1:] * slow - down * apart[1]) * width
            found = tent(up * known.after - down * known.before, rise, fall) + objective.offset[:, None, None]
        return np.where(known.t[1:] >= known.t[:-1], found, np.inf)

    def glide(self, known: SkewVictims) -> tuple[Floats, Floats]:
        """The slowest and the quickest speed of ln(1 + odds) of either row, when t moves evenly between neighbours."""
        k, shape, (l, u) = self.rate, self.shape, self.goal(known.x)
        width, t1, t2 = known.x[1:] - known.x[:-1], known.t[:-1], known.t[1:]
        at_l, at_u = shape.slopes(l[:-1], t2), shape.slopes(t1, u[1:])
        slopes = np.array([at_l[0], -at_u[1]]), np.array([at_l[1], -at_u[0]])
        first = np.array([known.outer[0, :-1], known.outer[1, 1:]])
        last = np.array([known.hazard[0, 1:], known.hazard[1, :-1]])
        least, most = hazards(k, first, last, slopes, np.array([t2 - l[:-1], u[1:] - t1]))
        least, most = least * (1 - SPARE), most * (1 + SPARE)
        away = k + np.array([shape.slope(l[:-1]), -shape.slope(u[1:])]) - first
        turns = [np.array(pair) for pair in zip(shape.turns(l[:-1], t2), shape.turns(t1, u[1:]), strict=True)]
        slow, quick = bends(away, (turns[0], turns[1]), least, most, SPARE * (np.abs(away) + 2 * first))
        span = np.array([known.t - l, u - known.t])
        near, far = np.minimum(span[:, 1:], span[:, :-1]), np.maximum(span[:, 1:], span[:, :-1])
        slow, quick = slow * np.where(slow > 0, near, far), quick * np.where(quick > 0, far, near)
        ahead, blur = (t2 - t1) / width - 1, 4 * EPS * (known.x[1:] + self.reach) / width * most
        slow = slow + np.minimum(ahead * least, ahead * most) - blur
        quick = quick + np.maximum(ahead * least, ahead * most) + blur
        return np.array([slow[0], -quick[1]]), np.array([quick[0], -slow[1]])

    def hazards(self, known: SkewVictims) -> tuple[Floats, Floats]:
        """Bounds on the hazards between neighbours, as rows: h⁺ at l, h⁺ at t, h⁻ at t, h⁻ at u."""
        (l, u), (t1, t2), slip = self.goal(known.x), _ahead(known.t), _larger(known.slip)
        at_l, at_t, at_u = (self.shape.slopes(*y) for y in ((l[:-1], l[1:]), (t1 - slip, t2 + slip), (u[:-1], u[1:])))
        (h1, h3), (g1, g3) = known.outer[:, :-1], known.hazard[:, :-1]
        (h2, h4), (g2, g4) = known.outer[:, 1:], known.hazard[:, 1:]
        width = known.x[1:] - known.x[:-1]
        least, most = hazards(
            self.rate,
            np.array([h1, g1, g4, h4]),  # h⁻ from right to left
            np.array([h2, g2, g3, h3]),
            (np.array([at_l[0], at_t[0], -at_t[1], -at_u[1]]), np.array([at_l[1], at_t[1], -at_t[0], -at_u[0]])),
            np.array([width, t2 - t1, t2 - t1, width]),
        )
        # The crossing itself lies up to `slip` farther out. There ln h⁺ moves at κ + s − h⁺, so it grows by at most
        # δ(κ + s); backwards 1/h⁺ shrinks by at most δ, besides that. With δ(h⁺ + |κ + s|) < 1/4 twice that is enough.
        turn = slip * (most[1:3] + self.rate + np.maximum(np.abs(at_t[0]), np.abs(at_t[1])))
        some = turn < 0.25
        most[1:3] = np.where(some, most[1:3] * np.exp(2 * turn), np.inf)
        least[1:3] = np.where(some, least[1:3] * np.exp(-2 * turn), 0.0)
        return least * (1 - SPARE), most * (1 + SPARE)


def _ahead(t: Floats) -> tuple[Floats, Floats]:
    """Neighbouring t; it never moves backward, but by rounding."""
    return t[:-1], np.maximum(t[1:], t[:-1])


def _larger(values: Floats) -> Floats:
    return np.maximum(values[1:], values[:-1])
