"""Failures as `application/problem+json` (RFC 9457), with the kinds of every other surface; pages draw theirs."""

import logging
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from nowiser.errors import Misconfigured, NowiserError
from nowiser.server.problems import NOT_ALLOWED, NotFound, Problem, problem_of

PROBLEM = "application/problem+json"
log = logging.getLogger("nowiser.server")


def failed(request: Request, error: NowiserError, problem: Problem | None = None) -> Response:
    """What is answered where `error` was raised: a page where pages are wanted and there are any."""
    problem = problem or problem_of(error)
    about = {"about": {"kind": problem.kind, "status": problem.status}}
    log.log(logging.ERROR if problem.status >= 500 else logging.INFO, "not answered", extra=about)
    page = getattr(request.app.state, "error_page", None) if "app" in request.scope else None
    wants_page = "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/api/")
    if page is not None and wants_page:
        drawn: Response = page(request, problem, error)
        return drawn
    headers = {"www-authenticate": 'Bearer realm="nowiser"'} if problem.status == 401 else None
    return JSONResponse(told(error, problem), status_code=problem.status, media_type=PROBLEM, headers=headers)


def told(error: NowiserError, problem: Problem) -> dict[str, Any]:
    """A problem in words for machines: what `--json` prints of an error, under the names of RFC 9457."""
    found = error.to_json()
    message = found.pop("message")
    return {
        "type": f"urn:nowiser:problem:{problem.kind.replace(' ', '-')}",
        "title": problem.title,
        "status": problem.status,
        "detail": message,
        **found,
        "kind": problem.kind,
    }


def handlers(app: FastAPI) -> None:
    """Whatever is raised becomes a problem; what is no exception of ours is caught by the guard."""

    async def ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, NowiserError)
        return failed(request, error)

    async def invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        return failed(request, Misconfigured(_said(error)))

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == 404:
            return failed(request, NotFound("There is nothing under this address.", hint="docs/reference/http.md"))
        if error.status_code == 405:
            return failed(request, Misconfigured("This address does not take that method."), NOT_ALLOWED)
        return failed(request, Misconfigured("The request cannot be read."))

    app.add_exception_handler(NowiserError, ours)
    app.add_exception_handler(RequestValidationError, invalid)
    app.add_exception_handler(HTTPException, http)


def _said(error: RequestValidationError) -> str:
    """Which field is wrong and why; never what it held."""
    lines = []
    for one in error.errors()[:5]:
        where = ".".join(str(part) for part in one["loc"] if part not in ("body", "query", "path"))
        lines.append(f"{where or 'The body'}: {one['msg']}.")
    return " ".join(lines)
