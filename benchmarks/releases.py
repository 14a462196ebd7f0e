"""A tenth release of 100,000 rows, measured together with the nine before it."""

import time
from typing import Any

import numpy as np

from nowiser.microdata.releases.contradictions import refuse_contradictions
from nowiser.microdata.releases.measure import together
from nowiser.microdata.releases.record import record
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable

ROWS = 100_000
LEVELS = ((10, 100), (5, 1000), (30, 10), (90, 50), (15, 100), (10, 250), (45, 20), (20, 50), (9, 1000), (30, 25))


def run() -> list[dict[str, Any]]:
    random = np.random.default_rng(0)
    age, place = random.integers(0, 90, ROWS), random.integers(0, 1000, ROWS)
    ill = Column.of("ill", random.choice(15, ROWS, p=random.dirichlet(np.full(15, 3.0))))
    people = np.arange(ROWS).astype(np.uint64)
    shown = []
    for years, width in LEVELS:
        table = MicroTable.of([Column.of("g", age // years * 1000 + place // width), ill])
        shown.append(record(table, people, ["g"], ["ill"]))
    start = time.perf_counter()
    refuse_contradictions(shown[:-1], shown[-1], ["ill"])
    told = together(shown, ("exactly", "ill"))
    seconds = time.perf_counter() - start
    what = f"a tenth release of {ROWS:,} rows measured with nine others, {told.before:.3f} → {told.after:.3f}"
    return [{"what": what, "measured": seconds, "unit": "s", "target": 60, "met": seconds <= 60}]
