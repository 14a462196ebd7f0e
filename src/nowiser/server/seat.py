"""A seat: the gateway as one account may use it. Blocking; surfaces call it in threads."""

from typing import Any

from nowiser.errors import NotAuthorised
from nowiser.gateway import Gateway
from nowiser.report.account import Account as Statement, Line, account as statement
from nowiser.report.answer import Allowance, Answer
from nowiser.report.tables import Tables
from nowiser.server.people.account import Account
from nowiser.server.people.brake import Braked
from nowiser.sql.columns import Described


class Seat:
    """What one account asks is charged under its name, and held by its brake."""

    def __init__(self, gate: Gateway, account: Account) -> None:
        self.account = account
        self._plain = gate
        self._gate = gate.through(Braked(gate.ledger, gate.policy, account.name, account.per_day))

    @property
    def gate(self) -> Gateway:
        return self._plain

    def query(self, sql: Any, **wish: Any) -> Answer:
        self._asks()
        return self._gate.query(sql, analyst=self.account.name, **wish)

    def explain(self, sql: Any, **wish: Any) -> Answer:
        self._asks()
        return self._gate.explain(sql, analyst=self.account.name, **wish)

    def describe(self, sql: Any) -> tuple[Described, ...]:
        """Names and kinds of the columns of an answer; nothing is read or charged."""
        return self._gate.describe(sql)

    def tables(self) -> Tables:
        return self._gate.tables()

    def allowance(self) -> Allowance:
        return self._gate.allowance()

    def history(self) -> tuple[Line, ...]:
        """What this account asked; what everybody asked, for those who may see it."""
        every = self.statement().lines
        if self.account.role.sees_all:
            return every
        return tuple(line for line in every if line.kind == "question" and line.who == self.account.name)

    def statement(self) -> Statement:
        """The account of all, read off the chain."""
        kept = self._plain.ledger
        return statement(self._plain.policy, kept.entries(), kept.analysts(), kept.failures())

    def _asks(self) -> None:
        if not self.account.role.asks:
            raise NotAuthorised("An auditor reads everything and asks nothing.")
