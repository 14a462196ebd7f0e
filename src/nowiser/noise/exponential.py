"""The exponential mechanism: pick a candidate, good ones more often, `Pr[i] ∝ e^(ε·u_i/(2Δ))`.

*Why private.* When the data of one person changes, every score moves by at most Δ; so the weight of a candidate
moves by a factor of at most `e^(ε/2)` and the sum of all weights by as much: a jump of ε. The factor 2 is needed.

*Why exact.* A candidate is proposed uniformly and kept with probability `e^(−ε(max u − u_i)/(2Δ))`, decided exactly;
what is kept first has the stated distribution. Scores must be whole numbers or Fractions: floats are taken at
their exact binary value. The number of proposals depends on the scores: do not offer this to somebody who can time it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.noise.certified import coins_exp
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
