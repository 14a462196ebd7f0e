"""SmartNoise SQL on people with many rows: SUM by key, at most `most` rows of each person (reservoir sampling)."""

import json
import sys
import time

import pandas as pd
from snsql import Privacy, from_df

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
reader = from_df(data, privacy=Privacy(epsilon=arguments["epsilon"], delta=1e-9), metadata=metadata)
answers, times = [], []
for _ in range(arguments["repeats"]):
    started = time.perf_counter()
    rows = reader.execute("SELECT k100, SUM(amount) AS total FROM crowd.visits GROUP BY k100")
    times.append(time.perf_counter() - started)
    answers.append([[int(k), float(v)] for k, v in rows[1:]])
print(json.dumps({"answers": answers, "seconds": min(times)}))
