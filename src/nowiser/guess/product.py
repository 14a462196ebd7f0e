"""Goals on independent attributes: product rules for one victim, corners of polygons for the worst.

The probability of a goal is linear in that of each part, and rises with it. So with the victims of all parts but one
held still, the gain is offset + up·after − down·before of that part, up, down ≥ 0, and at most offset + Φ(up, down):

    Φ(up, down)  =  max over the victims of this part of  up·after − down·before

is one search on that part alone (`Victims.worst`). Each Φ that is known cuts a half plane off the square of all
(before, after); what is left is a polygon that holds the figures of every victim of the part. A function that is
linear in each part is largest, over a product of polygons, at corners of them: the largest gain over all combinations
of corners bounds that of everybody.

It is an upper bound at any time. It comes down by asking for Φ in the direction in which the best corner of a part was
attained: either that cuts the corner off, or a victim reaches it. Part by part, with the victims found taking the
places of the corners: if none of the corners is cut off, these victims together reach the bound.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.figures import Figures, Found, Victims, Worst, raised
from nowiser.guess.formula import Formula, rounded, value
from nowiser.guess.labels import Anyone
from nowiser.model.priors.base import Floats
from nowiser.model.witness import Witness

SHARP = 5e-5  # of the gain, between the bound and the victims found
ROUNDS = 40  # then the bound is reported as it is
COMBINATIONS = 1 << 18  # of corners that are looked at
SPARE = 1e-14  # of rounding
DIGITS = 9  # of a direction


@dataclass(frozen=True)
class Part:
    """A goal on attributes of its own, and everybody as seen by it."""

    names: tuple[str | None, ...]  # (None,) for the only attribute, where it has no name
    victims: Victims

    def value_in(self, victim: Any) -> Any:
        """The victim as far as this part is about him."""
        if len(self.names) > 1:
            return {n: victim[n] for n in self.names}
        return victim[self.names[0]] if self.names[0] is not None else next(iter(victim.values()))


def found_of_victim(of: Formula, parts: Sequence[Part], victim: Any) -> Found:
    """The ceiling of one victim: tight where those of the parts are."""
    values = _values(parts, victim)
    return _joined(of, parts, [(p.victims, x, p.victims.at(x)) for p, x in zip(parts, values, strict=True)])


def found_of_worst(of: Formula, parts: Sequence[Part], *, told: bool = True) -> Found:
    """The victim with the largest gain found, with figures as far apart as bounds everybody's gain.

    told: whether anything was released; otherwise nobody gains, and the victim who is guessed best is named.
    """
    if not told:
        every = [part.victims for part in parts]
        worst, gain = [v.worst() if isinstance(v, Anyone) else v.worst(1.0, 0.0) for v in every], 0.0
    elif len(parts) == 1:
        one = parts[0].victims.worst()
        worst, gain = [one], one.value
    else:
        worst, gain = worst_of_several(of, [part.victims for part in parts])
    at = []
    for part, one in zip(parts, worst, strict=True):
        victims = part.victims.settled(one.before) if isinstance(part.victims, Anyone) else part.victims
        at.append((victims, one.victim, victims.at(one.victim)))
    found = _joined(of, parts, at)
    before, after = raised(found.figures.before, found.figures.after, gain)
    figures = Figures(before, after, min(found.figures.smallest, before))
    return Found(figures, found.victim, found.witness, min(found.attained, after))


def _joined(of: Formula, parts: Sequence[Part], at: Sequence[tuple[Victims, Any, Figures]]) -> Found:
    """Figures, witness and what it reaches from those of the parts; a formula rises with each of its parts."""
    every = [figures for _, _, figures in at]
    figures = Figures(
        float(rounded(of, [f.before for f in every], above=False)),
        float(rounded(of, [f.after for f in every], above=True)),
        float(rounded(of, [f.smallest for f in every], above=False)),
    )
    witnesses = [victims.witness(who) for victims, who, _ in at]
    attained = float(rounded(of, [victims.attained(who) for victims, who, _ in at], above=False))
    if len(parts) == 1:
        return Found(figures, at[0][1], witnesses[0], attained)
    shown = [", ".join("value" if n is None else n for n in part.names) for part in parts]
    who: dict[str, Any] = {}
    for name, part, (_, x, _) in zip(shown, parts, at, strict=True):
        who |= dict(x) if len(part.names) > 1 else {name: x}
    return Found(
        figures, who, Witness("product", victim=who, parts=tuple(zip(shown, witnesses, strict=True))), attained
    )


def _values(parts: Sequence[Part], victim: Any) -> list[Any]:
    """The victim's value for each part; Misconfigured where one is missing."""
    names = [n for part in parts for n in part.names]
    if isinstance(victim, Mapping):
        if None in names and len(victim) != 1:
            raise Misconfigured(f"victim must give one value, for the only attribute, found {len(victim)}")
        missing = [n for n in names if n is not None and n not in victim]
        if missing:
            raise Misconfigured(f"victim must give a value for each attribute of the goal, {missing[0]} is missing")
        return [part.value_in(victim) for part in parts]
    if len(names) > 1:
        raise Misconfigured(
            f"victim must be a mapping from attribute to value for several attributes, found {victim!r}"
        )
    return [victim]


