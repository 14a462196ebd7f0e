"""Who gets in: SCRAM with and without channel binding, TLS asked for and direct, limits, switched-off accounts."""

import socket
import ssl
import statistics
import struct
import time
from dataclasses import replace

import psycopg
import pytest

from nowiser.server.desk import Desk
from nowiser.server.people.attempts import MOST
from support.pg_bytes import Client, fields, kinds, query, startup
from support.wire_served import serving

WRONG = "nw_" + "a" * 32


def test_tls_and_channel_binding(secure, certificate):
    given = secure.given(sslmode="verify-full", sslrootcert=str(certificate / "cert.pem"))
    for more in ({"channel_binding": "require"}, {"channel_binding": "disable"}):
        with psycopg.connect(**given, **more) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
            assert connection.pgconn.ssl_in_use
    if psycopg.pq.version() >= 170000:
        with psycopg.connect(**given, sslnegotiation="direct", channel_binding="require") as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)
    with psycopg.connect(**secure.given(sslmode="disable")) as connection:  # on this machine alone it may be
        assert connection.execute("SELECT 1").fetchone() == (1,)


def test_direct_tls_of_another_protocol_is_not_served(secure):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["http/1.1"])
    with socket.create_connection(("127.0.0.1", secure.port), timeout=20) as bare:
        assert _said(context, bare) == b""


def _said(context, bare):
    """What comes over TLS after a start-up message; nothing where the connection is closed."""
    try:
        with context.wrap_socket(bare) as wrapped:
            wrapped.sendall(startup(user="ana"))
            return wrapped.recv(1)
    except OSError:
        return b""


def test_what_was_sent_in_clear_behind_a_request_for_tls_is_never_read(secure):
    with Client(secure.port) as client:
        client.send(struct.pack("!II", 8, 80877103) + startup(user="ana"))
        assert client.exactly(1) == b"S"
        assert b"R" not in client.rest()[:1]  # the start-up message is no TLS handshake


def test_off_this_machine_passwords_are_not_taken_in_clear(certificate, settings, desk, tokens):
    told = replace(settings, host="0.0.0.0", certificate=certificate / "cert.pem", key=certificate / "key.pem")
    second = Desk(told)
    try:
        with serving(second, tokens) as found:
            with pytest.raises(psycopg.OperationalError, match="encrypted only"):
                psycopg.connect(**found.given(sslmode="disable"))
            with psycopg.connect(**found.given(sslmode="require")) as connection:
                assert connection.execute("SELECT 1").fetchone() == (1,)
    finally:
        second.close()


def test_each_token_of_an_account_lets_in_until_it_is_dropped(served):
    second = served.desk.register.add_token("ana", "laptop", by="test")
    with psycopg.connect(**served.given(), autocommit=True) as first:
        with psycopg.connect(**served.given(password=second), autocommit=True) as other:
            assert other.execute("SELECT COUNT(*) FROM visits").fetchone() == (800,)
            served.desk.register.drop_token("ana", "laptop", by="test")
            with pytest.raises(psycopg.OperationalError, match="token was dropped"):
                other.execute("SELECT COUNT(*) FROM visits")
            assert other.closed
        assert first.execute("SELECT COUNT(*) FROM visits").fetchone() == (800,)
        served.desk.register.change("ana", by="test", disabled=True)
        with pytest.raises(psycopg.OperationalError, match="switched off"):
            first.execute("SELECT COUNT(*) FROM visits")
    with pytest.raises(psycopg.OperationalError, match="name or the password is wrong"):
        psycopg.connect(**served.given())


def test_an_auditor_asks_nothing(served):
    with psycopg.connect(**served.given("odo"), autocommit=True) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="auditor"):
            connection.execute("SELECT COUNT(*) FROM visits")


def test_web_passwords_are_never_taken_on_the_wire(served):
    served.desk.register.set_password("ana", "four random words here", by="test")
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(**served.given(password="four random words here"))


def test_after_ten_failures_that_name_waits_and_no_other(served, monkeypatch):
    monkeypatch.setattr("nowiser.server.wire.login.TOLD_AFTER", 0.0)
    for name in ("ana", "nobody"):
        for _ in range(MOST):
            with Client(served.port) as client:
                ((_, body),) = client.login(name, WRONG)
                assert fields(body)["C"] == "28P01"
        with Client(served.port) as client:
            ((_, body),) = client.login(name, served.tokens["ana"])
            assert fields(body)["C"] == "53300"
            assert fields(body)["H"] == "Wait 15 minutes."
    with Client(served.port) as client:
        assert kinds(client.login("cleo", served.tokens["cleo"]))[-1] == "Z"


