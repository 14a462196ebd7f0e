"""The application: every route of the API and the pages, on one desk."""

import asyncio

from fastapi import FastAPI
from starlette.responses import JSONResponse, Response

from nowiser import __version__
from nowiser.server.desk import Desk
from nowiser.server.http import login
from nowiser.server.http.api import asking, board, people
from nowiser.server.http.failed import handlers
from nowiser.server.http.guard import Guard
from nowiser.server.http.metrics import metrics
from nowiser.server.http.sessions import Sessions

API = "/api/v1"


def application(desk: Desk) -> FastAPI:
    app = FastAPI(
        title="nowiser", version=__version__, docs_url=None, redoc_url=None, openapi_url=f"{API}/openapi.json"
    )
    app.state.desk = desk
    app.state.sessions = sessions = Sessions()
    app.state.log_ins = asyncio.Semaphore(login.AT_ONCE)

    @app.get("/healthz", tags=["machines"])
    async def alive() -> dict[str, bool]:
        """The process runs."""
        return {"alive": True}

    @app.get("/readyz", tags=["machines"])
    async def ready() -> JSONResponse:
        """Questions are answered; 503 while it starts and while it ends."""
        return JSONResponse({"ready": desk.ready}, status_code=200 if desk.ready else 503)

    @app.get("/metrics", tags=["machines"], response_class=Response)
    async def measured() -> Response:
        """For Prometheus."""
        return metrics(ready=desk.ready)

    for part in (login, asking, board, people):
        app.include_router(part.router, prefix=API)
    handlers(app)
    app.add_middleware(Guard, desk=desk, sessions=sessions)
    return app
