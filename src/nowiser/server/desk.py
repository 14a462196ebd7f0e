"""The desk: what every surface of the server talks to. One gateway, many people, four pools of threads.

    seat = desk.seat(account)              what one account may do
    await desk.answered(seat, sql, …)      a question: in a thread, and told on the grid of times
    await desk.weighed(name, f, …)         explain, catalogue: in the second pool, where texts of people are worked on
    await desk.quickly(f, …)               accounts, board: in the third; log-ins in the fourth

In the first two no account has all threads, so nobody's questions hold up everybody's.
*The clock.* How long a new answer takes depends a little on the rows. So it is told `at_least` after it was asked, or
twice, four, eight … times that; failures too. Stored answers, refusals and explanations depend on no row: at once,
but for stored ones while an answer that was just kept is not told yet (`ledger/untold.py`).
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from nowiser import gateway as gateways, ledger, policy
from nowiser.errors import Misconfigured, NotEvaluated, NowiserError
from nowiser.gateway import Gateway
from nowiser.report import failure
from nowiser.report.answer import Answer
from nowiser.server.jobs.running import Jobs
from nowiser.server.people.account import Account
from nowiser.server.people.attempts import Attempts
from nowiser.server.people.office import Office
from nowiser.server.people.register import Register
from nowiser.server.problems import TooMany
from nowiser.server.seat import Seat
from nowiser.server.settings import Settings
from nowiser.server.turns import Turns

T = TypeVar("T")

UNSEEN = "The request could not be carried out. The server's log says where it stopped."


class Desk:
    """Opened once per process; closed when the server stops."""

    def __init__(self, settings: Settings, gate: Gateway | None = None) -> None:
        self.settings = settings
        self._gate = gate or gateways.open(settings.policy)
        self._lock = Lock()
        self.register = Register(self._gate.ledger)
        self.attempts = Attempts()
        self._slow = Turns(settings.threads, max(1, settings.threads - 1), "question")
        self._weighing = Turns(4, 2, "explain")
        self._quick = ThreadPoolExecutor(4, thread_name_prefix="quick")
        self._door = ThreadPoolExecutor(2, thread_name_prefix="log-in")
        self._waiting, self._telling = Counter[str](), 0
        self.jobs = Jobs(settings.policy)
        self.ready = False  # for load balancers

    @property
    def gate(self) -> Gateway:
        """The gateway under the policy as the file says it now; the one before where the file cannot be taken."""
        with self._lock:
            try:
                self._gate.check_policy()
            except Misconfigured:
                self._gate = self._reopened()
            return self._gate

    def _reopened(self) -> Gateway:
        try:
            found = policy.read(self.settings.policy)
            opened = gateways.Gateway(found)
        except NowiserError:
            return self._gate  # which refuses every question, with the reason
        self.register = Register(opened.ledger)
        return opened  # the other one is closed when its last question is answered and nobody holds it

    @property
    def at_least(self) -> float:
        """Seconds until a new answer is told at the earliest."""
        said = self.settings.at_least
        return float(self._gate.policy.at_least) if said is None else said

    @property
    def folder(self) -> Path:
        """Where what belongs to the policy is kept."""
        return ledger.state_folder(self._gate.policy)

    def seat(self, account: Account) -> Seat:
        return Seat(self.gate, account)

    def office(self, by: Account) -> Office:
        """Accounts as this one may change them."""
        return Office(self.register, by, self.settings.four_eyes)

    async def answered(self, seat: Seat | Callable[[], Seat], sql: Any, *, who: str = "", **wish: Any) -> Answer:
        """The answer to a question, told when the grid of times says so.

        `seat`: or what finds it, in that thread; `who` then says whose it is.
        """
        loop = asyncio.get_running_loop()
        arrived, most = loop.time(), self.settings.waiting
        who = seat.account.name if isinstance(seat, Seat) else who
        if self._waiting.total() >= most or self._waiting[who] >= most // 2:
            raise TooMany("Too many questions are waiting. Nothing was charged.", hint="Ask again in a moment.")
        begun = self._slow.submit(who, partial(self._walled, self._ask, seat, sql, **wish))
        self._waiting[who] += 1
        work = asyncio.wrap_future(begun)
        work.add_done_callback(partial(self._done, who))
        self._telling += 1
        try:
            return await self._told(asyncio.shield(work), arrived)
        finally:
            self._telling -= 1

    async def _told(self, work: "asyncio.Future[tuple[Answer, float]]", arrived: float) -> Answer:
        try:
            answer, untold = await work
        except NotEvaluated:
            await self._slot(arrived)
            raise
        if untold > 0:
            await asyncio.sleep(untold)
        elif not (answer.stored or answer.follows or answer.price == 0.0):
            await self._slot(arrived)
        return answer

    def _ask(self, found: Seat | Callable[[], Seat], sql: Any, **wish: Any) -> tuple[Answer, float]:
        """The answer; of a stored one, how long it waits for an answer that is kept and not told yet."""
        seat = found if isinstance(found, Seat) else found()
        answer = seat.query(sql, **wish)
        old = answer.stored or answer.follows
        return answer, seat.gate.ledger.until_told(self.at_least) if old else 0.0

    def _done(self, who: str, work: "asyncio.Future[Any]") -> None:
        self._waiting[who] -= 1
        if not self._waiting[who]:
            del self._waiting[who]
        if not work.cancelled():
            work.exception()  # seen, also where whoever asked has gone

    async def _slot(self, arrived: float) -> None:
        loop, wait = asyncio.get_running_loop(), self.at_least
        while wait > 0 and arrived + wait < loop.time():
            wait *= 2
        await asyncio.sleep(max(0.0, arrived + wait - loop.time()))

    async def weighed(self, who: str, work: Callable[..., T], *args: Any, **named: Any) -> T:
        """Something that reads no secret and takes as long as a text of this account makes it."""
        found: T = await asyncio.wrap_future(self._weighing.submit(who, partial(self._walled, work, *args, **named)))
        return found

    async def quickly(self, work: Callable[..., T], *args: Any, **named: Any) -> T:
        """Something that reads no secret and takes little."""
        return await self._in(self._quick, work, *args, **named)

    async def at_the_door(self, work: Callable[..., T], *args: Any, **named: Any) -> T:
        """A log-in. Passwords are slow to check, and anybody may try: they hold up other log-ins only."""
        return await self._in(self._door, work, *args, **named)

    async def _in(self, pool: ThreadPoolExecutor, work: Callable[..., T], *args: Any, **named: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(pool, partial(self._walled, work, *args, **named))

    def _walled(self, work: Callable[..., T], *args: Any, **named: Any) -> T:
        with failure.wall(self.folder, UNSEEN, "in the server"):
            return work(*args, **named)

    async def idle(self) -> None:
        """Until no question runs, waits, or is to be told."""
        while self._waiting.total() or self._telling:  # noqa: ASYNC110 (counted down in callbacks; it is waited for once, at the end)
            await asyncio.sleep(0.02)

    def close(self) -> None:
        """Questions that run are finished first."""
        self._slow.close()
        self._weighing.close()
        self._quick.shutdown(wait=True, cancel_futures=True)
        self._door.shutdown(wait=True, cancel_futures=True)
        self._gate.close()
