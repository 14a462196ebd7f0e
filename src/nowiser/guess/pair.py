"""The worst victim when two parts of a goal have infinitely many victims each: searches on a line, not on a plane.

For a fixed choice of all other victims the goal's probability is linear in each of the two parts, so with the first
victim held still the gain is offset + Φ(up, down), where

    Φ(up, down)  =  max over second victims of  up·after₂ − down·before₂,      up, down ≥ 0,

is convex and homogeneous, and one value of it is one search on a line (`worst`). Between two directions at which Φ is
known from above it lies below the linear function that agrees with both. With such a function s·up − t·down in place
of Φ the gain is linear in after₁ and before₁: again a search on a line, over all the functions at once (each is largest
where it is the right one, because Φ is convex; where rounding disturbs that, the largest is still an upper bound).

The search ends when the bound is as near as `TOLERANCE` to the gain of a pair of victims; until then Φ is evaluated at
the direction in which the bound was attained, which halves the cone around it or better.
"""

import itertools
from dataclasses import dataclass

import numpy as np

from nowiser.guess.follow import Objective
from nowiser.guess.formula import Formula, value
from nowiser.guess.profile import Figures, Profile
from nowiser.guess.worst import Worst, worst_of
from nowiser.model.priors.base import Floats

TOLERANCE = 1e-6
ROUNDS = 24  # then the bound is reported as it is
START = (0.0, 0.2, 0.35, 0.45, 0.5, 0.55, 0.7, 1.0)
SPARE = 1e-14


@dataclass(frozen=True, eq=False)
class Bilinear:
    """Probability of the goal before and after as c₀ + c₁p + c₂q + c₁₂pq, for every choice of the other victims."""

    before: tuple[Floats, Floats, Floats, Floats]
    after: tuple[Floats, Floats, Floats, Floats]

    @staticmethod
    def of(formula: Formula, pair: tuple[int, int], before: list[Floats], after: list[Floats]) -> "Bilinear":
        parts = []
        for known in (before, after):
            ends = {}
            for p in (0.0, 1.0):
                for q in (0.0, 1.0):
                    known[pair[0]], known[pair[1]] = np.asarray(p), np.asarray(q)
                    ends[p, q] = np.atleast_1d(np.asarray(value(formula, known), float))
            none, first, second = ends[0.0, 0.0], ends[1.0, 0.0] - ends[0.0, 0.0], ends[0.0, 1.0] - ends[0.0, 0.0]
            parts.append((none, first, second, ends[1.0, 1.0] - none - first - second))
        return Bilinear(parts[0], parts[1])

    def direction(self, choice: int, first: Figures) -> tuple[float, float]:
        """How the gain depends on after and before of the second part, once the first victim is chosen."""
        up = self.after[2][choice] + self.after[3][choice] * first.after
        down = self.before[2][choice] + self.before[3][choice] * first.before
        return max(float(up), 0.0), max(float(down), 0.0)

    def objective(self, lines: Floats) -> Objective:
        """The gain as a function of the first part, for every choice and every line s·up − t·down above Φ."""
        s, t = lines[:, :1], lines[:, 1:]
        (b0, b1, b2, b3), (a0, a1, a2, a3) = self.before, self.after
        offset = a0 - b0 + s * a2 - t * b2 + 16 * SPARE
        return Objective(offset.ravel(), np.maximum(a1 + s * a3, 0.0).ravel(), np.maximum(b1 + t * b3, 0.0).ravel())

    def gain(self, choice: int, first: Figures, second: Figures) -> float:
        (b0, b1, b2, b3), (a0, a1, a2, a3) = ([c[choice] for c in part] for part in (self.before, self.after))
        above = a0 + a1 * first.after + a2 * second.after + a3 * first.after * second.after
        return float(above - (b0 + b1 * first.before + b2 * second.before + b3 * first.before * second.before))


@dataclass(frozen=True)
class Pair:
    """Two victims, the choice of the others, their figures, and a bound on the gain of everybody."""

    first: Worst
    second: Worst
    choice: int
    gain: float


def worst_pair(profiles: tuple[Profile, Profile], negated: tuple[bool, bool], of: Bilinear) -> Pair:
    # share of `down` in the direction → Φ from above
    known = {share: _support(profiles[1], negated[1], 1 - share, share).gain for share in START}
    best: Pair | None = None
    bound = np.inf
    for _ in range(ROUNDS):
        lines = _lines(known)
        objective = of.objective(lines)
        first = worst_of(profiles[0], negated=negated[0], objective=objective)
        bound = min(bound, first.gain)
        choice = objective.choice(first.figures.before, first.figures.after) % of.after[0].size
        up, down = of.direction(choice, first.figures)
        second = _support(profiles[1], negated[1], up, down)
        gain = of.gain(choice, first.figures, second.figures)
        if best is None or gain > best.gain:
            best = Pair(first, second, choice, gain)
        share = down / (up + down) if up + down > 0 else 1.0
        if bound - best.gain <= TOLERANCE or up + down <= 0 or share in known:
            break
        known[share] = second.gain / (up + down) * (1 + SPARE)
    assert best is not None
    return Pair(best.first, best.second, best.choice, max(bound, best.gain))


def _support(profile: Profile, negated: bool, up: float, down: float) -> Worst:
    """Φ(up, down), from above, and who attains it."""
    return worst_of(profile, negated=negated, objective=Objective(np.zeros(1), np.array([up]), np.array([down])))


def _lines(known: dict[float, float]) -> Floats:
    """For every pair of neighbouring directions the s and t of a function s·up − t·down not below Φ at both.

    s and t are probabilities (after and before of the second part); where rounding pushes them out of [0, 1] another
    function above both values is taken.
    """
    shares = sorted(known)
    found = []
    for low, high in itertools.pairwise(shares):
        (a, b), (c, d) = (1 - low, low), (1 - high, high)
        # s·a − t·b = Φ at the first, s·c − t·d = Φ at the second
        det = b * c - a * d
        s = min(max((b * known[high] - d * known[low]) / det, 0.0), 1.0)
        t = min((s * up - known[share]) / share for up, share in ((a, low), (c, high)) if share > 0)
        if t < 0:
            t, s = 0.0, min(max(known[share] / (1 - share) for share in (low, high) if share < 1), 1.0)
        found.append((s + SPARE, min(t, 1.0) - SPARE))
    return np.array(found)
