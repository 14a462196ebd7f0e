"""Gradient descent on noisy sums of shortened gradients.

A step reads one vector of whole numbers off the rows: the sum of a vector for each row, none longer than a bound. What
happens with the noisy sum (momentum, ridge, the mean of the last parameters) is post-processing.

*Linear scores.* The gradient of one row at scores z = x·θ is x times a vector of residuals, one for each class. Its
length is that of the row times that of the residuals, so shortening it to a bound is multiplying residuals by one
number: no gradient of a single row is ever formed. Residuals are whole numbers of 1/WEIGHT, rows of 1/UNIT, so the
bound holds for what is summed, rounding included. Scores are exact whole numbers too, and a table turns them into
residuals, so the part of one person depends on her rows and public parameters alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

import numpy as np

from nowiser.learn.rows import EXACT, UNIT, WEIGHT, Floats, Rows, Whole, clipped

LENGTH = UNIT * WEIGHT  # parts of the length of a gradient

Residuals = Callable[[Floats], Whole]  # scores of all rows → whole weights of 1/WEIGHT
Sums = Callable[[Floats], Whole]  # parameters → the exact sum of shortened gradients, in parts of LENGTH


@dataclass(frozen=True)
class Descent:
    """momentum: what a step keeps of the last one; ridge: how much parameters are drawn to zero."""

    steps: int
    rate: float
    momentum: float
    ridge: float = 0.0

    def run(self, theta: Floats, sums: Sums, noisy: Callable[[Whole], Any], people: float) -> Floats:
        """Parameters, the mean of the last sixth of all steps. `noisy` buys what one step reads of the rows."""
        velocity, kept = np.zeros_like(theta), np.zeros_like(theta)
        last = max(1, self.steps // 6)
        for step in range(self.steps):
            gradient = noisy(sums(theta)) / LENGTH / people + self.ridge * theta
            velocity = self.momentum * velocity - self.rate * gradient
            theta = theta + velocity
            if step >= self.steps - last:
                kept += theta / last
        return kept


def reach_of(clip: float) -> Fraction:
    """The squared length of the longest gradient that counts, in parts of LENGTH."""
    return Fraction(floor(clip * LENGTH)) ** 2


def linear_sums(rows: Rows, residuals: Residuals, clip: float) -> Sums:
    """For scores that are rows times parameters (columns × outputs)."""
    most = np.maximum(floor(clip * LENGTH) // rows.lengths, 0)

    def sums(theta: Floats) -> Whole:
        return rows.summed(clipped(residuals(scores_of(rows, theta)), most))

    return sums


def scores_of(rows: Rows, theta: Floats) -> Floats:
    """Rows times parameters, exactly: nobody's scores depend on other rows."""
    scores: Floats = rows.times(in_units(theta, rows.width)) / (UNIT * grid(rows.width))
    return scores


def grid(width: int) -> int:
    """Parts of a parameter: as many as leave room for sizes up to 2^14 in exact products."""
    return 1 << max(8, min(24, (EXACT // (UNIT * max(1, width))).bit_length() - 16))


def in_units(theta: Floats, width: int) -> Whole:
    """Parameters as whole numbers, small enough that scores are exact."""
    most = (EXACT // (UNIT * max(1, width))) - 1
    return np.clip(np.rint(theta * grid(width)), -most, most).astype(np.int64)
