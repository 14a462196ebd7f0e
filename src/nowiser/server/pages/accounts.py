"""Accounts: who may log in, as what; a token is shown once, on the page that made it."""

from fractions import Fraction
from typing import Annotated

from fastapi import APIRouter, Form
from starlette.requests import Request
from starlette.responses import Response

from nowiser.errors import Misconfigured, NowiserError
from nowiser.server.desk import Desk
from nowiser.server.pages import drawing
from nowiser.server.pages.access import Custodian, SeesAll, TheDesk
from nowiser.server.people.account import Account, Role, role_of
from nowiser.server.problems import problem_of

router = APIRouter()
Name = Annotated[str, Form(max_length=100)]
Word = Annotated[str, Form(max_length=200)]


@router.get("/accounts")
async def accounts(request: Request, desk: TheDesk, account: SeesAll) -> Response:
    return await _page(request, desk, account)


@router.post("/accounts")
async def change(
    request: Request,
    desk: TheDesk,
    account: Custodian,
    *,
    what: Word,
    name: Name,
    role: Word = "",
    per_day: Word = "",
    label: Word = "",
    token: Word = "",
    password: Annotated[str, Form(max_length=1000)] = "",
) -> Response:
    """One change, said on the page that follows. What went wrong is said there too."""
    told = {"role": role, "per_day": per_day, "label": label.strip() or "from the pages", "token": token}
    try:
        said, text = await desk.quickly(_done, desk, account.name, what, name.strip(), password, **told)
    except NowiserError as error:
        return await _page(request, desk, account, failed=error)
    return await _page(request, desk, account, said=said, token=text, whose=name.strip())


def _done(
    desk: Desk, by: str, what: str, name: str, password: str, *, role: str, per_day: str, label: str, token: str
) -> tuple[str, str]:
    """What was done, and the text of a new token."""
    register = desk.register
    match what:
        case "add":
            text = register.add(name, role_of(role), by=by, per_day=_share(per_day), label=label)
            return f"{name} can log in now, as {role}.", text
        case "token":
            return f"A new token for {name}.", register.add_token(name, label, by=by)
        case "drop token":
            register.drop_token(name, token, by=by)
            return f"The token {token} of {name} opens nothing any more.", ""
        case "password":
            register.set_password(name, password, by=by)
            return f"{name} can log in to these pages with the new password.", ""
        case "change":
            _not_oneself(by, name, role != Role.custodian)
            register.change(name, by=by, role=role_of(role), per_day=_share(per_day))
            return f"{name} is changed.", ""
        case "off" | "on":
            _not_oneself(by, name, what == "off")
            register.change(name, by=by, disabled=what == "off")
            return f"{name} is switched {what}.", ""
        case "drop":
            _not_oneself(by, name, harms=True)
            register.drop(name, by=by)
            return f"{name} cannot log in any more. What was charged stays charged.", ""
    raise Misconfigured("There is no such change of an account.")


def _not_oneself(by: str, name: str, harms: bool) -> None:
    if harms and by == name:
        raise Misconfigured(
            "You would lock yourself out.", hint="Another custodian can do it, or `nowiser user` on the server."
        )


def _share(text: str) -> Fraction:
    try:
        return Fraction(text.strip().removesuffix("%").strip()) / 100
    except (ValueError, ZeroDivisionError):
        raise Misconfigured("The share per day is a percentage.", hint="For example 5 %.") from None


async def _page(
    request: Request,
    desk: Desk,
    account: Account,
    *,
    failed: NowiserError | None = None,
    said: str = "",
    token: str = "",
    whose: str = "",
) -> Response:
    every = await desk.quickly(desk.register.every)
    return drawing.page(
        request,
        "accounts.html",
        status=200 if failed is None else problem_of(failed).status,
        every=sorted(every, key=lambda a: a.name),
        roles=list(Role),
        changes=account.role is Role.custodian,
        failed=None if failed is None else drawing.failed(failed),
        said=said,
        token=token,
        whose=whose,
    )
