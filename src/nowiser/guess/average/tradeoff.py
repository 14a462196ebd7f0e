"""How often an attacker succeeds on average: trade-off functions. Proofs: docs/mathematics/expected.md.

A test that tells one value of the victim from another makes two kinds of error. The trade-off function `f(a)` of a
mechanism is the smallest second error of any test with first error at most `a`, for *every* pair of values. An attacker
whose best guess succeeds with probability `κ` before the release succeeds on average with at most `1 − f(κ)` after it.
All functions round against us: f down, success up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import exp, expm1, inf, nextafter
from typing import Any

from nowiser.errors import Misconfigured
from nowiser.model.checks import number

_SLACK = 4e-15  # a dozen operations on numbers of size one, each rounded to nearest


@dataclass(frozen=True)
class Tradeoff:
    """A lower bound `f` on the second error, with the total variation it implies."""

    name: str
    total_variation: float  # rounded up
    _f: Callable[[float], float] = field(repr=False, compare=False)

    def __call__(self, a: float) -> float:
        """The smallest second error of any test whose first error is at most `a`; rounded down."""
        a = _probability("a", a)
        return min(1.0 - a, max(0.0, self._f(a) - _SLACK))

    def success(self, before: float) -> float:
        """The largest average success of an attacker who succeeded with probability `before`; rounded up."""
        before = _probability("before", before)
        return min(1.0, max(before, 1.0 - self(before)))


def pure(epsilon: float) -> Tradeoff:
    """Every mechanism whose likelihoods differ by at most e^ε between any two values."""
    return approximate(epsilon, 0.0)


def approximate(epsilon: float, delta: float) -> Tradeoff:
    """Every (ε, δ)-private mechanism: f(a) = max(0, 1 − δ − e^ε a, e^{−ε}(1 − δ − a))."""
    epsilon, delta = number("epsilon", epsilon, low=0.0), _probability("delta", delta)

    def f(a: float) -> float:
        return max(0.0, 1.0 - delta - _times(epsilon, a), exp(-epsilon) * (1.0 - delta - a))

    # the two lines cross at a = (1 − δ)/(1 + e^ε); there a + f(a) is smallest
    variation = 1.0 - 2.0 * (1.0 - delta) / (1.0 + _times(epsilon, 1.0))
    name = f"ε = {epsilon:g}" + (f", δ = {delta:g}" if delta else "")
    return Tradeoff(name, _up(variation) if epsilon or delta else 0.0, f)


def laplace(epsilon: float) -> Tradeoff:
    """Laplace noise of scale Δ/ε on a number that moves by at most Δ between any two values of the victim."""
    epsilon = number("epsilon", epsilon, low=0.0)

    def f(a: float) -> float:
        if a < exp(-epsilon) / 2:
            return 1.0 - _times(epsilon, a)
        if a <= 0.5:
            return exp(-epsilon) / (4.0 * a) if a > 0 else 1.0
        return exp(-epsilon) * (1.0 - a)

    return Tradeoff(f"Laplace, ε = {epsilon:g}", _up(-expm1(-epsilon / 2)) if epsilon else 0.0, f)


def gaussian(mu: float) -> Tradeoff:
    """Normal noise of deviation Δ/μ on a number (or vector) that moves by at most Δ."""
    mu = number("mu", mu, low=0.0)
    from scipy.special import ndtr, ndtri  # would double the start-up time of the command line

    def f(a: float) -> float:
        if a <= 0.0 or a >= 1.0:
            return 1.0 - a
        return float(ndtr(-ndtri(a) - mu)) * (1.0 - 1e-13)  # 1e-13: accuracy of ndtr and ndtri

    return Tradeoff(f"Gaussian, μ = {mu:g}", _up(2.0 * float(ndtr(mu / 2)) - 1.0, 1e-13) if mu else 0.0, f)


def from_curve(epsilons: Sequence[float], deltas: Sequence[float], name: str = "curve") -> Tradeoff:
    """A mechanism that is (ε, δ(ε))-private for each pair, in both directions.

    f(a) = sup over ε of max(0, 1 − δ(ε) − e^ε a): a supremum over fewer ε is smaller, so every grid is safe.
    A negative ε is meant as in hockey-stick divergence: P(S) ≤ e^ε Q(S) + δ.
    """
    if len(epsilons) == 0 or len(epsilons) != len(deltas):
        many = f"{len(epsilons)} and {len(deltas)}"
        raise Misconfigured(f"epsilons and deltas must be equally many and not empty; found {many}")
    pairs = [(number("epsilons", e), _probability("deltas", d)) for e, d in zip(epsilons, deltas, strict=True)]

    def f(a: float) -> float:
        return max(0.0, *(1.0 - d - _times(e, a) for e, d in pairs))

    # δ(0) is the total variation; without ε = 0 on the grid, |P(S) − Q(S)| ≤ δ(ε) + (e^ε − 1) for ε > 0
    # and ≤ δ(ε) for ε < 0
    variation = min(d + max(0.0, expm1(min(e, 700.0))) for e, d in pairs)
    return Tradeoff(name, _up(variation), f)


def _times(loss: float, a: float) -> float:
    """e^loss·a."""
    return 0.0 if a == 0.0 else exp(loss) * a if loss < 709.0 else inf


def _up(value: float, slack: float = _SLACK) -> float:
    """Rounded up; `value` may be 0 only because what it stands for is smaller than its rounding."""
    return min(1.0, max(0.0, nextafter(value + slack, inf)))


def _probability(name: str, value: Any) -> float:
    return number(name, value, low=0.0, high=1.0)
