"""The API: answers in three forms, roles, accounts and tokens, the ledger."""

import csv
import io
import json
from itertools import pairwise

import pyarrow as pa
import pytest

from nowiser.report.sent import received, sent

AVERAGE = "SELECT AVG(time) AS minutes FROM visits WHERE faculty = 'math'"
COUNT = "SELECT faculty, COUNT(*) AS students FROM visits GROUP BY faculty"
GROUPS = "SELECT faculty, AVG(time) AS minutes FROM visits GROUP BY faculty"


def ask(client, sql=AVERAGE, **wish):
    return client.post("/api/v1/query", json={"sql": sql, "anyway": True, **wish})


def test_an_answer_comes_once_charged_and_again_free(by_token, desk):
    ana = by_token("ana")
    first = ask(ana, spend="5%")
    assert first.status_code == 200
    body = first.json()
    assert body["columns"] == ["minutes"]
    assert body["kinds"] == ["real"]
    assert not body["stored"]
    totals = desk.gate.ledger.totals()
    again = ask(ana, spend="5%").json()
    assert (again["rows"], again["stored"]) == (body["rows"], True)
    assert desk.gate.ledger.totals() == totals
    assert desk.gate.ledger.totals("ana") == totals


@pytest.mark.parametrize("sql", [AVERAGE, GROUPS, COUNT])
def test_what_is_sent_is_received_as_the_same_value(seat, sql):
    answer = seat.query(sql, anyway=True)
    assert received(json.loads(json.dumps(sent(answer)))) == answer
    explained = seat.explain(sql)
    back = received(json.loads(json.dumps(sent(explained))))
    assert back == explained
    assert back.kinds == explained.kinds
    assert (back.useless is None) == (explained.useless is None)


def test_answers_in_csv_and_arrow_carry_their_bars(by_token):
    ana = by_token("ana")
    body = ask(ana, GROUPS).json()
    rows = list(
        csv.reader(
            io.StringIO(
                ana.post("/api/v1/query", json={"sql": GROUPS, "anyway": True}, headers={"accept": "text/csv"}).text
            )
        )
    )
    assert rows[0] == ["faculty", "minutes", "minutes_error"]
    assert [float(r[1]) for r in rows[1:]] == [r[1] for r in body["rows"]]
    found = ana.post(
        "/api/v1/query", json={"sql": GROUPS, "anyway": True}, headers={"accept": "application/vnd.apache.arrow.stream"}
    )
    assert pa.ipc.open_stream(found.content).read_all().column_names == rows[0]


def test_explain_describe_tables_and_what_is_left_charge_nothing(by_token, desk):
    ana = by_token("ana")
    before = len(list(desk.gate.ledger.entries()))
    explained = ana.post("/api/v1/explain", json={"sql": AVERAGE}).json()
    assert 0 < explained["price"] < 1
    assert "rows" not in explained
    described = ana.post("/api/v1/describe", json={"sql": GROUPS}).json()
    assert [c["kind"] for c in described["columns"]] == ["text", "real"]
    assert ana.get("/api/v1/tables").json()["tables"][0]["name"] == "visits"
    assert ana.get("/api/v1/allowance").json()["left"] == 1.0
    assert ana.post("/api/v1/remaining", json={"sql": AVERAGE, "spend": "10%"}).json()["remaining"] >= 10
    assert ana.post("/api/v1/remaining", json={"sql": COUNT}).json()["remaining"] is None
    assert len(list(desk.gate.ledger.entries())) == before


def test_history_is_ones_own_and_everybodys_for_those_who_oversee(by_token):
    ask(by_token("ana"))
    ask(by_token("cleo"), spend="2%")
    seen = {
        name: [
            q["analyst"] for q in by_token(name).get("/api/v1/questions").json()["questions"] if q["kind"] == "question"
        ]
        for name in ("ana", "cleo", "odo")
    }
    assert seen == {"ana": ["ana"], "cleo": ["ana", "cleo"], "odo": ["ana", "cleo"]}


OVERSEEING = [
    ("GET", "/guesses"),
    ("GET", "/ledger"),
    ("POST", "/ledger/verify"),
    ("GET", "/ledger/export"),
    ("GET", "/accounts"),
]
CHANGING = [
    ("POST", "/accounts", {"name": "eve"}),
    ("PATCH", "/accounts/odo", {"role": "custodian"}),
    ("DELETE", "/accounts/odo", None),
    ("POST", "/accounts/cleo/tokens", {"label": "mine"}),
    ("DELETE", "/accounts/cleo/tokens/first", None),
    ("PUT", "/accounts/cleo/password", {"old": "x", "new": "four random little words"}),
]


