"""The ladder: a noisy count whose noise follows how far single links can move it *here*, not in the worst graph.

`step(t)` bounds how far one link moves the count of any graph that is t links away from this one. It has to be *a
ladder*: step(t) of a neighbour is at most step(t + 1) of this graph. Then rung 0 is the true count, rung t holds the
step(t − 1) next whole numbers on either side, and every number on rung t is told with chance ∝ e^(−εt/2). In a
neighbouring graph a number moves by one rung at most, so its chance and the sum of all chances move by e^(ε/2) each:
the answer costs exactly ε (Zhang, Cormode, Procopiuc, Srivastava and Xiao, "Private release of graph statistics using
ladder functions", 2015).

Drawn exactly: a rung t by e^(−εt/4) (an exact geometric number), kept with chance w(t)·e^(−εt/4)/M, where w(t) is how
many numbers rung t holds and M a whole number that no w(t)·e^(−εt/4) exceeds; then one of its numbers, all alike. M
follows the steps of this graph, so that few rungs are thrown away however steep the steps of the worst graph are.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import ceil, log

import numpy as np

from nowiser.noise.certified import Enclosure, Steps, exp_minus
from nowiser.noise.discrete_laplace import geometric
from nowiser.noise.entropy import Entropy
from nowiser.noise.uniform import whole_below

Step = Callable[[int], int]
BATCH = 64
PRECISE = 64  # bits of the powers of e that M is made of


def ladder(count: int, step: Step, most: int, epsilon: Fraction, entropy: Entropy) -> int:
    """A whole number near the count. `most`: no step is larger, in this graph or any other."""
    room = _room(step, most, epsilon)
    while True:
        for rung in geometric(4 / epsilon, BATCH, entropy).tolist():
            width = 2 * step(rung - 1) if rung else 1
            if not _kept(width, Fraction(rung) * epsilon / 4, room, entropy):
                continue
            if rung == 0:
                return count
            away, side = divmod(whole_below(width, entropy), 2)
            away += 1 + sum(step(t) for t in range(rung - 1))
            return count + away if side else count - away


def _kept(width: int, loss: Fraction, room: int, entropy: Entropy) -> bool:
    """True with probability width·e^(−loss)/room, exactly; at most 1. Beside loss 0 irrational: bits decide it."""
    if not loss:
        return whole_below(room, entropy) < width

    def bounds(bits: int) -> Sequence[Enclosure]:
        lo, hi = exp_minus(loss, bits)
        return [(width * lo // room, min(1 << bits, -(-width * hi // room)))]

    return bool(Steps(bounds).draw(1, entropy)[0])


def _room(step: Step, most: int, epsilon: Fraction) -> int:
    """A whole number that w(t)·e^(−εt/4) exceeds on no rung, above the largest of them by a third or so.

    Rungs are gone through in stretches of about 1/ε, each taken at its most: as wide as its last rung, as likely as its
    first. Past the last stretch 2·most·e^(−εt/4) is below 1, which is what rung 0 has.
    """
    long = max(1, ceil(1 / epsilon))
    last = ceil((log(2 * most) + 1) * 4 / epsilon)
    found = 1
    for first in range(0, last, long):
        _, above = exp_minus(Fraction(first) * epsilon / 4, PRECISE)
        found = max(found, -(-2 * step(first + long - 1) * above >> PRECISE))
    return found


def half_width(step: Step, epsilon: float, confidence: float = 0.95) -> float:
    """How far from the count an answer is in all but 5 % of draws."""
    rungs = max(64, int(40 / epsilon) + 1)
    steps = np.array([float(step(t)) for t in range(rungs)])
    chance = np.concatenate([[1.0], 2 * steps * np.exp(-epsilon * np.arange(1, rungs + 1) / 2)])
    reach = np.concatenate([[0.0], np.cumsum(steps)])
    last = int(np.searchsorted(np.cumsum(chance) / chance.sum(), confidence))
    return float(reach[min(last, rungs)])
