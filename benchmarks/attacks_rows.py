"""Attacks on released rows, on halves of Adult: processor seconds beside anonymeter and SDMetrics, and `limit`.

The release is one half with a fifth of its cells drawn anew from their columns. `peer` is the same task by anonymeter,
for distances by SDMetrics (3,000 rows); a task of ours is members, people outside, and the guess without the release.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pc

from benchmarks.peers import ask
from nowiser.attacks.harness import scored
from nowiser.attacks.registry import attacks
from nowiser.attacks.rows import Rows
from nowiser.attacks.soft import encoded
from nowiser.attacks.tables.shadow import Shadow
from nowiser.attacks.view import View
from nowiser.microdata.risk.nearest import nearest
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.microdata.table.read import load

DATA = Path(os.environ.get("NOWISER_TEST_DATA", Path(__file__).resolve().parent.parent.parent / "shared" / "data"))
KNOWN = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]
SECRET, MANY = "occupation", 3000


def run() -> list[dict[str, Any]]:
    adult = DATA / "adult" / "adult.csv"
    if not adult.exists():
        return [{"task": "Adult is not here (NOWISER_TEST_DATA)"}]
    whole = load(adult).to_arrow()
    random = np.random.default_rng(0)
    inside, outside = (whole.take(pa.array(np.sort(h))) for h in np.array_split(random.permutation(len(whole)), 2))
    with tempfile.TemporaryDirectory() as folder:
        files = {n: str(Path(folder) / f"{n}.csv") for n in ("original", "released", "control")}
        for name, table in zip(files, (inside, blurred(inside, random), outside), strict=True):
            pc.write_csv(table, files[name])
        theirs = ask("anonymeter", "anonymeter_attacks.py", known=KNOWN, secret=SECRET, many=MANY, **files)
        distances = ask("sdmetrics", "sdmetrics_distances.py", many=MANY, **files)
        old, new, other = (load(f) for f in files.values())
        game = Rows(old, aligned(new), tuple(KNOWN), SECRET, control=other, seed=1)
        scored(attacks()["nearest"], game, "members", 10, 1)  # numba's code is loaded once
        return [
            row("attribute inference, 3,000 + 3,000", 1.0, lambda: both(game, "nearest", MANY), theirs, "inference"),
            row("singling out, 500 predicates", 0.5, lambda: both(game, "singling out", 500), theirs, "singling out"),
            row("linkage, 1,000", 0.3, lambda: both(game, "linkage", 1000), theirs, "linkage"),
            row("nearest rows of 6,000 among 15,081", 0.5, lambda: closest(old, other, new), distances, "seconds"),
            row("model: members and control", 3.0, lambda: both(game, "model", 30_162), {}, ""),
            row("shadow runs: 1,200 of 500 rows", 4.0, lambda: shadows(old), {}, ""),
            command(files),
        ]


def blurred(table: pa.Table, random: np.random.Generator) -> pa.Table:
    made = {}
    for name in table.column_names:
        here = np.arange(len(table))
        anew = random.random(len(table)) < 0.2
        here[anew] = random.integers(0, len(table), int(anew.sum()))
        made[name] = table[name].take(pa.array(here))
    return pa.table(made)


def aligned(table: MicroTable) -> MicroTable:
    return MicroTable(table.columns, np.arange(table.rows, dtype=np.int64))


def both(game: Rows, name: str, many: int) -> None:
    for who in ("members", "outside"):
        scored(attacks()[name], game, who, many, 1)  # type: ignore[arg-type]


def closest(old: MicroTable, other: MicroTable, new: MicroTable) -> None:
    for table in (old, other):
        some = table.take(np.arange(MANY))
        both = encoded(View(known=some), some, new, tuple(old.names))
        nearest(both.known, both.seen, 1)


def shadows(old: MicroTable) -> None:
    random = np.random.default_rng(1)
    pool, rest = (MicroTable.of(old.take(np.arange(a, a + 500)).columns) for a in (0, 500))

    def made(table: MicroTable, random: np.random.Generator) -> MicroTable:
        return MicroTable.of([c.take(random.permutation(table.rows)) for c in table.columns])

    view = View(known=pool, released=made(pool, random), reference=rest, rerun=made)
    Shadow(runs=1200).guess(view, random)


def row(task: str, limit: float, work: Callable[[], object], theirs: dict[str, Any], key: str) -> dict[str, Any]:
    start = time.process_time()
    work()
    seconds = time.process_time() - start
    return {"task": task, "seconds": round(seconds, 3), "limit": limit, "peer": theirs.get(key, theirs.get("absent"))}


def command(files: dict[str, str]) -> dict[str, Any]:
    """`nowiser attack` with all that apply: processor seconds, and the most memory of the process."""
    said = (
        "import resource, sys; from nowiser.cli.main import run\n"
        "try: run()\n"
        "except SystemExit: pass\n"
        "u = resource.getrusage(resource.RUSAGE_SELF); print(u.ru_utime + u.ru_stime, u.ru_maxrss // 1024)"
    )
    options = [
        "attack",
        files["released"],
        "--original",
        files["original"],
        "--control",
        files["control"],
        "--in-order",
    ]
    options += ["--quasi", ",".join(KNOWN), "--sensitive", SECRET, "--seed", "1", "--json"]
    done = subprocess.run([sys.executable, "-c", said, *options], capture_output=True, text=True, check=True)
    seconds, memory = done.stdout.split()[-2:]
    return {"task": "nowiser attack, all that apply", "seconds": float(seconds), "limit": 30.0, "MB": int(memory)}
