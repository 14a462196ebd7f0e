"""What an engine calls equal we call equal, and the reverse: how one person's value is spelled moves that row alone.

Each test asks the same questions of tables that differ in one row, on every engine: of all groups of an answer no more
than two may differ, the old one and the new one of that row, and each by one row.
"""

import struct

import pytest

from nowiser.engines.aligned import aligned, found_keys, with_found
from nowiser.sql.plan import plan
from nowiser.sql.select import read

OTHERS = 40


def cells(policy, engine, sql):
    """Exact cells by group, and keys as they are spelled, of the plan's groups and of those an engine found."""
    planned = plan(read(sql, policy), policy)
    engine.version()
    found = engine.run(planned.tally)
    shown = with_found(found, planned)
    placed = aligned(found, shown)
    spelled = sorted(tuple(map(_bits, key)) for key in found_keys(found, shown))
    return {tuple(map(_bits, g)): [int(c[i]) for c in placed] for i, g in enumerate(shown.measured)}, spelled


def _bits(value):
    """As exactly as it can be told apart."""
    return struct.pack("d", value).hex() if isinstance(value, float) else repr(value)


REALS = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: p
    protect: {protect}
    columns:
      p: {{identifier: integer}}
      x: {{public: {{values: [0.0, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5]}}}}
      y: {{public: real}}
      v: {{sensitive: [-5, 5]}}
  r:
    source: r.csv
    public: true
    unique: [z]
    columns:
      z: {{public: real}}
      n: {{public: [0, 9], kind: integer}}
attackers:
  - {{guess: t.v within 2, gain: 5%}}
"""
ABOUT_ZERO = [
    "SELECT x, COUNT(*) FROM t GROUP BY x",
    "SELECT x, SUM(x) FROM t GROUP BY x",
    "SELECT COUNT(*) FROM t WHERE x IN (0.0, 1.5)",
    "SELECT COUNT(*) FROM t WHERE x IN (0, 0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5)",
    "SELECT COUNT(DISTINCT x) FROM t",
    "SELECT COUNT(DISTINCT v * 0.0) FROM t",
    "SELECT v * 0.0 AS key, COUNT(*) FROM t WHERE p >= 0 AND v * 0.0 IN (0.0) GROUP BY 1",
    "SELECT v * 0.0 AS key, COUNT(*) FROM t WHERE v * 0.0 IN (-0.0) GROUP BY 1",
    "SELECT ROUND(v / 100) AS key, COUNT(*) FROM t WHERE ROUND(v / 100) IN (0.0, 1.0) GROUP BY 1",
    "SELECT m, COUNT(*) FROM (SELECT p, MIN(v * 0.0) AS m FROM t GROUP BY p) AS q WHERE m IN (0.0) GROUP BY m",
    "SELECT m, COUNT(*) FROM (SELECT p, MAX(x) AS m FROM t GROUP BY p) AS q WHERE m IN (0.0, 1.5) GROUP BY m",
    "SELECT k, COUNT(*) FROM (SELECT p, v * 0.0 AS k FROM t GROUP BY p, v * 0.0) AS q WHERE k IN (0.0) GROUP BY k",
    "WITH q AS (SELECT x AS k FROM t UNION ALL SELECT v * 0.0 FROM t) SELECT k, COUNT(*) FROM q GROUP BY k",
    "SELECT n, COUNT(*) FROM t JOIN r ON t.x = r.z GROUP BY n",
    "SELECT n, COUNT(*) FROM t JOIN r ON t.y = r.z GROUP BY n",
    "SELECT z, COUNT(*) FROM r GROUP BY z",
    "SELECT LEAST(z, 5.0) AS key, COUNT(*) FROM r GROUP BY 1",
]
FOUND = [  # keys nobody declared, found in the data
    "SELECT y, COUNT(*) FROM t GROUP BY y",
    "SELECT LEAST(y, 5.0) AS key, COUNT(*) FROM t GROUP BY 1",
]
ZEROS = ["0", "-0", "-0.0", "0e7", "-0e-5"]


@pytest.mark.parametrize("protect", ["values", "persons"])
def test_zero_has_no_sign(world, protect):
    """Alice's row is the first, so that an engine that shows the first row's spelling shows hers."""
    others = [f"{i},{('0', '1.5')[i % 2]},{('0', '1.5')[i % 2]},{i % 5 - 2}" for i in range(1, OTHERS)]
    public = "z,n\n-0,3\n1.5,4\n"
    first = {}
    for n, zero in enumerate(ZEROS):
        table = "\n".join(["p,x,y,v", f"0,{zero},{zero},{-1 if n % 2 else 1}", *others, ""])
        tables, types = {"t": table, "r": public}, dict.fromkeys("xyvz", "float8")
        policy, engine = world(REALS.format(protect=protect), tables, types=types, name=f"zero{n}{protect}")
        for sql in ABOUT_ZERO + (FOUND if protect == "persons" else []):
            found = cells(policy, engine, sql)
            assert first.setdefault(sql, found) == found, (sql, zero)
            assert all(_bits(-0.0) not in key for key in found[1]), sql
    counted, _ = first[ABOUT_ZERO[0]]
    assert counted[(_bits(0.0),)] == [OTHERS // 2]
