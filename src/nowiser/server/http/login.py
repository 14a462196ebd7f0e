"""Logging in with a name and a password, or with a name and one of its tokens; logging out.

A wrong secret and an unknown name get the same words, and both are told on the same grid of times.
"""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Body
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from nowiser.server.desk import Desk
from nowiser.server.http.metrics import LOG_INS
from nowiser.server.http.sessions import Session, csrf_token, current, forget, remember, secrets_of
from nowiser.server.people import passwords, tokens
from nowiser.server.people.account import Account
from nowiser.server.people.register import Register
from nowiser.server.problems import LoggedOut, LoginFailed, TooMany

SLOT = 0.25  # seconds: a failure is told then, or after 0.5, 0.75, …
AT_ONCE = 8  # log-ins looked at; each takes 19 MiB of memory


async def log_in(request: Request, name: str, secret: str) -> tuple[str, Session, Account]:
    """A new session: the text of its cookie (for `sessions.remember`), itself, and whose it is.

    Raises LoginFailed, and TooMany after ten failures of this name from this address.
    """
    desk: Desk = request.app.state.desk
    address = request.client.host if request.client is not None else ""
    loop = asyncio.get_running_loop()
    arrived = loop.time()
    if (wait := desk.attempts.waits(name, address)) > 0:
        LOG_INS.labels("held back").inc()
        raise TooMany(f"Too many log-ins failed. Try again in {1 + wait // 60:.0f} minutes.")
    turns: asyncio.Semaphore = request.app.state.log_ins
    if turns.locked():
        raise TooMany("Too many people are logging in just now.", hint="Try again in a moment.")
    async with turns:
        found = await desk.at_the_door(_opened, desk.register, name, secret)
    if found is None:
        desk.attempts.failed(name, address)
        LOG_INS.labels("failed").inc()
        await asyncio.sleep(SLOT - (loop.time() - arrived) % SLOT)
        raise LoginFailed
    desk.attempts.succeeded(name, address)
    LOG_INS.labels("opened").inc()
    account, which = found
    text, session = request.app.state.sessions.begin(account, which)
    return text, session, account


def _opened(register: Register, name: str, secret: str) -> tuple[Account, str] | None:
    """The account, and which of its secrets it was. As much is computed for every pair of texts."""
    account = register.find(name)
    by_password = register.of_password(name, secret)
    wanted = tokens.digest(secret)
    token = next((t for t in account.tokens if passwords.same(t.digest, wanted)), None) if account else None
    if account is not None and token is not None:
        return account, f"token {token.id}"
    if account is not None and by_password is not None and account.password is not None:
        return account, next(s for s in secrets_of(account) if s.startswith("password "))
    return None


class LogIn(BaseModel):
    """Who logs in."""

    model_config = ConfigDict(extra="forbid")
    name: Annotated[str, Field(max_length=63)]
    password: Annotated[str, Field(max_length=512, description="The password, or a token of the account")]


router = APIRouter(tags=["log-in"])


@router.post("/session")
async def begin(request: Request, who: Annotated[LogIn, Body()]) -> Response:
    """Log in: sets a cookie. Programs need no session: they send their token with every request."""
    text, session, account = await log_in(request, who.name, who.password)
    response = JSONResponse({"name": account.name, "role": account.role.value, "csrf": session.csrf})
    remember(request, response, text)
    return response


@router.get("/session")
async def whoami(request: Request) -> dict[str, str]:
    """Who I am."""
    account = current(request)
    if account is None:
        raise LoggedOut
    return {"name": account.name, "role": account.role.value, "csrf": csrf_token(request)}


@router.delete("/session")
async def end(request: Request) -> Response:
    """Log out."""
    response = Response(status_code=204)
    forget(request, response)
    return response
