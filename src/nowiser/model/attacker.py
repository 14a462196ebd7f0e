"""Whom the custodian defends against: what he wants to guess, and how much better he may become at it."""

from dataclasses import dataclass
from fractions import Fraction

from nowiser.errors import Misconfigured
from nowiser.model.goal import Goal

EVERYONE_ELSE = "everyone else"
EVERY_ANSWER, ON_AVERAGE = "every answer", "on average"  # what a promise holds for


@dataclass(frozen=True)
class Attacker:
    """`goal` may become guessable by at most `gain` more than before.

    promise: `every answer`: no answer, however lucky, lifts a guess about any victim further. `on average`: an attacker
    who makes the best of all answers is right in at most that share of cases.

    knows: what he knows beforehand besides the prior; the default, `everyone else`, is the strongest for
    independent records.
    text: the goal as the custodian wrote it, for reports.
    """

    goal: Goal
    gain: Fraction
    knows: str = EVERYONE_ELSE
    text: str = ""
    promise: str = EVERY_ANSWER

    def __post_init__(self) -> None:
        if not 0 <= self.gain < 1:
            raise Misconfigured(f"gain must be a percentage from 0% to below 100%, found {float(self.gain):.6g}")
        if self.promise not in (EVERY_ANSWER, ON_AVERAGE):
            raise Misconfigured(f"promise must be {EVERY_ANSWER!r} or {ON_AVERAGE!r}, found {self.promise!r}")
        if not self.text:
            object.__setattr__(self, "text", str(self.goal))

    @property
    def on_average(self) -> bool:
        return self.promise == ON_AVERAGE

    def __str__(self) -> str:
        how = ", on average" if self.on_average else ""
        return f"{self.text}: at most {float(self.gain) * 100:.4g} points better than before{how}"
