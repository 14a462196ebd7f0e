"""A synopsis is made and paid for once: `nowiser prepare --synopsis 40%`.

    policy → domain → price → reserve → count and fit → settle

The ledger keeps it as the answer to a question of the custodian's: charged before the data are read, its digest in the
chain, found by every gateway of the policy, and gone from answers when the data change. A process that dies in between
has charged; the same synopsis asked for again takes that over.
"""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

from nowiser import engines
from nowiser.bought import account
from nowiser.errors import Misconfigured, NotEvaluated
from nowiser.guess.budget import allowance
from nowiser.guess.budget.allowance import Guess
from nowiser.ledger.flight import UnderWay
from nowiser.ledger.opening import for_policy, state_folder
from nowiser.model.policy import Policy
from nowiser.report import failure
from nowiser.report.synthetic import Said, synopsis_words
from nowiser.synth import synth as flow, wanted
from nowiser.synth.synopsis.value import Synopsis, base_of
from nowiser.synth.synth import FAILED, Asked, Told

BY = "custodian"
THERE = "this very synopsis was made already, or is being made just now; the data are still the same"
ANOTHER = "Answers from it are free. Another one (another share, other columns) adds to it."


@dataclass(frozen=True, eq=False, repr=False)
class Prepared(Said):
    """What was paid for."""

    synopsis: Synopsis
    guesses: tuple[Guess, ...]
    spent: float
    left: float
    entry: int
    answers_from: str  # what the policy says

    def __str__(self) -> str:
        return synopsis_words(self.to_json() | {"answers_from": self.answers_from})

    def to_json(self) -> dict[str, Any]:
        model = self.synopsis.model
        names = [a.name for a in model.domain]
        return {
            "table": model.table,
            "columns": names,
            "together": [[names[v] for v in m.columns] for m in self.synopsis.measured if len(m.columns) > 1],
            "deviation": max(m.variance for m in self.synopsis.measured) ** 0.5,
            "rho": model.rho,
            "spent": self.spent,
            "left": self.left,
            "guesses": [g.to_json() for g in self.guesses],
            "entry": self.entry,
        }


def request_of(
    policy: Policy,
    table: str | None = None,
    *,
    spend: Fraction,
    method: str = "all",
    columns: Sequence[str] | None = None,
    cells: Mapping[str, int | Sequence[Any]] | None = None,
    together: Sequence[str] = (),
) -> Asked:
    """The request, checked. `together`: what is counted together, as in ["age*ward*urgent"]; default: all pairs."""
    found = flow.asked(policy, table, spend=spend, method=method, columns=columns, cells=cells)
    if method == "all":
        return replace(found, workload=wanted.together(found.domain, together))
    if together:
        raise Misconfigured(f"the method {method!r} chooses by itself what it counts together")
    return found


def make(
    request: Asked,
    *,
    anyway: bool = False,
    told: Told = lambda _done, _what: None,
    before: Callable[[account.Offer, wanted.Expected], None] = lambda *_: None,
) -> Prepared:
    """Raises Exhausted, Useless or Misconfigured (it is there already), nothing charged; or NotEvaluated, charged."""
    policy, said = request.policy, f"-- a synopsis of {request.table.name}: {', '.join(request.columns)}"
    engine = engines.connect(policy)
    try:
        version = engine.prepared_version()
        with for_policy(policy) as ledger:
            ledger.declare(policy)
            name = _name(request)
            if ledger.stored(name, version) is not None:
                raise Misconfigured(THERE, hint=ANOTHER)
            offer, expected = flow.offered(request, without=ledger.abandoned(name, version))
            if not anyway:
                wanted.check_useful(expected)
            before(offer, expected)
            try:
                held = ledger.reserve(
                    offer.charge,
                    allowance.admit(policy, offer.charge),
                    policy=policy.digest,
                    question=name,
                    sql=said,
                    analyst=BY,
                    data_version=version,
                    once=True,
                )
            except UnderWay:
                raise Misconfigured(THERE, hint=ANOTHER) from None
            held.anchor()
            try:
                found, made = flow.measured(request, offer, told)
                _still(engine.prepared_version(), version)
                day = datetime.now(UTC).date().isoformat()
                synopsis = Synopsis(flow.model_of(offer, found, made), made.measured, day)
                ledger.settle(held, synopsis.to_bytes(), [base_of(policy, request.table)])
            except Exception as error:  # noqa: BLE001 (whatever went wrong may depend on the data: one neutral message)
                failure.record(state_folder(policy), error, held.seq)
                ledger.fail(held)
                raise NotEvaluated(FAILED) from None
    finally:
        engine.close()
    return Prepared(synopsis, offer.guesses, float(offer.share), float(offer.left), held.seq, policy.answers_from)


def _still(now: str, version: str) -> None:
    if now != version:
        raise ValueError("the data changed meanwhile")


def _name(request: Asked) -> str:
    """The same for the same columns, cells, workload, method and share."""
    said = [request.digest, sorted((list(c), w) for c, w in request.workload.items()), str(request.spend)]
    return hashlib.sha256(json.dumps(["synopsis", said]).encode()).hexdigest()
