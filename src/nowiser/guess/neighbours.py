"""The worst victim of a normal prior (`bell`), certified from some dozens of victims: the search of `worst`, quicker.

Between two neighbouring victims x₁ < x₂ the gain is bounded in two ways, from what is known about those two alone:

* *speed*: the gain moves at p(u)·(A'·φ(u) − 1) − p(l)·(A'·φ(l) − 1) per unit, φ(x) = e^{−κ|x−t|}/N(t), A' what the
  jump does (the peak is optimal, so its movement does not count). t − l grows with the victim and u − t shrinks, N is
  log-concave in t (see `follow`): the values at x₁ and x₂ bound all of it. Sharp for small costs, because φ − 1 is as
  small as the cost.
* *chords*: let t move evenly from t₁ to t₂. F is concave (integrals of log-concave functions are log-concave), so
  F(y) is below its tangents at y₁ and y₂, and F(e) above its chord; prior masses of goals of one size are log-concave
  in the victim, so b is above b₁^{1−λ}·b₂^λ. `after` rises with W and is concave in it (for jumps ≥ 0), so for either
  row the gain is below a concave function of λ, and that is below its tangents at 0 and 1. Sharp for large costs.

Both miss the truth by the square of the distance, so a few rounds of new victims suffice. Of all victims farther out
than the last: with t = u only the left row counts, whose F(u) − F(l) falls with x; likewise on the other side with
t = l.
"""

import itertools
import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nowiser.guess.bell import Bell, Flags, Kinds, Victims, bell_of, victims
from nowiser.guess.follow import Objective
from nowiser.guess.line import EPS
from nowiser.guess.profile import Near
from nowiser.model.priors.base import Floats

FAR = 8.0  # standard deviations beyond the tilted mean, where nothing is left of the other side
CHOICES = 8  # of other attributes' victims (`Objective`)
STEP = 0.35  # between the first victims
ROUNDS = 10
RATIO, LEVELS = 1.7, (8, 12)  # new victims lie ever closer around where the worst is expected
NARROW = 1.0  # radius, in standard deviations, up to which the ends of a goal are looked at together
STEEPEST_BEND = 0.56  # a normal density's third derivative is at most that
LARGE = 0.1  # nats over the goal from which on chords are worth asking
SHARP = 1e-13  # how far ln odds may be from the crossing: small costs move them by little more
ROUGH = 1e-6  # rounding errors above this share of the gain are too much
SPARE = 1e-12  # relative rounding error of what a speed is made of, amply
_ROOT_2PI = math.sqrt(2 * math.pi)


@dataclass(frozen=True)
class Found:
    """A victim (in raw units), before and after of his goal, and a bound on the gain of every victim."""

    x: float
    before: float
    after: float
    gain: float


def worst_of_bell(profile: Near, objective: Objective, tolerance: float, finest: float) -> Found | None:
    """The worst victim of a normal prior; None where the slower way must be taken.

    The bound exceeds the victim's own gain by at most `tolerance` of it, or `finest` where that is more.
    """
    bell = bell_of(profile)
    if bell is None or objective.up.size > CHOICES or min(objective.up.min(), objective.down.min()) < 0:
        return None
    x, kind = _first(bell)
    dropped, best, joined, start = _beyond(bell, objective, x), -math.inf, np.ones(x.size - 1, bool), None
    for level in (*LEVELS, *[LEVELS[-1]] * (ROUNDS - len(LEVELS))):
        known = victims(bell, x, kind, start, SHARP)
        after = known.after.max(axis=0)
        gains = objective.of(known.before, after)
        i = int(np.argmax(gains))
        if gains[i] > best:
            best, at = float(gains[i]), (float(known.x[i]), float(known.before[i]), float(after[i]))
            rough = float(known.slack[i] * known.bend[:, i].max()) > ROUGH * abs(best)
        bounds = _speed(bell, known, objective)
        if bell.shift * bell.reach > LARGE or bell.lift > 1 + LARGE:
            bounds = np.minimum(bounds, _chords(known, objective))
        joined &= kind[1:] == kind[:-1]
        open_ = joined & (bounds > best + max(tolerance * abs(best), finest))
        dropped = max(dropped, best, float(bounds[joined & ~open_].max(initial=-math.inf)))
        if not open_.any():
            return None if rough else Found(bell.mean + bell.sd * at[0], *at[1:], dropped)
        x, kind, start, joined = _closer(known, objective, open_, level)
    return None


