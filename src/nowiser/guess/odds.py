"""Shares and odds, rounded to the unfavourable side."""

import math
from typing import Any

import numpy as np

from nowiser.guess.density.line import EPS


def lifted(odds: Any, jump: float) -> Any:
    """The posterior from odds that a jump multiplies; rounded up (down for a negative jump)."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        scaled = odds * np.exp(min(jump, 709.0)) if jump < 709 else np.where(np.asarray(odds) > 0, np.inf, 0.0)
        share = np.where(np.isinf(scaled), 1.0, scaled / (1 + np.where(np.isinf(scaled), 0.0, scaled)))
    return np.clip(share * (1 + math.copysign(8 * EPS, jump or 1.0)), 0.0, 1.0)


def odds_of(share: Any) -> Any:
    with np.errstate(divide="ignore"):
        return np.asarray(share) / (1 - np.asarray(share))
