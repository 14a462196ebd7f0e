"""Bytes that no client sends, before and after the log-in: no hang, no fault of ours, no charge, nothing kept."""

import logging
import random
import struct
import time

import psutil
import pytest

from support.pg_bytes import SYNC, Client, bind, describe, execute, framed, parse, query, rows, startup
from support.wire import AVERAGE, TOTAL

KINDS = b"QPBDESCHFXdcfpZRy\0\xff"
TEXTS = (
    "SELECT 1", TOTAL, "SELECT '", 'SELECT "', "SELECT $a$", "/* /* */", "-- ;", "COPY (", "COPY (SELECT 1) TO STDOUT (",
    "DECLARE c CURSOR FOR", "FETCH", "FETCH 99999999999999999999 FROM c", "SET", "SET x", "SET x =", "EXPLAIN", "EXPLAIN (",
    "SHOW", "CLOSE", "E'\\", "SET nowiser.spend = '1e9e9'", "BEGIN; BEGIN; ROLLBACK TO x", "DEALLOCATE", "\ud7ff",
)  # fmt: skip


def before(rng: random.Random) -> bytes:
    """A start, a little broken or entirely."""
    whole = startup(rng.choice([196608, 196610, 80877102, rng.getrandbits(32)]), user="ana", options="-c x=" + "y" * 20)
    match rng.randrange(5):
        case 0:
            return rng.randbytes(rng.randrange(1, 200))
        case 1:
            return struct.pack("!i", rng.choice([-1, 0, 4, 7, 8, 16, 2**31 - 1])) + rng.randbytes(rng.randrange(30))
        case 2:
            return broken(rng, whole)
        case 3:
            sasl = (
                b"SCRAM-SHA-256\0"
                + struct.pack("!i", rng.choice([-1, 0, 5, 20, 2**31 - 1]))
                + b"n,,n=,r=abc" * rng.randrange(3)
            )
            return whole[:0] + startup(user="ana") + broken(rng, framed(b"p", sasl)) + framed(b"p", rng.randbytes(40))
        case _:
            return struct.pack("!II", 8, rng.choice([80877103, 80877104])) * rng.randrange(1, 8) + rng.randbytes(20)


def after(rng: random.Random) -> bytes:
    """Messages of a session in any order, some of them broken; SELECT 1 is asked at the end."""
    pieces = list[bytes]()
    for _ in range(rng.randrange(1, 6)):
        text = rng.choice(TEXTS)
        made = rng.choice([
            query(text), parse(text, rng.choice(["", "a"]), [rng.choice([0, 23, 25, 600])]), describe("S"), describe("P", "a"),
            bind([rng.randbytes(rng.randrange(9)), None][: rng.randrange(3)], formats=[rng.randrange(3)]), execute(most=rng.randrange(3)),
            framed(bytes([rng.choice(KINDS[:10])]), rng.randbytes(rng.randrange(40))), SYNC, describe("X"), query(AVERAGE),
        ])  # fmt: skip
        asks = b"visits" in made  # else another question may come of it
        pieces.append(broken(rng, made) if rng.random() < 0.3 and not asks else made)
    return b"".join(pieces)


def broken(rng: random.Random, data: bytes) -> bytes:
    at = rng.randrange(len(data))
    match rng.randrange(4):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + rng.randbytes(rng.randrange(1, 5)) + data[at:]
        case 2:
            return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
        case _:
            return data[:at] + data[at + rng.randrange(1, 6) :]


def stream(served, rng: random.Random) -> None:
    """One stream; it ends within seconds whatever was sent."""
    with Client(served.port, seconds=30) as client:
        try:
            if rng.random() < 0.4:
                client.send(before(rng))
            else:
                client.login("ana", served.tokens["ana"])
                client.send(after(rng) + SYNC + query("SELECT 1"))
            client.sock.shutdown(1)
            while client.sock.recv(65536):
                pass
        except TimeoutError:
            raise
        except (EOFError, OSError):
            pass


def run(served, caplog, number: int, seed: int) -> None:
    caplog.set_level(logging.WARNING)
    rng, process = random.Random(seed), psutil.Process()
    with Client(served.port) as client:  # the first questions of a process take longer
        client.login("ana", served.tokens["ana"])
        client.ask(query(AVERAGE))
        client.ask(query(TOTAL))
    kept, spent, grown = process.num_fds(), served.charges(), 0
    for i in range(number):
        served.desk.attempts.succeeded("ana", "127.0.0.1")
        stream(served, rng)
        if i == number // 4:
            grown = process.memory_info().rss
    assert [r.getMessage() for r in caplog.records if r.levelno >= logging.ERROR] == []
    time.sleep(0.3)
    assert process.num_fds() <= kept + 3
    assert process.memory_info().rss < grown + 30 * 2**20
    assert served.charges() - spent <= 2  # AVERAGE and TOTAL, which are asked among the rest
    with Client(served.port) as client:
        client.login("ana", served.tokens["ana"])
        assert rows(client.ask(query("SELECT 1"))) == [[b"1"]]


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr("nowiser.server.wire.login.TOLD_AFTER", 0.0)


def test_broken_streams(served, caplog, quick):
    run(served, caplog, 300, 1)


@pytest.mark.long
def test_ten_thousand_broken_streams(served, caplog, quick):
    run(served, caplog, 10_000, random.randrange(10**9))


def test_slow_and_half_open_clients_are_let_go(served, monkeypatch):
    monkeypatch.setattr("nowiser.server.wire.listener.LOGIN_SECONDS", 0.5)
    monkeypatch.setattr("nowiser.server.wire.stream.SLOW", 0.5)
    for sent in (b"", b"\0", struct.pack("!II", 8, 80877103), startup(user="ana"), startup(user="ana")[:9]):
        with Client(served.port) as client:
            client.send(sent)
            start = time.monotonic()
            client.rest()
            assert time.monotonic() - start < 5
    monkeypatch.setattr("nowiser.server.wire.listener.LOGIN_SECONDS", 20.0)
    with Client(served.port) as client:
        client.login("ana", served.tokens["ana"])
        time.sleep(0.8)  # an idle session stays
        assert rows(client.ask(query("SELECT 1"))) == [[b"1"]]
        client.send(query("SELECT 1")[:-3])  # the rest never comes
        with pytest.raises((EOFError, ConnectionError)):
            client.exactly(1)


def test_a_client_that_reads_nothing_is_let_go(served, monkeypatch):
    monkeypatch.setattr("nowiser.server.wire.stream.SLOW", 0.5)
    with Client(served.port) as client:
        client.login("ana", served.tokens["ana"])
        client.ask(query(TOTAL))
        flood = query(";".join(["SELECT 1"] * 5000))
        client.sock.settimeout(3)
        with pytest.raises((ConnectionError, TimeoutError)):
            client.send(flood * 400)
    with Client(served.port) as client:
        client.login("ana", served.tokens["ana"])
        assert rows(client.ask(query("SELECT 1"))) == [[b"1"]]
