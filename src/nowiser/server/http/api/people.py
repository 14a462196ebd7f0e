"""Accounts and tokens. Every change is an entry of the chain. A token is shown once, when it is made."""

from fractions import Fraction
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter
from pydantic import Field

from nowiser.errors import NotAuthorised
from nowiser.server.desk import Desk
from nowiser.server.http.api.who import Anybody, Body, Custodian, Overseer, TheDesk
from nowiser.server.people.account import PER_DAY, Account, Role
from nowiser.server.people.register import Register
from nowiser.server.problems import LoginFailed, NotFound
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
    _two_pairs_of_eyes(desk, new.role)
    share = PER_DAY if new.per_day is None else share_of(new.per_day)
    work = partial(desk.register.add, new.name, new.role, by=by.name, per_day=share, label=new.label)
    return {"name": new.name, "role": new.role.value, "token": await desk.quickly(work)}


@router.patch("/{name}")
async def change(desk: TheDesk, by: Custodian, name: str, new: Change) -> dict[str, Any]:
    """Change an account. Switching it off ends its sessions and connections at once."""
    _not_oneself(by, name, new.role is not None or new.disabled is not None)
    _two_pairs_of_eyes(desk, new.role, await _role(desk, name) if new.subject is not None else None)
    share = None if new.per_day is None else share_of(new.per_day)
    await desk.quickly(
        partial(
            desk.register.change,
            name,
            by=by.name,
            role=new.role,
            per_day=share,
            disabled=new.disabled,
            subject=new.subject,
        )
    )
    return await _shown(desk, name)


@router.delete("/{name}", status_code=204)
async def drop(desk: TheDesk, by: Custodian, name: str) -> None:
    """Drop an account. What was charged stays charged."""
    _not_oneself(by, name, wrong=True)
    await desk.quickly(partial(desk.register.drop, name, by=by.name))


@router.post("/{name}/tokens", status_code=201)
async def add_token(desk: TheDesk, by: Anybody, name: str, new: NewToken) -> dict[str, Any]:
    """Make a token for oneself, or as a custodian for somebody; it is shown in this answer and never again."""
    _own_or_custodian(by, name)
    if by.name != name:
        _two_pairs_of_eyes(desk, await _role(desk, name))
    return {"name": name, "token": await desk.quickly(partial(desk.register.add_token, name, new.label, by=by.name))}


@router.delete("/{name}/tokens/{token}", status_code=204)
async def drop_token(desk: TheDesk, by: Anybody, name: str, token: str) -> None:
    """Drop a token by its id or label; sessions it opened end."""
    _own_or_custodian(by, name)
    await desk.quickly(partial(desk.register.drop_token, name, token, by=by.name))


@router.put("/{name}/password", status_code=204)
async def set_password(desk: TheDesk, by: Anybody, name: str, new: NewPassword) -> None:
    """Set one's own password for the pages. Nobody else can; `nowiser user password` sets a forgotten one."""
    if by.name != name:
        raise NotAuthorised("Everybody sets the own password.", hint="A forgotten one: nowiser user password.")
    await desk.quickly(_set, desk.register, name, new)


def _set(register: Register, name: str, new: NewPassword) -> None:
    if register.of_password(name, new.old) is None and register.of_token(new.old, name) is None:
        raise LoginFailed
    register.set_password(name, new.new, by=name)


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


async def _shown(desk: Desk, name: str) -> dict[str, Any]:
    return next(told(a) for a in await desk.quickly(desk.register.every) if a.name == name)


async def _role(desk: Desk, name: str) -> Role:
    found = next((a.role for a in await desk.quickly(desk.register.every) if a.name == name), None)
    if found is None:
        raise NotFound(f"There is no account {name}.")
    return found


def _own_or_custodian(by: Account, name: str) -> None:
    if by.name != name and by.role is not Role.custodian:
        raise NotAuthorised("Only a custodian changes other accounts.")


def _not_oneself(by: Account, name: str, wrong: bool) -> None:
    if wrong and by.name == name:
        raise NotAuthorised(
            "Nobody changes the own role, switches the own account off or drops it.",
            hint="Ask another custodian, or use `nowiser user` on the server.",
        )


def _two_pairs_of_eyes(desk: Desk, *roles: Role | None) -> None:
    """Who could make a custodian, or log in as one, would have two pairs of eyes alone."""
    if desk.settings.four_eyes and Role.custodian in roles:
        raise NotAuthorised(
            "Changes of promises need two custodians here, so no custodian makes another.",
            hint="Use `nowiser user` on the server.",
        )
