"""Integer Laplace noise, exactly: `Pr[X = k] = (1−q)/(1+q)·q^|k|` with `q = e^(−1/b)`, b rational.

*Why exact.* `X` is 0 with probability (1−q)/(1+q); otherwise its sign is fair and |X| − 1 is geometric,
`Pr[G ≥ k] = q^k`. A geometric number is drawn digit by digit: written as `G = L + M·H` with digit `0 ≤ L < M`,

    Pr[L = l, H = h] = (1−q)·q^l·q^(M·h) = [(1−q)·q^l/(1−q^M)] · [(1−q^M)·(q^M)^h],

so the digit and the rest are independent, and the rest is again geometric, with b/M in place of b. Once b is
small the last digit is drawn as min(G, M); a draw that reaches M goes on from there with a fresh geometric,
because a geometric number has no memory. Each digit has finitely many values, drawn by `Steps`, which is exact.
"""

from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.noise.certified import WORD, Enclosure, Steps, exp_minus, powers, ratio
from nowiser.noise.entropy import OS, Entropy

FEW = 4096  # below this many draws small digit tables pay, above it large ones
LARGE = 1 << 62  # beyond it, whole Python numbers instead of int64


def discrete_laplace(scale: Fraction, n: int, entropy: Entropy = OS, *, word: int = WORD) -> NDArray[np.int64]:
    """Return `n` independent integers of the discrete Laplace distribution with this rational scale.

    int64; an array of Python integers when a draw might not fit. Exact: see the head of this file.
    """
    if scale <= 0:
        raise Misconfigured(f"scale must be a positive number, got {scale}")
    scale = Fraction(scale)
    side = _side(scale).draw(n, entropy, word)
    moved = np.flatnonzero(side)
    size = geometric(scale, len(moved), entropy, word=word) + 1
    noise = np.zeros(n, dtype=size.dtype)
    noise[moved] = np.where(side[moved] == 1, size, -size)
    return noise


def geometric(scale: Fraction, n: int, entropy: Entropy = OS, *, word: int = WORD) -> NDArray[np.int64]:
    """Return `n` independent numbers with `Pr[G ≥ k] = e^(−k/scale)`."""
    width = 16 if n < FEW else 256
    total: NDArray[np.int64] = np.zeros(n, dtype=np.int64)
    unit, reach = 1, 0
    while scale * 16 > width:
        reach += unit * width
        total = _room(total, reach)
        total += _digit(scale, width).draw(n, entropy, word).astype(total.dtype) * unit
        scale, unit = scale / width, unit * width
    going = np.arange(n)
    while len(going):
        reach += unit * width
        total = _room(total, reach)
        last = _capped(scale, width).draw(len(going), entropy, word)
        total[going] += last.astype(total.dtype) * unit
        going = going[last == width]
    return total


def _room(total: NDArray[np.int64], reach: int) -> NDArray[np.int64]:
    """Change to Python integers before a sum could leave int64."""
    return total.astype(object) if reach >= LARGE and total.dtype != object else total


@lru_cache(maxsize=512)
def _side(scale: Fraction) -> Steps:
    """0 with probability (1−q)/(1+q); 1 and 2 (plus and minus) with q/(1+q) each."""

    def bounds(bits: int) -> list[Enclosure]:
        one = 1 << bits
        lo, hi = exp_minus(1 / scale, bits)
        below, above = ratio((lo, lo), (one + lo, one + lo), bits)[0], ratio((hi, hi), (one + hi, one + hi), bits)[1]
        return [(2 * below, min(one, 2 * above)), (below, above)]

    return Steps(bounds)


@lru_cache(maxsize=512)
def _digit(scale: Fraction, width: int) -> Steps:
    """The digit L of a geometric number: `Pr[L ≥ k] = (q^k − q^M)/(1 − q^M)` for k = 1 … M−1."""

    def bounds(bits: int) -> list[Enclosure]:
        q = powers(1 / scale, width, bits)
        last_lo, last_hi = q[width]
        rest = ((1 << bits) - last_hi, (1 << bits) - last_lo)
        return [ratio((lo - last_hi, hi - last_lo), rest, bits) for lo, hi in q[1:width]]

    return Steps(bounds)


@lru_cache(maxsize=512)
def _capped(scale: Fraction, width: int) -> Steps:
    """min(G, M): `Pr[· ≥ k] = q^k` for k = 1 … M."""
    return Steps(lambda bits: powers(1 / scale, width, bits)[1:])
