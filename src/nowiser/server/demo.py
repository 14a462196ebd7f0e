"""`nowiser serve --demo`: a hospital, three people, nothing to prepare."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from nowiser.examples import hospital
from nowiser.ledger import for_policy
from nowiser.policy import read
from nowiser.server.people.account import Role
from nowiser.server.people.register import Register

STAYS = 1_000_000  # so many that the answers of the first day are worth reading
MORE = {  # than the example of the other pages declares: what a dashboard needs
    "    rows_per_person: 4 ": "    people: 550000                     # about; no secret\n    rows_per_person: 4 ",
    "{spend: 5%}": "{spend: 5%, reuse: true}      # what follows from earlier answers is free",
}
PEOPLE = (("ana", Role.analyst), ("cleo", Role.custodian), ("odo", Role.auditor))
QUESTION = "SELECT ward, COUNT(*) AS stays, AVG(days) AS days FROM stays GROUP BY ward"


@dataclass(frozen=True)
class Entered:
    """Somebody who may log in, and how."""

    name: str
    role: Role
    token: str


def prepare(folder: Path) -> tuple[Path, tuple[Entered, ...]]:
    """The hospital in this folder, with new tokens for its three people; what was asked before stays."""
    file = folder / "nowiser.yaml"
    if not file.exists():
        hospital.write(folder, stays=STAYS)
        text = file.read_text(encoding="utf-8")
        for said, more in MORE.items():
            assert said in text
            text = text.replace(said, more)
        file.write_text(text, encoding="utf-8")
    policy = read(file)
    with for_policy(policy) as kept:
        kept.declare(policy)
        register, found = Register(kept), []
        for name, role in PEOPLE:
            if register.find(name) is None:
                token = register.add(name, role, by="demo", per_day=Fraction(1, 4), label="demo")
            else:
                register.drop_token(name, "demo", by="demo")
                token = register.add_token(name, "demo", by="demo")
            found.append(Entered(name, role, token))
    return file, tuple(found)
