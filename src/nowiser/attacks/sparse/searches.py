"""Who searched for this? A log of searches under numbers, and a few words that an outsider knows of a person.

People search for their own name, street, town, family and hobbies. Words that few use weigh most: the sum of the
logarithms of how rare each known word is (Spärck Jones 1972) finds the record. Barbaro and Zeller, "A Face Is Exposed
for AOL Searcher No. 4417749", 2006.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nowiser.attacks.view import Floats, Goal, Guesses, Ints, View

MARGIN = 2.0  # nats between the best and the second best, before he names somebody


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


@dataclass(frozen=True, eq=False)
class Index:
    """word → which records use it, and how often."""

    records: int
    used: dict[str, tuple[Ints, Floats]]

    @staticmethod
    def of(records: Sequence[Sequence[str]]) -> "Index":
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, texts in enumerate(records):
            for word, times in Counter(w for t in texts for w in words(t)).items():
                found[word].append((number, times))
        return Index(
            len(records),
            {w: (np.array([r for r, _ in at]), np.array([t for _, t in at], np.float64)) for w, at in found.items()},
        )

    def scores(self, known: Sequence[str]) -> Floats:
        """For every record: the rarity of the known words that it uses, a little more for those used often."""
        score = np.zeros(self.records)
        for word in {w for text in known for w in words(text)}:
            if word in self.used:
                who, times = self.used[word]
                score[who] += np.log(self.records / len(who)) * (1 + 0.1 * np.log(times))
        return score


@dataclass(frozen=True)
class Searches:
    name: str = "search log"
    goal: Goal = "row"
    against: str = "search log"
    knows: str = "words the victim is known by: name, street, town, hobbies"
    source: str = "Barbaro and Zeller 2006"
    needs: frozenset[str] = frozenset({"texts"})
    minutes: float = 0.01

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        index = Index.of(view.more["texts"])
        known: Sequence[Sequence[str]] = view.more["known"]
        best, margin = np.zeros(len(known), np.int64), np.zeros(len(known))
        for v, hers in enumerate(known):
            score = index.scores(hers)
            top = np.flatnonzero(score == score.max())
            best[v] = top[random.integers(len(top))]
            margin[v] = 0.0 if len(top) > 1 else score.max() - np.partition(score, -2)[-2] if len(score) > 1 else np.inf
        return Guesses.of(best, margin, margin < MARGIN)


ATTACK = Searches()
