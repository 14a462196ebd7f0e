"""The samples of the language as Python functions: exact noise, so that what is proved is what runs.

Continuous noise is drawn on the grid of 2^-40: `laplace(b)` is 2^-40·K with K integer Laplace noise of scale b·2^40, so
Pr[X = x] ∝ e^(−|x|/b) for every x of the grid, with no float in between. A proof moves noise by whole multiples of
differences of data; data on the grid stay on the grid, and every step of the proof holds there too. Other data are
rounded to the grid where they meet noise (`grid`).
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.noise import exponential as choice
from nowiser.noise.discrete_laplace import discrete_laplace as integer_laplace, geometric as integer_geometric
from nowiser.noise.entropy import OS, Entropy
from nowiser.noise.rounded_gaussian import rounded_gaussian
from nowiser.noise.uniform import below
from nowiser.verify.grid import GRID, Noisy
from nowiser.verify.outside import Outside
from nowiser.verify.symbolic.forms import Form

STEP = Fraction(1, GRID)


def laplace(scale: Fraction | float) -> Fraction:
    """Laplace noise, on the grid of 2^-40."""
    return Noisy.on(STEP, draw("laplace", [scale]))


def discrete_laplace(scale: Fraction | float) -> int:
    """Integer Laplace noise."""
    return int(draw("discrete_laplace", [scale]))


def geometric(scale: Fraction | float) -> int:
    """A whole number G ≥ 0 with Pr[G ≥ k] = e^(−k/scale)."""
    return int(draw("geometric", [scale]))


def exponential(scale: Fraction | float) -> Fraction:
    """One-sided noise X ≥ 0 with Pr[X ≥ x] = e^(−x/scale), on the grid of 2^-40."""
    return Noisy.on(STEP, draw("exponential", [scale]))


def gaussian(sigma: Fraction | float) -> Fraction:
    """Gaussian noise, rounded to the grid of 2^-40."""
    return Noisy.on(STEP, draw("gaussian", [sigma]))


def uniform() -> Fraction:
    """A number of the grid of 2^-40 in [0, 1)."""
    return Noisy.on(STEP, draw("uniform", []))


def flip(probability: Fraction | float = Fraction(1, 2)) -> bool:
    """True with this probability."""
    return bool(draw("flip", [probability]))


def choose(scores: Sequence[Fraction | float]) -> int:
    """Some i, with probability proportional to e^scores[i]."""
    return int(draw("choose", [list(scores)]))


def draw(kind: str, arguments: Sequence[Any], entropy: Entropy = OS) -> Any:
    """One sample."""
    return many(kind, arguments, 1, entropy)[0]


def many(kind: str, arguments: Sequence[Any], n: int, entropy: Entropy = OS) -> list[Any]:
    """`n` independent samples, exact: Fractions, whole numbers or truth values."""
    if kind == "uniform":
        return [Fraction(int(k), GRID) for k in below(GRID, n, entropy)]
    if kind == "choose":
        scores = [_number(s) for s in arguments[0]]
        return [choice(scores, 2, 1, entropy).index for _ in range(n)]  # e^(ε·u/(2Δ)) with ε = 2 and Δ = 1
    value = _number(arguments[0])
    if kind == "flip":
        if not 0 <= value <= 1:
            raise Misconfigured("the probability of flip must lie between 0 and 1")
        return [bool(k < value.numerator) for k in below(value.denominator, n, entropy)]
    if value <= 0:
        raise Misconfigured(f"the scale of {kind} must be above 0")
    if kind == "discrete_laplace":
        return [int(k) for k in integer_laplace(value, n, entropy)]
    if kind == "geometric":
        return [int(k) for k in integer_geometric(value, n, entropy)]
    if kind == "laplace":
        return [Fraction(int(k), GRID) for k in integer_laplace(value * GRID, n, entropy)]
    if kind == "exponential":
        return [Fraction(int(k), GRID) for k in integer_geometric(value * GRID, n, entropy)]
    return [Fraction(int(k), GRID) for k in rounded_gaussian(value * value * GRID * GRID, n, entropy)]


def many_floats(kind: str, arguments: Sequence[Any], n: int, entropy: Entropy = OS) -> np.ndarray[Any, Any]:
    """The same as an array of floats, for counting events: numbers of a coarser grid (2^-20), exact as floats."""
    if kind in {"laplace", "exponential", "gaussian"}:
        coarse, value = 1 << 20, _number(arguments[0])
        if value <= 0:
            raise Misconfigured(f"the scale of {kind} must be above 0")
        if kind == "gaussian":
            return rounded_gaussian(value * value * coarse * coarse, n, entropy).astype(float) / coarse
        sampler = integer_laplace if kind == "laplace" else integer_geometric
        return sampler(value * coarse, n, entropy).astype(float) / coarse
    if kind == "uniform":
        return below(GRID, n, entropy).astype(float) / GRID
    return np.array(many(kind, arguments, n, entropy), dtype=float)


class Exact:
    """The world of a real run: samples from the operating system's entropy."""

    def __init__(self, entropy: Entropy = OS) -> None:
        self._entropy = entropy

    def sample(self, kind: str, arguments: Sequence[Any], line: int) -> Any:
        del line
        value = draw(kind, arguments, self._entropy)
        return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value

    def positive(self, form: Form, strict: bool, line: int) -> bool:
        del form, strict
        raise Outside("a symbol in a run on numbers", line)

    def opaque(self, operator: str, a: Any, b: Any, line: int) -> Any:
        del operator, a, b
        raise Outside("a symbol in a run on numbers", line)


def _number(value: Any) -> Fraction:
    return Fraction(str(value)) if isinstance(value, float) else Fraction(value)
