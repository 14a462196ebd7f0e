"""Start-up and log-in: what the client wants, who it is, and what it is told before it may ask.

One text and one duration for a wrong password and for a name that has no account.
"""

import asyncio
import logging
import os
import secrets
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from pathlib import Path

from nowiser.server.desk import Desk
from nowiser.server.people.account import Account, Role
from nowiser.server.problems import LoginFailed, TooMany
from nowiser.server.wire.failures import Failure, failure_of
from nowiser.server.wire.options import BadSetting, Options, of_startup
from nowiser.server.wire.protocol import messages as m, scram
from nowiser.server.wire.protocol.messages import CANCEL, VERSION_30, VERSION_32, Fields, Malformed
from nowiser.server.wire.stream import Stream

log = logging.getLogger("nowiser.server.wire")

LEAST_STARTUP, MOST_STARTUP = 8, 10_000
TOLD_AFTER = 0.1  # seconds a log-in that fails takes at least, so that work does not show in the time
SASL, SASL_GOES_ON, SASL_OVER, WELCOME = 10, 11, 12, 0
SECRET = "wire.secret"  # noqa: S105 (the name of a file)


@dataclass(frozen=True)
class Startup:
    """`cancels`: the key of a session whose question is to be cancelled, instead of everything else."""

    version: int = VERSION_30
    options: Mapping[str, str] | None = None
    unknown: tuple[str, ...] = ()
    cancels: bytes | None = None

    @property
    def speaks(self) -> int:
        return VERSION_32 if self.version >= VERSION_32 else VERSION_30

    @property
    def name(self) -> str:
        return (self.options or {}).get("user", "")


async def startup(stream: Stream) -> Startup:
    fields = Fields(await stream.sized(LEAST_STARTUP, MOST_STARTUP))
    version = fields.int32()
    if version == CANCEL:
        return Startup(cancels=fields.rest())
    if version >> 16 != 3:
        raise Failure("0A000", "Only protocol 3 of PostgreSQL is spoken here.", fatal=True)
    options = dict[str, str]()
    while name := fields.text():
        options[name] = fields.text()
    fields.end()
    unknown = tuple(name for name in options if name.startswith("_pq_."))
    return Startup(version, {n: value for n, value in options.items() if n not in unknown}, unknown)


@dataclass(frozen=True)
class LoggedIn:
    account: Account
    token: str
    options: Options