def _first(bell: Bell) -> tuple[Floats, Kinds]:
    """Victims to start from. A symmetric prior has symmetric victims: only those below the mean are looked at.

    A victim whose goal just touches an end of the prior is looked at as one of either kind.
    """
    far = bell.shift + bell.reach + FAR
    low, high = max(bell.low, -far), min(bell.high, far) if bell.low != -bell.high else 0.0
    touching = [x for x in (bell.low + bell.reach, bell.high - bell.reach) if low < x < high]
    xs, kinds = [], []
    for a, b in itertools.pairwise([low, *touching, high]):
        xs.append(np.linspace(a, b, math.ceil((b - a) / STEP) + 1))
        middle = (a + b) / 2
        kind = -1 if middle - bell.reach < bell.low else int(middle + bell.reach > bell.high)
        kinds.append(np.full(xs[-1].size, kind, np.int8))
    return np.concatenate(xs), np.concatenate(kinds)


def _beyond(bell: Bell, objective: Objective, x: Floats) -> float:
    """A bound for all victims outside the first and the last that are looked at (mirrored ones are not outside)."""
    outside = np.array([bell.high > x[-1] and bell.low != -bell.high, bell.low < x[0]])
    if not outside.any():
        return -math.inf
    y = np.array([[x[-1] + bell.reach, x[-1] - bell.reach], [bell.reach - x[0], -bell.reach - x[0]]])
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log(bell.half(np.minimum(y, np.array([[bell.high], [-bell.low]])))[0])
    odds = np.expm1((log[:, 0] - log[:, 1])[outside].max() + SPARE) * bell.lift
    return float((objective.offset + objective.up * odds / (1 + odds)).max())


def _speed(bell: Bell, known: Victims, objective: Objective) -> Floats:
    """The first bound, for every two neighbours."""
    width, slip = known.x[1:] - known.x[:-1], np.maximum(known.slip[1:], known.slip[:-1])
    steep, gentle = _scales(bell, known, slip)
    f1, f2, h1, h2 = known.fall[:, :-1], known.fall[:, 1:], known.height[:, :-1], known.height[:, 1:]
    most, least = np.maximum(f1, f2) * steep, np.minimum(f1, f2) * gentle
    tall, low = np.maximum(h1, h2), np.minimum(h1, h2)
    for row, end in enumerate((known.x - bell.reach, known.x + bell.reach)):
        passing = (end[:-1] < 0) & (end[1:] > 0) & (tall[row] > 0)  # the mean, where the density is highest
        tall[row, passing] = 1 / (_ROOT_2PI * bell.total)
    if bell.lift > 1:
        a1, a2, jump = known.plain[:-1], known.plain[1:], bell.lift - 1
        moved = width * (tall * most).sum(axis=0) + 8 * np.maximum(known.slack[1:], known.slack[:-1])
        quickest = bell.lift / (1 + jump * np.maximum(np.minimum(a1, a2) - moved, 0.0)) ** 2
        slowest = bell.lift / (1 + jump * np.minimum(np.maximum(a1, a2) + moved, 1.0)) ** 2
        most, least, steep, gentle = most * quickest, least * slowest, steep * quickest, gentle * slowest
    up, down = objective.up[:, None, None], objective.down[:, None, None]
    high, deep = up * most - down * (1 - SPARE), up * least - down * (1 + SPARE)
    quick, slow = np.where(high > 0, tall, low) * high, np.where(deep > 0, low, tall) * deep
    rise, fall = quick[:, 1] - slow[:, 0], slow[:, 1] - quick[:, 0]
    if bell.reach < NARROW:
        # the same as (p(u) − p(l))·(A'φ(u) − 1) + p(l)·A'·(φ(u) − φ(l)), two small terms where the ends are close
        bent = STEEPEST_BEND * bell.reach / bell.total * width**2 / 4 + 4 * EPS / bell.total
        apart = known.height[1] - known.height[0]
        least_apart, most_apart = np.minimum(apart[1:], apart[:-1]) - bent, np.maximum(apart[1:], apart[:-1]) + bent
        corners = [a * b for a in (least_apart, most_apart) for b in (high[:, 1], deep[:, 1])]
        lean, spare = known.fall[1] - known.fall[0], 2 * bell.shift * slip + 8 * EPS
        first, last = lean[:-1] - spare, lean[1:] + spare  # it grows with the victim, as u − t shrinks and t − l grows
        beside = np.where(last > 0, tall[0] * steep, low[0] * gentle) * last
        at_least = np.where(first > 0, low[0] * gentle, tall[0] * steep) * first
        inner = (known.kind[1:] == 0) & (known.kind[:-1] == 0)
        rise = np.where(inner, np.minimum(rise, np.maximum.reduce(corners) + up[:, 0] * beside), rise)
        fall = np.where(inner, np.maximum(fall, np.minimum.reduce(corners) + up[:, 0] * at_least), fall)
    gains = objective.up[:, None] * known.after.max(axis=0) - objective.down[:, None] * known.before
    return np.asarray((_tent(gains, rise * width, fall * width) + objective.offset[:, None]).max(axis=0))


