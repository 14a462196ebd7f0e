"""Three databases that differ in one person, and what an attacker can observe of a question on each of them.

`with_alice`, `without_alice` and `changed` (Alice has the flu instead of HIV) hold everything else equal. Whatever
an attacker sees besides noise must be the same on all three: the class of the outcome, the words, the charge.
"""

import csv
import json
import math
import random
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import nowiser
from nowiser.errors import NowiserError

NAMES = ("with_alice", "without_alice", "changed")

POLICY = """
nowiser: 1
tables:
  patients:
    source: patients.csv
    person: id
    columns:
      id: {identifier: integer}
      name: {sensitive: text}
      birth_year: {sensitive: [1900, 2026], kind: integer}
      gender: {sensitive: {values: [F, M]}}
      zip: {sensitive: {values: ["02138", "02139", "02140", "02141", "02142"]}}
      ward: {sensitive: {values: [A, B, C, D]}}
      diagnosis: {sensitive: {values: [HIV, asthma, diabetes, flu, fracture, hypertension]}}
      cost: {sensitive: [0, 20000], grid: 0.01}
      los: {sensitive: [0, 60], kind: integer}
%(more)s
  visits:
    source: visits.csv
    person: {patient_id: patients.id}
    rows_per_person: 14
    columns:
      visit_id: {identifier: integer}
      patient_id: {identifier: integer}
      day: {sensitive: [1, 366], kind: integer}
      cost: {sensitive: [0, 5000], grid: 0.01}
%(tables)s
attackers:
  - {guess: present in patients, gain: 45%%}
  - {guess: patients.diagnosis exactly, gain: 45%%}
answers: {spend: 0.5%%}
"""
SHARED = POLICY % {"more": "      unbounded_score: {sensitive: [0, 1], grid: 0.001}", "tables": ""}
OURS = POLICY % {
    "more": """      score: {sensitive: [-10, 10], grid: 0.001}
      admitted: {sensitive: {range: [2019-01-01, 2025-12-31]}}
      seen: {sensitive: {range: [2019-01-01 00:00:00, 2025-12-31 23:59:59]}, kind: timestamp}
      vip: {sensitive: boolean}""",
    "tables": """  wards:
    source: wards.csv
    public: true
    unique: [ward]
    columns:
      ward: {public: {values: [A, B, C, D]}}
      beds: {public: [0, 100], kind: integer}
      floor: {public: [0, 9], kind: integer}
  canteen:
    source: canteen.csv
    person: student
    protect: values
    columns:
      student: {identifier: integer}
      faculty: {public: {values: [math, computer science]}}
      time: {sensitive: [0, 60], prior: {normal: {mean: 20, sd: 5}}}""",
}


@dataclass(frozen=True)
class Seen:
    """Everything about one outcome that may not depend on the data: noisy values are left out."""

    kind: str  # `answered`, or the name of the error's class
    words: str  # the message, or what stands around the noisy values
    spent: str  # all totals of the ledger afterwards

    @property
    def refused(self) -> bool:
        return self.kind == "NotAnswerable"


