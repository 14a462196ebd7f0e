"""The PUMS questions at the same epsilon: the relative error of nowiser beside SmartNoise and OpenDP.

Epsilon is what our plan charges for a person coming or going; the peers get exactly that much for the question.
The relative error is the mean over repetitions of |answer − truth| / |truth|; with groups the median over groups and
repetitions, since a small group can be off by any factor. SmartNoise leaves out groups below a threshold: its figure
is over the groups it shows, and ours over the same groups stands beside it.
"""

import csv
import os
import statistics
import tempfile
import time
from collections import defaultdict
from pathlib import Path

from benchmarks.peers import ROOT, ask

REPEATS = 400  # a mean of |Laplace| over so many is known to a twentieth of itself
OF_SMARTNOISE = 40  # which takes some hundred times as long
POLICY = """
nowiser: 1
tables:
  people:
    source: {source}
    person: pid
    columns:
      pid: {{identifier: integer}}
      age: {{sensitive: [0, 100], kind: integer, nullable: false}}
      sex: {{sensitive: {{values: ["0", "1"]}}, nullable: false}}
      educ:
        sensitive: {{values: ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"]}}
        nullable: false
      race: {{sensitive: {{values: ["1", "2", "3", "4", "5", "6"]}}, nullable: false}}
      income: {{sensitive: [0, 500000], kind: integer, nullable: false}}
      married: {{sensitive: {{values: ["0", "1"]}}, nullable: false}}
attackers:
  - {{guess: present in people, gain: 24.4%}}   # what epsilon 1 gives from the worst prior
answers: {{spend: 100%}}
"""
EDUCATION = list(range(1, 17))
QUESTIONS = {
    "people": ("SELECT COUNT(*) AS x FROM people", {"what": "count"}),
    "income above 50,000": (
        "SELECT COUNT(*) AS x FROM people WHERE income > 50000",
        {"what": "count", "above": {"income": 50000}},
    ),
    "sum of income": ("SELECT SUM(income) AS x FROM people", {"what": "sum", "column": "income"}),
    "mean age": ("SELECT AVG(age) AS x FROM people", {"what": "avg", "column": "age"}),
    "mean income": ("SELECT AVG(income) AS x FROM people", {"what": "avg", "column": "income"}),
    "people by education": (
        "SELECT educ, COUNT(*) AS x FROM people GROUP BY educ",
        {"what": "count", "by": "educ", "keys": EDUCATION},
    ),
    "mean age by education": (
        "SELECT educ, AVG(age) AS x FROM people GROUP BY educ",
        {"what": "avg", "column": "age", "by": "educ", "keys": EDUCATION},
    ),
    "mean income by education": (
        "SELECT educ, AVG(income) AS x FROM people GROUP BY educ",
        {"what": "avg", "column": "income", "by": "educ", "keys": EDUCATION},
    ),
}  # fmt: skip


def run() -> list[dict]:
    folder = Path(os.environ.get("NOWISER_TEST_DATA", ROOT.parent / "shared" / "data")) / "pums"
    if not folder.is_dir():
        return [{"question": "all", "absent": "set NOWISER_TEST_DATA to a folder with pums/"}]
    truth = exact(folder)
    ours, epsilon = nowiser(folder)
    peers = {
        "SmartNoise": ask(
            "smartnoise-sql",
            "smartnoise_pums.py",
            folder=str(folder),
            questions={n: q for n, (q, _) in QUESTIONS.items()},
            epsilon=epsilon,
            repeats=OF_SMARTNOISE,
        ),
        "OpenDP": ask(
            "smartnoise-sql",
            "opendp_pums.py",
            folder=str(folder),
            shapes={n: s for n, (_, s) in QUESTIONS.items()},
            epsilon=epsilon,
            repeats=REPEATS,
        ),
    }
    return [
        row(name, epsilon[name], truth[name], {"nowiser": ours[name], **{p: one(f, name) for p, f in peers.items()}})
        for name in QUESTIONS
    ]


def one(found: dict, name: str) -> dict:
    return found if "absent" in found else found[name]


