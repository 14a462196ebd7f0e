"""Synthetic rows on Adult (48,842 × 14 as integers, five columns in steps of 5): distances, a classifier, time, memory.

`python -m benchmarks synth`. Train on 80 %, three runs, means; ε = 1 at δ = 1e-9 is ρ = .01497. TV1, TV2, TV3: half the
sum of absolute differences of shares, over all columns, pairs and triples, beside the rows trained on. AUC: boosting
trained on the synthetic rows and tried on real ones. Then growth in rows and columns, and peers that install.
Without the table (`NOWISER_TEST_DATA`, or ../shared/data) a made-up one of the same shape is measured.
"""

import json
import os
import time
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction
from itertools import combinations
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from benchmarks.peers import ask

RHO = 0.01497
RUNS = 3
STEP = 5
WIDE = ("age", "fnlwgt", "capital-gain", "capital-loss", "hours-per-week")
NAMES = (
    "age", "workclass", "fnlwgt", "education-num", "marital-status", "occupation", "relationship", "race", "sex",
    "capital-gain", "capital-loss", "hours-per-week", "native-country", "income>50K",
)  # fmt: skip
TARGET = {  # TV1, TV2, TV3 at most, AUC at least, seconds and MB at most
    "aim": (0.007, 0.026, 0.055, 0.900, 60, 200),
    "mst": (0.005, 0.038, 0.083, 0.82, 2, 150),
}
METHODS = ("aim", "mst", "independent", "all")


def adult():
    """Cells of every column, the five wide ones in steps of 5, and how many each has; the last column is predicted."""
    data, sizes, names = adult_as_it_is()
    steps = [STEP if name in WIDE else 1 for name in names]
    return data // steps, [-(-size // step) for size, step in zip(sizes, steps, strict=True)]