def _scales(bell: Bell, known: Victims, slip: Floats) -> tuple[Floats, Floats]:
    """The largest and the smallest 1/N between neighbours: N is log-concave in t, so below its tangents."""
    ahead = np.maximum(known.t[1:] - known.t[:-1], 0.0) + 2 * slip
    n1, n2 = known.weight[:-1], known.weight[1:]
    rising, falling = np.maximum(known.drift[:-1], 0.0), np.maximum(-known.drift[1:], 0.0)
    thick = np.minimum(n1 * np.exp(rising * ahead), n2 * np.exp(falling * ahead))
    off = np.exp(2 * bell.shift * slip + SPARE)
    return off / np.minimum(n1, n2), 1 / (thick * off)


def _chords(known: Victims, objective: Objective) -> Floats:
    """The second bound, for every two neighbours."""
    up, down = objective.up[:, None, None], objective.down[:, None, None]
    spare = known.slack[1:] + known.slack[:-1]
    b1, b2 = known.before[:-1], known.before[1:]
    with np.errstate(all="ignore"):
        ahead, out = known.y[:, 1:] - known.y[:, :-1], known.out[:, 1:] - known.out[:, :-1]
        log = np.log(b2 / b1)
        first = known.bend[:, :-1] * (known.slope[:, :-1] * ahead - out + spare)
        second = known.bend[:, 1:] * (known.slope[:, 1:] * ahead - out - spare)
        rise, fall = up * first - down * (b1 * log), up * second - down * (b2 * log)
        found = _tent(up * known.after - down * known.before, rise, fall) + objective.offset[:, None, None]
    gone = known.out == -np.inf  # nothing beyond: the row does not count, or its chord has no end
    found = np.where(gone[:, 1:] & gone[:, :-1], -np.inf, np.where(gone[:, 1:] | gone[:, :-1], np.inf, found))
    return np.asarray(found.max(axis=(0, 1)))


def _tent(gains: Floats, rise: Floats, fall: Floats) -> Floats:
    """The largest of min(g₁ + rise·λ, g₂ − fall·(1 − λ)) for λ from 0 to 1, between neighbours; ∞ where unknown."""
    g1, g2 = gains[..., :-1], gains[..., 1:]
    with np.errstate(all="ignore"):
        cross = np.minimum(np.maximum((g2 - fall - g1) / (rise - fall), 0.0), 1.0)
        peak = np.where(rise <= 0, g1, np.where(fall >= 0, g2, g1 + cross * rise))
    unknown = np.isnan(peak) | np.isnan(rise + fall)
    return np.where(unknown, np.inf, np.maximum(peak, np.maximum(g1, g2))) + 64 * EPS


def _closer(known: Victims, objective: Objective, open_: Flags, levels: int) -> tuple[Floats, Kinds, Floats, Flags]:
    """New victims in the open ranges, ever closer around where the gain should be largest, and where their t should be.

    Also says which of them are neighbours with all victims between them still to be looked at.
    """
    i = np.flatnonzero(open_)
    x1, x2, t1, t2 = known.x[i, None], known.x[i + 1, None], known.t[i, None], known.t[i + 1, None]
    at = _expected(known, objective, i)[:, None]
    shares = np.append(1 - RATIO ** -np.arange(levels + 1.0), 1.0)
    share = np.concatenate([at * shares, 1 - (1 - at) * shares[-2::-1]], axis=1)
    x, t = x1 + (x2 - x1) * share, t1 + (t2 - t1) * share
    x[:, -1] = x2[:, 0]
    keep, joined = np.ones(x.shape, bool), np.ones(x.shape, bool)
    keep[:, 1:-1] = (x[:, 1:-1] > x[:, :-2]) & (x[:, 1:-1] < x2)
    joined[:, -1] = False
    return x[keep], np.broadcast_to(known.kind[i, None], x.shape)[keep], t[keep], joined[keep][:-1]


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
