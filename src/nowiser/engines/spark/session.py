"""One Spark session per process: local, of a cluster's master, or of a Spark Connect server."""

import logging
import socket
import subprocess
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from nowiser.errors import Misconfigured, Unreachable

SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "false",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
}
DRIVER = {  # where the driver is this process: no web page that shows everybody what is asked, no progress bar
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
LOCAL = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "8",
}
CONNECT, PORTS = "spark-connect", {"spark": 7077, "spark-connect": 15002}
REACH_SECONDS = 10.0  # to a port
ALIVE_SECONDS = 20.0  # for counting to one
AGAIN_SECONDS = 0.5  # between one attempt to stop a question and the next
ENDING_SECONDS = 2.0  # for a Java that was killed
CANCELLED = ("SPARK_JOB_CANCELLED", "OPERATION_CANCELED")
RETRIES = 4  # of a Connect client, some five seconds together; its own default goes on for ten minutes

_used: dict[str, str] = {}  # "engine": the engine line this process works with, while its session lives


def open_session(engine: str, *, app: str = "nowiser") -> Any:
    """`spark` (this machine), `spark://host:port` (a master), `spark-connect://host:port` (Spark Connect).

    Raises Misconfigured where Spark is not installed or this process works with another one already: PySpark would
    silently give that one. Raises Unreachable, at once where nobody listens.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise Misconfigured(
            "This policy's engine is Spark, which is not installed.", hint="Install it: pip install 'nowiser[spark]'."
        ) from None
    _hush()
    _listening(engine)
    if _used.get("engine", engine) != engine:
        raise _another()
    builder = SparkSession.builder.appName(app)
    if engine.startswith(f"{CONNECT}://"):
        # Looked for here: PySpark itself ends the whole process in some hosts when one of them is missing.
        if any(find_spec(name) is None for name in ("grpc", "grpc_status")):
            raise _without_connect()
        builder = builder.remote("sc" + engine[len(CONNECT) :])
    else:
        builder = builder.master("local[*]" if _local(engine) else engine)
        for key, value in (DRIVER | LOCAL if _local(engine) else DRIVER).items():
            builder = builder.config(key, value)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions of pandas, which is not used here
            session = builder.getOrCreate()
        _check(session, engine)
        renewed(session)
    except Misconfigured:
        raise
    except ImportError:
        raise _without_connect() from None
    except Exception as error:  # noqa: BLE001 (Py4J, gRPC and Java each have their own; their words may hold secrets)
        if "SESSION_ALREADY_EXIST" in str(error):
            raise _another() from None
        raise _unreachable(type(error).__name__) from None
    if not _remote(session):
        session.sparkContext.setLogLevel("OFF")  # its log may quote rows
    _used["engine"] = engine
    return session


@contextmanager
def limited(session: Any, seconds: float) -> Iterator[threading.Event]:
    """What this thread asks of Spark is stopped there after so many seconds, and when the thread is interrupted.

    Gives what says whether the time is over.
    """
    tag = f"nowiser-{threading.get_ident()}-{time.monotonic_ns()}"
    if _remote(session):
        mark, unmark, cancel = session.addTag, session.removeTag, session.interruptTag
    else:  # tags of the session do not reach the thread in which Java collects Arrow; those of the context do
        context = session.sparkContext
        context.setInterruptOnCancel(True)
        mark, unmark, cancel = context.addJobTag, context.removeJobTag, context.cancelJobsWithTag

    late, over = threading.Event(), threading.Event()

    def stop() -> None:
        with suppress(Exception):  # the other end may be gone, with everything that ran there
            cancel(tag)

    def watch() -> None:
        if over.wait(seconds):
            return
        late.set()
        stop()
        while not over.wait(AGAIN_SECONDS):  # it stops what runs, not what is still being planned
            stop()

    mark(tag)
    threading.Thread(target=watch, daemon=True).start()
    try:
        yield late
    except (KeyboardInterrupt, SystemExit):  # any other error is Spark's own word that it has ended
        stop()
        raise
    finally:
        over.set()
        with suppress(Exception):  # ditto
            unmark(tag)


def renewed(session: Any) -> None:
    """Our settings again, should whoever shares the session have changed them. Fails where the other end is dead."""
    for key, value in SETTINGS.items():
        if session.conf.get(key) != value:
            session.conf.set(key, value)


def gone(session: Any) -> bool:
    """Whether the other end is dead; then the session is ended here too, so that the next one is a new one.

    Others may cancel whatever runs in a session they share, this very look too. A Spark that says so lives.
    """
    late = threading.Event()
    try:
        with limited(session, ALIVE_SECONDS) as late:
            return bool(session.range(1).count() != 1)
    except Exception as error:  # noqa: BLE001 (as above)
        if not late.is_set() and any(word in str(error) for word in CANCELLED) and not _stopped(session):
            return False
        _forget(session)
        return True


def _stopped(session: Any) -> bool:
    """Whether a driver in this process has ended. A server's word that something was cancelled is word enough."""
    try:
        return not _remote(session) and bool(session.sparkContext._jsc.sc().isStopped())  # noqa: SLF001 (no other way)
    except Exception:  # noqa: BLE001 (as above)
        return True