def adult_as_it_is():
    """Whole numbers, how many each column may have, and the names of the columns."""
    home = Path(os.environ.get("NOWISER_TEST_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
    folder = home / "adult_coded"
    if not folder.is_dir():
        sizes = dict(zip(NAMES, (85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2), strict=True))
        return (*made_up(48_842, list(sizes.values())), list(sizes))
    sizes = json.loads((folder / "adult-domain.json").read_text())
    data = np.loadtxt(folder / "adult.csv", delimiter=",", skiprows=1, dtype=np.int64)
    names = (folder / "adult.csv").read_text().splitlines()[0].split(",")
    return data, [sizes[name] for name in names], names


def made_up(rows, sizes, seed=0):
    """Columns that follow one another, as in a census."""
    random = np.random.default_rng(seed)
    columns = [random.integers(0, sizes[0], rows)]
    for size in sizes[1:]:
        before = columns[int(random.integers(len(columns)))]
        noise = random.integers(0, size, rows)
        columns.append(np.where(random.random(rows) < 0.6, before % size, noise))
    return np.column_stack(columns), list(sizes)


def distance(real, drawn, sizes, k):
    found = []
    for c in combinations(range(len(sizes)), k):
        shape = [sizes[v] for v in c]
        one, other = (
            np.bincount(np.ravel_multi_index([d[:, v] for v in c], shape), minlength=int(np.prod(shape))) / len(d)
            for d in (real, drawn)
        )
        found.append(np.abs(one - other).sum() / 2)
    return float(np.mean(found))


def area(trained, tested):
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.metrics import roc_auc_score

    if len(np.unique(trained[:, -1])) < 2:
        return 0.5
    model = HistGradientBoostingClassifier(random_state=0).fit(trained[:, :-1], trained[:, -1])
    return float(roc_auc_score(tested[:, -1], model.predict_proba(tested[:, :-1])[:, 1]))


def ours(method, data, sizes, rho=RHO):
    """Rows drawn, processor seconds and MB, in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_ours, method, data, sizes, rho).result()


def _ours(method, data, sizes, rho):
    from nowiser.synth.counts import Coded
    from nowiser.synth.meter import Meter
    from nowiser.synth.methods import METHODS as KNOWN
    from nowiser.synth.run import Run
    from nowiser.synth.tree.draw import draw

    coded = Coded.of(list(data.T), sizes)
    rows = len(data)
    del data
    before = highest()
    began = time.process_time()
    of = KNOWN[method]
    weights = dict.fromkeys(combinations(range(len(sizes)), 2), 2) | {(v,): 1 for v in range(len(sizes))}
    made = of.fit(coded, Meter.of(Fraction(rho) * 2, of.choosing), Run(weights))
    drawn = draw(made.fitted.beliefs, rows, np.random.default_rng())
    took = time.process_time() - began
    most = highest()
    return np.column_stack(drawn), took, most / 1000, (most - before) / 1000


def highest():
    """The most memory this process had, in kB. (What getrusage says is at least that of the parent.)"""
    told = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return int(next(line.split()[1] for line in told if line.startswith("VmHWM")))


def measured(name, make, data, sizes, runs):
    found = []
    for seed in range(runs):
        order = np.random.default_rng(seed).permutation(len(data))
        cut = int(0.8 * len(data))
        train, test = data[order[:cut]], data[order[cut:]]
        drawn, took, most, more = make(train, test)
        tv = [distance(train, drawn, sizes, k) for k in (1, 2, 3)]
        found.append([*tv, area(drawn, test), took, most, more])
    means = np.mean(found, axis=0).tolist()
    row = dict(zip(("TV1", "TV2", "TV3", "AUC", "processor s", "MB", "MB besides"), means, strict=True))
    goal = TARGET.get(name)
    met = goal is not None and all(v <= g for v, g in zip(means[:3], goal[:3], strict=True)) and means[3] >= goal[3]
    return {"what": name, **row, "distances and AUC met": "" if goal is None else met}


def grown(method, rows, columns):
    data, sizes = made_up(rows, [12] * columns)
    _, took, most, _ = ours(method, data, sizes)
    return {"what": f"{method}, {rows:,} rows × {columns} columns of 12 cells", "processor s": took, "MB": most}


def run():
    data, sizes = adult()
    runs = int(os.environ.get("RUNS", RUNS))
    rows = [measured(m, lambda train, _, m=m: ours(m, train, sizes), data, sizes, runs) for m in METHODS]
    rows.append(measured("real rows instead", lambda _, test: (test, 0.0, 0.0, 0.0), data, sizes, 1))
    for peer in ("dpmm", "smartnoise-synth"):
        rows += theirs(peer, data, sizes, runs)
    if os.environ.get("GROWTH", "yes") != "no":
        rows += [grown(m, n, 15) for m in ("mst", "aim") for n in (10_000, 100_000, 1_000_000)]
        rows += [grown("mst", 10_000_000, 15)]
        rows += [grown(m, 50_000, d) for m in ("mst", "aim") for d in (10, 30, 60)]
    return rows


def theirs(peer, data, sizes, runs):
    """A peer's AIM and MST on the same rows at the same ε and δ."""
    import tempfile

    found = []
    with tempfile.TemporaryDirectory() as folder:
        order = np.random.default_rng(0).permutation(len(data))
        cut = int(0.8 * len(data))
        train, test = data[order[:cut]], data[order[cut:]]
        np.save(Path(folder) / "train.npy", train)
        for method in ("mst", "aim"):
            said = ask(
                peer, f"{peer.replace('-', '_')}_synth.py", seconds=900, folder=folder, sizes=sizes, method=method
            )
            name = f"{peer}, {method}, one run of {runs}"
            if "file" not in said:
                found.append({"what": name, "TV1": said.get("absent", "no rows")})
                continue
            drawn = np.load(said["file"])
            tv = {f"TV{k}": distance(train, drawn, sizes, k) for k in (1, 2, 3)}
            found.append(
                {"what": name, **tv, "AUC": area(drawn, test), "processor s": said["seconds"], "MB": said["mb"]}
            )
    return found
