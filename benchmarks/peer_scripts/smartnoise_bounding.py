"""SmartNoise SQL on people with many rows: grouped questions, at most `most` rows of each person (its reservoir)."""

import json
import sys
import time

import pandas as pd
from snsql import Privacy, from_df

SQL = {
    "COUNT": "SELECT k100, COUNT(*) AS x FROM crowd.visits GROUP BY k100",
    "SUM": "SELECT k100, SUM(amount) AS x FROM crowd.visits GROUP BY k100",
    "AVG": "SELECT k100, AVG(amount) AS x FROM crowd.visits GROUP BY k100",
    "SUM, WHERE": "SELECT k100, SUM(amount) AS x FROM crowd.visits WHERE amount > 20 GROUP BY k100",
}
arguments = json.loads(sys.argv[1])
data = pd.read_csv(arguments["csv"])
metadata = {
    "": {
        "crowd": {
            "visits": {
                "row_privacy": False,
                "rows": len(data),
                "max_ids": arguments["most"],
                "sample_max_ids": True,
                "censor_dims": False,
                "person": {"type": "int", "private_id": True},
                "k100": {"type": "int"},
                "amount": {"type": "float", "lower": 0, "upper": 60},
            }
        }
    }
}
found = {}
for name in arguments["questions"]:
    # its ε is that of each noisy number; an average is made of two
    epsilon = arguments["epsilon"] / (2 if name == "AVG" else 1)
    reader = from_df(data, privacy=Privacy(epsilon=epsilon, delta=1e-9), metadata=metadata)
    answers, times = [], []
    for _ in range(arguments["repeats"]):
        started = time.perf_counter()
        rows = reader.execute(SQL[name])
        times.append(time.perf_counter() - started)
        answers.append([[int(k), float(v)] for k, v in rows[1:]])
    found[name] = {"answers": answers, "seconds": min(times)}
    print(json.dumps(found), flush=True)
