"""The sparse vector technique: look at a number again and again, and learn once that it has passed a threshold.

*What it does* (Dwork, Naor, Reingold, Rothblum, Vadhan 2009). Once, a whole number R ≥ 0 with Pr[R ≥ k] = e^(−k/b) is
drawn and kept secret. Each look draws a fresh X ≥ 0 with Pr[X ≥ k] = e^(−k/c) and says whether f + X ≥ T + R, where f
is the number of the day. After the first yes nobody may look again.

*Why private, however many looks.* Let one person move the number of each look by at most d, the looks in different
directions perhaps, and let f' be the numbers of the neighbour. Condition on R = r. A quiet look has
Pr[X < T + r − f] ≤ Pr[X < T + (r + d) − f'], because f' − f ≤ d: no factor for any of them. The ring has
Pr[X ≥ T + r − f] ≤ e^(2d/c) Pr[X ≥ T + (r + d) − f'], because the distance grows by d + f − f' ≤ 2d. And
Pr[R = r] = e^(d/b) Pr[R = r + d]. Summed over r, any sequence of looks is at most e^(d/b + 2d/c) times as likely. Where
all looks move in the same direction (a person comes, and counts can only grow) it is e^(d/b + d/c): if f' ≥ f the
distance of the ring grows by d − (f' − f) ≤ d; if f' ≤ f take r itself: quiet looks are less likely at f already, and
the ring by e^(d/c) at most. Noise on one side is enough, since r is moved in one direction only.

A loss of s nats per unit is shared 2 : 3 between threshold and looks.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, expm1, log

from nowiser.noise.discrete_laplace import geometric
from nowiser.noise.entropy import OS, Entropy
from nowiser.noise.integers import to_fraction

SHARE = Fraction(2, 5)  # of the loss, for the threshold
YEAR = 365
SELDOM = 0.025


@dataclass(frozen=True)
class AboveThreshold:
    """One alarm that costs `loss` nats per unit a person can move the number. Whole numbers, drawn exactly.

    one_way: a person moves the numbers of all looks in the same direction.
    """

    loss: Fraction
    one_way: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "loss", to_fraction("loss", self.loss))

    @property
    def of_threshold(self) -> Fraction:
        """The scale b."""
        return 1 / (SHARE * self.loss)

    @property
    def of_look(self) -> Fraction:
        """The scale c."""
        return (1 if self.one_way else 2) / ((1 - SHARE) * self.loss)

    def secret(self, entropy: Entropy = OS) -> int:
        """R: drawn once for an alarm. Whoever knows it learns more from each look than the proof says."""
        return int(geometric(self.of_threshold, 1, entropy)[0])

    def rings(self, number: int, threshold: int, secret: int, entropy: Entropy = OS) -> bool:
        """Whether a look at this number rings."""
        return number + int(geometric(self.of_look, 1, entropy)[0]) >= threshold + secret

    def late(self) -> int:
        """How far above the threshold a look is silent in at most 2.5 of 100 cases."""
        b, q, both = float(self.of_threshold), exp(-1 / float(self.of_look)), self._both
        return max(0, ceil(b * log((1 - q) / both / SELDOM)))

    def early(self, looks: int = YEAR) -> int:
        """How far below the threshold even this many looks ring in at most 2.5 of 100 cases."""
        c, q, both = float(self.of_look), exp(-1 / float(self.of_threshold)), self._both
        return max(0, ceil(c * log(looks * (1 - q) / both / SELDOM)))

    @property
    def _both(self) -> float:
        return -expm1(-1 / float(self.of_threshold) - 1 / float(self.of_look))
