"""What is said of a question besides its rows: bars, cost, how every attacker stands, and what is left."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from nowiser.asking.earlier import Old
from nowiser.guess.budget import allowance
from nowiser.model.charge import Charge
from nowiser.model.policy import Policy
from nowiser.report.answer import Answer
from nowiser.report.costs import cost_of
from nowiser.report.derivation import derivation
from nowiser.sql.aggregates.picked import of_nobody
from nowiser.sql.answer import results as release
from nowiser.sql.answer.expected import cells_of
from nowiser.sql.answer.vectors import vector
from nowiser.sql.columns import columns_of
from nowiser.sql.plan.choice import FREE, Chosen
from nowiser.sql.plan.plan import Plan
from nowiser.sql.read.bi import Setting

FOLLOWS = "Follows from earlier answers: free."


def barred(planned: Plan, old: Old, bars: tuple[Any, ...]) -> tuple[Any, ...]:
    """No bars for what a model infers."""
    if not old.inferred:
        return bars
    exact = release.exact_columns(planned)
    return tuple(b if o.name in exact else None for o, b in zip(planned.query.results, bars, strict=True))


def _worst(planned: Plan, old: Old, known: tuple[Any, ...]) -> dict[str, float]:
    """The widest bar of each column that only the rows decide. What follows is computed from released cells alone."""
    if old.inferred or all(b is not None for b in known):
        return {}
    found = zip(planned.query.results, known, release.results(planned, old.noise, old.cells).bars, strict=True)
    bars = {o.name: np.asarray(bar, dtype=np.float64) for o, b, bar in found if b is None and bar is not None}
    return {name: float(np.nanmax(bar)) for name, bar in bars.items() if np.isfinite(bar).any()}


class Telling:
    """Answers without rows, under one policy. Nothing here reads the data or the ledger."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.unguarded = allowance.unguarded(policy)
        self._last: tuple[Charge, tuple[dict[str, Any], ...], float] | None = None  # where everybody stood last time

    def dry(self, planned: Plan, chosen: Chosen, totals: Charge) -> Answer:
        """The answer but for its rows, as if its charge came on top of these totals."""
        answer = Answer(
            columns=tuple(o.name for o in planned.query.results),
            values=None,
            bars=release.planned_errors(planned, chosen.noise),
            exact=release.exact_columns(planned) if chosen.top is None else (),  # which groups is a noisy choice
            cost=cost_of(chosen.charge, self.policy),
            guesses=(),
            left=0.0,
            stored=False,
            bounding=planned.bounding,
            ranges=release.ranges(planned),
            kinds=tuple(c.kind.value for c in columns_of(planned.query)),
            notes=derivation(planned, chosen.name, chosen.noise, chosen.nats) + self._loose(chosen.charge),
        )
        return self.standing(answer, totals + chosen.charge, chosen.charge)

    def standing(self, answer: Answer, totals: Charge, charge: Charge = FREE) -> Answer:
        """With how every attacker stands after these totals, of which the last charge is part, and what is left."""
        if charge:
            return replace(answer, guesses=self.guesses(totals, charge), left=self.left(totals))
        last = self._last
        if last is None or last[0] != totals:  # stored answers are asked for again and again
            self._last = last = totals, self.guesses(totals), self.left(totals)
        return replace(answer, guesses=tuple(map(dict, last[1])), left=last[2])

    def would_follow(self, planned: Plan, old: Old, totals: Charge) -> Answer:
        """The same but for its rows."""
        dry = self.dry(planned, Chosen(FREE, tuple(None for _ in planned.reaches), FOLLOWS), totals)
        bars = barred(planned, old, release.planned_errors(planned, old.noise))
        return replace(
            dry,
            bars=bars,
            expected=_worst(planned, old, bars),
            expected_for="from earlier answers",
            notes=() if old.synopsis else (FOLLOWS,),
            synopsis=old.synopsis,
            follows=True,
            price=0.0,
        )

    def empty(self, planned: Plan, totals: Charge) -> Answer:
        """Of no rows everything is known: nothing is read, and nothing charged."""
        planned = of_nobody(planned)
        cells = cells_of(planned, np.zeros(len(planned.groups)))
        found = release.results(planned, [None] * len(planned.reaches), cells)
        names = tuple(o.name for o in planned.query.results)
        answer = Answer(
            columns=names,
            values=found.values,
            bars=tuple(0.0 for _ in names),
            exact=names,
            cost={},
            guesses=(),
            left=0.0,
            stored=False,
            bounding=planned.bounding,
        )
        return self.standing(answer, totals)

    def constant(self, found: Setting, totals: Charge) -> Answer:
        """SET and SHOW of what means nothing here: constants, free."""
        return Answer(
            columns=found.columns,
            values=tuple(vector(r[i] for r in found.rows) for i in range(len(found.columns))),
            bars=tuple(0.0 for _ in found.columns),
            exact=found.columns,
            cost={},
            guesses=self.guesses(totals),
            left=self.left(totals),
            stored=False,
            bounding=(),
        )

    def guesses(self, totals: Charge, charge: Charge = FREE) -> tuple[dict[str, Any], ...]:
        found = []
        for attacker, guess in zip(self.policy.attackers, allowance.standing(self.policy, totals), strict=True):
            used, answers = allowance.answers_left(self.policy, attacker, totals, charge)
            found.append(guess.to_json() | {"used": float(used), "answers": answers})
        return tuple(found)

    def left(self, totals: Charge) -> float:
        return float(max(Fraction(0), 1 - allowance.share_used(self.policy, totals)))

    def _loose(self, charge: Charge) -> tuple[str, ...]:
        """What this would be charged for although no attacker is declared who is after it."""
        charged = {name for account, _ in charge.amounts for name in account.about}
        names = [name for name in self.unguarded if name in charged]
        return tuple(f"  no attacker guards {name}: answers about it are never used up" for name in names)
