"""How far the gain of a victim in a range can exceed that of the victims at its ends.

The gain of every victim in a range [x₁, x₂] is bounded in these ways, and the smallest counts:

* *enlarge*: all their goals lie inside [x₁ − r, x₂ + r] and contain [x₂ − r, x₁ + r], so the gain is at most the
  ceiling of the large goal minus the prior mass of the small one;
* *follow the slope*: with A the map from after without to after with the jump, and t the peak, the gain moves at the
  speed
  p(u)·(A'·e^{−k(u−t)}/N − 1) − p(l)·(A'·e^{−k(t−l)}/N − 1), N = ∫ e^{−k|x−t|} dπ (the peak itself is optimal, so its
  movement
  does not count). Bounds on the densities p, on t (which moves forward) and on N (whose logarithm moves at most k per
  unit) bound the speed over the range, and with the gain at both ends that bounds the gain between.
* *one slope for all* (`_local`): where the slope of ln density is bounded inside the goals and beside them, the peak
  and the tails of all those victims lie below the same exponentials;
* *one peak that moves along* (`_shared`): for log-concave priors;
* *a flat stretch* (`CellLine.level`): where all the goals lie in one cell of constant density.
"""

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from nowiser.guess.density.cells import CellLine
from nowiser.guess.density.line import EPS, Line
from nowiser.guess.number.profile import Near
from nowiser.guess.number.reaching import Reaching
from nowiser.guess.odds import lifted
from nowiser.model.priors.base import Floats


@dataclass(frozen=True)
class Objective:
    """What is maximised over victims: offset + up·after − down·before, with the leaf's own after and before.

    A goal of several parts, in which only one part depends on a continuous victim, has this form for each choice of
    the other victims, because its probability is linear in each part.
    """

    offset: Floats
    up: Floats
    down: Floats

    def of(self, before: Floats, after: Floats) -> Floats:
        """The largest over the choices, for each victim."""
        return np.asarray((self.offset[:, None] + self.up[:, None] * after - self.down[:, None] * before).max(axis=0))

    def choice(self, before: float, after: float) -> int:
        return int(np.argmax(self.offset + self.up * after - self.down * before))


PLAIN = Objective(np.zeros(1), np.ones(1), np.ones(1))


@runtime_checkable
class Concave(Line, Protocol):
    """A line that may be log-concave."""

    @property
    def concave(self) -> bool: ...

    def shared(self, k: float, first: Floats, last: Floats, radius: float, offset: Floats) -> Floats: ...

    def drift(self, k: float, t: Floats) -> Floats: ...


@runtime_checkable
class Chorded(Line, Protocol):
    """A line whose density is right up to a factor everywhere (see `chords`)."""

    @property
    def plain(self) -> Line: ...

    @property
    def slip(self) -> float: ...

    def told(self, radius: float) -> float: ...

    def least_weight(self, k: float, t: Floats) -> Floats: ...

    def strays(
        self, k: float, near: tuple[Floats, Floats], goals: tuple[tuple[Floats, Floats], tuple[Floats, Floats]]
    ) -> Floats: ...


