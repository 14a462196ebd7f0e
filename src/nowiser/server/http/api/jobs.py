"""Jobs: publishing a table of the policy, comparing a release with its original; how far each is."""

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response, StreamingResponse

from nowiser.server.http.api.who import Body, Custodian, Overseer, TheDesk
from nowiser.server.jobs.released import compared
from nowiser.server.jobs.running import Job, Jobs
from nowiser.server.jobs.wish import Publish

router = APIRouter(prefix="/jobs", tags=["jobs"])
Table = Annotated[str, Field(max_length=200, description="A table of the policy")]


class Publication(Body):
    """A table to be published, with the roles and promises of the policy."""

    table: Table
    name: Annotated[str, Field(max_length=63, description="The file becomes `releases/<name>.csv` beside the policy")]
    k: Annotated[int, Field(ge=1, le=1_000_000, description="Every row looks like k - 1 others")] = 5
    suppress: Annotated[str, Field(max_length=20, description="Rows that may be left out")] = "5%"
    look: Annotated[bool, Field(description="Only say what it would tell and use; nothing is written or charged")] = (
        False
    )


class Comparison(Body):
    """A release to be held against the table it was made of."""

    release: Annotated[int, Field(ge=1, description="Its entry of the ledger")]
    table: Table


@router.get("")
async def every(desk: TheDesk, _: Overseer) -> dict[str, Any]:
    """All jobs since the server started, the latest first: `state` is waits, runs, done or failed."""
    return {"jobs": [job.to_json() for job in desk.jobs.every()]}


@router.post("/publish", status_code=202)
async def publish(desk: TheDesk, by: Custodian, new: Publication) -> dict[str, Any]:
    """Begin to publish a table. It enters the ledger under your name, before the file is there."""
    wish = Publish(by.name, **new.model_dump())
    return desk.jobs.begin(wish, desk.folder).to_json()


@router.post("/compare", status_code=202)
async def compare(desk: TheDesk, by: Custodian, new: Comparison) -> dict[str, Any]:
    """Begin to compare. The report tells about the original: it is for those who oversee."""
    wish = await desk.quickly(compared, desk.gate, new.release, new.table, by.name)
    return desk.jobs.begin(wish, desk.folder).to_json()


@router.get("/{job}")
async def one(desk: TheDesk, _: Overseer, job: str) -> dict[str, Any]:
    """How far it is."""
    return desk.jobs.find(job).to_json()


@router.get("/{job}/events", response_class=Response)
async def events(desk: TheDesk, _: Overseer, job: str) -> Response:
    """The same as server-sent events, one for each change, until it is over."""
    desk.jobs.find(job)
    return StreamingResponse(
        _events(desk.jobs, job), media_type="text/event-stream", headers={"cache-control": "no-store"}
    )


@router.delete("/{job}", status_code=204)
async def stop(desk: TheDesk, _: Custodian, job: str) -> None:
    """Stop it. No file is written; what was charged stays charged."""
    await desk.jobs.stop(job)


async def _events(jobs: Jobs, key: str) -> AsyncIterator[str]:
    async for job in jobs.watch(key):
        yield _event(job)


def _event(job: Job) -> str:
    return f"event: {'over' if job.over else 'progress'}\ndata: {json.dumps(job.to_json())}\n\n"
