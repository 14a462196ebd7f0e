"""anonymeter's three attacks on a released table, with control: processor seconds."""

import json
import sys
import time

import pandas as pd
from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

arguments = json.loads(sys.argv[1])
ori, syn, control = (pd.read_csv(arguments[n]) for n in ("original", "released", "control"))
known, secret, many = arguments["known"], arguments["secret"], arguments["many"]
half = len(known) // 2
out = {}


def timed(name, work):
    start = time.process_time()
    work()
    out[name] = time.process_time() - start
    print(json.dumps(out), flush=True)


timed(
    "inference",
    lambda: (
        InferenceEvaluator(ori, syn, aux_cols=known, secret=secret, n_attacks=many, control=control)
        .evaluate(n_jobs=1)
        .risk()
    ),
)
timed(
    "singling out",
    lambda: (
        SinglingOutEvaluator(ori, syn, n_attacks=500, n_cols=4, control=control, seed=1)
        .evaluate(mode="multivariate")
        .risk()
    ),
)
timed(
    "linkage",
    lambda: (
        LinkabilityEvaluator(ori, syn, aux_cols=(known[:half], known[half:]), n_attacks=1000, control=control)
        .evaluate(n_jobs=1)
        .risk()
    ),
)