@pytest.mark.parametrize(("method", "path"), OVERSEEING)
def test_who_oversees(method, path, by_token, client):
    path = f"/api/v1{path}"
    assert client.request(method, path).status_code == 401
    assert by_token("ana").request(method, path).status_code == 403
    assert by_token("odo").request(method, path).status_code == 200
    assert by_token("cleo").request(method, path).status_code == 200


@pytest.mark.parametrize(("method", "path", "body"), CHANGING)
def test_only_custodians_change(method, path, body, by_token, client, desk):  # noqa: PLR0917
    before = desk.gate.ledger.accounts()
    assert client.request(method, f"/api/v1{path}", json=body).status_code == 401
    for name in ("ana", "odo"):
        assert by_token(name).request(method, f"/api/v1{path}", json=body).status_code == 403
    assert desk.gate.ledger.accounts() == before


def test_a_custodian_makes_changes_and_drops_an_account(by_token, app, desk):
    cleo = by_token("cleo")
    made = cleo.post("/api/v1/accounts", json={"name": "ben", "per_day": "12.5%"})
    assert made.status_code == 201
    token = made.json()["token"]
    assert token not in cleo.get("/api/v1/accounts").text
    ben = {"authorization": f"Bearer {token}"}
    assert cleo.get("/api/v1/session", headers=ben).json()["name"] == "ben"
    assert cleo.patch("/api/v1/accounts/ben", json={"disabled": True}).json()["disabled"] is True
    assert cleo.get("/api/v1/session", headers=ben).status_code == 401
    assert cleo.patch("/api/v1/accounts/ben", json={"disabled": False, "per_day": "20%"}).json()["per_day"] == 0.2
    second = cleo.post("/api/v1/accounts/ben/tokens", json={"label": "laptop"}, headers=ben).json()["token"]
    assert (
        cleo.put(
            "/api/v1/accounts/ben/password", json={"old": second, "new": "four random little words"}, headers=ben
        ).status_code
        == 204
    )
    assert cleo.delete("/api/v1/accounts/ben/tokens/first", headers=ben).status_code == 204
    assert cleo.get("/api/v1/session", headers=ben).status_code == 401
    assert cleo.delete("/api/v1/accounts/ben").status_code == 204
    acts = [e.body for e in desk.gate.ledger.entries() if e.kind == "act" and e.body.get("account") == "ben"]
    assert {a["by"] for a in acts} == {"cleo", "ben"}
    assert "20.0 % per day" in " ".join(a["what"] for a in acts)
    desk.gate.ledger.verify()


@pytest.mark.parametrize("body", [{"role": "analyst"}, {"disabled": True}])
def test_nobody_takes_the_own_role_away(body, by_token):
    assert by_token("cleo").patch("/api/v1/accounts/cleo", json=body).status_code == 403


def test_the_ledger_is_exported_as_a_chain_that_others_can_check(by_token):
    ask(by_token("ana"))
    odo = by_token("odo")
    head = odo.post("/api/v1/ledger/verify").json()
    entries = [json.loads(line) for line in odo.get("/api/v1/ledger/export").text.splitlines()]
    assert len(entries) == head["entries"]
    assert entries[-1]["hash"] == head["head"]
    assert all(b["previous"] == a["hash"] for a, b in pairwise(entries))


def test_guesses_over_time_grow(by_token):
    ask(by_token("ana"))
    course = by_token("odo").get("/api/v1/guesses").json()["course"]
    assert [c["answers"] for c in course] == [0, 1]
    assert course[1]["guesses"][0]["after"] > course[0]["guesses"][0]["after"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"sql": 1},
        {"sql": AVERAGE, "unknown": 1},
        {"sql": AVERAGE, "spend": "1e999999999%"},
        {"sql": AVERAGE, "spend": -1},
        {"sql": AVERAGE, "error": 1, "spend": "1%"},
        {"sql": "x" * 100_001},
    ],
)
def test_what_cannot_be_read_is_refused(body, by_token, desk):
    found = by_token("ana").post("/api/v1/query", json=body)
    assert (found.status_code, found.json()["kind"]) == (400, "misconfigured")
    assert not desk.gate.ledger.totals()
