"""The canteen: when students of two faculties come to lunch, in minutes after noon. All of it is made up."""

import csv
from pathlib import Path

from nowiser.examples.made_up import MadeUp

POLICY = """\
nowiser: 1
engine: duckdb                       # embedded; or postgresql://…, spark://…
tables:
  visits:
    source: canteen.csv              # csv, parquet, or a table of the engine
    person: student                  # one person = one value of this column
    rows_per_person: 1               # enforced by the gateway, not trusted
    protect: values
    columns:
      student: identifier
      faculty: {public: [math, computer science]}
      time: {sensitive: [0, 60], prior: {normal: {mean: 20, sd: 5}}}
attackers:
  - {guess: visits.time within 2, gain: 5%}
answers: {spend: 5%}                 # default share of the whole allowance per question
"""

FACULTIES = ("math", "computer science")
DISHES = ("noodles", "curry", "salad", "soup")
_MINUTES = (19.0, 21.5)  # when students come on average, per faculty


def rows(students: int = 800) -> list[tuple[str, str, str, float]]:
    """`(student, faculty, dish, time)`, one per student; minutes with one decimal, from 0 to 60."""
    made_up = MadeUp(20)
    faculty = made_up.choice(students, (0.625, 0.375))
    dish = made_up.choice(students, (0.4, 0.3, 0.2, 0.1))
    spread = made_up.normal(students) * 5.0
    return [
        (
            f"s{number:04d}",
            FACULTIES[faculty[number]],
            DISHES[dish[number]],
            round(min(60.0, max(0.0, _MINUTES[faculty[number]] + float(spread[number]))), 1),
        )
        for number in range(students)
    ]


def write(folder: Path | str, *, students: int = 800) -> Path:
    """Write `canteen.csv` and `nowiser.yaml` into the folder; the path of the policy."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "canteen.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("student", "faculty", "dish", "time"))
        writer.writerows(rows(students))
    policy = folder / "nowiser.yaml"
    policy.write_text(POLICY, encoding="utf-8")
    return policy
