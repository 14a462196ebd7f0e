"""Accounts and tokens. Every change is an entry of the chain. A token is shown once, when it is made."""

from fractions import Fraction
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field

from nowiser.server.http.api.who import Anybody, Body, Custodian, Overseer, TheDesk
from nowiser.server.people.account import PER_DAY, Account, Role
from nowiser.sql.plan import precision

router = APIRouter(prefix="/accounts", tags=["accounts"])

Label = Annotated[str, Field(max_length=60, description="What the token is for")]
PerDay = Annotated[str, Field(max_length=20, description="Share of the allowance it may use in a day, such as `5%`")]


class NewAccount(Body):
    """An account to be made."""

    name: Annotated[str, Field(max_length=63)]
    role: Role = Role.analyst
    per_day: PerDay | None = None
    label: Label = "first"


class Change(Body):
    """What is to be changed; the rest stays."""

    role: Role | None = None
    per_day: PerDay | None = None
    disabled: bool | None = None
    subject: Annotated[str | None, Field(max_length=500, description="Of single sign-on; empty: none")] = None


class NewToken(Body):
    """A token to be made."""

    label: Label


class NewPassword(Body):
    """One's own password."""

    old: Annotated[str, Field(max_length=512, description="The password so far, or a token")]
    new: Annotated[str, Field(max_length=512)]


@router.get("")
async def every(desk: TheDesk, _: Overseer) -> dict[str, Any]:
    """All accounts. No secret and no verifier is in it."""
    return {"accounts": [told(a) for a in await desk.quickly(desk.register.every)]}


@router.post("", status_code=201)
async def add(desk: TheDesk, by: Custodian, new: NewAccount) -> dict[str, Any]:
    """Make an account with one token, which is shown in this answer and never again."""
    share = PER_DAY if new.per_day is None else share_of(new.per_day)
    work = partial(desk.office(by).add, new.name, new.role, per_day=share, label=new.label)
    return {"name": new.name, "role": new.role.value, "token": await desk.quickly(work)}


@router.patch("/{name}")
async def change(desk: TheDesk, by: Custodian, name: str, new: Change) -> dict[str, Any]:
    """Change an account. Switching it off ends its sessions and connections at once."""
    given: dict[str, Any] = new.model_dump() | {"per_day": None if new.per_day is None else share_of(new.per_day)}
    await desk.quickly(partial(desk.office(by).change, name, **given))
    return next(told(a) for a in await desk.quickly(desk.register.every) if a.name == name)


@router.delete("/{name}", status_code=204)
async def drop(desk: TheDesk, by: Custodian, name: str) -> None:
    """Drop an account. What was charged stays charged."""
    await desk.quickly(desk.office(by).drop, name)


@router.post("/{name}/tokens", status_code=201)
async def add_token(desk: TheDesk, by: Anybody, name: str, new: NewToken) -> dict[str, Any]:
    """Make a token for oneself, or as a custodian for somebody; it is shown in this answer and never again."""
    return {"name": name, "token": await desk.quickly(desk.office(by).add_token, name, new.label)}


@router.delete("/{name}/tokens/{token}", status_code=204)
async def drop_token(desk: TheDesk, by: Anybody, name: str, token: str) -> None:
    """Drop a token by its id or label; sessions it opened end."""
    await desk.quickly(desk.office(by).drop_token, name, token)


@router.put("/{name}/password", status_code=204)
async def set_password(desk: TheDesk, by: Anybody, name: str, new: NewPassword) -> None:
    """Set one's own password for the pages. Nobody else can; `nowiser user password` sets a forgotten one."""
    await desk.quickly(desk.office(by).set_password, name, new.old, new.new)


def told(account: Account) -> dict[str, Any]:
    """An account for those who oversee."""
    return {
        "name": account.name,
        "role": account.role.value,
        "per_day": float(account.per_day),
        "disabled": account.disabled,
        "password": account.password is not None,
        "subject": account.subject,
        "tokens": [{"id": t.id, "label": t.label, "made": t.made} for t in account.tokens],
    }


def share_of(text: str) -> Fraction:
    """`5%` as a fraction."""
    return precision.number(f"{text.strip().removesuffix('%')}%", "per_day")
