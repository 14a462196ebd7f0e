"""Which people are the victims of a run: for a second run others than in the first, as far as there are enough."""

import numpy as np

from nowiser.attacks.view import Ints


def drawn(among: int, victims: int, random: np.random.Generator, *, fresh: bool) -> Ints:
    """So many of the people 0 … among − 1. The first run takes the first of a fixed order, a second one the next."""
    order = np.random.default_rng(20).permutation(among)
    chosen = order[victims : 2 * victims] if fresh and among >= victims + 20 else order[:victims]
    return random.permutation(chosen)
