"""A model under a policy:  policy → domain → offer → charge → rows → fit → judge → card.

Until the charge nothing secret was touched; afterwards it stays, whatever happens.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import pyarrow as pa

from nowiser import ledger
from nowiser.bought import account
from nowiser.bought.rows import PERSON, check_readable, counted
from nowiser.errors import Misconfigured, NotEvaluated
from nowiser.learn.boosting import Boosting
from nowiser.learn.card import Card, expected_words
from nowiser.learn.declared import classes_of, features_of, range_of
from nowiser.learn.domain import Domain
from nowiser.learn.estimator import Classifier, Estimator, Regressor
from nowiser.learn.expected import expected
from nowiser.learn.judged import held_back, judged
from nowiser.learn.saved import written
from nowiser.learn.spending import Spending, silent
from nowiser.model.policy import Policy
from nowiser.model.schema import Table
from nowiser.noise.entropy import OS
from nowiser.percent import percent
from nowiser.report import failure
from nowiser.report.synthetic import guess_line
from nowiser.sql.plan.precision import wish

FAILED = "The model could not be fitted. It is charged, because what a failure tells is not known."
HELD_BACK, NOBODY = Fraction(1, 10), Fraction(0)  # of the people, to try the model on

Heard = Callable[[float, str], None]  # how far it is, and with what


@dataclass(frozen=True)
class Wanted:
    """What is to be learned, and what it may cost."""

    policy: Policy
    table: Table
    target: str | None
    model: Estimator
    domain: Domain
    offer: account.Offer
    expected: dict[str, float]
    analyst: str | None

    def __str__(self) -> str:
        about = f"{type(self.model).__name__} of {self.table.name}"
        about += f", to predict {self.target}" if self.target else ""
        cost = f"would cost {percent(float(self.offer.share))} of the allowance (ρ = {float(self.offer.rho):.4g})"
        lines = [
            f"{about}, from {', '.join(self.domain.names)}, {cost}.",
            *(guess_line(g.to_json()) for g in self.offer.guesses),
        ]
        return "\n".join([*lines, *expected_words(self.expected), "Nothing was charged."])

    def to_json(self) -> dict[str, Any]:
        return {
            "model": type(self.model).__name__,
            "table": self.table.name,
            "target": self.target,
            "features": list(self.domain.names),
            "rho": float(self.offer.rho),
            "share": float(self.offer.share),
            "left": float(self.offer.left),
            "guesses": [g.to_json() for g in self.offer.guesses],
            "expected": self.expected,
        }

    @property
    def digest(self) -> str:
        """What was asked for, for the ledger."""
        asked = [self.table.name, self.target, self.domain.names, type(self.model).__name__, written(self.domain)]
        asked += [{n: written(v) for n, v in self.model.get_params().items()}, str(self.offer.rho)]
        return hashlib.sha256(json.dumps(asked, default=str).encode()).hexdigest()


def learn(policy: Policy, table: str, *, heard: Heard = silent, **wanted: Any) -> Any:
    """A model fitted on the rows of a policy's table, with its card in `card_`. See `Gateway.learn`."""
    return fit(plan(policy, table, **wanted), heard=heard)


def fit(wanted: Wanted, *, heard: Heard = silent) -> Any:
    """Charge for it, then read the rows that count, fit, and try it on people held back."""
    policy, table, target = wanted.policy, wanted.table, wanted.target
    what = f"model of {table.name}"
    check_readable(policy)
    bought = account.buy(policy, wanted.offer, what=what, digest=wanted.digest, analyst=wanted.analyst)
    try:
        heard(0.0, "reading the rows that count")
        rows = counted(policy, table, [*wanted.domain.names, *([target] if target else [])], whose=True)
        people = rows[PERSON].to_numpy()
        tried = held_back(people, HELD_BACK if target else NOBODY, OS)
        fitted = _fitted(wanted, rows.filter(pa.array(~tried)), people[~tried], heard)
        heard(1.0, "trying it on people it was not fitted on")
        spending = Spending(wanted.offer.rho, table.rows_per_person)
        last = rows.filter(pa.array(tried))
        quality = judged(fitted, last, last[target].to_pylist(), spending) if target else {}
    except Exception as error:  # noqa: BLE001 (whatever went wrong may depend on the data: one neutral message)
        failure.record(ledger.state_folder(policy), error, bought.entry)
        raise NotEvaluated(FAILED) from None
    fitted.card_ = _card(wanted, fitted, quality, bought.entry)
    return fitted


def plan(
    policy: Policy,
    table: str,
    *,
    target: str | None = None,
    features: Sequence[str] | None = None,
    model: Estimator | None = None,
    spend: float | Fraction | str | None = None,
    analyst: str | None = None,
) -> Wanted:
    """What a model would cost and how well it may do. Touches nothing secret, charges nothing."""
    chosen = policy.table(table)
    if chosen is None:
        raise Misconfigured(f"no table {table!r}; the policy has {', '.join(t.name for t in policy.tables)}")
    account.of_people(chosen)
    model = Boosting() if model is None else model
    if model.rho is not None or model.gain is not None or model.bounds is not None:
        raise Misconfigured(
            "the policy says what a model may cost and what is known about its columns",
            hint="Leave rho, gain and bounds out; say spend=….",
        )
    if getattr(model, "sample", 1) != 1:
        raise Misconfigured(
            "under a policy all people are in each step: what samples cost has no place in its account",
            hint="Leave sample out. With the same spend the model is as good, and takes longer.",
        )
    domain = features_of(policy, chosen, features, target)
    model = replace(model, rows_per_person=chosen.rows_per_person, **_told(policy, chosen, model, target))
    share = wish(policy, None, spend).spend
    assert share is not None
    columns = (*domain.names, *([target] if target is not None else []))
    factors = account.Factors(presence=1, jump=model.jump)
    offered = account.offer(policy, chosen, share, factors, columns, analyst=analyst)
    return Wanted(
        policy, chosen, target, model, domain, offered, expected(model, domain, offered.rho, chosen.people), analyst
    )


def _told(policy: Policy, table: Table, model: Estimator, target: str | None) -> dict[str, Any]:
    """What a model must know about its target."""
    predicts = isinstance(model, Classifier | Regressor)
    if predicts != (target is not None):
        raise Misconfigured(f"{type(model).__name__} {'predicts a target: name one' if predicts else 'has no target'}")
    if target is None:
        return {}
    if isinstance(model, Classifier):
        return {"classes": list(classes_of(policy, table, target))}
    return {"target": range_of(policy, table, target)}


def _fitted(wanted: Wanted, rows: pa.Table, people: Any, heard: Heard) -> Any:
    model = replace(wanted.model, rho=wanted.offer.rho, bounds=wanted.domain).hearing(heard)
    groups = people if wanted.table.rows_per_person > 1 else None
    if wanted.target is None:
        return model.fit(rows, groups=groups)
    return model.fit(rows, rows[wanted.target].to_pylist(), groups=groups)


def _card(wanted: Wanted, fitted: Any, quality: dict[str, float], entry: int) -> Card:
    offered = wanted.offer
    return Card(
        model=type(fitted).__name__,
        table=wanted.table.name,
        target=wanted.target,
        features=wanted.domain.names,
        rho=float(offered.rho),
        share=float(offered.share),
        left=float(offered.left),
        guesses=tuple(g.to_json() for g in offered.guesses),
        cost=fitted.cost_,
        expected=wanted.expected,
        quality=quality,
        entry=entry,
        policy=wanted.policy.digest,
    )
