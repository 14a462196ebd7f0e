"""Full-batch gradient descent on whole numbers: every step releases one noisy sum of shortened gradients.

The gradient of one row at scores z = x·θ is x times a vector of residuals, one for each class. Its length is that of
the row times that of the residuals, so shortening it to a bound is multiplying residuals by one number: no gradient of
a single row is ever formed. Residuals are whole numbers of 1/WEIGHT, rows of 1/UNIT, so the bound holds for what is
summed, rounding included. Scores are exact whole numbers too, and a table turns them into residuals, so the part of
one person depends on her rows and public parameters alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import floor

import numpy as np

from nowiser.learn.rows import EXACT, UNIT, WEIGHT, Floats, Rows, Whole, clipped
from nowiser.learn.spending import Spending

Residuals = Callable[[Floats], Whole]  # scores of all rows → whole weights of 1/WEIGHT


@dataclass(frozen=True)
class Descent:
    """steps: of noisy gradients. clip: the longest one of a row. momentum: what a step keeps of the last one."""

    steps: int
    rate: float
    momentum: float
    ridge: float
    clip: float

    def run(self, rows: Rows, residuals: Residuals, outputs: int, people: float, spending: Spending) -> Floats:
        """Parameters (columns × outputs), the mean of the last sixth of all steps. Spends what is left."""
        rho = spending.left / self.steps
        theta = np.zeros((rows.width, outputs))
        velocity, kept = theta.copy(), theta.copy()
        last = max(1, self.steps // 6)
        most = np.maximum(floor(self.clip * UNIT * WEIGHT) // rows.lengths, 0)
        reach = Fraction(floor(self.clip * UNIT * WEIGHT)) ** 2
        for step in range(self.steps):
            whole = in_units(theta, rows.width)
            scores = rows.times(whole) / (UNIT * grid(rows.width))
            weights = clipped(residuals(scores), most)
            noisy = spending.noisy("gradients", rows.summed(weights), reach, rho)
            gradient = noisy / (UNIT * WEIGHT) / people + self.ridge * theta
            velocity = self.momentum * velocity - self.rate * gradient
            theta = theta + velocity
            if step >= self.steps - last:
                kept += theta / last
        return kept


def grid(width: int) -> int:
    """Parts of a parameter: as many as leave room for sizes up to 2^14 in exact products."""
    return 1 << max(8, min(24, (EXACT // (UNIT * max(1, width))).bit_length() - 16))


def in_units(theta: Floats, width: int) -> Whole:
    """Parameters as whole numbers, small enough that scores are exact."""
    most = (EXACT // (UNIT * max(1, width))) - 1
    return np.clip(np.rint(theta * grid(width)), -most, most).astype(np.int64)
