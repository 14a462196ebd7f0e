"""Logging in: cookies, the end of sessions, other sites, wrong secrets."""

import statistics
import time

import pytest

from nowiser.server.http import login, sessions
from nowiser.server.http.app import application
from nowiser.server.people.attempts import MOST
from support.web import TestClient

ME = "/api/v1/session"


def test_nobody_is_asked_to_log_in(client):
    found = client.get(ME)
    assert (found.status_code, found.headers["content-type"]) == (401, "application/problem+json")
    assert found.json()["kind"] == "log-in"
    assert found.headers["www-authenticate"].startswith("Bearer")


def test_a_password_and_a_token_open_a_session(app, desk, tokens):
    desk.register.set_password("ana", "four random little words", by="test")
    for secret in ("four random little words", tokens["ana"]):
        browser = TestClient(app)
        found = browser.post(ME, json={"name": "ana", "password": secret})
        assert found.json()["role"] == "analyst"
        cookie = found.headers["set-cookie"].lower()
        assert cookie.startswith("nowiser=")
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        assert browser.get(ME).json()["name"] == "ana"


def test_over_tls_the_cookie_is_bound_to_the_host(app, tokens):
    found = TestClient(app, base_url="https://testserver").post(ME, json={"name": "ana", "password": tokens["ana"]})
    cookie = found.headers["set-cookie"]
    assert cookie.startswith("__Host-nowiser=")
    assert "Secure" in cookie
    assert "Path=/" in cookie
    assert "strict-transport-security" in found.headers


def test_logging_out_ends_the_session_here_too(logged_in):
    browser = logged_in("ana")
    kept = dict(browser.cookies)
    assert browser.delete(ME).status_code == 204
    browser.cookies.update(kept)
    assert browser.get(ME).status_code == 401


@pytest.mark.parametrize("ending", ["switched off", "token dropped", "account dropped", "idle", "long"])
def test_sessions_end(ending, app, desk, logged_in, monkeypatch):
    browser, register = logged_in("ana"), desk.register
    if ending == "switched off":
        register.change("ana", by="test", disabled=True)
    elif ending == "token dropped":
        register.drop_token("ana", "first", by="test")
    elif ending == "account dropped":
        register.drop("ana", by="test")
    else:
        later = time.monotonic() + (sessions.IDLE + 1 if ending == "idle" else 0)
        if ending == "long":
            monkeypatch.setattr(sessions, "LONGEST", 0.0)
        app.state.sessions._clock = lambda: later
    assert browser.get(ME).status_code == 401


def test_a_new_password_ends_the_sessions_of_the_old_one(app, desk, tokens):
    desk.register.set_password("ana", "four random little words", by="test")
    browser = TestClient(app)
    browser.post(ME, json={"name": "ana", "password": "four random little words"})
    desk.register.set_password("ana", "five other random little words", by="test")
    assert browser.get(ME).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"x-csrf-token": "guessed"},
        {"x-csrf-token": ""},
    ],
)
def test_a_page_elsewhere_changes_nothing(headers, logged_in):
    browser = logged_in("ana")
    browser.headers.update(headers)
    found = browser.delete(ME)
    assert (found.status_code, found.json()["kind"]) == (403, "not authorised")
    assert browser.get(ME).status_code == 200


def test_another_sites_form_cannot_log_in(app, tokens):
    found = TestClient(app, headers={"origin": "http://evil.example"}).post(
        ME, json={"name": "ana", "password": tokens["ana"]}
    )
    assert found.status_code == 403


def test_the_token_of_one_session_is_not_that_of_another(logged_in):
    one, other = logged_in("ana"), logged_in("cleo")
    one.headers["x-csrf-token"] = other.headers["x-csrf-token"]
    assert one.delete(ME).status_code == 403


def test_a_wrong_token_is_told_so(client):
    found = client.get(ME, headers={"authorization": "Bearer nw_wrong"})
    assert found.status_code == 401
    assert found.json()["detail"] == "The name or the password is wrong."


def test_wrong_secrets_and_unknown_names_get_the_same_answer(client, desk, tokens):
    desk.register.set_password("cleo", "four random little words", by="test")
    told = {
        (r.status_code, r.text)
        for name, secret in [
            ("ana", "wrong"),
            ("cleo", "wrong"),
            ("nobody", "wrong"),
            ("ana", "nw_x"),
            ("ana", tokens["cleo"]),
        ]
        for r in [client.post(ME, json={"name": name, "password": secret})]
    }
    assert len(told) == 1


def test_wrong_secrets_and_unknown_names_take_as_long(client, desk, tokens, monkeypatch):
    """Before it is rounded to the grid, too: what is computed does not depend on the account."""
    monkeypatch.setattr(login, "SLOT", 1e-6)
    monkeypatch.setattr(desk.attempts, "waits", lambda *_: 0)
    desk.register.set_password("cleo", "four random little words", by="test")

    def timed(name):
        start = time.perf_counter()
        client.post(ME, json={"name": name, "password": "wrong"})
        return time.perf_counter() - start

    timed("cleo")
    pairs = [(timed("cleo"), timed("nobody")) for _ in range(15)]
    known, unknown = (statistics.median(p[i] for p in pairs) for i in (0, 1))
    assert abs(known - unknown) < 0.5 * max(known, unknown)  # without the hash of nobody: 10 times faster


def test_ten_failures_make_the_address_wait(client, tokens, monkeypatch):
    monkeypatch.setattr(login, "SLOT", 0.001)
    for _ in range(MOST):
        assert client.post(ME, json={"name": "ana", "password": "wrong"}).status_code == 401
    found = client.post(ME, json={"name": "ana", "password": tokens["ana"]})
    assert (found.status_code, found.json()["kind"]) == (429, "too many")


def test_what_is_sent_is_small_and_known(client, by_token):
    assert client.post(ME, json={"name": "ana", "password": "x", "role": "custodian"}).status_code == 400
    assert client.post(ME, content=b"x" * 1_000_001).status_code == 413
    found = client.post(ME, content=b"{", headers={"content-type": "application/json"})
    assert found.status_code == 400
    assert found.headers["content-type"] == "application/problem+json"
    assert client.get("/api/v1/nothing").json()["kind"] == "not found"
    assert client.put(ME).status_code == 405


def test_every_answer_carries_the_headers(client):
    for path in ("/healthz", "/nothing", ME, "/metrics"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == "no-store"


def test_a_bug_of_ours_tells_nothing(desk, tokens, monkeypatch):
    app = application(desk)
    monkeypatch.setattr(app.state.sessions, "begin", lambda *_: 1 / 0)
    found = TestClient(app).post(ME, json={"name": "ana", "password": tokens["ana"]})
    assert (found.status_code, found.json()["kind"]) == (500, "not evaluated")
    assert "Zero" not in found.text
    assert "content-security-policy" in found.headers
