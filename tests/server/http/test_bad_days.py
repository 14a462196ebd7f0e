"""Bad days: many at once, kills, and no word of the data anywhere. Each kind of failure: `../test_failure_matrix.py`."""

import contextlib
import json
import random
import shutil
import socket
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from nowiser.ledger import for_policy
from nowiser.policy import read
from support.commands import nowiser
from support.serving import serving
from support.web import in_a_thread, post

AVERAGE = "SELECT AVG(time) AS minutes FROM visits WHERE faculty = 'math'"


@pytest.fixture
def address(desk):
    """The application in a thread of this process."""
    with in_a_thread(desk) as found:
        yield found


def test_fifty_threads_with_one_new_question_are_charged_once(address, desk, tokens):
    body = {"sql": AVERAGE, "spend": "5%", "anyway": True}
    with ThreadPoolExecutor(50) as pool:
        found = list(pool.map(lambda _: post(address, tokens["ana"], "query", body), range(50)))
    assert {status for status, _ in found} == {200}
    assert len({json.dumps(answer["rows"]) for _, answer in found}) == 1
    assert sum(e.kind == "reserve" for e in desk.gate.ledger.entries()) == 1


def test_two_servers_with_one_new_question_charge_once(folder, tokens):
    policy = folder / "nowiser.yaml"
    body = {"sql": AVERAGE, "spend": "5%", "anyway": True}
    with (
        serving(policy, log=folder / "a.log") as one,
        serving(policy, log=folder / "b.log") as other,
        ThreadPoolExecutor(8) as pool,
    ):
        found = list(pool.map(lambda i: post((one, other)[i % 2].address, tokens["ana"], "query", body), range(8)))
        assert {status for status, _ in found} == {200}
        assert len({json.dumps(answer["rows"]) for _, answer in found}) == 1
    with for_policy(read(policy)) as kept:
        assert sum(e.kind == "reserve" for e in kept.entries()) == 1


def _kills(folder, tokens, many, seed):
    policy, rng, answers = folder / "nowiser.yaml", random.Random(seed), {}
    for i in range(many):
        spend = f"{0.4 + i / 1000:.3f}%"
        body = {"sql": AVERAGE, "spend": spend, "anyway": True}
        with serving(policy) as server:
            timer = threading.Timer(rng.random() * 0.5, server.process.kill)
            timer.start()
            with contextlib.suppress(OSError):
                status, answer = post(server.address, tokens["ana"], "query", body)
                if status == 200:
                    answers[spend] = answer["rows"]
            timer.join()
    with for_policy(read(policy)) as kept:
        kept.verify()
        charged = kept.totals()
        reserved = [e for e in kept.entries() if e.kind == "reserve"]
    assert len(reserved) >= len(answers)
    # Asking again: what was told is told again, what was charged and not told is not charged a second time.
    asked = {f"{0.4 + i / 1000:.3f}%" for i in range(many)}
    with serving(policy) as server:
        for spend in sorted(asked):
            status, answer = post(
                server.address, tokens["ana"], "query", {"sql": AVERAGE, "spend": spend, "anyway": True}
            )
            assert status == 200
            assert answers.get(spend, answer["rows"]) == answer["rows"]
        assert server.end() == 0
    with for_policy(read(policy)) as kept:
        kept.verify()
        paid = [e for e in kept.entries() if e.kind == "reserve" and e.body["charge"]]
        assert len(paid) == len(asked)
        assert sum(n for _, n in charged.amounts) <= sum(n for _, n in kept.totals().amounts)


def test_killed_servers_charge_what_they_told_and_asking_again_is_free(folder, tokens):
    _kills(folder, tokens, 4, 20261118)


@pytest.mark.long
def test_200_kills(folder, tokens):
    _kills(folder, tokens, 200, 7)


