"""The Gaussian rounded to whole numbers, exactly: `Pr[X = k] = Φ((k+½)/σ) − Φ((k−½)/σ)` with rational σ².

*Why this one.* A whole number v plus the rounded noise is the rounded sum of v and continuous Gaussian noise: rounding
looks at nothing else. So every theorem about continuous Gaussian noise holds for what is released.

*Why exact.* Let V be a uniform real and `s_k = Pr[σ|Z| ≥ k − ½] = 2Φ(−(k−½)/σ)`. The number of `s_k` above V has the
law of |X|, and the sign is fair. A float near `σ·Φ⁻¹(1 − V/2)` proposes the number; where it lies so close to a border
k − ½ that float errors, or bits of V that were not read, could matter, enclosures of `s_k` decide (`certified.Steps`).
"""

from fractions import Fraction
from functools import lru_cache
from math import ceil, isqrt, pi, sqrt
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.noise.certified import Enclosure, Steps, exp_minus
from nowiser.noise.entropy import OS, Entropy

WORD = 64  # bits of V read at first
NEAR = 2.0**-46  # relative error of the float quantile: sixty times what the standard library's is accurate to
FEW = 1 << 10  # words with fewer digits are read on
LARGE = 2.0**61  # beyond it, whole Python numbers instead of int64
NORMAL = NormalDist()


def rounded_gaussian(variance: Fraction, n: int, entropy: Entropy = OS) -> NDArray[np.int64]:
    """Return `n` independent integers: Gaussian noise with σ² = `variance`, rounded to the nearest whole number.

    int64; an array of Python integers when a draw might not fit. Exact: see the head of this file.
    """
    if variance <= 0:
        raise Misconfigured(f"variance must be a positive number, got {variance}")
    variance = Fraction(variance)
    words = np.frombuffer(entropy.bytes(n * WORD // 8), dtype="<u8")
    signs = np.unpackbits(np.frombuffer(entropy.bytes((n + 7) // 8), dtype=np.uint8))[:n]
    sizes = _sizes(variance, words, entropy)
    return np.where(signs == 1, -sizes, sizes) if n else sizes


def _sizes(variance: Fraction, words: NDArray[np.uint64], entropy: Entropy) -> NDArray[np.int64]:
    """|X| for each first word of V."""
    sigma = _root(variance)
    low, high = _between(sigma, words.astype(np.float64), WORD)
    sizes: NDArray[np.int64] = np.array(low.tolist(), dtype=object) if 64 * sigma > LARGE else low.astype(np.int64)
    for i in np.flatnonzero((low != high) | (words < FEW)):
        word, bits = int(words[i]), WORD
        while word < FEW:  # too few digits of V, and that far out it matters
            word, bits = _more(word, bits, entropy)
        least, most = _between(sigma, np.array([float(word)]), bits)
        sizes[i] = _decided(variance, (int(least[0]), int(most[0])), (word, bits), entropy)
    return sizes


def _between(sigma: float, words: NDArray[np.float64], bits: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Whole numbers between which |X| lies where V begins with these bits, of which at least ten digits count.

    Half of V is known to 2^-bits/2 and to the 53 digits of a float; the density at z says how far that moves z.
    """
    half = np.minimum((words + 0.5) * 2.0 ** -(bits + 1), 0.5)
    z = -np.fromiter(map(NORMAL.inv_cdf, half.tolist()), np.float64, len(words))
    unsure = 2.0**-bits * sqrt(2 * pi) * np.exp(z * z / 2) + 2.0**-50 + z * NEAR
    return np.floor(np.maximum(sigma * (z - unsure), 0.0) + 0.5), np.floor(sigma * (z + unsure) + 0.5)


def _decided(variance: Fraction, between: tuple[int, int], known: tuple[int, int], entropy: Entropy) -> int:
    """|X|, of which two ends are known, from the first bits of V: by halving, reading on where it must."""
    (low, high), (word, bits) = between, known
    while low < high:
        middle = (low + high + 1) // 2
        (threshold,) = Steps(lambda n, k=middle: [border(variance, k, n)]).thresholds(bits)  # type: ignore[misc]
        if word == threshold:
            word, bits = _more(word, bits, entropy)
        else:
            low, high = (middle, high) if word < threshold else (low, middle - 1)
    return low


def _more(word: int, bits: int, entropy: Entropy) -> tuple[int, int]:
    return word << WORD | int.from_bytes(entropy.bytes(WORD // 8), "little"), bits + WORD


def border(variance: Fraction, k: int, bits: int) -> Enclosure:
    """Enclose `Pr[|X| ≥ k]·2^bits`, k ≥ 1."""
    return beyond((k - Fraction(1, 2)) ** 2 / variance, bits)


def beyond(square: Fraction, bits: int) -> Enclosure:
    """Enclose `Pr[Z² ≥ square]·2^bits` for a standard normal Z.

    `Pr[Z² < q] = sqrt(2q/π)·e^(−q/2)·Σ_n qⁿ/(1·3·5⋯(2n+1))`; all summands are positive. Products are rounded outward;
    the sum is at most e^(q/2), so that many bits more are carried.
    """
    room = bits + 32 + ceil(square)
    one = 1 << room
    low = high = term_low = term_high = one
    n = 0
    while term_high > 1 or n < 2 * square:
        n += 1
        top, bottom = square.numerator, square.denominator * (2 * n + 1)
        term_low, term_high = term_low * top // bottom, -(-term_high * top // bottom)
        low, high = low + term_low, high + term_high
    high += 2 * term_high + 1  # from n ≥ 2·square on, each term is at most a quarter of the one before
    pi_low, pi_high = _pi(room)
    double = 2 * square
    root_low = isqrt((double.numerator << 3 * room) // (double.denominator * pi_high))
    root_high = isqrt(-(-(double.numerator << 3 * room) // (double.denominator * pi_low))) + 1
    fall_low, fall_high = exp_minus(square / 2, room)
    within_low = low * root_low * fall_low >> 3 * room - bits
    within_high = (high * root_high * fall_high >> 3 * room - bits) + 1
    return max(0, (1 << bits) - within_high), min(1 << bits, (1 << bits) - within_low)


@lru_cache(maxsize=64)
def _pi(bits: int) -> Enclosure:
    """Enclose π·2^bits: 16·arctan(1/5) − 4·arctan(1/239)."""

    def arctan(x: int) -> tuple[int, int]:
        power, total, n = (1 << bits + 16) // x, 0, 0
        while power:
            total += (-1) ** n * (power // (2 * n + 1))
            power //= x * x
            n += 1
        return total, 2 * n + 2  # each summand lost less than two units, and so did what is left out

    five, lost = arctan(5)
    rest, more = arctan(239)
    middle, error = 16 * five - 4 * rest, 16 * lost + 4 * more
    return (middle - error) >> 16, ((middle + error) >> 16) + 1


def _root(variance: Fraction) -> float:
    """The root of a fraction of any size, to a few units of the last digit."""
    shift = (variance.denominator.bit_length() - variance.numerator.bit_length()) // 2
    scaled = variance * Fraction(4) ** shift
    return float(Fraction(sqrt(scaled)) / Fraction(2) ** shift)
