"""A copy of a policy's gateway to attack: real people's public columns, secrets drawn from the declared priors.

A promise is about victims whose secret is distributed as the policy declares, so secrets are drawn anew; the gateway,
its costs and its noise are the real ones. Each victim gets an account in memory of its own. Nothing is written but a
temporary folder: neither the ledger nor the state of the policy is touched.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np
from numpy.typing import NDArray

from nowiser.attacks.assess import Round
from nowiser.attacks.gateways.desk import one_number
from nowiser.attacks.gateways.game import Asked, Gateways
from nowiser.attacks.gateways.memory import MemoryAccount
from nowiser.attacks.gateways.secrets import YES_OR_NO, Drawn, drawn_from, secret_of
from nowiser.attacks.gateways.toys import People, Toy
from nowiser.attacks.outcome import Claim
from nowiser.engines import connect
from nowiser.engines.base import Engine
from nowiser.engines.sources import locate
from nowiser.errors import Misconfigured
from nowiser.files.unreadable import unreadable
from nowiser.gateway import Gateway
from nowiser.model.policy import Policy
from nowiser.model.schema import Column, Kind, Role, Table
from nowiser.percent import percent

PEOPLE = 500  # in the copy: the noise of a total does not depend on how many there are
ASKINGS = 2000  # of one attack in one run


@dataclass(frozen=True, eq=False)
class Attacked:
    """One attacker of a policy: his game, and what was promised about him."""

    guess: str
    game: Gateways
    claim: Claim


class Seeded:
    """Bytes from a generator, so that an attack can be repeated. Never where anything is released."""

    def __init__(self, random: np.random.Generator) -> None:
        self._random = random

    def bytes(self, n: int, /) -> bytes:
        return self._random.bytes(n)


def attacked(policy: Policy, folder: Path, seed: int) -> tuple[list[Attacked], list[str]]:
    """A game for each attacker of the policy, in a folder for copies; and in words whom it could not make one for."""
    if policy.engine.partition(":")[0] != "duckdb":
        raise Misconfigured("`attack --gateway` copies files; this policy's engine is elsewhere")
    if not policy.attackers:
        raise Misconfigured("the policy names no attackers: nothing is promised that an attack could be held against")
    found, left = [], []
    for number, attacker in enumerate(policy.attackers):
        made = _one(policy, number, folder / str(number), seed)
        if isinstance(made, str):
            left.append(f"{attacker.text}: no attack is tried: {made}")
        else:
            found.append(made)
    return found, left


def _one(policy: Policy, number: int, folder: Path, seed: int) -> Attacked | str:
    attacker = policy.attackers[number]
    names = {name.partition(".")[0] for name in attacker.goal.attributes}
    table = policy.table(names.pop()) if len(names) == 1 else None
    if table is None or table.link is not None or table.references:
        return "it is about several tables, or rows linked to another one"
    whose = attacker.goal.attributes[0]
    prior = policy.priors.get(whose)
    column = table.column(whose.partition(".")[2])
    if prior is None or column is None:
        return YES_OR_NO if column is None else "no prior is declared"
    made = secret_of(attacker.goal, column, prior)
    if isinstance(made, str):
        return made
    random = np.random.default_rng([seed, number])
    public = _public(policy, table)
    people = len(next(iter(public.values()))) if public else PEOPLE
    drawn = made.draw(people, random)
    copy = _copy(policy, table, folder, public, column, drawn, random)
    engine = connect(copy)
    exact = People({**public, **drawn.named(column)}, table.name)

    def opened(noise: np.random.Generator) -> Asked:
        return _asking(copy, engine, noise)

    game = Gateways(
        table.name,
        made.secret,
        drawn.truth,
        drawn.adds,
        public,
        opened,
        lambda noise: Toy(exact, "exact", noise).ask,
        near=made.near,
        askings=ASKINGS,
    )
    stands = Gateway(copy, engine=engine, account=cast("Any", MemoryAccount())).allowance()["guesses"]
    limit = next(g["limit"] for g in stands if g["guess"] == attacker.text)
    words = f"{attacker.text}: right in at most {percent(limit)}{' on average' if attacker.on_average else ''}"
    return Attacked(attacker.text, game, Claim(whose, float(limit), not attacker.on_average, words))


def _asking(policy: Policy, engine: Engine, noise: np.random.Generator) -> Asked:
    gate = Gateway(policy, engine=engine, account=cast("Any", MemoryAccount()))
    gate._entropy = Seeded(noise)  # noqa: SLF001 (a copy: nothing is released)
    who = next(iter(policy.analysts), None)

    def ask(sql: str, share: float) -> tuple[float, float]:
        return one_number(gate.query(sql, spend=Fraction(share).limit_denominator(10**6), analyst=who, anyway=True))

    return ask


def _public(policy: Policy, table: Table) -> dict[str, NDArray[np.str_]]:
    """The public columns of so many people, as texts. What is missing stays out: a text of its own."""
    names = [c.name for c in table.columns if c.role is Role.PUBLIC and c.kind in (Kind.TEXT, Kind.BOOLEAN)]
    source = locate(policy, table)
    if source.table is not None:
        raise Misconfigured("`attack --gateway` copies csv and parquet files, no tables of a DuckDB file yet")
    try:
        with duckdb.connect() as database:
            wanted = ", ".join(f'"{n}"' for n in names) or "1"
            rows = database.execute(f"SELECT {wanted} FROM {source.sql()} LIMIT {PEOPLE}").fetchall()  # noqa: S608
    except duckdb.Error:
        raise unreadable(source.path, source.csv) from None
    return {n: np.array([str(r[i]) for r in rows]) for i, n in enumerate(names)}


def _copy(  # noqa: PLR0917 (what a copy is made of)
    policy: Policy,
    table: Table,
    folder: Path,
    public: dict[str, NDArray[np.str_]],
    secret: Column,
    drawn: Drawn,
    random: np.random.Generator,
) -> Policy:
    """The policy about a copy of one table in this folder."""
    people = len(drawn.truth)
    columns: dict[str, Sequence[str]] = {}
    for c in table.columns:
        if c.name in public:
            columns[c.name] = public[c.name].tolist()
        elif c.name == secret.name:
            columns[c.name] = drawn.texts
        elif c.role is Role.IDENTIFIER:
            columns[c.name] = [str(k) for k in range(people)]
        else:
            columns[c.name] = _any(policy, table, c, people, random)
    folder.mkdir(parents=True)
    with (folder / "copy.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    copied = replace(table, source=str(folder / "copy.csv"), csv=None)
    attackers = tuple(a for a in policy.attackers if {n.partition(".")[0] for n in a.goal.attributes} == {table.name})
    return replace(
        policy,
        tables=(copied,),
        attackers=attackers,
        engine="duckdb:///?prepare=no",
        ledger=None,
        path=folder / "nowiser.yaml",
        independent=tuple(g for g in policy.independent if all(a.startswith(f"{table.name}.") for a in g)),
    )


def _any(policy: Policy, table: Table, column: Column, people: int, random: np.random.Generator) -> Sequence[str]:
    """Values of a column that is not attacked: from its prior, else the first it may have."""
    prior = policy.priors.get(f"{table.name}.{column.name}")
    found = None if prior is None else drawn_from(prior, people, random)
    if found is not None and column.kind in (Kind.REAL, Kind.INTEGER, Kind.TEXT):
        return found
    return [str(column.domain[0]) if column.domain else ""] * people


def rounds(policy: Policy, folder: Path, seed: int) -> tuple[list[Round], list[str]]:
    """For the flow `assess`."""
    found, left = attacked(policy, folder, seed)
    return [Round(a.game, a.claim.column, a.claim, frozenset({"value"})) for a in found], left
