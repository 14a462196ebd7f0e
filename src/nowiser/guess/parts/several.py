"""A goal with several parts, of which at most one has infinitely many victims: one search for all choices at once.

Other goals with several parts: see `corners`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nowiser.guess.number.follow import Objective
from nowiser.guess.number.profile import Figures, Profile
from nowiser.guess.number.worst import worst_of
from nowiser.guess.parts.corners import WorstOfSeveral
from nowiser.guess.parts.formula import Formula, leaves, value
from nowiser.model.priors.base import Floats

CHOICES = 512  # combinations of victims that are searched together


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


def _undominated(figures: Figures) -> npt.NDArray[np.intp]:
    """Victims that no other beats both in a larger after and in a smaller before: only those can be worst."""
    before, after = np.atleast_1d(figures.before), np.atleast_1d(figures.after)
    order = np.lexsort((-after, before))
    best = np.maximum.accumulate(np.concatenate([[-1.0], after[order]]))[:-1]
    return np.sort(order[after[order] > best])


def _at(profile: Profile, x: Floats, *, negated: bool) -> Figures:
    found = profile.at(x, smallest=True)
    return found.negated() if negated else found