class Follow:
    """Bounds for ranges of victims from the figures at their ends. For `not` goals everything is mirrored: k and jump
    below 0.
    """

    def __init__(self, profile: Near, objective: Objective, *, negated: bool) -> None:
        self.objective = objective
        self.line, self.r, self.ends, self.core = profile.line, profile.radius, profile.ends, profile.core
        # an approximated prior is followed as what approximates it; `_slip` is what that may get wrong
        self.base = self.line.plain if isinstance(self.line, (CellLine, Chorded)) else self.line
        self.told = self.line.told(self.r) if isinstance(self.line, Chorded) else np.inf
        self.side = -1.0 if negated else 1.0
        self.k, self.jump = self.side * profile.rate, self.side * profile.jump
        self.reaching = profile if isinstance(profile, Reaching) else None  # one end of the goal stands still
        slides = self.side > 0 and self.reaching is None
        self.level = self.line.level if slides and isinstance(self.line, CellLine) else None
        good = slides and isinstance(self.line, Concave) and self.line.concave
        self.concave = self.line if good and isinstance(self.line, Concave) else None
        self._x, self._nodes = np.zeros(0), np.zeros((5, 0))  # victims that were looked at, in order

    def node(self, x: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Before and after of the (negated) goal, posterior without the jump, peak and N for single victims."""
        outer, inner = self.ends(x), self.core(x)
        # what is not in the goal is bounded from above as the goal is from below
        odds, t = self.base.tight(self.k, *(outer if self.side > 0 else inner))
        before, after = self.base.mass(*(inner if self.side > 0 else outer)), lifted(odds, self.jump)
        if self.side < 0:
            before, after = 1 - before, 1 - after
        with np.errstate(over="ignore"):
            return before - 4 * EPS, after + 4 * EPS, lifted(odds, 0.0), t, self.base.weight(self.k, t)

    def nodes(self, x: Floats) -> Floats:
        """`node` for victims in order; those that were looked at before are not looked at again."""
        at = np.searchsorted(self._x, x)
        new = np.ones(x.size, bool)
        some = at < self._x.size
        new[some] = self._x[at[some]] != x[some]
        if new.any():
            every = np.concatenate([self._x, x[new]])
            values = np.concatenate([self._nodes, np.array(self.node(x[new]))], axis=1)
            order = np.argsort(every, kind="stable")
            self._x, self._nodes = every[order], values[:, order]
        return self._nodes[:, np.searchsorted(self._x, x)]

    @property
    def approximated(self) -> bool:
        return self.base is not self.line

    def gains(self, x: Floats) -> Floats:
        """Of single victims; those too far out for doubles to tell the ends of their goals are not named."""
        found = self.nodes(x)
        return np.where(np.abs(x) <= self.told, self.objective.of(found[0], found[1]), -np.inf)

    def ceiling(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats, Floats]:
        """Bounds per range; and the gains of the victims at their ends."""
        x, where = np.unique(np.concatenate([lo, hi]), return_inverse=True)
        whole = np.isfinite(x)
        nodes = np.full((5, x.size), np.nan)
        nodes[:, whole] = self.nodes(x[whole])
        with np.errstate(all="ignore"):
            local = self._local(lo, hi) if self.side > 0 and self.reaching is None else np.inf
            found, least = self._tent(lo, hi, nodes[:, where[: lo.size]], nodes[:, where[lo.size :]])
            if self.approximated and isinstance(self.line, CellLine):
                found = found + self._slip(lo, hi, nodes[3, where[: lo.size]], nodes[3, where[lo.size :]], least)
        found = np.where(np.isnan(found) | (abs(self.jump) > 300), np.inf, found)
        found = np.fmin(found, local)
        if self.level is not None:
            odds, before = self.level(self.k, lo, hi, self.r)
            found = np.fmin(
                found, np.where(np.isfinite(odds), self.objective.of(before, lifted(odds, self.jump)), np.inf)
            )
        if self.concave is not None:
            found = np.fmin(found, self._shared(lo, hi, nodes[:, where[: lo.size]], nodes[:, where[lo.size :]]))
        if isinstance(self.line, Chorded):
            # by as much as ln(1 + odds) the posterior is off at most, times the jump's factor
            goals = self._goal(lo), self._goal(hi)
            # (their ends count, not t, where what is bounded is how unlikely they can become)
            ends = goals[0][0], goals[1][1]
            near = (nodes[3, where[: lo.size]], nodes[3, where[lo.size :]]) if self.side > 0 else ends
            stray = self.line.strays(self.k, near, goals)
            stray = np.minimum(np.expm1(stray) * math.exp(min(abs(self.jump), 300.0)), 1.0)
            found = found + (self.line.slip + stray) * float(self.objective.up.max())
        found = found + self.line.wiggle() * float(self.objective.down.max())
        if self.approximated and self.objective is PLAIN:
            found = np.fmin(found, self._faint(lo, hi))
        return found, self.gains(x[whole]), x[whole]

    def _goal(self, x: Floats) -> tuple[Floats, Floats]:
        """Its ends, which grow with x."""
        return (x - self.r, x + self.r) if self.reaching is None else self.reaching.goal(x)

    def _tent(self, x1: Floats, x2: Floats, first: Floats, second: Floats) -> tuple[Floats, Floats]:
        """The second bound; and the least posterior without the jump."""
        k, r, delta = self.k, self.r, x2 - x1
        (b1, f1, a1, t1, n1), (b2, f2, a2, t2, n2) = first, second
        ahead = np.maximum(t2 - t1, 0.0)
        move = abs(k) * ahead
        thin, thick = np.maximum(n1, n2) * np.exp(-move), np.minimum(n1, n2) * np.exp(move)
        (l1, u1), (l2, u2) = self._goal(x1), self._goal(x2)
        p_l, p_u = self.base.heights(l1, l2), self.base.heights(u1, u2)
        if self.reaching is not None:  # the end that stands still takes nothing in
            still = np.zeros_like(delta), np.zeros_like(delta)
            p_l, p_u = (still, p_u) if self.reaching.upward else (p_l, still)
        if self.concave is None:
            most_u, least_u = _range(k, np.maximum(u1 - t2, 0.0), u2 - t1)
            most_l, least_l = _range(k, np.maximum(t1 - l2, 0.0), t2 - l1)
        else:
            # N is log-concave in t, as a convolution of log-concave functions: smallest at an end, below its tangents.
            # The peak moves at least as fast as the victim, because the tilted reverse hazard p·e^{kx}/E⁺ falls and
            # p·e^{−kx}/E⁻ rises: t − l grows and u − t shrinks. (Beyond the support t stands still; so does its goal's
            # end, and the wider range above holds.)
            d1, d2 = self.concave.drift(k, t1), self.concave.drift(k, t2)
            thin = np.maximum(thin, np.minimum(n1, n2))
            thick = np.minimum(thick, n1 * np.exp(np.maximum(d1, 0) * ahead))
            thick = np.minimum(thick, n2 * np.exp(np.maximum(-d2, 0) * ahead))
            inner = (x1 - r > self.line.low) & (x2 + r < self.line.high)
            slip = 1e-12 * (1 + np.abs(x1) + np.abs(x2))
            near_u, far_u = np.where(inner, x2 - t2, x1 - t2) + r - slip, np.where(inner, x1 - t1, x2 - t1) + r + slip
            near_l, far_l = np.where(inner, t1 - x1, t1 - x2) + r - slip, np.where(inner, t2 - x2, t2 - x1) + r + slip
            most_u, least_u = _range(k, np.maximum(near_u, 0.0), far_u)
            most_l, least_l = _range(k, np.maximum(near_l, 0.0), far_l)
        drift = delta * (p_u[1] * most_u + p_l[1] * most_l) / thin
        lower, upper = np.maximum(np.minimum(a1, a2) - drift, 0.0), np.minimum(np.maximum(a1, a2) + drift, 1.0)
        steep = np.maximum(self._lift(lower), self._lift(upper))
        gentle = np.minimum(self._lift(lower), self._lift(upper))
        best = np.full_like(delta, -np.inf)
        for offset, up, down in zip(self.objective.offset, self.objective.up, self.objective.down, strict=True):
            up_u, down_u = up * steep * most_u / thin - down, up * gentle * least_u / thick - down
            up_l, down_l = up * steep * most_l / thin - down, up * gentle * least_l / thick - down
            fastest = _most(p_u, up_u) - _least(p_l, down_l)
            slowest = _least(p_u, down_u) - _most(p_l, up_l)
            if self.side < 0:
                fastest, slowest = -slowest, -fastest
            g1, g2 = offset + up * f1 - down * b1, offset + up * f2 - down * b2
            cross = (g2 - g1 - delta * slowest) / (fastest - slowest)
            peak = g1 + np.clip(cross, 0.0, delta) * fastest
            peak = np.where((fastest <= 0) | (delta == 0), g1, np.where(slowest >= 0, g2, peak))
            best = np.maximum(best, np.maximum(peak, np.maximum(g1, g2)))
        return np.asarray(best + 64 * EPS), lower

    def _slip(self, x1: Floats, x2: Floats, t1: Floats, t2: Floats, least: Floats) -> Floats:
        """How far the gain of a victim between x1 and x2 can be above that with a constant density in each cell.

        With 1 + odds o off by a factor e^D (`Sums.spread`), the posterior e^J·o/(1 + e^J·o), concave in o, is off by at
        most (e^D − 1)·e^J(1 + o)/(1 + e^J·o)². For J ≥ 0 that falls with o, so the least o of the range counts (`least`
        is o/(1 + o)); in any case it is at most max(1, e^J). The prior probability is off by η at each end of the goal.
        """
        assert isinstance(self.line, CellLine)
        (l1, u2), (u1, l2) = (self.ends(x1)[0], self.ends(x2)[1]), (self.core(x1)[1], self.core(x2)[0])
        sums = self.line.sums(self.k)
        off = sums.spread((l1, u1, t1), (l2, u2, t2))
        lift = math.exp(min(self.jump, 300.0))
        share: Floats | float = max(1.0, lift)
        if self.side > 0:
            out = 1 - np.where(least > 0, least, 0.0)  # (not a number: nothing is known)
            share = np.minimum(share, lift * out / (out + lift * (1 - out)) ** 2 * (1 + 8 * sums.slack + 1e-12))
        after = np.expm1(np.minimum(off, 700.0)) * share
        n = self.line.starts.size
        before = np.zeros(x1.size)
        for a, b in ((l1, l2), (u1, u2)):
            i, j = (np.clip(np.searchsorted(self.line.starts, y, "right") - 1, 0, n - 1) for y in (a, b))
            before = before + self.line.wobbles.between(i, j)
        before = before / self.line.total
        return np.asarray(np.minimum(after, 1.0) * self.objective.up.max() + before * self.objective.down.max())

    def _faint(self, x1: Floats, x2: Floats) -> Floats:
        """At tiny costs: with prior mean 1 a likelihood is at most e^{k|x−c| + jump}/∫e^{−k|x−c|}dπ, for any c."""
        k, row, (low, high) = abs(self.k), self.line, (self._goal(x1)[0], self._goal(x2)[1])
        middle, half = (low + high) / 2, (high - low) / 2
        with np.errstate(all="ignore"):
            if isinstance(row, CellLine):
                wrong = float((row.cells.wobble * -np.expm1(-k * row.widths)).sum()) / row.total
                weight = row.plain.weight(k, middle) * (1 - 1e-14) - wrong
            else:
                assert isinstance(row, Chorded)
                weight = row.least_weight(k, middle)
            found = np.expm1(np.minimum(k * half + abs(self.jump) - np.log(weight), 700.0)) + 1e-14
        return np.where((weight > 0) & (self.side > 0), found, np.inf)

    def _shared(self, x1: Floats, x2: Floats, first: Floats, second: Floats) -> Floats:
        """The fourth bound, for log-concave priors: one peak that moves with the victim (see `TiltLine.shared`).

        Prior masses of goals of one size are log-concave in the victim, hence smallest at an end of the range.
        """
        (b1, _, _, t1, _), (b2, _, _, t2, _) = first, second
        whole = np.isfinite(x1) & np.isfinite(x2)
        found = np.full(x1.size, np.inf)
        if whole.any():
            x1, x2 = x1[whole], x2[whole]
            offset = ((t1 - x1) + (t2 - x2)) / 2 if whole.all() else ((t1[whole] - x1) + (t2[whole] - x2)) / 2
            assert self.concave is not None
            odds = self.concave.shared(self.k, x1, x2, self.r, offset)
            after = lifted(odds, self.jump) + 4 * EPS
            found[whole] = self.objective.of(np.minimum(b1[whole], b2[whole]), after)
        return found

    def _local(self, x1: Floats, x2: Floats) -> Floats:
        """The third bound: one for a whole stretch of victims, from bounds on the slope of ln density.

        With p(l) the density at the goal's lower end: inside, up to t, p(x) ≤ p(l)·e^{s(x−l)} with s the largest slope
        inside; outside, p(x) ≥ p(l)·e^{−s'(l−x)} with s' the largest slope on a stretch of length h below l. So left of
        t mass inside over mass outside is at most (e^{α(t−l)} − 1)/α · α'/(1 − e^{−α'h}), α = k + s, α' = k + s'. Right
        of t likewise with β = k − (smallest slope). Prior masses are at least 2r·(smallest density).
        """
        k, r = self.k, self.r
        low, high = self.line.leanings(x1 - r, x2 + r)
        found = np.full(x1.size, np.inf)
        some = np.flatnonzero(np.isfinite(low) & np.isfinite(high) & (k + high > 0) & (k - low > 0))
        if not some.size:
            return found
        x1, x2, alpha, beta = x1[some], x2[some], k + high[some], k - low[some]
        before = 2 * r * self.line.heights(x1 - r, x2 + r)[0] * (1 - 1e-13)
        for room in (14.0 / k, 40.0 / k):
            far = k + self.line.leanings(x1 - r - room, x2 - r)[1], k - self.line.leanings(x1 + r, x2 + r + room)[0]
            ends = [np.log(-np.expm1(-a * room) / a) for a in far]
            tau = 2 * r * np.clip(beta / (alpha + beta), 1e-6, 1 - 1e-6)
            for _ in range(4):
                left = np.log(np.expm1(alpha * tau) / alpha) - ends[0]
                right = np.log(np.expm1(beta * (2 * r - tau)) / beta) - ends[1]
                rate = -alpha / np.expm1(-alpha * tau) - beta / np.expm1(-beta * (2 * r - tau))
                tau = np.clip(tau - (left - right) / rate, 1e-6 * r, (2 - 1e-6) * r)
            left = np.expm1(alpha * tau) / alpha / np.exp(ends[0])
            right = np.expm1(beta * (2 * r - tau)) / beta / np.exp(ends[1])
            after = lifted(np.maximum(left, right) * (1 + 1e-13), self.jump)
            smooth = np.isfinite(np.add(*self.line.leanings(x1 - r - room, x2 + r + room)))  # no step at l or u
            usable = smooth & (far[0] > 0) & (far[1] > 0) & np.isfinite(left + right)
            found[some] = np.fmin(found[some], np.where(usable, self.objective.of(before, after), np.inf))
        return found

    def _lift(self, a: Floats) -> Floats:
        """How fast `after` moves with the posterior before the jump is applied."""
        lift = math.expm1(min(self.jump, 300.0))
        return np.asarray((1 + lift) / (1 + lift * a) ** 2)


def _range(k: float, near: Floats, far: Floats) -> tuple[Floats, Floats]:
    """Largest and smallest e^{−k·distance} for distances between near and far."""
    a, b = np.exp(-k * near), np.exp(-k * far)
    return np.maximum(a, b), np.minimum(a, b)


def _most(p: tuple[Floats, Floats], factor: Floats) -> Floats:
    return np.asarray(np.where(factor > 0, p[1], p[0]) * factor)


def _least(p: tuple[Floats, Floats], factor: Floats) -> Floats:
    return np.asarray(np.where(factor > 0, p[0], p[1]) * factor)
