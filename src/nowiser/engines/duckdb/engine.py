# ruff: noqa: S608 (sources and tables are named by the custodian, quoted and escaped by us)
"""DuckDB, embedded: nothing to start. Questions run on a prepared copy, `.nowiser/prepared.duckdb`.

The copy is opened read-only, without access to files or network, its settings locked, within a memory and a time
limit. That is a second wall: the first is that only SQL printed from our own tree ever gets here.
"""

import hashlib
import json
import os
import platform
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from nowiser.engines import progress, sources
from nowiser.engines.arrow import column
from nowiser.engines.base import Broken, Capabilities, Estimate, Prepared
from nowiser.engines.duckdb import filling, memory
from nowiser.engines.duckdb.dialect import DIALECT
from nowiser.engines.duckdb.segments import Streamed, streamed
from nowiser.engines.duckdb.statistics import BLIND, plain
from nowiser.engines.owner import owner
from nowiser.engines.render import large, text
from nowiser.engines.statement import from_totals, statement
from nowiser.errors import Misconfigured, Unreachable
from nowiser.files.records import Misquoted
from nowiser.files.unreadable import NEUTRAL, WHY
from nowiser.files.writing import writing
from nowiser.model.policy import Policy
from nowiser.model.schema import Kind
from nowiser.sql.bound import clipped_totals as totals
from nowiser.sql.functions import ALLOWED
from nowiser.sql.plan.tally import Tally
from nowiser.sql.tree import Scan

# Keys of up to 2¹⁶ values in all are grouped in a plain array instead of a hash table: at 10,000 keys half the work.
DENSE = {"perfect_ht_threshold": "16"}
UTC = "SET GLOBAL TimeZone = 'UTC'"  # instants are read in it, wherever this process runs
LOCKED = {
    "enable_external_access": "false",
    "autoload_known_extensions": "false",
    "autoinstall_known_extensions": "false",
    "lock_configuration": "true",
}


