"""Logging in and out; what to do where nobody can log in yet."""

from typing import Annotated, Any

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from nowiser.errors import NowiserError
from nowiser.server.http import login
from nowiser.server.http.sessions import current, forget, remember
from nowiser.server.pages import ask, drawing
from nowiser.server.pages.access import TheDesk
from nowiser.server.problems import problem_of

router = APIRouter()


@router.get("/login")
async def form(request: Request, desk: TheDesk) -> Response:
    if current(request) is not None:
        return RedirectResponse("/", 303)
    empty = not await desk.quickly(desk.register.every)
    return drawing.page(request, "login.html", wrong=None, following="", draft="", empty=empty)


@router.post("/login")
async def enter(
    request: Request,
    desk: TheDesk,
    *,
    name: Annotated[str, Form(max_length=100)] = "",
    secret: Annotated[str, Form(max_length=1000)] = "",
    following: Annotated[str, Form(max_length=200)] = "",
    draft: Annotated[str, Form(max_length=100_000)] = "",
) -> Response:
    """To the page that was wanted; with a question that was being written, to that question."""
    try:
        text, session, account = await login.log_in(request, name.strip().lower(), secret.strip())
    except NowiserError as error:
        asked: dict[str, Any] = {"following": following, "draft": draft, "empty": False}
        status = problem_of(error).status
        return drawing.page(request, "login.html", status=status, wrong=drawing.failed(error), **asked)
    if draft and account.role.asks:
        answer: Response = await ask.shown(request, desk, account, ask.Asked(draft), csrf=session.csrf)
    else:
        answer = RedirectResponse(following if ours(following) else "/", 303)
    remember(request, answer, text)
    return answer


@router.post("/logout")
async def leave(request: Request) -> Response:
    answer = RedirectResponse("/login", 303)
    forget(request, answer)
    return answer


def ours(path: str) -> bool:
    r"""Whether it is a page of ours: `//elsewhere` and `/\elsewhere` lead away."""
    return path.startswith("/") and path[1:2] not in ("/", "\\") and path.isascii() and path.isprintable()
