"""Priors on one number with a formula: uniform, normal, lognormal, any scipy distribution; truncation, mixtures."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from nowiser.errors import Misconfigured
from nowiser.model.checks import number
from nowiser.model.priors.base import MASS_TOLERANCE, Prior


@dataclass(frozen=True)
class Uniform(Prior):
    """Every value between `low` and `high` equally likely."""

    kind: ClassVar[str] = "line"
    low: float
    high: float

    def __post_init__(self) -> None:
        low, high = number("low of Uniform", self.low), number("high of Uniform", self.high)
        if not low < high or not math.isfinite(high - low):
            raise Misconfigured(f"Uniform needs low below high and a finite width, found {low:g} and {high:g}")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)


@dataclass(frozen=True)
class Normal(Prior):
    """A bell around the mean: `Normal(20, 5)` has two thirds of everybody between 15 and 25."""

    kind: ClassVar[str] = "line"
    mean: float
    sd: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", number("mean of Normal", self.mean))
        object.__setattr__(self, "sd", number("sd of Normal", self.sd, low=0.0, strict=True))


@dataclass(frozen=True)
class LogNormal(Prior):
    """exp of a normal value with this mean and standard deviation (both of the logarithm)."""

    kind: ClassVar[str] = "line"
    mean: float
    sd: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", number("mean of LogNormal (of the logarithm)", self.mean, low=-300, high=300))
        object.__setattr__(self, "sd", number("sd of LogNormal", self.sd, low=0.0, high=100, strict=True))


@dataclass(frozen=True)
class Frozen(Prior):
    """Any frozen scipy distribution, e.g. `Frozen(scipy.stats.gamma(2))` or `Frozen("gamma", 2, scale=3)`.

    Kept as name and arguments, so that it is a value. Continuous ones must have finitely many modes.
    """

    kind: ClassVar[str] = "line"
    name: str
    args: tuple[float, ...] = ()
    kwds: tuple[tuple[str, float], ...] = ()

    def __init__(self, distribution: Any, *args: float, **kwds: float) -> None:
        name = distribution
        if not isinstance(distribution, str):
            try:
                name, args, kwds = distribution.dist.name, distribution.args, distribution.kwds
            except AttributeError:
                raise Misconfigured(
                    f"Frozen needs a frozen scipy distribution or the name of one, found {distribution!r}",
                    hint="For example Frozen(scipy.stats.gamma(2, scale=3)) or Frozen('gamma', 2, scale=3).",
                ) from None
        values = tuple(number(f"argument {i + 1} of {name}", a) for i, a in enumerate(args))
        named = tuple(sorted((key, number(f"{key} of {name}", value)) for key, value in kwds.items()))
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "args", values)
        object.__setattr__(self, "kwds", named)
        low, high = self.scipy().support()
        if math.isnan(low) or math.isnan(high):
            raise Misconfigured(f"the arguments ({self._given()}) are outside the range {name} allows")

    def scipy(self) -> Any:
        """The distribution itself."""
        import scipy.stats

        family = getattr(scipy.stats, self.name, None)
        if not isinstance(family, (scipy.stats.rv_continuous, scipy.stats.rv_discrete)):
            raise Misconfigured(f"scipy.stats has no distribution called {self.name!r}")
        try:
            return family(*self.args, **dict(self.kwds))
        except TypeError:
            takes = f"{family.shapes}, and if wanted loc and scale" if family.shapes else "only loc and scale"
            raise Misconfigured(f"scipy.stats.{self.name} takes {takes}; found {self._given() or 'nothing'}") from None

    def _given(self) -> str:
        return ", ".join([*(f"{v:g}" for v in self.args), *(f"{key}={v:g}" for key, v in self.kwds)])

    @property
    def discrete(self) -> bool:
        import scipy.stats

        return isinstance(getattr(scipy.stats, self.name), scipy.stats.rv_discrete)


def is_line(prior: Any) -> bool:
    return isinstance(prior, Prior) and prior.kind == "line"


@dataclass(frozen=True)
class Truncated(Prior):
    """`prior`, known to lie between `low` and `high`."""

    kind: ClassVar[str] = "line"
    prior: Prior
    low: float
    high: float

    def __post_init__(self) -> None:
        low, high = number("low of Truncated", self.low), number("high of Truncated", self.high)
        if not is_line(self.prior):
            raise Misconfigured(f"only priors on a number can be truncated, found {self.prior!r}")
        if not low < high:
            raise Misconfigured(f"Truncated needs low below high, found {low:g} and {high:g}")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)


@dataclass(frozen=True)
class Mixture(Prior):
    """Each of several priors on a number with a probability: `Mixture([(0.3, Normal(0, 1)), (0.7, Uniform(0, 9))])`."""

    kind: ClassVar[str] = "line"
    parts: tuple[tuple[float, Prior], ...]

    def __init__(self, parts: Mapping[Prior, float] | Iterable[tuple[float, Prior]]) -> None:
        try:
            pairs = [(w, p) for p, w in parts.items()] if isinstance(parts, Mapping) else [(w, p) for w, p in parts]
        except TypeError:
            raise Misconfigured(f"Mixture needs pairs of a weight and a prior, found {parts!r}") from None
        if not pairs:
            raise Misconfigured("Mixture needs at least one part, found none")
        for _, prior in pairs:
            if not is_line(prior):
                raise Misconfigured(f"only priors on a number can be mixed, found {prior!r}")
        kept = [(number("weight in Mixture", w, low=0.0, high=1.0), p) for w, p in pairs]
        total = math.fsum(w for w, _ in kept)
        if abs(total - 1) > MASS_TOLERANCE:
            raise Misconfigured(f"the weights of Mixture must sum to 1, found a sum of {total:.12g}")
        object.__setattr__(self, "parts", tuple((w, p) for w, p in kept if w > 0))
