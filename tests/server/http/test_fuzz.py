"""Made-up requests: never a fault, a traceback or a status that is not in the table; nothing is charged or changed."""

import json

from hypothesis import HealthCheck, given, settings, strategies as st

from nowiser.server import problems
from nowiser.server.http.app import described

KNOWN = {p.status for p in vars(problems).values() if isinstance(p, problems.Problem)} | {200, 201, 204}
ROUTES = sorted((path, m.upper()) for path, methods in described().openapi()["paths"].items() for m in methods)
KEYS = (
    "sql",
    "spend",
    "error",
    "anyway",
    "clipped",
    "name",
    "password",
    "role",
    "per_day",
    "label",
    "text",
    "limits",
    "based_on",
    "reason",
    "old",
    "new",
    "subject",
    "disabled",
    "table",
    "k",
    "suppress",
    "release",
)

plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=30),
    st.sampled_from(["5%", "ana", "1e999", "\x00", "SELECT 1", "SELECT AVG(time) FROM", "custodian"]),
)
values = st.recursive(
    plain,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
bodies = st.one_of(
    st.binary(max_size=60),
    st.dictionaries(st.sampled_from(KEYS), values, max_size=6).map(lambda b: json.dumps(b).encode()),
    values.map(lambda b: json.dumps(b).encode()),
)


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(route=st.sampled_from(ROUTES), body=bodies, name=st.text(max_size=12), who=st.sampled_from(["ana", "odo", None]))
def test_whatever_is_sent_the_answer_is_in_the_table(route, body, name, who, by_token, client, desk):  # noqa: PLR0917
    from urllib.parse import quote

    path, method = route
    for field in ("name", "token", "seq", "job"):
        path = path.replace(f"{{{field}}}", quote(name, safe="") or "x")
    sender = client if who is None else by_token(who)
    accounts = {a.name: (a.role, a.disabled) for a in desk.register.every()}
    found = sender.request(method, path, content=body, headers={"content-type": "application/json"})
    assert found.status_code in KNOWN
    assert found.status_code < 500, found.text
    if found.status_code >= 400:
        assert found.headers["content-type"] == "application/problem+json"
        assert "Traceback" not in found.text
    assert {a.name: (a.role, a.disabled) for a in desk.register.every()} == accounts
    assert not desk.gate.ledger.totals()
