"""The protocol, byte by byte: what drivers do seldom, and what none of them does."""

import struct

import pytest

from support.pg_bytes import (
    SYNC,
    Client,
    bind,
    describe,
    execute,
    fields,
    framed,
    kinds,
    parse,
    query,
    rows,
    startup,
)
from support.wire import AVERAGE, TOTAL


@pytest.fixture
def client(served):
    with Client(served.port) as found:
        assert kinds(found.login("ana", served.tokens["ana"]))[-1] == "Z"
        yield found


def test_a_log_in_tells_who_and_where(served):
    with Client(served.port) as client:
        said = client.login("ana", served.tokens["ana"], application_name="mine", database="nowiser")
        settings = dict(body[:-1].decode().split("\0") for kind, body in said if kind == b"S")
        assert settings["client_encoding"] == settings["server_encoding"] == "UTF8"
        assert settings["session_authorization"] == "ana"
        assert settings["application_name"] == "mine"
        assert settings["DateStyle"] == "ISO, MDY"
        (key,) = [body for kind, body in said if kind == b"K"]
        assert len(key) == 8


@pytest.mark.parametrize(
    ("version", "options", "told", "unknown"),
    [
        (3 << 16 | 2, {}, None, []),
        (3 << 16 | 9999, {}, 3 << 16 | 2, []),
        (3 << 16 | 1, {}, 3 << 16, []),
        (3 << 16, {"_pq_.grease": "x"}, 3 << 16, ["_pq_.grease"]),
    ],
)
def test_versions_are_negotiated(served, version, options, told, unknown):
    with Client(served.port) as client:
        client.send(startup(version, user="ana", **options))
        first = client.until(b"R", b"E")
        offered = [body for kind, body in first if kind == b"v"]
        if told is None:
            assert offered == []
        else:
            spoken, many = struct.unpack("!II", offered[0][:8])
            assert (spoken, many) == (told, len(unknown))
            assert offered[0][8:].decode().split("\0")[:-1] == unknown


def test_protocol_3_2_has_longer_keys(served):
    with Client(served.port) as client:
        said = client.login("ana", served.tokens["ana"], version=3 << 16 | 2)
        assert [len(body) for kind, body in said if kind == b"K"] == [36]


@pytest.mark.parametrize("version", [2 << 16, 4 << 16, 1234 << 16])
def test_other_protocols_are_refused(served, version):
    with Client(served.port) as client:
        client.send(startup(version, user="ana"))
        assert fields(client.message()[1])["C"] == "0A000"


def test_encryption_is_declined_where_there_is_none_and_the_log_in_goes_on(served):
    with Client(served.port) as client:
        client.send(struct.pack("!II", 8, 80877104))
        assert client.exactly(1) == b"N"
        client.send(struct.pack("!II", 8, 80877103))
        assert client.exactly(1) == b"N"
        assert kinds(client.login("ana", served.tokens["ana"]))[-1] == "Z"


def test_several_statements_in_one_message(client):
    said = client.ask(query("SELECT 1; ; SELECT 2 AS two -- ; \n;"))
    assert kinds(said) == "TDCTDCZ"
    assert rows(said) == [[b"1"], [b"2"]]
    assert kinds(client.ask(query(" ;; "))) == "IZ"
    assert kinds(client.ask(query("SELECT 1; SELECT tim FROM visits; SELECT 2"))) == "TDCEZ"


def test_portals_give_as_many_rows_as_wanted(client, served):
    said = client.ask(parse(AVERAGE) + bind() + describe("P") + execute(most=1) + execute(most=1) + execute() + SYNC)
    assert kinds(said).replace("N", "") == "12TDsDCCZ"
    assert [row[0] for row in rows(said)] == [b"computer science", b"math"]
    assert served.charges() == 1


