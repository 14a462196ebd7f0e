"""The worst victim of a formula over several attributes: branch and bound over tuples of ranges of victims.

The formula rises in every leaf, so over a box of victims the gain is at most formula(after from above) −
formula(before from below). Boxes that cannot beat the best victim found are dropped; ranges that take part in no
promising box are dropped altogether; the others are split. What is reported is the largest bound of all dropped boxes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nowiser.guess.follow import Concave, Objective
from nowiser.guess.formula import Formula, leaves, value
from nowiser.guess.line import EPS
from nowiser.guess.odds import lifted
from nowiser.guess.pair import Bilinear, worst_pair
from nowiser.guess.profile import Figures, Near, Profile
from nowiser.guess.ranges import distinct
from nowiser.guess.worst import worst_of
from nowiser.model.priors.base import Floats

TOLERANCE = 1e-5
CHOICES = 512  # combinations of victims that are searched together
BOXES = 300_000  # boxes looked at per round
RANGES = 4_000_000  # all boxes together; then the search stops with the bound it has


@dataclass(frozen=True)
class WorstOfSeveral:
    """One coordinate per leaf, the leaves' figures there, and a bound on the gain of every victim."""

    xs: tuple[float, ...]
    figures: tuple[Figures, ...]
    gain: float


@dataclass(frozen=True, eq=False)
class _Others:
    """Every choice of the victims of the parts that have finitely many, apart from the leading parts."""

    starts: list[Floats]
    parts: list[int]
    figures: list[Figures]
    index: list[npt.NDArray[np.intp]]
    before: list[Floats]
    after: list[Floats]

    def filled(self, pick: int, xs: list[float], every: list[Figures]) -> None:
        """Writes the victims of this choice, and their figures, beside those of the leading parts."""
        for i, f, at, every_x in zip(self.parts, self.figures, self.index, self.starts, strict=True):
            xs[i] = float(every_x[at[pick]])
            every[i] = Figures(*(float(np.atleast_1d(v)[at[pick]]) for v in (f.before, f.after, f.smallest)))


def _others(profiles: Sequence[Profile], of: Formula, leading: list[int]) -> _Others | None:
    signs = {leaf.index: leaf.negated for leaf in leaves(of)}
    parts = [i for i in range(len(profiles)) if i not in leading]
    starts = [profiles[i].start()[0] for i in parts]
    if np.prod([float(x.size) for x in starts]) > CHOICES:
        return None
    figures = [_at(profiles[i], x, negated=signs[i]) for i, x in zip(parts, starts, strict=True)]
    index = [g.ravel() for g in np.meshgrid(*[_undominated(f) for f in figures], indexing="ij")]
    before, after = [np.zeros(())] * len(profiles), [np.zeros(())] * len(profiles)
    for i, f, at in zip(parts, figures, index, strict=True):
        before[i], after[i] = np.atleast_1d(f.before)[at], np.atleast_1d(f.after)[at]
    return _Others(starts, parts, figures, index, before, after)


def _wide(profiles: Sequence[Profile]) -> list[int]:
    """The parts with infinitely many victims."""
    return [i for i, p in enumerate(profiles) if (np.subtract(*p.start()[::-1]) > 0).any()]


def worst_with_one_range(profiles: Sequence[Profile], of: Formula) -> WorstOfSeveral | None:
    """When at most one part has infinitely many victims: its search, for all choices of the other victims at once.

    The formula is linear in each leaf, so for each choice the gain is offset + up·after − down·before of that leaf.
    """
    wide = _wide(profiles) or [int(np.argmax([p.start()[0].size for p in profiles]))]
    others = _others(profiles, of, wide[:1]) if len(wide) == 1 else None
    if others is None:
        return None
    lead = wide[0]
    parts = []
    for known in (others.after, others.before):
        ends = []
        for leaf in (0.0, 1.0):
            known[lead] = np.asarray(leaf)
            ends.append(np.broadcast_to(value(of, known), others.index[0].shape))
        parts.append((ends[0], ends[1] - ends[0]))
    slack = 16 * len(profiles) * 2.0**-52
    objective = Objective(parts[0][0] - parts[1][0] + slack, parts[0][1], parts[1][1])
    negated = {leaf.index: leaf.negated for leaf in leaves(of)}[lead]
    found = worst_of(profiles[lead], negated=negated, objective=objective)
    xs, every = [found.x] * len(profiles), [found.figures] * len(profiles)
    others.filled(objective.choice(found.figures.before, found.figures.after), xs, every)
    return WorstOfSeveral(tuple(xs), tuple(every), found.gain)


