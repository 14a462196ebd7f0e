"""The ladder: a noisy count whose noise follows how far single links can move it *here*, not in the worst graph.

`step(t)` bounds how far one link moves the count of any graph that is t links away from this one. It has to be *a
ladder*: step(t) of a neighbour is at most step(t + 1) of this graph. Then rung 0 is the true count, rung t holds the
step(t − 1) next whole numbers on either side, and every number on rung t is told with chance ∝ e^(−εt/2). In a
neighbouring graph a number moves by one rung at most, so its chance and the sum of all chances move by e^(ε/2) each:
the answer costs exactly ε (Zhang, Cormode, Procopiuc, Srivastava and Xiao, "Private release of graph statistics using
ladder functions", 2015).

Drawn exactly: a rung by e^(−εt/2) (an exact geometric number), kept with chance (numbers on it)/(most numbers there can
be on a rung), which is a fraction; then a side and a number on it, all alike.
"""

from collections.abc import Callable
from fractions import Fraction
from math import exp

import numpy as np

from nowiser.noise.discrete_laplace import geometric
from nowiser.noise.entropy import Entropy
from nowiser.noise.uniform import below

Step = Callable[[int], int]
BATCH = 4096


def ladder(count: int, step: Step, most: int, epsilon: Fraction, entropy: Entropy) -> int:
    """A whole number near the count. `most`: no step is larger, in this graph or any other."""
    widest = max(1, 2 * most)
    while True:
        rungs = geometric(2 / epsilon, BATCH, entropy).tolist()
        draws = below(widest, BATCH, entropy).tolist()
        for rung, drawn in zip(rungs, draws, strict=True):
            if rung == 0:
                if drawn < 1:
                    return count
                continue
            width = step(int(rung) - 1)
            if drawn < 2 * width:  # kept; and which of its numbers is as likely as any other
                inside = sum(step(t) for t in range(int(rung) - 1))
                away = inside + 1 + int(drawn) // 2
                return count + away if drawn % 2 else count - away


def half_width(first: float, growth: float, most: float, epsilon: float, confidence: float = 0.95) -> float:
    """How far from the count an answer is in all but 5 % of draws, where step(t) = min(first + growth·t, most)."""
    rungs = max(64, int(40 / epsilon) + 1)
    t = np.arange(rungs)
    steps = np.minimum(first + growth * t, most)
    chance = np.concatenate([[1.0], 2 * steps * np.exp(-epsilon * (t + 1) / 2)])
    reach = np.concatenate([[0.0], np.cumsum(steps)])
    last = int(np.searchsorted(np.cumsum(chance) / chance.sum(), confidence))
    return float(reach[min(last, rungs)]) if exp(-epsilon * rungs / 2) < 1e-6 else float("inf")
