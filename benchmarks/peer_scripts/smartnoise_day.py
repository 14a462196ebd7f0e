"""How wide SmartNoise's 95 % bars of a count and of sums are at ε = 1, with at most so many rows of each patient."""

import json
import sys

import pandas as pd
from snsql import Privacy, from_df

arguments = json.loads(sys.argv[1])
data = pd.DataFrame({"patient_id": [1, 2], **{name: [0, high] for name, high in arguments["ranges"].items()}})
columns = {name: {"type": "int", "lower": 0, "upper": high} for name, high in arguments["ranges"].items()}
table = {"max_ids": arguments["most"], "rows": 100_000, "patient_id": {"type": "int", "private_id": True}, **columns}
metadata = {"": {"day": {"stays": table}}}
reader = from_df(data, privacy=Privacy(epsilon=1.0, delta=1e-9), metadata=metadata)


def bar(what):
    return float(reader.get_simple_accuracy(f"SELECT {what} AS x FROM day.stays", alpha=0.05)[0])


print(json.dumps({"count": bar("COUNT(*)"), **{name: bar(f"SUM({name})") for name in arguments["ranges"]}}))