def worst_with_two_ranges(profiles: Sequence[Profile], of: Formula) -> WorstOfSeveral | None:
    """When two parts have infinitely many victims: see `pair`."""
    wide = _wide(profiles)
    others = _others(profiles, of, wide) if len(wide) == 2 else None
    if others is None:
        return None
    one, two = wide
    signs = {leaf.index: leaf.negated for leaf in leaves(of)}
    bilinear = Bilinear.of(of, (one, two), others.before, others.after)
    found = worst_pair((profiles[one], profiles[two]), (signs[one], signs[two]), bilinear)
    xs, every = [found.first.x] * len(profiles), [found.first.figures] * len(profiles)
    xs[two], every[two] = found.second.x, found.second.figures
    others.filled(found.choice, xs, every)
    return WorstOfSeveral(tuple(xs), tuple(every), found.gain)


def _undominated(figures: Figures) -> npt.NDArray[np.intp]:
    """Victims that no other beats both in a larger after and in a smaller before: only those can be worst."""
    before, after = np.atleast_1d(figures.before), np.atleast_1d(figures.after)
    order = np.lexsort((-after, before))
    best = np.maximum.accumulate(np.concatenate([[-1.0], after[order]]))[:-1]
    return np.sort(order[after[order] > best])


def worst_of_several(profiles: Sequence[Profile], of: Formula) -> WorstOfSeveral:
    signs = {leaf.index: leaf.negated for leaf in leaves(of)}
    n = len(profiles)
    ranges = [_start(p, 12 if n > 3 else 40) for p in profiles]
    best, at, dropped, spent = -1.0, tuple(float(lo[0]) for lo, _ in ranges), 0.0, 0
    while True:
        while np.prod([float(lo.size) for lo, _ in ranges]) > BOXES:
            wide = int(np.argmax([lo.size for lo, _ in ranges]))
            ranges[wide] = _coarser(*ranges[wide])
        bounds = [
            _bounds(p, lo, hi, negated=signs[i]) for i, (p, (lo, hi)) in enumerate(zip(profiles, ranges, strict=True))
        ]
        ceiling = _tensor(of, [b.after for b in bounds]) - _tensor(of, [b.before for b in bounds]) + 16 * n * 2.0**-52
        corners = [_probe(lo, hi) for lo, hi in ranges]
        points = [_at(p, x, negated=signs[i]) for i, (p, x) in enumerate(zip(profiles, corners, strict=True))]
        gains = _tensor(of, [f.after for f in points]) - _tensor(of, [f.before for f in points])
        where = np.unravel_index(int(np.argmax(gains)), gains.shape)
        if gains[where] > best:
            best, at = float(gains[where]), tuple(float(c[i]) for c, i in zip(corners, where, strict=True))
        spent += gains.size
        splittable = [hi > lo for lo, hi in ranges]
        some = _any_axis(splittable)
        open_ = (ceiling > best + TOLERANCE) & some
        closed = ceiling[~open_]
        dropped = max(dropped, float(closed.max()) if closed.size else 0.0)
        if not open_.any() or spent > RANGES:
            dropped = max(dropped, float(ceiling.max())) if open_.any() else dropped
            break
        for i in range(n):
            used = open_.any(axis=tuple(j for j in range(n) if j != i))
            lo, hi = ranges[i][0][used], ranges[i][1][used]
            ranges[i] = _halves(profiles[i], lo, hi)
    figures = tuple(
        _single(_at(p, np.array([x]), negated=signs[i])) for i, (p, x) in enumerate(zip(profiles, at, strict=True))
    )
    return WorstOfSeveral(at, figures, dropped)


