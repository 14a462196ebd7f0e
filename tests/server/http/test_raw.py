"""What a network attacker sends by hand: paths, verbs, framing, claims about who he is. Nothing of it leads anywhere."""

import http.client
import json
import socket

import pytest

from support.web import in_a_thread


@pytest.fixture
def port(desk):
    with in_a_thread(desk) as address:
        yield int(address.rpartition(":")[2])


def said(port, request):
    """Everything that comes back, until it is closed."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as sock:
        sock.sendall(request)
        found = b""
        try:
            while piece := sock.recv(65536):
                found += piece
        except OSError:  # closed hard, with bytes of ours unread
            pass
    return found


def asked(port, method, path, headers=None, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    found = answer.status, answer.headers, answer.read().decode(errors="replace")
    connection.close()
    return found


@pytest.mark.parametrize(
    "path",
    [
        "/static/../../../etc/passwd",
        "/static/..%2f..%2fask.py",
        "/static/%2e%2e%2fask.py",
        "/static/%2e%2e/vendor/lock.json",
        "/%0d%0aX-Evil:%20yes",
        "//evil.example/%2f..",
        "/report.pdf/../../nowiser.yaml",
    ],
)
def test_no_path_leads_out(port, path):
    found = said(port, f"GET {path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n".encode())
    head = found.partition(b"\r\n\r\n")[0].lower()
    assert head.startswith(b"http/1.1 404")
    assert b"\nlocation:" not in head
    assert b"evil" not in head


@pytest.mark.parametrize(
    "request_",
    [
        b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
        b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nA: " + b"y" * 200_000 + b"\r\n\r\n",
        b"POST /api/v1/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"
        b"Content-Length: 200000\r\n\r\n" + b"[" * 200_000,
    ],
    ids=["two lengths", "a negative length", "a long header", "a deep body"],
)
def test_bad_framing_is_refused(port, request_):
    found = said(port, request_)
    assert found[:12] in (b"HTTP/1.1 400", b"")
    assert b"Traceback" not in found


def test_claims_of_who_one_is_are_not_believed(port, tokens):
    claims = {
        "X-Forwarded-For": "127.0.0.1",
        "X-Forwarded-Proto": "https",
        "X-Remote-User": "cleo",
        "Forwarded": "for=127.0.0.1",
    }
    assert asked(port, "GET", "/api/v1/accounts", claims)[0] == 401
    hers = {
        "Authorization": f"Bearer {tokens['ana']}",
        "Content-Type": "application/json",
        "X-HTTP-Method-Override": "GET",
    }
    for method, path, body in (
        ("POST", "/api/v1/accounts", {"name": "eve", "role": "custodian"}),
        ("PATCH", "/api/v1/accounts/ana", {"role": "custodian"}),
        ("PATCH", "/api/v1/accounts/ana", {"per_day": "100%"}),
        ("POST", "/api/v1/accounts/cleo/tokens", {"label": "mine"}),
    ):
        assert asked(port, method, path, hers, json.dumps(body))[0] == 403


@pytest.mark.parametrize("method", ["TRACE", "PUT", "CONNECT", "PROPFIND"])
def test_other_verbs_do_nothing(port, method):
    assert asked(port, method, "/board")[0] in (404, 405)


def test_a_session_that_somebody_chose_is_not_taken_up(port, tokens):
    form = {"Cookie": "nowiser=chosen", "Content-Type": "application/x-www-form-urlencoded"}
    status, headers, _ = asked(port, "POST", "/login", form, f"name=ana&secret={tokens['ana']}")
    assert status == 303
    assert "chosen" not in headers["set-cookie"]
    assert asked(port, "GET", "/tables", {"Cookie": "nowiser=chosen"})[0] == 401


def test_no_other_site_may_read_or_log_in(port):
    status, headers, _ = asked(
        port, "OPTIONS", "/api/v1/query", {"Origin": "https://evil", "Access-Control-Request-Method": "POST"}
    )
    assert status == 405
    assert "access-control-allow-origin" not in headers
    for origin in ("null", "https://evil.example", "http://127.0.0.1"):
        form = {"Origin": origin, "Content-Type": "application/x-www-form-urlencoded"}
        assert asked(port, "POST", "/login", form, "name=a&secret=b")[0] == 403
