"""Games of sparse histories: a release under numbers, and a few entries that are known of each victim."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from nowiser.attacks.drawn import drawn
from nowiser.attacks.sparse.histories import Histories, Known
from nowiser.attacks.victims import TOO_FEW, Trial, most_masked
from nowiser.attacks.view import Attack, Bools, Floats, Guesses, Ints, Run, View
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable


@dataclass(frozen=True, eq=False)
class Films:
    """Ratings of films. The attacker remembers `m` entries of each victim, a little wrong.

    fields: what is released and remembered besides the films: `value`, `day`. released: with other histories in it
    than the victims' own, nothing can be found.
    """

    original: Histories
    released: Histories
    known: int = 4
    fields: frozenset[str] = frozenset({"value", "day"})
    wrong: int = 0  # of the entries he remembers
    off_value: float = 1.0  # at most so far
    off_days: float = 14.0
    against: str = field(default="histories", init=False)
    offers: frozenset[str] = field(default=frozenset({"histories"}), init=False)

    def trial(
        self, attack: Attack, run: Run, victims: int, random: np.random.Generator, *, fresh: bool = False
    ) -> Trial | str:
        del attack
        here = self.original if run == "unprotected" else self.released
        enough = np.flatnonzero(self.original.size >= self.known)
        who = enough[drawn(len(enough), victims, random, fresh=fresh)]
        if run == "outside":
            who = who[: most_masked(here.persons)]
            if not len(who):
                return TOO_FEW
            here = here.without(who)
        known = [self.remembered(int(v), random) for v in who]
        more = {"histories": self._shown(here), "known": known}
        return Trial(View(known=numbered(len(who)), more=more), Matches(who), 1 / self.original.persons)

    def remembered(self, person: int, random: np.random.Generator) -> Known:
        """A few entries of one person, as they are remembered."""
        own = np.flatnonzero(self.original.person == person)
        chosen = random.permutation(own)[: self.known]
        items = np.searchsorted(self.original.start, chosen, side="right") - 1
        many = len(chosen)
        value = _blurred(self.original.value, chosen, self.off_value, random) if "value" in self.fields else None
        day = _blurred(self.original.day, chosen, self.off_days, random) if "day" in self.fields else None
        if self.wrong:
            items[: self.wrong] = random.integers(0, len(self.original.start) - 1, min(self.wrong, many))
        return Known(items, value, day)

    def _shown(self, all_of: Histories) -> Histories:
        return Histories(
            all_of.persons,
            all_of.person,
            all_of.start,
            all_of.value if "value" in self.fields else None,
            all_of.day if "day" in self.fields else None,
            all_of.size,
        )


@dataclass(frozen=True, eq=False)
class Trails:
    """Which places published each person's record, and which listed each name. Row i of both is person i.

    complete: nothing is missing in either, as attackers may know; else some places of a person's record are.
    """

    names: Bools  # people × places
    records: Bools
    complete: bool = True
    against: str = field(default="trails", init=False)
    offers: frozenset[str] = field(default=frozenset({"trails"}), init=False)

    def trial(
        self, attack: Attack, run: Run, victims: int, random: np.random.Generator, *, fresh: bool = False
    ) -> Trial | str:
        del attack
        n = len(self.names)
        names, records = self.names, self.records
        if run == "unprotected":  # no trail is, or covers, another
            bits = np.arange(n)[:, None] >> np.arange(max(1, int(n - 1).bit_length())) & 1 == 1
            names = records = np.hstack([bits, ~bits])
        order, shown = random.permutation(n), random.permutation(n)
        place = np.empty(n, np.int64)
        place[order] = np.arange(n)
        own = np.empty(n, np.int64)
        own[shown] = np.arange(n)
        who = drawn(n, victims, random, fresh=fresh)
        if run == "outside":
            who = who[: most_masked(n)]
            if not len(who):
                return TOO_FEW
            shown = shown[~np.isin(shown, who)]
            own = np.full(n, -1, np.int64)
        more = {"names": names[order], "records": records[shown], "asked": place[who], "complete": self.complete}
        return Trial(View(known=numbered(len(who)), more=more), Matches(own[who]), 1 / n)


@dataclass(frozen=True, eq=False)
class SearchLog:
    """Searches under numbers, and the words each victim is known by."""

    original: Sequence[Sequence[str]]
    released: Sequence[Sequence[str]]
    words: Sequence[Sequence[str]]
    against: str = field(default="search log", init=False)
    offers: frozenset[str] = field(default=frozenset({"texts"}), init=False)

    def trial(
        self, attack: Attack, run: Run, victims: int, random: np.random.Generator, *, fresh: bool = False
    ) -> Trial | str:
        del attack
        who = drawn(len(self.words), victims, random, fresh=fresh)
        texts = self.original if run == "unprotected" else self.released
        if run == "outside":
            who = who[: most_masked(len(self.words))]
            if not len(who):
                return TOO_FEW
            gone = set(who.tolist())
            texts = [[] if k in gone else t for k, t in enumerate(texts)]
        more = {"texts": texts, "known": [self.words[v] for v in who]}
        return Trial(View(known=numbered(len(who)), more=more), Matches(who), 1 / len(self.original))


@dataclass(frozen=True, eq=False)
class Matches:
    """Right is who names the victim's own record."""

    who: Ints

    def __call__(self, guesses: Guesses) -> Bools:
        return np.asarray(guesses.value == self.who)


def numbered(many: int) -> MicroTable:
    return MicroTable.of([Column.of("victim", pa.array(range(many)))])


def _blurred(values: Floats | None, chosen: Ints, far: float, random: np.random.Generator) -> Floats | None:
    if values is None:
        return None
    return np.asarray(values[chosen] + np.round(random.uniform(-far, far, len(chosen))))


def made_up(people: int, films: int, random: np.random.Generator, *, entries: int = 40) -> Histories:
    """Made-up ratings: few films are rated by most, most by few; everybody rates over two years."""
    popular = 1.0 / (np.arange(films) + 10.0)
    each = random.poisson(entries, people) + 8
    person, item = [], []
    for p, many in enumerate(each):
        rated = random.choice(films, size=min(int(many), films), replace=False, p=popular / popular.sum())
        person += [p] * len(rated)
        item += rated.tolist()
    n = len(person)
    value = np.clip(np.round(random.normal(3.6, 1.0, n)), 1, 5)
    return Histories.of(np.array(person), np.array(item), value, np.floor(random.uniform(0, 730, n)))