def made_up_tables() -> dict[str, list[dict[str, Any]]]:
    """300 patients, about 900 visits, 4 wards, 60 canteen guests; nobody real."""
    toss = random.Random(20)
    sick = ["HIV", "asthma", "diabetes", "flu", "fracture", "hypertension"]
    patients = [
        {
            "id": i,
            "name": "Alice" if i == 1 else f"Person{i}",
            "birth_year": 1962 if i == 1 else toss.randrange(1930, 2005),
            "gender": "F" if i == 1 else toss.choice("FM"),
            "zip": f"0{toss.randrange(2138, 2143)}",
            "ward": "B" if i == 1 else toss.choice("ABCD"),
            "diagnosis": "HIV" if i == 1 else toss.choice(sick[1:]),
            "cost": round(toss.lognormvariate(6.5, 1), 2),
            "los": toss.randrange(1, 31),
            "score": ["NaN", "", "inf", 1e308][i % 4] if i < 12 else round(toss.uniform(-10, 10), 3),
            "admitted": date(2020, 1, 1) + timedelta(days=toss.randrange(1500)),
            "seen": f"{date(2020, 1, 1) + timedelta(days=toss.randrange(1500))} {toss.randrange(24):02}:30:00",
            "vip": toss.random() < 0.1,
        }
        for i in range(1, 301)
    ]
    visits = [
        {"patient_id": p["id"], "day": toss.randrange(1, 366), "cost": round(toss.lognormvariate(4.5, 1), 2)}
        for p in patients
        for _ in range(toss.randrange(1, 6))
    ]
    return {
        "patients": patients,
        "visits": [{"visit_id": i, **v} for i, v in enumerate(visits, 1)],
        "wards": [{"ward": w, "beds": 10 * n, "floor": n} for n, w in enumerate("ABCD", 1)],
        "canteen": [
            {
                "student": i,
                "faculty": toss.choice(["math", "computer science"]),
                "time": 12.5 if i == 1 else round(toss.gauss(20, 5), 1),
            }
            for i in range(1, 61)
        ],
    }


def read_tables(folder: Path, names: tuple[str, ...]) -> dict[str, list[dict[str, Any]]]:
    found = {}
    for name in names:
        with (folder / f"{name}.csv").open(encoding="utf-8") as file:
            found[name] = list(csv.DictReader(file))
    return found


def neighbours(tables: dict[str, list[dict[str, Any]]]) -> dict[str, dict[str, list[dict[str, Any]]]]:
    """The three databases, by name."""
    her = next(str(p["id"]) for p in tables["patients"] if p["name"] == "Alice")
    without = {**tables}
    without["patients"] = [p for p in tables["patients"] if str(p["id"]) != her]
    without["visits"] = [v for v in tables["visits"] if str(v["patient_id"]) != her]
    changed = {**tables}
    changed["patients"] = [{**p, "diagnosis": "flu"} if str(p["id"]) == her else p for p in tables["patients"]]
    if "canteen" in tables:  # there only the values are secret
        changed["canteen"] = [{**c, "time": 55} if c["student"] == 1 else c for c in tables["canteen"]]
    return dict(zip(NAMES, (tables, without, changed), strict=True))


def write(folder: Path, tables: dict[str, list[dict[str, Any]]], policy: str) -> Path:
    folder.mkdir(parents=True)
    for name, rows in tables.items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, fieldnames=list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    path = folder / "nowiser.yaml"
    path.write_text(policy, encoding="utf-8")
    return path


def ask(gateway: Any, sql: str, *, anyway: bool = True) -> tuple[Seen, Any]:
    """Ask, also where the answer is useless: an attacker would. An exception that is not one of ours is the failure the caller is looking for, so it is not caught."""
    answer = None
    try:
        answer = gateway.query(sql, anyway=anyway)
    except NowiserError as error:
        kind, words = type(error).__name__, str(error)
    else:
        said = answer.to_dict()
        kind = "answered"
        words = json.dumps(
            {k: said[k] for k in ("columns", "exact", "cost", "guesses", "left", "stored")}, sort_keys=True
        )
    return Seen(kind, words, str(gateway._ledger.totals())), answer


def noisy_columns(answer: Any) -> list[int]:
    return [i for i, name in enumerate(answer.columns) if name not in answer.exact]


def finite(value: Any) -> bool:
    return value is None or not isinstance(value, float) or math.isfinite(value)


def open_worlds(folder: Path, tables: dict[str, list[dict[str, Any]]], policy: str) -> dict[str, Any]:
    return {name: nowiser.open(write(folder / name, rows, policy)) for name, rows in neighbours(tables).items()}


def spelled(sql: Any) -> str:
    """The text of a case: a string, or parts of which `[text, times]` repeats."""
    if isinstance(sql, str):
        return sql
    return "".join(part if isinstance(part, str) else part[0] * part[1] for part in sql)