@dataclass
class _Polygon:
    """Where the figures of all victims of one part lie: Φ by direction (the share of `down`), and who attains it."""

    victims: Victims
    known: dict[float, float] = field(default_factory=lambda: {0.0: 1.0, 1.0: 0.0})  # after ≤ 1, before ≥ 0
    found: dict[float, Worst] = field(default_factory=dict)

    def ask(self, up: float, down: float) -> Worst:
        share = round(float(down / (up + down)), DIGITS) if up + down > 0 else 0.5
        if share not in self.found:
            one = self.victims.worst(1 - share, share)
            self.found[share] = one
            self.known[share] = min(float(one.value) * (1 + SPARE) + SPARE, self.known.get(share, 1.0))
        return self.found[share]

    def corners(self) -> Floats:
        """After and before at every corner: where the lines of two neighbouring directions meet, inside the square.

        In every direction between the two that point is as far as the lines allow. A larger `after` or a smaller
        `before` is always on the safe side.
        """
        found = []
        for low, high in itertools.pairwise(sorted(self.known)):
            near, far = self.known[low], self.known[high]
            s = (high * near - low * far) / (high - low)
            lines = [(low, near), (high, far)][s > 1 : 1 + (s >= 0)]  # beyond the square only one of them counts
            s = min(max(s, 0.0), 1.0)
            t = min(((1 - q) * s - phi) / q for q, phi in lines if q > 0)
            if t < 0:
                s, t = min(s, max(near / (1 - low), 0.0)), 0.0
            elif t > 1:
                s, t = min(s, (far + high) / (1 - high)) if high < 1 else s, 1.0
            found.append((s + SPARE, t - SPARE))
        return np.array(found)


def worst_of_several(of: Formula, victims: Sequence[Victims]) -> tuple[list[Worst], float]:
    """The victims, one of each part, with the largest gain found, and a bound on everybody's gain."""
    parts = [_Polygon(v) for v in victims]
    at = [part.ask(0.5, 0.5) for part in parts]
    best, bound = -1.0, min(1.0, sum(2 * max(one.value, 0.0) for one in at) + SPARE)  # no part counts more than once
    for _ in range(ROUNDS):
        corners = [part.corners() for part in parts]
        if math.prod(len(c) for c in corners) > COMBINATIONS:
            break
        gains = _tensor(of, [c[:, 0] for c in corners]) - _tensor(of, [c[:, 1] for c in corners])
        where = np.unravel_index(int(np.argmax(gains)), gains.shape)
        bound = min(bound, float(gains[where]) + 16 * len(parts) * SPARE)
        figures = [(float(c[i, 0]), float(c[i, 1])) for c, i in zip(corners, where, strict=True)]
        asked, found = sum(len(part.found) for part in parts), []
        for i, part in enumerate(parts):
            up, down = (_slope(of, i, [f[side] for f in figures]) for side in (0, 1))
            found.append(part.ask(up, down))
            figures[i] = found[-1].after, found[-1].before
        gain = float(value(of, [f[0] for f in figures]) - value(of, [f[1] for f in figures]))
        if gain > best:
            best, at = gain, found
        if bound - best <= SHARP * best or asked == sum(len(part.found) for part in parts):
            break
    return at, max(bound, best)


def _slope(of: Formula, i: int, figures: list[float]) -> float:
    """How fast the probability of the goal rises with that of part i, the others held still."""
    ends = [value(of, [*figures[:i], leaf, *figures[i + 1 :]]) for leaf in (0.0, 1.0)]
    return max(float(ends[1] - ends[0]), 0.0)


def _tensor(of: Formula, figures: Sequence[Floats]) -> Floats:
    """The formula for every combination of entries."""
    n = len(figures)
    spread = [f.reshape([-1 if i == j else 1 for j in range(n)]) for i, f in enumerate(figures)]
    return np.asarray(np.broadcast_to(value(of, spread), [f.size for f in figures]))
