"""The synopses of a policy, as the ledger keeps them, and what follows from the last one of a table."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from nowiser.asking.earlier import Old
from nowiser.bought.domain import Domain
from nowiser.errors import NotAnswerable
from nowiser.ledger.base import Ledger
from nowiser.model.policy import Policy
from nowiser.model.schema import Table
from nowiser.sql.plan.plan import Plan
from nowiser.sql.tree import scan
from nowiser.synth.synopsis.answer import Told, answered
from nowiser.synth.synopsis.value import Synopsis, base_of


class Synopses:
    """Read from the ledger for every question, taken apart once."""

    def __init__(self, policy: Policy, ledger: Ledger) -> None:
        self._policy, self._ledger = policy, ledger
        self._known: dict[str, tuple[str, tuple[Synopsis, ...]]] = {}  # of a table: of which bytes, what they say

    def of(self, table: Table, version: str) -> tuple[Synopsis, ...]:
        """Those on these data, the last one first; those with the same cells are one."""
        kept = self._ledger.measurements(base_of(self._policy, table), version)
        name = sha256(b"".join(kept)).hexdigest()
        known = self._known.get(table.name)
        if known is None or known[0] != name:
            alike: dict[Domain, list[Synopsis]] = {}
            for one in (Synopsis.from_bytes(b) for b in reversed(kept)):
                alike.setdefault(one.model.domain, []).append(one)
            joined = tuple(last.and_also(before) for last, *before in alike.values())
            known = self._known[table.name] = name, joined
        return known[1]

    def answered(self, plan: Plan, version: str, public: Callable[[], list[Any]]) -> Old:
        """The cells of a plan, free. Raises NotAnswerable, with the reason, where no synopsis says them."""
        table = scan(plan.tally.relation).table
        found: list[tuple[Told, Synopsis]] = []
        why = NotAnswerable(
            f"Answers come from a synopsis, and there is none of {table.name!r} as its data are now.",
            hint="The custodian makes one: nowiser prepare --synopsis 40%.",
        )
        for one in self.of(table, version):
            try:
                found.append((answered(plan, one, public), one))
            except NotAnswerable as refused:
                why = refused
        if not found:
            raise why
        told, one = min(found, key=lambda pair: pair[0].width)
        return Old(told.noise, told.cells, words(told, one))


def words(told: Told, one: Synopsis) -> str:
    """Where an answer is from, and what is not known of it."""
    said = f"from the synopsis of {one.table}, made on {one.at}"
    if told.inferred:
        return f"{said}; {', '.join(told.inferred)}: not measured together, inferred by a model, error not known"
    if told.coarse:
        return f"{said}; bars are wide where a question cuts the cells of {', '.join(told.coarse)} (--cells)"
    return said
