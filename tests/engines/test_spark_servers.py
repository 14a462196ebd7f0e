"""`spark://` and `spark-connect://` against real servers, started from the wheel on this machine."""

import contextlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import servers
import test_engines

ASKED = test_engines.QUESTIONS[1::2]
SECRETS = ("sleep", "127.0.0.1", "spark-connect", "Traceback")


@pytest.fixture(scope="module")
def known(tmp_path_factory):
    yield from test_engines.answers_of_duckdb(tmp_path_factory.mktemp("duckdb"))


class Asker:
    """A process that works with a server; see `asking.py`."""

    def __init__(self, server, folder):
        text = test_engines.POLICY.format(m=1, protect="persons")
        (folder / "t.csv").write_text(test_engines.HEADER + "".join(test_engines.rows()))
        (folder / "nowiser.yaml").write_text(text.replace("nowiser: 1", f"nowiser: 1\nengine: {server.url}", 1))
        environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "NOWISER_PREPARED": str(folder / "prepared")}
        self.errors = folder / "errors"
        with self.errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, Path(__file__).parent / "asking.py", folder / "nowiser.yaml"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment, cwd=folder,
            )  # fmt: skip
        assert self._answer() == {"ready": True}

    def say(self, do, **what):
        self._process.stdin.write(json.dumps({"do": do} | what) + "\n")
        self._process.stdin.flush()

    def _answer(self):
        line = self._process.stdout.readline()
        assert line, self.errors.read_text()[-2000:]
        return json.loads(line)

    def __call__(self, do, **what):
        self.say(do, **what)
        return self._answer()

    def close(self):
        self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(30)
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


@pytest.fixture(scope="module")
def connected(tmp_path_factory):
    with servers.connect_server(tmp_path_factory.mktemp("connect")) as server:
        asker = Asker(server, tmp_path_factory.mktemp("asker"))
        yield server, asker
        asker.close()


@pytest.fixture(scope="module")
def clustered(tmp_path_factory):
    with servers.cluster(tmp_path_factory.mktemp("cluster")) as server:
        asker = Asker(server, tmp_path_factory.mktemp("asker"))
        yield server, asker
        asker.close()


def the_same(asker, known, asked):
    for sql in asked:
        said = asker("ask", sql=sql)
        keyed = {json.dumps(list(k), default=str): cells for k, cells in known[sql].items()}
        assert {json.dumps(k, default=str): cells for k, cells in said["found"]} == keyed, sql
        assert said["crossed"] <= len(keyed) + 1, "only aggregates leave Spark"


def lost(asker, left, *, code):
    said = asker._answer()
    assert said["exit"] == code, said
    assert not any(word in said["message"] for word in SECRETS), said
    assert said["left"] < left if code == 7 else said["left"] == left, "charged as soon as data may have been read"
    return said["left"]


def test_connect_finds_the_same_numbers(connected, known):
    _, asker = connected
    the_same(asker, known, ASKED)
    done = asker("prepare")
    assert (done["done"], done["kept"]) == (True, True), "preparing changes nothing but the time"
    assert list(Path(done["where"]).rglob("*.parquet"))
    the_same(asker, known, ASKED[:3])


def test_connect_means_the_same_by_every_function(connected):
    assert connected[1]("functions", every=6)["tried"] > 50


@pytest.mark.long
def test_connect_means_the_same_by_every_single_function(connected):
    assert connected[1]("functions", every=1)["tried"] > 300


def test_connect_stops_a_slow_question(connected):
    _, asker = connected
    before = asker("query", sql="SELECT COUNT(*) FROM t")["left"]
    asker.say("query", sql="SELECT COUNT(*) FROM t WHERE k > 1", slow=True, seconds=2)
    left = lost(asker, before, code=7)
    assert asker("query", sql="SELECT COUNT(*) FROM t WHERE k > 2")["exit"] == 0, left


def test_connect_killed_midway_is_charged_and_then_out_of_reach(connected):
    """The last one on this server."""
    server, asker = connected
    before = asker("query", sql="SELECT COUNT(*) FROM t WHERE k > 3")["left"]
    asker.say("query", sql="SELECT COUNT(*) FROM t WHERE k > 4", slow=True)
    time.sleep(5)
    server.kill()
    left = lost(asker, before, code=7)
    asker.say("query", sql="SELECT COUNT(*) FROM t WHERE k > 5")
    lost(asker, left, code=6)


def test_a_cluster_finds_the_same_numbers(clustered, known):
    server, asker = clustered
    the_same(asker, known, ASKED[:3])
    assert asker("prepare")["done"]
    the_same(asker, known, ASKED[:2])
    assert server.executors(), "its workers did the work"
    assert list((server.folder / "work").glob("app-*/*")), "ditto"


def test_an_executor_killed_midway_is_replaced(clustered):
    server, asker = clustered
    asker.say("query", sql="SELECT COUNT(*) FROM t WHERE k = 1 AND v > 59", slow=True)
    time.sleep(5)
    for number in server.executors():
        psutil.Process(number).kill()
    assert asker._answer()["exit"] == 0, "asked again of another one, and charged once"


def test_a_cluster_without_workers_is_given_up(clustered):
    """The last one on this cluster."""
    server, asker = clustered
    before = asker("query", sql="SELECT COUNT(*) FROM t WHERE k > 6")["left"]
    executors = server.executors()
    asker.say("query", sql="SELECT COUNT(*) FROM t WHERE k > 7", slow=True, seconds=12, alive=2)
    time.sleep(3)
    server.kill()
    for number in executors:
        with contextlib.suppress(psutil.Error):
            psutil.Process(number).kill()
    lost(asker, before, code=7)
