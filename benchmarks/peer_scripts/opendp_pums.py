"""OpenDP (its typed pipelines, Laplace noise) on the PUMS questions at a given total epsilon.

OpenDP has no SQL: each question is the pipeline a user of the library would write. Averages are a noisy sum over a
noisy count, half of epsilon each; groups are disjoint, so each gets the whole epsilon.
"""

import csv
import json
import sys
import time
from pathlib import Path

import opendp.prelude as dp

dp.enable_features("contrib", "floating-point")
arguments = json.loads(sys.argv[1])
rows = [
    {k: float(v) for k, v in row.items()}
    for row in csv.DictReader((Path(arguments["folder"]) / "PUMS.csv").open(encoding="utf-8"))
]
RANGES = {"age": (0.0, 100.0), "income": (0.0, 500000.0)}
floats = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()


def count(values, epsilon):
    return (floats >> dp.t.then_count() >> dp.m.then_laplace(scale=1 / epsilon))(values)


def total(values, column, epsilon):
    low, high = RANGES[column]
    pipeline = (
        floats >> dp.t.then_clamp((low, high)) >> dp.t.then_sum() >> dp.m.then_laplace(scale=max(-low, high) / epsilon)
    )
    return pipeline(values)


def answer(shape, epsilon):
    kept = [r for r in rows if all(r[c] > v for c, v in shape.get("above", {}).items())]
    groups = shape.get("keys") or [None]
    out = []
    for key in groups:
        own = kept if key is None else [r for r in kept if r[shape["by"]] == key]
        if shape["what"] == "count":
            value = count([0.0] * len(own), epsilon)
        else:
            values = [r[shape["column"]] for r in own]
            if shape["what"] == "sum":
                value = total(values, shape["column"], epsilon)
            else:
                value = total(values, shape["column"], epsilon / 2) / max(1, count(values, epsilon / 2))
        out.append([value] if key is None else [key, value])
    return out


found = {}
for name, shape in arguments["shapes"].items():
    started = time.perf_counter()
    answers = [answer(shape, arguments["epsilon"][name]) for _ in range(arguments["repeats"])]
    found[name] = {"answers": answers, "seconds": (time.perf_counter() - started) / arguments["repeats"]}
print(json.dumps(found))
