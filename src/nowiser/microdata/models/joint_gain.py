"""Joint gain: a goal about several sensitive columns at once, or a negated one, counted in every group.

`goal` is written as in a policy: `time within 2 and dish exactly`, with `or`, `not` and brackets. *Before* is the
share of the whole table that a guess is right about, *after* its share within the group, both over the columns'
joint values: a pair may be rare in the table and certain in a group where neither of its values is.

**Who is covered, closed**: as for `gain`, because a share in a union of groups is the size-weighted mean of the shares
in the groups, whatever set of joint values it counts.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal
from weakref import WeakKeyDictionary

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.microdata.groups.compound import Guesses, Tree, columns_of, tree_of
from nowiser.microdata.groups.groups import Groups, Target, joint_name
from nowiser.microdata.models import GroupModel, lost_above, raised
from nowiser.microdata.table.column import Floats
from nowiser.model.goal import parse_goal

_COUNTED: WeakKeyDictionary[Target, dict[Tree, Guesses]] = WeakKeyDictionary()  # the search asks at every node


@dataclass(frozen=True)
class JointGain(GroupModel):
    """`gain` is η; `goal` what is guessed."""

    gain: float | None = None
    goal: str = ""
    name: ClassVar[str] = "joint-gain"
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    closed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.gain is not None and not 0 <= self.gain <= 1:
            raise Misconfigured(f"the gain must be between 0 and 100 %, not {self.gain!r}")
        if tree_of(parse_goal(self.goal)) is None:
            raise Misconfigured(
                f"a joint gain is about columns joined by and, or, not; it cannot count `{self.goal}`",
                hint="joint-gain: {gain: 10%, goal: time within 2 and dish exactly}",
            )

    @property
    def limit(self) -> float | None:
        return self.gain

    @cached_property
    def tree(self) -> Tree:
        """The goal as plain values, also for the re-check."""
        found = tree_of(parse_goal(self.goal))
        return () if found is None else found

    @property
    def parts(self) -> tuple[str, ...]:
        return columns_of(self.tree)

    def chances(self, groups: Groups) -> tuple[Floats, Floats]:
        """After per group and guess, and before per guess."""
        target, histogram = groups.target(joint_name(self.parts))
        known = _COUNTED.setdefault(target, {})
        if self.tree not in known:
            known[self.tree] = Guesses.of(self.tree, target.parts)
        if groups.people is not None and target.owners is not None:
            hits = known[self.tree].hits
            at = next(i for i, t in enumerate(groups.targets) if t is target)
            ever = groups.people.ever(at, hits, len(groups)) / np.maximum(groups.size, 1)[:, None]
            return ever, target.owners.ever(0, hits, 1)[0] / max(1, target.owners.heads())
        after = known[self.tree].chances(histogram / np.maximum(groups.size, 1)[:, None])
        return after, known[self.tree].chances(target.prior[None, :])[0]

    def score(self, groups: Groups) -> Floats:
        after, before = self.chances(groups)
        return np.asarray((after - before).max(axis=1, initial=-1.0), dtype=np.float64)

    def must_lose(self, groups: Groups, spare: float = 0.0) -> Floats:
        if self.gain is None or groups.people is not None:
            return np.zeros(len(groups))
        after, before = self.chances(groups)
        return lost_above(after, raised(before, spare) + self.gain)

    def to_json(self, groups: Groups) -> dict[str, Any]:
        return super().to_json(groups) | {"goal": self.goal}


MODEL = JointGain
