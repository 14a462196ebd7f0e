"""The last bits of floating-point noise: many totals could only have come from one of two databases.

Mironov, "On Significance of the Least Significant Bits For Differential Privacy", 2012. A textbook sampler turns a
number with 53 bits into −b·sgn(u)·ln(1 − 2|u|): its outputs have gaps, and a gap moved by 1 is another gap.
"""

from dataclasses import dataclass

import numpy as np

from nowiser.attacks.gateways.desk import EXACT, Desk
from nowiser.attacks.view import Goal, Guesses, View

BITS = 2.0**-53
NEAR = 4  # neighbouring outputs of the sampler that are tried on either side


def textbook(scale: float, random: np.random.Generator) -> float:
    """Laplace noise as textbooks draw it, in doubles."""
    u = float(random.random()) - 0.5
    return float(-scale * np.sign(u) * np.log(1 - 2 * np.abs(u)))


def could_be(total: float, part: float, scale: float) -> bool:
    """Whether part + textbook noise can be this double at all."""
    z = total - part
    k = np.round(-np.expm1(-abs(z) / scale) / 2 / BITS)
    u = (k + np.arange(-NEAR, NEAR + 1)) * BITS
    u = u[(u >= 0) & (u <= 0.5)]
    with np.errstate(divide="ignore"):
        noise = -scale * np.sign(z) * np.log(1 - 2 * u)
    return bool((part + noise == total).any())


@dataclass(frozen=True)
class Precision:
    name: str = "low bits"
    goal: Goal = "value"
    against: str = "gateways"
    knows: str = "every other person's secret, and how noise is drawn in doubles"
    source: str = "Mironov 2012"
    needs: frozenset[str] = frozenset({"desks", "two values"})
    minutes: float = 0.3

    def guess(self, view: View, random: np.random.Generator) -> Guesses:  # noqa: ARG002 (he tosses no coins)
        desks = view.more["desks"]
        values, sure = np.zeros(len(desks)), np.zeros(len(desks))
        for v, sit_down in enumerate(desks):
            desk: Desk = sit_down()
            values[v] = desk.secret.best(desk.secret.masses)[0]
            decided = decide(desk)
            if decided is not None:
                values[v], sure[v] = decided, 1.0
        return Guesses.of(values, sure, sure == 0)


def decide(desk: Desk) -> float | None:
    """The only value that the last bits of one answer allow; None where they allow several, or none."""
    where, alike = desk.alike()  # few people: a small total has more digits below the point
    if desk.total(where, alike, 1.0) is None:
        return None
    told = desk.told[-1]
    others = float(desk.others[alike].sum())
    parts = desk.secret.parts
    if told.scale == EXACT:
        fits = np.abs(others + parts - told.total) < EXACT
    elif told.total == np.round(told.total):
        return None  # a whole number: nothing below the point to look at
    else:
        fits = np.array([could_be(told.total, others + float(p), told.scale) for p in parts])
    return float(desk.secret.values[fits][0]) if fits.sum() == 1 else None


ATTACK = Precision()