def _forget(session: Any) -> None:
    _used.clear()
    with warnings.catch_warnings(), suppress(Exception):  # stopping what is dead may fail in as many ways
        warnings.simplefilter("ignore")  # that Java could not be shut down cleanly is known
        session.stop()
    if _remote(session):
        return
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    # PySpark keeps the way to a dead Java and what it was to do there, and has no other way to drop them.
    gateway = SparkContext._gateway  # noqa: SLF001 (ditto)
    process = getattr(gateway, "proc", None)
    if gateway is None or process is None:
        return
    try:
        process.wait(ENDING_SECONDS)  # its connections break a moment before it has ended
    except subprocess.TimeoutExpired:
        return  # it lives, and what was wrong was the session
    with suppress(Exception):  # as above
        gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None  # noqa: SLF001 (ditto)
    SparkSession._instantiatedSession = None  # noqa: SLF001 (ditto)


def _local(engine: str) -> bool:
    return engine in ("spark", "spark://local")


def _remote(session: Any) -> bool:
    return type(session).__module__.startswith("pyspark.sql.connect")


def _listening(engine: str) -> None:
    """Raises Unreachable where nobody does: Spark itself would try for minutes."""
    if _local(engine):
        return
    parts = urlsplit(engine)
    for one in parts.netloc.rpartition("@")[2].split(","):  # several masters may stand by
        try:
            address = urlsplit(f"//{one}")
            port = address.port or PORTS[parts.scheme]
            socket.create_connection((address.hostname or "", port), timeout=REACH_SECONDS).close()
        except ValueError:
            raise Misconfigured(
                "The engine of the policy is no address of Spark.", hint="For example spark://master.host:7077."
            ) from None
        except OSError:
            continue
        return
    raise _unreachable("nobody listens there")


def _check(session: Any, engine: str) -> None:
    """PySpark gives the session a process has, whatever was asked for."""
    if _remote(session) != engine.startswith(CONNECT):
        raise _another()
    if _remote(session):
        from pyspark.sql.connect.client.retries import DefaultPolicy

        session.client.set_retry_policies([DefaultPolicy(max_retries=RETRIES)])
    elif session.sparkContext.master.startswith("local") != _local(engine):
        raise _another()


def _another() -> Misconfigured:
    return Misconfigured(
        "This process works with another Spark already.",
        hint="Use one process for each Spark: PySpark has one session.",
    )


def _without_connect() -> Misconfigured:
    return Misconfigured(
        "Spark Connect needs packages that are not installed.", hint="Install them: pip install 'nowiser[spark]'."
    )


def _unreachable(reason: str) -> Unreachable:
    return Unreachable(
        f"Spark cannot be started or reached ({reason}).",
        hint="`spark` needs Java 17 or later here; for a cluster look at host and port of the engine line.",
    )


def _hush() -> None:
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "pyspark", "py4j"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    logging.getLogger().addFilter(_not_of_py4j)


def _not_of_py4j(record: logging.LogRecord) -> bool:
    """When Java has gone, Py4J says so to whoever listens to everything, at length."""
    return "py4j" not in record.pathname
