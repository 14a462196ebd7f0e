"""The single values of scipy's discrete families: all of a range, or all that are likely, and what goes on beyond them.

Families without end are listed up to where next to nothing is left. That is no reason to forget the rest: a likelihood
that rises with the value makes every goal as unlikely as it lets the rest weigh,

    Σ_{j ≥ 1} p(last + j)·e^{kj}  ≤  p(last + 1)·e^k / (1 − e^{k−c}),

if from there on p falls by a factor e^{−c} or more with every value; it is infinite for all k ≥ c. Families whose
ratios p(x + 1)/p(x) fall are faster than the last, those whose ratios rise are faster than their limit (`LIMITS`).
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.model.priors.base import Floats, Prior
from nowiser.model.priors.line import Frozen

if TYPE_CHECKING:
    from nowiser.guess.density.chords import Chords

MOST = 2_000_000  # values
TAIL = 1e-16  # mass beyond the outermost values, where the family has a heavy tail
NOISE = 1e-15  # what scipy may tell of nothing
FAINTEST = -700.0  # ln of probabilities that are told
DEEPEST = 1e-290  # of other families: the probability of the outermost values
FARTHER = 8  # such values are not farther away than so often the way from the median to those that are rare
EVERYTHING = -math.inf, math.inf
LIMITS: dict[str, Callable[[tuple[float, ...]], float]] = {  # of the fall of ln probability, from value to value
    "binom": lambda _: math.inf,
    "hypergeom": lambda _: math.inf,
    "poisson": lambda _: math.inf,
    "skellam": lambda _: math.inf,
    "geom": lambda shapes: -math.log1p(-shapes[0]),
    "nbinom": lambda shapes: -math.log1p(-shapes[1]),
    "logser": lambda shapes: -math.log(shapes[0]),
    "planck": lambda shapes: shapes[0],
    "dlaplace": lambda shapes: shapes[0],
}


@dataclass(frozen=True)
class Tail:
    """What is not listed on one side: values from `first` to `end`, ln probability of the first, and how that falls."""

    above: bool
    first: float
    end: float
    log: float
    rate: float  # nats that ln probability falls by at least, from value to value

    def weighed(self, k: float, at: float) -> float:
        """Ln Σ p(x)·e^{k·(distance of x from `at`, outward)}, from above; for k > 0."""
        sign = 1.0 if self.above else -1.0
        near, far = sign * (self.first - at), sign * (self.end - at)
        whole = self.log + math.log(far - near + 1) + k * far if math.isfinite(far) else math.inf
        if k >= self.rate:
            return whole
        return min(whole, self.log + k * near - math.log(-math.expm1(k - self.rate)))

    def times(self, weight: float) -> "Tail":
        return replace(self, log=self.log + math.log(weight))


def reached(tails: Iterable[Tail], k: float, at: float, ends: Floats, *, above: bool) -> Floats:
    """The same of the values up to these ends, each of which may be before the first of them; for k > 0."""
    found, sign = np.full(ends.shape, -np.inf), 1.0 if above else -1.0
    for tail in (t for t in tails if t.above == above):
        near, far = sign * (tail.first - at), np.minimum(sign * (tail.end - at), sign * (ends - at))
        with np.errstate(all="ignore"):
            weight = np.minimum(tail.log + np.log(far - near + 1) + k * far, tail.weighed(k, at))
        found = np.where(far >= near, np.logaddexp(found, weight), found)
    return found


def beyond(tails: Iterable[Tail], k: float, at: float, *, above: bool) -> float:
    """Ln of what all of them weigh on one side."""
    return float(np.logaddexp.reduce([t.weighed(k, at) for t in tails if t.above == above], initial=-np.inf))


def endless(of: "Chords", tails: tuple[Tail, ...]) -> "Chords":
    """Heaps with those that are not listed beyond them: as a density they weigh as much or more.

    Σ p·e^{−c(j−1)}·e^{kj} = p·e^k/(1 − e^{k−c}) is at most p·e^c/(c − k), because ln(1 + c − k) ≤ c − k.
    """
    for tail in tails:
        mass = math.exp(tail.weighed(0.0, tail.first)) if tail.rate else NOISE
        pairs = of.ends, of.beyond, of.rates, of.edges
        values = tail.end, mass, tail.rate, math.exp(tail.log + tail.rate)
        new = [(a, value) if tail.above else (value, b) for (a, b), value in zip(pairs, values, strict=True)]
        of = replace(of, ends=new[0], beyond=new[1], rates=new[2], edges=new[3])
    return of


def listed(prior: Frozen, low: float = -math.inf, high: float = math.inf) -> tuple[Floats, Floats, tuple[Tail, ...]]:
    """The values between low and high, their probabilities, and what is left out."""
    it = prior.scipy()
    start, stop = (float(end) for end in it.support())
    middle = float(it.median())
    base = start if math.isfinite(start) else middle  # values are whole numbers away from it
    first = max(start, base + math.ceil(low - base) if math.isfinite(low) else -math.inf)
    last = min(stop, base + math.floor(high - base) if math.isfinite(high) else math.inf)
    if first > last:
        return np.zeros(0), np.zeros(0), ()
    near, far = first, last
    if not last - first < MOST:
        near = max(first, float(it.ppf(TAIL)))
        far = min(last, _rare(it, near, prior))
        light = _light(it, near, far, middle)
        near, far = max(first, light[0]), min(last, light[1])
    values = np.arange(near, far + 1)
    with np.errstate(all="ignore"):
        masses = it.pmf(values)
        tails = [
            _tail(prior, it, beside, end)
            for beside, end, missing in ((near, first, near > first), (far, last, far < last))
            if missing
        ]
    some = masses > 0
    return values[some], masses[some], tuple(tails)


def nothing_of(prior: Prior, within: tuple[float, float]) -> bool:
    """Whether none of the single values of a family lies in a range."""
    return isinstance(prior, Frozen) and prior.discrete and within != EVERYTHING and not listed(prior, *within)[0].size


def _rare(it: Any, first: float, prior: Frozen) -> float:
    """The value beyond which next to nothing is left, by halving: scipy's own search would list all values before."""
    left = float(it.sf(first + MOST))
    if not left <= NOISE:
        raise Misconfigured(
            f"{prior.name} has more than {MOST:,} likely values, found the arguments {prior.args}",
            hint="Truncate it to a range, as in Truncated(prior, low, high), or give a histogram.",
        )
    low, high = -1, MOST
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if float(it.sf(first + middle)) <= max(TAIL, left) else (middle, high)
    return first + high


