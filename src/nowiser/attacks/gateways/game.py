"""The game of gateways: for each victim a gateway is opened for one attack alone, with an account of its own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nowiser.attacks.drawn import drawn
from nowiser.attacks.gateways.desk import Desk, Secret
from nowiser.attacks.gateways.toys import People, Rule, Toy
from nowiser.attacks.victims import Trial
from nowiser.attacks.view import Attack, Bools, Floats, Guesses, Run, View
from nowiser.attacks.walls import Behind
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

FEW = 10  # questions

Asked = Callable[[str, float], tuple[float, float]]


@dataclass(frozen=True, eq=False)
class Gateways:
    """A table of people behind a gateway. Whoever is a victim, the attacker knows everybody else's secret."""

    table: str
    secret: Secret
    truth: Floats  # everybody's secret
    adds: Floats  # what each person adds to a total
    public: Mapping[str, NDArray[np.str_]]
    opened: Callable[[np.random.Generator], Asked]  # a new gateway, whose account is empty
    exact: Callable[[np.random.Generator], Asked]  # one that answers without noise
    near: float = 0.0  # how near a guess must come to be right
    askings: int | None = None  # about so many questions for one run at most; then fewer victims are tried
    against: str = field(default="gateways", init=False)

    @property
    def offers(self) -> frozenset[str]:
        return frozenset({"desks", "ask"} | ({"two values"} if len(self.secret.values) == 2 else set()))

    def trial(
        self, attack: Attack, run: Run, victims: int, random: np.random.Generator, *, fresh: bool = False
    ) -> Trial | str:
        if run == "outside":
            return "whoever is not in the table has no secret there"
        many = min(victims, len(self.truth))
        way = self.exact if run == "unprotected" else self.opened
        if self.askings is not None:
            many = max(1, min(many, self.askings // self._asked(attack, way, random)))
        who = drawn(len(self.truth), many, random, fresh=fresh)
        seeds = random.integers(0, 2**62, many)
        desks = [Behind(partial(self._desk, int(v), way, int(s))) for v, s in zip(who, seeds, strict=True)]
        known = MicroTable.of([Column.of(c, pa.array(v[who])) for c, v in self.public.items()] or [_numbered(many)])
        truth = self.truth[who]

        def right(guesses: Guesses) -> Bools:
            return np.abs(np.asarray(guesses.value, np.float64) - truth) <= self.near + 1e-9

        before = self.secret.best(self.secret.masses)[1]
        return Trial(View(known=known, more={"desks": desks, "victims": who}), right, before)

    def _asked(self, attack: Attack, way: Callable[[np.random.Generator], Asked], random: np.random.Generator) -> int:
        """How many questions he needs for one victim; where he may ask many, he is tried on one."""
        most = int(getattr(attack, "questions", 1))
        if most <= FEW:
            return most
        desk = self._desk(0, way, int(random.integers(0, 2**62)))
        ask, count = desk.ask, 0

        def counting(sql: str, share: float) -> tuple[float, float]:
            nonlocal count
            count += 1
            return ask(sql, share)

        desk.ask = counting
        attack.guess(View(known=MicroTable.of([_numbered(1)]), more={"desks": [lambda: desk], "victims": [0]}), random)
        return max(1, count)

    def _desk(self, victim: int, way: Callable[[np.random.Generator], Asked], seed: int) -> Desk:
        others = self.adds.copy()
        others[victim] = 0.0
        ask = Behind(way(np.random.default_rng(seed)))
        return Desk(ask, self.table, self.secret, self.public, others, victim)


def _numbered(many: int) -> Column:
    return Column.of("victim", pa.array(range(many)))


def toy(rule: Rule, people: int, seed: int, *, scale: float = 1.0, share: float = 0.5) -> Gateways:
    """One of the simple gateways over made-up people, each with a secret bit."""
    random = np.random.default_rng(seed)
    bits = (random.random(people) < share).astype(np.int64)
    public = {
        "name": np.array([f"p{k:04d}" for k in range(people)]),
        "town": np.array([f"t{k}" for k in random.integers(0, 12, people)]),
        "job": np.array([f"j{k}" for k in random.integers(0, 8, people)]),
    }
    rows = People({**public, "has": bits})
    secret = Secret(np.array([0.0, 1.0]), np.array([1 - share, share]), condition="has = 1")
    return Gateways(
        "people",
        secret,
        bits.astype(np.float64),
        bits.astype(np.float64),
        public,
        lambda drawn: Toy(rows, rule, drawn, scale=scale).ask,
        lambda drawn: Toy(rows, "exact", drawn).ask,
    )


def silent(people: int, seed: int) -> Gateways:
    """A gateway that says nothing but noise: nobody can learn anything from it."""
    base = toy("exact", people, seed)
    bits = np.random.default_rng(seed + 1).permutation(base.truth)

    def noise(random: np.random.Generator) -> Asked:
        return lambda _sql, _share: (float(random.laplace(0, 1e6)), 1e6 * float(np.log(20)))

    return Gateways("people", base.secret, bits, bits, base.public, noise, base.exact)
