"""Whether an answer is called useless, and every word and figure of that, is the same with and without Alice."""

import pytest

from support.worlds import OURS, ask, made_up_tables, open_worlds

JUDGED = OURS.replace("    person: id\n", "    person: id\n    people: 300\n").replace("gain: 45%", "gain: 5%")

QUESTIONS = [
    "SELECT COUNT(*) FROM patients",
    "SELECT COUNT(*) FROM patients WHERE diagnosis = 'HIV'",
    "SELECT COUNT(*) FROM patients WHERE name = 'Alice'",
    "SELECT AVG(cost) FROM patients WHERE name = 'Alice' AND diagnosis = 'HIV'",
    "SELECT diagnosis, AVG(cost), MEDIAN(los) FROM patients GROUP BY diagnosis",
    "SELECT name, COUNT(*) FROM patients GROUP BY name",
    "SELECT MIN(birth_year), MAX(birth_year), STDDEV(los) FROM patients",
    "SELECT COUNT(*) FROM patients WHERE diagnosis = 'hiv'",
    "SELECT AVG(cost) FROM patients WHERE los = 61",
    "SELECT AVG(v.cost) FROM visits v JOIN patients p ON v.patient_id = p.id WHERE p.name = 'Alice'",
    "SELECT ward, COUNT(*) FROM patients GROUP BY ward LIMIT 0",
    "SELECT AVG(time) FROM canteen WHERE time > 50",
    "SELECT COUNT(*) FROM canteen WHERE time > 50",
    "SELECT faculty, MAX(time) FROM canteen GROUP BY faculty",
    "SELECT AVG(time) FROM canteen WHERE student = 1",
    "SELECT AVG(time) FROM canteen WHERE student = 99999",
    "SELECT SUM(time) FROM canteen WHERE faculty = 'math' AND time < 13",
]


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    gateways = open_worlds(tmp_path_factory.mktemp("judged"), made_up_tables(), JUDGED)
    yield gateways
    for gateway in gateways.values():
        gateway.close()


@pytest.mark.parametrize("sql", QUESTIONS)
def test_the_judgement_and_its_words_do_not_depend_on_alice(worlds, sql):
    seen = {name: ask(gateway, sql, anyway=False)[0] for name, gateway in worlds.items()}
    assert len(set(seen.values())) == 1, seen
    explained = {
        name: gateway.explain(sql).to_dict() if "hiv" not in sql and "61" not in sql else None
        for name, gateway in worlds.items()
    }
    assert explained["with_alice"] == explained["without_alice"] == explained["changed"]


def test_most_of_them_are_refused(worlds):
    kinds = [ask(worlds["with_alice"], sql, anyway=False)[0].kind for sql in QUESTIONS]
    assert kinds.count("Useless") >= 8, kinds
    assert "answered" in kinds