class DuckDB:
    """Runs tallies on the prepared copy, and renews the copy when the sources change."""

    name = "duckdb"
    capabilities = Capabilities(frozenset(ALLOWED))

    def __init__(self, policy: Policy, *, seconds: float = 60.0) -> None:
        self._policy = policy
        self._locked = {"max_execution_time": str(int(seconds * 1000)), **LOCKED}  # the lock itself comes last
        self._state = sources.folder(policy) / ".nowiser"
        self._connection: Any = None
        self._roomy: Any = None  # on the same copy, with more memory and blind to statistics
        self._known: dict[str, pa.Table] = {}  # what was read of the copy to serve every question
        self._open: dict[str, Any] = {}  # the manifest of the copy that is open,
        self._copy, self._seen = self._state, list[tuple[Path, list[int]]]()  # where it is, and of which files
        self._guard = threading.RLock()
        self._tell: filling.Tell | None = None
        # policies are frozen, so this is decided once
        self._stored = sources.stored(policy)
        ready = (lambda scan: filling.totalled(scan.table, scan.by)) if self._stored else None
        added = (lambda by: lambda scan: filling.summed(scan.table, by)) if self._stored else None
        self._dialect = replace(DIALECT, persons=self._counted, totals=ready, sums=added)
        self.capabilities = replace(DuckDB.capabilities, prepares=self._stored)
        self._recipe = hashlib.sha256(json.dumps(sources.recipe(policy), default=str).encode()).hexdigest()

    def prepared_version(self) -> str:
        with self._guard:
            if self._open and self._as_seen():
                return str(self._open["version"])
            with _alone(self._state):
                manifest = self._manifest()
                if not self._unchanged(manifest):
                    manifest = self._prepare(manifest)
                try:
                    self._connect(manifest)
                except Unreachable:  # the copy is damaged: it is only a copy, and made anew once
                    if not self._stored:
                        raise
                    (self._state / str(manifest["file"])).unlink(missing_ok=True)
                    manifest = self._prepare(manifest)
                    self._connect(manifest)
            return str(manifest["version"])

    def run(self, tally: Tally) -> pa.Table:
        import duckdb

        self.prepared_version()
        single, sql = memory.declared() or not self._stored, self._statement(tally)
        little = sql.persons is None if isinstance(sql, Streamed) else memory.adds_up(tally, self._dialect)
        try:
            if single or (little and plain(tally)):
                try:
                    found = self._asked(tally, sql)
                except duckdb.InterruptException:  # its time is up
                    raise
                except duckdb.Error:  # too little memory, or the optimiser was wrong about the data
                    if single:
                        raise
                    found = self._asked(tally, sql, roomy=True)
            else:
                found = self._asked(tally, sql, roomy=True)
        except duckdb.Error:
            raise Broken from None
        if not self._stored and not self._as_seen():
            raise Broken  # the sources changed meanwhile, and who has too many rows was found in the old ones
        return found

    def _statement(self, tally: Tally) -> str | Streamed:
        """The SELECT that computes a tally, or the one that finds the rows for it, where those stand sorted."""
        ready = tally.clip is None or from_totals(tally, tally.clip, self._dialect) is not None
        found = None if ready or not self._stored else streamed(tally, self._dialect)
        return found or statement(tally, self._dialect)

    def _asked(self, tally: Tally, sql: str | Streamed, *, roomy: bool = False) -> pa.Table:
        with self._guard:
            if roomy and self._roomy is None:
                self._roomy = memory.roomy(self._copy, _spill(self._state), DENSE | BLIND, self._locked)
            cursor, known = (self._roomy if roomy else self._connection).cursor(), self._known
        try:
            if roomy:
                cursor.execute("USE prepared")
            return sql.run(cursor, known) if isinstance(sql, Streamed) else _fetched(cursor, tally, sql)
        finally:
            cursor.close()

    def close(self) -> None:
        with self._guard:
            for connection in (self._connection, self._roomy):
                if connection is not None:
                    connection.close()
            self._connection, self._roomy, self._open, self._known = None, None, {}, {}

    def estimate(self) -> Estimate:
        with self._guard, _alone(self._state):
            manifest = self._manifest()
            done = self._unchanged(manifest)
        if not self._stored:
            size = 0
        elif done:
            size = (self._state / str(manifest["file"])).stat().st_size
        else:
            copies = 1 + max((len(totals.stored(t)) for t in self._policy.tables), default=0)
            size = 10**6 + copies * sum(map(_room, self._files()))
        return Estimate(str(self._state), size, shutil.disk_usage(self._state).free, done)

    def prepare(self, tell: Callable[[float, str], None]) -> Prepared:
        started = time.monotonic()
        if not self._stored:
            raise Misconfigured(
                "The policy says not to prepare.", hint="Take ?prepare=no away from its engine line to store a copy."
            )
        done = self.estimate().done
        self._tell = tell
        try:
            version = self.prepared_version()
        finally:
            self._tell = None
        tell(1.0, "")
        path = self._state / str(self._open["file"])
        return Prepared(version, str(path), path.stat().st_size, time.monotonic() - started, done)

    def _counted(self, scan: Scan, names: tuple[str, ...]) -> str | None:
        whose = owner(scan.table, self._policy)
        known = self._stored and whose and set(names) == set(whose)
        return f"(SELECT n FROM {filling.persons(scan.table)})" if known else None

    # -- the prepared copy -------------------------------------------------------------------------------

    def _manifest(self) -> dict[str, Any]:
        try:
            found = json.loads((self._state / "prepared.json").read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return {}
        return found if isinstance(found, dict) else {}

    def _files(self) -> list[Path]:
        found = {sources.locate(self._policy, t).path: None for t in self._policy.tables}
        return list(found)

    def _unchanged(self, manifest: dict[str, Any]) -> bool:
        """Whether the copy is of these very files, as far as can be told without reading them."""
        if manifest.get("recipe") != self._recipe:
            return False
        if self._stored and not (self._state / str(manifest["file"])).is_file():
            return False
        return bool(manifest["stamps"] == {str(f): sources.stamp(f) for f in self._files()})

    def _as_seen(self) -> bool:
        """The same of the copy that is open, before every question: nothing is looked at but the files themselves."""
        try:
            return self._copy.exists() and all(sources.stamp(f) == s for f, s in self._seen)
        except OSError:
            return False  # looking for the sources again says what is missing

    def _prepare(self, old: dict[str, Any]) -> dict[str, Any]:
        with _reading():
            stamps = {str(f): sources.stamp(f) for f in self._files()}
            contents = {str(f): sources.content(f) for f in self._files()}
        salt = old.get("salt") or secrets.token_hex(16)
        parts = [self._recipe, salt, [contents[str(f)] for f in self._files()]]
        version = hashlib.sha256(json.dumps(parts).encode()).hexdigest()
        manifest = {
            "version": version,
            "recipe": self._recipe,
            "salt": salt,
            "stamps": stamps,
            "file": f"prepared-{version[:16]}.duckdb",
        }
        self._tidy("draft-*")  # of preparations that were killed: we are alone
        target = self._state / str(manifest["file"])
        if self._stored and not target.is_file():
            draft = self._state / f"draft-{os.getpid()}-{secrets.token_hex(4)}.duckdb"
            try:
                self._fill(draft, salt)
                draft.replace(target)
            finally:
                self._tidy(draft.name + "*")
        _write(self._state / "prepared.json", json.dumps(manifest, indent=1))
        for stale in self._state.glob("prepared-*.duckdb"):
            if stale != target:
                stale.unlink(missing_ok=True)
        return manifest

    def _tidy(self, pattern: str) -> None:
        for left in self._state.glob(pattern):
            if left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)

    def _fill(self, path: Path, salt: str) -> None:
        import duckdb

        spill = path.with_name(path.name + ".spill")
        with _reading(), duckdb.connect(str(path), config=memory.limits(spill)) as connection:
            connection.execute(UTC)
            progress.measured(connection)  # so that `nowiser prepare` can say how far it is
            filling.fill(connection, self._policy, DIALECT, salt, self._tell, stored=True, beside=self._state)

    def _views(self, salt: str) -> Any:
        """Rows are limited inside every question. Nothing but the sources can be read, and they cannot be written."""
        import duckdb

        connection = duckdb.connect(config=DENSE | BLIND | memory.limits(_spill(self._state)))
        with _reading():
            connection.execute(UTC)
            connection.execute(f"SET allowed_paths = [{', '.join(text(str(f)) for f in self._files())}]")
            filling.fill(connection, self._policy, DIALECT, salt, stored=False, beside=self._state)
            for setting, value in self._locked.items():
                connection.execute(f"SET GLOBAL {setting} = {value}")  # for every cursor
        return connection

    def _connect(self, manifest: dict[str, Any]) -> None:
        import duckdb

        self.close()
        room, sight = (None, BLIND) if memory.declared() else (memory.little(), {})
        try:
            self._connection = (
                duckdb.connect(
                    str(self._state / str(manifest["file"])),
                    read_only=True,
                    config=self._locked | DENSE | memory.limits(_spill(self._state), room) | sight,
                )
                if self._stored
                else self._views(str(manifest["salt"]))
            )
        except duckdb.Error as error:
            raise Unreachable(
                f"The prepared copy cannot be opened ({type(error).__name__}).",
                hint="Look at NOWISER_MEMORY, the room on the disk and the rights of `.nowiser`.",
            ) from None
        self._open = manifest
        self._copy = self._state / str(manifest["file"]) if self._stored else self._state
        self._seen = [(Path(f), s) for f, s in manifest["stamps"].items()]