def _start(profile: Profile, most: int) -> tuple[Floats, Floats]:
    lo, hi = profile.start()
    if isinstance(profile, Near):
        if np.isinf(lo.min()) or np.isinf(hi.max()):
            marks = distinct(profile.line.landmarks())
            lo, hi = np.concatenate([[lo.min()], marks]), np.concatenate([marks, [hi.max()]])
        elif lo.size < most and (hi > lo).any():
            # finest where people are; the far ends of an unbounded prior are one range each
            people = profile.line.landmarks().clip(lo.min(), hi.max())
            marks = distinct(np.concatenate([lo, hi, np.linspace(people.min(), people.max(), most - 2)]))
            lo, hi = profile.snap(marks[:-1], marks[1:])
        while lo.size > most:
            lo, hi = _coarser(lo, hi)
    return lo, hi


def _coarser(lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
    """Neighbouring ranges joined in pairs: fewer, wider, still covering every victim."""
    last = hi[1::2] if lo.size % 2 == 0 else np.append(hi[1::2], hi[-1])
    return lo[0::2], last


def _halves(profile: Profile, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
    with np.errstate(invalid="ignore"):
        middle = lo + (hi - lo) / 2
    middle = np.where(np.isinf(hi), np.maximum(2 * np.abs(lo), 1.0), middle)
    middle = np.where(np.isinf(lo), -np.maximum(2 * np.abs(hi), 1.0), middle)
    whole = ~((middle > lo) & (middle < hi))
    parts = (
        np.concatenate([lo[whole], lo[~whole], middle[~whole]]),
        np.concatenate([hi[whole], middle[~whole], hi[~whole]]),
    )
    order = np.argsort(parts[0], kind="stable")
    return profile.snap(parts[0][order], parts[1][order])


def _probe(lo: Floats, hi: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        middle = lo + (hi - lo) / 2
    return np.where(np.isfinite(middle), middle, np.where(np.isfinite(lo), lo, hi))


def _bounds(profile: Profile, lo: Floats, hi: Floats, *, negated: bool) -> Figures:
    if negated:
        return profile.bounds_negated(lo, hi)
    found = profile.bounds(lo, hi)
    if not isinstance(profile, Near) or not isinstance(profile.line, Concave) or not profile.line.concave:
        return found
    if not profile.rate or not np.isfinite(lo).all() or not np.isfinite(hi).all():
        return found
    # a log-concave prior: one peak for all victims of a range, and prior masses smallest at an end (see `follow`)
    middle = (lo + hi) / 2
    peak = profile.line.tight(profile.rate, *profile.ends(middle))[1]
    odds = profile.line.shared(profile.rate, lo, hi, profile.radius, peak - middle)
    least = np.minimum(profile.line.mass(*profile.ends(lo)), profile.line.mass(*profile.ends(hi))) * (1 - 8 * EPS)
    after = np.minimum(found.after, lifted(odds, profile.jump))
    return Figures(np.maximum(found.before, least), after, found.smallest)


def _at(profile: Profile, x: Floats, *, negated: bool) -> Figures:
    found = profile.at(x, smallest=True)
    return found.negated() if negated else found


def _single(figures: Figures) -> Figures:
    return Figures(*(float(np.atleast_1d(v)[0]) for v in (figures.before, figures.after, figures.smallest)))


def _tensor(of: Formula, figures: Sequence[Floats]) -> Floats:
    """The formula for every combination of entries."""
    n = len(figures)
    spread = [np.asarray(f).reshape([-1 if i == j else 1 for j in range(n)]) for i, f in enumerate(figures)]
    return np.asarray(np.broadcast_to(value(of, spread), [np.asarray(f).size for f in figures]))


def _any_axis(flags: Sequence[npt.NDArray[np.bool_]]) -> npt.NDArray[np.bool_]:
    n = len(flags)
    found = np.zeros([f.size for f in flags], bool)
    for i, f in enumerate(flags):
        found |= f.reshape([-1 if i == j else 1 for j in range(n)])
    return found
