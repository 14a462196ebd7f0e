"""The worst victim of a smooth prior (`bell`, `skew`), certified from some dozens of victims: quicker than `worst`.

Between two neighbouring victims x₁ < x₂ the gain is bounded from what is known about those two alone. It moves at

    p(u)·(A'·φ(u) − 1) − p(l)·(A'·φ(l) − 1)

per unit, φ(x) = e^{−κ|x−t|}/N(t), A' what the jump does (the peak is optimal, so its movement does not count). Each
`Shape` knows bounds on densities, on e^{−κ|x−t|} and on N between neighbours (`Between`), from which the slowest and
the quickest speed follow (`pace`), and with the gain at both ends a bound on all gains between. It is sharp also for
small costs, because φ − 1 is as small as the cost, and for narrow goals, whose two ends are taken together. It misses
the truth by the square of the distance, so a few rounds of new victims suffice.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nowiser.guess.number.follow import Objective
from nowiser.guess.number.profile import Near
from nowiser.guess.number.victims import Between, Flags, Kinds, Shape, V, Victims, tent
from nowiser.model.priors.base import Floats

CHOICES = 8  # of other attributes' victims (`Objective`)
ROUNDS = 10
RATIO, LEVELS = 1.7, (8, 12)  # new victims lie ever closer around where the worst is expected
MOST = 12  # ranges are divided evenly in up to so many
SHARP = 1e-13  # how far ln odds may be from the crossing: small costs move them by little more
ROUGH = 1e-6  # rounding errors above this share of the gain are too much
SPARE = 1e-12  # relative rounding error of what a speed is made of, amply


@dataclass(frozen=True)
class Found:
    """A victim (in raw units), before and after of his goal, and a bound on the gain of every victim."""

    x: float
    before: float
    after: float
    gain: float


def worst_of_smooth(profile: Near, objective: Objective, tolerance: float, finest: float) -> Found | None:
    """The worst victim of a normal or lognormal prior; None where the slower way must be taken.

    The bound exceeds the victim's own gain by at most `tolerance` of it, or `finest` where that is more.
    """
    if objective.up.size > CHOICES or min(objective.up.min(), objective.down.min()) < 0:
        return None
    from nowiser.guess.density.tilt import TiltLine
    from nowiser.guess.number.bell import bell_of

    found = None
    if (bell := bell_of(profile)) is not None:
        found = search(bell, objective, tolerance, finest)
    elif not isinstance(profile.line, TiltLine):
        from nowiser.guess.number.skew import skew_of

        skew = skew_of(profile)
        found = None if skew is None else search(skew, objective, tolerance, finest)
    if found is None:
        return None
    named = float(f"{found.x:.15g}")  # 58, not 58.00000000000001, where the goal of a victim touches the end at 60
    return replace(found, x=min(max(named, profile.line.low), profile.line.high))


def search(shape: Shape[V], objective: Objective, tolerance: float, finest: float) -> Found | None:
    """The worst victim of this shape; None where the rounds do not suffice, or rounding errors are too much."""
    x, kind = shape.first()
    dropped, best, joined, start = shape.beyond(objective, x), -math.inf, np.ones(x.size - 1, bool), None
    for level in (*LEVELS, *[LEVELS[-1]] * (ROUNDS - len(LEVELS))):
        known = shape.look(x, kind, start, SHARP)
        after = known.after.max(axis=0)
        gains = objective.of(known.before, after)
        if not np.isfinite(gains).all():
            return None
        i = int(np.argmax(gains))
        if gains[i] > best:
            best, at = float(gains[i]), (float(known.x[i]), float(known.before[i]), float(after[i]))
            rough = float(known.slack[i] * known.bend[:, i].max()) > ROUGH * abs(best)
        bounds = speed(shape, known, objective)
        if shape.costly:
            bounds = np.minimum(bounds, shape.further(known, objective))
        joined &= kind[1:] == kind[:-1]
        enough = best + max(tolerance * abs(best), finest)
        open_ = joined & (bounds > enough)
        dropped = max(dropped, best, float(bounds[joined & ~open_].max(initial=-math.inf)))
        if not open_.any():
            return None if rough else Found(shape.origin + shape.unit * at[0], *at[1:], dropped)
        ends = np.maximum(gains[1:], gains[:-1])
        with np.errstate(divide="ignore", invalid="ignore"):  # the bound misses by the square of the distance
            parts = 1.2 * np.sqrt((bounds - ends) / (enough - ends)) + 1
        x, kind, start, joined = _closer(known, objective, open_, parts, level)
    return None


def speed(shape: Shape[V], known: V, objective: Objective) -> Floats:
    """A bound on what is maximised, for all victims between neighbours."""
    width = known.x[1:] - known.x[:-1]
    with np.errstate(invalid="ignore"):  # where nothing is known; `tent` says so
        slowest, quickest = pace(shape.lift, known, shape.between(known), objective)
        gains = objective.up[:, None] * known.after.max(axis=0) - objective.down[:, None] * known.before
        found = tent(gains, quickest * width, slowest * width) + objective.offset[:, None]
    return np.asarray(found.max(axis=0))


def pace(lift: float, known: Victims, between: Between, objective: Objective) -> tuple[Floats, Floats]:
    """The slowest and the quickest speed of what is maximised between neighbours, for each choice.

    Where the ends are close, the same speed is better written as (p(u) − p(l))·(A'φ(u) − 1) + p(l)·A'·(φ(u) − φ(l)),
    two small terms; where the cost is large, as A'·(p(u)φ(u) − p(l)φ(l)) − (p(u) − p(l)). All three are looked at.
    """
    (low, tall), (gentle, steep) = between.height, between.scale
    least, most = between.fall[0] * gentle, between.fall[1] * steep
    lifts = 1.0, 1.0
    flow = (
        None
        if between.flow is None
        else (between.flow[0][1] - between.flow[1][0], between.flow[1][1] - between.flow[0][0])
    )
    if lift > 1:
        a1, a2, width = known.plain[:-1], known.plain[1:], known.x[1:] - known.x[:-1]
        # the posterior before the jump moves at p(u)·φ(u) − p(l)·φ(l), so by no more than this
        moved = (tall * most).max(axis=0)
        moved = moved if flow is None else np.fmin(moved, np.maximum(-flow[0], flow[1]))
        moved = width * moved + 8 * np.maximum(known.slack[1:], known.slack[:-1])
        lifts = (
            lift / (1 + (lift - 1) * np.minimum(np.maximum(a1, a2) + moved, 1.0)) ** 2,
            lift / (1 + (lift - 1) * np.maximum(np.minimum(a1, a2) - moved, 0.0)) ** 2,
        )
        least, most, gentle, steep = least * lifts[0], most * lifts[1], gentle * lifts[0], steep * lifts[1]
    up, down = objective.up[:, None, None], objective.down[:, None, None]
    high, deep = up * most - down * (1 - SPARE), up * least - down * (1 + SPARE)
    rises, falls = np.where(high > 0, tall, low) * high, np.where(deep > 0, low, tall) * deep
    quickest, slowest = rises[:, 1] - falls[:, 0], falls[:, 1] - rises[:, 0]
    if between.apart is None:
        return slowest, quickest
    inner, (first, last) = (known.kind[1:] == 0) & (known.kind[:-1] == 0), between.lean
    corners = [a * b for a in between.apart for b in (high[:, 1], deep[:, 1])]
    beside = np.where(last > 0, tall[0] * steep, low[0] * gentle) * last
    at_least = np.where(first > 0, low[0] * gentle, tall[0] * steep) * first
    quick, slow = np.maximum.reduce(corners) + up[:, 0] * beside, np.minimum.reduce(corners) + up[:, 0] * at_least
    if flow is not None:
        quick = np.fmin(
            quick, up[:, 0] * (flow[1] * np.where(flow[1] > 0, lifts[1], lifts[0])) - down[:, 0] * between.apart[0]
        )
        slow = np.fmax(
            slow, up[:, 0] * (flow[0] * np.where(flow[0] > 0, lifts[0], lifts[1])) - down[:, 0] * between.apart[1]
        )
    return np.where(inner, np.fmax(slowest, slow), slowest), np.where(inner, np.fmin(quickest, quick), quickest)


def _closer(
    known: Victims, objective: Objective, open_: Flags, parts: Floats, levels: int
) -> tuple[Floats, Kinds, Floats, Flags]:
    """New victims in the open ranges, and where their t should be.

    Evenly where few parts will do, else ever closer around where the gain should be largest. Also says which of them
    are neighbours with all victims between them still to be looked at.
    """
    i = np.flatnonzero(open_)
    shares = np.append(1 - RATIO ** -np.arange(levels + 1.0), 1.0)
    every = [
        np.linspace(0, 1, int(n) + 2) if n < MOST else np.concatenate([at * shares, 1 - (1 - at) * shares[-2::-1]])
        for n, at in zip(parts[i].tolist(), _expected(known, objective, i).tolist(), strict=True)
    ]
    share, i = np.concatenate(every), np.repeat(i, [one.size for one in every])
    last = np.append(i[1:] != i[:-1], True)
    x, t = known.x[i] + (known.x[i + 1] - known.x[i]) * share, known.t[i] + (known.t[i + 1] - known.t[i]) * share
    x = np.where(last, known.x[i + 1], x)
    keep = np.append(True, (x[1:] > x[:-1]) | (i[1:] != i[:-1])) & (last | (x < known.x[i + 1]))
    return x[keep], known.kind[i][keep], t[keep], ~last[keep][:-1]


def _expected(known: Victims, objective: Objective, i: npt.NDArray[np.intp]) -> Floats:
    """Where in each range, from 0 to 1, the gain should be largest: an estimate, nothing rests on it."""
    after = known.after.max(axis=0)
    every = objective.offset[:, None] + objective.up[:, None] * after - objective.down[:, None] * known.before
    choice = np.argmax(every, axis=0)
    four = np.clip(i + np.arange(-1, 3)[:, None], 0, known.x.size - 1)
    with np.errstate(all="ignore"):
        bend = known.bend.min(axis=0) / (1 - known.plain)
        speeds = known.height * (objective.up[choice] * bend * known.fall / known.weight - objective.down[choice])
        speed = speeds[1] - speeds[0]
        first, last = speed[i], speed[i + 1]
        x, s, found = known.x[four], speed[four], np.zeros(i.size)
        for j in range(4):  # the polynomial through four neighbours (x as a function of the speed) at speed 0
            others = [n for n in range(4) if n != j]
            found = found + x[j] * np.prod(s[others] / (s[others] - s[j]), axis=0)
        at = (found - x[1]) / (x[2] - x[1])
        at = np.where((at > 0) & (at < 1), at, first / (first - last))
    return np.where((first > 0) & (last < 0), at, np.where(first + last > 0, 1.0, 0.0))
