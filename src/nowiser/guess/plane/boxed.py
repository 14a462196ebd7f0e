"""The worst victim of a disc on maps of independent attributes that are no plane with a density: bounded by that of the
box around it.

The disc g of a victim (within r, on any number of attributes) lies in the box G around it (within r on each). With f a
likelihood of prior mean 1, gain(g) = ∫_g (f − 1) dπ = gain(G) + ∫_{G∖g} (1 − f) dπ. Somewhere in g is f ≥ 1 (else
nobody gains), and from there to any point of G it costs at most T, so f ≥ e^{−T} on G and

    gain(g)  ≤  gain(G) + (1 − e^{−T})·π(G).

What the distance on the map allows, the same rate on each attribute allows, too (and the jump on each, for one may
change alone). So the worst gain of the box with these costs, and the most that any box weighs, bound everybody's.

Of two attributes `on_cells` searches all victims in a second or two, and is mostly sharper: the smaller bound is told.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from nowiser.guess.grid.most import most
from nowiser.model.advantage import Advantage
from nowiser.model.cost import Cost
from nowiser.model.goal import And, On, Within
from nowiser.model.prior import JointHistogram, MultivariateNormal, Prior

ROOM = 1 + 1e-12


def is_boxed(prior: Any, goal: Any) -> bool:
    """Whether a goal is one disc on a map that is continuous, but not a plane with a density."""
    if not isinstance(goal, On) or len(goal.attributes) < 2 or not isinstance(goal.goal, Within):
        return False
    if isinstance(prior, (MultivariateNormal, JointHistogram)):
        return len(goal.attributes) > 2 and set(goal.attributes) == set(prior.names)
    from nowiser.guess.density.line import line
    from nowiser.guess.grid.space import is_points

    if not isinstance(prior, Mapping) or any(n not in prior or prior[n].kind != "line" for n in goal.attributes):
        return False
    points = [is_points(prior[n]) for n in goal.attributes]
    plane = len(points) == 2 and not any(points) and not any(line(prior[n]).atoms.size for n in goal.attributes)
    return not plane and not all(points)


def worst_boxed(prior: Mapping[str, Prior], goal: On, costs: Cost | Mapping[str, Cost]) -> Advantage:
    """The worst victim of the box, and for everybody the bound above."""
    from nowiser.guess.ceiling import ceiling, figured, raised
    from nowiser.guess.grid.space import is_points

    assert isinstance(goal.goal, Within)
    names = goal.attributes
    each = {n: costs if isinstance(costs, Cost) else costs.get(n, Cost()) for n in names}
    box = ceiling(prior, And(tuple(On(n, goal.goal) for n in names)), each)
    if isinstance(costs, Cost):  # from a point of the disc to a corner of the box
        reach = costs.slope * (1 + math.sqrt(len(names))) * ROOM + costs.jump
    else:
        reach = 2 * sum(c.slope for c in each.values()) * ROOM + sum(c.jump for c in each.values())
    weight = math.prod(most(prior, On(n, goal.goal)) for n in names)
    gain = min(1.0, (box.gain - math.expm1(-reach) * min(weight, 1.0)) * ROOM)
    one = ceiling(prior, goal, costs, {n: box.victim[n] for n in box.victim})
    before, after = raised(one.before, one.after, gain)
    found = replace(figured(one, before, after), worst=True, tight=False)
    if len(names) > 2 or (isinstance(costs, Cost) and not any(is_points(prior[n]) for n in names)):
        return found  # cells would be coarse, or take half a minute
    from nowiser.guess.grid.on_cells import on_cells

    other = on_cells(prior, names, goal, costs, None)
    return other if other.gain < found.gain else found
