"""What needs no data is done while the engine reads it."""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def meanwhile(work: Callable[[], T]) -> "Future[T]":
    """Begin at once; `result()` waits, and raises what the work raised.

    In a thread of its own, which takes a tenth of a millisecond to start: those of a pool are missing in a forked
    child, which would wait for them for ever.
    """
    found: Future[T] = Future()

    def run() -> None:
        try:
            found.set_result(work())
        except BaseException as error:  # noqa: BLE001 (raised again where it is waited for)
            found.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return found
