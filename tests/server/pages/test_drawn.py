"""The pages as HTML: who sees which, that what people typed is shown as text, and forms that need their token."""

import json
import re
from fractions import Fraction
from html import escape

import pytest

from nowiser.model.charge import Charge
from nowiser.server.http.app import application
from nowiser.server.people.account import Role
from support.web import TestClient

EVIL = "SELECT AVG(time) AS minutes FROM visits WHERE faculty = '<script>alert(1)</script>'"
COUNT = "SELECT faculty, COUNT(*) AS students FROM visits GROUP BY faculty"
AVERAGE = "SELECT faculty, AVG(time) AS minutes FROM visits GROUP BY faculty"
FOR_ALL = ("/tables", "/limits")
FOR_OVERSEERS = (
    "/board",
    "/releases",
    "/accounts",
    "/ledger",
    "/report",
    "/report.html",
    "/report.md",
    "/ledger.jsonl",
)


@pytest.fixture
def entered(desk, tokens):
    """A browser without JavaScript in which somebody is logged in."""
    app = application(desk)

    def enter(name):
        client = TestClient(app, base_url="http://127.0.0.1")
        answer = client.post("/login", data={"name": name, "secret": tokens[name]})
        assert answer.status_code == 200, answer.text
        return client

    return enter


def csrf(client, page="/tables"):
    return re.search(r'name="csrf" value="([^"]+)"', client.get(page).text)[1]


def post(client, address, **fields):
    return client.post(address, data={"csrf": csrf(client)} | fields)


def test_each_role_sees_its_pages(entered):
    for name, overseer in (("ana", False), ("cleo", True), ("odo", True)):
        client = entered(name)
        assert {a: client.get(a).status_code for a in FOR_ALL} == dict.fromkeys(FOR_ALL, 200)
        wanted = dict.fromkeys(FOR_OVERSEERS, 200 if overseer else 403)
        assert {a: client.get(a).status_code for a in FOR_OVERSEERS} == wanted
        shown = re.findall(r'<li><a href="(/[a-z]+)"', client.get("/tables").text)
        assert ("/board" in shown) is overseer
        assert ("/ask" in shown) is (name != "odo")


def test_nobody_sees_anything_without_logging_in(desk, tokens):
    client = TestClient(application(desk), base_url="http://127.0.0.1")
    for address in (*FOR_ALL, *FOR_OVERSEERS, "/ask"):
        answer = client.get(address, headers={"accept": "text/html"})
        assert answer.status_code == 401
        assert "visits" not in answer.text
        assert f'value="{address}"' in answer.text  # and is led there afterwards


def test_after_logging_in_one_is_led_to_pages_of_ours_only(desk, tokens):
    app = application(desk)
    for following, wanted in (("/ledger", "/ledger"), ("//evil.example", "/"), ("/\\evil", "/"), ("https://e", "/")):
        client = TestClient(app, base_url="http://127.0.0.1")
        form = {"name": "cleo", "secret": tokens["cleo"], "following": following}
        answer = client.post("/login", data=form, follow_redirects=False)
        assert (answer.status_code, answer.headers["location"]) == (303, wanted)


def test_nobody_can_log_in_yet(desk):
    page = TestClient(application(desk), base_url="http://127.0.0.1").get("/")
    assert "nowiser user add" in page.text


def test_wrong_passwords_and_unknown_names_get_the_same_page(desk, tokens):
    client = TestClient(application(desk), base_url="http://127.0.0.1")
    pages = {client.post("/login", data={"name": name, "secret": "wrong"}).text for name in ("ana", "nobody")}
    assert len(pages) == 1


def test_what_people_typed_is_text(entered, desk, seat):
    desk.gate.ledger.act("<script>alert(2)</script>", by="<b>x</b>")
    ana, cleo = entered("ana"), entered("cleo")
    for answer in (post(ana, "/ask", what="ask", sql=EVIL), post(ana, "/ask/explain", sql=EVIL)):
        assert "<script>alert" not in answer.text
        assert escape("<script>alert(1)</script>") in answer.text.replace("&#39;", "&#x27;")
    seat.query(AVERAGE + " -- <script>alert(3)</script>", anyway=True)
    for address in ("/board", "/ledger", "/report", "/report.html"):
        assert "<script>alert" not in cleo.get(address).text
        assert "<b>x</b>" not in cleo.get(address).text
    assert "alert(3)" in cleo.get("/board").text


