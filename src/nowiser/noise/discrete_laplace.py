"""Integer Laplace noise, exactly: `Pr[X = k] = (1−q)/(1+q)·q^|k|` with `q = e^(−1/b)`, b rational.

*Why exact.* `X` is 0 with probability (1−q)/(1+q); otherwise its sign is fair and |X| − 1 is geometric,
`Pr[G ≥ k] = q^k`. A geometric number is drawn in two parts: written as `G = L + M·H` with `0 ≤ L < M`,

    Pr[L = l, H = h] = (1−q)·q^l·q^(M·h) = [(1−q)·q^l/(1−q^M)] · [(1−q^M)·(q^M)^h],

so the parts are independent, and the upper one is again geometric, with b/M in place of b. The lower part is drawn by
rejection: a uniform number of M = 2^k values is kept with probability `q^l`, which makes `Pr[L = l] ∝ q^l`; M is well
below b, so nearly all are kept. Once b is small the upper part is drawn as min(G, M); a draw that reaches M goes on
from there with a fresh geometric, because a geometric number has no memory. The coins (`coins_exp`) and the choice
among finitely many values (`Steps`) are exact.
"""

from fractions import Fraction
from functools import lru_cache
from math import floor

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.noise.certified import WORD, Enclosure, Steps, coins_exp, exp_minus, powers, ratio
from nowiser.noise.entropy import OS, Entropy

FEW = 4096  # below this many draws small tables pay, above it large ones
MOST_BITS = 52  # of one lower part: a float holds them, as `coins_exp` wants
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
    width = 16 if n < FEW else 128
    total: NDArray[np.int64] = np.zeros(n, dtype=np.int64)
    unit, reach = 1, 0
    while scale * 16 > width:
        bits = min(MOST_BITS, floor(scale * 16 / width).bit_length())
        reach += unit << bits
        total = _room(total, reach)
        total += _lower(scale, bits, n, entropy, word).astype(total.dtype, copy=False) * unit
        scale, unit = scale / (1 << bits), unit << bits
    going = np.arange(n)
    while len(going):
        reach += unit * width
        total = _room(total, reach)
        last = _capped(scale, width).draw(len(going), entropy, word)
        total[going] += last.astype(total.dtype, copy=False) * unit
        going = going[last == width]
    return total


def _lower(scale: Fraction, bits: int, n: int, entropy: Entropy, word: int = WORD) -> NDArray[np.int64]:
    """`n` numbers below M = 2^bits with `Pr[L = l] ∝ e^(−l/scale)`."""
    rate, room = float(1 / scale), 32 if bits <= 32 else 64
    found: list[NDArray[np.int64]] = []
    missing = n
    while missing > 0 or not found:
        many = missing + missing // 8 + 16  # about as many as it takes
        words = np.frombuffer(entropy.bytes(many * room // 8), dtype=f"<u{room // 8}")
        proposed = (words >> (room - bits)).astype(np.int64)

        def exact(i: int, proposed: NDArray[np.int64] = proposed) -> Fraction:
            return int(proposed[i]) / scale

        kept = proposed[coins_exp(proposed.astype(np.float64) * rate, exact, entropy, word)][:missing]
        found.append(kept)
        missing -= len(kept)
    return found[0] if len(found) == 1 else np.concatenate(found)


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
def _capped(scale: Fraction, width: int) -> Steps:
    """min(G, M): `Pr[· ≥ k] = q^k` for k = 1 … M."""
    return Steps(lambda bits: powers(1 / scale, width, bits)[1:])
