"""The flow for several tables: persons with their rows, keys intact.

    policy → domains → price → charge → models → persons → rows of each → tables

The table of persons is modelled with, for every linked table, how many rows a person has there (0 to
`rows_per_person`). Each linked table is modelled with the columns of the person beside its own. Then persons are
drawn, and for each as many rows as the number says, from rows of the model whose persons are like this one in as many
columns as possible, those that tell most about the rows first. Half of the budget goes to the persons, the rest to the
linked tables alike.

What rows of one person have in common beyond the person's columns is not modelled.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from nowiser.bought import account, rows as bought_rows
from nowiser.bought.domain import Domain, attribute_of, domain_of
from nowiser.errors import Misconfigured, NotAnswerable, NotEvaluated
from nowiser.guess.budget.allowance import Guess
from nowiser.ledger.opening import state_folder
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.model.charge import Charge
from nowiser.model.policy import Policy
from nowiser.model.schema import Column as Declared, Kind, Protect, Role, Table
from nowiser.report import failure
from nowiser.report.synthetic import Said, several_words
from nowiser.sql.bound import persons
from nowiser.synth import wanted
from nowiser.synth.meter import factors
from nowiser.synth.methods import METHODS
from nowiser.synth.model import Model
from nowiser.synth.synth import FAILED, Asked, Told, counted_and_fitted, model_of

POOL = 4  # times as many rows of the model as are needed


@dataclass(frozen=True, eq=False)
class SeveralAsked:
    """What is to be made: the persons first, then the linked tables, each with the columns of the person besides."""

    policy: Policy
    parts: tuple[Asked, ...]
    shares: tuple[Fraction, ...]
    spend: Fraction
    analyst: str | None = None

    @property
    def digest(self) -> str:
        """Of the request, noted in the ledger."""
        return hashlib.sha256(json.dumps([p.digest for p in self.parts]).encode()).hexdigest()


@dataclass(frozen=True, eq=False, repr=False)
class SyntheticTables(Said):
    """Tables of nobody that fit together, and what they cost."""

    tables: Mapping[str, MicroTable]
    models: Mapping[str, Model]
    guesses: tuple[Guess, ...]
    expected: wanted.Expected
    rho: float
    spent: float
    left: float
    entry: int
    files: tuple[Path, ...] = ()

    def to_arrow(self) -> dict[str, Any]:
        return {name: table.to_arrow() for name, table in self.tables.items()}

    def to_pandas(self) -> dict[str, Any]:
        return {name: table.to_pandas() for name, table in self.tables.items()}

    def to_json(self) -> dict[str, Any]:
        return {
            "tables": {n: {"rows": t.rows, "columns": list(t.names)} for n, t in self.tables.items()},
            "method": next(iter(self.models.values())).method,
            "rho": self.rho,
            "spent": self.spent,
            "left": self.left,
            "guesses": [g.to_json() for g in self.guesses],
            "expected": {"single": self.expected.single, "pair": self.expected.pair},
            "counted": {
                n: [[m.domain[v].name for v in c] for c in m.parameters if len(c) > 1] for n, m in self.models.items()
            },
            "entry": self.entry,
            "files": [str(f) for f in self.files],
        }

    def __str__(self) -> str:
        return several_words(self.to_json())


def asked(
    policy: Policy,
    table: str | None,
    linked: Sequence[str],
    *,
    spend: Fraction,
    method: str = "aim",
    cells: Mapping[str, int | Sequence[Any]] | None = None,
    analyst: str | None = None,
) -> SeveralAsked:
    """The request, checked. `cells`: of `column` of the persons, or of `table.column`."""
    root = policy.table(table or "")
    if root is None:
        raise Misconfigured(f"name the table of the persons: {', '.join(t.name for t in policy.tables)}")
    if method not in METHODS:
        raise Misconfigured(f"there is no method {method!r}", hint=f"Methods: {', '.join(METHODS)}.")
    others = [_child(policy, root, name) for name in dict.fromkeys(linked)]
    _check_persons(root)
    for one in (root, *others):
        bought_rows.check_there(policy, one)
    own = {t.name: {} for t in (root, *others)}  # type: dict[str, dict[str, Any]]
    for name, value in (cells or {}).items():
        home, dot, column = name.partition(".")
        if (home if dot else root.name) not in own:
            raise Misconfigured(f"cells of {name!r}: there is no table {home!r} among these", hint=f"{', '.join(own)}.")
        own[home if dot else root.name][column if dot else name] = value
    person = domain_of(policy, root, None, own[root.name])
    numbers = tuple(attribute_of(_number(t)) for t in others)
    beside = tuple(replace(a, name=f"{root.name}.{a.name}") for a in person)
    domains = [person + numbers, *(domain_of(policy, t, None, own[t.name]) + beside for t in others)]
    for domain in domains:
        wanted.check_size(domain, pairs=method != "independent")
    parts = tuple(
        Asked(policy, t, d, method, wanted.workload(d), spend=spend, analyst=analyst)
        for t, d in zip((root, *others), domains, strict=True)
    )
    half = Fraction(1, 2)
    return SeveralAsked(policy, parts, (half, *[half / len(others)] * len(others)), spend, analyst)


def _child(policy: Policy, root: Table, name: str) -> Table:
    found = policy.table(name)
    if found is None:
        raise Misconfigured(f"there is no table {name!r}", hint=f"Tables: {', '.join(t.name for t in policy.tables)}.")
    link = found.link
    if link is None or link.table != root.name or set(link.references) != set(persons.naming(root)):
        raise NotAnswerable(
            f"the rows of {name!r} do not name a person of {root.name!r} themselves",
            hint=f"As in person: {{patient_id: {root.name}.id}}. Tables linked through others are not made together.",
        )
    return found


def _check_persons(root: Table) -> None:
    if root.link is not None or root.is_public or not persons.naming(root) or root.rows_per_person != 1:
        raise NotAnswerable(f"{root.name!r} has not one row for each person, with a name for it")
    if root.protect is not Protect.PERSONS:
        raise NotAnswerable(
            f"under `protect: values` everybody knows who is in {root.name!r} and how many rows they have",
            hint="Keep keys and public columns as they are, and make synthetic rows table by table.",
        )


def _number(table: Table) -> Declared:
    return Declared(
        f"#{table.name}", Kind.INTEGER, Role.SENSITIVE, Fraction(0), Fraction(table.rows_per_person), nullable=False
    )


def offered(request: SeveralAsked) -> tuple[account.Offer, wanted.Expected]:
    """What all of it costs together: μ² of the parts add up. Charges nothing."""
    cost = factors(METHODS[request.parts[0].method].choosing)
    one = Charge()
    for part, share in zip(request.parts, request.shares, strict=True):
        names = tuple(c.name for c in part.table.columns)
        one += account.unit(request.policy, part.table, cost, names).times(share)
    first = request.parts[0]
    offer = account.offer(
        request.policy, first.table, request.spend, cost, first.columns, analyst=request.analyst, one=one
    )
    found = wanted.expected(first.domain, first.table, offer.amount * request.shares[0])
    return offer, found


def synth(
    request: SeveralAsked,
    *,
    rows: int | None = None,
    anyway: bool = False,
    told: Told = lambda _done, _what: None,
    before: Any = lambda *_: None,
    random: np.random.Generator | None = None,
) -> SyntheticTables:
    """Tables of nobody. Raises NotEvaluated, with the charge kept, if anything goes wrong after it."""
    policy, random = request.policy, random or np.random.default_rng()
    offer, expected = offered(request)
    if not anyway:
        wanted.check_useful(expected)
    before(offer, expected)
    names = " with ".join(p.table.name for p in request.parts)
    bought_rows.check_readable(policy)
    paid = account.buy(policy, offer, what=f"model of {names}", digest=request.digest, analyst=request.analyst)
    try:
        models = _models(request, offer, told)
    except Exception as error:  # noqa: BLE001 (whatever went wrong may depend on the data: one neutral message)
        failure.record(state_folder(policy), error, paid.entry)
        raise NotEvaluated(FAILED) from None
    tables = drawn(request, models, rows, random)
    return SyntheticTables(
        tables, models, offer.guesses, expected, float(offer.rho), float(offer.share), float(offer.left), paid.entry
    )


def _models(request: SeveralAsked, offer: account.Offer, told: Told) -> dict[str, Model]:
    first, *others = request.parts
    columns = {p.table.name: [a.name for a in p.domain if p.table.column(a.name) is not None] for p in request.parts}
    rows = bought_rows.of_persons(request.policy, first.table, [p.table for p in others], columns)
    models = {}
    for part, share in zip(request.parts, request.shares, strict=True):
        bought = replace(offer, amount=offer.amount * share, rho=offer.rho * share)
        made = counted_and_fitted(part, rows[part.table.name], bought.amount, told)
        models[part.table.name] = model_of(bought, *made)
    return models


def drawn(
    request: SeveralAsked, models: Mapping[str, Model], rows: int | None, random: np.random.Generator
) -> dict[str, MicroTable]:
    """Persons, and the rows of each, with numbers for names."""
    first, *others = request.parts
    model = models[first.table.name]
    codes = model.codes(rows, random)
    many = len(codes[0])
    names = np.arange(1, many + 1)
    own = len(first.domain) - len(others)
    whole = [*_named(first.table, persons.naming(first.table), names), *_values(first.domain[:own], codes, random)]
    found = {first.table.name: MicroTable.of(whole)}
    for i, other in enumerate(others):
        number = first.domain[own + i].decode(codes[own + i], random).to_numpy(zero_copy_only=False).astype(np.int64)
        of = np.repeat(np.arange(many), number)
        mine = _like(models[other.table.name], [c[of] for c in codes[:own]], random)
        named = _named(other.table, persons.owner(request.policy, other.table), names[of])
        whole = [*named, *_values(other.domain[: len(other.domain) - own], mine, random)]
        found[other.table.name] = MicroTable.of(whole)
    return found


def _like(model: Model, given: Sequence[NDArray[np.int32]], random: np.random.Generator) -> list[NDArray[np.int32]]:
    """For each person that is given, a row of the model whose person is like that in as many columns as possible."""
    need, own = len(given[0]) if given else 0, len(model.domain) - len(given)
    if not need:
        return [np.zeros(0, np.int32) for _ in range(own)]
    pool = model.codes(max(1000, POOL * need), random)
    order = _telling(model, own)
    picked = np.full(need, -1, np.int64)
    for some in range(len(order), -1, -1):
        left = np.flatnonzero(picked < 0)
        if not len(left):
            break
        mine = [pool[v] for v in order[:some]]
        theirs = [given[v - own][left] for v in order[:some]]
        picked[left] = _matched(mine, theirs, len(pool[0]), len(left), random)
    return [pool[v][picked] for v in range(own)]


def _matched(
    pool: Sequence[NDArray[np.int32]],
    wanted_rows: Sequence[NDArray[np.int32]],
    size: int,
    need: int,
    random: np.random.Generator,
) -> NDArray[np.int64]:
    """A row of the pool, any of them alike, that agrees in these columns; −1 where there is none."""
    both = np.zeros(size + need, np.int64)
    for a, b in zip(pool, wanted_rows, strict=True):
        column = np.concatenate([a, b]).astype(np.int64)
        both = np.unique(both * (int(column.max()) + 1) + column, return_inverse=True)[1]
    order = np.argsort(both[:size], kind="stable")
    keys = both[:size][order]
    first, last = np.searchsorted(keys, both[size:], "left"), np.searchsorted(keys, both[size:], "right")
    place = first + (random.random(need) * (last - first)).astype(np.int64)
    return np.where(last > first, order[np.minimum(place, size - 1)], -1)


def _telling(model: Model, own: int) -> list[int]:
    """The columns of the person, those first that tell most about the columns of a row, by the model."""
    scores = {}
    for v in range(own, len(model.domain)):
        pairs = model.beliefs.pairs_with(v)
        scores[v] = sum(
            float(np.abs(p - np.outer(p.sum(axis=1), p.sum(axis=0))).sum()) for b, p in pairs.items() if b < own
        )
    return sorted(scores, key=lambda v: -scores[v])


def _named(table: Table, naming: Sequence[str], names: NDArray[np.int64]) -> list[Column]:
    """The columns that name the person: a number, as text where they are text."""
    found = []
    for name in naming:
        declared = table.column(name)
        text = declared is not None and declared.kind is Kind.TEXT
        found.append(Column.of(name, pa.array(names).cast(pa.string() if text else pa.int64())))
    return found


def _values(domain: Domain, codes: Sequence[NDArray[np.int32]], random: np.random.Generator) -> list[Column]:
    return [Column.of(a.name, a.decode(c, random)) for a, c in zip(domain, codes, strict=False)]
