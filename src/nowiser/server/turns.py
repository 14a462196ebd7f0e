"""A pool of threads in which nobody takes them all: each account has some of them, and its other work waits."""

from collections import Counter, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import Any

Work = tuple["Future[Any]", Callable[[], Any]]


class Turns:
    """`each`: how many threads one account has at once. Between accounts, whoever came first goes first."""

    def __init__(self, threads: int, each: int, name: str) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._each, self._lock = each, Lock()
        self._running, self._waiting = Counter[str](), dict[str, deque[Work]]()

    def submit(self, who: str, work: Callable[[], Any]) -> "Future[Any]":
        told: Future[Any] = Future()
        with self._lock:
            if self._running[who] >= self._each:
                self._waiting.setdefault(who, deque()).append((told, work))
                return told
            self._running[who] += 1
        self._start(who, told, work)
        return told

    def _start(self, who: str, told: "Future[Any]", work: Callable[[], Any]) -> None:
        begun = self._pool.submit(self._run, who, told, work)
        begun.add_done_callback(lambda it: told.cancel() if it.cancelled() else None)

    def _run(self, who: str, told: "Future[Any]", work: Callable[[], Any]) -> None:
        if told.set_running_or_notify_cancel():
            try:
                result = work()
            except BaseException as error:  # noqa: BLE001 (it is told whoever asked)
                told.set_exception(error)
            else:
                told.set_result(result)
        with self._lock:
            waiting = self._waiting.get(who)
            if not waiting:
                self._running[who] -= 1
                if not self._running[who]:
                    del self._running[who]
                return
            later = waiting.popleft()
            if not waiting:
                del self._waiting[who]
        try:
            self._start(who, *later)
        except RuntimeError:  # it was closed meanwhile
            later[0].cancel()

    def close(self) -> None:
        """What runs is finished; what waits is cancelled."""
        with self._lock:
            left = [told for queue in self._waiting.values() for told, _ in queue]
            self._waiting.clear()
        for told in left:
            told.cancel()
        self._pool.shutdown(wait=True, cancel_futures=True)
