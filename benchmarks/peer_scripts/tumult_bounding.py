"""Tumult Analytics on Spark: grouped questions, at most `most` rows of each person."""

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
    .config("spark.driver.memory", "4g")
    .config("spark.sql.shuffle.partitions", "8")
    .getOrCreate()
)
spark.sparkContext.setLogLevel("OFF")
data = spark.read.parquet(arguments["parquet"]).select("person", "k100", "amount")
data = data.withColumn("k100", data.k100.cast("bigint")).cache()
data.count()
session = Session.from_dataframe(PureDPBudget(float("inf")), "visits", data, protected_change=AddRowsWithID("person"))
keys = KeySet.from_dict({"k100": list(range(100))})
bounded = QueryBuilder("visits").enforce(MaxRowsPerID(arguments["most"]))
QUESTIONS = {
    "COUNT": (lambda: bounded.groupby(keys).count(), lambda: data.groupBy("k100").count()),
    "SUM": (lambda: bounded.groupby(keys).sum("amount", 0, 60), lambda: data.groupBy("k100").sum("amount")),
    "AVG": (lambda: bounded.groupby(keys).average("amount", 0, 60), lambda: data.groupBy("k100").avg("amount")),
    "SUM, WHERE": (
        lambda: bounded.filter("amount > 20").groupby(keys).sum("amount", 0, 60),
        lambda: data.where("amount > 20").groupBy("k100").sum("amount"),
    ),
}
found = {}
for name in arguments["questions"]:
    private, plain = QUESTIONS[name]
    times, raws, answers = [], [], []
    for _ in range(arguments["repeats"]):
        start = time.perf_counter()
        plain().collect()
        raws.append(time.perf_counter() - start)
        start = time.perf_counter()
        rows = session.evaluate(private(), PureDPBudget(arguments["epsilon"])).collect()
        times.append(time.perf_counter() - start)
        answers.append([[int(r[0]), float(r[1])] for r in rows])
    found[name] = {"answers": answers, "seconds": min(times), "raw": min(raws)}
    print(json.dumps(found), flush=True)
