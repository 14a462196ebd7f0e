"""The custodian's report: on the page, for print, and as a file."""

import re
from itertools import count

from fastapi import APIRouter
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from nowiser.report.custodian import report as made_of
from nowiser.report.document import file, html
from nowiser.report.document.blocks import Document, markdown
from nowiser.server.pages import drawing
from nowiser.server.pages.access import SeesAll, TheDesk
from nowiser.server.problems import NotFound
from nowiser.server.seat import Seat

router = APIRouter()


@router.get("/report")
async def report(request: Request, desk: TheDesk, account: SeesAll) -> Response:
    document = await desk.quickly(_document, desk.seat(account))
    body = Markup(_scrolling(html.body(document)))  # noqa: S704 (escaped where it was made)
    return drawing.page(request, "report.html", body=body)


@router.get("/report.{form}")
async def saved(desk: TheDesk, account: SeesAll, form: str) -> Response:
    """As a file; PDF where `nowiser[pdf]` is installed, else the reason."""
    kinds = {"pdf": "application/pdf", "html": "text/html", "md": "text/markdown"}
    if form not in kinds:
        raise NotFound("The report is written as .pdf, .html or .md.")
    content = await desk.quickly(_written, desk.seat(account), form)
    named = {"content-disposition": f'attachment; filename="privacy-report.{form}"'}
    return Response(content, media_type=kinds[form], headers=named)


def _scrolling(text: str) -> str:
    """Tables that are wider than the page are moved by themselves, with the keyboard too."""
    number = count(1)
    opened = re.sub(
        "<table>",
        lambda _: f'<div class="wide" tabindex="0" role="region" aria-label="Table {next(number)}"><table>',
        text,
    )
    return opened.replace("</table>", "</table></div>")


def _written(seat: Seat, form: str) -> bytes:
    document = _document(seat)
    if form == "pdf":
        return file.pdf(document)
    return (html.html(document) if form == "html" else markdown(document)).encode()


def _document(seat: Seat) -> Document:
    head = seat.gate.ledger.verify()
    return made_of(seat.gate.policy, seat.statement(), head).document
