"""Attackers who know all links: they match both graphs and read off what they want."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nowiser.attacks.graphs import matching
from nowiser.attacks.graphs.matching import Matched
from nowiser.attacks.view import Goal, Guesses, View

ALL_LINKS = "who is linked to whom, by name, in the original"
Match = Callable[[Any, Any, np.random.Generator], Matched]


@dataclass(frozen=True)
class Identity:
    """Which person of the release she is."""

    name: str
    match: Match
    source: str
    minutes: float
    knows: str = ALL_LINKS
    needs: frozenset[str] = frozenset({"graph"})
    goal: Goal = "row"
    against: str = "graphs"

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        found = matched(self.match, view, random)
        asked = view.more["asked"]
        return Guesses.of(found.place[asked], found.sure[asked], found.place[asked] < 0)


@dataclass(frozen=True)
class Friends:
    """Whether two people are linked: whether those he takes for them are."""

    name: str = "link by characteristic vectors"
    source: str = "Backstrom, Dwork and Kleinberg 2007"
    minutes: float = 0.2
    knows: str = "all other links, by name"
    needs: frozenset[str] = frozenset({"graph"})
    goal: Goal = "link"
    against: str = "graphs"

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        found = matched(matching.by_characteristic, view, random)
        asked, released = view.more["asked"], view.more["released"]
        one, two = found.place[asked[:, 0]], found.place[asked[:, 1]]
        silent = (one < 0) | (two < 0)
        linked = np.asarray(released[np.maximum(one, 0), np.maximum(two, 0)]).ravel() > 0
        sure = np.minimum(found.sure[asked[:, 0]], found.sure[asked[:, 1]])
        guess = np.where(silent, random.integers(2, size=len(asked)), linked.astype(np.int64))
        return Guesses.of(guess, sure)


@dataclass(frozen=True)
class Read:
    """Whether two people are linked: whether the release says so, of people whom he finds there by name."""

    name: str = "link read off"
    source: str = "what new names are worth, if they are found out"
    minutes: float = 0.01
    knows: str = "where everybody is in the release"
    needs: frozenset[str] = frozenset({"graph", "names"})
    goal: Goal = "link"
    against: str = "graphs"

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        asked, released, place = view.more["asked"], view.more["released"], view.more["place"]
        linked = np.asarray(released[place[asked[:, 0]], place[asked[:, 1]]]).ravel() > 0
        del random
        return Guesses.of(linked.astype(np.int64))


@dataclass(frozen=True)
class Label:
    """What is written beside whoever he takes for her."""

    name: str = "label by characteristic vectors"
    source: str = "Backstrom, Dwork and Kleinberg 2007"
    minutes: float = 0.2
    knows: str = ALL_LINKS
    needs: frozenset[str] = frozenset({"graph", "label"})
    goal: Goal = "value"
    against: str = "graphs"

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        found = matched(matching.by_characteristic, view, random)
        asked, labels = view.more["asked"], view.more.get("labels")
        if labels is None:  # not released: nothing to read
            return Guesses.of(np.full(len(asked), ""), None, np.ones(len(asked), bool))
        place = found.place[asked]
        return Guesses.of(labels[np.maximum(place, 0)], found.sure[asked], place < 0)


def matched(match: Match, view: View, random: np.random.Generator) -> Matched:
    return match(view.more["known"], view.more["released"], random)


def _from_seeds(view: View, random: np.random.Generator) -> Matched:
    return matching.by_propagation(view.more["known"], view.more["released"], view.more["seeds"], random)


@dataclass(frozen=True)
class Seeds:
    """From some people whom he finds for certain to everybody."""

    name: str = "propagation from seeds"
    source: str = "Narayanan and Shmatikov 2009"
    minutes: float = 0.1
    knows: str = "all links by name, and where some people are in the release"
    needs: frozenset[str] = frozenset({"graph", "seeds"})
    goal: Goal = "row"
    against: str = "graphs"

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        found = _from_seeds(view, random)
        asked = view.more["asked"]
        sure = np.where(np.isinf(found.sure), found.sure[np.isfinite(found.sure)].max(initial=0.0) + 1, found.sure)
        return Guesses.of(found.place[asked], sure[asked], found.place[asked] < 0)


ATTACKS = (
    Identity("degree", matching.by_degree, "Hay, Miklau, Jensen, Weis and Srivastava 2007", 0.01),
    Identity("neighbourhood", matching.by_neighbourhood, "Zhou and Pei 2008", 0.05),
    Identity("characteristic vectors", matching.by_characteristic, "the lecture's S(i, j), with assignment", 0.1),
    Seeds(),
    Friends(),
    Read(),
    Label(),
)
