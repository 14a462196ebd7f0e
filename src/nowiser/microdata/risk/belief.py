"""What an attacker believes about a value, given released rows that may be his victim's: one rule per channel.

Every rule answers two questions about a weighted set of released rows: which guess is best, and how much
belief it carries. The prior is the column's distribution in the table as a whole.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nowiser.microdata.risk.best_guess import Floats, Goal, Ints, best_window, best_windows
from nowiser.microdata.risk.channel import Channel, Matrix, Noise, Ranks
from nowiser.microdata.table.column import Column

ATOMS = 512  # a numeric prior of more distinct values is represented by this many quantiles
MOST_ROWS = 200  # rows of one candidate set whose numeric posteriors are mixed
DECONVOLVE = 10  # from this group size on the attacker estimates the group's own distribution


class Belief(Protocol):
    def guess(self, rows: Ints, weight: Floats) -> tuple[float, float]:
        """The best guess for the owner of one of these rows, and the belief in it."""

    def right(self, guess: float, victim: int) -> bool:
        """Whether the guess is right for this original row."""

    def before(self) -> float:
        """How often the best guess without the release is right."""


@dataclass(frozen=True, eq=False)
class Categories:
    """A category to be guessed exactly (missing counts as one more category)."""

    true: Ints  # original rows
    seen: Ints  # released rows, as outputs of `posterior`
    strata: Ints
    chances: Floats  # stratum × true × output
    prior: Floats

    def guess(self, rows: Ints, weight: Floats) -> tuple[float, float]:
        _, inputs, outputs = self.chances.shape
        flat = np.bincount(
            self.strata[rows] * outputs + self.seen[rows], weights=weight, minlength=len(self.chances) * outputs
        ).astype(np.float64)
        likely = np.swapaxes(self.chances, 1, 2).reshape(-1, inputs)
        used = np.flatnonzero(flat)
        belief = self.prior
        for _ in range(25 if len(rows) >= DECONVOLVE and np.ptp(weight) == 0 else 1):
            # one step is the average posterior of the rows; more steps are EM for the group's own distribution
            joint = likely[used] * belief
            total = joint.sum(axis=1, keepdims=True)
            belief = flat[used] @ np.where(total > 0, joint / np.where(total > 0, total, 1), self.prior)
        best = int(np.argmax(belief))
        return float(best), float(belief[best])

    def right(self, guess: float, victim: int) -> bool:
        return int(self.true[victim]) == int(guess)

    def before(self) -> float:
        return float(self.prior.max())


@dataclass(frozen=True, eq=False)
class Plain:
    """A number to be guessed within r, released values taken as they are."""

    true: Floats
    seen: Floats
    within: float

    def guess(self, rows: Ints, weight: Floats) -> tuple[float, float]:
        values = self.seen[rows]
        shown = np.isfinite(values)
        if not shown.any():
            return float("nan"), 0.0
        order = np.argsort(values[shown], kind="stable")
        return best_window(values[shown][order], weight[shown][order], self.within)

    def right(self, guess: float, victim: int) -> bool:
        return bool(abs(self.true[victim] - guess) <= self.within * (1 + 1e-12))

    def before(self) -> float:
        known = np.sort(self.true[np.isfinite(self.true)])
        return best_window(known, np.full(len(known), 1 / len(self.true)), self.within)[1]


@dataclass(frozen=True, eq=False)
class Posterior(Plain):
    """A number behind noise or rank swapping: the posterior by Bayes, over the atoms of the prior."""

    atoms: Floats
    prior: Floats
    channel: Noise | Ranks
    order: tuple[Floats, ...] = ()  # per stratum the sorted released values, for ranks

    def guess(self, rows: Ints, weight: Floats) -> tuple[float, float]:
        shown = np.isfinite(self.seen[rows])
        rows, weight = rows[shown], weight[shown]
        if not len(rows):
            return float("nan"), 0.0
        if len(rows) > MOST_ROWS:
            best = np.argpartition(-weight, MOST_ROWS)[:MOST_ROWS] if np.ptp(weight) > 0 else _spread(len(rows))
            rows, weight = rows[best], weight[best] / weight[best].sum()
        likely = self.likelihood(rows)
        belief = self.prior
        for _ in range(10 if len(rows) >= DECONVOLVE and np.ptp(weight) == 0 else 1):
            joint = likely * belief
            total = joint.sum(axis=1, keepdims=True)
            belief = weight @ np.where(total > 0, joint / np.where(total > 0, total, 1), self.prior)
        return best_window(self.atoms, belief, self.within)

    def guesses(self, rows: Ints) -> tuple[Floats, Floats]:
        """Guess and belief for each row by itself, as if the attacker had found it."""
        centre, mass = np.full(len(rows), np.nan), np.zeros(len(rows))
        shown = np.flatnonzero(np.isfinite(self.seen[rows]))
        for part in np.array_split(shown, max(1, len(shown) // 2000)):
            joint = self.likelihood(rows[part]) * self.prior
            total = joint.sum(axis=1, keepdims=True)
            post = np.where(total > 0, joint / np.where(total > 0, total, 1), self.prior)
            centre[part], mass[part] = best_windows(self.atoms, post, self.within)
        return centre, mass

    def likelihood(self, rows: Ints) -> Floats:
        strata = np.zeros(len(rows), dtype=np.int64) if self.channel.strata is None else self.channel.strata[rows]
        if isinstance(self.channel, Noise):
            return self.channel.likelihood(self.seen[rows], strata, self.atoms)
        out = np.empty((len(rows), len(self.atoms)))
        for s in np.unique(strata):
            here = strata == s
            out[here] = triangular(self.order[s], self.seen[rows][here], self.atoms, int(self.channel.width[s]))
        return out


def believe(original: Column, released: Column, channel: Channel, goal: Goal) -> Belief:
    """The attacker's rule for this column, channel and goal."""
    numeric = goal.within is not None and original.is_numeric and released.is_numeric
    if numeric and isinstance(channel, Noise | Ranks):
        return _posterior(original, released, channel, float(goal.within or 0.0))
    if numeric:
        return Plain(original.numbers, released.numbers, float(goal.within or 0.0))
    place = {v: i for i, v in enumerate(original.labels)}
    size = len(place) + 1  # the last one: missing
    true = np.where(original.codes < 0, size - 1, original.codes).astype(np.int64)
    prior = np.bincount(true, minlength=size) / max(1, len(true))
    if isinstance(channel, Matrix) and set(original.labels) <= set(channel.labels):
        inputs = np.array([channel.labels.index(v) for v in original.labels])
        strata, _, outputs = channel.chances.shape
        chances = np.zeros((strata, size, outputs + 1))
        chances[:, : size - 1, :outputs] = channel.chances[:, inputs]
        chances[:, size - 1, outputs] = 1.0  # missing stays missing
        seen = np.where(channel.seen < 0, outputs, channel.seen)
        return Categories(true, seen, channel.strata, chances, prior)
    # taken as it is; a released value that no original has tells nothing by itself
    move = np.array([place.get(v, size) for v in released.labels] + [size - 1], dtype=np.int64)
    chances = np.concatenate([np.eye(size), np.full((size, 1), 1e-12)], axis=1)[None]
    return Categories(true, move[released.codes], np.zeros(len(released), dtype=np.int64), chances, prior)


