"""Logs as JSON lines on standard error. No line has a value from the data, a token, or the text of a question."""

import json
import logging
import sys
from datetime import UTC, datetime

from nowiser.errors import Misconfigured

LEVELS = ("debug", "info", "warning", "error")


class Lines(logging.Formatter):
    """One JSON object per record. Tracebacks stay out: a message of Python may quote a row."""

    def format(self, record: logging.LogRecord) -> str:
        found = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if record.exc_info and record.exc_info[0] is not None:
            found["exception"] = record.exc_info[0].__name__
        return json.dumps(found | getattr(record, "about", {}), ensure_ascii=False)


def configure(level: str) -> None:
    if level not in LEVELS:
        raise Misconfigured(f"There is no log level {level!r}.", hint=f"Levels: {', '.join(LEVELS)}.")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
