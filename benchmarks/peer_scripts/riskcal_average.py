"""Noise that riskcal asks for (with dp-accounting), so that after n answers no guess succeeds more often than `after`.

riskcal knows trade-off functions, not priors on values or distances: every change of a record counts alike.
"""

import json
import sys
import time

from dp_accounting.pld import privacy_loss_distribution as pld
from riskcal.analysis import get_beta_from_pld

arguments = json.loads(sys.argv[1])


def success(noise, scale, n):
    make = pld.from_gaussian_mechanism if noise == "gaussian" else pld.from_laplace_mechanism
    one = make(scale, sensitivity=1.0, value_discretization_interval=min(1e-3, 0.02 / scale))
    return 1 - float(get_beta_from_pld(one.self_compose(n), alpha=arguments["before"]))


found = {}
for noise in ("gaussian", "laplace"):
    for n in arguments["many"]:
        started = time.perf_counter()
        low, high = 1.0, 100.0 * n
        while high > low * (1 + 1e-3):
            middle = (low * high) ** 0.5
            low, high = (low, middle) if success(noise, middle, n) <= arguments["after"] else (middle, high)
        found[f"{noise} {n}"] = {"scale": high, "seconds": time.perf_counter() - started}
        print(json.dumps(found), flush=True)