def _posterior(original: Column, released: Column, channel: Noise | Ranks, within: float) -> Posterior:
    numbers = original.numbers
    known = numbers[np.isfinite(numbers)]
    atoms, counts = np.unique(known, return_counts=True)
    prior = counts / counts.sum()
    if len(atoms) > ATOMS:
        atoms = np.quantile(known, (np.arange(ATOMS) + 0.5) / ATOMS)
        prior = np.full(ATOMS, 1 / ATOMS)
    order: tuple[Floats, ...] = ()
    if isinstance(channel, Ranks):
        seen = released.numbers
        order = tuple(np.sort(seen[(channel.strata == s) & np.isfinite(seen)]) for s in range(len(channel.width)))
    return Posterior(numbers, released.numbers, within, atoms, prior, channel, order)


def triangular(ordered: Floats, seen: Floats, atoms: Floats, width: int) -> Floats:
    """Likelihood of a released value given a true one, by the distance of their ranks (ties: the nearest)."""
    low, high = np.searchsorted(ordered, atoms, side="left"), np.searchsorted(ordered, atoms, side="right")
    first, last = np.searchsorted(ordered, seen, side="left"), np.searchsorted(ordered, seen, side="right") - 1
    away = np.maximum(np.maximum(low[None, :] - last[:, None], first[:, None] - (high[None, :] - 1)), 0)
    return np.asarray(np.maximum(0.0, width + 1.0 - away))


def _spread(size: int) -> Ints:
    return np.linspace(0, size - 1, MOST_ROWS).astype(np.int64)