def test_sigterm_ends_in_order_while_questions_run(folder, tokens):
    policy = folder / "nowiser.yaml"
    with serving(policy) as server, ThreadPoolExecutor(2) as pool:
        running = pool.submit(
            post, server.address, tokens["ana"], "query", {"sql": AVERAGE, "spend": "5%", "anyway": True}
        )
        with for_policy(read(policy)) as kept:
            until = time.monotonic() + 30
            while not any(e.kind == "reserve" for e in kept.entries()) and time.monotonic() < until:
                time.sleep(0.005)
            start = time.monotonic()
            assert server.end() == 0
            assert time.monotonic() - start < 10
            status, _ = running.result()
            assert status == 200
            kept.verify()


def test_sigterm_does_not_wait_for_clients_that_send_half_of_a_request(folder):
    half = (b"GET / HTTP/1.1\r\nhost:", b"POST /login HTTP/1.1\r\nhost: x\r\ncontent-length: 99\r\n\r\nname=")
    with serving(folder / "nowiser.yaml") as server, contextlib.ExitStack() as held:
        port = int(server.address.rpartition(":")[2])
        for first in half:
            sock = held.enter_context(socket.create_connection(("127.0.0.1", port)))
            sock.sendall(first)
        time.sleep(0.3)
        start = time.monotonic()
        assert server.end() == 0
        assert time.monotonic() - start < 10
    assert "error" not in [json.loads(line)["level"] for line in server.log.read_text().splitlines()]


CANARY = "xq7canary"


def test_no_word_of_the_data_shows_anywhere(tmp_path):
    """A canary in every cell: readable rows, rows that cannot be read, a failing run."""
    folder = tmp_path / "served"
    folder.mkdir()
    rows = "\n".join(f"{CANARY}{i},{CANARY},{CANARY}" for i in range(50))
    (folder / "visits.csv").write_text(f"student,faculty,time\n{rows}\n")
    (folder / "nowiser.yaml").write_text(
        "nowiser: 1\ntables:\n  visits:\n    source: visits.csv\n    person: student\n    rows_per_person: 1\n"
        "    columns:\n      student: identifier\n      faculty: {public: [math, computer science]}\n"
        "      time: {sensitive: [0, 60]}\nattackers:\n  - {guess: visits.time within 2, gain: 5%}\n"
    )
    made = nowiser(folder, "user", "add", "ana", "--role", "custodian", "--per-day", "100%", "--json")
    token = json.loads(made.stdout)["token"]
    said = []
    with serving(folder / "nowiser.yaml", "--log-level", "debug") as server:
        for sql in (
            AVERAGE,
            "SELECT COUNT(*) FROM visits",
            "SELECT MEDIAN(time) FROM visits",
            "SELECT time FROM visits",
            "SELECT 1/0",
        ):
            for path in ("query", "explain", "describe"):
                body = {"sql": sql, "anyway": True} if path == "query" else {"sql": sql}
                said.append(json.dumps(post(server.address, token, path, body)))
        for path in ("/metrics", "/healthz", "/api/v1/ledger", "/api/v1/tables", "/api/v1/ledger/export", "/"):
            request = urllib.request.Request(server.address + path, headers={"authorization": f"Bearer {token}"})
            with contextlib.suppress(urllib.error.HTTPError), urllib.request.urlopen(request) as answer:
                said.append(answer.read().decode())
        metrics = said[-6] if len(said) >= 6 else ""
        assert server.end() == 0
    said += [(folder / "serve.log").read_text()]
    said += [f.read_text() for f in (folder / ".nowiser").glob("*.log")]
    assert not [text for text in said if CANARY in text]
    assert "visits" not in metrics
    assert "ana" not in metrics


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--host", "0.0.0.0"), "passwords would be sent in clear"),
        (("--certificate", "none.pem"), "both"),
        (("--certificate", "none.pem", "--key", "none.pem"), "no file"),
        (("--port", "99999999"), ""),
    ],
)
def test_what_is_unsafe_does_not_start(options, words, folder):
    done = nowiser(folder, "serve", "--no-wire", "--port", "0", *options)
    assert done.returncode in (2, 3)
    assert words in " ".join((done.stdout + done.stderr).split())


def test_without_its_anchor_it_does_not_start(folder, desk):
    shutil.move(folder / ".nowiser" / "ledger.head", folder / "elsewhere")
    done = nowiser(folder, "serve", "--no-wire", "--port", "0")
    assert done.returncode == 8
