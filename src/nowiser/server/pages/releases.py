"""Releases: what was published and what it used of the allowance; publishing a table; holding a release against it."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from nowiser.errors import NowiserError
from nowiser.gateway import Gateway
from nowiser.model.schema import Role as Columns
from nowiser.server.desk import Desk
from nowiser.server.jobs.released import compared, readable, released
from nowiser.server.jobs.wish import Publish
from nowiser.server.pages import drawing
from nowiser.server.pages.access import Custodian, SeesAll, TheDesk
from nowiser.server.people.account import Account, Role
from nowiser.server.problems import NotFound, problem_of
from nowiser.server.seat import Seat

router = APIRouter()
JOBS = 5  # shown
Word = Annotated[str, Form(max_length=200)]
# A report is a page of its own with its own style; nothing in it runs.
ALONE = {"content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"}


@router.get("/releases")
async def releases(request: Request, desk: TheDesk, account: SeesAll) -> Response:
    return await _page(request, desk, account)


@router.post("/releases")
async def publish(
    request: Request,
    desk: TheDesk,
    account: Custodian,
    *,
    table: Word,
    name: Word,
    k: Annotated[int, Form(ge=1, le=1_000_000)] = 5,
    suppress: Word = "5 %",
    what: Word = "look",
) -> Response:
    """Begin a job, and back to the page that shows it. What a release would tell and use is looked at first."""
    share = suppress.replace(" ", "").removesuffix("%") + "%"
    wish = Publish(account.name, table, name.strip(), k, share, look=what != "publish")
    return await _begun(request, desk, account, lambda: desk.jobs.begin(wish, desk.folder))


@router.post("/releases/{seq}/compare")
async def compare(request: Request, desk: TheDesk, account: Custodian, seq: int, table: Word) -> Response:
    try:
        wish = await desk.quickly(compared, desk.gate, seq, table, account.name)
    except NowiserError as error:
        return await _page(request, desk, account, failed=error)
    return await _begun(request, desk, account, lambda: desk.jobs.begin(wish, desk.folder))


@router.post("/jobs/{job}/stop")
async def stop(desk: TheDesk, _: Custodian, job: str) -> Response:
    await desk.jobs.stop(job)
    return RedirectResponse("/releases", 303)


@router.get("/releases/{seq}/report")
async def report(desk: TheDesk, account: SeesAll, seq: int) -> Response:
    return await _file(desk, account, seq, "report")


@router.get("/releases/{seq}/comparison")
async def comparison(desk: TheDesk, account: SeesAll, seq: int) -> Response:
    return await _file(desk, account, seq, "comparison")


async def _file(desk: Desk, account: Account, seq: int, which: str) -> Response:
    found = (await desk.quickly(released, desk.seat(account).gate)).get(seq)
    path: Path | None = None if found is None else getattr(found, which)
    if path is None or not readable(path):
        raise NotFound(f"There is no {which} of this release.", hint="It lies beside the released file.")
    return Response(await desk.quickly(path.read_bytes), media_type="text/html", headers=ALONE)


async def _begun(request: Request, desk: Desk, account: Account, begin: Callable[[], object]) -> Response:
    try:
        begin()
    except NowiserError as error:
        return await _page(request, desk, account, failed=error)
    return RedirectResponse("/releases", 303)


async def _page(request: Request, desk: Desk, account: Account, failed: NowiserError | None = None) -> Response:
    return drawing.page(
        request,
        "releases.html",
        status=200 if failed is None else problem_of(failed).status,
        **await desk.quickly(_content, desk.seat(account)),
        jobs=desk.jobs.every()[:JOBS],
        changes=account.role is Role.custodian,
        failed=None if failed is None else drawing.failed(failed),
    )


def _content(seat: Seat) -> dict[str, Any]:
    files = released(seat.gate)
    return {
        "lines": [line for line in seat.history() if line.kind == "publication"][::-1],
        "reports": {seq for seq, found in files.items() if readable(found.report)},
        "comparisons": {seq for seq, found in files.items() if readable(found.comparison)},
        "there": {seq for seq, found in files.items() if found.data.is_file()},
        "tables": publishable(seat.gate),
    }


def publishable(gate: Gateway) -> list[str]:
    """Tables about people with something that attackers may know: public columns are what is generalised."""
    found = gate.policy.tables
    return [t.name for t in found if not t.is_public and any(c.role is Columns.PUBLIC for c in t.columns)]
