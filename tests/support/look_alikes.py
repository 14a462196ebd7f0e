"""Made-up tables with the columns and types of the real ones, for a clone that stands alone. Nobody in them is real.

`write(name, folder)` makes one file, the same in every run. Marginals are roughly those of the real tables and columns
are independent, so what holds for every such table can be tested on them; published figures cannot.
"""

import csv
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

Rows = Iterable[Sequence[Any]]

ADULT = {  # value: how many in a thousand
    "sex": {"Male": 676, "Female": 324},
    "age": {str(a): max(2, 30 - abs(a - 36) // 2) for a in range(17, 91)},
    "race": {"White": 860, "Black": 93, "Asian-Pac-Islander": 30, "Amer-Indian-Eskimo": 9, "Other": 8},
    "marital-status": {
        "Married-civ-spouse": 466, "Never-married": 322, "Divorced": 140, "Separated": 31, "Widowed": 27,
        "Married-spouse-absent": 12, "Married-AF-spouse": 2,
    },
    "education": {
        "HS-grad": 326, "Some-college": 221, "Bachelors": 167, "Masters": 54, "Assoc-voc": 43, "11th": 35,
        "Assoc-acdm": 33, "10th": 27, "7th-8th": 19, "Prof-school": 18, "9th": 15, "12th": 13, "Doctorate": 12,
        "5th-6th": 10, "1st-4th": 5, "Preschool": 2,
    },
    "native-country": {"United-States": 912, "Mexico": 20, "Philippines": 6, **dict.fromkeys(
        ("Germany", "Puerto-Rico", "Canada", "India", "El-Salvador", "Cuba", "England", "Jamaica", "Italy"), 7)},
    "workclass": {
        "Private": 739, "Self-emp-not-inc": 83, "Local-gov": 69, "State-gov": 42, "Self-emp-inc": 36, "Federal-gov": 31,
        "Without-pay": 1,
    },
    "occupation": {
        "Prof-specialty": 134, "Craft-repair": 134, "Exec-managerial": 132, "Adm-clerical": 123, "Sales": 119,
        "Other-service": 106, "Machine-op-inspct": 65, "Transport-moving": 52, "Handlers-cleaners": 45,
        "Farming-fishing": 33, "Tech-support": 30, "Protective-serv": 21, "Priv-house-serv": 5, "Armed-Forces": 1,
    },
    "salary-class": {"<=50K": 751, ">50K": 249},
}  # fmt: skip
PUMS = ("age", "sex", "educ", "race", "income", "married")
METADATA = """"":
  PUMS:
    PUMS:
      rows: 1000
      age: {type: int, lower: 0, upper: 100}
      sex: {type: string}
      educ: {type: string}
      race: {type: string}
      income: {type: int, lower: 0, upper: 500000}
      married: {type: string}
      pid: {type: int, private_id: true}
"""


def adult() -> Rows:
    toss = random.Random(1)
    columns = [toss.choices(list(some), list(some.values()), k=30_162) for some in ADULT.values()]
    return [list(ADULT), *zip(*columns, strict=True)]


def hierarchy(column: str) -> Rows:
    """Three or four values in each class, two or three classes in each class above; everything at the top."""
    if column == "age":
        spans = [(5, 5), (10, 10), (20, 20)]
        ends = [[f"{a // w * w}-{a // w * w + w - 1}" for _, w in spans] for a in range(1, 101)]
        return [[a, *ends[a - 1], "*"] for a in range(1, 101)]
    values = list(ADULT[column])
    if len(values) <= 7:
        return [[v, "*"] for v in values]
    return [[v, f"{column} {i // 4}", f"{column} {i // 8} of few", "*"] for i, v in enumerate(values)]


def patients() -> Rows:
    toss = random.Random(2)
    sick = {"flu": 385, "asthma": 214, "fracture": 158, "diabetes": 150, "hypertension": 73, "HIV": 20}
    yield ["id", "name", "birth_year", "gender", "zip", "ward", "diagnosis", "cost", "los", "unbounded_score"]
    yield [1, "Alice", 1962, "F", "02138", "B", "HIV", 4200.5, 7, 0.37]
    for i in range(2, 1001):
        zip_code, (ill,) = f"0{toss.randrange(2138, 2143)}", toss.choices(list(sick), list(sick.values()))
        cost = round(min(toss.lognormvariate(6.5, 1), 20_000), 2)
        about = [toss.randrange(1930, 2006), toss.choice("FM"), zip_code, toss.choice("ABCD"), ill]
        yield [i, f"Person{i}", *about, cost, toss.randrange(1, 31), round(toss.random(), 3)]


def visits() -> Rows:
    toss = random.Random(3)
    left = dict.fromkeys(range(1, 1001), 14)  # no more of anybody: `rows_per_person` of the policy
    yield ["visit_id", "patient_id", "day", "cost"]
    for i in range(1, 5001):
        who = toss.choice([w for w in toss.sample(range(1, 1001), 20) if left[w]])
        left[who] -= 1
        yield [i, who, toss.randrange(1, 366), round(min(toss.lognormvariate(4.5, 1), 5_000), 2)]


def pums(*, ids: bool = False, twice: bool = False, gaps: bool = False) -> Rows:
    toss = random.Random(4)
    people = [
        [
            toss.randrange(18, 94),
            toss.randrange(2),
            toss.choices(range(1, 17), [33, 14, 38, 17, 24, 21, 31, 51, 201, 60, 165, 76, 178, 54, 24, 13])[0],
            toss.choices(range(1, 7), [550, 71, 265, 108, 1, 5])[0],
            0 if toss.random() < 0.12 else min(500_000, round(toss.lognormvariate(10, 1), -2)),
            toss.randrange(2),
            i,
        ]
        for i in range(1, 1001)
    ]
    again = [toss.choice(people) for _ in range(948)] if twice else []
    yield [*PUMS, "pid"] if ids else PUMS
    for person in [*people, *again]:
        shown = [None if gaps and toss.random() < 0.05 else v for v in person[:6]]
        yield [*shown, person[6]] if ids else shown


def amounts(names: str, rows: int, seed: int) -> Rows:
    toss = random.Random(seed)
    yield names.split()
    for _ in range(rows):
        yield [round(toss.lognormvariate(9, 1.5)) for _ in names.split()]


def survey() -> Rows:
    toss = random.Random(7)
    yield [
        "urbrur",
        "roof",
        "walls",
        "water",
        "electcon",
        "relat",
        "sex",
        "age",
        "hhcivil",
        "expend",
        "income",
        "savings",
        "ori_hid",
        "sampling_weight",
        "household_weights",
    ]
    home = 0
    for i in range(4580):
        home += i == 0 or toss.random() < 0.22
        coded = [toss.choices(range(1, k + 1), range(2 * k, k, -1))[0] for k in (2, 5, 4, 5, 2, 6, 2)]
        money = [toss.randrange(10**5, 10**8), toss.randrange(10**5, 10**8), toss.randrange(10**7) / 2]
        yield [*coded, toss.randrange(95), toss.randrange(1, 5), *money, home, 100, 25]


CASC = "AFNLWGT AGI EMCONTRB FEDTAX PTOTVAL STATETAX TAXINC POTHVAL INTVAL PEARNVAL FICA WSALVAL ERNVAL"
FILES: dict[str, Callable[[], Rows]] = {
    "adult/adult.csv": adult,
    **{f"adult/adult_hierarchy_{n}.csv": lambda n=n: hierarchy(n) for n in ADULT},  # type: ignore[misc]
    "attack_fixture/patients.csv": patients,
    "attack_fixture/visits.csv": visits,
    "pums/PUMS.csv": pums,
    "pums/PUMS_pid.csv": lambda: pums(ids=True),
    "pums/PUMS_dup.csv": lambda: pums(ids=True, twice=True),
    "pums/PUMS_null.csv": lambda: pums(ids=True, twice=True, gaps=True),
    "sdcmicro/sdcmicro_CASCrefmicrodata.csv": lambda: amounts(CASC, 1080, 5),
    "sdcmicro/sdcmicro_testdata.csv": survey,
}
SEMICOLON = "adult/"


def write(name: str, folder: Path) -> Path | None:
    """The file of this name below the folder, made if it is not there; None if there is no look-alike."""
    path = folder / name
    if path.exists():
        return path
    if name == "pums/PUMS_pid.yaml":
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(METADATA, encoding="utf-8")
        return path
    if name not in FILES:
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        separator = ";" if name.startswith(SEMICOLON) else ","
        csv.writer(file, delimiter=separator, lineterminator="\n").writerows(FILES[name]())
    return path