def test_no_style_and_no_script_stands_in_a_page(entered, seat):
    seat.query(AVERAGE, anyway=True)
    client = entered("cleo")
    for address in ("/board", "/ask", "/tables", "/limits", "/releases", "/accounts", "/ledger", "/report"):
        page = client.get(address)
        assert not re.search(r"<style|\sstyle=|<script>|\son[a-z]+=|javascript:|https?://(?!www\.w3\.org)", page.text)
        assert "'unsafe" not in page.headers["content-security-policy"]


def test_every_form_carries_its_token_and_none_works_without(entered):
    client = entered("cleo")
    for address in ("/ask", "/limits", "/accounts", "/ledger"):
        text = client.get(address).text
        forms = re.findall(r'<form method="post".*?</form>', text, re.DOTALL)
        assert forms
        assert all('name="csrf"' in form for form in forms)
    for address in ("/ask", "/limits", "/limits/preview", "/accounts", "/ledger/verify", "/logout"):
        assert client.post(address, data={"what": "ask", "sql": COUNT}).status_code == 403


def test_asking_without_javascript(entered, desk):
    client = entered("ana")
    told = post(client, "/ask", what="explain", sql=AVERAGE).text
    assert "Before you ask" in told
    assert "Error bar of minutes" in told
    assert not list(desk.gate.ledger.totals().amounts)
    page = post(client, "/ask", what="anyway", sql=AVERAGE).text
    assert "±" in page
    assert "<svg" in page.split('id="answer"')[1]
    again = post(client, "/ask", what="ask", sql=AVERAGE).text
    assert "again, free" in again
    assert len([line for line in desk.seat(desk.register.find("ana")).history() if line.charge]) == 1
    assert "AVG(time) AS minutes" in client.get("/ask").text  # in the history
    seq = re.search(r"/ask\?entry=(\d+)", client.get("/ask").text)[1]
    assert "AVG(time) AS minutes" in client.get(f"/ask?entry={seq}").text.split("<textarea")[1].split("</textarea>")[0]


def test_the_file_has_every_row_and_its_error_bars(entered):
    from base64 import b64decode

    page = post(entered("ana"), "/ask", what="anyway", sql=AVERAGE).text
    text = b64decode(re.search(r"base64,([^\"]+)", page)[1]).decode()
    head, *rows = text.strip().splitlines()
    assert head == '"faculty","minutes","minutes_error"'
    assert len(rows) == 2


def test_a_mistake_is_marked_in_the_question(entered):
    page = post(entered("ana"), "/ask", what="ask", sql="SELECT AVG(tim) FROM visits")
    assert page.status_code == 422
    assert 'data-start="11" data-end="14"' in page.text
    assert "Did you mean time?" in page.text
    assert ">SELECT AVG(tim) FROM visits</textarea>" in page.text


def test_a_question_outlives_the_session(entered, tokens):
    client = entered("ana")
    client.cookies.clear()
    page = client.post("/ask", data={"what": "ask", "sql": COUNT})
    assert page.status_code == 401
    draft = re.search(r'<textarea name="draft"[^>]*>(.*?)</textarea>', page.text, re.DOTALL)[1]
    back = client.post("/login", data={"name": "ana", "secret": tokens["ana"], "draft": draft})
    assert COUNT in back.text.split("<textarea")[1]
    assert "csrf" in back.text
    assert re.search(r'name="csrf" value="[^"]{20,}"', back.text)


def test_an_auditor_reads_the_questions_and_asks_none(entered):
    client = entered("odo")
    assert "<textarea" not in client.get("/ask").text
    assert post(client, "/ask", what="ask", sql=COUNT).status_code == 403
    for address, fields in (
        ("/accounts", {"what": "add", "name": "eve"}),
        ("/limits/preview", {"guess": "", "gain": "1"}),
    ):
        assert post(client, address, **fields).status_code == 403
    assert "verifies" in post(client, "/ledger/verify").text


