"""pyCANON's checks on a csv file: every model's value and the seconds in all."""

import json
import sys
import time

import pandas as pd
from pycanon import anonymity

arguments = json.loads(sys.argv[1])
data = pd.read_csv(arguments["path"], sep=";", dtype=str)
quasi, secret = arguments["quasi"], [arguments["sensitive"]]
checks = {
    "k": lambda: anonymity.k_anonymity(data, quasi),
    "l": lambda: anonymity.l_diversity(data, quasi, secret),
    "entropy l": lambda: anonymity.entropy_l_diversity(data, quasi, secret),
    "recursive": lambda: anonymity.recursive_c_l_diversity(data, quasi, secret),
    "t": lambda: anonymity.t_closeness(data, quasi, secret),
    "beta": lambda: anonymity.basic_beta_likeness(data, quasi, secret),
    "delta": lambda: anonymity.delta_disclosure(data, quasi, secret),
}
started = time.perf_counter()
values = {name: check() for name, check in checks.items()}
print(json.dumps({"seconds": time.perf_counter() - started, **values}, default=str))
