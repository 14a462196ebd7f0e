"""The application: every route of the API and the pages, on one desk."""

from fastapi import FastAPI
from fastapi.responses import JSONResponse

from nowiser import __version__
from nowiser.server.desk import Desk


def application(desk: Desk) -> FastAPI:
    app = FastAPI(title="nowiser", version=__version__, docs_url=None, redoc_url=None)

    @app.get("/healthz")
    def alive() -> dict[str, bool]:
        """The process runs."""
        return {"alive": True}

    @app.get("/readyz")
    def ready() -> JSONResponse:
        """Questions are answered; 503 while it starts and while it ends."""
        return JSONResponse({"ready": desk.ready}, status_code=200 if desk.ready else 503)

    return app
