"""Single sign-on with a provider on this machine: who gets in, and every token that must not open anything."""

import re
import urllib.request
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from nowiser.errors import Misconfigured
from nowiser.server.desk import Desk
from nowiser.server.http.app import application
from nowiser.server.http.provider import SignOn
from support.open_id import CLIENT, SECRET, key, provider
from support.web import TestClient

HOME = "http://127.0.0.1"


@pytest.fixture
def their():
    with provider() as found:
        yield found


@pytest.fixture
def signed(settings, tokens, desk, their):
    """Served with single sign-on; cleo is known there."""
    desk.register.change("cleo", by="test", subject=f"{their.issuer} {their.subject}")
    opened = Desk(replace(settings, sign_on=SignOn(their.issuer, CLIENT, SECRET)))
    yield application(opened)
    opened.close()


def browser(app):
    return TestClient(app, base_url=HOME, follow_redirects=False)


def left(client, following="/ledger"):
    """The way to the provider; what it was asked."""
    answer = client.get("/sign-on", params={"following": following})
    assert answer.status_code == 303
    return {k: v[0] for k, v in parse_qs(urlsplit(answer.headers["location"]).query).items()}


def back(client, their, asked):
    return client.get("/sign-on/back", params={"code": their.code(asked), "state": asked["state"]})


def test_a_person_comes_back_into_her_account(signed, their):
    client = browser(signed)
    assert "/sign-on?following=/" in client.get("/login").text
    answer = client.get("/sign-on?following=/ledger")
    assert answer.headers["location"].startswith(f"{their.issuer}/authorize?")
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=lax" in answer.headers["set-cookie"]
    asked = left(client)
    page = back(client, their, asked)
    assert page.status_code == 200
    assert '<meta http-equiv="refresh" content="0; url=/ledger">' in page.text
    assert client.get("/ledger").status_code == 200
    assert "cleo" in client.get("/you").text
    again = back(client, their, asked)  # the cookie of the way there is gone
    assert again.status_code == 403


def test_nobody_unknown_gets_in_and_is_told_whom_to_ask(signed, their):
    client, their.subject = browser(signed), "somebody else"
    page = back(client, their, left(client))
    assert page.status_code == 403
    assert f"{their.issuer} somebody else" in page.text
    assert client.get("/you").status_code == 401


def test_the_session_ends_with_the_account_and_with_its_subject(signed, their, desk):
    for ending in ({"subject": ""}, {"disabled": True}):
        desk.register.change("cleo", by="test", subject=f"{their.issuer} {their.subject}")
        client = browser(signed)
        back(client, their, left(client))
        assert client.get("/you").status_code == 200
        desk.register.change("cleo", by="test", **ending)
        assert client.get("/you").status_code == 401


WRONG = {
    "of another provider": {"iss": "https://evil.example"},
    "for another client": {"aud": "other"},
    "for several, one is not named": {"aud": [CLIENT, "other"]},
    "given to another client": {"azp": "other"},
    "of another log-in": {"nonce": "x"},
    "without a nonce": {"nonce": None},
    "too old": {"exp": 1_000_000, "iat": 1_000_000},
    "without an end": {"exp": None},
    "about nobody": {"sub": None},
}


@pytest.mark.parametrize("case", WRONG)
def test_a_token_that_does_not_hold_opens_nothing(case, signed, their):
    client, their.spoil = browser(signed), WRONG[case]
    assert back(client, their, left(client)).status_code == 401
    assert client.get("/you").status_code == 401


@pytest.mark.parametrize("forgery", ["another key", "no signature", "the public key as a secret"])
def test_a_forged_token_opens_nothing(forgery, signed, their):
    client = browser(signed)
    asked = left(client)
    if forgery == "another key":
        their.signed_with = key("first", 2)
    their.algorithm = {"no signature": "none", "the public key as a secret": "HS256"}.get(forgery, "RS256")
    assert back(client, their, asked).status_code == 401
    assert client.get("/you").status_code == 401


def test_new_keys_of_the_provider_are_looked_for(signed, their, monkeypatch):
    client = browser(signed)
    assert back(client, their, left(client)).status_code == 200
    their.keys = [key("second")]
    their.signed_with = their.keys[0]
    monkeypatch.setattr("nowiser.server.http.provider.AGAIN", 0.0)
    assert back(client, their, left(client)).status_code == 200


def test_a_log_in_that_was_begun_elsewhere_is_not_finished_here(signed, their):
    """Otherwise somebody could log a victim in as himself, and read what she asks."""
    evil, victim = browser(signed), browser(signed)
    asked = left(evil)
    assert back(victim, their, asked).status_code == 403
    own = left(victim)
    assert back(victim, their, own | {"state": asked["state"]}).status_code == 403
    asked = left(victim)
    assert back(victim, their, asked | {"code_challenge": "x"}).status_code == 401
    assert their.asked == 1  # what is not ours is not asked about


def test_after_ten_failures_the_address_waits(signed, their):
    client, their.spoil = browser(signed), {"aud": "other"}
    found = [back(client, their, left(client)).status_code for _ in range(11)]
    assert found == [401] * 10 + [429]


@pytest.mark.parametrize("following", ["//evil.example", "https://evil.example", "/\\evil", '/"><script>', "x"])
def test_after_it_one_is_led_to_pages_of_ours_only(following, signed, their):
    client = browser(signed)
    page = back(client, their, left(client, following))
    target = re.search(r'http-equiv="refresh" content="0; url=([^"]*)"', page.text)[1]
    assert target == "/" or (target.startswith("/&#34;") and "<script>" not in page.text)


def test_a_provider_that_is_gone_or_somebody_else(settings, tokens, their):
    for issuer in ("http://127.0.0.1:9", their.issuer + "/"):
        opened = Desk(replace(settings, sign_on=SignOn(issuer, CLIENT)))
        client = browser(application(opened))
        answer = client.get("/sign-on")
        assert answer.status_code == 503
        assert "Password, or a token" in answer.text
        opened.close()


def test_without_it_there_is_no_such_page(client):
    assert client.get("/sign-on").status_code == 404
    assert client.get("/sign-on/back").status_code == 404
    assert "single sign-on" not in client.get("/login").text


def test_what_is_no_provider(settings):
    with pytest.raises(Misconfigured, match="https://"):
        replace(settings, sign_on=SignOn("http://id.example", CLIENT)).check()


def test_one_person_has_one_account(desk, tokens):
    desk.register.change("cleo", by="test", subject="https://id.example 7")
    with pytest.raises(Misconfigured, match="Another account"):
        desk.register.change("ana", by="test", subject="https://id.example 7")
    with pytest.raises(Misconfigured, match="space"):
        desk.register.change("ana", by="test", subject="ana")


def test_the_secret_is_sent_to_the_address_that_was_agreed_on():
    """A redirect of the token endpoint is not followed."""
    from nowiser.server.http.provider import _Stay

    assert _Stay().redirect_request(urllib.request.Request("https://a.example"), None, 307, "", {}, "https://b") is None
