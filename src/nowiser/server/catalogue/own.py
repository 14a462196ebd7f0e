"""Relations about the account itself: how well attackers guess by now, what is left, what was asked.

Rows are those that the account may see on every other surface; reading them is free.
"""

from collections.abc import Callable
from datetime import datetime
from fractions import Fraction
from typing import Any

from nowiser.guess.budget import allowance
from nowiser.server.people.brake import midnight
from nowiser.server.seat import Seat

Rows = list[tuple[Any, ...]]


def allowances(seat: Seat) -> Rows:
    """One row: what is left of the allowance of all, and of this account's day, in shares."""
    account, kept = seat.account, seat.gate.ledger
    used = allowance.share_used(seat.gate.policy, kept.charged_since(account.name, midnight()))
    left = seat.allowance()["left"]
    today = min(Fraction(left), max(Fraction(0), account.per_day - used))
    return [(float(left), float(today), float(account.per_day))]


def guesses(seat: Seat) -> Rows:
    """One row for each attacker's goal: guessed right in per cent, before, now, and at most."""
    guessed = seat.allowance()["guesses"]
    return [(g["guess"], *(round(100 * g[k], 6) for k in ("before", "after", "limit"))) for g in guessed]


def questions(seat: Seat) -> Rows:
    """One row for each question that was charged."""
    return [
        (datetime.fromisoformat(line.at).replace(tzinfo=None), line.who, line.what, float(line.share))
        for line in seat.history()
        if line.kind == "question"
    ]


RELATIONS: dict[str, Callable[[Seat], Rows]] = {"allowance": allowances, "guesses": guesses, "questions": questions}
