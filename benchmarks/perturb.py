"""Perturbation on 1,000,000 rows × 10 columns, special uniques on Adult, nearest rows of 100,000 × 100,000 × 10.

Wall-clock seconds beside the seconds of processor time this process used: on a busy machine the second is the
steadier of the two. `limit` is what the project promises. Beside them sdcMicro's own additive noise, where R is here
and NOWISER_SDCMICRO names its file addNoise.r.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from nowiser.microdata.method_contract import Roles, Run
from nowiser.microdata.perturb.correlated_noise import CorrelatedNoise, perturbed, shrink
from nowiser.microdata.perturb.covariance import covariance_of
from nowiser.microdata.perturb.noise import AddNoise
from nowiser.microdata.perturb.pram import Pram
from nowiser.microdata.perturb.private import PrivateNoise, PrivatePram, PrivateResponse
from nowiser.microdata.perturb.randomised_response import RandomisedResponse
from nowiser.microdata.perturb.rank_swap import RankSwap
from nowiser.microdata.perturb.record_swap import RecordSwap
from nowiser.microdata.perturb.resample import Resample
from nowiser.microdata.perturb.sample import Sample
from nowiser.microdata.perturb.shuffle import Shuffle
from nowiser.microdata.publish import publish
from nowiser.microdata.risk.nearest import nearest
from nowiser.microdata.risk.suda import suda
from nowiser.microdata.table.arrays import matrix
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.microdata.table.read import load

DATA = Path(os.environ.get("NOWISER_TEST_DATA", Path(__file__).resolve().parent.parent.parent / "shared" / "data"))
NUMBERS = [f"x{j}" for j in range(10)]
CODES = [f"c{j}" for j in range(10)]


def run(rows: int = 1_000_000, linked: int = 100_000) -> list[dict[str, Any]]:
    numbers, codes, whole = tables(rows)
    out = []
    for title, table, methods in work(numbers, codes, whole):
        out.append(measure(f"{title}, {rows:,} × 10", 5, lambda t=table, m=methods: each(m, t)))
    out += beside_sdcmicro(numbers)
    adult = DATA / "adult" / "adult.csv"
    if adult.exists():
        people = load(adult)
        out.append(measure("SUDA2, Adult, 8 keys", 2, lambda: suda(people, people.names[:8])))
    random = np.random.default_rng(0)
    known = random.normal(size=(linked, 10))
    seen = known[random.permutation(linked)] + 0.5 * random.normal(size=(linked, 10))
    nearest(known[:10], seen[:20_000], 3)  # compiled once per machine
    out.append(measure(f"3 nearest rows, {linked:,} × {linked:,} × 10", 30, lambda: nearest(known, seen, 3)))
    return out


def beside_sdcmicro(table: MicroTable) -> list[dict[str, Any]]:
    """Numbers in, numbers out, as sdcMicro's addNoise works, and the whole publication of a table: best of three."""
    values, _ = matrix(table, NUMBERS)
    weight, random = np.ones(table.rows), np.random.default_rng(1)

    def correlated() -> None:
        sigma = covariance_of(values, weight, NUMBERS)
        perturbed(values, 0.1 * sigma, shrink(sigma, 0.1 * sigma), weight, random, exact=True)

    arrow, step = table.to_arrow(), {"correlated_noise": {"columns": NUMBERS}}

    def whole() -> None:
        publish(arrow, steps=[step], keep=NUMBERS, seed=1).to_arrow()

    out = []
    for what, job in (("numbers alone", correlated), ("published, table in and table out", whole)):
        runs = [measure(f"correlated noise, {what}, {table.rows:,} × 10", 5, job) for _ in range(3)]
        out.append(min(runs, key=lambda r: r["processor"]))
    return [*out, sdcmicro(table.rows)]


def sdcmicro(rows: int) -> dict[str, Any]:
    """Best of three of sdcMicro's plain noise on a table of the same size, timed inside R; or why there is none."""
    what = f"sdcMicro: additive noise, {rows:,} × 10"
    r, source = shutil.which("Rscript"), os.environ.get("NOWISER_SDCMICRO")
    if r is None or source is None:
        return {"what": f"{what}: skipped, {'no Rscript' if r is None else 'NOWISER_SDCMICRO names no addNoise.r'}"}
    script = Path(__file__).parent / "peer_scripts" / "sdcmicro_noise.R"
    done = subprocess.run([r, script, source, str(rows)], capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        return {"what": f"{what}: {done.stderr.strip().splitlines()[-1]}"}
    wall, cpu = (float(part) for part in done.stdout.split())
    return {"what": what, "seconds": wall, "processor": cpu}


def tables(rows: int) -> tuple[MicroTable, MicroTable, MicroTable]:
    random = np.random.default_rng(0)
    values = random.normal(size=(rows, 10)) @ random.normal(size=(10, 10))
    codes = random.integers(0, 12, size=(rows, 10)).astype(np.int32)
    labels = pa.array([f"v{k:02}" for k in range(12)])
    return (
        MicroTable.of(Column.of_numbers(n, values[:, j]) for j, n in enumerate(NUMBERS)),
        MicroTable.of(Column.of_codes(n, codes[:, j], labels) for j, n in enumerate(CODES)),
        MicroTable.of(Column.of(n, pa.array(random.integers(0, 1000, rows))) for n in NUMBERS),
    )


def work(numbers: MicroTable, codes: MicroTable, whole: MicroTable) -> list[tuple[str, MicroTable, list[Any]]]:
    labels = [f"v{k:02}" for k in range(12)]
    mixed = {a: {b: 0.45 if a == b else 0.05 for b in labels} for a in labels}
    return [
        ("additive noise", numbers, [AddNoise(NUMBERS)]),
        ("correlated noise, exact", numbers, [CorrelatedNoise(NUMBERS)]),
        ("correlated noise, robust", numbers, [CorrelatedNoise(NUMBERS, robust="ranks")]),
        ("rank swapping", numbers, [RankSwap(NUMBERS)]),
        ("shuffling, 5 given 5", numbers, [Shuffle(NUMBERS[:5], given=NUMBERS[5:])]),
        ("resampling, 5 given 5", numbers, [Resample(NUMBERS[:5], given=NUMBERS[5:])]),
        ("resampling by bootstrap", numbers, [Resample(NUMBERS, model="bootstrap")]),
        ("sampling", numbers, [Sample(0.1)]),
        ("record swapping", codes, [RecordSwap("c0", match=["c1", "c2"])]),
        ("PRAM, invariant", codes, [Pram(CODES)]),
        ("randomised response", codes, [RandomisedResponse(CODES)]),
        ("private noise", whole, [PrivateNoise("t", n, 0, 1000, scale=50) for n in NUMBERS]),
        ("private PRAM", codes, [PrivatePram("t", n, mixed) for n in CODES]),
        ("private response", codes, [PrivateResponse("t", n, labels, jump=1.0) for n in CODES]),
    ]


def each(methods: list[Any], table: MicroTable) -> None:
    for method in methods:
        method.apply(table, Run(Roles(()), table, random=np.random.default_rng(1)))


def measure(what: str, limit: float, job: Callable[[], Any]) -> dict[str, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    job()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return {"what": what, "seconds": round(wall, 2), "processor": round(cpu, 2), "limit": limit, "kept": wall <= limit}


if __name__ == "__main__":
    from benchmarks.table import show

    show("perturb", run())
