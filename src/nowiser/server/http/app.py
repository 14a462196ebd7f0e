"""The application: every route of the API and the pages, on one desk."""

import asyncio

from fastapi import FastAPI
from starlette.responses import JSONResponse, Response

from nowiser import __version__
from nowiser.server.desk import Desk
from nowiser.server.http import login
from nowiser.server.http.api import asking, board, jobs, people, policy
from nowiser.server.http.failed import handlers
from nowiser.server.http.guard import Guard
from nowiser.server.http.metrics import metrics
from nowiser.server.http.provider import Provider
from nowiser.server.http.sessions import Sessions
from nowiser.server.pages import editor, routes

API = "/api/v1"
PARTS = (login, asking, board, people, policy, jobs)


def described() -> FastAPI:
    """The API alone: what its OpenAPI document, and the reference made of it, say."""
    document = f"{API}/openapi.json"
    app = FastAPI(title="nowiser", version=__version__, docs_url=None, redoc_url=None, openapi_url=document)
    for part in PARTS:
        app.include_router(part.router, prefix=API)
    return app


def application(desk: Desk) -> FastAPI:
    app = described()
    app.state.desk = desk
    app.state.sessions = sessions = Sessions()
    app.state.log_ins = asyncio.Semaphore(login.AT_ONCE)
    app.state.sign_ons = asyncio.Semaphore(login.AT_ONCE)
    agreed = desk.settings.sign_on
    app.state.provider = None if agreed is None else Provider(agreed)

    @app.get("/healthz", include_in_schema=False)
    async def alive() -> dict[str, bool]:
        """The process runs."""
        return {"alive": True}

    @app.get("/readyz", include_in_schema=False)
    async def ready() -> JSONResponse:
        """Questions are answered; 503 while it starts and while it ends."""
        return JSONResponse({"ready": desk.ready}, status_code=200 if desk.ready else 503)

    @app.get("/metrics", include_in_schema=False)
    async def measured() -> Response:
        """For Prometheus."""
        return metrics(ready=desk.ready)

    routes.mount(app, desk)
    handlers(app)
    app.add_middleware(Guard, desk=desk, sessions=sessions, inline=editor.allowed())
    return app
