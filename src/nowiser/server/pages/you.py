"""One's own account: its tokens and its password. Everybody who can log in has this page."""

from typing import Annotated

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import Response

from nowiser.errors import Misconfigured, NowiserError
from nowiser.server.desk import Desk
from nowiser.server.http.sessions import remember, secrets_of
from nowiser.server.pages import drawing
from nowiser.server.pages.access import Anybody, TheDesk
from nowiser.server.people.account import Account
from nowiser.server.people.office import Office
from nowiser.server.problems import TooMany, problem_of

router = APIRouter()
Word = Annotated[str, Form(max_length=600)]


@router.get("/you")
async def you(request: Request, desk: TheDesk, account: Anybody) -> Response:
    return await _page(request, desk, account)


@router.post("/you")
async def change(
    request: Request,
    desk: TheDesk,
    account: Anybody,
    *,
    what: Word,
    label: Word = "",
    token: Word = "",
    old: Word = "",
    new: Word = "",
) -> Response:
    address = request.client.host if request.client is not None else ""
    try:
        if what == "password" and desk.attempts.waits(account.name, address) > 0:
            raise TooMany("Too many passwords were wrong. Try again in some minutes.")
        office = desk.office(account)
        said, text = await desk.quickly(_done, office, what, label=label.strip(), token=token, old=old, new=new)
    except NowiserError as error:
        if problem_of(error).status == 401:
            desk.attempts.failed(account.name, address)
        return await _page(request, desk, account, failed=error)
    now = await desk.quickly(desk.register.find, account.name) or account
    answer = await _page(request, desk, now, said=said, token=text)
    if what == "password":  # which ended this session, if the old one had opened it
        which = next(s for s in secrets_of(now) if s.startswith("password "))
        cookie, session = request.app.state.sessions.begin(now, which)
        answer = await _page(request, desk, now, said=said, csrf=session.csrf)
        remember(request, answer, cookie)
    return answer


def _done(office: Office, what: str, *, label: str, token: str, old: str, new: str) -> tuple[str, str]:
    name = office.by.name
    match what:
        case "token":
            return "", office.add_token(name, (label or "from the pages")[:60])
        case "drop token":
            office.drop_token(name, token)
            return "The token opens nothing any more.", ""
        case "password":
            office.set_password(name, old, new)
            return "The new password is set.", ""
    raise Misconfigured("There is no such change of an account.")


async def _page(
    request: Request,
    desk: Desk,
    account: Account,
    *,
    failed: NowiserError | None = None,
    said: str = "",
    token: str = "",
    csrf: str | None = None,
) -> Response:
    today = await desk.quickly(desk.seat(account).left_today)
    return drawing.page(
        request,
        "you.html",
        status=200 if failed is None else problem_of(failed).status,
        account=account,
        csrf=csrf,
        today=float(today),
        failed=None if failed is None else drawing.failed(failed),
        said=said,
        token=token,
    )
