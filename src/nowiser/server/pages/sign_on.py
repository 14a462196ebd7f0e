"""Single sign-on: to the provider and back, into the account whose subject it names. No account is made by itself."""

import asyncio
import hmac
import secrets
from typing import Annotated, Any
from urllib.parse import quote, unquote

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from nowiser.errors import NotAuthorised, NowiserError
from nowiser.server.http.metrics import LOG_INS
from nowiser.server.http.provider import Provider, made_of
from nowiser.server.http.sessions import cookie_name, remember
from nowiser.server.pages import drawing
from nowiser.server.pages.access import TheDesk
from nowiser.server.pages.log_in import ours
from nowiser.server.problems import LoginFailed, NotFound, TooMany, problem_of

router = APIRouter()
HERE, BACK = "/sign-on", "/sign-on/back"
MINUTES = 10
Word = Annotated[str, Query(max_length=4000)]


@router.get(HERE)
async def leave(request: Request, following: Word = "") -> Response:
    """To the provider. The cookie is what she comes back with: it has to come along from another site."""
    provider = _provider(request)
    text = secrets.token_urlsafe(32)
    try:
        there = await asyncio.to_thread(provider.address, text, _back(request))
    except NowiserError as error:
        return _again(request, error)
    answer = RedirectResponse(there, 303)
    kept = f"{text}.{quote(following if ours(following) else '/', safe='')}"
    safe = request.url.scheme == "https"
    answer.set_cookie(
        _cookie(request), kept, max_age=60 * MINUTES, path="/", secure=safe, httponly=True, samesite="lax"
    )
    return answer


@router.get(BACK)
async def come_back(request: Request, desk: TheDesk, code: Word = "", state: Word = "", error: Word = "") -> Response:
    """From the provider: a session, and a page that leads on: browsers send Strict cookies to pages of ours only."""
    provider, address = _provider(request), request.client.host if request.client is not None else ""
    text, _, following = request.cookies.get(_cookie(request), "").partition(".")
    try:
        if desk.attempts.waits(HERE, address) > 0:
            raise TooMany("Too many log-ins failed. Try again in some minutes.")
        if not text or not hmac.compare_digest(state.encode(), made_of(text, "state").encode()):
            raise NotAuthorised("This log-in was not begun in this browser, or too long ago.", hint="Begin again.")
        if error or not code:
            raise NotAuthorised("The provider of single sign-on did not let you in.", hint="Begin again.")
        turns: asyncio.Semaphore = request.app.state.sign_ons
        if turns.locked():
            raise TooMany("Too many people are logging in just now.", hint="Try again in a moment.")
        async with turns:
            subject = await asyncio.to_thread(provider.subject, text, code, _back(request))
        account = await desk.quickly(desk.register.of_subject, subject)
        if account is None:
            raise NotAuthorised(
                "Nobody here has this identity.", hint=f"Tell a custodian, who enters it under Accounts: {subject}"
            )
    except NowiserError as failure:
        if isinstance(failure, LoginFailed):
            desk.attempts.failed(HERE, address)
        LOG_INS.labels("failed").inc()
        return _again(request, failure)
    LOG_INS.labels("opened").inc()
    opened, session = request.app.state.sessions.begin(account, f"subject {subject}")
    answer = drawing.page(
        request, "signed_on.html", account=account, csrf=session.csrf, following=_following(following)
    )
    remember(request, answer, opened)
    _forget(request, answer)
    return answer


def _following(said: str) -> str:
    path = unquote(said)
    return path if ours(path) else "/"


def _provider(request: Request) -> Provider:
    found: Provider | None = request.app.state.provider
    if found is None:
        raise NotFound("There is no single sign-on here.", hint="Log in with a password or a token.")
    return found


def _again(request: Request, error: NowiserError) -> Response:
    asked: dict[str, Any] = {"following": "", "draft": "", "empty": False, "wrong": drawing.failed(error)}
    answer = drawing.page(request, "login.html", status=problem_of(error).status, **asked)
    _forget(request, answer)
    return answer


def _back(request: Request) -> str:
    return f"{request.url.scheme}://{request.url.netloc}{BACK}"


def _cookie(request: Request) -> str:
    return f"{cookie_name(request)}-sign-on"


def _forget(request: Request, answer: Response) -> None:
    safe = request.url.scheme == "https"
    answer.delete_cookie(_cookie(request), path="/", secure=safe, httponly=True, samesite="lax")
