"""What an attacker of a gateway works with: one victim, a gateway opened for it alone, and everybody else's secrets.

Every attack here asks for totals over sets of people, told apart by public columns. He knows what the others add to a
total, so each answer is the victim's part and noise; `Desk.guess` combines all answers by Bayes' rule.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nowiser.attacks.view import Bools, Floats
from nowiser.errors import Refused

PATIENCE = 5
EXACT = 1e-6  # the scale he takes an exact answer to have


@dataclass(frozen=True, eq=False)
class Secret:
    """What is guessed: the values a victim may have, how likely they are, and which guesses count as right."""

    values: Floats  # numbers; a category by its place, presence 0 or 1
    masses: Floats
    within: float = 0.0  # how near a guess must come
    # the total that is asked for: `SELECT <measure> FROM <table> WHERE <condition> AND …`
    measure: str = "COUNT(*)"
    condition: str | None = None
    part: Floats | None = None  # what each value adds to the total; None: the value itself

    @property
    def parts(self) -> Floats:
        return self.values if self.part is None else self.part

    def best(self, masses: Floats) -> tuple[float, float]:
        """The best guess for these chances, and how likely it is to be right."""
        order = np.argsort(self.values)
        x, total = self.values[order], np.concatenate([[0.0], np.cumsum(masses[order])])
        left = np.searchsorted(x, x - 1e-9)
        right = np.searchsorted(x, x + 2 * self.within + 1e-9, side="right")  # windows that begin at a value
        chance = total[right] - total[left]
        k = int(np.argmax(chance))
        return float(min(x[k] + self.within, x[-1])), float(chance[k])


@dataclass(frozen=True, eq=False)
class Told:
    """One answer: about whom, the total, and the scale of its Laplace noise."""

    about: Bools
    total: float
    scale: float


@dataclass(eq=False)
class Desk:
    """One victim. `ask(sql, share of the allowance)` gives the total and its 95 % half-width, or raises Refused."""

    ask: Callable[[str, float], tuple[float, float]]
    table: str
    secret: Secret
    public: Mapping[str, NDArray[np.str_]]  # public columns of everybody, the victim among them
    others: Floats  # the part of everybody in a total; 0 at the victim's place
    victim: int
    told: list[Told] = field(default_factory=list)
    idle: int = 0  # askings in a row that told nothing new

    @property
    def done(self) -> bool:
        """Whether more of the same is of no use: it is exact, or is refused or repeated all the time."""
        return self.idle >= PATIENCE or (bool(self.told) and self.told[-1].scale == EXACT)

    def everybody(self) -> Bools:
        return np.ones(len(self.others), bool)

    def alike(self) -> tuple[str, Bools]:
        """The condition that public columns allow to say about her, and whom it is true of."""
        texts, mask = [], self.everybody()
        for column, values in self.public.items():
            own = str(values[self.victim])
            texts.append(f"{column} = {quoted(own)}")
            mask &= values == own
        return " AND ".join(texts) or "TRUE", mask

    def total(self, where: str, about: Bools, share: float, tail: str = "") -> float | None:
        """Ask for a total; None where it is refused, or where it is word for word an answer given before."""
        both = [f"({w})" for w in (self.secret.condition, where) if w]
        rest = f" WHERE {' AND '.join(both)}" if both else ""
        sql = f"SELECT {self.secret.measure} FROM {self.table}{rest}"  # noqa: S608 (an attacker, on a copy)
        try:
            total, width = self.ask(sql + tail, share)
        except Refused:
            self.idle += 1
            return None
        scale = max(width / np.log(20), EXACT)
        if any(t.total == total and t.scale == scale and (t.about == about).all() for t in self.told):
            self.idle += 1
            return None  # the same answer again
        self.idle = 0
        self.told.append(Told(about, total, scale))
        return total

    def chances(self, answers: int | None = None) -> Floats:
        """The posterior of her values after all answers, or the first so many."""
        with np.errstate(divide="ignore"):
            logs = np.log(self.secret.masses)
        for t in self.told[:answers]:
            rest = t.total - float(self.others[t.about].sum())
            own = self.secret.parts if t.about[self.victim] else np.zeros(len(logs))
            logs = logs - np.abs(rest - own) / t.scale
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    def guess(self) -> tuple[float, float]:
        return self.secret.best(self.chances())

    def course(self) -> tuple[float, ...]:
        """How likely the best guess is, before any answer and after each."""
        return tuple(self.secret.best(self.chances(k))[1] for k in range(len(self.told) + 1))


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def one_number(answer: Any) -> tuple[float, float]:
    """The only cell of an answer, and its 95 % half-width (0: exact)."""
    value = answer.rows[0][0]
    width: float | Sequence[float] | None = answer.error[0]
    bar = width[0] if isinstance(width, list) else width
    return float(value or 0.0), float(bar or 0.0)  # type: ignore[arg-type]
