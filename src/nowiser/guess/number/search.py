"""The most exposed victims of a family: points that bound everybody, refined where they matter.

A *point* is a prior probability and odds by the slope alone. Points bound a victim where no up·after − down·before with
up, down ≥ 0 is larger for him than for all of them, whatever the jump, up to the largest that is asked about. Then they
do so for all that rises in `after`, falls in `before` and is linear in both.

*Two points for all between x₁ and x₂, w apart.* For one likelihood h of prior mean 1 (rate k) the posterior P, as a
function of the victim, has a second derivative of at least −K, where K adds up (k + |slope of ln p|)·h·p over the ends
of the goal that move; where the density p jumps, its first derivative falls by at most J, the jump times h. So P lies
above no chord by more than E = K·w²/8 + J·w/4, and it moves by at most F, w times what h·p adds up to. So does the
prior probability, with h = 1: `dip`. Let θ be the smaller posterior of the two victims. A likelihood that reaches θ
somewhere in between has θ' = θ − F at least everywhere there, and h ≤ (1 − θ)/∫_outside e^{−k·distance} at an end.
A jump, odds times 1 + g, makes φ(P) of P with φ' = (1 + g)/(1 + gP)² and |φ″| = 2φ'·g/(1 + gP); so φ(P) lies above no
chord by more than φ'(θ')·e, e = E + F²/4·g/(1 + gθ'), and that is no more than φ(P + δ) − φ(P) if
δ ≥ ((1 + g(P + δ))/(1 + gθ'))²·e. All of this grows with g. Hence the points (before − dip, P + δ) of both victims
bound all likelihoods that reach θ. Whoever does not reach it has less after, and not less before, than the point of the
victim with the smaller `before`. Victims at whose ends single values are count from both sides.

*One point*, where that is too far off: all goals lie in one and hold one (`_enclosed`); and where the slope of ln p
stays between two limits, every goal is bounded by exponentials (`_local`), far out in tails.
"""

import math
from dataclasses import dataclass
from functools import cached_property

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
MANY = 1e300  # odds that are certainty


@dataclass(frozen=True)
class Aims:
    """What may be asked of points: up·after − down·before, for each of these lines beside each of these jumps."""

    lines: tuple[tuple[float, float], ...] = ((1.0, 1.0),)
    jumps: tuple[float, ...] = (0.0,)

    @cached_property
    def _lines(self) -> Floats:
        return np.array(self.lines)[:, :, None]

    def of(self, before: Floats, odds: Floats) -> Floats:
        """A row for each aim."""
        b, odds = np.ravel(before), np.ravel(odds)
        after = np.maximum(np.array([lifted(odds, jump) for jump in self.jumps]), b)
        up, down = self._lines[:, 0, None], self._lines[:, 1, None]
        return np.asarray((up * after - down * b).reshape(len(self.lines) * len(self.jumps), *np.shape(before)))


@dataclass(frozen=True, eq=False)
class Near:
    """How far points may be from somebody's: as a share of what is asked, and at least."""

    share: float
    least: float = 0.0
    beyond: float = math.inf  # what exceeds that anyway need not be told sharply

    def enough(self, best: Floats) -> Floats:
        found = best + np.maximum(np.maximum(self.share * np.abs(best), self.least), FINEST)
        return np.where(best > self.beyond, np.inf, found)


@dataclass(frozen=True, eq=False)
class Found:
    """Points that bound everybody (before, odds), and the victims who were looked at, as rows of `look`."""

    points: Floats
    rows: Floats


class Stretch:
    """Neighbours x₁ and x₂, as rows, and all victims between them."""

    def __init__(self, left: Floats, right: Floats) -> None:
        self.left, self.right, self.x1, self.x2 = left, right, left[0], right[0]

    def steps(self, at: float) -> Floats:
        """Two steps of the doubles around the ends of goals, `at` units away."""
        return np.asarray(2 * np.spacing(np.maximum(np.abs(self.x1), np.abs(self.x2)) + abs(at)))

    def at(self, which: Flags | Ints) -> "Stretch":
        return Stretch(self.left[:, which], self.right[:, which])

    @property
    def ends(self) -> tuple[Floats, Floats]:
        """Before and odds of both: of those right of the left one, and left of the right one."""
        return np.array([self.left[3], self.right[5]]), np.array([self.left[4], self.right[6]])


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


