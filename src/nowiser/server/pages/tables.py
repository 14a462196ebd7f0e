"""What may be asked about, as declared; with questions to begin with."""

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from nowiser.report.tables import whose
from nowiser.server.pages import drawing
from nowiser.server.pages.access import Anybody, TheDesk

router = APIRouter()


@router.get("/tables")
async def tables(request: Request, desk: TheDesk, account: Anybody) -> Response:
    found = await desk.quickly(desk.seat(account).tables)
    facts = [(t, whose(t)) for t in found.facts]
    return drawing.page(request, "tables.html", tables=facts, asks=account.role.asks)
