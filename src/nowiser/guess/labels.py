"""Labels, presence, and attributes of which no prior is known: victims whom a jump alone protects.

With a jump alone the posterior odds of a set are at most e^jump times its prior odds, and randomised response attains
that: likelihood e^jump on the set, 1 elsewhere.
"""

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.figures import EPS, Figures, Worst, lifted, odds_of
from nowiser.guess.formula import bare, holds, radius_of, simple_goals
from nowiser.model.cost import Cost
from nowiser.model.goal import Exactly, Goal, In, Not, Present, Within
from nowiser.model.prior import Categories, Presence, Prior, Unknown
from nowiser.model.witness import Witness

FAR = 1300.0  # nats beyond which e^{-nats/2} is hardly a double
RAREST = 1e-300


def victims_of(prior: Prior, goal: Goal, cost: Cost, what: str) -> "Listed | Anyone":
    """All victims of a goal (and, or, not of simple goals) on one attribute that has labels, or whose prior is unknown.

    what: the attribute's name, for messages.
    """
    parts = [bare(part) for part in simple_goals(goal)]
    if any(isinstance(part, Present) for part in parts):
        return _presence(prior, goal, cost, what)
    if isinstance(prior, Unknown):
        return _unknown(prior, goal, cost, what)
    if isinstance(prior, Presence):
        raise Misconfigured(f"the prior of {what} is about presence; ask `present`, found the goal {parts[0]}")
    assert isinstance(prior, Categories)
    if cost.slope:
        raise Misconfigured(f"{what} has labels, which have no distances: slope must be 0, found {cost.slope:g}")
    for part in parts:
        _check_labels(prior, part, what)
    found = Listed(prior.labels, prior.masses, goal, cost.jump, what)
    if len(parts) > 1 and not found.figures.before.any():
        raise Misconfigured(f"no label of {what} meets `{goal}`: the goal is never met")
    return found


@dataclass(frozen=True, eq=False)
class Listed:
    """Finitely many victims, one for each label (two for presence: true and false)."""

    labels: tuple[Any, ...]
    masses: tuple[float | Fraction, ...]
    goal: Goal
    jump: float
    what: str

    def at(self, victim: Any) -> Figures:
        i, f = self._index(victim), self.figures
        return Figures(float(f.before[i]), float(f.after[i]), float(f.smallest[i]))

    def worst(self, up: float = 1.0, down: float = 1.0, *, sharp: float = 0.0) -> Worst:
        del sharp  # the answer is exact
        every = up * self.figures.after - down * self.figures.before
        i = int(np.argmax(every))
        return Worst(self._name(i), float(self.figures.before[i]), float(self.figures.after[i]), float(every[i]))

    def likeliest(self) -> float:
        return min(float(max(self._shares)) * (1 + 2 * EPS), 1.0)

    def witness(self, victim: Any) -> Witness:
        i, outside = self._index(victim), isinstance(self.goal, Not)
        others, own = self._right
        every = (own if i == j and self._moves else others for j in range(len(self.labels)))
        inside = tuple(x for j, (x, right) in enumerate(zip(self.labels, every, strict=True)) if right[j] != outside)
        return Witness("randomised response", victim=self._name(i), jump=self.jump, inside=inside, outside=outside)

    def attained(self, victim: Any) -> float:
        found = self.at(victim)
        return float(max(found.after * (1 - 32 * EPS), found.before))

    @cached_property
    def figures(self) -> Figures:
        """Of every victim."""
        before = np.array([_down(share) for share in self._shares])
        if not self.jump:
            return Figures(before, before, before)
        odds = odds_of(np.array([float(share) for share in self._shares]))
        after, smallest = lifted(odds, self.jump), lifted(odds, -self.jump)
        return Figures(before, np.maximum(after, before), np.minimum(smallest, before))

    @cached_property
    def _moves(self) -> bool:
        """Whether each victim has a goal of his own."""
        return any(isinstance(bare(part), Exactly) for part in simple_goals(self.goal))

    @cached_property
    def _right(self) -> tuple[Any, Any]:
        """Whether each label is a right guess when it is another's, and when it is the victim's own."""
        fixed = {part: np.array([_is_in(bare(part), x) for x in self.labels]) for part in simple_goals(self.goal)}

        def right(own: bool) -> Any:
            exactly = np.full(len(self.labels), own)
            return holds(self.goal, lambda part: exactly if isinstance(bare(part), Exactly) else fixed[part])

        return right(own=False), right(own=True)

    @cached_property
    def _shares(self) -> list[Fraction]:
        """Prior probability of each victim's goal, without any rounding; one where all have the same goal."""
        others, own = self._right
        exact = [Fraction(m) for m in self.masses]
        total, common = sum(exact), sum((m for m, right in zip(exact, others, strict=True) if right), Fraction(0))
        if not self._moves:
            return [common / total]
        changes = zip(exact, others.tolist(), own.tolist(), strict=True)
        return [(common + (mine - theirs) * m) / total for m, theirs, mine in changes]

    def _index(self, victim: Any) -> int:
        if victim is None and not self._moves:  # all have one goal, so that nobody is named
            return 0
        for i, label in enumerate(self.labels):
            if label == victim and isinstance(label, bool) == isinstance(victim, bool):
                return i if self._moves else 0
        known = ", ".join(str(label) for label in self.labels[:10])
        raise Misconfigured(f"victim must be one of the values of {self.what} ({known}), found {victim!r}")

    def _name(self, i: int) -> Any:
        return self.labels[i] if self._moves else None


