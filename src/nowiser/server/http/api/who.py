"""Who sent a request, and whether that account may do it."""

from typing import Annotated

from fastapi import Depends
from pydantic import BaseModel, ConfigDict
from starlette.requests import Request

from nowiser.errors import NotAuthorised
from nowiser.server.desk import Desk
from nowiser.server.http.sessions import current
from nowiser.server.people.account import Account, Role
from nowiser.server.problems import LoggedOut


class Body(BaseModel):
    """What is sent: known keys only."""

    model_config = ConfigDict(extra="forbid")


def _desk(request: Request) -> Desk:
    found: Desk = request.app.state.desk
    return found


def _anybody(request: Request) -> Account:
    account = current(request)
    if account is None:
        raise LoggedOut
    return account


def _overseer(request: Request) -> Account:
    account = _anybody(request)
    if not account.role.sees_all:
        raise NotAuthorised("Only custodians and auditors see this.")
    return account


def _custodian(request: Request) -> Account:
    account = _anybody(request)
    if account.role is not Role.custodian:
        raise NotAuthorised("Only a custodian may do this.")
    return account


TheDesk = Annotated[Desk, Depends(_desk)]
Anybody = Annotated[Account, Depends(_anybody)]
Overseer = Annotated[Account, Depends(_overseer)]  # a custodian or an auditor
Custodian = Annotated[Account, Depends(_custodian)]
