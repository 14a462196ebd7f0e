"""OpenDP with Polars: SUM by key, at most `most` rows of each person by its own truncation."""

import json
import sys
import time

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib", "floating-point", "honest-but-curious")
arguments = json.loads(sys.argv[1])
data = pl.scan_csv(arguments["csv"]).select("person", "k100", "amount").collect().lazy()
keys = pl.LazyFrame({"k100": list(range(100))}, schema_overrides={"k100": pl.Int64})
answers, times = [], []
for _ in range(arguments["repeats"]):
    context = dp.Context.compositor(
        data=data,
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("person")),
        privacy_loss=dp.loss_of(epsilon=arguments["epsilon"]),
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=["k100"], max_length=arguments["rows"])],
    )
    query = (
        context.query()
        .truncate_per_group(arguments["most"])
        .group_by("k100")
        .agg(pl.col("amount").cast(int).fill_null(0).dp.sum((0, 60)))
        .with_keys(keys)
    )
    started = time.perf_counter()
    found = query.release().collect()
    times.append(time.perf_counter() - started)
    answers.append([[int(k), float(v)] for k, v in found.rows()])
print(json.dumps({"answers": answers, "seconds": min(times)}))
