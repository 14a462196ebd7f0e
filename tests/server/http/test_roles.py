"""Every route with every role, in one table. A route that is not in the table fails, so nobody forgets to decide."""

import pytest

from nowiser.server.http.app import API, PARTS
from nowiser.server.pages.routes import ROOMS

NOBODY, ANYBODY, SEES, CUSTODIAN, ASKS = "nobody", "anybody", "sees all", "custodian", "asks"
WHO = {
    NOBODY: {None, "ana", "cleo", "odo"},
    ANYBODY: {"ana", "cleo", "odo"},
    ASKS: {"ana", "cleo"},
    SEES: {"cleo", "odo"},
    CUSTODIAN: {"cleo"},
}
ROUTES = {
    "GET /": NOBODY,  # leads to the log-in
    "GET /healthz": NOBODY,
    "GET /readyz": NOBODY,
    "GET /metrics": NOBODY,
    "GET /static/{name}": NOBODY,
    "GET /api/v1/openapi.json": NOBODY,
    "POST /api/v1/session": NOBODY,
    "GET /api/v1/session": ANYBODY,
    "DELETE /api/v1/session": NOBODY,
    "POST /api/v1/query": ASKS,
    "POST /api/v1/explain": ASKS,
    "POST /api/v1/describe": ANYBODY,
    "POST /api/v1/remaining": ASKS,
    "GET /api/v1/tables": ANYBODY,
    "GET /api/v1/allowance": ANYBODY,
    "GET /api/v1/questions": ANYBODY,
    "GET /api/v1/guesses": SEES,
    "GET /api/v1/ledger": SEES,
    "POST /api/v1/ledger/verify": SEES,
    "GET /api/v1/ledger/export": SEES,
    "GET /api/v1/accounts": SEES,
    "POST /api/v1/accounts": CUSTODIAN,
    "PATCH /api/v1/accounts/{name}": CUSTODIAN,
    "DELETE /api/v1/accounts/{name}": CUSTODIAN,
    "POST /api/v1/accounts/{name}/tokens": CUSTODIAN,  # of somebody else
    "DELETE /api/v1/accounts/{name}/tokens/{token}": CUSTODIAN,
    "PUT /api/v1/accounts/{name}/password": None,  # of somebody else: no one
    "GET /api/v1/policy": SEES,
    "POST /api/v1/policy/preview": SEES,
    "POST /api/v1/policy": CUSTODIAN,
    "POST /api/v1/policy/proposals/{seq}/confirm": CUSTODIAN,
    "DELETE /api/v1/policy/proposals/{seq}": CUSTODIAN,
    "GET /api/v1/jobs": SEES,
    "POST /api/v1/jobs/publish": CUSTODIAN,
    "POST /api/v1/jobs/compare": CUSTODIAN,
    "GET /api/v1/jobs/{job}": SEES,
    "GET /api/v1/jobs/{job}/events": SEES,
    "DELETE /api/v1/jobs/{job}": CUSTODIAN,
    "GET /login": NOBODY,
    "POST /login": NOBODY,
    "POST /logout": NOBODY,
    "GET /sign-on": NOBODY,
    "GET /sign-on/back": NOBODY,
    "GET /you": ANYBODY,
    "POST /you": ANYBODY,
    "GET /board": SEES,
    "GET /ask": ANYBODY,
    "POST /ask": ASKS,
    "POST /ask/explain": ANYBODY,  # an auditor is told, in the page, that he asks nothing
    "GET /tables": ANYBODY,
    "GET /limits": ANYBODY,
    "POST /limits": CUSTODIAN,
    "POST /limits/preview": CUSTODIAN,
    "POST /limits/{seq}/confirm": CUSTODIAN,
    "POST /limits/{seq}/withdraw": CUSTODIAN,
    "GET /releases": SEES,
    "POST /releases": CUSTODIAN,
    "POST /releases/{seq}/compare": CUSTODIAN,
    "POST /jobs/{job}/stop": CUSTODIAN,
    "GET /releases/{seq}/report": SEES,
    "GET /releases/{seq}/comparison": SEES,
    "GET /accounts": SEES,
    "POST /accounts": CUSTODIAN,
    "GET /ledger": SEES,
    "POST /ledger/verify": SEES,
    "GET /ledger.jsonl": SEES,
    "GET /report": SEES,
    "GET /report.{form}": SEES,
}
# Bodies that are read, and whose wish then fails: nothing is changed by whoever may
ASKED = {"sql": "SELECT COUNT(*) FROM nothing"}
BODIES = {
    "POST /api/v1/query": ASKED,
    "POST /api/v1/explain": ASKED,
    "POST /api/v1/describe": ASKED,
    "POST /api/v1/remaining": ASKED,
    "POST /api/v1/accounts": {"name": "NOT A NAME"},
    "PATCH /api/v1/accounts/{name}": {"disabled": False},
    "POST /api/v1/accounts/{name}/tokens": {"label": "x"},
    "PUT /api/v1/accounts/{name}/password": {"old": "x", "new": "y" * 12},
    "POST /api/v1/policy/preview": {"text": "no policy"},
    "POST /api/v1/policy": {"text": "no policy", "based_on": "x", "reason": "x"},
    "POST /api/v1/jobs/publish": {"table": "visits", "name": "NOT A NAME"},
    "POST /api/v1/jobs/compare": {"release": 99, "table": "visits"},
}
FORMS = {
    "POST /ask": {"what": "ask", "sql": "SELECT COUNT(*) FROM nothing"},
    "POST /ask/explain": {"sql": "SELECT COUNT(*) FROM nothing"},
    "POST /you": {"what": "nothing"},
    "POST /limits": {"guess": "x", "gain": "1", "based_on": "x"},
    "POST /limits/preview": {"guess": "x", "gain": "1"},
    "POST /accounts": {"what": "nothing", "name": "x"},
    "POST /releases": {"table": "visits", "name": "NOT A NAME", "what": "look"},
    "POST /releases/{seq}/compare": {"table": "visits"},
    "POST /login": {"name": "x", "secret": "y"},
}


