"""Changing what is promised: seen first, with a reason, by two people with four eyes."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from nowiser.server import promises
from nowiser.server.desk import Desk
from nowiser.server.http.app import application
from nowiser.server.people.account import Role
from nowiser.server.problems import Conflict
from support.web import TestClient

AVERAGE = "SELECT AVG(time) AS minutes FROM visits WHERE faculty = 'math'"
GUESS = "visits.time within 2"
HIGHER, LOWER = {"limits": {GUESS: "8%"}}, {"limits": {GUESS: "4%"}}


def test_a_higher_limit_shows_first_what_it_does_to_the_most_exposed_person(by_token, desk):
    cleo = by_token("cleo")
    by_token("ana").post("/api/v1/query", json={"sql": AVERAGE, "anyway": True})
    entries = len(list(desk.gate.ledger.entries()))
    found = cleo.post("/api/v1/policy/preview", json=HIGHER).json()
    assert found["loosens"]
    (moved,) = found["guesses"]
    assert moved["new"]["limit"] == pytest.approx(moved["old"]["limit"] + 0.03)
    assert moved["new"]["after"] == pytest.approx(moved["old"]["after"], abs=1e-3)  # bounds are computed per limit
    assert "most exposed person" in moved["words"]
    assert found["left"]["new"] > found["left"]["old"]
    assert len(list(desk.gate.ledger.entries())) == entries
    assert "# " in found["text"]  # comments stay
    assert found["text"].count("8%") == 1


def test_it_is_done_with_a_reason_and_taken_up_at_once(by_token, desk):
    cleo, ana = by_token("cleo"), by_token("ana")
    seen = cleo.post("/api/v1/policy/preview", json=HIGHER).json()
    new = HIGHER | {"based_on": seen["based_on"], "reason": "asked by the board"}
    assert cleo.post("/api/v1/policy", json=new | {"reason": " "}).status_code == 400
    assert cleo.post("/api/v1/policy", json=new).json()["in_force"]
    assert ana.get("/api/v1/allowance").json()["guesses"][0]["limit"] == pytest.approx(
        seen["guesses"][0]["new"]["limit"]
    )
    assert ana.post("/api/v1/query", json={"sql": AVERAGE, "anyway": True}).status_code == 200
    last = [e for e in desk.gate.ledger.entries() if e.kind == "policy"][-1]
    assert last.body["reason"] == "asked by the board (by cleo)"
    assert last.body["loosened"]
    assert cleo.post("/api/v1/policy", json=new).status_code == 409  # looked at another one


def test_of_two_who_change_it_at_once_one_is_told_to_look_again(by_token, desk):
    seen = by_token("cleo").post("/api/v1/policy/preview", json=HIGHER).json()
    gate = desk.gate

    def changed(gain):
        text = promises.with_limits(promises.written(gate), {GUESS: gain})
        try:
            promises.change(gate, text, based_on=seen["based_on"], by="cleo", reason=gain, four_eyes=False)
        except Conflict:
            return None
        return gain

    with ThreadPoolExecutor(4) as pool:
        done = [gain for gain in pool.map(changed, ("6%", "7%", "8%", "9%")) if gain]
    assert len(done) == 1
    assert f"gain: {done[0]}" in desk.settings.policy.read_text(encoding="utf-8")
    assert sum(e.kind == "policy" for e in desk.gate.ledger.entries()) == 2  # the first, and one change


def test_who_may(by_token, client):
    for name, status in (("ana", 403), ("odo", 403)):
        assert (
            by_token(name).post("/api/v1/policy", json=HIGHER | {"based_on": "x", "reason": "x"}).status_code == status
        )
    assert by_token("ana").get("/api/v1/policy").status_code == 403
    assert by_token("odo").post("/api/v1/policy/preview", json=HIGHER).status_code == 200
    assert client.get("/api/v1/policy").status_code == 401


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"limits": {"nobody": "8%"}},
        {"limits": {GUESS: "8%, x: 1"}},
        {"limits": {GUESS: ""}},
        {"limits": {GUESS: "100%"}},
        {"text": "nowiser: 1"},
        {"text": "nowiser: 2\n"},
        {"text": "x", "limits": {}},
    ],
)
def test_what_is_no_policy_changes_nothing(body, by_token, desk):
    before = desk.settings.policy.read_text()
    found = by_token("cleo").post("/api/v1/policy/preview", json=body)
    assert (found.status_code, found.json()["kind"]) == (400, "misconfigured")
    assert desk.settings.policy.read_text() == before


def test_another_engine_is_not_taken_up_over_http(by_token, desk):
    text = desk.settings.policy.read_text().replace("engine: duckdb", "engine: duckdb:///etc/passwd")
    assert by_token("cleo").post("/api/v1/policy/preview", json={"text": text}).status_code == 400
    text = desk.settings.policy.read_text().replace("source: canteen.csv", "source: serve.log")
    assert by_token("cleo").post("/api/v1/policy/preview", json={"text": text}).status_code == 400


@pytest.fixture
def eyes(settings, tokens, desk):
    """Served with four eyes; cleo and dana are custodians."""
    dana = desk.register.add("dana", Role.custodian, by="test")
    opened = Desk(replace(settings, four_eyes=True))
    app = application(opened)
    yield {
        name: TestClient(app, headers={"authorization": f"Bearer {token}"})
        for name, token in {**tokens, "dana": dana}.items()
    } | {"desk": opened}
    opened.close()


def _proposed(eyes):
    based_on = eyes["cleo"].get("/api/v1/policy").json()["digest"]
    found = eyes["cleo"].post("/api/v1/policy", json=HIGHER | {"based_on": based_on, "reason": "asked by the board"})
    assert not found.json()["in_force"]
    return found.json()["proposal"]["seq"]


def test_with_four_eyes_somebody_else_confirms(eyes):
    seq = _proposed(eyes)
    file = eyes["desk"].settings.policy
    assert "8%" not in file.read_text()
    assert eyes["cleo"].post(f"/api/v1/policy/proposals/{seq}/confirm").status_code == 403
    assert eyes["odo"].post(f"/api/v1/policy/proposals/{seq}/confirm").status_code == 403
    assert eyes["odo"].get("/api/v1/policy").json()["proposal"]["by"] == "cleo"
    assert eyes["dana"].post(f"/api/v1/policy/proposals/{seq}/confirm").json()["in_force"]
    assert "8%" in file.read_text()
    assert eyes["dana"].post(f"/api/v1/policy/proposals/{seq}/confirm").status_code == 409
    last = [e for e in eyes["desk"].gate.ledger.entries() if e.kind == "policy"][-1]
    assert "proposed by cleo, confirmed by dana" in last.body["reason"]


def test_a_proposal_is_withdrawn(eyes):
    seq = _proposed(eyes)
    assert eyes["dana"].delete(f"/api/v1/policy/proposals/{seq}").status_code == 204
    assert eyes["dana"].post(f"/api/v1/policy/proposals/{seq}/confirm").status_code == 409


def test_a_proposal_is_over_when_the_policy_changed_meanwhile(eyes):
    seq = _proposed(eyes)
    based_on = eyes["cleo"].get("/api/v1/policy").json()["digest"]
    found = eyes["cleo"].post("/api/v1/policy", json=LOWER | {"based_on": based_on, "reason": "careful"})
    assert found.json()["in_force"]  # tightening needs one pair
    assert eyes["dana"].post(f"/api/v1/policy/proposals/{seq}/confirm").status_code == 409


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/accounts", {"name": "eve", "role": "custodian"}),
        ("PATCH", "/accounts/ana", {"role": "custodian"}),
        ("POST", "/accounts/dana/tokens", {"label": "mine now"}),
        ("PATCH", "/accounts/dana", {"subject": "https://id.example cleo"}),
        ("PATCH", "/accounts/dana", {"disabled": False}),
    ],
)
def test_with_four_eyes_nobody_makes_a_second_pair(method, path, body, eyes):
    assert eyes["cleo"].request(method, f"/api/v1{path}", json=body).status_code == 403


@pytest.mark.parametrize("who", ["cleo", "odo"])
@pytest.mark.parametrize(
    "prior",
    [
        "{empirical: canteen.csv}",
        "{empirical: ./canteen.csv}",
        "{empirical: {file: canteen.csv, column: time}}",
        '{"empirical": "canteen.csv"}',
        "{empirical: ../other.csv}",
    ],
)
def test_a_look_at_a_policy_reads_no_file_that_the_policy_does_not_name(who, prior, by_token, desk):
    """With the data as the prior, "before" would be an exact count of them: free, and in no account."""
    text = promises.written(desk.gate).replace("{normal: {mean: 20, sd: 5}}", prior)
    text = text.replace("visits.time within 2", '"visits.time in [10, 12]"')
    told = by_token(who).post("/api/v1/policy/preview", json={"text": text})
    assert told.status_code == 400
    assert "file of a prior" in told.json()["detail"]
    assert "guesses" not in told.json()


def test_a_file_of_a_prior_that_the_policy_names_may_stay(folder):
    import nowiser as nw

    (folder / "census.csv").write_text("time\n" + "\n".join(str(10 + i % 20) for i in range(200)) + "\n")
    file = folder / "nowiser.yaml"
    file.write_text(file.read_text().replace("{normal: {mean: 20, sd: 5}}", "{empirical: census.csv}"))
    with nw.open(file) as gate:
        (moved,) = promises.preview(gate, promises.with_limits(promises.written(gate), {GUESS: "8%"})).moved
        assert moved.new.limit > moved.old.limit
