"""What a stranger's first hour gives: ten natural questions under a policy, each bar held against the truth.

A question is *useful* when at least half of its numbers have a bar within a fifth of the true number. Where the
gateway says beforehand that an answer would be useless, nothing is charged.
"""

from dataclasses import dataclass
from pathlib import Path
from statistics import median_low
from typing import Any

import duckdb

import nowiser
from nowiser.cli.check import _Report
from nowiser.errors import NowiserError, Useless
from nowiser.policy import read
from support.public_shapes import TEN

WITHIN = 0.2


def assert_passes(folder: Path) -> Any:
    """`check` has no problem with the policy in a folder. What it found."""
    report = _Report(read(folder / "nowiser.yaml"))
    assert (report.exit_code, report.problems, report.left) == (0, [], 1.0)
    return report


@dataclass(frozen=True)
class Asked:
    sql: str
    outcome: str  # "useful"; not useful: "coarse" if charged, "free" if not; "warned": refused beforehand; "refused"
    bar: float | None  # relative to the truth, of the median number
    off: float | None  # how far the answer really was from the truth, likewise
    said: str = ""


def hour(name: str, policy: Path, source: Path) -> tuple[list[Asked], dict[str, Any]]:
    """The ten questions in order under one ledger, and how the attackers stand afterwards."""
    with nowiser.open(policy) as gateway:
        found = [_asked(gateway, name, sql, source) for sql in TEN[name]]
        return found, gateway.allowance()


def _asked(gateway: Any, name: str, sql: str, source: Path) -> Asked:
    before = gateway.allowance()["left"]
    try:
        answer = gateway.query(sql)
    except NowiserError as refused:
        assert gateway.allowance()["left"] == before, "a refusal is free"
        return Asked(sql, "warned" if isinstance(refused, Useless) else "refused", None, None, str(refused))
    bars, offs = [], []
    truth = truths(sql, name, source)
    for row, errors in zip(answer.rows, answer.errors(), strict=True):
        *key, value = row
        true, error = truth.get(tuple(map(str, key))), errors[-1]
        if true:
            bars.append(float("inf") if error is None or value is None else error / abs(true))
            offs.append(float("inf") if value is None else abs(value - true) / abs(true))
    useful = median_low(bars) <= WITHIN
    charged = gateway.allowance()["left"] < before
    outcome = "useful" if useful else "coarse" if charged else "free"
    return Asked(sql, outcome, median_low(bars), median_low(offs))


def truths(sql: str, name: str, source: Path) -> dict[tuple[str, ...], float]:
    with duckdb.connect() as connection:
        connection.execute(f"CREATE VIEW {name} AS SELECT * FROM read_csv('{source}', sample_size = -1)")
        if name == "tips":
            connection.execute(
                "CREATE OR REPLACE VIEW tips AS SELECT * REPLACE (CASE WHEN smoker THEN 'Yes' ELSE 'No' END AS smoker)"
                f" FROM read_csv('{source}', sample_size = -1)"
            )
        return {
            tuple(map(str, key)): float(value) for *key, value in connection.execute(sql).fetchall() if None not in key
        }
