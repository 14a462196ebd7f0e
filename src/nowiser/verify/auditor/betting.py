"""Bets against a claim: money that grows only where the claim is false.

The claim says that an event's probabilities p and q on two inputs satisfy p ≤ rise·q + start. One run on each input
pays x − rise·y − start, where x and y are 1 if the event happened: on average at most 0 if the claim holds. Who
stakes a share λ of what he has, chosen before the runs, multiplies it by 1 + λ·(x − rise·y − start). If the claim
holds, his money ever reaches 1/α with probability at most α (Ville's inequality), however the events and stakes are
chosen from earlier runs and whenever he stops.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
STAKES = np.concatenate([[0.0], np.geomspace(1e-3, 0.95, 48)])  # shares of the largest stake that cannot ruin


@dataclass(frozen=True)
class Bet:
    """A stake on one event against one line; `growth` is what it is expected to earn a run, as a logarithm."""

    rise: float
    start: float
    stake: float
    growth: float

    def earned(self, x: NDArray[np.bool_], y: NDArray[np.bool_]) -> Floats:
        """The logarithm of the money after each run, from 0."""
        pays = x.astype(np.float64) - self.rise * y - self.start
        return np.cumsum(np.log1p(self.stake * pays))


def growths(p: Floats, q: Floats, rise: Floats, start: Floats) -> tuple[Floats, Floats]:
    """The best stake and its growth, for each event of estimated probabilities p and q. Growth is never negative."""
    most = 1.0 / (rise + start)
    stake = STAKES[:, None] * most
    total = np.zeros_like(stake)
    for x, px in ((1.0, p), (0.0, 1 - p)):
        for y, qy in ((1.0, q), (0.0, 1 - q)):
            total += px * qy * np.log1p(stake * (x - rise * y - start))
    best = total.argmax(axis=0)
    each = np.arange(len(p))
    found: tuple[Floats, Floats] = stake[best, each], total[best, each]
    return found


def bet(p: float, q: float, rise: float, start: float) -> Bet:
    """The bet on one event of these estimated probabilities."""
    one = np.array([p]), np.array([q]), np.array([rise]), np.array([start])
    stake, growth = growths(*one)
    return Bet(rise, start, float(stake[0]), float(growth[0]))
