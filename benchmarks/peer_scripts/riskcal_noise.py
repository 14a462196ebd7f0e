"""Laplace noise that riskcal asks for: the smallest scale with which no guess succeeds more often than `after`.

riskcal knows trade-off functions, not priors on values: the whole range of the value is the sensitivity.
"""

import json
import sys
import time

from dp_accounting.pld import privacy_loss_distribution
from riskcal.analysis import get_beta_from_pld

arguments = json.loads(sys.argv[1])


def success(scale):
    pld = privacy_loss_distribution.from_laplace_mechanism(
        parameter=scale, sensitivity=arguments["reach"], value_discretization_interval=1e-4
    )
    return 1 - float(get_beta_from_pld(pld, alpha=arguments["before"]))


started = time.perf_counter()
low, high = arguments["reach"] / 50, arguments["reach"] * 1000
while high > low * (1 + 1e-4):
    middle = (low * high) ** 0.5
    low, high = (low, middle) if success(middle) <= arguments["after"] else (middle, high)
print(json.dumps({"scale": high, "success": success(high), "seconds": time.perf_counter() - started}))
