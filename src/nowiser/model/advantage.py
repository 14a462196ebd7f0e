"""How much better an attacker guesses: before → after, and a mechanism that attains it."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

from nowiser.model.supplied import supplied
from nowiser.model.witness import Witness, plain as plain  # noqa: PLC0414 (told from here, too)

FINEST = 12  # decimals of a percentage: finer is nothing a float can tell from its neighbours


@dataclass(frozen=True)
class Advantage:
    """The ceiling on an attacker's success, for every output of every mechanism with this cost.

    before, after: probability that the guess is correct, before the release and at worst after it.
    gain: after − before.
    odds: the factor between the odds before and after (at most e^jump when there is only a jump).
    smallest: the smallest posterior: how far the attacker can be misled.
    slope, jump: the cost that was asked about (totals over the attributes when costs were given per attribute).
    victim: the victim's value (worst over all victims when none was given; then `worst` is true).
    witness: the victim, the peak and a mechanism that attains `after`, to be replayed.
    attained: the posterior that the witness reaches: the truth lies between this and `after`.
    tight: the witness reaches 99.9 % of `after`; otherwise `after` is an upper bound, and `attained` shows the gap.
    expected: what the attacker achieves on average over outputs and victims, where an exact figure is known (None
        elsewhere); computed when first asked for, because it takes longer than the ceiling. See `average`.

    `after` is an upper bound and `smallest` a lower bound in exact arithmetic: both are rounded against ourselves.
    """

    before: float
    after: float
    gain: float
    odds: float
    smallest: float
    slope: float
    jump: float
    victim: Any
    witness: Witness
    goal: str = ""
    worst: bool = False
    tight: bool = True
    attained: float = 0.0
    prior: Any = None
    asked: Any = field(default=None, repr=False, compare=False)  # the goal as a value
    costs: Any = field(default=None, repr=False, compare=False)  # a Cost, or costs per attribute

    def __repr__(self) -> str:
        return f"Advantage(before={self.before:.6f}, after={self.after:.6f})"

    def __str__(self) -> str:
        who = "the most exposed person" if self.worst else "a person"
        who += "" if self.victim is None else f" (whose value is {shown(self.victim)})"
        what = f" “{self.goal}”" if self.goal else ""
        before, after, gain = self.figures()
        return (
            f"An attacker who guesses{what} about {who} is right with probability {before} before the release, and "
            f"with at most {after} after it: at most {gain} points better.{self.gap()}"
        )

    def gap(self) -> str:
        """A sentence about the gap between what is known to be reached and the ceiling; nothing where it is tight."""
        if self.tight:
            return ""
        reached = _written(math.floor(self.attained * 1000), 1)
        return f" A known mechanism reaches {reached} %; the truth lies between."

    def figures(self, limit: Fraction | None = None) -> tuple[str, str, str]:
        """Before, after and the gain in points, with so many decimals that they add up as they are printed.

        After and gain are rounded up, before to the nearest. One decimal, unless before + gain were another number than
        after, or the gain seemed to exceed the limit which it keeps.
        """
        first = 1
        while limit is not None and first < FINEST and _units(self.gain, first, up=True) > limit * 10 ** (first + 2):
            first += 1
        for decimals in range(first, first + 3):
            after, gain = _units(self.after, decimals, up=True), _units(self.gain, decimals, up=True)
            if after - gain == _units(self.before, decimals):
                break
        before = after - gain  # at the latest so fine that nobody minds on which side of the truth it is
        told = [_written(units, decimals) for units in (before, after, gain)]
        return f"{told[0]} %", f"{told[1]} %", told[2]

    @cached_property
    def average(self) -> Any:
        """The average success of the Bayes-optimal attacker (`nowiser.expected`), with its error and its mechanism."""
        if self.asked is None or getattr(self.prior, "kind", "mapping") in ("joint", "unknown", "presence"):
            return None
        spent: dict[str, Any] = {"slope": self.slope, "jump": self.jump}
        if isinstance(self.costs, Mapping) and isinstance(self.prior, Mapping):
            spent = {"costs": self.costs}
        elif isinstance(self.costs, Mapping) and len(self.costs) != 1:
            return None
        return supplied("expected")(self.prior, self.asked, **spent)

    @property
    def expected(self) -> float | None:
        return None if self.average is None else float(self.average.after)

    def to_json(self) -> dict[str, Any]:
        """Stable keys; every number is finite (an infinite odds factor is null)."""
        return {
            "before": self.before,
            "after": self.after,
            "gain": self.gain,
            "slope": self.slope,
            "jump": self.jump,
            "victim": plain(self.victim),
            "witness": self.witness.to_json(),
            "expected": self.expected,
            "odds": self.odds if math.isfinite(self.odds) else None,
            "smallest": self.smallest,
            "goal": self.goal,
            "worst": self.worst,
            "tight": self.tight,
            "attained": self.attained,
        }

    def _repr_html_(self) -> str:
        return str(supplied("advantage_html")(self))

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        del include, exclude
        return dict(supplied("advantage_bundle")(self))


def points(share: float, *, up: bool = False, decimals: int = 1) -> str:
    """A share as a percentage with one decimal; rounded up where it is a ceiling."""
    return f"{_written(_units(share, decimals, up=up), decimals)} %"


def _units(share: float, decimals: int, *, up: bool = False) -> int:
    """A share in units of the last decimal of its percentage; rounded up but for what is rounding itself."""
    units = 10.0 ** (decimals + 2)
    return math.ceil(share * units - min(units * 1e-12, 1e-3)) if up else round(share * units)


def _written(units: int, decimals: int) -> str:
    return f"{Decimal(units).scaleb(-decimals):f}"


def shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, dict):
        return ", ".join(f"{k} {shown(v)}" for k, v in value.items())
    return str(value) if isinstance(value, (str, int, bool)) else json.dumps(plain(value))
