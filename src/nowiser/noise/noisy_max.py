"""Report noisy max: which candidate has the largest score, by permute and flip.

*What it does* (McKenna and Sheldon 2020). Go through the candidates in random order and stop at the first whose coin
of probability `e^(−ε(max u − u_i)/(2Δ))` shows heads. That is the same distribution as adding exponential noise of
scale 2Δ/ε to every score and reporting the largest (Ding and others 2021): no noise is materialised, so there
are no ties to break and no floats to round. Its error is never larger than the exponential mechanism's.

*Why private.* The same papers: a jump of ε when every score moves by at most Δ. A brute-force test over all
permutations of small score vectors stands beside this file.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from nowiser.noise.certified import coins_exp
from nowiser.noise.entropy import OS, Entropy
from nowiser.noise.exponential import Choice, rough, score_gaps
from nowiser.noise.integers import to_fraction
from nowiser.noise.uniform import shuffled


def noisy_max(
    scores: Sequence[Fraction | float], jump: Fraction | float, sensitivity: Fraction | float = 1, entropy: Entropy = OS
) -> Choice:
    """Return the index of a (nearly) largest score.

    `sensitivity` is how far one person can move any score. The choice costs a jump of `jump` nats,
    however many candidates there are.
    """
    gaps = score_gaps(scores, jump, sensitivity)
    order = shuffled(len(gaps), entropy)
    floats = np.array([rough(gaps[i]) for i in order])
    heads = coins_exp(floats, lambda i: gaps[order[i]], entropy)
    # the best candidate has gap 0 and always shows heads, so somebody stops
    return Choice(order[int(np.argmax(heads))], to_fraction("jump", jump), "Report noisy max")
