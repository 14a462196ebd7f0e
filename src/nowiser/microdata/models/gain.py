"""Gain: no group of look-alikes lets anyone guess a sensitive value more than η better than the whole table does.

*Before*: the share of the table for which the guess is right (everyone who sees the table as a whole; once rows
are left out, of the released rows).
*After*: its share within the group of look-alikes of the victim. A guess is an exact value, any number
`within` a distance of the truth (also one that nobody has), or a set (`among`). The score of a group is the
largest after − before over all guesses.

**Who is covered.** An attacker who knows a subset of the quasi-identifiers sees a union of full groups.
His share is the size-weighted mean of the shares in the groups he unites, so it is at most the largest of
them: a limit for the attacker who knows everything holds for every subset. With `knows: m` the limit is
promised only for attackers who know at most m quasi-identifiers; again those who know exactly m are the
worst, and every one of the subsets of size m is checked.

**Closed**: the same mean shows that the union of two groups that pass passes.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.microdata.groups.groups import Groups, Target
from nowiser.microdata.groups.people import by_person
from nowiser.microdata.models import TOLERANCE, GroupModel, lost_above, raised
from nowiser.microdata.table.column import Floats, Ints


@dataclass(frozen=True)
class Gain(GroupModel):
    """`gain` is η; `about` the sensitive column."""

    gain: float | None = None
    about: str = ""
    within: float | None = None
    among: tuple[str, ...] | None = None
    between: tuple[float, float] | None = None  # a set too: the numbers from … to …, both included
    outside: bool = False  # the guess is that the value is not in the set
    knows: int | None = None
    name: ClassVar[str] = "gain"
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    closed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.gain is not None and not 0 <= self.gain <= 1:
            raise Misconfigured(f"the gain must be between 0 and 100 %, not {self.gain!r}")
        if sum(option is not None for option in (self.within, self.among, self.between)) > 1:
            raise Misconfigured("a gain is about a value within a distance, among some or between two, not several")
        if self.outside and self.among is None and self.between is None:
            raise Misconfigured("a gain outside a set needs the set: among or between")
        if self.within is not None and self.within < 0:
            raise Misconfigured(f"the distance of a gain cannot be negative, and is {self.within!r}")
        if self.knows is not None and self.knows < 1:
            raise Misconfigured(f"an attacker knows at least 1 quasi-identifier, not {self.knows!r}")

    @property
    def limit(self) -> float | None:
        return self.gain

    @property
    def column(self) -> str | None:
        return self.about

    def lifts(self, groups: Groups) -> Floats:
        """After − before for every group and guess. Guesses are the target's values, unless within or among is set."""
        target, histogram = groups.target(self.about)
        if groups.people is not None and target.owners is not None:
            hits = self._hits(target)
            at = next(i for i, t in enumerate(groups.targets) if t.column == self.about)
            after = groups.people.ever(at, hits, len(groups)) / np.maximum(groups.size, 1)[:, None]
            before = target.owners.ever(0, hits, 1) / max(1, target.owners.heads())
            return np.asarray(after - before, dtype=np.float64)
        return self._after(groups, histogram, target) - self._sums(target.prior[None, :], target)

    def before(self, target: Target) -> Floats:
        """Per guess how often it is right without the release; of persons, how many have such a row at all."""
        if target.owners is not None:
            right = target.owners.ever(0, self._hits(target), 1)[0]
            return np.asarray(right / max(1, target.owners.heads()), dtype=np.float64)
        return np.asarray(self._sums(target.prior[None, :], target)[0], dtype=np.float64)

    def _hits(self, target: Target) -> NDArray[np.bool_]:
        """Guesses × values: which values a guess is right about."""
        return np.asarray(self._sums(np.eye(len(target.totals)), target).T > 0, dtype=bool)

    def _after(self, groups: Groups, histogram: NDArray[np.int32], target: Target) -> Floats:
        return self._sums(histogram / np.maximum(groups.size, 1)[:, None], target)

    def _sums(self, shares: Floats, target: Target) -> Floats:
        """From shares of values to chances of guesses."""
        if self.among is not None or self.between is not None:
            inside = shares[:, self._chosen(target)].sum(axis=1, keepdims=True)
            return np.asarray(inside if not self.outside else shares.sum(axis=1, keepdims=True) - inside)
        if self.within is None:
            return shares
        if not target.ordered:
            raise Misconfigured(f"a gain within {self.within:g} needs numbers, and {self.about!r} has other values")
        first, last = windows(target.numbers[np.isfinite(target.numbers)], self.within)
        running = np.concatenate([np.zeros((len(shares), 1)), shares.cumsum(axis=1)], axis=1)
        return np.asarray(running[:, last] - running[:, first], dtype=np.float64)

    def _chosen(self, target: Target) -> NDArray[np.bool_]:
        """Which of the target's values are in the set."""
        if self.between is not None:
            if not target.ordered:
                raise Misconfigured(f"a gain between two numbers needs numbers, and {self.about!r} has other values")
            low, high = self.between
            return np.asarray((target.numbers >= low - TOLERANCE) & (target.numbers <= high + TOLERANCE))
        chosen = np.array([label in (self.among or ()) for label in target.labels], dtype=bool)
        if not chosen.any():
            raise Misconfigured(f"column {self.about!r} has none of the values {', '.join(self.among or ())}")
        return chosen

    def score(self, groups: Groups) -> Floats:
        if not len(groups):
            return np.zeros(0)
        q = groups.codes.shape[1]
        if self.knows is None or self.knows >= q:
            return np.asarray(self.lifts(groups).max(axis=1), dtype=np.float64)
        worst = np.full(len(groups), -1.0)
        for known in combinations(range(q), self.knows):
            unions, member = groups.over_with_members(known)
            unions = by_person(unions)
            worst = np.maximum(worst, self.lifts(unions).max(axis=1)[member])
        return worst

    def must_lose(self, groups: Groups, spare: float = 0.0) -> Floats:
        if self.gain is None or self.knows is not None or groups.people is not None:
            return np.zeros(len(groups))
        target, histogram = groups.target(self.about)
        before = self._sums(target.prior[None, :], target)[0]
        return lost_above(self._after(groups, histogram, target), raised(before, spare) + self.gain)

    def failing(self, groups: Groups) -> NDArray[np.bool_]:
        """Groups to suppress. Below full knowledge suppression changes the unions, so it is repeated until all pass."""
        failing = super().failing(groups)
        if self.knows is None or not failing.any():
            return failing
        while True:
            left = np.flatnonzero(~failing)
            again = super().failing(by_person(groups.keep(~failing)))
            if not again.any():
                return failing
            failing[left[again]] = True


def windows(numbers: Floats, within: float) -> tuple[Ints, Ints]:
    """Every set of values that one guess y can be `within` of: numbers[first:last], each set once.

    What a guess covers changes only where it comes within reach of a value or leaves it, so the guesses at
    those points and between two neighbouring ones are all there are.
    """
    edges = np.unique(np.concatenate([numbers - within, numbers + within]))
    guesses = np.concatenate([edges, (edges[1:] + edges[:-1]) / 2])
    first = np.searchsorted(numbers, guesses - within - TOLERANCE, side="left")
    last = np.searchsorted(numbers, guesses + within + TOLERANCE, side="right")
    pairs = np.unique(np.stack([first, last], axis=1)[last > first], axis=0)
    return pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.int64)


MODEL = Gain