def search(family: Family, aims: Aims, near: Near, seen: Floats | None, known: Floats | float = -math.inf) -> Found:
    """Points that bound all victims: for no aim further than `near` from somebody.

    known: of each aim, what somebody else has; those who have less do not matter.
    """
    form, moving = family.form, [end.at for end in family.form.ends if end.moves]
    if seen is None:
        still = not moving or form.first == form.last
        x = np.array([form.first + (form.last - form.first) / 2]) if still else _first(family, moving)
        seen = look(family, x)
    rows, kept, points = seen, [seen], [seen[1:3]]
    left, top = np.arange(rows.shape[1] - 1), np.maximum(aims.of(*seen[1:3]).max(axis=1), known)
    for turn in range(ROUNDS):
        enough = near.enough(top)[:, None]
        pair = Stretch(rows[:, left], rows[:, left + 1])
        found, off, parts = _between(family, pair, aims, enough)
        last = turn == ROUNDS - 1 or sum(r.shape[1] for r in kept) > MOST
        fine = (off <= 0) | (pair.x2 - pair.x1 <= 2 * pair.steps(0.0)) | last
        points.append(found[:, :, fine].reshape(2, -1))
        pair = pair.at(~fine)
        if not pair.x1.size:
            break
        fresh = look(family, _splits(family, pair, moving, parts[~fine]))
        kept.append(fresh)
        points.append(fresh[1:3])
        top = np.maximum(top, aims.of(*fresh[1:3]).max(axis=1))
        rows = np.concatenate([pair.left, pair.right, fresh], axis=1)
        rows = rows[:, np.unique(rows[0], return_index=True)[1]]
        start = np.searchsorted(pair.x1, rows[0, :-1], "right") - 1
        left = np.flatnonzero((start >= 0) & (rows[0, 1:] <= pair.x2[np.maximum(start, 0)]))
    every = np.concatenate(kept, axis=1)
    return Found(np.concatenate(points, axis=1), every[:, np.argsort(every[0], kind="stable")])


def fewer(points: Floats, aims: Aims, near: Near) -> Floats:
    """Points that bound the same people hardly less sharply: none behind another, and neighbours as one."""
    before, odds = points[:, np.lexsort((-points[1], points[0]))]
    front = np.append(True, odds[1:] > np.maximum.accumulate(odds)[:-1])
    before, odds = before[front], np.minimum(odds[front], MANY)
    enough = near.enough(aims.of(before, odds).max(axis=1))[:, None]
    while before.size > 1:
        one = np.arange(0, before.size - 1, 2)  # each of these and the next have no less before, and no more odds
        joined = one[(aims.of(before[one], odds[one + 1]) <= enough).all(axis=0)]
        if joined.size <= before.size // 8:
            break
        odds[joined] = odds[joined + 1]
        before, odds = np.delete(before, joined + 1), np.delete(odds, joined + 1)
    return np.array([before, odds])


