"""Real numbers as pairs of integers that enclose them, and random choices decided by them exactly.

A real number `s` in [0, 1] is known through `bounds(bits)`: integers `lo ≤ s·2^bits ≤ hi` that come as close as
the caller asks. A uniform real `U` is read off the entropy source word by word. Whether `U < s` is decided as
soon as the words read so far decide it; if they do not (one chance in 2^32 with the default word), another word
is read. So `Pr[U < s]` is `s` itself, not a float near it: no rounding ever enters a distribution.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import MAX_EMAX, MAX_PREC, MIN_EMIN, Context, Decimal
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nowiser.noise.entropy import Entropy

WORD = 32  # bits read at once: more would mostly be thrown away. Tests use 8 so that undecided words are frequent

Enclosure = tuple[int, int]  # lo ≤ s·2^bits ≤ hi
Bounds = Callable[[int], Sequence[Enclosure]]


def exp_minus(x: Fraction, bits: int) -> Enclosure:
    """Enclose `e^(−x)·2^bits` for x ≥ 0.

    `decimal` rounds division and `exp` correctly to P digits. The rounded quotient is off by at most x·10^(1−P),
    which moves `e^(−x)` by at most `x·e^(−x)·10^(1−P) < 10^(1−P)` up to second order; rounding the result adds
    less than 10^(1−P). With 10^(P−2) ≥ 2^(bits+2) the product with 2^bits is off by less than 1/2.
    """
    digits = (bits + 2) * 30103 // 100000 + 4
    context = Context(prec=min(digits, MAX_PREC), Emax=MAX_EMAX, Emin=MIN_EMIN)
    quotient = context.divide(Decimal(-x.numerator), Decimal(x.denominator))
    value = context.exp(quotient)
    scaled = int(Fraction(value) * (1 << bits)) if value.adjusted() > -digits - bits else 0
    return max(0, scaled - 1), min(1 << bits, scaled + 2)


def ratio(top: Enclosure, bottom: Enclosure, bits: int) -> Enclosure:
    """Enclose top/bottom, given that the true quotient lies in [0, 1]."""
    lo = (top[0] << bits) // bottom[1]
    hi = -(-(top[1] << bits) // bottom[0]) if bottom[0] > 0 else 1 << bits
    return max(0, lo), min(1 << bits, hi)


def powers(x: Fraction, count: int, bits: int) -> list[Enclosure]:
    """Enclose `e^(−kx)` for k = 0 … count, every product rounded outward."""
    lo, hi = exp_minus(x, bits)
    found = [(1 << bits, 1 << bits)]
    for _ in range(count):
        below, above = found[-1]
        found.append((below * lo >> bits, (above * hi >> bits) + 1))
    return found


@dataclass(frozen=True)
class Steps:
    """A distribution on 0, 1, …, m given by `s_k = Pr[K ≥ k]` for k = 1 … m, all below 1, falling.

    `K` is the number of `s_k` above one uniform real `U`; hence `Pr[K ≥ k] = Pr[U < s_k] = s_k` exactly.
    """

    bounds: Bounds

    def thresholds(self, bits: int) -> tuple[int, ...]:
        """`⌊s_k·2^bits⌋`, certain: precision grows until both ends of every enclosure agree."""
        precision = bits + 64
        while True:
            extra = precision - bits
            enclosed = self.bounds(precision)
            if all(lo >> extra == hi >> extra for lo, hi in enclosed):
                return tuple(lo >> extra for lo, _ in enclosed)
            precision *= 2

    def draw(self, n: int, entropy: Entropy, word: int = WORD) -> NDArray[np.int64]:
        """Return `n` independent values of K."""
        seen = np.frombuffer(entropy.bytes(n * word // 8), dtype=f"<u{word // 8}")
        rising = _rising(self, word)
        above = np.searchsorted(rising, seen, side="right")
        counts: NDArray[np.int64] = len(rising) - above.astype(np.int64)
        undecided = (above > 0) & (rising[above - 1] == seen)
        for i in np.flatnonzero(undecided):
            counts[i] = self.decide(int(seen[i]), word, entropy, word)
        return counts

    def decide(self, prefix: int, bits: int, entropy: Entropy, word: int = WORD) -> int:
        """Finish one draw of which the first `bits` bits are known and equal to a threshold."""
        while True:
            prefix = prefix << word | int.from_bytes(entropy.bytes(word // 8), "little")
            bits += word
            levels = self.thresholds(bits)
            if prefix not in levels:
                return sum(level > prefix for level in levels)


@lru_cache(maxsize=256)
def _rising(steps: Steps, word: int) -> NDArray[np.unsignedinteger]:
    return np.array(steps.thresholds(word)[::-1], dtype=f"<u{word // 8}")


MARGIN = 2.0**-40  # far above every float error below, far below anything that happens often


def coins_exp(
    gammas: NDArray[np.float64], exact: Callable[[int], Fraction], entropy: Entropy, word: int = WORD
) -> NDArray[np.bool_]:
    """Independent booleans, the i-th true with probability exactly `e^(−γ_i)`, γ_i = `exact(i)` ≥ 0.

    `gammas` are the same numbers as floats. They only *propose*: where the word read leaves a uniform real that may lie
    within 2^-40 of the float `e^(−γ)`, exact arithmetic decides. The float is nearer than that: a relative error of
    2^-46 in γ and of 2^-45 in `exp` (sixteen and more times what IEEE arithmetic and numpy's `exp` are allowed) moves
    `e^(−γ)` by at most 2^-44, because γ·e^(−γ) ≤ 1/e. A word of at most 32 bits is a float without rounding.
    """
    words = np.frombuffer(entropy.bytes(len(gammas) * word // 8), dtype=f"<u{word // 8}")
    half = 2.0 ** -(word + 1)  # the word w says that the uniform real lies in [w, w + 1] · 2^-word
    distance = np.exp(-gammas) - (words * (2 * half) + half)
    true: NDArray[np.bool_] = distance > 0
    for i in np.flatnonzero(np.abs(distance) <= half + MARGIN):
        true[i] = _decide_exp(exact(int(i)), int(words[i]), entropy, word)
    return true


def _decide_exp(gamma: Fraction, first: int, entropy: Entropy, word: int) -> bool:
    if gamma == 0:
        return True
    steps = Steps(lambda bits: [exp_minus(gamma, bits)])
    (threshold,) = steps.thresholds(word)
    if first == threshold:
        return bool(steps.decide(first, word, entropy, word))
    return first < threshold