class Door:
    """Lets people in, from one address at a time as often as `desk.attempts` allows."""

    def __init__(self, desk: Desk, binding: bytes | None, *, needs_tls: bool) -> None:
        self._desk, self._binding, self._needs_tls = desk, binding, needs_tls
        self._secret = kept_secret(desk.folder / SECRET)
        self._nobody = Account("nobody", Role.analyst, Fraction(1), "00" * 16).to_json()

    async def logged_in(self, stream: Stream, wanted: Startup, address: str, *, secure: bool) -> LoggedIn:
        """Raises Failure where it may not be."""
        if wanted.unknown or wanted.version not in (VERSION_30, VERSION_32):
            stream.write(m.negotiated(wanted.speaks, wanted.unknown))
        if self._needs_tls and not secure:
            raise Failure("28000", "Passwords and answers are sent encrypted only.", "Connect with sslmode=require.")
        if not self._desk.ready:
            raise Failure("57P03", "The server is starting or ending.", "Connect again in a moment.")
        options = _options(wanted)
        name = wanted.name
        waits = self._desk.attempts.waits(name, address)
        if waits:
            raise failure_of(TooMany("Too many log-ins failed.", hint=f"Wait {ceil(waits / 60)} minutes."))
        loop = asyncio.get_running_loop()
        since = loop.time()
        try:
            account, token = await self._proved(stream, name, secure=secure)
        except (scram.Wrong, Malformed):
            self._desk.attempts.failed(name, address)
            log.info("a log-in failed", extra={"about": {"address": address}})
            await asyncio.sleep(max(0.0, since + TOLD_AFTER - loop.time()))
            raise failure_of(LoginFailed()) from None
        self._desk.attempts.succeeded(name, address)
        return LoggedIn(account, token, options)

    async def _proved(self, stream: Stream, name: str, *, secure: bool) -> tuple[Account, str]:
        binding = self._binding if secure else None
        offered = [scram.PLUS, scram.PLAIN] if binding is not None else [scram.PLAIN]
        stream.write(m.authentication(SASL, b"".join(map(m.text, offered)) + b"\0"))
        await stream.flush()
        kind, body = await stream.message()
        fields = Fields(body)
        mechanism = fields.text()
        if kind != b"p" or mechanism not in offered:
            raise scram.Wrong
        first = fields.value() or b""
        fields.end()
        account = await self._desk.at_the_door(self._account, name)
        salt = bytes.fromhex(account.salt) if account is not None else scram.made_up_salt(name, self._secret)
        known = () if account is None else account.tokens
        verifiers = tuple(scram.Verifier(t.id, bytes.fromhex(t.stored_key), bytes.fromhex(t.server_key)) for t in known)
        exchange = scram.Exchange(scram.Verifiers(salt, verifiers, binding), mechanism)
        stream.write(m.authentication(SASL_GOES_ON, exchange.first(first)))
        await stream.flush()
        kind, body = await stream.message()
        if kind != b"p":
            raise scram.Wrong
        said, verifier = exchange.final(body)
        assert account is not None  # it has verifiers
        stream.write(m.authentication(SASL_OVER, said))
        return account, verifier.token

    def _account(self, name: str) -> Account | None:
        """Whose name it is. As much is read where there is none."""
        found = self._desk.register.find(name)
        if found is None:
            Account.of(self._nobody)
        return found


def welcome(stream: Stream, options: Options, key: bytes) -> None:
    """What a client is told when it is in."""
    stream.write(m.authentication(WELCOME))
    for name, value in options.reported():
        stream.write(m.parameter(name, value))
    stream.write(m.message(b"K", key))
    stream.write(m.ready("I"))


def new_key(version: int) -> bytes:
    """Process and secret of a session, for cancel requests."""
    return struct.pack("!i", secrets.randbelow(2**31 - 1) + 1) + secrets.token_bytes(32 if version == VERSION_32 else 4)


def _options(wanted: Startup) -> Options:
    """The settings a session begins with; those of nowiser must fit, others that are not known mean nothing."""
    given = dict(wanted.options or {})
    name = given.pop("user", "")
    database = given.pop("database", "") or name
    try:
        said = [
            *((n.lower(), value) for n, value in given.items() if n != "options"),
            *of_startup(given.get("options", "")),
        ]
        options = Options({"session_authorization": name, "nowiser.database": database})
        checked = {
            n: options.checked(n, value) for n, value in said if n.startswith("nowiser") or _fits(options, n, value)
        }
    except BadSetting as error:
        raise Failure(error.sqlstate, error.message, error.hint, fatal=True) from None
    if checked.get("nowiser.spend") and checked.get("nowiser.error"):
        raise Failure("22023", "Say either nowiser.error or nowiser.spend.", fatal=True)
    return Options({"session_authorization": name, "nowiser.database": database} | checked)


def _fits(options: Options, name: str, value: str) -> bool:
    try:
        options.checked(name, value)
    except BadSetting as error:
        if error.sqlstate == "22023":
            raise
        return False
    return True


def kept_secret(file: Path) -> bytes:
    """What salts of names without an account are made of: the same after a restart, known to nobody."""
    try:
        made = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        found = bytes.fromhex(file.read_text(encoding="ascii").strip() or "00")
        return found if len(found) == 32 else secrets.token_bytes(32)
    with os.fdopen(made, "w", encoding="ascii") as out:
        out.write(secrets.token_hex(32))
    return kept_secret(file)
