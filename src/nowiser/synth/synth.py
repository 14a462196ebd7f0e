"""The flow: rows of nobody under a policy, on one page.

    policy → domain → price → charge → count, choose and fit → model → rows → files

Until the charge nothing secret is touched, so a refusal tells nothing. After it the charge stays, whatever happens.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nowiser.bought import account, rows as bought_rows
from nowiser.bought.domain import Domain, domain_of
from nowiser.errors import Misconfigured, NotEvaluated, Useless
from nowiser.guess.budget.allowance import Guess
from nowiser.ledger.opening import state_folder
from nowiser.microdata.compare import Comparison
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.model.charge import Charge
from nowiser.model.policy import Policy
from nowiser.model.schema import Table
from nowiser.report import failure
from nowiser.report.synthetic import Said, words
from nowiser.synth import judged, wanted
from nowiser.synth.counts import Coded
from nowiser.synth.cut import Cut, bought, cuts, without_bought
from nowiser.synth.meter import Meter, factors
from nowiser.synth.methods import METHODS
from nowiser.synth.model import Model, Zeros
from nowiser.synth.noisy import Made
from nowiser.synth.run import Run
from nowiser.synth.tree.junction import Clique

FAILED = "The model could not be made. It is charged, because what a failure tells is not known."

LEAST = Fraction(1, 2**24)  # μ² for each pair of columns, below which counts are off by thousands of rows
SPEND_MORE = "Spend more, or model fewer columns (--columns)."

Told = Callable[[float, str], None]


@dataclass(frozen=True, eq=False, repr=False)
class Synthetic(Said):
    """Rows of nobody, the model they were drawn from, and what it cost."""

    table: MicroTable
    model: Model
    guesses: tuple[Guess, ...]
    expected: wanted.Expected
    rho: float
    spent: float  # shares of the whole allowance
    left: float
    entry: int  # of the ledger
    files: tuple[Path, ...] = ()
    comparison: Comparison | None = None  # with the real rows: for the custodian alone

    def to_arrow(self) -> Any:
        return self.table.to_arrow()

    def to_pandas(self) -> Any:
        return self.table.to_pandas()

    def to_json(self) -> dict[str, Any]:
        return {
            "table": self.model.table,
            "method": self.model.method,
            "rows": self.table.rows,
            "columns": list(self.table.names),
            "rho": self.rho,
            "spent": self.spent,
            "left": self.left,
            "guesses": [g.to_json() for g in self.guesses],
            "expected": {"single": self.expected.single, "pair": self.expected.pair},
            "counted": [[self.table.names[v] for v in c] for c in self.model.parameters],
            "entry": self.entry,
            "files": [str(f) for f in self.files],
            **({"compared": judged.summary(self.comparison)} if self.comparison is not None else {}),
        }

    def __str__(self) -> str:
        return str(words(self.to_json()))


@dataclass(frozen=True, eq=False)
class Asked:
    """What is to be made, all of it public."""

    policy: Policy
    table: Table
    domain: Domain
    method: str
    workload: dict[Clique, int]
    zeros: Zeros = ()
    spend: Fraction = Fraction(1, 5)
    analyst: str | None = None
    cuts: tuple[Cut, ...] = ()  # columns whose edges are bought; until then their cells are alike

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(a.name for a in self.domain)

    @property
    def digest(self) -> str:
        """Of the request, noted in the ledger."""
        said: dict[str, Any] = {
            "table": self.table.name,
            "method": self.method,
            "domain": [a.to_json() for a in self.domain],
        }
        said |= {"cuts": [c.place for c in self.cuts]} if self.cuts else {}
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def asked(
    policy: Policy,
    table: str | None = None,
    *,
    spend: Fraction,
    method: str = "aim",
    columns: Sequence[str] | None = None,
    cells: Mapping[str, int | Sequence[Any]] | None = None,
    workload: Mapping[str, float] | None = None,
    zeros: Sequence[Mapping[str, Any]] = (),
    analyst: str | None = None,
) -> Asked:
    """The request, checked: raises what is wrong with it before anything is charged."""
    names = [t.name for t in policy.tables]
    chosen = policy.table(table if table is not None else names[0] if len(names) == 1 else "")
    if chosen is None:
        raise Misconfigured(f"name one table of the policy: {', '.join(names)}")
    if method not in METHODS:
        raise Misconfigured(f"there is no method {method!r}", hint=f"Methods: {', '.join(METHODS)}.")
    account.of_people(chosen)
    bought_rows.check_there(policy, chosen)
    declared, cut = without_bought(cells)
    domain = domain_of(policy, chosen, columns, declared)
    wanted.check_size(domain, pairs=method != "independent")
    if both := sorted(set(cut) & {n for item in zeros for n in item}):
        raise Misconfigured(f"the cells of {both[0]!r} are bought, so none can be said to be impossible beforehand")
    found = wanted.workload(domain, workload), wanted.impossible(domain, zeros)
    edges = cuts(chosen, domain, cut)
    return Asked(policy, chosen, domain, method, *found, spend=spend, analyst=analyst, cuts=edges)


def offered(request: Asked, *, without: Charge = account.NOTHING) -> tuple[account.Offer, wanted.Expected]:
    """What it would cost, and how far off noise alone would put the rows. Charges nothing.

    `without`: what was charged for the same to a process that died, and will be taken over.
    """
    cost = factors(METHODS[request.method].choosing)
    size = len(request.domain)
    offer = account.offer(
        request.policy, request.table, request.spend, cost, request.columns, analyst=request.analyst, without=without
    )
    if offer.amount < LEAST * size * size:
        raise Useless("the noise on every count would be thousands of rows", hint=SPEND_MORE)
    return offer, wanted.expected(request.domain, request.table, offer.amount)


def fitted(request: Asked, offer: account.Offer, told: Told) -> tuple[Model, int]:
    """Charge, then count, choose and fit. Raises NotEvaluated, with the charge kept, if anything goes wrong."""
    policy, what = request.policy, f"model of {request.table.name}"
    bought_rows.check_readable(policy)
    paid = account.buy(policy, offer, what=what, digest=request.digest, analyst=request.analyst)
    try:
        return model_of(offer, *measured(request, offer, told)), paid.entry
    except Exception as error:  # noqa: BLE001 (whatever went wrong may depend on the data: one neutral message)
        failure.record(state_folder(policy), error, paid.entry)
        raise NotEvaluated(FAILED) from None


def measured(request: Asked, offer: account.Offer, told: Told) -> tuple[Asked, Made]:
    """Count, choose and fit: what was charged before."""
    return counted_and_fitted(
        request, bought_rows.counted(request.policy, request.table, request.columns), offer.amount, told
    )


def counted_and_fitted(request: Asked, rows: pa.Table, amount: Fraction, told: Told) -> tuple[Asked, Made]:
    """Noisy counts of these rows for so much, and the model fitted to them; the request has the edges then."""
    method, names = METHODS[request.method], request.columns
    meter = Meter.of(amount, method.choosing, request.table.rows_per_person)
    request = replace(request, domain=bought(request.domain, request.cuts, rows, meter))
    sizes = tuple(a.size for a in request.domain)
    data = Coded.of([a.encode(rows[a.name]) for a in request.domain], sizes)
    run = Run(request.workload, request.zeros, told=lambda done, c: told(done, " and ".join(names[v] for v in c)))
    return request, method.fit(data, meter, run)


def model_of(offer: account.Offer, request: Asked, made: Made) -> Model:
    """What is kept of a fit: noisy figures only."""
    return Model(
        request.table.name,
        request.method,
        request.domain,
        made.fitted.parameters,
        made.deviations,
        made.rows,
        float(offer.rho),
        request.zeros,
        {"rows_per_person": request.table.rows_per_person},
    )


def synth(
    request: Asked,
    *,
    rows: int | None = None,
    anyway: bool = False,
    told: Told = lambda _done, _what: None,
    before: Callable[[account.Offer, wanted.Expected], None] = lambda *_: None,
    random: np.random.Generator | None = None,
) -> Synthetic:
    """Rows of nobody. `before` hears what it will cost and how good it may be, and may raise to refuse."""
    offer, expected = offered(request)
    if not anyway:
        wanted.check_useful(expected)
    before(offer, expected)
    model, entry = fitted(request, offer, told)
    drawn = model.sample(rows, random)
    return Synthetic(
        drawn, model, offer.guesses, expected, float(offer.rho), float(offer.share), float(offer.left), entry
    )
