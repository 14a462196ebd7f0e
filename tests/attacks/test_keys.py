"""Group keys nobody declared: what many share is shown, what one person has alone is not."""

from pathlib import Path

import pytest

from nowiser.gateway import Gateway
from nowiser.policy import read
from support.memory_ledger import MemoryLedger

POLICY = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: id
    rows_per_person: 3
    columns: {id: {identifier: integer}, city: {sensitive: text}, x: {sensitive: [0, 10], nullable: false}}
attackers: [{guess: present in t, gain: 30%}]
"""
QUESTIONS = [
    "SELECT city, COUNT(*) FROM t GROUP BY city",
    "SELECT UPPER(city) AS c, COUNT(*) FROM t GROUP BY c",
    "SELECT city, AVG(x) FROM t GROUP BY city HAVING COUNT(*) < 10",
    "SELECT city, SUM(x) FROM t WHERE city LIKE 'Secret%' GROUP BY city",
    "SELECT city FROM t GROUP BY city",
    "SELECT CASE WHEN id = 1 THEN city END AS c, COUNT(*) FROM t GROUP BY 1",
]


def opened(folder: Path, rows: list[str]) -> Gateway:
    folder.mkdir()
    (folder / "t.csv").write_text("\n".join(["id,city,x", *rows]) + "\n", encoding="utf-8")
    (folder / "nowiser.yaml").write_text(POLICY, encoding="utf-8")
    return Gateway(read(folder / "nowiser.yaml"), account=MemoryLedger())


@pytest.fixture(scope="module")
def gateways(tmp_path_factory):
    folder = tmp_path_factory.mktemp("keys")
    crowd = [f"{i},{'Bern' if i % 2 else 'Basel'},5" for i in range(2, 1500)]
    with_her = opened(folder / "with", [*crowd, "1,Secretville,10", "1,Secretville,10", "1,Secretville,10"])
    without = opened(folder / "without", crowd)
    yield with_her, without
    with_her.close()
    without.close()


@pytest.mark.parametrize("sql", QUESTIONS)
def test_a_key_of_one_person_is_never_shown(gateways, sql):
    for _ in range(25):
        seen = []
        for gateway in gateways:
            gateway._ledger = MemoryLedger()
            answer = gateway.query(sql, spend="100%")
            assert "SECRET" not in str(answer.rows).upper()
            seen.append((answer.columns, answer.exact, str(answer.cost), gateway._ledger.totals()))
        assert seen[0] == seen[1]


def test_what_many_share_is_shown_and_the_delta_is_charged(gateways):
    gateway = gateways[0]
    gateway._ledger = MemoryLedger()
    answer = gateway.query(QUESTIONS[0], spend="100%")
    assert {row[0] for row in answer.rows} == {"Bern", "Basel"}
    assert any(account.kind == "delta" for account, _ in gateway._ledger.totals().amounts)
