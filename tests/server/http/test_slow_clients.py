"""Clients that send nothing whole, or too many of them: closed, while everybody else is answered."""

import contextlib
import socket
import time
import urllib.request
from collections import Counter

import pytest

from nowiser.server.http import guard, patience

START = b"GET /healthz HTTP/1.1\r\nhost: x\r\nx: "
BODY = (
    b"POST /login HTTP/1.1\r\nhost: x\r\ncontent-type: application/x-www-form-urlencoded\r\ncontent-length: 99\r\n\r\n"
)


@pytest.fixture
def port(desk, monkeypatch):
    from support.web import in_a_thread

    monkeypatch.setattr(patience, "PATIENCE", 0.6)
    monkeypatch.setattr(patience, "LOOK", 0.05)
    monkeypatch.setattr(patience, "MOST_HERE", 12)
    monkeypatch.setattr(guard, "PATIENCE", 0.3)
    monkeypatch.setattr(patience.Patient, "_open", Counter())
    with in_a_thread(desk, http=patience.Patient) as address:
        yield int(address.rpartition(":")[2])


def connected(port, first=b""):
    sock = socket.create_connection(("127.0.0.1", port), timeout=20)
    sock.sendall(first)
    return sock


def seconds_until_closed(sock, every=b""):
    """How long it stays open, while a byte is sent now and then."""
    began = time.monotonic()
    sock.settimeout(0.1)
    while time.monotonic() - began < 20:
        try:
            if not sock.recv(65536):
                return time.monotonic() - began
            continue
        except TimeoutError:
            pass
        except ConnectionError:
            return time.monotonic() - began
        with contextlib.suppress(OSError):
            sock.sendall(every)
    raise AssertionError("it is still open")


def alive(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=20) as answer:
        return answer.status == 200


@pytest.mark.parametrize(("first", "every"), [(b"", b""), (START, b""), (START, b"a"), (BODY, b"a")])
def test_a_request_that_never_ends_is_closed(port, first, every):
    with connected(port, first) as sock:
        assert alive(port)
        seconds_until_closed(sock, every)
    assert alive(port)


def test_one_that_was_answered_is_closed_when_it_begins_the_next_and_does_not_end_it(port):
    whole = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n"
    with connected(port, whole) as sock:
        while not sock.recv(65536).endswith(b"}"):
            pass
        sock.sendall(START)
        seconds_until_closed(sock, b"a")


def test_half_of_a_request_is_none(port, desk, tokens):
    """Cut short, `gain=80` would be `gain=8`."""
    form = b"what=off&name=ana"
    head = f"POST /accounts HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {tokens['cleo']}\r\n"
    head += f"content-type: application/x-www-form-urlencoded\r\ncontent-length: {len(form) + 9}\r\n\r\n"
    with connected(port, head.encode() + form):
        time.sleep(0.1)
    time.sleep(1.5)
    assert desk.register.find("ana") is not None


def test_a_request_under_way_is_waited_for(port, desk, monkeypatch):
    def slowly(*_):
        time.sleep(1.2)
        return ()

    monkeypatch.setattr(desk.register, "every", slowly)
    with connected(port, b"GET /login HTTP/1.1\r\nhost: x\r\n\r\n") as sock:
        assert b"200" in sock.recv(65536)


def test_one_address_has_so_many_connections_and_no_more(port, monkeypatch):
    monkeypatch.setattr(patience, "PATIENCE", 60.0)
    with contextlib.ExitStack() as held:
        for _ in range(12):
            held.enter_context(connected(port, START))
        with connected(port) as more:
            seconds_until_closed(more)
    until = time.monotonic() + 20
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            if alive(port):
                return
    raise AssertionError("those that are closed still count")
