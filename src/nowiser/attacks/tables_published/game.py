"""Games of published figures: averages over a study, answers to many questions, tables of counts of a block."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nowiser.attacks.drawn import drawn
from nowiser.attacks.tables_published.bits import questions
from nowiser.attacks.tables_published.blocks import tables_of
from nowiser.attacks.tables_published.membership import scores, separation
from nowiser.attacks.victims import Trial
from nowiser.attacks.view import Attack, Bools, Floats, Guesses, Run, View
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

AMONG_VICTIMS = "half of the victims are outsiders already"


@dataclass(frozen=True, eq=False)
class Averages:
    """Published averages of a study; half of the victims took part, half did not."""

    members: NDArray[np.int8]
    outsiders: NDArray[np.int8]
    published: Floats
    outside: Floats  # the averages of people in general
    against: str = field(default="averages", init=False)
    offers: frozenset[str] = field(default=frozenset({"averages"}), init=False)

    def trial(
        self, attack: Attack, run: Run, victims: int, random: np.random.Generator, *, fresh: bool = False
    ) -> Trial | str:
        del attack
        if run == "outside":
            return AMONG_VICTIMS
        half = max(1, min(victims // 2, len(self.members), len(self.outsiders)))
        some = [drawn(len(group), half, random, fresh=fresh) for group in (self.members, self.outsiders)]
        records = np.concatenate([self.members[some[0]], self.outsiders[some[1]]])
        is_in = np.arange(2 * half) < half
        order = random.permutation(2 * half)
        records, is_in = records[order], is_in[order]
        shown = self.members.mean(axis=0) if run == "unprotected" else self.published
        more = {"records": records, "averages": shown, "outside": self.outside, "persons": len(self.members)}

        def figures(_: Guesses) -> Mapping[str, float]:
            test = scores(records, shown, self.outside)
            return asdict(separation(test[is_in], test[~is_in]))

        return Trial(View(known=_numbered(2 * half), more=more), _Equal(is_in.astype(np.int64)), 0.5, figures=figures)


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers to random questions about everybody's bit: how many of these people have it."""

    bits: NDArray[np.int64]
    many: int
    noise: float  # standard deviation of each answer
    told: bool = True  # False: the answers are about other bits
    against: str = field(default="answers", init=False)
    offers: frozenset[str] = field(default=frozenset({"answers"}), init=False)

    def trial(
        self, attack: Attack, run: Run, victims: int, random: np.random.Generator, *, fresh: bool = False
    ) -> Trial | str:
        del attack, victims, fresh  # everybody is a victim
        if run == "outside":
            return "whoever is not in the table has no bit there"
        bits = self.bits if self.told or run == "unprotected" else random.permutation(self.bits)
        noise = 0.0 if run == "unprotected" else self.noise
        sets = questions(self.many, len(bits), random)
        answers = sets @ bits.astype(np.float64) + random.normal(0, noise, self.many) * (noise > 0)
        more = {"sets": sets, "answers": answers, "noise": noise}
        before = max(float(self.bits.mean()), 1 - float(self.bits.mean()))
        return Trial(View(known=_numbered(len(bits)), more=more), _Equal(self.bits), before)


@dataclass(frozen=True, eq=False)
class Block:
    """Tables of counts over some attributes each; the last attribute is the secret."""

    records: NDArray[np.int64]
    sizes: Sequence[int]
    ways: int
    published: NDArray[np.int64] | None = None  # records the tables are made of; None: the true ones
    against: str = field(default="blocks", init=False)
    offers: frozenset[str] = field(default=frozenset({"counts"}), init=False)

    def trial(
        self, attack: Attack, run: Run, victims: int, random: np.random.Generator, *, fresh: bool = False
    ) -> Trial | str:
        del attack
        if run == "outside":
            return "whoever is not in the block is not in its tables"
        who = drawn(len(self.records), victims, random, fresh=fresh)
        shown = self.records if self.published is None or run == "unprotected" else self.published
        more = {
            "sizes": self.sizes,
            "counts": tables_of(shown, self.sizes, self.ways),
            "known": self.records[who, :-1],
        }
        secrets = self.records[:, -1]
        before = float(np.bincount(secrets).max() / len(secrets))
        return Trial(View(known=_numbered(len(who)), more=more), _Equal(secrets[who]), before)


@dataclass(frozen=True, eq=False)
class _Equal:
    truth: NDArray[np.int64]

    def __call__(self, guesses: Guesses) -> Bools:
        return np.asarray(guesses.value == self.truth)


def _numbered(many: int) -> MicroTable:
    return MicroTable.of([Column.of("victim", pa.array(range(many)))])
