"""Costs per radius as rates per raw unit: of each attribute, or of distances on one map."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from nowiser.errors import Misconfigured
from nowiser.guess.formula import simple_goals
from nowiser.model.cost import Cost, per_attribute
from nowiser.model.goal import Goal, On, Within

STEEPEST = sys.float_info.max


@dataclass(frozen=True)
class Rates:
    """ln f moves by at most Σ rate·|difference| + jump·[differ] over attributes, or by one rate times the distance.

    on_map: the attributes of the map, where distances on it have the cost; then `rates` and `jumps` are zero.
    """

    names: tuple[str, ...]
    rates: tuple[float, ...]  # nats per raw unit
    jumps: tuple[float, ...]
    on_map: tuple[str, ...] = ()
    map_rate: float = 0.0
    map_jump: float = 0.0

    @property
    def jump(self) -> float:
        """All jumps together."""
        return sum(self.jumps) + self.map_jump

    @property
    def along(self) -> tuple[float, ...]:
        """Rates along each attribute; a distance on a map is at most the sum of the differences."""
        return tuple(self.map_rate if n in self.on_map else r for n, r in zip(self.names, self.rates, strict=True))

    def __bool__(self) -> bool:
        return any(self.rates) or any(self.jumps) or self.map_rate > 0 or self.map_jump > 0


def radii_of(goal: Goal) -> dict[str, float]:
    """The smallest radius of `within` that the goal asks for about each attribute."""
    found: dict[str, float] = {}
    for part in simple_goals(goal):
        if isinstance(part, On) and isinstance(part.goal, Within):
            for name in part.attributes:
                found[name] = min(part.goal.radius, found.get(name, part.goal.radius))
    return found


def rates_of(names: tuple[str, ...], goal: Goal, costs: Cost | Mapping[str, Cost]) -> Rates:
    """One cost is for distances on the map, where all of the goal is about one; else for the only attribute."""
    parts, radii, zeros = simple_goals(goal), radii_of(goal), (0.0,) * len(names)
    if isinstance(costs, Cost):
        maps = {part.attributes for part in parts if len(part.attributes) > 1}
        about = dict.fromkeys(a for part in parts for a in part.attributes)
        if len(maps) == 1 and set(about) <= set(*maps):
            radius = min(radii.values(), default=1.0)
            return Rates(names, zeros, zeros, tuple(*maps), min(costs.slope / radius, STEEPEST), costs.jump)
        if len(about) > 1 and costs:
            raise Misconfigured("a goal on several attributes needs costs per attribute, found one slope and jump")
        costs = dict.fromkeys(about, costs)
    chosen = [per_attribute(costs, names).get(n, Cost()) for n in names]
    rates = tuple(min(c.slope / radii.get(n, 1.0), STEEPEST) for n, c in zip(names, chosen, strict=True))
    return Rates(names, rates, tuple(c.jump for c in chosen))
