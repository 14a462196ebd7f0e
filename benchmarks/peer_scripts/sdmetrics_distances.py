"""SDMetrics' distances to the closest records: processor seconds, and the most memory used."""

import json
import resource
import sys
import time

import pandas as pd
from sdmetrics.single_table import DCROverfittingProtection

arguments = json.loads(sys.argv[1])
ori, syn, control = (pd.read_csv(arguments[n]) for n in ("original", "released", "control"))
kinds = {c: {"sdtype": "numerical" if ori[c].dtype.kind in "if" else "categorical"} for c in ori.columns}
start = time.process_time()
DCROverfittingProtection.compute(
    real_training_data=ori,
    synthetic_data=syn.head(arguments["many"]),
    real_validation_data=control,
    metadata={"tables": {"adult": {"columns": kinds}}},
    table_name="adult",
)
seconds = time.process_time() - start
print(json.dumps({"seconds": seconds, "MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))
