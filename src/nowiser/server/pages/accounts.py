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
from nowiser.server.people.office import Office
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
    subject: Word = "",
) -> Response:
    """One change, said on the page that follows. What went wrong is said there too."""
    told = {"role": role, "per_day": per_day, "label": label.strip() or "from the pages", "token": token}
    told |= {"subject": subject.strip()}
    try:
        said, text = await desk.quickly(_done, desk.office(account), what, name.strip(), **told)
    except NowiserError as error:
        return await _page(request, desk, account, failed=error)
    return await _page(request, desk, account, said=said, token=text, whose=name.strip())


def _done(
    office: Office, what: str, name: str, *, role: str, per_day: str, label: str, token: str, subject: str
) -> tuple[str, str]:
    """What was done, and the text of a new token."""
    match what:
        case "add":
            text = office.add(name, role_of(role), per_day=_share(per_day), label=label)
            return f"{name} can log in now, as {role}.", text
        case "token":
            return f"A new token for {name}.", office.add_token(name, label)
        case "drop token":
            office.drop_token(name, token)
            return f"The token {token} of {name} opens nothing any more.", ""
        case "change":
            office.change(name, role=role_of(role), per_day=_share(per_day))
            return f"{name} is changed.", ""
        case "sign-on":
            office.change(name, subject=subject)
            return f"{name} {'can' if subject else 'cannot'} log in by single sign-on.", ""
        case "off" | "on":
            office.change(name, disabled=what == "off")
            return f"{name} is switched {what}.", ""
        case "drop":
            office.drop(name)
            return f"{name} cannot log in any more. What was charged stays charged.", ""
    raise Misconfigured("There is no such change of an account.")


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
