"""Bits in a row, each like the one before it except with a small probability: a Markov chain.

Think of a sensor read every minute: whoever was ill a minute ago is ill now. The count of ones is released.
"""

from nowiser.guess.correlated.revealed import Revealed, cost, independent_ceiling, share, whole, worst_output


def markov(length: int, flip: float, *, epsilon: float, position: int | None = None) -> Revealed:
    """Exact posterior that the bit at `position` (from 1; default the middle) is one, after a noisy count of ones.

    The chain starts with a fair bit and flips with probability `flip` at each step. Laplace noise of scale 1/ε.

    >>> round(markov(10, 0.3, epsilon=1.0).after, 6)
    0.885848
    """
    length, flip, epsilon = whole("length", length, 1, 5000), share("flip", flip), cost("epsilon", epsilon)
    position = (length + 1) // 2 if position is None else whole("position", position, 1, length)
    one = _counts(length, flip, position)
    zero = one[::-1]  # exchanging the names of the bits turns count c into length − c
    answers = list(range(length + 1)) * 2
    after, output = worst_output(
        answers, [*one, *zero], [True] * (length + 1) + [False] * (length + 1), epsilon, logs=True
    )
    name = f"bit {position} of {length} Markov bits that flip with probability {flip:g}"
    return Revealed(name, 0.5, max(0.5, after), independent_ceiling(0.5, epsilon), output)


def _counts(length: int, flip: float, position: int) -> list[float]:
    """The logarithm of Pr[bit at `position` is one and the count of ones is c], for c = 0 … length."""
    import numpy as np

    # state[b][c]·2^scale[c]: the bit just read is b, c ones so far; impossible bits at `position` are struck out.
    # The scales keep counts that are too rare for a float, which may be the most telling ones.
    state, scale = np.zeros((2, length + 1)), np.zeros(length + 1, dtype=np.int64)
    state[0, 0] = state[1, 1] = 0.5
    for i in range(1, length + 1):
        if i > 1:
            zero = (1 - flip) * state[0] + flip * state[1]
            one = flip * state[0] + (1 - flip) * state[1]
            there, there_scale = np.append(0.0, one[:-1]), np.append(0, scale[:-1])
            common = np.where(zero == 0, there_scale, np.where(there == 0, scale, np.maximum(scale, there_scale)))
            state = np.stack([np.ldexp(zero, scale - common), np.ldexp(there, there_scale - common)])
            shift = np.frexp(state.max(axis=0))[1]
            state, scale = np.ldexp(state, -shift), common + shift
        if i == position:
            state[0] = 0.0
    with np.errstate(divide="ignore"):
        found: list[float] = (np.log(state.sum(axis=0)) + scale * np.log(2.0)).tolist()
    return found
