"""SmartNoise SQL on the PUMS questions: what it answers, at a given total epsilon, and how long a question takes."""

import json
import sys
import time
from pathlib import Path

import pandas as pd
from snsql import Privacy, from_df

arguments = json.loads(sys.argv[1])
folder = Path(arguments["folder"])
data = pd.read_csv(folder / "PUMS.csv")
found = {}
for name, sql in arguments["questions"].items():
    text = sql.replace("FROM people", "FROM PUMS.PUMS")
    try:
        once = from_df(data, privacy=Privacy(epsilon=1.0, delta=1e-9), metadata=str(folder / "PUMS.yaml"))
        per_unit, _ = once.get_privacy_cost(text)
        epsilon = arguments["epsilon"][name] / per_unit
        rows, started = [], time.perf_counter()
        for _ in range(arguments["repeats"]):
            reader = from_df(data, privacy=Privacy(epsilon=epsilon, delta=1e-9), metadata=str(folder / "PUMS.yaml"))
            rows.append([list(r) for r in reader.execute(text)[1:]])
        found[name] = {"answers": rows, "seconds": (time.perf_counter() - started) / arguments["repeats"]}
    except Exception as error:
        found[name] = {"absent": f"{type(error).__name__}: {str(error)[:120]}"}
print(json.dumps(found, default=str))
