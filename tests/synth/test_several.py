"""Persons with their rows: keys fit, limits hold, one charge for all, and rows are like those of such persons."""

from fractions import Fraction

import numpy as np
import pyarrow.csv as pc
import pytest

import nowiser as nw
from nowiser.bought import rows as bought_rows
from nowiser.errors import Misconfigured, NotAnswerable, NotEvaluated
from nowiser.ledger.opening import for_policy
from nowiser.policy import read
from nowiser.synth import several
from support.commands import nowiser

POLICY = """
nowiser: 1
delta: 1e-9
tables:
  patients:
    source: patients.csv
    person: id
    people: 4000
    columns:
      id: {identifier: text}
      sex: {sensitive: {values: [F, M]}, nullable: false, prior: uniform}
      age: {kind: integer, sensitive: [0, 99], nullable: false, prior: uniform}
  visits:
    source: visits.csv
    person: {patient: patients.id}
    rows_per_person: 3
    unique: [visit]
    columns:
      visit: {identifier: integer}
      patient: {identifier: text}
      ward: {sensitive: {values: [birth, heart, eyes]}, nullable: false}
  pills:
    source: pills.csv
    person: {patient: patients.id}
    columns:
      patient: {identifier: text}
      dose: {sensitive: [0, 10], grid: 0.5, nullable: true}
  notes:
    source: notes.csv
    person: {visit: visits.visit}
    columns:
      visit: {identifier: integer}
      text: {sensitive: {values: [a, b]}}
attackers:
  - {guess: present in patients, gain: 20%, promise: on average}
  - {guess: patients.sex exactly, gain: 20%, promise: on average}
"""


@pytest.fixture
def clinic(tmp_path):
    random = np.random.default_rng(1)
    patients, visits, pills = ["id,sex,age"], ["visit,patient,ward"], ["patient,dose"]
    for i in range(4000):
        sex, age = "FM"[i % 2], int(random.integers(18, 90))
        patients.append(f"p{i},{sex},{age}")
        for _ in range(0 if age < 30 else 1 if age < 60 else 5):  # more than count
            ward = "birth" if sex == "F" and age < 50 else random.choice(["heart", "eyes"])
            visits.append(f"{len(visits)},p{i},{ward}")
        pills.append(f"p{i},{random.integers(0, 20) / 2}")
    visits.append("99999,nobody,eyes")
    for name, lines in (("patients", patients), ("visits", visits), ("pills", pills), ("notes", ["visit,text"])):
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "nowiser.yaml").write_text(POLICY)
    return tmp_path / "nowiser.yaml"


def test_tables_fit_together_and_rows_are_like_their_persons(clinic, tmp_path):
    made = nw.synth("patients", policy=clinic, linked=["visits", "pills"], spend="60%", method="aim",
                    output=tmp_path / "out", cells={"age": 10})  # fmt: skip
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["patients.csv", "pills.csv", "visits.csv"]
    people, visits, pills = (made.to_arrow()[n].to_pydict() for n in ("patients", "visits", "pills"))
    assert pc.read_csv(tmp_path / "out" / "visits.csv").column_names == ["patient", "ward"]
    assert len(people["id"]) == pytest.approx(4000, abs=200)
    assert people["id"] == [str(i + 1) for i in range(len(people["id"]))]
    assert set(visits["patient"]) <= set(people["id"])
    number = dict.fromkeys(people["id"], 0)
    for p in visits["patient"]:
        number[p] += 1
    assert max(number.values()) == 3
    age, sex = dict(zip(people["id"], people["age"], strict=True)), dict(zip(people["id"], people["sex"], strict=True))
    assert np.mean([number[p] for p in number if age[p] > 70]) > 2.5
    assert np.mean([number[p] for p in number if age[p] < 28]) < 0.4
    young = [
        w == "birth" for p, w in zip(visits["patient"], visits["ward"], strict=True) if sex[p] == "F" and age[p] < 49
    ]
    men = [w == "birth" for p, w in zip(visits["patient"], visits["ward"], strict=True) if sex[p] == "M"]
    assert np.mean(young) > 0.25  # 7 % of all visits; with this noise .5 to 1 in 40 fits
    assert np.mean(men) < 0.15
    assert len(pills["patient"]) == pytest.approx(4000, abs=250)
    assert all(d is None or 0 <= d <= 10 for d in pills["dose"])
    with for_policy(read(clinic)) as ledger:
        entries = [e for e in ledger.entries() if e.kind == "publication"]
        assert [e.body["what"] for e in entries] == ["model of patients with visits with pills"]
        assert 0.59 < made.spent <= 0.6


