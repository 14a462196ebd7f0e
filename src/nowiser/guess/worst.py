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
MOST = 200_000  # evaluations after which the search stops and reports the bound it has


@dataclass(frozen=True)
class Worst:
    """A victim (coordinate), his figures, and a bound on the gain of every victim."""

    x: float
    figures: Figures
    gain: float


def worst_of(profile: Profile, *, negated: bool = False) -> Worst:
    """The victim with the largest gain for a goal of one part."""
    lo, hi = profile.start()
    if (lo == hi).all():
        return _of_list(profile, lo, negated=negated)
    if isinstance(profile, Anyone):
        return _of_anyone(profile, negated=negated)
    if isinstance(profile, Near) and not profile.rate and not profile.jump:
        x = float(np.clip(0.0, lo[0], hi[0]))
        found = profile.at(np.array([x]))
        return Worst(x, _one(found.negated() if negated else found, 0), 0.0)
    return _search(profile, negated=negated)


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


def _of_list(profile: Profile, every: Floats, *, negated: bool) -> Worst:
    figures = profile.at(every)
    figures = figures.negated() if negated else figures
    gains = np.atleast_1d(figures.after - figures.before)
    i = int(np.argmax(gains))
    return Worst(float(every[i]), _one(figures, i), float(gains[i]))


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


def _search(profile: Profile, *, negated: bool) -> Worst:
    follow = _Follow(profile, negated=negated) if isinstance(profile, Near) and profile.rate > 0 else None
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
        ceiling, gains, probe = _evaluate(profile, follow, lo, hi, negated=negated)
        dropped = max(dropped, float(gains.max()))
        if gains.max() > best:
            best, at = float(gains.max()), float(probe[int(np.argmax(gains))])
        spent += lo.size
        open_ = (ceiling > best + tolerance) & (hi > lo)
        if spent > MOST or (~open_).any():
            dropped = max(dropped, float((ceiling if spent > MOST else ceiling[~open_]).max()))
        if spent > MOST:
            break
        lo, hi, stuck = _split(lo[open_], hi[open_], centre, scale)
        if stuck.any():
            dropped = max(dropped, float(ceiling[open_][stuck].max()))
        lo, hi = profile.snap(lo, hi)
    found = profile.at(np.array([at]))
    figures = _one(found.negated() if negated else found, 0)
    return Worst(at, figures, max(dropped, figures.after - figures.before))


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


def _evaluate(
    profile: Profile, follow: "_Follow | None", lo: Floats, hi: Floats, *, negated: bool
) -> tuple[Floats, Floats, Floats]:
    """Bounds on the gain per range; and the gains of some victims, with their values."""
    bounds = profile.bounds_negated(lo, hi) if negated else profile.bounds(lo, hi)
    ceiling = np.asarray(bounds.after - bounds.before)
    if follow is not None:
        sharper, gains, victims = follow.ceiling(lo, hi)
        return np.minimum(ceiling, sharper), gains, victims
    victims = np.unique(np.concatenate([lo, hi]))
    victims = victims[np.isfinite(victims)]
    found = profile.at(victims)
    found = found.negated() if negated else found
    return ceiling, np.atleast_1d(found.after - found.before), victims


class _Follow:
    """The second bound: speed of the gain along the victims. For `not` goals everything is mirrored: k and jump
    below 0.
    """

    def __init__(self, profile: Near, *, negated: bool) -> None:
        self.line, self.r = profile.line, profile.radius
        self.side = -1.0 if negated else 1.0
        self.k, self.jump = self.side * profile.rate, self.side * profile.jump

    def node(self, x: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Gain (rounded up), posterior without the jump, peak and N for single victims."""
        l, u = x - self.r, x + self.r
        odds, t = self.line.tight(self.k, l, u)
        gain = self.side * (lifted(odds, self.jump) - self.line.mass(l, u))
        with np.errstate(over="ignore"):
            return gain + 8 * EPS, lifted(odds, 0.0), t, self.line.weight(self.k, t)

    def ceiling(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats, Floats]:
        """Bounds per range; and the gains of the victims at their ends."""
        x, where = np.unique(np.concatenate([lo, hi]), return_inverse=True)
        whole = np.isfinite(x)
        nodes = np.full((4, x.size), np.nan)
        nodes[:, whole] = self.node(x[whole])
        with np.errstate(all="ignore"):
            found = self._tent(lo, hi, nodes[:, where[: lo.size]], nodes[:, where[lo.size :]])
        found = np.where(np.isnan(found) | (abs(self.jump) > 300), np.inf, found) + self.line.wiggle()
        return found, nodes[0, whole], x[whole]

    def _tent(self, x1: Floats, x2: Floats, first: Floats, second: Floats) -> Floats:
        k, r, delta = self.k, self.r, x2 - x1
        (g1, a1, t1, n1), (g2, a2, t2, n2) = first, second
        move = abs(k) * np.maximum(t2 - t1, 0.0)
        thin, thick = np.maximum(n1, n2) * np.exp(-move), np.minimum(n1, n2) * np.exp(move)
        p_l, p_u = self.line.heights(x1 - r, x2 - r), self.line.heights(x1 + r, x2 + r)
        most_u, least_u = _range(k, np.maximum(x1 + r - t2, 0.0), x2 + r - t1)
        most_l, least_l = _range(k, np.maximum(t1 - x2 + r, 0.0), t2 - x1 + r)
        drift = delta * (p_u[1] * most_u + p_l[1] * most_l) / thin
        lower, upper = np.maximum(np.minimum(a1, a2) - drift, 0.0), np.minimum(np.maximum(a1, a2) + drift, 1.0)
        steep, gentle = (
            np.maximum(self._lift(lower), self._lift(upper)),
            np.minimum(self._lift(lower), self._lift(upper)),
        )
        up_u, down_u = steep * most_u / thin - 1, gentle * least_u / thick - 1
        up_l, down_l = steep * most_l / thin - 1, gentle * least_l / thick - 1
        fastest = _most(p_u, up_u) - _least(p_l, down_l)
        slowest = _least(p_u, down_u) - _most(p_l, up_l)
        if self.side < 0:
            fastest, slowest = -slowest, -fastest
        cross = (g2 - g1 - delta * slowest) / (fastest - slowest)
        peak = g1 + np.clip(cross, 0.0, delta) * fastest
        peak = np.where(fastest <= 0, g1, np.where(slowest >= 0, g2, peak))
        return np.asarray(np.maximum(peak, np.maximum(g1, g2)) + 64 * EPS)

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
