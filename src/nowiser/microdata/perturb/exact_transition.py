"""Transition matrices with whole-number chances, drawn exactly from the operating system's entropy.

A row of the matrix is a list of non-negative integers that sum to 2⁵³, and a draw is 53 uniform bits
looked up in their running sums: no float and no rounding enters the distribution. What the matrix costs
is read off those integers:

    jump = max over outputs y, categories x, x' of  ln( W[x, y] / W[x', y] )

*Why that is the cost:* the likelihood of seeing y moves by exactly that factor when the true category
moves from x to x', and by no more whatever else is known.
"""

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from nowiser.errors import Misconfigured
from nowiser.model.charge import PICO, ceil_fraction
from nowiser.noise.entropy import Entropy

BITS = 53
ONE = 1 << BITS
Whole = npt.NDArray[np.int64]


def response(size: int, jump: Fraction) -> Whole:
    """Randomised response over `size` categories that costs at most `jump` nats.

    The other categories get ⌈2⁵³/(e^jump + size − 1)⌉ each (rounded up: more noise), the true one the rest.
    """
    if size < 2 or size > 1 << 20:
        raise Misconfigured(f"randomised response needs 2 to {1 << 20} categories, found {size}")
    if not 0 < jump <= 30:
        raise Misconfigured(f"jump must be above 0 and at most 30 nats, found {float(jump):.6g}")
    odds = math.exp(float(jump)) * (1 - 1e-12)  # rounded down: never a likelier truth than paid for
    other = math.ceil(ONE / (odds + size - 1))
    return np.full((size, size), other, dtype=np.int64) + np.eye(size, dtype=np.int64) * (ONE - size * other)


def whole(P: npt.NDArray[np.float64]) -> Whole:
    """The matrix with entries rounded to multiples of 2⁻⁵³, the diagonal taking up the difference."""
    W = np.floor(P * ONE).astype(np.int64)
    size = len(W)
    W[np.arange(size), np.arange(size)] += ONE - W.sum(axis=1)
    if (W < 0).any():
        raise Misconfigured("a transition matrix must have non-negative entries")
    return W


def cost(W: Whole, *, column: str) -> int:
    """The jump of one draw in piconats, rounded up; refuses a matrix that can rule a category out."""
    low, high = W.min(axis=0), W.max(axis=0)
    used = high > 0
    if (low[used] == 0).any():
        raise Misconfigured(
            f"the matrix of {column!r} has a zero where another row has none: that output would rule a category out",
            hint="Give every category some chance of being released as any other.",
        )
    worst = max(Fraction(int(h), int(l)) for h, l in zip(high[used], low[used], strict=True))
    nats = math.log(worst.numerator) - math.log(worst.denominator)
    return ceil_fraction((Fraction(nats) * (1 + Fraction(1, 10**13)) + Fraction(1, 10**13)) * PICO)


def draw(codes: Whole, W: Whole, entropy: Entropy) -> Whole:
    """One released category per row, exactly with the chances W/2⁵³."""
    uniform = (np.frombuffer(entropy.bytes(8 * len(codes)), dtype="<u8") >> np.uint64(64 - BITS)).astype(np.int64)
    out = np.empty(len(codes), dtype=np.int64)
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(W)))
    start = 0
    for category, end in enumerate(ends):
        rows = order[start:end]
        out[rows] = np.searchsorted(np.cumsum(W[category]), uniform[rows], side="right")
        start = end
    return out
