"""An account in memory for one attack: adds up and admits like the real one, and is gone afterwards."""

from typing import Any

from nowiser.ledger.base import Admit, Reservation
from nowiser.model.charge import Charge


class MemoryAccount:
    """As much of a ledger as a gateway needs to answer questions."""

    def __init__(self) -> None:
        self._spent: list[tuple[str, Charge]] = []
        self._answers: dict[tuple[str, str], bytes] = {}

    def declare(self, *_: Any, **__: Any) -> bool:
        return True

    def check_access(self, **_: Any) -> None:
        """Whoever attacks may ask."""

    def totals(self, analyst: str | None = None) -> Charge:
        return Charge.of(a for who, charge in self._spent if analyst in (None, who) for a in charge.amounts)

    def reserve(self, charge: Charge, admit: Admit, **said: Any) -> Reservation:
        admit(self.totals(), self.totals(said["analyst"]))
        self._spent.append((said["analyst"], charge))
        return Reservation(len(self._spent), said["question"], said["data_version"], self.totals())

    def abandoned(self, *_: Any) -> Charge:
        return Charge.of(())

    def measurements(self, *_: Any) -> list[Any]:
        return []

    def settle(self, reservation: Reservation, answer: bytes, measured: Any = ()) -> None:
        del measured
        self._answers[reservation.question, reservation.data_version] = answer

    def fail(self, *_: Any) -> None:
        """What was reserved stays charged."""

    def stored(self, question: str, data_version: str) -> bytes | None:
        return self._answers.get((question, data_version))

    def close(self) -> None:
        """Nothing is open."""
