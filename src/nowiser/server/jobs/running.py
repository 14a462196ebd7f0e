"""Jobs of this server: begun, watched, stopped. One runs at a time; the last fifty are remembered until a restart."""

import asyncio
import contextlib
import json
import logging
import signal
import sys
from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any

from nowiser.server.jobs.wish import Wish
from nowiser.server.jobs.work import UNSEEN, sent
from nowiser.server.problems import NotFound, TooMany

log = logging.getLogger("nowiser.server.jobs")

WAITING, REMEMBERED = 8, 50
ENDING = 5.0  # seconds for a job that is stopped to take away what it wrote
STOPPED = "Stopped. No file was written."
LINE = 1_000_000  # bytes of what it says at once


@dataclass(frozen=True)
class Job:
    """`state`: waits, runs, done, failed. `share`: how much of it is done, of 1."""

    id: str
    kind: str
    what: str
    by: str
    begun: str
    state: str = "waits"
    share: float = 0.0
    message: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)
    wish: Mapping[str, Any] = field(default_factory=dict)

    @property
    def over(self) -> bool:
        return self.state in ("done", "failed")

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


class Jobs:
    """Used on one event loop."""

    def __init__(self, policy: Path) -> None:
        self._policy = policy
        self._jobs, self._tasks = OrderedDict[str, Job](), dict[str, asyncio.Task[None]]()
        self._turn, self._changed = asyncio.Lock(), asyncio.Condition()
        self._closed = False

    def every(self) -> list[Job]:
        """The latest first."""
        return list(self._jobs.values())[::-1]

    def find(self, key: str) -> Job:
        if key not in self._jobs:
            raise NotFound("There is no such job.", hint="Jobs are forgotten when the server starts again.")
        return self._jobs[key]

    def begin(self, wish: Wish, logs: Path) -> Job:
        """It waits for its turn, and runs."""
        wish.check(self._policy)
        if self._closed or sum(not job.over for job in self._jobs.values()) >= WAITING:
            raise TooMany("Too many jobs are waiting.", hint="Begin it when one is done.")
        now = datetime.now(UTC).isoformat(timespec="seconds")
        job = Job(token_hex(6), wish.kind, wish.what, wish.by, now, wish=asdict(wish))
        self._jobs[job.id] = job
        for old in [j.id for j in self._jobs.values() if j.over][: max(0, len(self._jobs) - REMEMBERED)]:
            del self._jobs[old]
        task = self._tasks[job.id] = asyncio.create_task(self._run(job.id, sent(self._policy, logs, wish)))
        task.add_done_callback(lambda _: self._tasks.pop(job.id, None))
        return job

    async def stop(self, key: str) -> None:
        self.find(key)
        if (task := self._tasks.get(key)) is not None:
            task.cancel()
            await asyncio.wait([task])
        if not self.find(key).over:  # it had not even begun
            await self._now(key, state="failed", message=STOPPED)

    async def close(self) -> None:
        """Stop all; what they wrote is taken away. What was charged stays charged."""
        self._closed = True
        for task in (tasks := list(self._tasks.values())):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        async with self._changed:
            self._changed.notify_all()

    async def watch(self, key: str) -> AsyncIterator[Job]:
        """As it is now, and each time it changed, until it is over."""
        told = None
        while not self._closed:
            if (job := self.find(key)) != told:
                yield job
                told = job
                continue
            if job.over:
                return
            async with self._changed:
                if self.find(key) == told and not self._closed:
                    await self._changed.wait()

    async def _run(self, key: str, wish: bytes) -> None:
        try:
            async with self._turn:
                await self._work(key, wish)
        except asyncio.CancelledError:
            await self._now(key, state="failed", message=STOPPED)
        except (OSError, ValueError, KeyError) as error:  # it cannot be started, or says what no job says
            log.error("a job ended (%s)", type(error).__name__)  # noqa: TRY400 (no text of others)
            await self._now(key, state="failed", message=UNSEEN)

    async def _work(self, key: str, wish: bytes) -> None:
        pipe, nowhere = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", work_module(), stdin=pipe, stdout=pipe, stderr=nowhere, limit=LINE
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(wish)
            process.stdin.close()
            await self._now(key, state="runs")
            async for line in process.stdout:
                await self._said(key, json.loads(line))
            await process.wait()
            if not self.find(key).over:
                await self._now(key, state="failed", message=UNSEEN)
        finally:
            await _ended(process)

    async def _said(self, key: str, line: Mapping[str, Any]) -> None:
        if "result" in line:
            await self._now(key, state="done", share=1.0, message=line["result"]["words"], result=line["result"])
        elif "failed" in line:
            message = " ".join(filter(None, (line["failed"]["message"], line["failed"]["hint"])))
            await self._now(key, state="failed", message=message)
        else:
            await self._now(key, share=line["done"], message=line["message"])

    async def _now(self, key: str, **changed: Any) -> None:
        if key in self._jobs:
            self._jobs[key] = replace(self._jobs[key], **changed)
            async with self._changed:
                self._changed.notify_all()


def work_module() -> str:
    return "nowiser.server.jobs.work"


async def _ended(process: asyncio.subprocess.Process) -> None:
    """Ctrl-C first: it takes away what it wrote."""
    for said in (signal.SIGINT, signal.SIGKILL):
        if process.returncode is not None:
            return
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(said)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(ENDING):
                await process.wait()
