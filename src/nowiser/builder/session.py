"""A session: a cap on what a notebook, a script or a colleague may spend. It charges nothing by itself.

Whatever is asked through a session is charged to the account as ever, and counted against the cap besides. A charge is
held against the cap before the ledger is asked to reserve it, and let go only where the ledger refused: so the charges
of all threads together never exceed the cap, and a charge that was refused does not count.
"""

from contextlib import AbstractContextManager
from fractions import Fraction
from itertools import count
from threading import Lock
from typing import Any, Self

from nowiser.builder.gate import Gate
from nowiser.errors import Exhausted, Misconfigured, Refused
from nowiser.guess.budget import allowance
from nowiser.ledger.base import Ledger, Reservation
from nowiser.ledger.flight import UnderWay
from nowiser.model.charge import Charge
from nowiser.model.policy import Policy
from nowiser.percent import percent
from nowiser.report.answer import Answer
from nowiser.report.shortage import LEAST, two_digits


class Capped:
    """A ledger that reserves charges only while they stay below a cap together; everything else it hands on."""

    def __init__(self, ledger: Ledger, policy: Policy, cap: Fraction) -> None:
        self._ledger, self._policy, self.cap = ledger, policy, cap
        self._lock = Lock()
        self._held: dict[int, Charge] = {}
        self._numbers = count()
        self.closed = False

    @property
    def charged(self) -> Charge:
        """Everything charged through it."""
        with self._lock:
            return self._sum()

    def reserve(self, charge: Charge, admit: Any, **named: Any) -> Reservation:
        number = self._hold(charge)
        try:
            return self._ledger.reserve(charge, admit, **named)
        except (Refused, UnderWay):  # nothing was charged; after any other failure that is not known
            with self._lock:
                del self._held[number]
            raise

    def fail(self, reservation: Reservation, owed: Charge = Charge()) -> None:  # noqa: B008 (frozen)
        """What a failed run owes besides counts too; it is never refused."""
        with self._lock:
            self._held[next(self._numbers)] = owed
        self._ledger.fail(reservation, owed)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)

    def _hold(self, charge: Charge) -> int:
        with self._lock:
            if self.closed:
                raise Misconfigured("The session is over.", hint='Open another: with gw.session(spend="20%") as s: …')
            if charge and not allowance.within(self._policy, self._sum() + charge, self.cap):
                raise Exhausted(
                    f"this would use more than the session may, which is {percent(float(self.cap))} of the allowance"
                )
            number = next(self._numbers)
            self._held[number] = charge
            return number

    def _sum(self) -> Charge:
        return Charge.of(amount for charge in self._held.values() for amount in charge.amounts)


class Session(AbstractContextManager["Session"]):
    """Questions that together may use at most a share of the whole allowance. From several threads, too."""

    def __init__(self, gate: Gate, ledger: Capped, analyst: str | None) -> None:
        self._gate, self._ledger, self._analyst = gate, ledger, analyst

    def run(
        self,
        question: Any,
        *,
        error: float | Fraction | None = None,
        spend: float | Fraction | str | None = None,
        clipped: bool = False,
        anyway: bool = False,
    ) -> Answer:
        """The answer to a question (SQL or built), as `Gateway.query`; Exhausted where the cap does not cover it."""
        more: dict[str, Any] = {"anyway": True} if anyway else {}
        try:
            return self._gate.query(question, error=error, spend=spend, analyst=self._analyst, clipped=clipped, **more)
        except Exhausted as refusal:
            left = self.left
            if refusal.left is not None and refusal.left <= left:
                raise
            ask = {"spend": f"{two_digits(100 * Fraction(left))}%"} if left >= LEAST else {}
            hint = f"{percent(left)} of the allowance is left for this session."
            raise Exhausted(refusal.message, hint=hint, needed=refusal.needed, left=left, ask=ask) from None

    @property
    def spent(self) -> float:
        """The share of the whole allowance that this session used."""
        return float(allowance.share_used(self._gate.policy, self._ledger.charged))

    @property
    def left(self) -> float:
        """The share that this session may still use."""
        return max(0.0, float(self._ledger.cap) - self.spent)

    @property
    def guesses(self) -> tuple[dict[str, Any], ...]:
        """Per attacker `guess`, `before`, `after` (of everything ever answered) and `limit`."""
        totals = self._ledger.totals()
        return tuple(guess.to_json() for guess in allowance.standing(self._gate.policy, totals))

    def __exit__(self, *_: object) -> None:
        self._ledger.closed = True

    def __enter__(self) -> Self:
        return self

    def __repr__(self) -> str:
        return f"<Session: {percent(self.spent)} of {percent(float(self._ledger.cap))} spent>"