def row(name: str, epsilon: float, truth: dict, found: dict[str, dict]) -> dict:
    shown: dict = {"question": name, "epsilon": epsilon}
    ours = errors(truth, found["nowiser"]["answers"])
    for system, result in found.items():
        if "absent" in result:
            shown[system] = result["absent"]
            continue
        theirs = errors(truth, result["answers"])
        shown[system] = f"{typical(theirs):.2%} ±{spread(theirs, len(result['answers'])):.2%}"
        share = len(theirs) / (len(truth) * len(result["answers"]))
        if share < 0.995:
            same = [e for key, _ in theirs for k, e in ours if k == key]
            shown[system] += f" in {share:.0%} of the groups (nowiser there {statistics.median(same):.2%})"
        shown[f"{system} ms"] = round(1000 * result["seconds"], 1)
    return shown


def errors(truth: dict, answers: list) -> list[tuple[str, float]]:
    """Relative errors with their group, over all repetitions; groups that are empty in truth have none."""
    found = []
    for answer in answers:
        cells = {str(int(float(r[0]))) if len(r) > 1 else "": float(r[-1]) for r in answer}
        found += [(key, abs(value - truth[key]) / abs(truth[key])) for key, value in cells.items() if truth.get(key)]
    return found


def typical(found: list[tuple[str, float]]) -> float:
    grouped = len({key for key, _ in found}) > 1
    return (statistics.median if grouped else statistics.fmean)(e for _, e in found)


def spread(found: list[tuple[str, float]], repeats: int) -> float:
    """The standard error of the figure, from four parts of the repetitions."""
    parts = [found[i * len(found) // 4 : (i + 1) * len(found) // 4] for i in range(4)]
    return statistics.stdev(typical(part) for part in parts) / 2 if repeats >= 8 else float("nan")


def exact(folder: Path) -> dict[str, dict[str, float]]:
    """The true answers, from the rows."""
    with (folder / "PUMS.csv").open(encoding="utf-8") as file:
        rows = [{k: float(v) for k, v in r.items()} for r in csv.DictReader(file)]
    found: dict[str, dict[str, float]] = {}
    for name, (_, shape) in QUESTIONS.items():
        groups: dict[str, list[float]] = defaultdict(list)
        for r in rows:
            if all(r[c] > v for c, v in shape.get("above", {}).items()):
                groups[str(int(r[shape["by"]])) if "by" in shape else ""].append(r[shape.get("column", "age")])
        reduce = {"count": len, "sum": sum, "avg": statistics.fmean}[shape["what"]]
        found[name] = {key: float(reduce(values)) for key, values in groups.items()}
    return found


def nowiser(folder: Path) -> tuple[dict[str, dict], dict[str, float]]:
    """Our answers, each by a gateway that remembers nothing: only the error is measured here, not the account."""
    from nowiser.gateway import Gateway
    from nowiser.policy import read

    answers, epsilon = {}, {}
    with tempfile.TemporaryDirectory() as home:
        path = Path(home) / "nowiser.yaml"
        path.write_text(POLICY.format(source=folder / "PUMS_pid.csv"), encoding="utf-8")
        gateway = Gateway(read(path), account=forgetful())
        for name, (sql, _) in QUESTIONS.items():
            first = gateway.query(sql, anyway=True)
            epsilon[name] = max(c.get("presence", 0) for table in first.cost.values() for c in table.values())
            started = time.perf_counter()
            rows = [[list(r) for r in gateway.query(sql, anyway=True).rows] for _ in range(REPEATS)]
            answers[name] = {"answers": rows, "seconds": (time.perf_counter() - started) / REPEATS}
        gateway.close()
    return answers, epsilon


def forgetful() -> object:
    """An account that admits each question as if it were the first and stores no answer."""
    from nowiser.ledger.base import Reservation
    from nowiser.model.charge import Charge

    class Forgetful:
        def totals(self, *_):
            return Charge()

        def stored(self, *_):
            return None

        def abandoned(self, *_):
            return Charge()

        def reserve(self, charge, admit, *, question, data_version, **_):
            admit(Charge(), Charge())
            return Reservation(1, question, data_version, charge)

        def declare(self, *_, **__):
            return True

        settle = fail = close = check_access = lambda *_, **__: None

    return Forgetful()
