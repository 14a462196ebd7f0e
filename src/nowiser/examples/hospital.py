"""A hospital: 100,000 stays of some 55,000 patients on eight wards. All of it is made up."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from nowiser.examples.made_up import MadeUp

if TYPE_CHECKING:
    import pyarrow as pa

WARDS = ("surgery", "cardiology", "neurology", "oncology", "paediatrics", "maternity", "psychiatry", "geriatrics")
DIAGNOSES = ("injury", "heart", "stroke", "cancer", "infection", "birth", "depression", "diabetes", "other")
DISTRICTS = ("north", "east", "south", "west", "centre")

POLICY = """\
nowiser: 1
engine: duckdb
tables:
  patients:
    source: patients.{format}
    person: id
    columns:
      id: {{identifier: integer}}
      sex: {{sensitive: [f, m]}}
      birth_year: {{sensitive: [1920, 2024], kind: integer}}
      district: {{sensitive: [north, east, south, west, centre]}}
  stays:
    source: stays.{format}
    person: {{patient_id: patients.id}}  # a stay belongs to the patient of that row
    rows_per_person: 4                 # further stays of one patient are left out, and the answer says so
    presence: 10%                      # one in ten people of the region was here: that is no secret
    columns:
      stay_id: {{identifier: integer}}
      patient_id: {{identifier: integer}}
      ward: {{sensitive: [surgery, cardiology, neurology, oncology, paediatrics, maternity, psychiatry, geriatrics]}}
      diagnosis:
        sensitive: [injury, heart, stroke, cancer, infection, birth, depression, diabetes, other]
        prior:                         # as published for the whole country
          categories: {{injury: 15%, heart: 16%, stroke: 6%, cancer: 12%, infection: 12%, birth: 10%, depression: 8%,
                       diabetes: 7%, other: 14%}}
      admitted: {{sensitive: [2023-01-01, 2024-12-31]}}
      days: {{sensitive: [0, 60], kind: integer}}
      cost: {{sensitive: [0, 40000], grid: 0.01, prior: {{lognormal: {{mean: 8.5, sd: 0.6}}}}}}
      emergency: {{sensitive: boolean}}
  wards:
    source: wards.{format}
    public: true                       # nothing about persons
    unique: [ward]
    columns:
      ward: {{public: [surgery, cardiology, neurology, oncology, paediatrics, maternity, psychiatry, geriatrics]}}
      building: {{public: [A, B, C]}}
      beds: {{public: [0, 200], kind: integer}}
attackers:
  - {{guess: stays.diagnosis exactly, gain: 10%}}
  - {{guess: stays.cost within 500, gain: 10%}}
  - {{guess: present in stays, gain: 10%}}
answers: {{spend: 5%}}
"""


def tables(stays: int = 100_000) -> "dict[str, pa.Table]":
    """`patients`, `stays` and `wards` as Arrow tables."""
    import numpy as np
    import pyarrow as pa

    made_up = MadeUp(1859)
    patients = max(1, stays * 11 // 20)
    # A few patients come again and again: the chance of a stay falls off like a lognormal.
    weight = np.exp(0.5 * made_up.normal(patients))
    patient = made_up.choice(stays, weight.tolist())
    diagnosis = made_up.choice(stays, (14, 16, 6, 12, 13, 9, 8, 7, 15))
    ward = np.where(
        made_up.uniform(stays) < 0.75,
        np.asarray((0, 1, 2, 3, 4, 5, 6, 7, 0))[diagnosis],
        made_up.whole(stays, 0, len(WARDS) - 1),
    )
    days = np.clip(np.exp(1.2 + 0.8 * made_up.normal(stays)), 0, 90).astype(np.int64)
    dear = np.asarray((3200, 5200, 5800, 7400, 2600, 2100, 2900, 2300, 2400))[diagnosis]
    cost = np.round(dear * np.exp(0.4 * made_up.normal(stays)) + 410.0 * days, 2)
    first = np.datetime64("2023-01-01")
    ids = np.arange(1, patients + 1)
    return {
        "patients": pa.table(
            {
                "id": ids,
                "sex": pa.array(np.asarray(("f", "m"))[made_up.whole(patients, 0, 1)]),
                "birth_year": 1920 + np.floor(104 * np.sqrt(made_up.uniform(patients))).astype(np.int64),
                "district": pa.array(np.asarray(DISTRICTS)[made_up.choice(patients, (3, 2, 2, 2, 1))]),
            }
        ),
        "stays": pa.table(
            {
                "stay_id": np.arange(1, stays + 1),
                "patient_id": ids[patient],
                "ward": pa.array(np.asarray(WARDS)[ward]),
                "diagnosis": pa.array(np.asarray(DIAGNOSES)[diagnosis]),
                "admitted": pa.array(first + made_up.whole(stays, 0, 730).astype("timedelta64[D]")),
                "days": days,
                "cost": cost,
                "emergency": made_up.uniform(stays) < 0.4,
            }
        ),
        "wards": pa.table(
            {
                "ward": list(WARDS),
                "building": ["A", "A", "B", "B", "C", "C", "C", "B"],
                "beds": [90, 60, 45, 70, 40, 35, 50, 80],
            }
        ),
    }


def write(folder: Path | str, *, stays: int = 100_000, form: Literal["parquet", "csv"] = "parquet") -> Path:
    """Write the three tables and `nowiser.yaml` into the folder; the path of the policy."""
    from pyarrow import csv, parquet

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in tables(stays).items():
        path = folder / f"{name}.{form}"
        if form == "parquet":
            parquet.write_table(table, path)
        else:
            csv.write_csv(table, path)
    policy = folder / "nowiser.yaml"
    policy.write_text(POLICY.format(format=form), encoding="utf-8")
    return policy
