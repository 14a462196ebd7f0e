"""Games on a released graph: who is she, are these two linked, what is her label."""

from dataclasses import dataclass, field

import numpy as np

from nowiser.attacks.drawn import drawn
from nowiser.attacks.sparse.game import Matches, numbered
from nowiser.attacks.victims import Trial
from nowiser.attacks.view import Attack, Bools, Guesses, Ints, Run, View
from nowiser.graphs.graph import Graph, Names

NO_ONE = "whoever is not in the graph is not found in it"
UNLINKED = "there are too few links to hide some of them from an attacker"


@dataclass(frozen=True, eq=False)
class Links:
    """A released graph and its original; `place[i]` is where person i of the original is in the release, or -1.

    seeds: people of the original whom the attacker finds in the release for certain. label: the column he guesses.
    """

    original: Graph
    released: Graph
    place: Ints
    seeds: Ints | None = None
    label: str | None = None
    against: str = field(default="graphs", init=False)

    @property
    def offers(self) -> frozenset[str]:
        has = {"graph"} | ({"seeds"} if self.seeds is not None else set()) | ({"label"} if self.label else set())
        return frozenset(has | {"names"})

    def trial(
        self, attack: Attack, run: Run, victims: int, random: np.random.Generator, *, fresh: bool = False
    ) -> Trial | str:
        if run == "outside":
            return NO_ONE
        shown, place = (self.original, np.arange(self.original.people)) if run == "unprotected" else _of(self)
        there = np.flatnonzero(place >= 0)
        order, hidden = random.permutation(shown.people), random.permutation(self.original.people)
        shown = shown.renumbered(order)  # neither numbers nor names tell anything
        place = np.where(place >= 0, order[place], -1)
        if attack.goal == "link":
            return self._pairs(attack, (shown, place, hidden), victims, random, fresh=fresh)
        if "seeds" in attack.needs and self.seeds is not None:  # of whom he need not guess
            there = np.setdiff1d(there, self.seeds)
        who = there[drawn(len(there), victims, random, fresh=fresh)]
        more = self._seen(attack, self.original, shown, hidden, place)
        view = View(known=numbered(len(who)), more=more | {"asked": hidden[who]})
        if attack.goal == "row":
            return Trial(view, Matches(place[who]), 1 / shown.people)
        true = self.original.labels[str(self.label)][who]
        values, counts = np.unique(self.original.labels[str(self.label)], return_counts=True)
        return Trial(view, Same(true), np.asarray(true == values[np.argmax(counts)]))

    def _seen(self, attack: Attack, known: Graph, shown: Graph, hidden: Ints, place: Ints) -> dict[str, object]:
        more: dict[str, object] = {"known": known.renumbered(hidden).adjacency, "released": shown.adjacency}
        if "names" in attack.needs:
            where = np.full(known.people, -1, np.int64)
            where[hidden] = place
            more["place"] = where
        if self.seeds is not None:
            seeds = np.full(known.people, -1, np.int64)
            seeds[hidden[self.seeds]] = place[self.seeds]
            more["seeds"] = seeds
        if self.label is not None and self.label in shown.labels:
            more["labels"] = shown.labels[self.label]
        return more

    def _pairs(
        self,
        attack: Attack,
        release: tuple[Graph, Ints, Ints],
        victims: int,
        random: np.random.Generator,
        *,
        fresh: bool,
    ) -> Trial | str:
        """Half of the pairs are linked, half are not; he knows every link but those of the pairs he is asked about."""
        shown, place, hidden = release
        there = np.flatnonzero(place >= 0)
        inside = np.isin(self.original.links, there).all(axis=1)
        links = self.original.links[inside]
        many = min(max(1, victims // 2), len(links) // 10)
        if not many:
            return UNLINKED
        linked = links[drawn(len(links), many, random, fresh=fresh)]
        apart = np.zeros((0, 2), np.int64)
        while len(apart) < many:
            pairs = there[random.integers(len(there), size=(2 * many, 2))]
            fits = (pairs[:, 0] != pairs[:, 1]) & ~self.original.linked(pairs[:, 0], pairs[:, 1])
            apart = np.concatenate([apart, pairs[fits]])[:many]
        mixed = random.permutation(2 * many)
        asked = np.concatenate([linked, apart])[mixed]
        left = np.isin(self.original.keys, self.original.with_links(linked).keys, invert=True)
        known = self.original.with_links(self.original.links[left])
        more = self._seen(attack, known, shown, hidden, place)
        view = View(known=numbered(len(asked)), more={**more, "asked": hidden[asked]})
        return Trial(view, Same(np.repeat([1, 0], many)[mixed]), 0.5)


@dataclass(frozen=True, eq=False)
class Same:
    """Right is who says what is true."""

    true: Names

    def __call__(self, guesses: Guesses) -> Bools:
        return np.asarray(guesses.value == self.true)


def _of(game: Links) -> tuple[Graph, Ints]:
    return game.released, game.place