def _light(it: Any, near: float, far: float, middle: float) -> tuple[float, float]:
    """Farther out, where the probabilities soon are smaller than any that anybody asks about."""
    found = []
    for end, sign in ((near, -1), (far, 1)):
        way = FARTHER * (abs(end - middle) + 8)
        beside = end + sign * np.arange(min(way, MOST // 4) + 1)
        with np.errstate(all="ignore"):
            some = np.flatnonzero(it.pmf(beside) > DEEPEST)
        found.append(float(beside[some[-1]]) if some.size and some[-1] < beside.size - 1 else end)
    return found[0], found[1]


def _tail(prior: Frozen, it: Any, outermost: float, end: float) -> Tail:
    """What lies beyond the outermost value."""
    step = 1.0 if end > outermost else -1.0
    logs = it.logpmf(outermost + step * np.arange(-1.0, 3.0)).tolist()
    fall = max(logs[2] - logs[3], 0.0)
    if not logs[2] > FAINTEST:  # no double any more: as if it fell as it did before
        fall = max(logs[0] - logs[1], 0.0)
        logs[2] = logs[1] - fall
    limit = LIMITS[prior.name](_shapes(it)) if prior.name in LIMITS else 0.0
    rate = min(fall, limit) * (1 - 1e-9)
    return Tail(step > 0, outermost + step, end, logs[2] + 1e-9, rate if math.isfinite(rate) else 0.0)


def _shapes(it: Any) -> tuple[float, ...]:
    return tuple(float(v) for v in it.dist._parse_args(*it.args, **it.kwds)[0])  # noqa: SLF001 (nothing public tells)