def test_noise_is_for_all_rows_of_a_person_in_each_table(clinic):
    """A count of a linked table may move by rows_per_person; of the persons by one. Costs of all tables add up."""
    policy = read(clinic)
    request = several.asked(policy, "patients", ["visits"], spend=Fraction(1, 2), method="independent")
    offer, _ = several.offered(request)
    models = several._models(request, offer, lambda *_: None)
    spent = Fraction(0)
    for part, share in zip(request.parts, request.shares, strict=True):
        model, most = models[part.table.name], part.table.rows_per_person
        each = [most**2 / Fraction(d**2 - 1 / 12) for d in model.deviations.values()]
        assert float(sum(each)) == pytest.approx(float(offer.amount * share), rel=1e-3)
        spent += sum(each)
    assert float(spent) <= float(offer.amount) * (1 + 1e-9)


def test_only_rows_that_count_of_known_persons_are_read(clinic):
    policy = read(clinic)
    patients, visits = policy.table("patients"), policy.table("visits")
    found = bought_rows.of_persons(policy, patients, [visits], {"patients": ["sex", "age"], "visits": ["ward"]})
    assert found["patients"].column_names == ["sex", "age", "#visits"]
    assert found["visits"].column_names == ["ward", "patients.sex", "patients.age"]
    numbers = found["patients"]["#visits"].to_numpy()
    assert numbers.max() == 3
    assert numbers.sum() == len(found["visits"])
    assert len(numbers) == 4000


REFUSED = [
    ({"linked": ["notes"]}, NotAnswerable, "do not name a person of 'patients' themselves"),
    ({"linked": ["nothing"]}, Misconfigured, "no table 'nothing'"),
    ({"table": "visits", "linked": ["pills"]}, NotAnswerable, "do not name a person of 'visits'"),
    ({"linked": ["visits"], "columns": ["age"]}, Misconfigured, "no model or report is kept"),
    ({"linked": ["visits"], "cells": {"wards.x": 3}}, Misconfigured, "no table 'wards'"),
    ({"linked": ["visits"], "output": "out.csv"}, Misconfigured, "into a folder"),
    ({"linked": ["visits"], "rows": 0}, Misconfigured, "at least 1"),
]


@pytest.mark.parametrize("refused", REFUSED, ids=[words for _, _, words in REFUSED])
def test_what_is_wrong_is_said_before_anything_is_charged(clinic, tmp_path, monkeypatch, refused):
    options, kind, words = refused
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind) as error:
        nw.synth(**({"table": "patients", "policy": clinic, "spend": "10%"} | options))
    assert words in str(error.value)
    with for_policy(read(clinic)) as ledger:
        assert not ledger.totals()


def test_under_protected_values_it_is_refused(clinic):
    text = clinic.read_text().replace("    people: 4000\n", "    protect: values\n")
    clinic.write_text(text.replace("  - {guess: present in patients, gain: 20%, promise: on average}\n", ""))
    with pytest.raises(NotAnswerable, match="protect: values"):
        nw.synth("patients", policy=clinic, linked=["visits"], spend="10%")


def test_a_failure_keeps_the_charge_and_writes_nothing(clinic, tmp_path, monkeypatch):
    monkeypatch.setattr(several.bought_rows, "of_persons", lambda *_: 1 / 0)
    with pytest.raises(NotEvaluated):
        nw.synth("patients", policy=clinic, linked=["visits"], spend="10%", output=tmp_path / "out")
    with for_policy(read(clinic)) as ledger:
        assert ledger.totals()
    assert not (tmp_path / "out").exists()


def test_the_command_makes_a_folder(clinic, tmp_path):
    made = nowiser(
        tmp_path, "synth", "patients", "--linked", "visits", "--spend", "50%", "--method", "mst", "-o", "out"
    )
    assert made.returncode == 0, made.stderr
    assert "Rows of nobody that fit together" in made.stdout
    assert (tmp_path / "out" / "visits.csv").exists()
    again = nowiser(tmp_path, "synth", "patients", "--linked", "visits", "--spend", "10%", "-o", "out")
    assert again.returncode == 3
