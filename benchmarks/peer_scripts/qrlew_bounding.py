"""qrlew on PostgreSQL: grouped questions about people with many rows, rewritten by it and run there.

It has no pure ε: it gets the same ε with δ = 1e-5. Keys are declared, so it need not look for them.
"""

import json
import sys
import time

import pyqrlew as qrl
from sqlalchemy import create_engine, text

SQL = {
    "COUNT": "SELECT k100, COUNT(amount) AS x FROM visits GROUP BY k100",
    "SUM": "SELECT k100, SUM(amount) AS x FROM visits GROUP BY k100",
    "AVG": "SELECT k100, AVG(amount) AS x FROM visits GROUP BY k100",
    "SUM, WHERE": "SELECT k100, SUM(amount) AS x FROM visits WHERE amount > 20 GROUP BY k100",
}
arguments = json.loads(sys.argv[1])
engine = create_engine(arguments["url"].replace("postgresql://", "postgresql+psycopg2://"))
dataset = qrl.Dataset.from_database("crowd", engine, "public")
dataset = dataset.with_range("public", "visits", "amount", 0.0, 60.0)
dataset = dataset.with_possible_values("public", "visits", "k100", [str(k) for k in range(100)])
found = {}
for name in arguments["questions"]:
    try:
        relation = dataset.relation(SQL[name])
        private = relation.rewrite_with_differential_privacy(
            dataset,
            [("visits", [], "person")],
            {"epsilon": arguments["epsilon"], "delta": 1e-5},
            max_multiplicity=float(arguments["most"]),
            max_multiplicity_share=1.0,
        )
        times, raws, answers = [], [], []
        with engine.connect() as connection:
            for _ in range(arguments["repeats"]):
                start = time.perf_counter()
                connection.execute(text(SQL[name])).fetchall()
                raws.append(time.perf_counter() - start)
                start = time.perf_counter()
                rows = connection.execute(text(private.relation().to_query().replace(":", "\\:"))).fetchall()
                times.append(time.perf_counter() - start)
                answers.append([[int(k), float(v)] for k, v in rows if k is not None and v is not None])
        found[name] = {"answers": answers, "seconds": min(times), "raw": min(raws)}
    except Exception as error:
        found[name] = {"absent": f"{type(error).__name__}: {error}"[:120]}
    print(json.dumps(found), flush=True)
