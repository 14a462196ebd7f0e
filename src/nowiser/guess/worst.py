"""The worst victim: branch and bound over all possible victims, with a certified remainder.

The gain of every victim in a range [x₁, x₂] is bounded in two ways, and the smaller counts:

* *enlarge*: all their goals lie inside [x₁ − r, x₂ + r] and contain [x₂ − r, x₁ + r], so the gain is at most the
  ceiling of the large goal minus the prior mass of the small one;
* *follow the slope*: with A the map from after without to after with the jump, and t the peak, the gain moves at the
  speed
  p(u)·(A'·e^{−k(u−t)}/N − 1) − p(l)·(A'·e^{−k(t−l)}/N − 1), N = ∫ e^{−k|x−t|} dπ (the peak itself is optimal, so its
  movement
  does not count). Bounds on the densities p, on t (which moves forward) and on N (whose logarithm moves at most k per
  unit) bound the speed over the range, and with the gain at both ends that bounds the gain between.

Ranges that cannot beat the best victim found by more than `TOLERANCE` are dropped; the largest bound among all dropped
ranges is what is reported. So the result is an upper bound whatever happens, also when the search stops early.
"""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nowiser.guess.line import EPS
from nowiser.guess.profile import Anyone, Figures, Near, Profile, lifted
from nowiser.model.priors.base import Floats

TOLERANCE = 1e-9
ROUGH = 2e-6  # tolerance where the prior itself is approximated
PATIENCE = 2_500  # evaluations after which the tolerance is loosened tenfold, up to 1e-4
MOST = 30_000  # evaluations after which the search stops and reports the bound it has


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


@dataclass(frozen=True)
class Worst:
    """A victim (coordinate), his figures, and a bound on the gain of every victim."""

    x: float
    figures: Figures
    gain: float


def worst_of(profile: Profile, *, negated: bool = False, objective: Objective = PLAIN, smallest: bool = True) -> Worst:
    """The victim with the largest gain for a goal of one part (or the largest objective)."""
    lo, hi = profile.start()
    if (lo == hi).all():
        return _of_list(profile, lo, objective, negated=negated, smallest=smallest)
    if objective is not PLAIN:
        return _search(profile, objective, negated=negated, smallest=smallest)
    if isinstance(profile, Anyone):
        return _of_anyone(profile, negated=negated)
    if isinstance(profile, Near) and not profile.rate and not profile.jump:
        x = float(np.clip(0.0, lo[0], hi[0]))
        found = profile.at(np.array([x]))
        return Worst(x, _one(found.negated() if negated else found, 0), 0.0)
    return _search(profile, objective, negated=negated, smallest=smallest)


def _of_anyone(profile: Anyone, *, negated: bool) -> Worst:
    """The worst prior in closed form: odds before e^{−T/2}, odds after e^{T/2}, gain tanh(T/4) (and its mirror)."""
    half = profile.reach / 2
    p = 1 / (1 + math.exp(min(half, 700.0)))
    p = 1 - p if negated else p
    figures = profile.at(np.array([p]))
    gain = min(1.0, math.tanh(half / 2) * (1 + 8 * EPS))
    return Worst(p, _one(figures.negated() if negated else figures, 0), gain)


def _one(figures: Figures, i: int) -> Figures:
    return Figures(
        float(np.atleast_1d(figures.before)[i]),
        float(np.atleast_1d(figures.after)[i]),
        float(np.atleast_1d(figures.smallest)[i]),
    )


def _of_list(profile: Profile, every: Floats, objective: Objective, *, negated: bool, smallest: bool) -> Worst:
    figures = profile.at(every, smallest=negated)
    figures = figures.negated() if negated else figures
    gains = objective.of(np.atleast_1d(figures.before), np.atleast_1d(figures.after))
    i = int(np.argmax(gains))
    own = profile.at(every[i : i + 1], smallest=smallest or negated)
    return Worst(float(every[i]), _one(own.negated() if negated else own, 0), float(gains[i]))


def _nodes(profile: Profile) -> Floats:
    """Victims to start from: landmarks of the prior, and those whose goal just touches an end of the support."""
    lo, hi = profile.start()
    if not isinstance(profile, Near):
        return np.unique(np.concatenate([lo, hi]))
    marks = profile.line.landmarks()
    ends = np.array([profile.line.low, profile.line.high])
    ends = ends[np.isfinite(ends)]
    atoms = profile.line.atoms[:2000]
    ends = np.concatenate([ends, atoms])
    marks = np.concatenate([marks, atoms])
    many = np.concatenate(
        [marks, ends + profile.radius, ends - profile.radius, np.linspace(marks.min(), marks.max(), 65)]
    )
    return np.unique(np.clip(many, lo.min(), hi.max()))


