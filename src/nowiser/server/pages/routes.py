"""Every page, mounted on the application."""

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from nowiser.server.desk import Desk
from nowiser.server.http.sessions import current
from nowiser.server.pages import (
    accounts,
    ask,
    board,
    drawing,
    ledger,
    limits,
    log_in,
    releases,
    report,
    sign_on,
    tables,
    you,
)
from nowiser.server.problems import NotFound

TYPES = {"css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
ROOMS = (log_in, sign_on, you, board, ask, tables, limits, releases, accounts, ledger, report)


def mount(app: FastAPI, desk: Desk) -> None:
    app.state.desk = desk
    app.state.error_page = drawing.error_page

    @app.get("/", include_in_schema=False)
    async def start(request: Request) -> Response:
        """Each to the page she works on."""
        account = current(request)
        if account is None:
            return RedirectResponse("/login", 303)
        return RedirectResponse("/board" if account.role.sees_all else "/ask", 303)

    @app.get("/static/{name}", include_in_schema=False)
    async def static(name: str) -> Response:
        content = drawing.static(name)
        if content is None:
            raise NotFound("There is no such file.")
        kind = TYPES[name.rpartition(".")[2]]
        return Response(content, media_type=kind, headers={"cache-control": "public, max-age=31536000, immutable"})

    for room in ROOMS:
        app.include_router(room.router, include_in_schema=False)
