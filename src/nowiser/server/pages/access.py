"""Who may open a page."""

from typing import Annotated

from fastapi import Depends
from starlette.requests import Request

from nowiser.errors import NotAuthorised
from nowiser.server.desk import Desk
from nowiser.server.http.sessions import current
from nowiser.server.people.account import Account, Role
from nowiser.server.problems import LoggedOut


def _desk(request: Request) -> Desk:
    found: Desk = request.app.state.desk
    return found


def _anybody(request: Request) -> Account:
    account = current(request)
    if account is None:
        raise LoggedOut
    return account


def _sees_all(request: Request) -> Account:
    account = _anybody(request)
    if not account.role.sees_all:
        raise NotAuthorised("This page is for custodians and auditors.", hint="Your own questions are under Ask.")
    return account


def _custodian(request: Request) -> Account:
    account = _anybody(request)
    if account.role is not Role.custodian:
        raise NotAuthorised("Only a custodian may do this.", hint="Ask one of them, or log in as one.")
    return account


TheDesk = Annotated[Desk, Depends(_desk)]
Anybody = Annotated[Account, Depends(_anybody)]
SeesAll = Annotated[Account, Depends(_sees_all)]
Custodian = Annotated[Account, Depends(_custodian)]
