"""A mechanism that attains a ceiling, kept as data so that anyone can replay it.

`likelihood(x)` is the probability (up to one constant factor) that the mechanism gives the telling output when the
victim's value is x. Multiply it with the prior and normalise, and the posterior of the goal is the reported `after`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Witness:
    """Who is exposed, where the likelihood peaks, and by which mechanism.

    kind:
        `laplace`              e^{−k|x − peak|}, times e^{jump} on the goal: noise on a sum, all other rows known
        `planar laplace`       e^{−k·distance from the peak}, times e^{jump} within `radius` of the victim, on a map
        `randomised response`  e^{jump} on the goal, 1 elsewhere
        `programme`            a table of likelihoods found by linear programming
        `product`              one witness per attribute, multiplied
    rate: k, nats per raw unit (slope / r); negative, so that the peak is a valley, where a goal is denied.
    inside: the goal as intervals (pairs) or as a set of labels.
    """

    kind: str
    victim: Any = None
    peak: Any = None  # a number; on a map a number for each attribute
    rate: float = 0.0
    jump: float = 0.0
    inside: tuple[Any, ...] = ()
    outside: bool = False  # the goal is everything but `inside`
    radius: float = 0.0  # of a disc on a map
    table: tuple[tuple[Any, float], ...] = field(default=(), repr=False)
    parts: tuple[tuple[str, "Witness"], ...] = ()

    def likelihood(self, x: Any) -> float:
        """Relative probability of the telling output, given the victim's value (a mapping for several attributes)."""
        if self.kind == "product":
            whole = x if isinstance(x, Mapping) else {}
            return math.prod(w.likelihood(_part(whole, name)) for name, w in self.parts)
        if self.kind == "programme":
            key = tuple(x.values()) if isinstance(x, Mapping) else x
            return self._lookup()[key]
        if self.kind == "planar laplace":
            away = math.dist(list(x.values()), [self.peak[n] for n in x])
            return math.exp((self.jump if self.contains(x) else 0.0) - self.rate * away)
        log = self.jump if self.contains(x) else 0.0
        if self.peak is not None:
            log -= self.rate * abs(float(x) - self.peak)
        return math.exp(log)

    def contains(self, x: Any) -> bool:
        """Whether the value is a correct guess."""
        if self.kind == "planar laplace":
            return math.dist(list(x.values()), [self.victim[n] for n in x]) <= self.radius
        if self.inside and isinstance(self.inside[0], tuple):
            found = any(low <= x <= high for low, high in self.inside)
        else:
            found = x in self.inside
        return found != self.outside

    def _lookup(self) -> dict[Any, float]:
        return dict(self.table)

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"kind": self.kind, "victim": plain(self.victim), "peak": plain(self.peak)}
        if self.kind in ("laplace", "randomised response"):
            found |= {"rate": self.rate, "jump": self.jump, "goal": plain(self.inside), "complement": self.outside}
        if self.kind == "planar laplace":
            found |= {"rate": self.rate, "jump": self.jump, "radius": self.radius}
        if self.table:
            found["table"] = [[plain(key), value] for key, value in self.table]
        if self.parts:
            found["parts"] = {name: part.to_json() for name, part in self.parts}
        return found


def _part(whole: Mapping[str, Any], name: str) -> Any:
    names = tuple(name.split(", "))
    return whole[names[0]] if len(names) == 1 else {n: whole[n] for n in names}


def plain(value: Any) -> Any:
    """A victim as JSON."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list, frozenset, set)):
        return [plain(v) for v in value]
    if value is None or isinstance(value, (str, bool, int)):
        return value
    number = float(value)
    return number if math.isfinite(number) else None
