"""A canteen behind HTTP: a client for everybody."""

import pytest

from nowiser.server.http.app import application
from support.web import TestClient

HOME = "http://testserver"


@pytest.fixture
def app(desk):
    return application(desk)


@pytest.fixture
def client(app):
    """Somebody whom nobody knows."""
    return TestClient(app, base_url=HOME)


@pytest.fixture
def by_token(app, tokens):
    """Clients that send a token: `by_token("ana")`."""

    def made(name):
        return TestClient(app, base_url=HOME, headers={"authorization": f"Bearer {tokens[name]}"})

    return made


@pytest.fixture
def logged_in(app, tokens):
    """A browser with a session: `logged_in("cleo")`; it sends its CSRF token."""

    def made(name):
        browser = TestClient(app, base_url=HOME, headers={"origin": HOME})
        found = browser.post("/api/v1/session", json={"name": name, "password": tokens[name]})
        assert found.status_code == 200
        browser.headers["x-csrf-token"] = found.json()["csrf"]
        return browser

    return made


@pytest.fixture
def served(settings, tokens):
    """The server itself, in a process of its own: its address."""
    from support.serving import serving

    with serving(settings.policy) as server:
        yield server
