"""Whom the custodian defends against: what he wants to guess, and how much better he may become at it."""

from dataclasses import dataclass
from fractions import Fraction

from nowiser.errors import Misconfigured
from nowiser.model.goal import Goal

EVERYONE_ELSE = "everyone else"


@dataclass(frozen=True)
class Attacker:
    """`goal` may become guessable by at most `gain` more than before, for every victim.

    knows: what he knows beforehand besides the prior; the default, `everyone else`, is the strongest for
    independent records.
    text: the goal as the custodian wrote it, for reports.
    """

    goal: Goal
    gain: Fraction
    knows: str = EVERYONE_ELSE
    text: str = ""

    def __post_init__(self) -> None:
        if not 0 <= self.gain < 1:
            raise Misconfigured(f"gain must be a percentage from 0% to below 100%, found {float(self.gain):.6g}")
        if not self.text:
            object.__setattr__(self, "text", str(self.goal))

    def __str__(self) -> str:
        return f"{self.text}: at most {float(self.gain) * 100:g} points better than before"
