"""Keys declared unique that are not: joins rely on them, so the copy must make them true."""

import pytest

import nowiser
from nowiser.engines.aligned import aligned
from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read
from support.worlds import OURS, made_up_tables, write

POLICY = OURS.replace("    rows_per_person: 14\n", "    rows_per_person: 14\n    unique: [visit_id]\n")
QUESTIONS = [
    "SELECT COUNT(*) FROM patients p JOIN wards w ON w.ward = p.ward",
    "SELECT SUM(p.cost) FROM patients p LEFT JOIN wards w ON w.ward = p.ward",
    "SELECT COUNT(*) FROM visits a JOIN visits b ON a.visit_id = b.visit_id",
    "SELECT COUNT(*) FROM visits a JOIN visits b ON a.visit_id = b.visit_id AND a.patient_id = b.patient_id",
    "SELECT COUNT(*) FROM (SELECT visit_id, COUNT(*) AS n FROM visits GROUP BY visit_id) q WHERE n > 1",
    "SELECT SUM(n) FROM (SELECT visit_id, COUNT(*) AS n FROM visits GROUP BY visit_id) q",
]


@pytest.mark.parametrize("sql", QUESTIONS)
def test_a_key_that_repeats_does_not_multiply_a_person(sql, tmp_path):
    tables = made_up_tables()
    hers = [{"visit_id": 7, "patient_id": 1, "day": 1 + i, "cost": 5000} for i in range(14)]
    others = [{**v, "visit_id": v["visit_id"] + 100} for v in tables["visits"] if v["patient_id"] != 1]
    tables["wards"] = [*tables["wards"], *({"ward": "B", "beds": i, "floor": i} for i in range(5))]
    full = {**tables, "visits": [*hers, *others]}
    bare = {**tables, "visits": others, "patients": [p for p in tables["patients"] if p["id"] != 1]}
    cells = []
    for name, world in (("with", full), ("without", bare)):
        try:
            gateway = nowiser.open(write(tmp_path / name, world, POLICY))
            planned = plan(read(sql, gateway.policy), gateway.policy)
            cells.append([list(c) for c in aligned(gateway._engine.run(planned.tally), planned)])
            gateway.close()
        except Misconfigured:
            return  # saying that a public table breaks its own declaration tells nothing about persons
        except NotAnswerable:
            gateway.close()
            return
    for i, reach in enumerate(planned.reaches):
        moved = sum(abs(int(a) - int(b)) for a, b in zip(cells[0][i], cells[1][i], strict=True))
        assert moved <= reach.presence, f"moved by {moved}, {reach.presence} was said"
