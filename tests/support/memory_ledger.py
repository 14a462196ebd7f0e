"""An account in memory: adds up and admits like the real one, without waiting for a disk. For simulations only."""

from nowiser.ledger.base import Reservation
from nowiser.model.charge import Charge


class MemoryLedger:
    def __init__(self) -> None:
        self.spent: list[tuple[str, Charge]] = []
        self.answers: dict[tuple[str, str], bytes] = {}

    def declare(self, *_, **__) -> bool:
        return True

    def totals(self, analyst=None) -> Charge:
        return Charge.of(a for who, charge in self.spent if analyst is None or who == analyst for a in charge.amounts)

    def check_access(self, **_) -> None:
        pass

    def reserve(self, charge, admit, *, policy, question, sql, analyst, data_version, once=False) -> Reservation:
        admit(self.totals(), self.totals(analyst))
        self.spent.append((analyst, charge))
        return Reservation(len(self.spent), question, data_version, self.totals())

    def abandoned(self, *_) -> Charge:
        return Charge()

    def measurements(self, *_):
        return []

    def settle(self, reservation, answer, measured=()) -> None:
        self.answers[reservation.question, reservation.data_version] = answer

    def fail(self, *_) -> None:
        pass

    def stored(self, question, data_version):
        return self.answers.get((question, data_version))

    def close(self) -> None:
        pass
