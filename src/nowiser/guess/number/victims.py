"""Single victims of a smooth prior, and what is known about all those between two of them (see `neighbours`).

Arrays of two rows are left and right: the theorem of `line` is symmetric, and both sides are treated alike.
"""

from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from nowiser.guess.density.line import EPS
from nowiser.guess.number.follow import Objective
from nowiser.model.priors.base import Floats

Kinds = npt.NDArray[np.int8]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Victims:
    """Single victims in order: what is known about each, rounded against ourselves."""

    x: Floats
    kind: Kinds  # −1 where the goal is taken to reach beyond `low`, 1 beyond `high`, else 0
    t: Floats
    slip: Floats  # how far the true crossing may be from t
    slack: Floats  # how far ln(1 + odds) may be from what is said: rounding errors, and t beside the crossing
    after: Floats  # by either row; the larger one is the ceiling
    bend: Floats  # how fast it grows with ln(1 + odds)
    plain: Floats  # the posterior before the jump
    before: Floats
    weight: Floats  # N(t) = ∫ e^{−κ|x−t|} dπ
    fall: Floats  # e^{−κ|x−t|} at the ends of the goal
    height: Floats  # density there; 0 where an end lies beyond the prior


@dataclass(frozen=True, eq=False)
class Between:
    """What holds for all victims between two neighbours, from below and from above."""

    height: tuple[Floats, Floats]  # density at the ends of the goal
    fall: tuple[Floats, Floats]  # e^{−κ|x−t|} there
    scale: tuple[Floats, Floats]  # 1/N(t)
    apart: tuple[Floats, Floats] | None  # density at the upper end less density at the lower end; None: not looked at
    lean: tuple[Floats, Floats]  # the same difference of e^{−κ|x−t|}
    flow: tuple[Floats, Floats] | None = None  # density times e^{−κ|x−t|}/N(t), at the ends of the goal


V = TypeVar("V", bound=Victims)


class Shape(Protocol[V]):
    """A prior, a radius and a cost in standard units: one standard unit is `unit` raw ones, from `origin` on."""

    origin: float
    unit: float
    reach: float  # the radius
    lift: float  # e^jump
    costly: bool  # whether `further` is worth asking

    def first(self) -> tuple[Floats, Kinds]:
        """Victims to start from. Those whose goal just touches an end of the prior are there as of either kind."""
        ...

    def look(self, x: Floats, kind: Kinds, start: Floats | None, sharp: float) -> V:
        """Single victims. `start`: where to look for t; `sharp`: how far both rows may differ in the end."""
        ...

    def between(self, known: V) -> Between:
        """What holds between neighbours."""
        ...

    def further(self, known: V, objective: Objective) -> Floats:
        """Another bound on what is maximised, for all victims between neighbours."""
        ...

    def beyond(self, objective: Objective, x: Floats) -> float:
        """A bound for all victims outside the first and the last of these."""
        ...


def tent(values: Floats, rise: Floats, fall: Floats) -> Floats:
    """The largest of min(g₁ + rise·λ, g₂ − fall·(1 − λ)) for λ from 0 to 1, between neighbours; ∞ where unknown."""
    g1, g2 = values[..., :-1], values[..., 1:]
    with np.errstate(all="ignore"):
        cross = np.minimum(np.maximum((g2 - fall - g1) / (rise - fall), 0.0), 1.0)
        peak = np.where(rise <= 0, g1, np.where(fall >= 0, g2, g1 + cross * rise))
        unknown = np.isnan(peak) | np.isnan(rise) | np.isnan(fall)
    return np.where(unknown, np.inf, np.maximum(peak, np.maximum(g1, g2))) + 64 * EPS
