"""Sums rounded in a known direction, and what doubles tell apart at a place.

The ends x ± r of a goal are no doubles in general. A goal that is rounded to a smaller one is guessed less often than
the real one, and far from zero a small goal would vanish altogether. So what is to bound from above is asked about the
goal rounded outward, and what is to bound from below about the goal rounded inward. Knuth's sum of two numbers says
exactly what a rounding lost, so that ends which are doubles stay what they are.
"""

import math

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.model.priors.base import Floats

EPS = 2.0**-52
FINEST = 256.0  # steps of the doubles that a radius must have at least: then its goal is at most 1 in 256 too wide


def below(a: Floats, b: Floats | float) -> Floats:
    """The largest doubles that are not above a + b."""
    total, lost = _sum(a, b)
    return np.where(lost < 0, np.nextafter(total, -np.inf), total)


def above(a: Floats, b: Floats | float) -> Floats:
    """The smallest doubles that are not below a + b."""
    total, lost = _sum(a, b)
    return np.where(lost > 0, np.nextafter(total, np.inf), total)


def grain(x: Floats, radius: float) -> Floats:
    """How far beyond the radius single values still count as inside it: 0.4 is within 0.1 of 0.3, also in doubles.

    Never so far that others come in where doubles are far apart: values a step of the doubles away from 1e9 are two
    values, for a radius smaller than that.
    """
    return np.minimum(4 * EPS * (np.abs(x) + radius), radius / 8)


def _sum(a: Floats, b: Floats | float) -> tuple[Floats, Floats]:
    """The rounded sum, and what is missing to the sum; nothing where it is infinite."""
    with np.errstate(invalid="ignore"):
        total = np.asarray(a + b)
        part = total - a
        return total, (a - (total - part)) + (b - part)


def goal(x: float, radius: float) -> tuple[float, float, float, float]:
    """The goal within the radius of one victim: its ends rounded outward, and rounded inward."""
    l, u = x - radius, x + radius
    part, rest = l - x, u - x
    low, high = (x - (l - part)) - (radius + part), (x - (u - rest)) + (radius - rest)
    inner = math.nextafter(l, math.inf) if low > 0 else l, math.nextafter(u, -math.inf) if high < 0 else u
    return math.nextafter(l, -math.inf) if low < 0 else l, math.nextafter(u, math.inf) if high > 0 else u, *inner


def tells(x: float, radius: float) -> bool:
    """Whether doubles around x are close enough to tell the goal within the radius of x from others."""
    return not radius or radius >= FINEST * math.ulp(abs(x) + radius)


def told(x: float, radius: float, what: str) -> float:
    """X itself, where `tells`; otherwise a refusal that says so."""
    if tells(x, radius):
        return x
    step = math.ulp(abs(x) + radius)
    raise Misconfigured(
        f"the radius must be at least {FINEST * step:.3g} to be told apart by floating-point numbers around {x:g} "
        f"({what}), which are {step:.3g} apart there, found {radius:g}",
        hint="Count from a nearer origin: subtract a constant from the prior and from the victim.",
    )
