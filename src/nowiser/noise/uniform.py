"""Whole numbers below a bound, all equally likely, exactly."""

import numpy as np
from numpy.typing import NDArray

from nowiser.noise.entropy import Entropy


def below(bound: int, n: int, entropy: Entropy) -> NDArray[np.int64]:
    """Return `n` independent numbers 0 … bound − 1.

    Words at or above the largest multiple of `bound` are thrown away, so every remainder is equally likely.
    """
    if not 1 <= bound <= 1 << 62:
        raise ValueError(f"bound must lie between 1 and 2^62, got {bound}")
    whole = (1 << 64) - (1 << 64) % bound
    found = np.zeros(0, dtype=np.uint64)
    while len(found) < n:
        words = np.frombuffer(entropy.bytes(8 * (n - len(found))), dtype="<u8")
        found = np.concatenate([found, words if whole == 1 << 64 else words[words < np.uint64(whole)]])
    return (found % np.uint64(bound)).astype(np.int64)


def whole_below(bound: int, entropy: Entropy) -> int:
    """One number 0 … bound − 1, however large the bound is."""
    if bound < 1:
        raise ValueError(f"bound must be at least 1, got {bound}")
    bits = (bound - 1).bit_length()
    while True:
        found = int.from_bytes(entropy.bytes((bits + 7) // 8), "little") & ((1 << bits) - 1)
        if found < bound:
            return found


def shuffled(n: int, entropy: Entropy) -> list[int]:
    """A permutation of 0 … n − 1, all equally likely (Fisher and Yates)."""
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        j = int(below(i + 1, 1, entropy)[0])
        order[i], order[j] = order[j], order[i]
    return order
