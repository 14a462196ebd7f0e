"""The flow: a statistic of a policy's links, on one page.

    policy → statistic → price → charge → read → noise → tell, keep

Until the charge nothing secret is told and no link is looked at. What is charged stays. The same question on the same
data gets its stored answer again, free.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from nowiser.errors import Misconfigured, NotEvaluated
from nowiser.graphs.answers.registry import STATISTICS, statistic
from nowiser.graphs.answers.statistic import Expected, Statistic, Told, World
from nowiser.graphs.graph import Graph
from nowiser.graphs.read import declared
from nowiser.guess.budget import allowance
from nowiser.guess.budget.allowance import Guess
from nowiser.ledger.base import Ledger
from nowiser.ledger.flight import in_turn
from nowiser.ledger.opening import state_folder
from nowiser.microdata.table.engine_table import engine_table
from nowiser.microdata.table.read import load
from nowiser.model.charge import PICO, Account, Charge
from nowiser.model.policy import Policy
from nowiser.model.schema import Role, Table
from nowiser.noise.entropy import OS, Entropy
from nowiser.report import failure
from nowiser.sql.bound import persons
from nowiser.sql.plan import precision

FAILED = "The question could not be evaluated. It is charged, because what a failure tells is not known."
UNREAD = "The links of the policy cannot be read. Nothing was charged."
FINEST = 2**40  # ε is rounded down to so many parts of one


@dataclass(frozen=True, eq=False)
class Asked:
    """A question about links, checked. All of it is public."""

    policy: Policy
    table: Table
    statistic: Statistic
    world: World
    spend: Fraction

    @property
    def digest(self) -> str:
        world = self.world
        said = [self.table.name, self.statistic.name, world.protect, world.most, world.label, world.size]
        return hashlib.sha256(json.dumps(["graph", *said, str(self.spend)]).encode()).hexdigest()

    @property
    def text(self) -> str:
        by = f" by {self.world.label}" if self.world.label else ""
        return f"{self.statistic.name} of {self.table.name}{by}"


@dataclass(frozen=True, eq=False)
class Answered:
    """What was told, what it cost, and how every attacker stands."""

    text: str
    told: Told | None  # None: only explained
    expected: Expected
    epsilon: Fraction
    guesses: tuple[Guess, ...]
    spent: float  # shares of the whole allowance
    left: float
    protect: str
    stored: bool = False

    @property
    def graph(self) -> Graph | None:
        return self.told.graph if self.told is not None else None

    def to_json(self) -> dict[str, Any]:
        told = self.told.to_json() if self.told is not None else {}
        return {
            "question": self.text,
            **told,
            "record": "one link" if self.protect == "links" else "a person with all her links",
            "expected": {"error": self.expected.bar, "words": self.expected.words},
            "epsilon": float(self.epsilon),
            "guesses": [g.to_json() for g in self.guesses],
            "spent": self.spent,
            "left": self.left,
            "stored": self.stored,
        }

    def to_arrow(self) -> pa.Table:
        if self.told is None:
            raise Misconfigured("this was only explained: it has no rows")
        return pa.table({c: [r[i] for r in self.told.rows] for i, c in enumerate(self.told.columns)})

    def __str__(self) -> str:
        from nowiser.report.graphs import answered

        return answered(self.to_json())

    def _repr_html_(self) -> str:
        from nowiser.report.graphs import answered_html

        return answered_html(self.to_json())


@dataclass(frozen=True, eq=False)
class Links:
    """What a gateway answers about a table of links."""

    policy: Policy
    table: str | None
    ledger: Ledger
    entered: Callable[[str | None], str | None]  # who asks, checked

    def ask(self, statistic: str, *, analyst: str | None = None, entropy: Entropy = OS, **options: Any) -> Answered:
        """`spend`, `by` a column of the people, `most` links of a person that count, `size` of stars."""
        who = self.entered(analyst)
        return ask(asked(self.policy, self.table, statistic, **options), self.ledger, analyst=who, entropy=entropy)

    def explain(self, statistic: str, *, analyst: str | None = None, **options: Any) -> Answered:
        """What it would cost and how near it would be. Free."""
        who = self.entered(analyst)
        return explain(asked(self.policy, self.table, statistic, **options), self.ledger, who)

    def statistics(self) -> tuple[tuple[str, str], ...]:
        """What can be asked, and what it means."""
        return tuple((s.name, s.title) for s in STATISTICS.values())


def asked(
    policy: Policy,
    table: str | None,
    name: str,
    *,
    spend: float | Fraction | str | None = None,
    by: str | None = None,
    most: int = 64,
    size: int = 3,
) -> Asked:
    """The question, checked before anything is charged."""
    joins = [t for t in policy.tables if t.ends is not None]
    chosen = next((t for t in joins if t.name == table), joins[0] if table is None and len(joins) == 1 else None)
    if chosen is None:
        there = (
            f"There are: {', '.join(t.name for t in joins)}." if joins else "Declare `links:` in a table of the policy."
        )
        raise Misconfigured("name a table of links" if table is None else f"{table!r} is no table of links", hint=there)
    found = statistic(name, "links" if chosen.link is None else "persons")
    if size < 2 or most < 1:
        raise Misconfigured("a star has at least 2 ends (--size), and at least 1 link of a person counts (--most)")
    world = World("links" if chosen.link is None else "persons", most, size=size)
    if by is not None or name == "between":
        world = replace(world, label=by, groups=_groups(policy, chosen, by))
    share = precision.wish(policy, None, spend).spend
    assert share is not None, "a wish without an error has a share"
    return Asked(policy, chosen, found, world, share)


def unit(policy: Policy, table: Table) -> Charge:
    """What an answer at ε = 1 costs: presence of a link or a person; whoever is replaced goes and comes."""
    root = persons.root(policy, table)
    about = persons.attributes(policy, root) if table.link is not None else ()
    square = any(a.on_average for a in policy.attackers)
    amounts = {Account("presence", (root.name,)): PICO}
    if square:
        amounts |= {Account("square_presence", (root.name,)): PICO, Account("squared_presence", (root.name,)): PICO}
    if about:
        amounts[Account("jump", about)] = 2 * PICO
        if square:
            amounts |= {Account("square", about): 4 * PICO, Account("squared", about): 2 * PICO}
    return Charge.of(amounts)


def explain(question: Asked, ledger: Ledger, analyst: str | None = None) -> Answered:
    """What it would cost and how near it would be. Charges nothing, looks at no link."""
    totals = ledger.totals()
    epsilon, charge = _price(question, totals, ledger.totals(analyst) if analyst else Charge(), analyst)
    return _standing(question, None, epsilon, charge, totals + charge)


def ask(question: Asked, ledger: Ledger, *, analyst: str | None = None, entropy: Entropy = OS) -> Answered:
    """The answer, charged before any link is looked at; or the stored one."""
    return in_turn(partial(_ask, question, ledger, analyst, entropy))


def _ask(question: Asked, ledger: Ledger, analyst: str | None, entropy: Entropy) -> Answered:
    policy = question.policy
    with failure.wall(state_folder(policy), UNREAD):
        sources = _sources(policy, question.table)
        version = _version(sources)
    ledger.declare(policy)
    ledger.check_access(policy=policy.digest, analyst=analyst or "")
    kept = ledger.stored(question.digest, version)
    if kept is not None:
        return _again(question, kept, ledger.totals())
    epsilon, charge = _price(question, ledger.totals(), ledger.totals(analyst) if analyst else Charge(), analyst)
    held = ledger.reserve(
        charge,
        allowance.admit(policy, charge, analyst=analyst),
        policy=policy.digest,
        question=question.digest,
        sql=question.text,
        analyst=analyst or "",
        data_version=version,
        once=True,
    )
    held.anchor()
    try:
        graph = declared(sources[1], sources[0])
        world = replace(question.world, people=graph.people) if question.world.protect == "links" else question.world
        told = question.statistic.answer(graph, world, epsilon, entropy)
        ledger.settle(held, _kept(told, epsilon))
    except Exception as error:  # noqa: BLE001 (whatever went wrong may depend on the data: one neutral message)
        failure.record(state_folder(policy), error, held.seq)
        ledger.fail(held, allowance.owed_for_failing(policy, unit(policy, question.table), charge))
        raise NotEvaluated(FAILED) from None
    return _standing(question, told, epsilon, charge, ledger.totals())


def _price(question: Asked, totals: Charge, own: Charge, analyst: str | None) -> tuple[Fraction, Charge]:
    one = unit(question.policy, question.table)
    found = allowance.largest_multiple(question.policy, totals, one, question.spend, analyst=analyst, own=own)
    epsilon = Fraction(int(found * FINEST), FINEST)
    if epsilon <= 0:
        raise Misconfigured(f"{float(question.spend):.3g} of the allowance is too little for any noise there is")
    return epsilon, one.sharper(epsilon)


def _standing(question: Asked, told: Told | None, epsilon: Fraction, charge: Charge, after: Charge) -> Answered:
    policy = question.policy
    return Answered(
        question.text,
        told,
        question.statistic.expected(question.world, epsilon),
        epsilon,
        allowance.standing(policy, after),
        float(allowance.share_used(policy, charge)) if charge else 0.0,
        float(max(Fraction(0), 1 - allowance.share_used(policy, after))),
        question.world.protect,
    )


def _again(question: Asked, kept: bytes, totals: Charge) -> Answered:
    read = json.loads(kept)
    links = read.pop("graph")
    graph = None if links is None else _read_back(links)
    rows = tuple(tuple(r) for r in read["rows"])
    told = Told(tuple(read["columns"]), rows, tuple(read["error"]), tuple(read["notes"]), graph)
    found = _standing(question, told, Fraction(read["epsilon"]), Charge(), totals)
    return replace(found, stored=True)


def _read_back(held: dict[str, Any]) -> Graph:
    labels = {label: np.asarray(values) for label, values in held["labels"].items()}
    return Graph.of(np.asarray(held["names"]), held["links"], labels)


def _kept(told: Told, epsilon: Fraction) -> bytes:
    graph = told.graph
    held = (
        None
        if graph is None
        else {
            "names": graph.names.tolist(),
            "links": graph.links.tolist(),
            "labels": {label: values.tolist() for label, values in graph.labels.items()},
        }
    )
    return json.dumps(told.to_json() | {"graph": held, "epsilon": str(epsilon)}, separators=(",", ":")).encode()


def _sources(policy: Policy, table: Table) -> tuple[pa.Table, pa.Table]:
    assert table.ends is not None
    people = policy.table(table.ends.table)
    assert people is not None, "the policy reader checks it"
    public = [c.name for c in people.columns if c.role is Role.PUBLIC and c.name != table.ends.references[0]]
    listed = load(engine_table(policy, people)).to_arrow().select([table.ends.references[0], *public])
    links = load(engine_table(policy, table)).to_arrow().select(list(table.ends.columns))
    return listed, links


def _version(sources: tuple[pa.Table, pa.Table]) -> str:
    """Of the rows themselves, as the engine's version of prepared tables is."""
    found = hashlib.sha256()
    for source in sources:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, source.schema) as writer:
            writer.write_table(source.combine_chunks())
        found.update(sink.getvalue())
    return f"graph:{found.hexdigest()}"


def _groups(policy: Policy, table: Table, label: str | None) -> tuple[str, ...]:
    assert table.ends is not None
    people = policy.table(table.ends.table)
    assert people is not None, "the policy reader checks it"
    fit = [c.name for c in people.columns if c.role is Role.PUBLIC and c.domain is not None]
    column = people.column(label) if label is not None else None
    if column is None or column.name not in fit:
        what = "name a column of the people by which to group" if label is None else f"no groups by {label!r}"
        raise Misconfigured(
            f"{what} (--by): a public column of {people.name!r} whose values are all declared",
            hint=f"There is: {', '.join(fit)}." if fit else f"Declare one: columns of {people.name!r} in the policy.",
        )
    return tuple(str(v) for v in column.domain or ())