@dataclass(frozen=True, eq=False)
class Anyone:
    """No prior is known: the worst prior counts, and so does the worst probability before.

    reach: T, the largest possible cost between two values. after = p·e^T / (1 − p + p·e^T), attained for each p: put
    probability p on one end of the range and 1 − p on the other.
    share: p, once it is settled.
    """

    reach: float
    ends: tuple[Any, Any]
    share: float | None = None

    def settled(self, share: float) -> "Anyone":
        """The same with this probability before."""
        return replace(self, share=share)

    def at(self, victim: Any) -> Figures:
        if self.share is None:
            raise Misconfigured(
                f"a victim cannot be given when the prior is unknown, found {victim!r}",
                hint="The worst prior and victim are taken; give a prior to ask about one victim.",
            )
        return Figures(self.share, self._after(self.share), min(self._after(self.share, -1.0), self.share))

    def _after(self, share: float, sign: float = 1.0) -> float:
        found = float(lifted(odds_of(share), sign * self.reach))
        return max(found, share) if sign > 0 else found

    def worst(self, up: float = 1.0, down: float = 1.0, *, sharp: float = 0.0) -> Worst:
        """Largest where up·e^T = down·(1 + p·(e^T − 1))²."""
        del sharp  # the answer is exact
        p, half = 1.0, self.reach / 2
        if down > 0:
            root = math.sqrt(up / down)
            if half > FAR / 2:
                p = min(max(root * math.exp(-half), RAREST), 1.0)
            elif half > 0:
                p = min(max((root * math.expm1(half) + (root - 1)) / math.expm1(self.reach), 0.0), 1.0)
            else:
                p = 0.5 if up == down else float(up > down)
        after = self._after(p)
        return Worst(self.ends[0], p, after, up * after - down * p)

    def likeliest(self) -> float:
        return 1.0

    def witness(self, victim: Any) -> Witness:
        p = self.worst().before if self.share is None else self.share
        table = ((self.ends[0], p), (self.ends[1], 1 - p))
        return Witness("randomised response", victim=victim, jump=self.reach, inside=self.ends[:1], table=table)

    def attained(self, victim: Any) -> float:
        return float(self.at(victim).after * (1 - 32 * EPS))


def _presence(prior: Prior, goal: Goal, cost: Cost, what: str) -> "Listed | Anyone":
    if cost.slope:
        raise Misconfigured(f"presence in {what} has no distances: slope must be 0, found {cost.slope:g}")
    if isinstance(prior, Unknown):
        return Anyone(cost.jump, (True, False))
    if not isinstance(prior, Presence):
        raise Misconfigured(f"the goal `present` needs the prior Presence or Unknown, found {prior!r}")
    p = Fraction(prior.probability)
    return Listed((True, False), (p, 1 - p), goal, cost.jump, what)


def _unknown(prior: Unknown, goal: Goal, cost: Cost, what: str) -> Anyone:
    if prior.low is None or prior.high is None:
        if cost.slope:
            raise Misconfigured(
                f"nothing is known about {what}, not even its range: a slope bounds nothing, found {cost.slope:g}",
                hint="Give the range: Unknown(low, high).",
            )
        return Anyone(cost.jump, ("some value", "another value"))
    width, radius = prior.high - prior.low, radius_of(goal)
    parts = [bare(part) for part in simple_goals(goal)]
    if len(parts) == 1 and isinstance(parts[0], Within) and width <= radius:
        raise Misconfigured(f"the radius {radius:g} covers the whole range of {what}: the goal is always met")
    reach = math.nextafter(cost.slope * width / radius, math.inf) + cost.jump if cost.slope else cost.jump
    return Anyone(reach, (prior.low, prior.high))


def _check_labels(prior: Categories, goal: Goal, what: str) -> None:
    """Refuses simple goals that labels cannot meet."""
    if isinstance(goal, In) and goal.values is not None:
        missing = [v for v in goal.values if v not in prior.labels]
        if missing:
            known = ", ".join(str(x) for x in prior.labels[:10])
            raise Misconfigured(f"{what} has no label {missing[0]!r}; it has {known}")
    elif isinstance(goal, In):
        if not any(_is_in(goal, label) for label in prior.labels):
            raise Misconfigured(f"no label of {what} is in `{goal}`: the goal is never met")
    elif not isinstance(goal, Exactly):
        raise Misconfigured(f"{what} has labels, which have no distances; ask `exactly` or `in`, found `{goal}`")


def _is_in(goal: Goal, label: Any) -> bool:
    """Whether the label meets a condition that is the same for all victims."""
    if isinstance(goal, Present):
        return bool(label)
    if not isinstance(goal, In):
        return False
    if goal.values is not None:
        return label in goal.values
    assert goal.low is not None
    assert goal.high is not None
    return not isinstance(label, str) and goal.low <= label <= goal.high


def _down(share: Fraction) -> float:
    nearest = float(share)
    return nearest if Fraction(nearest) <= share else math.nextafter(nearest, 0.0)