def test_a_name_without_an_account_has_a_salt_that_stays(served):
    def salt(port, name):
        with Client(port) as client:
            client.send(startup(user=name))
            client.until(b"R")
            first = b"n,,n=,r=abcdefgh"
            client.send(
                b"p"
                + struct.pack("!I", 4 + 14 + 4 + len(first))
                + b"SCRAM-SHA-256\0"
                + struct.pack("!I", len(first))
                + first
            )
            return client.message()[1][4:].decode().split(",")[1:]

    once = salt(served.port, "nobody")
    assert once == salt(served.port, "nobody") != salt(served.port, "nobody2")
    with serving(served.desk, served.tokens) as again:  # after a restart too
        assert salt(again.port, "nobody") == once
    assert len(once[0]) == len(salt(served.port, "ana")[0])
    assert once[1] == salt(served.port, "ana")[1]


def test_a_wrong_password_takes_as_long_as_an_unknown_name(served):
    served.desk.attempts.failed = lambda *_: None
    times: dict[str, list[float]] = {"ana": [], "nobody": []}
    for _ in range(12):
        for name, found in times.items():
            with Client(served.port) as client:
                start = time.perf_counter()
                client.login(name, WRONG)
                found.append(time.perf_counter() - start)
    medians = {name: statistics.median(found) for name, found in times.items()}
    assert min(min(found) for found in times.values()) >= 0.1
    assert abs(medians["ana"] - medians["nobody"]) < 0.02


@pytest.mark.parametrize("per_account", [2])
def test_connections_are_limited_per_account_and_in_all(settings, desk, tokens, per_account):
    second = Desk(replace(settings, connections=3, per_account=per_account))
    try:
        with serving(second, tokens) as found:
            held = [psycopg.connect(**found.given()) for _ in range(per_account)]
            with pytest.raises(psycopg.OperationalError, match="ana has too many connections"):
                psycopg.connect(**found.given())
            held.append(psycopg.connect(**found.given("cleo")))
            with pytest.raises(psycopg.OperationalError, match="too many connections"):
                psycopg.connect(**found.given("cleo"))
            for connection in held:
                connection.close()
            time.sleep(0.2)
            psycopg.connect(**found.given()).close()
    finally:
        second.close()


def test_one_address_cannot_keep_others_from_logging_in(served, monkeypatch):
    from nowiser.server.wire import listener

    monkeypatch.setattr(listener, "MOST_HERE", 3)
    with Client(served.port), Client(served.port), Client(served.port):
        time.sleep(0.2)
        with Client(served.port) as more, pytest.raises((EOFError, ConnectionError)):
            more.login("ana", served.tokens["ana"])
    time.sleep(0.2)
    with Client(served.port) as again:
        assert kinds(again.login("ana", served.tokens["ana"]))[-1] == "Z"


def test_a_cancel_request_needs_the_whole_key(served, monkeypatch):
    import threading

    from nowiser.server.seat import Seat

    let_go = threading.Event()
    query_of = Seat.query
    monkeypatch.setattr(Seat, "query", lambda self, *a, **k: (let_go.wait(20), query_of(self, *a, **k))[1])
    with Client(served.port) as client, Client(served.port) as other:
        said = client.login("ana", served.tokens["ana"])
        (key,) = [body for kind, body in said if kind == b"K"]
        client.send(query("SELECT COUNT(*) FROM visits"))
        time.sleep(0.2)
        other.send(struct.pack("!II", 16, 80877102) + key[:4] + b"\0" * 4)
        time.sleep(0.2)
        client.sock.settimeout(0.2)
        with pytest.raises(TimeoutError):
            client.message()
        client.sock.settimeout(20)
        with Client(served.port) as third:
            third.send(struct.pack("!II", 16, 80877102) + key)
        (error,) = [fields(body) for kind, body in client.until(b"Z") if kind == b"E"]
        assert error["C"] == "57014"
        let_go.set()
        assert kinds(client.ask(query("SELECT COUNT(*) FROM visits")))[-2:] == "CZ"


def test_when_the_server_ends_idle_sessions_are_told(desk, tokens):
    with serving(desk, tokens) as served, Client(served.port) as client:
        client.login("ana", served.tokens["ana"])
        served.loop.call_soon_threadsafe(served.listener.close)
        assert fields(client.message()[1])["C"] == "57P01"
        with pytest.raises(EOFError):
            client.message()
