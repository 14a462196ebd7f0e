"""The games attacks play: who the victims are, what is known of them, and the truth that only the harness has."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from nowiser.attacks.curves import Curve
from nowiser.attacks.view import Attack, Bools, Floats, Guesses, Ints, Run, View


@dataclass(frozen=True, eq=False)
class Trial:
    """One run of one attack: what he sees, and how his guesses are judged (code he cannot reach)."""

    view: View
    right: Callable[[Guesses], Bools]  # for each victim
    before: Bools | float  # whether the best guess without the release is right for each victim; or its known chance
    persons: Ints | None = None  # whose each victim is, where a person is tried more than once
    figures: Callable[[Guesses], Mapping[str, float]] | None = None  # further ones, such as AUC
    curve: Callable[[Guesses], Curve] | None = None
    twin: "Trial | None" = None  # of people outside: the same people in a release of the same size


class Game(Protocol):
    """A release (or a gateway, a graph) and its truth."""

    @property
    def against(self) -> str: ...  # the room of its attackers
    @property
    def offers(self) -> frozenset[str]: ...  # what its views hold besides the victims

    def trial(
        self, attack: Attack, run: Run, victims: int, random: np.random.Generator, *, fresh: bool = False
    ) -> Trial | str:
        """A trial with at most so many victims, or in words why there is none. Fresh ones were not tried before."""


TOO_FEW = "too few records to take some of them out"


def most_masked(records: int) -> int:
    """How many records are taken out at once, to see whom he names although the victim's is not there."""
    return records // 5


def surest(confidence: Floats, share: float, random: np.random.Generator) -> Ints:
    """The victims he is surest of, so large a share of all; ties are broken at random."""
    order = np.lexsort((random.random(len(confidence)), -confidence))
    return order[: max(1, int(np.ceil(share * len(confidence))))]
