"""What a release costs about one attribute: (slope, jump), in nats.

    |ln ℓ(x) − ln ℓ(x')|  ≤  slope · |x − x'| / r  +  jump · [x ≠ x']

`r` is the radius of the goal `within r`, the smallest of several on one attribute. For goals without a radius
(`exactly`, `in …`) r is 1, so that `slope` counts nats per raw unit. Costs of successive releases add
(`nowiser.guess.compose`).
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.model.checks import number

MOST = 1e100  # far beyond certainty, and far enough from the largest float that its square is one
LEAST = 1e-100  # less counts as this much: it gains nobody a digit, and smaller floats lose theirs


@dataclass(frozen=True)
class Cost:
    """Nats per radius (`slope`) and nats for any change at all (`jump`).

    Neither is negative or beyond 1e100; what is below 1e-100, but not 0, counts as that.
    """

    slope: float = 0.0
    jump: float = 0.0

    def __post_init__(self) -> None:
        for name in ("slope", "jump"):
            nats = number(name, getattr(self, name), low=0.0)
            if nats > MOST:
                raise Misconfigured(f"{name} must be at most {MOST:g} nats, found {nats:g}")
            object.__setattr__(self, name, max(nats, LEAST) if nats else 0.0)

    def __add__(self, other: "Cost") -> "Cost":
        """The cost of both releases (sequential composition), rounded up."""
        if not isinstance(other, Cost):
            raise Misconfigured(f"only a Cost can be added to a Cost, found {other!r}")
        return Cost(_add_up(self.slope, other.slope), _add_up(self.jump, other.jump))

    def __mul__(self, factor: float | Fraction) -> "Cost":
        """The cost of `factor` such releases, or of `factor` records that share the value; rounded up."""
        times = number("factor", factor, low=0.0)
        exact = Fraction(factor) if isinstance(factor, Fraction) else Fraction(times)
        return Cost(_times_up(self.slope, exact), _times_up(self.jump, exact))

    __rmul__ = __mul__

    def __bool__(self) -> bool:
        return self.slope > 0 or self.jump > 0

    def __repr__(self) -> str:
        return f"Cost(slope={_shown(self.slope)}, jump={_shown(self.jump)})"

    def to_json(self) -> dict[str, Any]:
        return {"slope": self.slope, "jump": self.jump}


def per_attribute(costs: Any, names: Iterable[str] | None, about: str = "the prior is") -> dict[str, Cost]:
    """Costs by attribute, checked: one for an attribute nobody speaks of would count for nothing, so it is refused.

    names: the attributes there are; None where the only attribute has no name, so that any one name is taken for it.
    """
    if not isinstance(costs, Mapping):
        raise Misconfigured(f"costs must be a mapping from attribute to Cost, found {costs!r}")
    for key, cost in costs.items():
        if not isinstance(cost, Cost):
            raise Misconfigured(f"the cost of {key} must be a Cost, found {cost!r}")
    known = tuple(names) if names is not None else tuple(costs)[:1]
    for key in costs:
        if key not in known:
            what = "one attribute without a name" if names is None else ", ".join(map(str, known))
            raise Misconfigured(
                f"there is a cost for {key}, but {about} about {what}", hint="Name the attribute as it is named there."
            )
    return dict(costs)


def _add_up(a: float, b: float) -> float:
    """Sum, rounded up: never less than the exact sum."""
    total = a + b
    return total if Fraction(total) >= Fraction(a) + Fraction(b) else math.nextafter(total, math.inf)


def _times_up(nats: float, times: Fraction) -> float:
    """Product, rounded up: never less than the exact product."""
    exact = Fraction(nats) * times
    if exact > 2 * Fraction(MOST):
        return math.inf
    product = float(exact)
    return product if Fraction(product) >= exact else math.nextafter(product, math.inf)


def _shown(value: float) -> str:
    """Six decimals, rounded down: a printed allowance is never more than what was granted."""
    down = math.floor(Fraction(value) * 10**6) / 10**6
    return repr(down) if down or not value else repr(value)
