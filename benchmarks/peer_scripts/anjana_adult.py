"""anjana's k-anonymity on Adult: the levels it chooses, the rows it suppresses, ARX's Loss of the outcome, seconds."""

import csv
import json
import sys
import time
from pathlib import Path

import pandas as pd
from anjana.anonymity import k_anonymity, utils

arguments = json.loads(sys.argv[1])
folder, names = Path(arguments["folder"]), arguments["names"]
data = pd.read_csv(folder / "adult.csv", sep=";", dtype=str)
hierarchies = {}
for name in names:
    with (folder / f"adult_hierarchy_{name}.csv").open(encoding="utf-8") as file:
        rows = [r for r in csv.reader(file, delimiter=";") if r]
    hierarchies[name] = {level: [row[level] for row in rows] for level in range(len(rows[0]))}
labels = {name: {level: list(column) for level, column in tree.items()} for name, tree in hierarchies.items()}
started = time.perf_counter()
out = k_anonymity(data.copy(), [], names, arguments["k"], arguments["suppress"], hierarchies)
seconds = time.perf_counter() - started
levels = [int(v) for v in utils.get_transformation(out, names, labels)]
total = 0.0
for name, level in zip(names, levels, strict=True):
    domain = len(labels[name][0])
    share = {label: labels[name][level].count(label) / domain for label in set(labels[name][level])}
    covered = sum(share[label] * n for label, n in out[name].value_counts().items()) + len(data) - len(out)
    total += (covered / len(data) - 1 / domain) / (1 - 1 / domain)
print(
    json.dumps({"seconds": seconds, "levels": levels, "suppressed": len(data) - len(out), "loss": total / len(names)})
)
