"""What the custodian promises: the policy file as one frozen value."""

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from nowiser.model.attacker import Attacker
from nowiser.model.prior import Prior
from nowiser.model.schema import Table
from nowiser.model.supplied import supplied


@dataclass(frozen=True, repr=False)
class Policy:
    """What the custodian declares and promises. It prints in words and draws itself in a notebook."""

    tables: tuple[Table, ...]
    attackers: tuple[Attacker, ...]
    # What attackers are taken to believe beforehand: `table.column` → about a sensitive column, cut to its range;
    # `table` → about the presence of a person in it, where that is secret.
    priors: dict[str, Prior]
    engine: str = "duckdb"
    spend: Fraction = Fraction(1, 20)  # default share of the whole allowance per question
    reuse: bool = False  # what follows from earlier answers is free
    # Where answers come from: the `data`, the `synopsis` paid for once, or `best`: the synopsis where precise enough.
    answers_from: str = "data"
    at_least: Fraction = Fraction(1, 10)  # seconds until a served answer is told; then twice, four, eight … times that
    delta: Fraction = Fraction(0)  # how often a promise may fail, over all answers; 0 forbids Gaussian noise
    key_delta: Fraction = Fraction(1, 10**9)  # for group keys without a declared domain
    independent: tuple[tuple[str, ...], ...] = ()  # groups of `table.column` declared independent of each other
    analysts: dict[str, Fraction] = field(default_factory=dict)  # share of the one common allowance
    version: int = 1
    ledger: str | None = None  # `sqlite:///file` or `postgresql://…`; None: beside the policy
    path: Path | None = None  # where it was read; relative sources and the state folder start here
    digest: str = ""  # SHA-256 of its canonical form

    def table(self, name: str) -> Table | None:
        return next((t for t in self.tables if t.name == name), None)

    def dependents(self, attribute: str) -> tuple[str, ...]:
        """Every attribute that may tell about this one: its independence group, or all undeclared ones."""
        everything = tuple(f"{t.name}.{c.name}" for t in self.tables if not t.is_public for c in t.columns if c.secret)
        for group in self.independent:
            if attribute in group:
                return group
        declared = {a for group in self.independent for a in group}
        return tuple(a for a in everything if a not in declared)

    def __repr__(self) -> str:
        name = self.path.name if self.path else self.digest[:12]
        many = "1 attacker" if len(self.attackers) == 1 else f"{len(self.attackers)} attackers"
        return f"<Policy {name}: {', '.join(t.name for t in self.tables)}; {many}>"

    def __str__(self) -> str:
        return str(supplied("policy_text")(self))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What IPython prints on a terminal."""
        printer.text(repr(self) if cycle else str(self))

    def _repr_html_(self) -> str:
        return str(supplied("policy_html")(self))
