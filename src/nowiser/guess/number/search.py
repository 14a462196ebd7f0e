"""The worst victim of a family, with a certified remainder.

For one likelihood h of prior mean 1 (rate k; the jump multiplies odds, φ), up·φ(∫_goal h dπ) − down·π(goal) has, as a
function of the victim x, a second derivative of at least −K, where K adds up (k·h + |slope of ln p|·|h − 1|)·p over the
ends that move; where the density p jumps, its first derivative falls by at most J, the jump times |h − 1|. The largest
of such functions is as convex. So nobody between x₁ and x₂ has more than the larger of the two, and K(x₂ − x₁)²/8 and
J(x₂ − x₁)/4. Only likelihoods with which somebody in between has more than the best found so far count, so that
h ≤ (1 − posterior)/∫_outside e^{−k·distance} at an end. Victims at whose ends single values are count from both sides.

Two more bounds, for ranges that are too wide for that: all goals lie in one and hold one (`_enclosed`); and where the
slope of ln p stays between two limits, every goal is bounded by exponentials (`_local`), far out in tails.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from nowiser.guess.figures import lifted
from nowiser.guess.number.family import ONE, Family, Form
from nowiser.guess.number.pieces import Flags, Ints, Place, chosen
from nowiser.guess.number.sums import tilted
from nowiser.guess.rounding import EPS, tells
from nowiser.model.priors.base import Floats

FINEST = 1e-13  # remainders that are none
MOST = 100_000  # victims that are looked at
ROUNDS = 80
FEW = 512  # marks that are all looked at first
BATCH = 4096  # single values at a time


@dataclass(frozen=True)
class Objective:
    up: float
    down: float
    jump: float

    def of(self, before: Floats, odds: Floats) -> Floats:
        found: Floats = self.up * np.maximum(lifted(odds, self.jump), before) - self.down * before
        return found


@dataclass(frozen=True)
class Best:
    x: float
    before: float
    after: float
    value: float  # a bound for everybody


class Stretch:
    """Neighbours x₁ and x₂, as rows, and all victims between them."""

    def __init__(self, left: Floats, right: Floats) -> None:
        self.left, self.right, self.x1, self.x2 = left, right, left[0], right[0]

    def steps(self, at: float) -> Floats:
        """Two steps of the doubles around the ends of goals, `at` units away."""
        return np.asarray(2 * np.spacing(np.maximum(np.abs(self.x1), np.abs(self.x2)) + abs(at)))

    def at(self, which: Flags | Ints) -> "Stretch":
        return Stretch(self.left[:, which], self.right[:, which])

    def ends(self, aim: Objective) -> Floats:
        """The larger objective of the two: of those right of the left one, and left of the right one."""
        return np.maximum(aim.of(self.left[3], self.left[4]), aim.of(self.right[5], self.right[6]))


def look(family: Family, x: Floats) -> Floats:
    """Rows: x; before and odds of the victims, of those to the right, to the left; integrals at the ends of goals."""
    form = family.form.between()
    before, odds, places = family.figures(x)
    sides, touching = [before, odds, before, odds], family.touching(x)
    if touching.size:
        sides = [v.copy() for v in sides]
        for n, side in enumerate((1, -1)):
            sides[2 * n][touching], sides[2 * n + 1][touching], _ = family.figures(x[touching], form, side)
    places = places if form is family.form else family.places(x, form, out=False)
    t = tilted(family.pieces, family.k) if family.k else None
    sums = [f(p) for f in (t.below, t.above) for p in places] if t else []
    return np.array([x, before, odds, *sides, *sums])


def worst(
    family: Family, aim: Objective, near: tuple[float, float], seen: Floats | None, known: float = -math.inf
) -> tuple[Best, Floats]:
    """The victim with the largest objective, a bound for all, and all rows that were looked at.

    near: how far the bound may be from it, as a share of the objective and at least. known: somebody else has as much;
    who has less does not matter, and the bound is not below that.
    """
    form, moving = family.form, [end.at for end in family.form.ends if end.moves]
    if seen is None:
        still = not moving or form.first == form.last
        x = np.array([form.first + (form.last - form.first) / 2]) if still else _first(family, moving)
        seen = look(family, x)
    rows, kept, settled = seen, [seen], -math.inf
    left = np.arange(rows.shape[1] - 1)
    top = winner(aim, seen)
    for _ in range(ROUNDS):
        best = max(top.value, known)
        enough = best + max(near[0] * abs(best), near[1], FINEST)
        pair = Stretch(rows[:, left], rows[:, left + 1])
        bound, excess = _between(family, aim, pair, best, enough)
        many = sum(r.shape[1] for r in kept) > MOST
        fine = (bound <= enough) | (pair.x2 - pair.x1 <= 2 * pair.steps(0.0)) | many
        settled = max(settled, float(bound[fine].max(initial=-np.inf)))
        left, pair, excess = left[~fine], pair.at(~fine), excess[~fine]
        if not left.size:
            break
        fresh = look(family, _splits(family, pair, moving, excess, enough - pair.ends(aim)))
        kept.append(fresh)
        top = max(top, winner(aim, fresh), key=lambda one: one.value)
        rows = np.concatenate([rows[:, np.unique(np.concatenate([left, left + 1]))], fresh], axis=1)
        rows = rows[:, np.argsort(rows[0], kind="stable")]
        start = np.searchsorted(pair.x1, rows[0, :-1], "right") - 1
        left = np.flatnonzero((start >= 0) & (rows[0, 1:] <= pair.x2[np.maximum(start, 0)]))
    else:
        settled = max(settled, float(bound.max(initial=-np.inf)))
    every = np.concatenate(kept, axis=1)
    return replace(top, value=max(top.value, settled)), every[:, np.argsort(every[0], kind="stable")]


def worst_listed(family: Family, aim: Objective, seen: Floats | None) -> tuple[Best, Floats]:
    """The worst victim of single values, exactly: one guess for each set of them that is within the radius of somebody.

    The rows (victims, before, odds) serve other objectives.
    """
    if seen is None:
        values, radius, form = family.pieces.values, family.form.ends[1].at, family.form
        x = values
        if radius:  # where a value comes or goes, and between
            x = np.unique(np.clip(np.concatenate([x - radius, x + radius]), form.first, form.last))
            x = np.append(x, x[:-1] + np.diff(x) / 2)
            if not tells(float(np.abs(values[[0, -1]]).max()), radius):  # these sums do not say who is within it
                x = np.unique(np.concatenate([x, values]))
        some = np.array_split(x, -(-x.size // BATCH))
        seen = np.concatenate([np.array([part, *family.figures(part)[:2]]) for part in some], axis=1)
    return winner(aim, seen), seen


def winner(aim: Objective, rows: Floats) -> Best:
    i = int(np.argmax(aim.of(rows[1], rows[2])))
    before = float(rows[1, i])
    after = max(float(lifted(rows[2, i], aim.jump)), before)
    return Best(float(rows[0, i]), before, after, aim.up * after - aim.down * before)


def _first(family: Family, moving: list[float]) -> Floats:
    """Victims to begin with: at whose goals' ends the density jumps, and some everywhere, more near the ends."""
    p, form = family.pieces, family.form
    marks = p.marks[:: max(1, p.marks.size * len(moving) // FEW)]
    near = np.array([p.x[0], p.x[-1]])
    steps = max(map(abs, moving)) * 4.0 ** np.arange(-1, 12)
    every = [
        *(marks - at for at in moving),
        p.x[:: max(1, p.x.size // 96)],
        np.linspace(form.first, form.last, 33),
        np.linspace(max(p.likely[0], form.first), min(p.likely[1], form.last), 33),
        *(e + s * steps for e in near for s in (1, -1)),
    ]
    if form.between() != form:  # some goals are single values
        every.append(p.values)
    x = np.unique(np.clip(np.concatenate(every), form.first, form.last))
    return x[np.append(True, np.diff(x) > 2 * np.spacing(np.abs(x[1:]))) | np.isin(x, p.values)]


def _splits(family: Family, pair: Stretch, moving: list[float], excess: Floats, room: Floats) -> Floats:
    """Victims between: as many as will do by the remainder's square, at jumps of the density where there are some."""
    n = pair.x1.size
    most = int(np.clip(6000 // n, 2, 24))
    parts = np.ceil(1.1 * np.sqrt(excess / np.maximum(room, 1e-30)))
    parts = np.clip(np.nan_to_num(parts, nan=2, posinf=2), 2, most).astype(int)
    which = np.repeat(np.arange(n), parts - 1)
    step = np.arange(which.size) - np.repeat(np.cumsum(parts - 1) - (parts - 1), parts - 1) + 1
    x1, x2, parts = pair.x1[which], pair.x2[which], parts[which]
    new = x1 + (x2 - x1) * step / parts
    marks = family.pieces.marks
    if marks.size:
        spare, nearest, found = np.spacing(np.maximum(np.abs(x1), np.abs(x2))), (x2 - x1) / (2 * parts), new
        for at in moving:
            i = np.searchsorted(marks, new + at)
            for near in (marks[np.maximum(i - 1, 0)] - at, marks[np.minimum(i, marks.size - 1)] - at):
                better = (np.abs(near - new) <= nearest) & (near > x1 + spare) & (near < x2 - spare)
                found, nearest = np.where(better, near, found), np.where(better, np.abs(near - new), nearest)
        new = found
    return np.unique(new)


def _between(family: Family, aim: Objective, pair: Stretch, best: float, enough: float) -> tuple[Floats, Floats]:
    """Bounds on the objective of all victims between neighbours, and by how much they exceed the neighbours."""
    form, ends = family.form.between(), pair.ends(aim)
    if not any(end.moves for end in form.ends):
        return ends, np.zeros(ends.size)
    excess = _excess(family, form, aim, pair, best)
    excess = np.where(np.isnan(excess), np.inf, excess)
    bound = ends + excess + 8 * EPS
    hard = np.flatnonzero(bound > enough)
    if hard.size:
        bound[hard] = np.minimum(bound[hard], _enclosed(family, form, aim, pair.at(hard), enough))
        hard = hard[bound[hard] > enough]
    if hard.size and family.k and form.inside == ONE and all(end.moves for end in form.ends):
        bound[hard] = np.fmin(bound[hard], _local(family, form, aim, pair.at(hard)))
    return bound, excess


def _moving(family: Family, form: Form, j: int, pair: Stretch) -> list[Floats]:
    """Of an end that moves, over a stretch: the density, the slope of its logarithm and its jumps at most; outside the
    goal, and everywhere, ∫ e^{−k·distance from the end} at least.
    """
    p, k, end, x1, x2 = family.pieces, family.k, form.ends[j], pair.x1, pair.x2
    y1, y2, spare = x1 + end.at, x2 + end.at, pair.steps(end.at)
    beyond = (y2 <= p.x[0]) | (y1 >= p.x[-1])
    first, last = p.place(y1 + spare, after=True).i, p.place(y2 - spare, after=False).i
    tall, steep = (np.where(beyond, 0.0, p.largest(name, first, last)) for name in ("tall", "steep"))
    m, n = np.searchsorted(p.marks, y1 + spare, "right"), np.searchsorted(p.marks, y2 - spare, "left")
    jump = np.where(n > m, p.jumps[np.maximum(m, n)] - p.jumps[m], 0.0)
    if p.values.size:
        singles = np.searchsorted(p.values, y2 - spare) > np.searchsorted(p.values, y1 + spare, "right")
        jump = np.where(singles, np.inf, jump)
    if not k:
        return [tall, steep, jump, np.zeros(x1.size), np.ones(x1.size)]
    (a1, b1), (a2, b2) = (rows[7:].reshape(2, len(form.ends), -1) for rows in (pair.left, pair.right))
    below = not form.inside[j]  # what is outside lies below the end, up to the next one
    own, other = (a1[j], j - 1) if below else (b2[j], j + 1)
    if 0 <= other < len(form.ends):
        near = form.ends[other]
        away = y1 - (x2 * near.moves + near.at) if below else (x1 * near.moves + near.at) - y2
        own = own - np.exp(-k * np.maximum(away, 0.0)) * (a2[other] if below else b1[other])
    wave = np.exp(k * (x2 - x1))
    return [tall, steep, jump, np.maximum(own, 0.0) / wave, (a1[j] + b1[j]) / wave]


def _excess(family: Family, form: Form, aim: Objective, pair: Stretch, best: float) -> Floats:
    """K(x₂ − x₁)²/8 + J(x₂ − x₁)/4; infinite where a single value comes or goes in between."""
    k, up, down, x1, x2 = family.k, aim.up, aim.down, pair.x1, pair.x2
    w, grow = x2 - x1, math.exp(min(aim.jump, 300.0))
    moving = [j for j, end in enumerate(form.ends) if end.moves]
    tall, steep, jump, out, weight = np.array([_moving(family, form, j, pair) for j in moving]).swapaxes(0, 1)
    there, wave = tall > 0, np.exp(k * w)
    bare = np.where(there, tall * steep, 0.0).sum(axis=0)
    before = np.minimum(pair.left[3], pair.right[5]) - bare * w * w / 8 - jump.sum(axis=0) * w / 4
    asked = np.clip((best + down * np.maximum(before, 0.0)) / up, 0.0, 1.0) if up else np.zeros(w.size)
    least = asked / (grow - (grow - 1) * asked)  # the posterior by the slope alone that he needs at least
    top = wave * np.minimum((1 - least) / out, 1 / weight) if k else np.ones(tall.shape)  # bounds h
    mass = np.where(there, tall * top, 0.0)
    sign = np.array([form.inside[j] for j in moving])
    flow = np.maximum(mass[sign].sum(axis=0), mass[~sign].sum(axis=0))
    least = np.maximum(least - w * flow, 0.0)
    first = grow / (1 + (grow - 1) * least) ** 2  # derivatives of φ
    second = 2 * (grow - 1) * first / (1 + (grow - 1) * least)
    changed = np.maximum(up * first * top - down, down)
    each = np.where(there, tall * (k * up * first * top + steep * changed), 0.0).sum(axis=0)
    share = np.where(there, tall * (k + steep) / out, 0.0).max(
        axis=0
    )  # what is outside is outside for all ends together
    joint = up * first * wave * (1 - least) * share + down * bare
    bend = np.fmin(each, np.where(np.isnan(joint), np.inf, joint)) + up * second * flow**2
    kink = np.where(jump > 0, jump * changed, 0.0).sum(axis=0)
    rounded = (up * first + down) * flow * 8 * pair.steps(0.0)
    nothing = (tall.max(axis=0) == 0) & (jump.max(axis=0) == 0)
    return np.where(nothing, 0.0, (bend * w * w / 8 + kink * w / 4 + rounded) * 1.001)


def _enclosed(family: Family, form: Form, aim: Objective, pair: Stretch, enough: float) -> Floats:
    """All goals lie in one and hold one: each end where most, or least, is inside."""
    p, x1, x2 = family.pieces, pair.x1, pair.x2
    wide: list[Place] = []
    core: list[Place] = []
    good = np.ones(x1.size, bool)
    for inside, end in zip(form.inside, form.ends, strict=False):
        y1, y2 = (x + end.at if end.moves else np.full(x.shape, end.at) for x in (x1, x2))
        spare = pair.steps(end.at) * end.moves
        spare = -spare if p.values.size else spare  # single values at the very ends are not met, or shared
        low, high = (y2 + spare, y1 - spare) if inside else (y1 - spare, y2 + spare)
        most = p.place(low, (not inside) if end.moves else end.after)
        least = p.place(high, inside if end.moves else end.after)
        if wide:  # what vanishes has no mass
            good &= wide[-1].upto(most)
            least = chosen(core[-1].upto(least), least, core[-1])
        wide.append(most)
        core.append(least)
    before = family.before(core, form.inside, x1.shape)
    found = aim.up - aim.down * before
    hard = np.flatnonzero(good & (found > enough))
    if hard.size:
        odds = family.odds([place.at(hard) for place in wide], form.inside, hard.shape)
        found[hard] = aim.of(before[hard], odds)
    return found


def _local(family: Family, form: Form, aim: Objective, pair: Stretch) -> Floats:
    """Where the slope of ln p stays between limits: exponentials inside, and outside on a stretch beside the goal."""
    p, k, x1, x2 = family.pieces, family.k, pair.x1, pair.x2
    low_end, high_end = form.ends[0].at, form.ends[1].at
    size = high_end - low_end

    def slopes(a: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
        """Limits of the slope, and the smallest density."""
        i, j = p.place(a, after=True).i, p.place(b, after=False).i
        smooth = (a >= p.x[0]) & (b <= p.x[-1])
        smooth &= np.searchsorted(p.marks, a, "right") == np.searchsorted(p.marks, b, "left")
        i, j = np.where(smooth, i, 0), np.where(smooth, j, 0)
        low, high, tall = -p.largest("-fall", i, j), p.largest("rise", i, j), -p.largest("-least", i, j)
        return np.where(smooth, low, -np.inf), np.where(smooth, high, np.inf), np.where(smooth, tall, 0.0)

    low, high, least = slopes(x1 + low_end, x2 + high_end)
    before = np.where(np.isfinite(low + high), size * np.maximum(least, 0.0) * (1 - 1e-12), 0.0)
    rise, fall = k + high, k - low
    best = np.full(x1.shape, np.inf)
    for many in (14.0, 40.0):  # nats of fading beside the goal
        r1, r2 = (many / np.maximum(v, k / 8) for v in (rise, fall))
        whole = slopes(x1 + low_end - r1, x2 + high_end + r2)[0]  # no step where the goal ends
        f1, f2 = k + slopes(x1 + low_end - r1, x2 + low_end)[1], k - slopes(x1 + high_end, x2 + high_end + r2)[0]
        out1, out2 = -np.expm1(-f1 * r1) / f1, -np.expm1(-f2 * r2) / f2
        t = size * np.clip(fall / (rise + fall), 1e-6, 1 - 1e-6)
        for _ in range(4):
            left, right = np.log(np.expm1(rise * t) / rise / out1), np.log(np.expm1(fall * (size - t)) / fall / out2)
            rate = -rise / np.expm1(-rise * t) - fall / np.expm1(-fall * (size - t))
            t = np.clip(t - (left - right) / rate, 1e-6 * size, (1 - 1e-6) * size)
        odds = np.maximum(np.expm1(rise * t) / rise / out1, np.expm1(fall * (size - t)) / fall / out2) * (1 + 1e-12)
        good = np.isfinite(low + high + whole + odds) & (rise > 0) & (fall > 0) & (f1 > 0) & (f2 > 0)
        best = np.fmin(best, np.where(good, aim.of(before, odds), np.inf))
    return best
