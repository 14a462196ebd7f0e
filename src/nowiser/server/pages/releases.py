"""Releases: which tables were published, what each used of the allowance, and the reports that lie beside them."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from nowiser.server.pages import drawing
from nowiser.server.pages.access import SeesAll, TheDesk

router = APIRouter()


@router.get("/releases")
async def releases(request: Request, desk: TheDesk, account: SeesAll) -> Response:
    seat = desk.seat(account)
    lines = [line for line in await desk.quickly(seat.history) if line.kind == "publication"]
    return drawing.page(request, "releases.html", lines=lines[::-1], reports=())