def test_a_token_is_shown_once_and_opens_the_pages(entered, desk):
    client = entered("cleo")
    fields = {"what": "add", "name": "dora", "role": "analyst", "per_day": "3 %"}
    page = post(client, "/accounts", **fields).text
    text = re.search(r"nw_[a-z2-7]+", page)[0]
    assert desk.register.of_token(text).name == "dora"
    assert "nw_" not in client.get("/accounts").text
    assert post(client, "/accounts", **fields).status_code == 400  # there is one already
    assert "the own account off" in post(client, "/accounts", what="off", name="cleo").text
    assert desk.register.find("cleo") is not None
    post(client, "/accounts", what="drop", name="dora")
    assert desk.register.of_token(text) is None


def test_a_limit_is_looked_at_before_it_is_changed(entered, desk):
    client, file = entered("cleo"), desk.settings.policy
    before = file.read_text(encoding="utf-8")
    page = post(client, "/limits/preview", guess="visits.time within 2", gain="8").text
    assert "100 people like the most exposed one" in page
    assert "instead of 37" in page
    assert "promises less" in page
    assert file.read_text(encoding="utf-8") == before
    based_on = re.search(r'name="based_on" value="([^"]+)"', page)[1]
    fields = {"guess": "visits.time within 2", "gain": "8%", "based_on": based_on}
    assert post(client, "/limits", **fields).status_code == 400  # no reason
    assert file.read_text(encoding="utf-8") == before
    assert "in force" in post(client, "/limits", **fields, reason="the board decided").text
    assert desk.gate.policy.attackers[0].gain * 100 == 8
    assert "the board decided" in client.get("/ledger").text
    assert post(client, "/limits", **fields, reason="twice").status_code == 409


def test_with_four_eyes_another_custodian_confirms(settings, folder):
    from dataclasses import replace

    from nowiser.server.desk import Desk
    from nowiser.server.people.account import Role

    desk = Desk(replace(settings, four_eyes=True))
    try:
        secrets = {n: desk.register.add(n, Role.custodian, by="test") for n in ("cleo", "dan")}
        app, browsers = application(desk), {}
        for name, secret in secrets.items():
            browsers[name] = TestClient(app, base_url="http://127.0.0.1")
            browsers[name].post("/login", data={"name": name, "secret": secret})
        page = post(browsers["cleo"], "/limits/preview", guess="visits.time within 2", gain="8").text
        based_on = re.search(r'name="based_on" value="([^"]+)"', page)[1]
        fields = {"guess": "visits.time within 2", "gain": "8%", "based_on": based_on, "reason": "why"}
        assert "has to confirm" in post(browsers["cleo"], "/limits", **fields).text
        assert desk.gate.policy.attackers[0].gain * 100 == 5
        seq = re.search(r"/limits/(\d+)/withdraw", browsers["cleo"].get("/limits").text)[1]
        assert f"/limits/{seq}/confirm" not in browsers["cleo"].get("/limits").text
        assert post(browsers["cleo"], f"/limits/{seq}/confirm").status_code == 403
        assert "in force" in post(browsers["dan"], f"/limits/{seq}/confirm").text
        assert desk.gate.policy.attackers[0].gain * 100 == 8
    finally:
        desk.close()


def test_a_release_shows_its_report(tmp_path, tokens, entered, desk):
    from nowiser.microdata.codebook import digest

    data = tmp_path / "released.csv"
    data.write_text("a,b\n1,2\n", encoding="utf-8")
    (tmp_path / "released.report.html").write_text("<h1>What the release tells</h1>", encoding="utf-8")
    book = {"file": {"name": data.name, "sha256": digest(data)}}
    (tmp_path / "released.codebook.json").write_text(json.dumps(book), encoding="utf-8")
    (tmp_path / "broken.codebook.json").write_text("[", encoding="utf-8")
    (tmp_path / "broken.report.html").write_text("", encoding="utf-8")
    kept = desk.gate.ledger
    seq = kept.publish(
        Charge(), lambda *_: None, policy=desk.gate.policy.digest, what="a table", analyst="cleo", digest=digest(data)
    )
    client = entered("odo")
    assert f'href="/releases/{seq}/report"' in client.get("/releases").text
    report = client.get(f"/releases/{seq}/report")
    assert "What the release tells" in report.text
    assert "sandbox" in report.headers["content-security-policy"]
    assert client.get(f"/releases/{seq + 1}/report").status_code == 404
    assert entered("ana").get(f"/releases/{seq}/report").status_code == 403


