"""Whose history is it? A few films somebody rated, about when, find her record among all.

Narayanan and Shmatikov, "Robust De-anonymization of Large Sparse Datasets", 2008: `eccentric` is their Scoreboard-RH.
`likely` is the likelihood ratio of "these are entries of this record" to "these are entries of anybody", which also
says how probable it is that the victim is not among the records at all. So its claims can be held to a rate of errors.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from nowiser.attacks.sparse.histories import Histories, Known
from nowiser.attacks.view import Floats, Goal, Guesses, View

RATING, DAYS = 1.5, 30.0  # how far a remembered rating and a remembered day are off
ECCENTRICITY = 1.5  # standard deviations between the best and the second best
WRONG = 0.2  # share of what he knows that is wrong
SURE = 0.99  # the chance at which `likely` makes a claim


def weights(histories: Histories) -> Floats:
    """Rare items count more: one over the logarithm of how many have them."""
    return 1.0 / np.log(np.maximum(np.diff(histories.start), 2))


def scoreboard(histories: Histories, weight: Floats, known: Known) -> Floats:
    """Scoreboard-RH: the score of every record."""
    score = np.zeros(histories.persons)
    for k, item in enumerate(known.item):
        at = histories.entries(int(item))
        if at.start == at.stop:
            continue
        gain = np.zeros(at.stop - at.start)
        told = False
        for own, other, scale in ((known.value, histories.value, RATING), (known.day, histories.day, DAYS)):
            if own is not None and other is not None and not np.isnan(own[k]):
                gain += np.exp(-np.abs(other[at] - own[k]) / scale)
                told = True
        np.add.at(score, histories.person[at], weight[item] * (gain if told else 1.0))
    return score


@dataclass(frozen=True, eq=False)
class Population:
    """How entries are spread over items, values and days in the release as a whole."""

    item: Floats  # the chance that an entry drawn from a record drawn at random is of this item
    values: Floats  # the different values, and how common each is
    common: Floats
    days: Floats  # ends of bins, and the density in each
    density: Floats

    @staticmethod
    def of(histories: Histories) -> "Population":
        each = 1.0 / np.maximum(histories.size[histories.person], 1) / histories.persons
        item = np.add.reduceat(np.append(each, 0.0), histories.start[:-1]) * (np.diff(histories.start) > 0)
        values, counts = np.unique(histories.value if histories.value is not None else np.zeros(1), return_counts=True)
        days = histories.day if histories.day is not None else np.zeros(1)
        density, ends = np.histogram(days, bins=50, range=(float(days.min()), float(days.max()) + 1.0), density=True)
        return Population(item, values, counts / counts.sum(), ends, density + 1e-9)

    def value_ratio(self, released: Floats, remembered: float) -> Floats:
        """How much likelier a remembered value is if the released one is hers than if it is anybody's."""
        kernel = np.exp(-np.abs(self.values[:, None] - self.values[None, :]) / (RATING / 3))
        kernel /= kernel.sum(axis=1, keepdims=True)  # what is released → what is remembered
        heard = int(np.argmin(np.abs(self.values - remembered)))
        return np.asarray((kernel[:, heard] / (self.common @ kernel)[heard])[np.searchsorted(self.values, released)])

    def day_ratio(self, released: Floats, remembered: float) -> Floats:
        where = int(np.clip(np.searchsorted(self.days, remembered) - 1, 0, len(self.density) - 1))
        scale = DAYS / 3
        return np.asarray(np.exp(-np.abs(released - remembered) / scale) / (2 * scale) / self.density[where])


def likelihood(histories: Histories, population: Population, known: Known) -> Floats:
    """For every record the logarithm of how much likelier what he knows is if it is hers than if it is nobody's."""
    score = np.full(histories.persons, len(known.item) * np.log(WRONG))
    for k, item in enumerate(known.item):
        at = histories.entries(int(item))
        if at.start == at.stop:
            continue
        who = histories.person[at]
        ratio = 1.0 / histories.size[who] / population.item[item]
        if known.value is not None and histories.value is not None and not np.isnan(known.value[k]):
            ratio = ratio * population.value_ratio(histories.value[at], float(known.value[k]))
        if known.day is not None and histories.day is not None and not np.isnan(known.day[k]):
            ratio = ratio * population.day_ratio(histories.day[at], float(known.day[k]))
        np.add.at(score, who, np.log((1 - WRONG) * ratio + WRONG) - np.log(WRONG))
    return score


def eccentricity(score: Floats) -> float:
    """How far the best record is from the second best, in standard deviations of all scores."""
    if len(score) < 2:
        return np.inf
    second, best = np.partition(score, -2)[-2:]
    spread = float(score.std())
    return float(best - second) / spread if spread > 0 else 0.0


def chance(score: Floats) -> float:
    """The chance that the best record is hers, if she is in the release with a chance of one half."""
    top = float(score.max())
    return float(1.0 / (np.exp(score - top).sum() + np.exp(np.log(len(score)) - top)))


@dataclass(frozen=True)
class Scoreboard:
    """One of both ways to score."""

    name: str
    way: Literal["eccentric", "likely"]
    knows: str = "some entries of the victim, with values and days where he knows them"
    goal: Goal = "row"
    against: str = "histories"
    source: str = "Narayanan and Shmatikov 2008"
    needs: frozenset[str] = frozenset({"histories"})
    minutes: float = 0.02

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        histories: Histories = view.more["histories"]
        known: list[Known] = view.more["known"]
        best = np.zeros(len(known), np.int64)
        sure = np.zeros(len(known))
        weight, population = weights(histories), Population.of(histories)
        for v, hers in enumerate(known):
            if self.way == "eccentric":
                score = scoreboard(histories, weight, hers)
                sure[v] = eccentricity(score)
            else:
                score = likelihood(histories, population, hers)
                sure[v] = chance(score)
            top = np.flatnonzero(score == score.max())
            best[v] = top[random.integers(len(top))]  # equal scores: one of them
        return Guesses.of(best, sure, sure < (ECCENTRICITY if self.way == "eccentric" else SURE))


ATTACKS = (Scoreboard("scoreboard", "eccentric"), Scoreboard("likelihood score", "likely"))