def test_describing_charges_nothing(client, served):
    said = client.ask(parse(AVERAGE, name="a") + describe("S", "a") + SYNC)
    assert kinds(said) == "1tTZ"
    assert said[2][1].count(b"minutes\0") == 1
    assert served.charges() == 0
    assert kinds(client.ask(describe("S", "b") + SYNC)) == "EZ"


def test_after_an_error_messages_are_skipped_until_sync(client):
    said = client.ask(parse("SELECT tim FROM visits") + bind() + execute() + parse("SELECT 1") + bind() + SYNC)
    assert kinds(said) == "12EZ"
    said = client.ask(parse("SELECT 1") + bind(results=[1]) + execute() + SYNC)
    assert rows(said) == [[struct.pack("!i", 1)]]


@pytest.mark.parametrize(
    ("data", "state"),
    [
        (parse("SELECT 1; SELECT 2"), "42601"),
        (parse("SELECT $501"), "54000"),
        (parse("SELECT $0"), "54000"),
        (bind(name="none"), "26000"),
        (execute("none"), "34000"),
        (parse("SELECT 1", name="x") * 2, "42P05"),
        (parse("SELECT 1") + bind([b"1"]), "08P01"),
        (parse("SELECT 1") + bind(formats=[7]), "08P01"),
        (parse("SELECT 1") + bind(results=[0, 1]) + execute(), "08P01"),
        (parse("SELECT COUNT(*) FROM visits WHERE time > $1", oids=[23]) + bind([b"x"]), "22P02"),
        (parse("SELECT COUNT(*) FROM visits WHERE time > $1", oids=[23]) + bind([b"\0"], formats=[1]), "22P02"),
        (parse("SELECT COUNT(*) FROM visits WHERE time > $1", oids=[1700]) + bind([b"1e999999999"]), "22P02"),
        (parse("SELECT COUNT(*) FROM visits WHERE time > $1", oids=[600]) + bind([b"(1,2)"]), "22P02"),
        (framed(b"F", b"\0" * 12), "0A000"),
        (framed(b"P", b"no end"), "08P01"),
        (framed(b"B", b"\0\0\xff\xff"), "08P01"),
        (framed(b"y"), "08P01"),
    ],
)
def test_what_does_not_fit_is_said_with_its_sqlstate(client, served, data, state):
    said = client.ask(data + SYNC)
    (error,) = [fields(body) for kind, body in said if kind == b"E"]
    assert error["C"] == state
    assert rows(client.ask(query("SELECT 1"))) == [[b"1"]]
    assert served.charges() == 0


def test_places_of_errors_count_characters_of_the_whole_message(client):
    text = "SELECT 1; /* ü */ SELECT COUNT(*) FROM visits WHERE tim > 3"
    said = client.ask(query(text))
    (error,) = [fields(body) for kind, body in said if kind == b"E"]
    assert text[int(error["P"]) - 1 :].startswith("tim")
    text = " COPY (SELECT COUNT(*) FROM visits WHERE tim > 3) TO STDOUT"
    (error,) = [fields(body) for kind, body in client.ask(query(text)) if kind == b"E"]
    assert text[int(error["P"]) - 1 :].startswith("tim")
    text = "EXPLAIN SELECT AVG(tim) FROM visits"
    (error,) = [fields(body) for kind, body in client.ask(query(text)) if kind == b"E"]
    assert text[int(error["P"]) - 1 :].startswith("tim")
    text = " SELECT COUNT(*) FROM visits WHERE faculty = $1 AND tim > 3"
    said = client.ask(parse(text) + bind([b"computer science"]) + execute() + SYNC)
    (error,) = [fields(body) for kind, body in said if kind == b"E"]
    assert text[int(error["P"]) - 1 :].startswith("tim")


