"""Is she in the study? Published averages of many attributes tell, from her own attributes alone.

Homer et al., "Resolving Individuals Contributing Trace Amounts of DNA to Highly Complex Mixtures", 2008; the score test
of Sankararaman et al., "Genomic privacy and limits of individual detection in a pool", 2009, which no test beats for
independent attributes. With n persons and d attributes it separates members by √(d/n) standard deviations.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from nowiser.attacks.view import Bools, Floats, Goal, Guesses, View


def scores(records: NDArray[np.generic], published: Floats, outside: Floats) -> Floats:
    """One number for each record: near √(d/n) for members, near 0 for outsiders, with a spread of about 1.

    records: 0/1, one row a person. published: the averages of the release. outside: those of people in general.
    """
    spread = outside * (1 - outside)
    use = spread > 0  # what everybody or nobody has tells nothing
    step = (published[use] - outside[use]) / spread[use]
    found = (records[:, use].astype(np.float64) - outside[use]) @ step
    size = float(np.sqrt(step**2 @ spread[use]))
    return np.asarray(found / size if size > 0 else np.zeros(len(records)))


@dataclass(frozen=True)
class Membership:
    """How well scores tell members from outsiders."""

    auc: float  # a member's score beats an outsider's
    at_one_percent: float  # share of members found when 1 % of the outsiders are accused
    advantage: float  # largest difference of both shares


def separation(members: Floats, outsiders: Floats) -> Membership:
    cut = np.quantile(outsiders, 0.99)
    both = np.sort(np.concatenate([members, outsiders]))
    above_in = 1 - np.searchsorted(np.sort(members), both) / len(members)
    above_out = 1 - np.searchsorted(np.sort(outsiders), both) / len(outsiders)
    ranked = np.sort(outsiders)
    left, right = np.searchsorted(ranked, members), np.searchsorted(ranked, members, side="right")
    auc = float((left + right).mean() / 2 / len(outsiders))
    return Membership(auc, float((members > cut).mean()), float(max(0.0, (above_in - above_out).max())))


def expected(persons: int, attributes: int) -> Membership:
    """What the best test reaches on independent attributes: members are √(d/n) standard deviations away."""
    mu = np.sqrt(attributes / persons)
    at_one = float(norm.cdf(mu - norm.ppf(0.99)))
    return Membership(float(norm.cdf(mu / np.sqrt(2))), at_one, float(2 * norm.cdf(mu / 2) - 1))


@dataclass(frozen=True)
class ScoreTest:
    name: str = "membership in averages"
    goal: Goal = "presence"
    against: str = "averages"
    knows: str = "the victim's attributes, and how common each is among people in general"
    source: str = "Homer et al. 2008; Sankararaman et al. 2009"
    needs: frozenset[str] = frozenset({"averages"})
    minutes: float = 0.01

    def guess(self, view: View, random: np.random.Generator) -> Guesses:  # noqa: ARG002 (he tosses no coins)
        score = scores(view.more["records"], view.more["averages"], view.more["outside"])
        # members are centred at √(d/n), outsiders at 0: halfway between
        middle = np.sqrt(len(view.more["averages"]) / view.more["persons"]) / 2
        claims: Bools = score > middle
        return Guesses.of(claims.astype(np.int64), np.abs(score - middle))


ATTACK = ScoreTest()
