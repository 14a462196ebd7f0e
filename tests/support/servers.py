"""Real Spark servers on this machine, from the wheel that carries them: a master with a worker, and Spark Connect."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest

UP_SECONDS = 240  # an idle machine takes ten


@dataclass
class Server:
    url: str
    folder: Path
    processes: list[subprocess.Popen] = field(default_factory=list)

    def kill(self, place: int = -1) -> None:
        self.processes[place].kill()
        self.processes[place].wait()

    def executors(self) -> list[int]:
        """Process numbers of what the worker started to do the work."""
        import psutil

        found = []
        for child in psutil.Process(self.processes[-1].pid).children(recursive=True):
            with contextlib.suppress(psutil.Error):  # it ended meanwhile
                found += [child.pid] if "Executor" in " ".join(child.cmdline()) else []
        return found


def home() -> Path:
    pyspark = pytest.importorskip("pyspark", reason="pyspark is not installed")
    pytest.importorskip("grpc_status", reason="the packages of Spark Connect are not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, and there is none here")
    return Path(pyspark.__file__).parent


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def start(server: Server, *command: object) -> None:
    environment = os.environ | {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "512m",
        "PYSPARK_PYTHON": sys.executable,
    }
    with (server.folder / f"log{len(server.processes)}").open("wb") as log:
        server.processes.append(
            subprocess.Popen([str(c) for c in command], stdout=log, stderr=log, cwd=server.folder, env=environment)
        )


def wait(server: Server, port: int) -> None:
    until = time.monotonic() + UP_SECONDS
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        if server.processes[-1].poll() is not None:
            break
        time.sleep(0.3)
    log = (server.folder / f"log{len(server.processes) - 1}").read_text()[-500:]
    pytest.fail(f"the Spark server did not start: {log}")


@contextlib.contextmanager
def running(server: Server):
    try:
        yield server
    finally:
        for process in reversed(server.processes):
            process.kill()
            process.wait()


@contextlib.contextmanager
def connect_server(folder: Path):
    programs, port = home(), free_port()
    with running(Server(f"spark-connect://127.0.0.1:{port}", folder)) as server:
        settings = {
            "spark.ui.enabled": "false",
            "spark.driver.host": "127.0.0.1",
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.connect.grpc.binding.port": port,
            "spark.sql.shuffle.partitions": 2,
            "spark.sql.warehouse.dir": folder / "warehouse",
        }
        given = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
        name = "org.apache.spark.sql.connect.service.SparkConnectServer"
        start(server, programs / "bin/spark-submit", "--class", name, "--master", "local[2]", *given, "spark-internal")
        wait(server, port)
        yield server


@contextlib.contextmanager
def cluster(folder: Path):
    """A master, and a worker that starts executors on its behalf."""
    programs, port, own = home() / "bin/spark-class", free_port(), free_port()
    with running(Server(f"spark://127.0.0.1:{port}", folder)) as server:
        here = ("--host", "127.0.0.1", "--webui-port", "0")
        start(server, programs, "org.apache.spark.deploy.master.Master", *here, "--port", port)
        wait(server, port)
        given = ("--cores", "2", "--memory", "1g", "--port", own, "--work-dir", folder / "work", server.url)
        start(server, programs, "org.apache.spark.deploy.worker.Worker", *here, *given)
        wait(server, own)
        yield server
