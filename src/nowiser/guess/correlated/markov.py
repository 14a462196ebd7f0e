"""Bits in a row, each like the one before it except with a small probability: a Markov chain.

Whoever was ill a minute ago is ill now. The count of ones is released.
"""

from math import inf

import numpy as np

from nowiser.guess.correlated.revealed import Revealed, cost, independent_ceiling, log_of, share, whole, worst_output
from nowiser.model.priors.base import Floats


def markov(length: int, flip: float, *, epsilon: float, position: int | None = None) -> Revealed:
    """Exact posterior that the bit at `position` (from 1; default the middle) is one, after a noisy count of ones.

    The chain starts with a fair bit and flips with probability `flip` at each step. Laplace noise of scale 1/ε.
    """
    length, flip, epsilon = whole("length", length, 1, 5000), share("flip", flip), cost("epsilon", epsilon)
    position = (length + 1) // 2 if position is None else whole("position", position, 1, length)
    one = _counts(length, flip, position)
    zero = one[::-1]  # exchanging the names of the bits turns count c into length − c
    answers = np.arange(2 * length + 2) % (length + 1)
    after, output = worst_output(answers, np.append(one, zero), np.arange(2 * length + 2) <= length, epsilon, logs=True)
    name = f"bit {position} of {length} Markov bits that flip with probability {flip:g}"
    return Revealed(name, 0.5, max(0.5, after), independent_ceiling(0.5, epsilon), output)


def _counts(length: int, flip: float, position: int) -> Floats:
    """The logarithm of Pr[bit at `position` is one and the count of ones is c], for c = 0 … length."""
    # log[b][c]: the bit just read is b, c ones so far; impossible bits at `position` are struck out
    log = np.full((2, length + 1), -inf)
    log[0, 0] = log[1, 1] = -log_of(2.0)
    for i in range(1, length + 1):
        if i > 1:
            same, other = log + log_of(1 - flip), log[::-1] + log_of(flip)
            log = np.logaddexp(same, other)
            log[1] = np.append(-inf, log[1, :-1])
        if i == position:
            log[0] = -inf
    return np.asarray(np.logaddexp(log[0], log[1]))