def test_cursors(client, served):
    assert kinds(client.ask(query(f"BEGIN; DECLARE c CURSOR WITH HOLD FOR {AVERAGE}"))).replace("N", "") == "CCZ"
    said = client.ask(query("FETCH 1 FROM c; FETCH FORWARD 5 IN c; FETCH c"))
    assert [row[0] for row in rows(said)] == [b"computer science", b"math"]
    assert [body for kind, body in said if kind == b"C"] == [b"FETCH 1\0", b"FETCH 1\0", b"FETCH 0\0"]
    (error,) = [fields(body) for kind, body in client.ask(query("FETCH BACKWARD 1 FROM c")) if kind == b"E"]
    assert error["C"] == "0A000"
    assert client.ask(query("SELECT 1"))[-1] == (b"Z", b"E")
    assert client.ask(query("ROLLBACK"))[-1] == (b"Z", b"I")
    assert kinds(client.ask(query("CLOSE c"))) == "CZ"
    assert kinds(client.ask(query("CLOSE c"))) == "EZ"
    assert served.charges() == 1


def test_messages_are_capped_before_they_are_read(client, served):
    client.send(b"Q" + struct.pack("!I", 1_000_005))
    with pytest.raises(EOFError):
        client.until(b"Z")
    with Client(served.port) as other:
        other.send(struct.pack("!II", 10_001, 196608))
        with pytest.raises(EOFError):
            other.message()
    with Client(served.port) as other:
        other.send(startup(user="ana"))
        other.until(b"R")
        other.send(b"p" + struct.pack("!I", 2_005))
        with pytest.raises(EOFError):
            other.until(b"Z")


def test_settings_by_the_options_of_a_connection(served):
    with Client(served.port) as client:
        client.login("ana", served.tokens["ana"], options="-c nowiser.spend=2% --nowiser.bars=on", DateStyle="ISO")
        assert rows(client.ask(query("SHOW nowiser.spend; SHOW nowiser.bars"))) == [[b"2%"], [b"on"]]
        assert kinds(client.ask(query("SET nowiser.error = 3"))) == "CZ"
        assert rows(client.ask(query("SHOW nowiser.spend"))) == [[b""]]
        said = client.ask(query(TOTAL))
        assert rows(said)[0][1] == rows(client.ask(query(TOTAL)))[0][1]
        assert float(rows(said)[0][1]) <= 3.3
    for bad in ("-c nowiser.spend=0", "-c nowiser.spent=1%", "nowiser.spend", "-c nowiser.anyway=maybe"):
        with Client(served.port) as client:
            ((kind, body),) = client.login("ana", served.tokens["ana"], options=bad)
            assert kind == b"E"
            assert fields(body)["S"] == "FATAL"


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("SET nowiser.spend = '200%'", "22023"),
        ("SET nowiser.spend = '1e999999999'", "22023"),
        ("SET nowiser.error = 0", "22023"),
        ("SET client_encoding = 'LATIN1'", "22023"),
        ("SET datestyle = 'German'", "22023"),
        ("SET server_version = '1'", "55P02"),
        ("SET no_such = 1", "42704"),
        ("SHOW no_such", "42704"),
        ("EXPLAIN ANALYZE SELECT COUNT(*) FROM visits", "0A000"),
        ("COPY visits FROM STDIN", "0A000"),
        ("COPY visits TO STDOUT", "42501"),
        ("COPY (SELECT COUNT(*) FROM visits) TO '/tmp/x'", "0A000"),
        ("COPY (SELECT COUNT(*) FROM visits) TO STDOUT (FORMAT parquet)", "42601"),
        ("COPY (COPY (SELECT 1) TO STDOUT) TO STDOUT", "42601"),
        ("DECLARE c CURSOR FOR BEGIN", "42601"),
        ("CREATE TABLE x (a int)", "42501"),
        ("SELECT $1", "42501"),
    ],
)
def test_what_is_not_done_here(client, served, text, state):
    said = client.ask(query(text))
    (error,) = [fields(body) for kind, body in said if kind == b"E"]
    assert error["C"] == state, error
    assert served.charges() == 0
