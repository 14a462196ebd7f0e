"""What one attack reached, and the verdict on a ceiling that was promised."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from nowiser.attacks.curves import Curve
from nowiser.attacks.intervals import Difference, Rate

Verdict = Literal[
    "refuted",
    "above, not confirmed",
    "reached up to",
    "not decided",
    "could not have won",
    "no claim",
    "not comparable",
]
CUTS = (0.01, 0.05, 0.10)  # the surest victims; all of them come on top
FEWEST_IN_CUT = 20


@dataclass(frozen=True)
class Claim:
    """A ceiling somebody promised."""

    column: str | None
    ceiling: float  # a rate of right guesses
    every: bool  # for every victim, or on average
    words: str  # as it is printed
    goal: str = "value"


@dataclass(frozen=True)
class Outcome:
    """One attack: the knowledge, and before, outside, members, surest, unprotected, with intervals and numbers."""

    attack: str
    knows: str
    goal: str
    column: str | None
    before: Rate
    after: Rate  # members
    control: Rate | None  # outside
    unprotected: Rate | None
    surest: Mapping[float, Rate]  # share of the victims → their rate; 1.0 is all
    surest_outside: Mapping[float, Rate]
    advantage: Difference | None  # members − outside: due to her being in the release
    claimed: float  # share of victims of whom he makes a claim
    precision: Rate | None  # right among the claims, where he may be silent
    misnamed: Rate | None  # of people whose record is not there: whom he names all the same
    victims: int
    seconds: float
    seed: int
    level: float
    ceiling: Claim | None = None
    verdict: Verdict = "no claim"
    again: Mapping[float, Rate] = field(default_factory=dict)  # the second run, on fresh victims
    figures: Mapping[str, float] = field(default_factory=dict)
    course: tuple[float, ...] = ()  # one victim of a gateway: how likely the best guess is, answer by answer
    curve: Curve = ()  # presence: strangers named → members named; rows: named wrongly → named rightly
    notes: tuple[str, ...] = ()

    @property
    def could_win(self) -> bool:
        """Whether it beats the guess without a release on unprotected rows: else its failure says nothing."""
        return self.unprotected is not None and self.unprotected.low > self.before.value

    @property
    def highest(self) -> tuple[float, Rate]:
        """The cut whose lower end is highest."""
        return max(self.surest.items(), key=lambda item: item[1].low)

    def to_json(self) -> dict[str, Any]:
        def cuts(rates: Mapping[float, Rate]) -> dict[str, Any]:
            return {f"{share:g}": r.to_json() for share, r in rates.items()}

        return {
            "attack": self.attack,
            "knows": self.knows,
            "goal": self.goal,
            "column": self.column,
            "before": self.before.to_json(),
            "control": self.control.to_json() if self.control else None,
            "after": self.after.to_json(),
            "surest": cuts(self.surest),
            "surest_outside": cuts(self.surest_outside),
            "unprotected": self.unprotected.to_json() if self.unprotected else None,
            "advantage": self.advantage.to_json() if self.advantage else None,
            "claimed": self.claimed,
            "precision": self.precision.to_json() if self.precision else None,
            "misnamed": self.misnamed.to_json() if self.misnamed else None,
            "ceiling": self.ceiling.ceiling if self.ceiling else None,
            "verdict": self.verdict,
            "again": cuts(self.again),
            "figures": dict(self.figures),
            "course": list(self.course),
            "curve": [list(point) for point in self.curve],
            "victims": self.victims,
            "seconds": self.seconds,
            "seed": self.seed,
            "level": self.level,
            "notes": list(self.notes),
        }


def cuts_for(claim: Claim, rates: Mapping[float, Rate]) -> Mapping[float, Rate]:
    """What a claim has to bear: one for every victim all cuts, one on average all victims together."""
    return rates if claim.every else {share: r for share, r in rates.items() if share == 1.0}


def judged(outcome: Outcome, claim: Claim) -> Verdict:
    """The verdict after the first run, or after both if there was a second."""
    tried = cuts_for(claim, outcome.surest)
    above = {share for share, r in tried.items() if r.low > claim.ceiling}
    if above:
        if not outcome.again:
            return "above, not confirmed"
        both = [share for share in above if share in outcome.again and outcome.again[share].low > claim.ceiling]
        return "refuted" if both else "not decided"
    if not outcome.could_win:
        return "could not have won"
    return "reached up to" if all(r.high < claim.ceiling for r in tried.values()) else "not decided"
