"""The brake: what one account may use from midnight to midnight (UTC). BI tools ask, and spend, by themselves."""

from datetime import UTC, datetime, time
from fractions import Fraction
from typing import Any

from nowiser.errors import Exhausted
from nowiser.guess.budget import allowance
from nowiser.ledger.base import Admit, Ledger, Reservation
from nowiser.model.charge import Charge
from nowiser.model.policy import Policy
from nowiser.percent import percent


class Braked:
    """A ledger that admits no charge beyond an account's share of the day; everything else it hands on.

    What was charged today is looked up before the transaction that charges; what was charged to the account meanwhile,
    by its other connections, is added within it. So questions asked at the same moment pass the brake one by one.
    """

    def __init__(self, ledger: Ledger, policy: Policy, analyst: str, per_day: Fraction) -> None:
        self._ledger, self._policy, self._analyst, self._per_day = ledger, policy, analyst, per_day
        self.refusal: Exhausted | None = None  # its own, which says what is left today

    def reserve(self, charge: Charge, admit: Admit, **named: Any) -> Reservation:
        paid = bool(named.get("once")) and charge == self._ledger.abandoned(named["question"], named["data_version"])
        if not charge or paid or self._per_day >= 1:
            return self._ledger.reserve(charge, admit, **named)
        before = self._ledger.totals(self._analyst)  # first: what is charged from here on counts
        used = self._ledger.charged_since(self._analyst, midnight())
        self._hold(used, charge)

        def braked(every: Charge, own: Charge) -> None:
            self._hold(used + Charge.of((a, max(0, n - before[a])) for a, n in own.amounts), charge)
            admit(every, own)

        return self._ledger.reserve(charge, braked, **named)

    def _hold(self, used: Charge, charge: Charge) -> None:
        if allowance.within(self._policy, used + charge, self._per_day):
            return
        left = unused(self._policy, used, self._per_day)
        self.refusal = Exhausted(
            f"this would use more than {self._analyst} may use in a day, "
            f"which is {percent(float(self._per_day))} of the allowance",
            hint=f"{percent(float(left))} is left today; a new day begins at midnight UTC. "
            "The custodian can raise it: nowiser user change --per-day.",
            left=float(left),
        )
        raise self.refusal

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)


def left_today(ledger: Ledger, policy: Policy, analyst: str, per_day: Fraction) -> Fraction:
    """The share of the whole allowance that an account may still use until midnight."""
    return unused(policy, ledger.charged_since(analyst, midnight()), per_day)


def unused(policy: Policy, used: Charge, per_day: Fraction) -> Fraction:
    return max(Fraction(0), per_day - allowance.share_used(policy, used))


def midnight() -> datetime:
    return datetime.combine(datetime.now(UTC).date(), time(), UTC)