def _fetched(cursor: Any, tally: Tally, sql: str) -> pa.Table:
    """What a statement finds. Where that is whole numbers of 64 bits, by the way on which DuckDB reads it once only."""
    if all(k.type.kind is Kind.INTEGER for k in tally.keys) and not any(large(c) for c in tally.cells):
        found = cursor.execute(sql).fetchnumpy()
        if all(n.dtype.kind == "i" for n in found.values()):  # a decimal would come as a float
            return pa.Table.from_arrays([column(n) for n in found.values()], names=list(found))
    return cursor.sql(sql).to_arrow_table()


def _room(path: Path) -> int:
    """About what the copy of a file will take: compressed files unfold, and the units of reals are stored beside."""
    return path.stat().st_size * (3 if path.suffix in (".parquet", ".gz") else 1)


def _spill(state: Path) -> Path:
    """A folder of this process for what does not fit in memory; those of processes that were killed are cleared away.

    One for the whole process: DuckDB opens a file twice in it only with the same settings.
    """
    here = f"spill-{platform.node()}-"
    for left in state.glob(f"{here}*") if os.name == "posix" else ():  # elsewhere asking after a process may end it
        owner_of = left.name.removeprefix(here).partition("-")[0]
        try:
            os.kill(int(owner_of) if owner_of.isdigit() else os.getpid(), 0)
        except ProcessLookupError:
            shutil.rmtree(left, ignore_errors=True)
        except PermissionError:
            continue  # it lives, and is somebody else's
    return state / f"{here}{os.getpid()}"


@contextmanager
def _reading() -> Iterator[None]:
    """What goes wrong when sources are read: one message, whatever it is. A row may be the reason."""
    import duckdb

    try:
        yield
    except (duckdb.Error, Misquoted, OSError, EOFError):
        raise Misconfigured(NEUTRAL, hint=WHY) from None


def _write(path: Path, content: str) -> None:
    """All or nothing, also when the machine stops in between."""
    draft = path.with_name(f"{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    with draft.open("w") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


@contextmanager
def _alone(state: Path) -> Iterator[None]:
    """One process prepares at a time. Where files cannot be locked (Windows), the custodian sees to that."""
    with writing(state, "The folder .nowiser beside the policy"):
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        state.chmod(0o700)  # whoever made it: the copy is for the custodian alone
        lock = (state / "prepare.lock").open("w")
    with lock:
        try:
            import fcntl
        except ImportError:
            yield
            return
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
