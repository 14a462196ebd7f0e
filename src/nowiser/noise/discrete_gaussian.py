"""Integer Gaussian noise, exactly: `Pr[X = k] ∝ e^(−k²/(2σ²))` with rational σ².

*Why exact* (Canonne, Kamath and Steinke 2020). Draw Y from the discrete Laplace distribution of whole scale
`t = ⌊σ⌋ + 1` and keep it with probability `exp(−(|Y| − σ²/t)²/(2σ²))`. What is kept has probability proportional to

    e^(−|y|/t) · e^(−(|y| − σ²/t)²/(2σ²)) = e^(−y²/(2σ²)) · e^(−σ²/(2t²)),

and the last factor does not depend on y. Both draws are exact, so is the result. About three in four are kept.
"""

from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from nowiser.errors import Misconfigured
from nowiser.noise.certified import coins_exp
from nowiser.noise.discrete_laplace import discrete_laplace
from nowiser.noise.entropy import OS, Entropy


def discrete_gaussian(variance: Fraction, n: int, entropy: Entropy = OS) -> NDArray[np.int64]:
    """Return `n` independent integers of the discrete Gaussian distribution with parameter σ² = `variance`.

    int64; an array of Python integers when a draw might not fit. Exact: see the head of this file.
    """
    if variance <= 0:
        raise Misconfigured(f"variance must be a positive number, got {variance}")
    variance = Fraction(variance)
    t = isqrt(variance.numerator // variance.denominator) + 1
    peak = variance / t
    kept: list[NDArray[np.int64]] = []
    missing = n
    while missing > 0:
        proposed = discrete_laplace(Fraction(t), missing + missing // 2 + 8, entropy)
        distance = np.abs(proposed).astype(np.float64) - float(peak)
        gammas = distance * distance / (2 * float(variance))

        def exact(i: int, proposed: NDArray[np.int64] = proposed) -> Fraction:
            return (abs(int(proposed[i])) - peak) ** 2 / (2 * variance)

        accepted = proposed[coins_exp(gammas, exact, entropy)][:missing]
        kept.append(accepted)
        missing -= len(accepted)
    return np.concatenate(kept) if kept else np.zeros(0, dtype=np.int64)