def _search(profile: Profile, objective: Objective, *, negated: bool, smallest: bool) -> Worst:
    follow = _Follow(profile, objective, negated=negated) if isinstance(profile, Near) and profile.rate > 0 else None
    tolerance = ROUGH if isinstance(profile, Near) and profile.line.wiggle() > 0 else TOLERANCE
    nodes = _nodes(profile)
    lo, hi = nodes[:-1], nodes[1:]
    first, last = profile.start()
    if first.min() == -np.inf:
        lo, hi = np.concatenate([[-np.inf], lo]), np.concatenate([nodes[:1], hi])
    if last.max() == np.inf:
        lo, hi = np.concatenate([lo, nodes[-1:]]), np.concatenate([hi, [np.inf]])
    lo, hi = profile.snap(lo, hi)
    best, at, dropped, spent = -1.0, float(nodes[0]), 0.0, 0
    centre, scale = float(nodes[nodes.size // 2]), float(nodes[-1] - nodes[0]) or 1.0
    while lo.size:
        if follow is not None:
            ceiling, gains, probe = follow.ceiling(lo, hi)
        else:
            ceiling, (gains, probe) = np.full(lo.size, np.inf), _ends(profile, objective, lo, hi, negated=negated)
        dropped = max(dropped, float(gains.max()))
        if gains.max() > best:
            best, at = float(gains.max()), float(probe[int(np.argmax(gains))])
        spent += lo.size
        tolerance = max(tolerance, 1e-9 * 10.0 ** min(spent // PATIENCE, 5))
        hard = ceiling > best + tolerance
        if hard.any():
            bounds = profile.bounds_negated(lo[hard], hi[hard]) if negated else profile.bounds(lo[hard], hi[hard])
            ceiling[hard] = np.minimum(ceiling[hard], objective.of(bounds.before, bounds.after))
        open_ = (ceiling > best + tolerance) & (hi > lo)
        if spent > MOST or (~open_).any():
            dropped = max(dropped, float((ceiling if spent > MOST else ceiling[~open_]).max()))
        if spent > MOST:
            break
        lo, hi, stuck = _split(lo[open_], hi[open_], centre, scale)
        if stuck.any():
            dropped = max(dropped, float(ceiling[open_][stuck].max()))
        lo, hi = profile.snap(lo, hi)
    found = profile.at(np.array([at]), smallest=smallest or negated)
    figures = _one(found.negated() if negated else found, 0)
    own = float(objective.of(np.array([figures.before]), np.array([figures.after]))[0])
    return Worst(at, figures, max(dropped, own))


def _split(lo: Floats, hi: Floats, centre: float, scale: float) -> tuple[Floats, Floats, npt.NDArray[np.bool_]]:
    """Each range in several (more when few are left); unbounded ranges grow away from the centre.

    Also says which ranges are too narrow to be split; they are left out.
    """
    ways = int(np.clip(256 // max(lo.size, 1), 2, 16))
    steps = np.linspace(0.0, 1.0, ways + 1)
    with np.errstate(invalid="ignore"):
        inner = lo[:, None] + (hi - lo)[:, None] * steps
    growing = scale * (2.0 ** np.arange(ways + 1) - 1)
    inner = np.where(
        np.isinf(hi)[:, None], lo[:, None] + growing * np.maximum(1, (lo - centre) / scale)[:, None], inner
    )
    inner = np.where(
        np.isinf(lo)[:, None], hi[:, None] - growing[::-1] * np.maximum(1, (centre - hi) / scale)[:, None], inner
    )
    inner[:, 0], inner[:, -1] = lo, hi
    stuck = np.asarray(~(np.diff(inner, axis=1) > 0).all(axis=1))
    inner = inner[~stuck]
    return inner[:, :-1].ravel(), inner[:, 1:].ravel(), stuck


def _ends(profile: Profile, objective: Objective, lo: Floats, hi: Floats, *, negated: bool) -> tuple[Floats, Floats]:
    """The gains of the victims at the ends of the ranges, and those victims."""
    victims = np.unique(np.concatenate([lo, hi]))
    victims = victims[np.isfinite(victims)]
    found = profile.at(victims, smallest=negated)
    found = found.negated() if negated else found
    return objective.of(np.atleast_1d(found.before), np.atleast_1d(found.after)), victims


class _Follow:
    """The second bound: speed of the gain along the victims. For `not` goals everything is mirrored: k and jump
    below 0.
    """

    def __init__(self, profile: Near, objective: Objective, *, negated: bool) -> None:
        self.objective = objective
        self.line, self.r = profile.line, profile.radius
        self.side = -1.0 if negated else 1.0
        self.k, self.jump = self.side * profile.rate, self.side * profile.jump

    def node(self, x: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Before and after of the (negated) goal, posterior without the jump, peak and N for single victims."""
        l, u = x - self.r, x + self.r
        odds, t = self.line.tight(self.k, l, u)
        before, after = self.line.mass(l, u), lifted(odds, self.jump)
        if self.side < 0:
            before, after = 1 - before, 1 - after
        with np.errstate(over="ignore"):
            return before - 4 * EPS, after + 4 * EPS, lifted(odds, 0.0), t, self.line.weight(self.k, t)

    def ceiling(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats, Floats]:
        """Bounds per range; and the gains of the victims at their ends."""
        x, where = np.unique(np.concatenate([lo, hi]), return_inverse=True)
        whole = np.isfinite(x)
        nodes = np.full((5, x.size), np.nan)
        nodes[:, whole] = self.node(x[whole])
        with np.errstate(all="ignore"):
            local = self._local(lo, hi) if self.side > 0 else np.inf
            found = self._tent(lo, hi, nodes[:, where[: lo.size]], nodes[:, where[lo.size :]])
        found = np.where(np.isnan(found) | (abs(self.jump) > 300), np.inf, found)
        found = np.fmin(found, local)
        spare = self.line.wiggle() * float(self.objective.down.max())
        return found + spare, self.objective.of(nodes[0, whole], nodes[1, whole]), x[whole]

    def _tent(self, x1: Floats, x2: Floats, first: Floats, second: Floats) -> Floats:
        k, r, delta = self.k, self.r, x2 - x1
        (b1, f1, a1, t1, n1), (b2, f2, a2, t2, n2) = first, second
        move = abs(k) * np.maximum(t2 - t1, 0.0)
        thin, thick = np.maximum(n1, n2) * np.exp(-move), np.minimum(n1, n2) * np.exp(move)
        p_l, p_u = self.line.heights(x1 - r, x2 - r), self.line.heights(x1 + r, x2 + r)
        most_u, least_u = _range(k, np.maximum(x1 + r - t2, 0.0), x2 + r - t1)
        most_l, least_l = _range(k, np.maximum(t1 - x2 + r, 0.0), t2 - x1 + r)
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
            peak = np.where(fastest <= 0, g1, np.where(slowest >= 0, g2, peak))
            best = np.maximum(best, np.maximum(peak, np.maximum(g1, g2)))
        return np.asarray(best + 64 * EPS)

    def _local(self, x1: Floats, x2: Floats) -> Floats:
        """The third bound: one for a whole stretch of victims on which ln density has a slope between s₁ and s₂.

        Left of t, mass inside over mass outside is at most (e^{α(t−l)} − 1)/(1 − e^{−αh}) with α = k + s₂, when the
        slope
        holds down to l − h; right of t likewise with β = k − s₁. Prior masses are at least 2r·(smallest density).
        """
        k, r = self.k, self.r
        room = 40.0 / k
        s1, s2 = self.line.leanings(x1 - r - room, x2 + r + room)
        alpha, beta = k + s2, k - s1
        tau = 2 * r * np.clip(beta / (alpha + beta), 1e-6, 1 - 1e-6)
        ends = np.log(-np.expm1(-alpha * room)), np.log(-np.expm1(-beta * room))
        for _ in range(4):
            left, right = np.log(np.expm1(alpha * tau)) - ends[0], np.log(np.expm1(beta * (2 * r - tau))) - ends[1]
            rate = -alpha / np.expm1(-alpha * tau) - beta / np.expm1(-beta * (2 * r - tau))
            tau = np.clip(tau - (left - right) / rate, 1e-6 * r, (2 - 1e-6) * r)
        left, right = np.expm1(alpha * tau) / np.exp(ends[0]), np.expm1(beta * (2 * r - tau)) / np.exp(ends[1])
        after = lifted(np.maximum(left, right) * (1 + 1e-13), self.jump)
        before = 2 * r * self.line.heights(x1 - r, x2 + r)[0] * (1 - 1e-13)
        usable = (alpha > 0) & (beta > 0) & np.isfinite(alpha + beta) & np.isfinite(left + right)
        return np.where(usable, self.objective.of(before, after), np.inf)

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
