"""From a gain to the largest cost that keeps it, and from there to noise."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, overload

from nowiser.guess.ask import Priors
from nowiser.model.cost import Cost
from nowiser.model.goal import Goal


@overload
def largest(
    prior: Priors,
    goal: Goal | str,
    *,
    gain: float | str | Fraction,
    victim: Any = None,
    slope: float | bool | None = None,
    jump: float | bool | None = None,
    along: Cost | None = None,
) -> Cost: ...
@overload
def largest(
    prior: Priors,
    goal: Goal | str,
    *,
    gain: float | str | Fraction,
    victim: Any = None,
    along: Mapping[str, Cost],
) -> dict[str, Cost]: ...
def largest(
    prior: Priors,
    goal: Goal | str,
    *,
    gain: float | str | Fraction,
    victim: Any = None,
    slope: float | bool | None = None,
    jump: float | bool | None = None,
    along: Cost | Mapping[str, Cost] | None = None,
) -> Cost | dict[str, Cost]:
    """The largest cost with which no attacker gains more than `gain` (5%, 0.05)."""
    from nowiser.guess.search import search

    return search(prior, goal, gain=gain, victim=victim, slope=slope, jump=jump, along=along)
