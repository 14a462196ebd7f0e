"""The worst victim of a goal with several parts: searches on lines, and the corners they leave.

The probability of a goal is linear in that of each part (and rises with it). So with all victims but one held still,
the gain is offset + up·after − down·before of that one's part, up, down ≥ 0, and at most offset + Φ(up, down), where

    Φ(up, down)  =  max over the victims of this part of  up·after − down·before

is one search on a line (`worst`). Each Φ that is known cuts a half plane off the square of all (before, after); what is
left is a polygon that holds the figures of every victim of the part. A function that is linear in each part is
largest, over a product of polygons, at corners of them: the largest gain over all combinations of corners bounds
that of everybody.

It is an upper bound at any time. It comes down by asking for Φ in the direction in which the best corner of a part was
attained: either that cuts the corner off, or a victim reaches it. Part by part, with the victims found taking the
places of the corners: if none of the corners is cut off, these victims together reach the bound.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nowiser.guess.number.follow import Objective
from nowiser.guess.number.profile import Figures, Profile
from nowiser.guess.number.worst import Worst, worst_of
from nowiser.guess.parts.formula import Formula, leaves, value
from nowiser.model.priors.base import Floats

TOLERANCE = 1e-6
ROUNDS = 40  # then the bound is reported as it is
COMBINATIONS = 1 << 21  # of corners
SPARE = 1e-14


@dataclass(frozen=True)
class WorstOfSeveral:
    """One coordinate per leaf, the leaves' figures there, and a bound on the gain of every victim."""

    xs: tuple[float, ...]
    figures: tuple[Figures, ...]
    gain: float


class _Part:
    """One part: Φ by direction (the share of `down` in it), who attains it, and the corners that are left."""

    def __init__(self, profile: Profile, *, negated: bool) -> None:
        self.profile, self.negated = profile, negated
        self.known: dict[float, float] = {0.0: 1.0, 1.0: 0.0}  # after ≤ 1, before ≥ 0
        self.found: dict[float, Worst] = {}
        self.ask(0.5, 0.5)

    def ask(self, up: float, down: float) -> Worst:
        share = down / (up + down) if up + down > 0 else 0.5
        if share not in self.found:
            objective = Objective(np.zeros(1), np.array([1 - share]), np.array([share]))
            one = worst_of(self.profile, negated=self.negated, objective=objective, smallest=self.negated)
            self.found[share] = one
            self.known[share] = min(one.gain * (1 + SPARE) + SPARE, self.known.get(share, 1.0))
        return self.found[share]

    def corners(self) -> Floats:
        """After and before at every corner: where two neighbouring half planes end, inside the square.

        In every direction between the two that point is farthest of all: where they meet outside the square, it is
        where it cuts the half plane that comes first there.
        """
        corners = []
        for low, high in itertools.pairwise(sorted(self.known)):
            (a, b), (c, d) = (1 - low, low), (1 - high, high)
            # s·a − t·b = Φ at the first, s·c − t·d = Φ at the second
            s = (b * self.known[high] - d * self.known[low]) / (b * c - a * d)
            if s < 0:
                s, t = 0.0, -self.known[low] / b
            elif s > 1:
                s, t = 1.0, (c - self.known[high]) / d
            else:  # the same in exact arithmetic; the smaller t is never too large
                t = min((s * up - self.known[share]) / share for up, share in ((a, low), (c, high)) if share > 0)
            if t < 0:
                t, s = 0.0, min(max(self.known[low] / a, 0.0), 1.0)
            elif t > 1:
                t, s = 1.0, min(max((self.known[high] + d) / c, 0.0), 1.0) if c > 0 else s
            corners.append((s + SPARE, t - SPARE))
        return np.array(corners)


def worst_of_several(profiles: Sequence[Profile], of: Formula) -> WorstOfSeveral:
    """The victim with the largest gain found, and a bound on everybody's."""
    signs = {leaf.index: leaf.negated for leaf in leaves(of)}
    parts = [_Part(p, negated=signs[i]) for i, p in enumerate(profiles)]
    best, at, bound = -1.0, [p.found[0.5] for p in parts], np.inf
    for _ in range(ROUNDS):
        corners = [p.corners() for p in parts]
        if np.prod([float(len(c)) for c in corners]) > COMBINATIONS:
            break
        gains = _tensor(of, [c[:, 0] for c in corners]) - _tensor(of, [c[:, 1] for c in corners])
        where = np.unravel_index(int(np.argmax(gains)), gains.shape)
        bound = min(bound, float(gains[where]) + 16 * len(parts) * SPARE)
        figures = [(float(c[i, 0]), float(c[i, 1])) for c, i in zip(corners, where, strict=True)]
        asked = sum(len(p.found) for p in parts)
        found = []
        for i, part in enumerate(parts):
            up, down = (_slope(of, i, [f[side] for f in figures]) for side in (0, 1))
            one = part.ask(up, down)
            found.append(one)
            figures[i] = (one.figures.after, one.figures.before)
        gain = float(value(of, [f[0] for f in figures]) - value(of, [f[1] for f in figures]))
        if gain > best:
            best, at = gain, found
        if bound - best <= TOLERANCE or asked == sum(len(p.found) for p in parts):
            break
    xs = tuple(one.x for one in at)
    every = tuple(_at(p, x, negated=signs[i]) for i, (p, x) in enumerate(zip(profiles, xs, strict=True)))
    return WorstOfSeveral(xs, every, max(bound, best))


def _slope(of: Formula, i: int, figures: list[float]) -> float:
    """How fast the probability of the goal rises with that of part i, the others held still."""
    ends = [value(of, [*figures[:i], leaf, *figures[i + 1 :]]) for leaf in (0.0, 1.0)]
    return max(float(ends[1] - ends[0]), 0.0)


def _at(profile: Profile, x: float, *, negated: bool) -> Figures:
    found = profile.at(np.array([x]), smallest=True)
    found = found.negated() if negated else found
    return Figures(*(float(np.atleast_1d(v)[0]) for v in (found.before, found.after, found.smallest)))


def _tensor(of: Formula, figures: Sequence[Floats]) -> Floats:
    """The formula for every combination of entries."""
    n = len(figures)
    spread = [np.asarray(f).reshape([-1 if i == j else 1 for j in range(n)]) for i, f in enumerate(figures)]
    return np.asarray(np.broadcast_to(value(of, spread), [np.asarray(f).size for f in figures]))
