"""`spark://` and `spark-connect://` against real servers, started from the wheel on this machine."""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from engines import test_engines
from support import servers

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
        environment["PYTHONPATH"] = str(Path(__file__).parents[1])  # as pytest has it
        self.folder, self.errors = folder, folder / "errors"
        with self.errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, Path(__file__).parent / "asking.py", folder / "nowiser.yaml"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment, cwd=folder,
            )  # fmt: skip
        assert self.answer() == {"ready": True}

    def say(self, do, **what):
        self._process.stdin.write(json.dumps({"do": do} | what) + "\n")
        self._process.stdin.flush()

    def answer(self):
        line = self._process.stdout.readline()
        assert line, self.errors.read_text()[-2000:]
        return json.loads(line)

    def __call__(self, do, **what):
        self.say(do, **what)
        return self.answer()

    def midway(self, **what):
        """Ask something slow; go on when it has been charged for, and therefore runs."""
        charged = self._charged()
        self.say("query", slow=True, **what)
        until = time.monotonic() + 200
        while self._charged() == charged and time.monotonic() < until:
            time.sleep(0.2)
        time.sleep(1)

    def java(self):
        """The driver: PySpark's other half, a process of its own."""
        (found,) = (c for c in psutil.Process(self._process.pid).children() if "pyspark-shell" in c.cmdline())
        return found

    def _charged(self):
        with contextlib.closing(sqlite3.connect(self.folder / ".nowiser" / "ledger.sqlite")) as ledger:
            return ledger.execute("SELECT count(*) FROM nowiser_entries WHERE kind = 'reserve'").fetchone()[0]

    def close(self):
        self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(30)
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


@pytest.fixture
def connected(tmp_path):
    (tmp_path / "server").mkdir()
    with servers.connect_server(tmp_path / "server") as server:
        asker = Asker(server, tmp_path)
        yield server, asker
        asker.close()


@pytest.fixture
def clustered(tmp_path):
    (tmp_path / "server").mkdir()
    with servers.cluster(tmp_path / "server") as server:
        asker = Asker(server, tmp_path)
        yield server, asker
        asker.close()


def the_same(asker, known, asked):
    for sql in asked:
        said = asker("ask", sql=sql)
        found = known[sql]
        picked = isinstance(found, list)  # quantiles: the buckets that have rows
        found = {("picked", i): one for i, one in enumerate(found)} if picked else found
        keyed = {json.dumps(list(k), default=str): cells for k, cells in found.items()}
        assert {json.dumps(k, default=str): cells for k, cells in said["found"]} == keyed, sql
        assert picked or said["crossed"] <= len(keyed) + 1, "only aggregates leave Spark"


def lost(said, left, *, code):
    assert said["exit"] == code, said
    assert not any(word in said["message"] for word in SECRETS), said
    assert said["left"] < left if code == 7 else said["left"] == left, "charged as soon as data may have been read"
    return said["left"]


def test_spark_connect(connected, known):
    """One story for one server, which takes its time to start."""
    server, asker = connected
    the_same(asker, known, ASKED)
    done = asker("prepare")
    assert (done["done"], done["kept"]) == (True, True), "preparing changes nothing but the time"
    assert list(Path(done["where"]).rglob("*.parquet"))
    the_same(asker, known, ASKED[:3])
    assert asker("functions", every=6)["tried"] > 30

    left = asker("query", sql="SELECT COUNT(*) FROM t")["left"]
    left = lost(asker("query", sql="SELECT COUNT(*) FROM t WHERE k > 1", slow=True, seconds=2), left, code=7)
    again = asker("query", sql="SELECT COUNT(*) FROM t WHERE k > 2")
    assert (again["exit"], again["left"] < left) == (0, True), "well again after what took too long"

    asker.midway(sql="SELECT COUNT(*) FROM t WHERE k > 4")
    server.kill()
    left = lost(asker.answer(), again["left"], code=7)
    lost(asker("query", sql="SELECT COUNT(*) FROM t WHERE k > 5"), left, code=6)


@pytest.mark.long
def test_connect_means_the_same_by_every_single_function(connected):
    assert connected[1]("functions", every=1)["tried"] > 200


@pytest.mark.long  # a master and a worker of their own: a minute and a half, and Connect asks the same questions
def test_a_cluster(clustered, known):
    """One story for one master and its worker."""
    server, asker = clustered
    the_same(asker, known, ASKED[:2])
    assert asker("prepare")["done"]
    the_same(asker, known, ASKED[:2])
    assert server.executors(), "its workers did the work"
    assert list((server.folder / "work").glob("app-*/*")), "ditto"

    asker.midway(sql="SELECT COUNT(*) FROM t WHERE k = 1", pause=5)
    for number in server.executors():
        psutil.Process(number).kill()
    replaced = asker.answer()
    assert replaced["exit"] == 0, "asked again of another executor, and charged once"

    asker.midway(sql="SELECT COUNT(*) FROM t WHERE k > 6", pause=300)
    asker.java().kill()
    left = lost(asker.answer(), replaced["left"], code=7)
    replaced = asker("query", sql="SELECT COUNT(*) FROM t WHERE k = 5")
    assert (replaced["exit"], replaced["left"] < left) == (0, True), "the next question starts another Java"
    assert "Traceback" not in asker.errors.read_text()

    executors = server.executors()
    asker.midway(sql="SELECT COUNT(*) FROM t WHERE k > 7", seconds=6, alive=2)
    server.kill()
    for number in executors:
        with contextlib.suppress(psutil.Error):
            psutil.Process(number).kill()
    lost(asker.answer(), replaced["left"], code=7)
