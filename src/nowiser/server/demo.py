"""`nowiser serve --demo`: a hospital, three people, nothing to prepare."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from nowiser.examples import hospital
from nowiser.examples.made_up import MadeUp
from nowiser.ledger import for_policy
from nowiser.policy import read
from nowiser.server.people.account import Role
from nowiser.server.people.register import Register

STAYS, ASKED = 1_000_000, 3_000  # so many stays that the answers of the first day are worth reading
MORE = {  # than the example of the other pages declares: what a dashboard needs, and a table that can be published
    "    rows_per_person: 4 ": "    people: 550000                     # about; no secret\n    rows_per_person: 4 ",
    "{spend: 5%}": "{spend: 5%, reuse: true}      # what follows from earlier answers is free",
    "attackers:\n": """\
  survey:                              # of people who were asked how they liked it; who was is known
    source: survey.parquet
    person: patient
    protect: values
    columns:
      patient: {identifier: integer}
      age: {public: [18, 97], kind: integer}
      sex: {public: [f, m]}
      district: {public: [north, east, south, west, centre]}
      satisfied:
        sensitive: [poor, fair, good, very good]
        prior: {categories: {poor: 20%, fair: 30%, good: 30%, very good: 20%}}
attackers:
  - {guess: survey.satisfied exactly, gain: 40%}
""",
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
        _survey(folder / "survey.parquet")
        text = file.read_text(encoding="utf-8")
        for said, more in MORE.items():
            assert said in text
            text = text.replace(said, more)
        file.write_text(text, encoding="utf-8")
    policy = read(file)
    with for_policy(policy) as kept:
        kept.declare(policy)
        register, found = Register(kept), []
        there = {account.name: account for account in register.every()}
        for name, role in PEOPLE:
            if name not in there:
                token = register.add(name, role, by="demo", per_day=Fraction(1, 4), label="demo")
            else:
                if any(token.label == "demo" for token in there[name].tokens):
                    register.drop_token(name, "demo", by="demo")
                token = register.add_token(name, "demo", by="demo")
            found.append(Entered(name, role, token))
    return file, tuple(found)


def _survey(file: Path) -> None:
    import numpy as np
    import pyarrow as pa
    from pyarrow import parquet

    made_up = MadeUp(1860)
    columns = {
        "patient": np.arange(1, ASKED + 1),
        "age": 18 + np.floor(80 * made_up.uniform(ASKED) ** 1.2).astype(np.int64),
        "sex": np.asarray(("f", "m"))[made_up.whole(ASKED, 0, 1)],
        "district": np.asarray(hospital.DISTRICTS)[made_up.choice(ASKED, (3, 2, 2, 2, 1))],
        "satisfied": np.asarray(("poor", "fair", "good", "very good"))[made_up.choice(ASKED, (2, 3, 3, 2))],
    }
    parquet.write_table(pa.table(columns), file)