def test_an_analyst_sees_what_her_day_has_left(entered, desk):
    ben = desk.register.add("ben", Role.analyst, by="test", per_day=Fraction(12, 100))
    client = TestClient(application(desk), base_url="http://127.0.0.1")
    client.post("/login", data={"name": "ben", "secret": ben})
    assert "12.0 % a day, of which 12.0 % is left today" in client.get("/ask").text
    page = post(client, "/ask", what="anyway", sql=AVERAGE).text
    assert re.search(r"of which 7\.\d % is left today", page)
    assert "a day, of which" not in entered("ana").get("/ask").text  # she may use everything


def test_what_is_not_worth_its_price_comes_with_prices_that_are(entered, desk):
    client = entered("ana")
    page = post(client, "/ask", what="ask", sql=AVERAGE, spend="0.1").text
    assert "would not be worth its price" in page
    better = re.findall(r'name="use" value="([^"]+)"', page)
    assert better
    assert "anyway=True" not in page  # words of another surface
    page = post(client, "/ask", use=better[-1], sql=AVERAGE).text
    assert "Before you ask" in page
    assert "would not be worth its price" not in page
    assert not list(desk.gate.ledger.totals().amounts)
    for fields in (
        {"spend": "500"},
        {"spend": "x"},
        {"spend": "nan"},
        {"error": "-1"},
        {"error": "inf"},
        {"error": "x"},
    ):
        assert post(client, "/ask", what="ask", sql=AVERAGE, **fields).status_code == 400


def test_everybody_sets_the_own_password_and_makes_the_own_tokens(entered, desk):
    for name in ("ana", "odo"):
        client = entered(name)
        text = re.search(r"nw_[a-z2-7]+", post(client, "/you", what="token", label="psql").text)[0]
        assert desk.register.of_token(text).name == name
        assert "nw_" not in client.get("/you").text
        fields = {"what": "password", "new": "four random words"}
        assert post(client, "/you", old="wrong", **fields).status_code == 401
        assert post(client, "/you", old=text, **(fields | {"new": "short"})).status_code == 400
        assert "The new password is set" in post(client, "/you", old=text, **fields).text
        assert client.get("/you").status_code == 200  # in a session of the new password
        token = next(t.id for t in desk.register.find(name).tokens if t.label == "psql")
        post(client, "/you", what="drop token", token=token)
        assert desk.register.of_token(text) is None
        assert desk.register.of_password(name, "four random words").name == name


def test_guessing_the_password_of_an_open_session_waits_too(entered):
    client = entered("ana")
    found = [post(client, "/you", what="password", old="wrong", new="x" * 12).status_code for _ in range(11)]
    assert found == [401] * 10 + [429]


def test_with_four_eyes_no_custodian_opens_the_account_of_another(settings, desk, tokens):
    from dataclasses import replace

    from nowiser.server.desk import Desk

    desk.register.add("dan", Role.custodian, by="test")
    desk.register.change("dan", by="test", disabled=True)
    strict = Desk(replace(settings, four_eyes=True))
    client = TestClient(application(strict), base_url="http://127.0.0.1")
    client.post("/login", data={"name": "cleo", "secret": tokens["cleo"]})
    for fields in (
        {"what": "add", "name": "eve", "role": "custodian", "per_day": "5%"},
        {"what": "change", "name": "ana", "role": "custodian", "per_day": "5%"},
        {"what": "token", "name": "dan"},
        {"what": "sign-on", "name": "dan", "subject": "https://id.example cleo"},
        {"what": "on", "name": "dan"},
    ):
        assert (fields, post(client, "/accounts", **fields).status_code) == (fields, 403)
    assert post(client, "/accounts", what="password", name="dan", password="four random words").status_code == 400
    assert post(client, "/accounts", what="token", name="ana").status_code == 200
    assert post(client, "/accounts", what="off", name="ana").status_code == 200
    strict.close()
