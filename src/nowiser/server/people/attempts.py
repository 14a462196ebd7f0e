"""Failed log-ins: after ten in a quarter of an hour, that name from that address waits."""

from collections import OrderedDict, deque
from collections.abc import Callable
from threading import Lock
from time import monotonic

MOST, WINDOW = 10, 15 * 60.0
REMEMBERED = 10_000  # pairs; the oldest are forgotten first


class Attempts:
    """Counted in this process. A name that does not exist is counted like any other."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._lock = clock, Lock()
        self._failed: OrderedDict[tuple[str, str], deque[float]] = OrderedDict()

    def waits(self, name: str, address: str) -> float:
        """Seconds until the next attempt is looked at; 0 where it may be made now."""
        with self._lock:
            times = self._recent((name, address))
            return max(0.0, times[0] + WINDOW - self._clock()) if len(times) >= MOST else 0.0

    def failed(self, name: str, address: str) -> None:
        with self._lock:
            times = self._recent((name, address))
            times.append(self._clock())
            self._failed[name, address] = times
            self._failed.move_to_end((name, address))
            while len(self._failed) > REMEMBERED:
                self._failed.popitem(last=False)

    def succeeded(self, name: str, address: str) -> None:
        with self._lock:
            self._failed.pop((name, address), None)

    def _recent(self, pair: tuple[str, str]) -> deque[float]:
        times, since = self._failed.get(pair, deque(maxlen=MOST)), self._clock() - WINDOW
        while times and times[0] <= since:
            times.popleft()
        return times
