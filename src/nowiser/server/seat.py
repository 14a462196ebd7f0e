"""A seat: the gateway as one account may use it. Blocking; surfaces call it in threads."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from nowiser.errors import Exhausted, NotAuthorised
from nowiser.gateway import Gateway
from nowiser.model.schema import Kind
from nowiser.report.account import Account as Statement, Line, account as statement
from nowiser.report.answer import Allowance, Answer
from nowiser.report.tables import Tables
from nowiser.server.people.account import Account
from nowiser.server.people.brake import Braked, left_today
from nowiser.sql.columns import Described


class Seat:
    """What one account asks is charged under its name, and held by its brake."""

    def __init__(self, gate: Gateway, account: Account) -> None:
        self.account = account
        self.gate = gate

    def query(self, sql: Any, **wish: Any) -> Answer:
        self._asks()
        brake = Braked(self.gate.ledger, self.gate.policy, self.account.name, self.account.per_day)
        try:
            return self.gate.through(brake).query(sql, analyst=self.account.name, **wish)
        except Exhausted:
            if brake.refusal is not None:  # what is left of the day, not of the allowance
                raise brake.refusal from None
            raise

    def explain(self, sql: Any, **wish: Any) -> Answer:
        self._asks()
        return self.gate.explain(sql, analyst=self.account.name, **wish)

    def describe(self, sql: Any, parameters: Sequence[Any] | None = None) -> tuple[Described, ...]:
        """Names and kinds of the columns of an answer; nothing is read or charged."""
        return self.gate.describe(sql, parameters)

    def parameters(self, sql: Any) -> tuple[Kind | None, ...]:
        """What each $1 holds, by what it stands beside; nothing is read or charged."""
        return self.gate.parameters(sql)

    def remaining(self, sql: Any, **wish: Any) -> float:
        """How many questions of this price still fit."""
        self._asks()
        return self.gate.remaining(sql, analyst=self.account.name, **wish)

    def tables(self) -> Tables:
        return self.gate.tables()

    def allowance(self) -> Allowance:
        return self.gate.allowance()

    def left_today(self) -> Fraction:
        """What the brake leaves until midnight, as a share of the whole allowance."""
        return left_today(self.gate.ledger, self.gate.policy, self.account.name, self.account.per_day)

    def history(self) -> tuple[Line, ...]:
        """What this account asked; what everybody asked, for those who may see it."""
        every = self.statement().lines
        if self.account.role.sees_all:
            return every
        return tuple(line for line in every if line.kind == "question" and line.who == self.account.name)

    def statement(self) -> Statement:
        """The account of all, read off the chain."""
        kept = self.gate.ledger
        return statement(self.gate.policy, kept.entries(), kept.analysts(), kept.failures())

    def _asks(self) -> None:
        if not self.account.role.asks:
            raise NotAuthorised("An auditor reads everything and asks nothing.")