def listed(family: Family, seen: Floats | None) -> Found:
    """All victims of single values, exactly: one guess for each set of them that is within the radius of somebody."""
    if seen is not None:
        return Found(seen[1:3], seen)
    values, radius, form = family.pieces.values, family.form.ends[1].at, family.form
    x = values
    if radius:  # where a value comes or goes, and between
        x = np.unique(np.clip(np.concatenate([x - radius, x + radius]), form.first, form.last))
        x = np.append(x, x[:-1] + np.diff(x) / 2)
        if not tells(float(np.abs(values[[0, -1]]).max()), radius):  # these sums do not say who is within it
            x = np.unique(np.concatenate([x, values]))
    some = np.array_split(x, -(-x.size // BATCH))
    seen = np.concatenate([np.array([part, *family.figures(part)[:2]]) for part in some], axis=1)
    return Found(seen[1:3], seen)


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


def _splits(family: Family, pair: Stretch, moving: list[float], parts: Floats) -> Floats:
    """Victims between: so many parts of each stretch, at jumps of the density where there are some."""
    n = pair.x1.size
    inner = np.clip(np.nan_to_num(parts, nan=2, posinf=2), 2, int(np.clip(6000 // n, 2, 24))).astype(int) - 1
    which = np.repeat(np.arange(n), inner)
    step = np.arange(which.size) - np.repeat(np.cumsum(inner) - inner, inner) + 1
    x1, x2, parts = pair.x1[which], pair.x2[which], inner[which] + 1
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


def _between(family: Family, pair: Stretch, aims: Aims, enough: Floats) -> tuple[Floats, Floats, Floats]:
    """Two points for each stretch; by how much they exceed what is enough; in how many parts it may be enough."""
    form, ends = family.form.between(), pair.ends
    if not any(end.moves for end in form.ends):
        return np.array(ends), np.zeros(pair.x1.size), np.ones(pair.x1.size)
    points = _chords(family, form, pair, max(aims.jumps))
    asked, known = aims.of(*points).max(axis=1), aims.of(*ends).max(axis=1)
    off = (asked - enough).max(axis=0)
    parts = np.ceil(1.1 * np.sqrt(((asked - known) / np.maximum(enough - known, 1e-30)).max(axis=0)))
    for bound in (_enclosed, _local):
        hard = np.flatnonzero(~(off <= 0))
        if not hard.size:
            break
        some = np.array(bound(family, form, pair.at(hard)))
        less = (aims.of(*some) - enough).max(axis=0)
        better = less < off[hard]
        points[:, :, hard[better]], off[hard[better]] = some[:, None, better], less[better]
    return points, off, parts


def _chords(family: Family, form: Form, pair: Stretch, jump: float) -> Floats:
    """Before and odds of the points of both ends, for jumps up to this one; certainty where that does not work out."""
    (before, odds), grow = pair.ends, math.expm1(min(jump, 300.0))
    share = np.where(np.isinf(odds), 1.0, odds / (1 + odds))
    least = share.min(axis=0)
    e, moved, dip = _bends(family, form, pair, least)
    low = 1 + grow * np.maximum(least - moved, 0.0)
    e = e + moved * moved / 4 * grow / low
    more = e
    for _ in range(4):
        more = e * ((1 + grow * (share + more)) / low) ** 2 * (1 + 1e-3 * (grow > 0))
    more = np.where(more >= e * ((1 + grow * (share + more)) / low) ** 2, more, 1.0)
    after = np.minimum((share + more) * (1 + 4 * EPS), 1.0)
    return np.array([np.maximum(before - dip, 0.0), np.where(more == 0, odds, after / (1 - after) * (1 + 4 * EPS))])


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


def _bends(family: Family, form: Form, pair: Stretch, least: Floats) -> tuple[Floats, Floats, Floats]:
    """How far a posterior that is at least so much somewhere lies above its chord; how far it moves; how far the prior
    probability lies below its chord. Infinite where a single value comes or goes in between.
    """
    k, w, step = family.k, pair.x2 - pair.x1, 8 * pair.steps(0.0)
    moving = [j for j, end in enumerate(form.ends) if end.moves]
    tall, steep, jump, out, weight = np.array([_moving(family, form, j, pair) for j in moving]).swapaxes(0, 1)
    there, wave, kinks = tall > 0, np.exp(k * w), jump > 0
    top = wave * np.minimum((1 - least) / out, 1 / weight) if k else np.ones(tall.shape)  # bounds h
    mass, sign = np.where(there, tall * top, 0.0), np.array([form.inside[j] for j in moving])
    flow = np.maximum(mass[sign].sum(axis=0), mass[~sign].sum(axis=0))
    each = np.where(there, tall * (k + steep) * top, 0.0).sum(axis=0)
    joint = wave * (1 - least) * np.where(there, tall * (k + steep) / out, 0.0).max(axis=0)  # all outside at once
    bend = np.fmin(each, np.where(np.isnan(joint), np.inf, joint))
    kink = np.where(kinks, jump * top, 0.0).sum(axis=0)
    bare, dent = np.where(there, tall * steep, 0.0).sum(axis=0), jump.sum(axis=0)
    nothing = (tall.max(axis=0) == 0) & (jump.max(axis=0) == 0)
    e = (bend * w * w / 8 + kink * w / 4 + flow * step) * 1.001
    dip = (bare * w * w / 8 + dent * w / 4 + np.where(there, tall, 0.0).sum(axis=0) * step) * 1.001
    every = (np.where(nothing, 0.0, np.where(np.isnan(v), np.inf, v)) for v in (e, flow * w, dip))
    return next(every), next(every), next(every)


def _enclosed(family: Family, form: Form, pair: Stretch) -> tuple[Floats, Floats]:
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
    odds, some = np.full(x1.shape, np.inf), np.flatnonzero(good)
    odds[some] = family.odds([place.at(some) for place in wide], form.inside, some.shape)
    return family.before(core, form.inside, x1.shape), odds


def _local(family: Family, form: Form, pair: Stretch) -> tuple[Floats, Floats]:
    """Where the slope of ln p stays between limits: exponentials inside, and outside on a stretch beside the goal."""
    p, k, x1, x2 = family.pieces, family.k, pair.x1, pair.x2
    best = np.full(x1.shape, np.inf)
    if not k or form.inside != ONE or not all(end.moves for end in form.ends):
        return np.zeros(x1.shape), best
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
        best = np.fmin(best, np.where(good, odds, np.inf))
    return before, best
