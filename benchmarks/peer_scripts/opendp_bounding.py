"""OpenDP with Polars: grouped questions, at most `most` rows of each person by its own truncation.

It sums whole amounts only here, which alone takes half a unit off each (amounts are cut to whole numbers).
"""

import json
import sys
import time

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib", "floating-point", "honest-but-curious")
arguments = json.loads(sys.argv[1])
data = pl.scan_csv(arguments["csv"]).select("person", "k100", "amount").collect().lazy()
keys = pl.LazyFrame({"k100": list(range(100))}, schema_overrides={"k100": pl.Int64})
amount = pl.col("amount").cast(int).fill_null(0)
total, size = amount.dp.sum((0, 60)).alias("total"), dp.len().alias("size")
WANTED = {"COUNT": [size], "SUM": [total], "AVG": [total, size], "SUM, WHERE": [total]}
found = {}
for name in arguments["questions"]:
    answers, times = [], []
    for _ in range(arguments["repeats"]):
        context = dp.Context.compositor(
            data=data,
            privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("person")),
            privacy_loss=dp.loss_of(epsilon=arguments["epsilon"]),
            split_evenly_over=1,
            margins=[dp.polars.Margin(by=["k100"], max_length=arguments["rows"])],
        )
        query = context.query()
        if name == "SUM, WHERE":
            query = query.filter(pl.col("amount") > 20)
        query = query.truncate_per_group(arguments["most"]).group_by("k100").agg(WANTED[name]).with_keys(keys)
        started = time.perf_counter()
        rows = query.release().collect().rows()
        times.append(time.perf_counter() - started)
        answers.append([[int(k), float(v[0]) if len(v) == 1 else v[0] / max(v[1], 1)] for k, *v in rows])
    found[name] = {"answers": answers, "seconds": min(times)}
    print(json.dumps(found), flush=True)
