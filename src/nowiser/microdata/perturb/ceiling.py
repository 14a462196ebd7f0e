"""What private steps promise about a column: a ceiling that holds for every attacker, victim and output."""

import math
from fractions import Fraction

from nowiser.microdata.risk.best_guess import Guessed


def ceiling(column: str, reach: Fraction) -> tuple[Guessed, ...]:
    """What no attacker exceeds, whatever he believed, whoever the victim is and whatever was released.

    The log-likelihood moves by at most `reach`, and over all priors the advantage is largest at p = 1/(1 + e^(T/2)),
    where it is tanh(T/4). Nothing here depends on the data: the codebook is published, and a figure computed from
    the true column in it would be a second release that nobody paid for.
    """
    T = min(float(reach), 700.0)
    before = 1 / (1 + math.exp(T / 2))
    return (Guessed("any attacker, any output", column, before, before + math.tanh(T / 4), how="bound"),)
