"""The exponential mechanism: pick a candidate, good ones more often, `Pr[i] ∝ e^(ε·u_i/(2Δ))`.

*Why private.* When the data of one person changes, every score moves by at most Δ; so the weight of a candidate
moves by a factor of at most `e^(ε/2)` and the sum of all weights by as much: a jump of ε. The factor 2 is needed.

*Why exact.* `Weights` looks a uniform real up among running sums that are enclosed as closely as it takes: for many
candidates, of which most are hopeless. `exponential` is for few: a candidate is proposed uniformly and kept with
probability `e^(−ε(max u − u_i)/(2Δ))`, decided exactly; what is kept first has the stated distribution. Scores must be
whole numbers or Fractions: floats are taken at their exact binary value. The number of proposals depends on the
scores: do not offer `exponential` to somebody who can time it.
"""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.noise.certified import Enclosure, coins_exp, exp_minus
from nowiser.noise.entropy import OS, Entropy
from nowiser.noise.explained import sentence
from nowiser.noise.integers import to_fraction
from nowiser.noise.uniform import below


@dataclass(frozen=True)
class Choice:
    """The candidate picked, and what picking it cost."""

    index: int
    jump: Fraction
    mechanism: str

    def explained(self, before: float) -> str:
        return f"{self.mechanism}. {sentence(self.jump, before)}"


def exponential(
    scores: Sequence[Fraction | float], jump: Fraction | float, sensitivity: Fraction | float = 1, entropy: Entropy = OS
) -> Choice:
    """Pick an index of `scores` by the exponential mechanism.

    `sensitivity` is how far one person can move any score. The choice costs a jump of `jump` nats.
    """
    gaps = score_gaps(scores, jump, sensitivity)
    floats = np.array([rough(g) for g in gaps])
    while True:
        proposed = below(len(gaps), max(16, len(gaps)), entropy)
        kept = coins_exp(floats[proposed], lambda i, p=proposed: gaps[int(p[i])], entropy)  # type: ignore[misc]  # default binds the loop's array
        if kept.any():
            return Choice(int(proposed[np.argmax(kept)]), to_fraction("jump", jump), "Exponential mechanism")


def score_gaps(
    scores: Sequence[Fraction | float], jump: Fraction | float, sensitivity: Fraction | float
) -> list[Fraction]:
    """`ε·(max u − u_i)/(2Δ)` for every candidate, exact."""
    factor = to_fraction("jump", jump) / (2 * to_fraction("sensitivity", sensitivity))
    if not len(scores):
        raise Misconfigured("scores must name at least one candidate, got none")
    try:
        exact = [Fraction(s) for s in scores]
    except (ValueError, OverflowError, TypeError) as error:
        raise Misconfigured("scores must be finite numbers; one of them is not") from error
    best = max(exact)
    return [factor * (best - s) for s in exact]


def rough(gap: Fraction) -> float:
    """The gap as a float; beyond a million its coin shows heads less than once in e^1000000 times anyway."""
    return float(min(gap, Fraction(10**6)))


@dataclass(frozen=True)
class Weights:
    """Candidates of the exponential mechanism as whole numbers: `Pr[i] ∝ many[i]·e^(−unit·gaps[i])`.

    `many[i]` equal candidates count as one with a multiplicity. Gaps are at least zero, and one of them is zero.
    """

    gaps: NDArray[np.int64]
    unit: Fraction
    many: NDArray[np.int64]

    def pick(self, entropy: Entropy = OS, *, word: int = 64) -> int:
        """The index picked, exactly.

        A uniform real is read off the entropy source and looked up among the running sums of the weights. Floats
        only propose: the weights are kept as whole numbers of 2^-60 of their sum, each of which is off by less than
        one for its rounding and 2^-44 of itself for `exp` (gaps above 60 nats, where a float of the gap is
        coarser, weigh less than 2^-56 in all). Where that leaves two candidates possible, exact arithmetic decides.
        """
        weights = self.many * np.exp(-self.gaps * float(self.unit))
        scale = 60 - math.frexp(float(weights.sum()))[1]
        running = np.cumsum(np.floor(np.ldexp(weights, scale)).astype(np.int64))
        total = int(running[-1])
        off = len(running) + (total >> 43) + 2
        first = int.from_bytes(entropy.bytes(word // 8), "little")
        low, high = (first * total >> word) - 2 * off, ((first + 1) * total >> word) + 2 * off
        index = int(np.searchsorted(running, low, side="right"))
        if index < len(running) and high < running[index]:
            return index
        return self._decided(first, word, entropy)

    def _decided(self, prefix: int, bits: int, entropy: Entropy) -> int:
        """Finish a draw of which the first bits are known: enclose all weights closer, read further words."""
        precision = 128
        while True:
            below, above = self._running(precision)
            least, most = below[-1], above[-1]
            # U·Z ≥ C_k for the first `sure` sums, and U·Z < C_k for the next one
            sure = bisect_right(above, prefix * least >> bits)
            if (prefix + 1) * most <= below[sure] << bits:
                return sure
            prefix = prefix << 64 | int.from_bytes(entropy.bytes(8), "little")
            bits, precision = bits + 64, precision + 64

    def _running(self, bits: int) -> tuple[list[int], list[int]]:
        """Running sums of the weights times 2^bits, enclosed."""
        known: dict[int, Enclosure] = {}
        below, above, lo, hi = [], [], 0, 0
        for gap, many in zip(self.gaps.tolist(), self.many.tolist(), strict=True):
            if gap not in known:
                known[gap] = (0, 1) if gap * self.unit > bits else exp_minus(gap * self.unit, bits)
            lo, hi = lo + many * known[gap][0], hi + many * known[gap][1]
            below.append(lo)
            above.append(hi)
        return below, above
