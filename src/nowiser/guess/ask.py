"""The question: how much better can an attacker guess?"""

from collections.abc import Mapping
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.model.advantage import Advantage
from nowiser.model.cost import Cost
from nowiser.model.goal import Goal, parse_goal
from nowiser.model.prior import Prior

Priors = Prior | Mapping[str, Prior]


def guess(
    prior: Priors,
    goal: Goal | str,
    *,
    slope: float = 0.0,
    jump: float = 0.0,
    victim: Any = None,
    costs: Mapping[str, Cost] | None = None,
) -> Advantage:
    """The ceiling on an attacker's success at `goal`, over all mechanisms of this cost and all their outputs.

    An upper bound; `tight` says whether a mechanism is known to reach it.

    prior: what he believes: a Prior, or a mapping from attribute to Prior (independent attributes).
    slope, jump: the cost (see Cost); or `costs`, one per attribute.
    victim: the victim's value, a mapping for several attributes; None (default) takes the worst over all victims.

        >>> import nowiser as nw
        >>> nw.guess(nw.Normal(20, 5), nw.Within(2), slope=1.0, victim=20)
        Advantage(before=0.310843, after=0.699531)
    """
    from nowiser.guess.ceiling import ceiling

    wanted = parse_goal(goal) if isinstance(goal, str) else goal
    if costs is not None and (slope or jump):
        raise Misconfigured("give either slope and jump, or costs per attribute, found both")
    return ceiling(prior, wanted, costs if costs is not None else Cost(slope, jump), victim)
