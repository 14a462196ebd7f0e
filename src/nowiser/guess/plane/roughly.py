"""About how much the most exposed victim on a plane gains: where the search for the largest cost begins.

The search of `exposed` proves that nobody gains more, which takes seconds; whom it begins with takes a fraction of one,
and is nearly always the one it ends with. A cost found from his gain is asked about again with proof before it is
given to anybody (`calibrate`).
"""

from collections.abc import Mapping

from nowiser.guess.ask import Priors
from nowiser.guess.ceiling import charged_to
from nowiser.guess.plane.exposed import GAP, Exposed, likeliest
from nowiser.guess.plane.on_map import discs_of
from nowiser.guess.plane.on_plane import asked_of
from nowiser.guess.plane.regions import Regions
from nowiser.guess.solid.solids import Solids, about_worst
from nowiser.model.cost import Cost
from nowiser.model.goal import Goal

ROOM = 1.001 * (1 + GAP)  # the proven bound is so much above one victim's


def roughly(prior: Priors, goal: Goal, costs: Cost | Mapping[str, Cost]) -> tuple[float, float] | None:
    """Before and after that the search would probably report; None where nobody is looked for on a plane."""
    costs = charged_to(prior, goal, costs)
    discs = discs_of(prior, goal, costs)
    if discs is not None:
        return _with_room(likeliest(discs), discs.most)
    asked = asked_of(prior, goal, costs)
    if isinstance(asked.shapes, Solids):
        about = about_worst(asked.shapes)
        return None if about is None else (about[0], min(about[1], about[0] + asked.everybody))
    return _with_room(likeliest(asked.shapes), asked.everybody) if isinstance(asked.shapes, Regions) else None


def _with_room(found: Exposed, most: float) -> tuple[float, float]:
    return found.before, min(1.0, found.before + min(found.own * ROOM, most))