def every_route():
    for part, prefix in (*((p, API) for p in PARTS), *((r, "") for r in ROOMS)):
        for route in part.router.routes:
            yield from (f"{method} {prefix}{route.path}" for method in route.methods - {"HEAD"})


def test_every_route_is_in_the_table():
    own = {r for r in ROUTES if r.split(" ")[1] in ("/", "/healthz", "/readyz", "/metrics", "/api/v1/openapi.json")}
    assert set(every_route()) == set(ROUTES) - own - {"GET /static/{name}"}


@pytest.fixture
def someone_else(desk, tokens):
    from nowiser.server.people.account import Role

    desk.register.add("dora", Role.analyst, by="test")


@pytest.mark.parametrize("who", [None, "ana", "cleo", "odo"])
def test_each_role_reaches_its_routes_and_no_other(client, by_token, desk, someone_else, who):
    browser = client if who is None else by_token(who)
    before = [(e.seq, e.kind) for e in desk.gate.ledger.entries()]
    # what may be carried out is carried out last
    for route in sorted(ROUTES, key=lambda r: (r.startswith(("DELETE", "PATCH")), r)):
        method, _, path = route.partition(" ")
        path = path.format(name="dora", token="none", seq="99", job="none", form="md")
        found = browser.request(
            method, path, json=BODIES.get(route), data=FORMS.get(route), follow_redirects=False
        )  # a page says 401 or 403, too
        reached = found.status_code not in (401, 403)
        if route in ("POST /api/v1/session", "POST /login"):
            reached = True  # the log-in itself
        allowed = who in WHO[ROUTES[route]] if ROUTES[route] else False
        assert (route, found.status_code, reached) == (route, found.status_code, allowed)
        if not allowed:
            assert (route, found.status_code) == (route, 401 if who is None else 403)
    if who != "cleo":
        assert [(e.seq, e.kind) for e in desk.gate.ledger.entries()] == before
