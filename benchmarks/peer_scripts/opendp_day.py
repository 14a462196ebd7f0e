"""How wide OpenDP's 95 % bars of a count and of sums are at ε = 1, with at most so many rows of each patient."""

import json
import sys

import opendp.prelude as dp
import polars as pl

dp.enable_features("contrib", "floating-point", "honest-but-curious")
arguments = json.loads(sys.argv[1])
data = pl.read_parquet(arguments["source"]).select("patient_id", "days", "cost", "birth_year").lazy()


def bar(measured):
    context = dp.Context.compositor(
        data=data,
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("patient_id")),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=100_000)],
    )
    query = context.query().truncate_per_group(arguments["most"]).select(measured)
    return float(query.summarize(alpha=0.05)["accuracy"][0])


found = {"count": bar(dp.len())}
for name, high in arguments["ranges"].items():
    column = pl.col("days" if name == "flag" else name).cast(int).fill_null(0)
    found[name] = bar(column.dp.sum((0, high)))
print(json.dumps(found))
