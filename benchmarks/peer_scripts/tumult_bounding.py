"""Tumult Analytics on Spark: SUM by key, at most `most` rows of each person."""

import json
import os
import sys
import time

os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
os.environ["PYSPARK_PYTHON"] = sys.executable  # its workers need what this process has
from pyspark.sql import SparkSession
from tmlt.analytics import AddRowsWithID, KeySet, MaxRowsPerID, PureDPBudget, QueryBuilder, Session

arguments = json.loads(sys.argv[1])
spark = (
    SparkSession.builder.master("local[*]")
    .config("spark.ui.enabled", "false")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.sql.shuffle.partitions", "8")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
data = spark.read.csv(arguments["csv"], header=True, inferSchema=True).select("person", "k100", "amount")
data = data.withColumn("k100", data.k100.cast("bigint")).cache()
raw_times, times, answers = [], [], []
for _ in range(2):
    started = time.perf_counter()
    data.groupBy("k100").sum("amount").collect()
    raw_times.append(time.perf_counter() - started)
session = Session.from_dataframe(PureDPBudget(float("inf")), "visits", data, protected_change=AddRowsWithID("person"))
keys = KeySet.from_dict({"k100": list(range(100))})
for _ in range(arguments["repeats"]):
    query = QueryBuilder("visits").enforce(MaxRowsPerID(arguments["most"])).groupby(keys).sum("amount", 0, 60)
    started = time.perf_counter()
    rows = session.evaluate(query, PureDPBudget(arguments["epsilon"])).collect()
    times.append(time.perf_counter() - started)
    answers.append([[int(r["k100"]), float(r["amount_sum"])] for r in rows])
print(json.dumps({"answers": answers, "seconds": min(times), "raw": min(raw_times)}))
