"""One Spark session per engine line: local, a cluster's master, or a Spark Connect server."""

import logging
import warnings
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

from nowiser.errors import Misconfigured, Unreachable

SETTINGS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "false",
    "spark.sql.timestampType": "TIMESTAMP_NTZ",
}
LOCAL = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "8",
}


def _without_connect() -> Misconfigured:
    return Misconfigured(
        "Spark Connect needs packages that are not installed.", hint="Install them: pip install 'pyspark[connect]'."
    )


def open_session(engine: str, *, app: str = "nowiser") -> Any:
    """`spark` (this machine), `spark://host:port` (a master), `spark-connect://host:port` (Spark Connect)."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise Misconfigured(
            "This policy's engine is Spark, which is not installed.", hint="Install it: pip install 'nowiser[spark]'."
        ) from None
    _hush()
    builder = SparkSession.builder.appName(app)
    if engine.startswith("spark-connect://"):
        # Looked for here: PySpark itself ends the whole process in some hosts when one of them is missing.
        if any(find_spec(name) is None for name in ("grpc", "grpc_status")):
            raise _without_connect()
        builder = builder.remote("sc" + engine[len("spark-connect") :])
    else:
        builder = builder.master("local[*]" if engine in ("spark", "spark://local") else engine)
        for key, value in LOCAL.items():
            if engine in ("spark", "spark://local"):
                builder = builder.config(key, value)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions of pandas, which is not used here
            session = builder.getOrCreate()
        for key, value in SETTINGS.items():
            session.conf.set(key, value)
    except ImportError:
        raise _without_connect() from None
    except Exception as error:  # noqa: BLE001 (Py4J, gRPC and Java each have their own; their words may hold secrets)
        raise Unreachable(
            f"Spark cannot be started or reached ({type(error).__name__}).",
            hint="`spark` needs Java 17 or later here; for a cluster look at host and port of the engine line.",
        ) from None
    if hasattr(session, "_jvm"):
        session.sparkContext.setLogLevel("OFF")  # its log may quote rows
    return session


def gone(session: Any) -> bool:
    """Whether the other end is dead; then the session is ended here too, so that the next one is a new one."""
    try:
        return bool(session.range(1).count() != 1)
    except Exception:  # noqa: BLE001 (as above)
        with suppress(Exception):  # stopping what is dead may fail in as many ways
            session.stop()
        return True


def _hush() -> None:
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "pyspark", "py4j"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
