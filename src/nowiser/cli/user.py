"""`nowiser user`: who may log in to `nowiser serve`, as what, with which tokens."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nowiser.cli import output
from nowiser.errors import Misconfigured
from nowiser.percent import percent

if TYPE_CHECKING:
    from nowiser.server.people.account import Account
    from nowiser.server.people.register import Register


class What(StrEnum):
    list = "list"
    add = "add"
    change = "change"
    token = "token"  # noqa: S105 (a word of the command line)
    password = "password"  # noqa: S105 (ditto)
    drop = "drop"


def user(
    what: Annotated[
        What,
        typer.Argument(help="List accounts; add or change one; make or drop its token; set its password; drop it."),
    ] = What.list,
    name: Annotated[str | None, typer.Argument(help="The account.")] = None,
    *,
    policy_file: Annotated[Path, typer.Option("-p", "--policy", envvar="NOWISER_POLICY", help="The policy.")] = Path(
        "nowiser.yaml"
    ),
    role: Annotated[str | None, typer.Option("--role", help="analyst, custodian or auditor.")] = None,
    per_day: Annotated[
        str | None, typer.Option("--per-day", help="Share of the allowance it may use in a day, such as 5%.")
    ] = None,
    label: Annotated[str, typer.Option("--label", help="What a token is for.")] = "first",
    drop_token: Annotated[str | None, typer.Option("--drop", help="With token: the one to drop.")] = None,
    off: Annotated[bool, typer.Option("--off", help="With change: switch the account off.")] = False,
    on: Annotated[bool, typer.Option("--on", help="With change: switch it on again.")] = False,
    subject: Annotated[
        str | None, typer.Option("--subject", help="With change: issuer and subject of single sign-on.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Who may log in to `nowiser serve`. A token is shown once: when it is made.

    Example: nowiser user add ana --role analyst --per-day 5%
    """
    from nowiser.ledger import for_policy
    from nowiser.policy import read

    policy = read(policy_file)
    with for_policy(policy) as kept:
        kept.declare(policy)
        register = _register(kept)
        if what is What.list:
            _list(register, as_json=as_json)
            return
        if name is None:
            raise Misconfigured(f"`nowiser user {what.value}` needs the name of an account.")
        said = _done(register, what, name, role, per_day, label, drop_token, off=off, on=on, subject=subject)
    if as_json:
        output.emit({"account": name, **said})
        return
    typer.echo(said["said"])
    if "token" in said:
        typer.echo(f"\n    {said['token']}\n")
        typer.echo("It is shown this once. It is the password for psql, and the bearer token for HTTP.")


def _register(kept: Any) -> "Register":
    try:
        from nowiser.server.people.register import Register
    except ImportError:
        raise Misconfigured(
            "Accounts are part of the server, which is not installed.",
            hint="Install it: pip install 'nowiser[server]'.",
        ) from None
    return Register(kept)


def _done(  # noqa: PLR0917 (the options of the command)
    register: "Register",
    what: What,
    name: str,
    role: str | None,
    per_day: str | None,
    label: str,
    drop_token: str | None,
    *,
    off: bool,
    on: bool,
    subject: str | None,
) -> dict[str, Any]:
    from nowiser.server.people.account import PER_DAY, Role, role_of

    by = "command line"
    share = None if per_day is None else _share(per_day)
    if what is What.add:
        chosen = role_of(role) if role is not None else Role.analyst
        token = register.add(name, chosen, by=by, per_day=share if share is not None else PER_DAY, label=label)
        return {"said": f"{name} is {_a(chosen.value)} now. Token:", "token": token, "role": chosen.value}
    if what is What.token and drop_token is None:
        return {"said": f"A token for {name}:", "token": register.add_token(name, label, by=by)}
    if what is What.token:
        assert drop_token is not None
        register.drop_token(name, drop_token, by=by)
        return {"said": f"The token {drop_token} of {name} is dropped."}
    if what is What.password:
        register.set_password(name, typer.prompt("Password", hide_input=True, confirmation_prompt=True), by=by)
        return {"said": f"{name} can log in to the pages with it."}
    if what is What.drop:
        register.drop(name, by=by)
        return {"said": f"{name} cannot log in any more. What was charged stays charged."}
    if off and on:
        raise Misconfigured("--on and --off exclude one another.")
    if role is None and share is None and subject is None and not (off or on):
        raise Misconfigured("Nothing to change.", hint="Give --role, --per-day, --subject, --on or --off.")
    register.change(
        name,
        by=by,
        role=role_of(role) if role is not None else None,
        per_day=share,
        disabled=True if off else False if on else None,
        subject=subject,
    )
    return {"said": f"{name} is changed."}


def _a(role: str) -> str:
    return f"an {role}" if role[0] == "a" else f"a {role}"


def _share(text: str) -> Any:
    from fractions import Fraction

    try:
        return Fraction(text.strip().removesuffix("%")) / 100
    except (ValueError, ZeroDivisionError):
        raise Misconfigured(f"--per-day is a percentage, not {text!r}.", hint="For example --per-day 5%.") from None


def _list(register: "Register", *, as_json: bool) -> None:
    every = register.every()
    if as_json:
        output.emit({"accounts": [_told(a) for a in every]})
        return
    if not every:
        typer.echo("There are no accounts yet. Make one: nowiser user add ana --role analyst")
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(show_edge=False, pad_edge=False)
    for title in ("account", "role", "per day", "tokens", "pages", ""):
        table.add_column(title, overflow="fold")
    for a in every:
        named = ", ".join(f"{t.id} ({t.label}, {t.made[:10]})" for t in a.tokens)
        state = "switched off" if a.disabled else ""
        table.add_row(
            a.name, a.role.value, percent(float(a.per_day)), escape(named), "password" if a.password else "–", state
        )
    Console(highlight=False).print(table)


def _told(a: "Account") -> dict[str, Any]:
    return {
        "name": a.name,
        "role": a.role.value,
        "per_day": float(a.per_day),
        "disabled": a.disabled,
        "password": a.password is not None,
        "subject": a.subject,
        "tokens": [{"id": t.id, "label": t.label, "made": t.made} for t in a.tokens],
    }
