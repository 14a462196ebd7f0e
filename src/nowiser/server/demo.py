"""`nowiser serve --demo`: a hospital, three people, nothing to prepare."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from nowiser.examples import hospital
from nowiser.ledger import for_policy
from nowiser.policy import read
from nowiser.server.people.account import Role
from nowiser.server.people.register import Register

STAYS = 20_000
PEOPLE = (("ana", Role.analyst, "asks"), ("cleo", Role.custodian, "promises"), ("odo", Role.auditor, "checks"))
QUESTION = "SELECT ward, AVG(days) AS days FROM stays GROUP BY ward"


@dataclass(frozen=True)
class Entered:
    """Somebody who may log in, and how."""

    name: str
    does: str
    token: str


def prepare(folder: Path) -> tuple[Path, tuple[Entered, ...]]:
    """The hospital in this folder, with new tokens for its three people; what was asked before stays."""
    file = folder / "nowiser.yaml"
    if not file.exists():
        hospital.write(folder, stays=STAYS, form="csv")
    policy = read(file)
    with for_policy(policy) as kept:
        kept.declare(policy)
        register, found = Register(kept), []
        for name, role, does in PEOPLE:
            if register.find(name) is None:
                token = register.add(name, role, by="demo", per_day=Fraction(1, 4), label="demo")
            else:
                register.drop_token(name, "demo", by="demo")
                token = register.add_token(name, "demo", by="demo")
            found.append(Entered(name, does, token))
    return file, tuple(found)
