"""How attackers of gateways ask: once, again and again, in other words, about all but her, about parts, around a rule.

Each is a function that asks at a desk; what the answers say about the victim is worked out there.
Denning, Denning and Schwartz, "The Tracker", 1979; Dinur and Nissim 2003; Gadotti et al., "When the Signal is in the
Noise", 2019 (sticky noise).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nowiser.attacks.gateways.desk import Desk, quoted
from nowiser.attacks.view import Bools, Goal, Guesses, View

ASKINGS = 100
Strategy = Callable[[Desk, np.random.Generator], None]


def one_shot(desk: Desk, random: np.random.Generator) -> None:  # noqa: ARG001 (he tosses no coins)
    """The whole allowance on one question about everybody."""
    desk.total("", desk.everybody(), 1.0)


def repeat(desk: Desk, random: np.random.Generator) -> None:  # noqa: ARG001
    """The same question again and again: fresh noise would average out."""
    for _ in range(ASKINGS):
        desk.total("", desk.everybody(), 1 / ASKINGS)
        if desk.done:
            return


def reword(desk: Desk, random: np.random.Generator) -> None:  # noqa: ARG001
    """The same question in other words: noise that sticks to the text would average out."""
    for k in range(ASKINGS):
        words = ("", " ", f"{k} = {k}", f"NOT ({k} = {k + 1})", f"{k} < {k + 1}")[k % 5 if k > 1 else k]
        desk.total(words.strip(), desk.everybody(), 1 / ASKINGS, " " * k)
        if desk.done:
            return


def differencing(desk: Desk, random: np.random.Generator) -> None:  # noqa: ARG001
    """How many have it; how many but her (and those who look like her) have it."""
    where, alike = desk.alike()
    desk.total("", desk.everybody(), 0.5)
    desk.total(f"NOT ({where})", ~alike, 0.5)


def tracker(desk: Desk, random: np.random.Generator) -> None:
    """Around a rule that refuses small and large sets: her together with a half of all, and the halves alone."""
    where, alike = desk.alike()
    half = split(desk, random)
    if half is None:
        return
    text, inside = half
    desk.total(f"({where}) OR {text}", alike | inside, 0.25)
    desk.total(f"({where}) OR NOT {text}", alike | ~inside, 0.25)
    desk.total(text, inside, 0.25)
    desk.total(f"NOT {text}", ~inside, 0.25)


def partitions(desk: Desk, random: np.random.Generator) -> None:
    """Her together with ever other people: noise that sticks to the set of people would average out."""
    where, alike = desk.alike()
    for _ in range(ASKINGS):
        half = split(desk, random)
        if half is None or desk.done:
            return
        desk.total(f"({where}) OR {half[0]}", alike | half[1], 1 / ASKINGS)


def split(desk: Desk, random: np.random.Generator) -> tuple[str, Bools] | None:
    """A condition on one public column that holds for about half of all, and whom it holds for."""
    columns = [c for c, values in desk.public.items() if len(np.unique(values)) > 1]
    if not columns:
        return None
    column = columns[int(random.integers(len(columns)))]
    values = np.unique(desk.public[column])
    chosen = random.permutation(values)[: len(values) // 2]
    text = f"({column} IN ({', '.join(quoted(str(v)) for v in chosen)}))"
    return text, np.isin(desk.public[column], chosen)


@dataclass(frozen=True)
class Asking:
    """One strategy as an attack: for each victim at a desk of her own."""

    name: str
    ask: Strategy
    knows: str
    source: str
    minutes: float
    questions: int = 1  # for each victim
    goal: Goal = "value"
    against: str = "gateways"
    needs: frozenset[str] = frozenset({"desks"})

    def guess(self, view: View, random: np.random.Generator) -> Guesses:
        desks: list[Callable[[], Desk]] = view.more["desks"]
        values, sure = np.zeros(len(desks)), np.zeros(len(desks))
        course: tuple[float, ...] = ()
        for v, sit_down in enumerate(desks):
            desk = sit_down()
            self.ask(desk, random)
            values[v], sure[v] = desk.guess()
            course = course or desk.course()
        return Guesses.of(values, sure, course=course)


_ALL = "every other person's secret, and how values are distributed"
ATTACKS = (
    Asking("one question", one_shot, _ALL, "THEORY section 2", 0.3),
    Asking("repeating", repeat, _ALL, "folklore; averaging of fresh noise", 1.0, ASKINGS),
    Asking("rewording", reword, _ALL, "Fellegi and Phillips 1974; Gadotti et al. 2019", 1.0, ASKINGS),
    Asking("differencing", differencing, _ALL, "Denning 1982: all, and all but one", 0.5, 2),
    Asking("tracker", tracker, _ALL, "Denning, Denning and Schwartz 1979", 0.6, 4),
    Asking("partitions", partitions, _ALL, "Gadotti et al. 2019", 1.5, ASKINGS),
)
