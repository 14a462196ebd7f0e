"""`nowiser serve`: psql, BI tools, programs and people, one account."""

import json
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nowiser.errors import Misconfigured

if TYPE_CHECKING:
    from nowiser.server.http.provider import SignOn


def serve(
    *,
    policy_file: Annotated[Path, typer.Option("-p", "--policy", envvar="NOWISER_POLICY", help="The policy.")] = Path(
        "nowiser.yaml"
    ),
    host: Annotated[str, typer.Option("--host", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, help="For pages and API; 0 takes any that is free.")
    ] = 8080,
    pg_port: Annotated[
        int, typer.Option("--pg-port", min=0, max=65535, help="For the PostgreSQL wire; 0: any.")
    ] = 5433,
    no_wire: Annotated[bool, typer.Option("--no-wire", help="Pages and API only.")] = False,
    certificate: Annotated[Path | None, typer.Option("--certificate", help="TLS certificate (PEM).")] = None,
    key: Annotated[Path | None, typer.Option("--key", help="Its private key (PEM).")] = None,
    threads: Annotated[int, typer.Option("--threads", min=1, max=64, help="Questions answered at once.")] = 4,
    four_eyes: Annotated[
        bool, typer.Option("--four-eyes", help="Changes of promises need a second custodian.")
    ] = False,
    sign_on: Annotated[str | None, typer.Option("--sign-on", help="OpenID provider of single sign-on.")] = None,
    client: Annotated[str, typer.Option("--client", help="With --sign-on: our name there.")] = "nowiser",
    client_secret: Annotated[
        Path | None, typer.Option("--client-secret", help="With --sign-on: a file with our secret there.")
    ] = None,
    behind_proxy: Annotated[
        bool, typer.Option("--behind-proxy", help="Addresses and TLS are those that a proxy on this machine says.")
    ] = False,
    demo: Annotated[
        Path | None,
        typer.Option(
            "--demo", help="A folder: serve a made-up hospital there, with three accounts; prints how to enter."
        ),
    ] = None,
    log_level: Annotated[str, typer.Option("--log-level", help="debug, info, warning or error.")] = "info",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object for each door that is open.")] = False,
) -> None:
    """Serve the gateway: web pages, HTTP and the PostgreSQL wire, one account. Accounts: `nowiser user`.

    Example: nowiser serve -p nowiser.yaml --port 8080 --pg-port 5433
    """
    try:
        from nowiser.server.logs import configure
        from nowiser.server.run import serve as run
        from nowiser.server.settings import Settings
    except ImportError as missing:
        if missing.name is not None and missing.name.startswith("nowiser"):
            raise
        raise Misconfigured(
            f"The server is not installed ({missing.name} is missing).",
            hint="Install it: pip install 'nowiser[server]'.",
        ) from None
    configure(log_level)
    if demo is not None:
        policy_file = _demo(demo, as_json=as_json)
    settings = Settings(
        policy=policy_file,
        host=host,
        port=port,
        pg_port=None if no_wire else pg_port,
        certificate=certificate,
        key=key,
        threads=threads,
        four_eyes=four_eyes,
        proxied=behind_proxy,
        sign_on=None if sign_on is None else _agreed(sign_on, client, client_secret),
    )
    run(settings, partial(_told, as_json=as_json))


def _agreed(issuer: str, client: str, file: Path | None) -> "SignOn":
    from nowiser.server.http.provider import SignOn

    try:
        import joserfc  # noqa: F401 (its absence is told before anybody logs in)
    except ImportError:
        raise Misconfigured(
            "Single sign-on is not installed (joserfc is missing).",
            hint="Install it: pip install 'nowiser[server,oidc]'.",
        ) from None
    try:
        secret = None if file is None else file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise Misconfigured(f"--client-secret: {file} cannot be read as text.") from None
    return SignOn(issuer, client, secret)


def _demo(folder: Path, *, as_json: bool) -> Path:
    from nowiser.server.demo import QUESTION, prepare

    file, people = prepare(folder)
    for one in people:
        if as_json:
            typer.echo(json.dumps({"account": one.name, "token": one.token}))
        else:
            typer.echo(f"{one.name:<5} {one.role.value:<10} {one.token}")
    if not as_json:
        typer.echo(
            "\nLog in to the pages with a name and its token, or with psql (user=ana, the token is the password). "
            f"Ask as ana, for example:\n  {QUESTION}\n"
        )
    return file


def _told(door: str, address: str, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps({"door": door, "address": address}))
    else:
        typer.echo(f"{door + ':':<17}{address}")
    sys.stdout.flush()
