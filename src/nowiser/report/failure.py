"""What a failed run leaves for the custodian: where in our code it stopped, and nothing of the data.

A message of an engine or of Python may quote a row, and so may a local variable. The *type* of an exception and the
lines of our own code do not. That much is written to `failures.log` in the custodian's state folder and given to the
logger `nowiser`, which says nothing unless the program around it wants it to. Whether and where a run fails may still
depend on the data: so the analyst, who is told one neutral sentence, never sees either.
"""

import logging
import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from nowiser.errors import NotEvaluated, NowiserError

LOG = "failures.log"
BEFORE = "before anything was charged"

logger = logging.getLogger("nowiser")
logger.addHandler(logging.NullHandler())  # else Python would print what nobody handles


@contextmanager
def wall(folder: Path, message: str, which: str = BEFORE) -> Iterator[None]:
    """Whatever fails inside, other than with words of ours, is logged and becomes one neutral `NotEvaluated`.

    So no text and no bug of ours shows a traceback, a path or a value, and every such failure looks the same.
    """
    try:
        yield
    except NowiserError:
        raise
    except Exception as error:  # noqa: BLE001 (recursion and memory too: nothing may pass)
        record(folder, error, which)
        raise NotEvaluated(message) from None


def record(folder: Path, error: BaseException, which: int | str = BEFORE) -> None:
    """Log a failure. `which`: the entry of the ledger, so that the question can be found there, or when it was."""
    which = f"entry {which}" if isinstance(which, int) else which
    line = f"a run failed ({which}): {' <- '.join(described(error))}"
    logger.error("%s", line)
    try:
        at = datetime.now(UTC).isoformat(timespec="seconds")
        file = os.open(folder / LOG, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        with os.fdopen(file, "a") as log:
            log.write(f"{at} {line}\n")
    except OSError as unwritten:  # the answer to the analyst must not depend on it
        logger.error("the log could not be written: %s", type(unwritten).__name__)  # noqa: TRY400 (values stay out)


def described(error: BaseException) -> Iterator[str]:
    """Each exception that led to this one, latest first: its type, and where our own code stood."""
    seen: BaseException | None = error
    while seen is not None:
        kind = type(seen)
        frames = [f for f in traceback.extract_tb(seen.__traceback__) if _ours(f.filename)]
        places = ", ".join(f"{_module(f.filename)}:{f.lineno}" for f in reversed(frames))
        yield f"{kind.__module__}.{kind.__qualname__}" + (f" at {places}" if places else "")
        seen = seen.__cause__ or seen.__context__


_ROOT = Path(__file__).resolve().parent.parent


def _ours(file: str) -> bool:
    return Path(file).resolve().is_relative_to(_ROOT)


def _module(file: str) -> str:
    return ".".join(("nowiser", *Path(file).resolve().relative_to(_ROOT).with_suffix("").parts))
