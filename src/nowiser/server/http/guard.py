"""The guard at the door: how much is read, who it is, from which page a request came, and the headers of every answer.

Requests that change something come with a token of the API, or with a session, its CSRF token and an origin that is
ours. A page elsewhere can send none of the three.
"""

import asyncio
import hmac
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nowiser.errors import NotAuthorised, NotEvaluated, NowiserError
from nowiser.report import failure
from nowiser.server.desk import UNSEEN, Desk
from nowiser.server.http.failed import failed
from nowiser.server.http.metrics import Counted
from nowiser.server.http.sessions import CSRF, Session, Sessions, cookie_name, secrets_of
from nowiser.server.people.account import Account
from nowiser.server.problems import LoginFailed, TooLarge

BODY = 1_000_000  # bytes
PATIENCE = 30.0  # seconds until a body must have come
SAFE = ("GET", "HEAD", "OPTIONS")

POLICY = (
    "default-src 'none'; script-src {scripts}; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "x-frame-options": "DENY",
}


class Guard:
    """Around the application."""

    def __init__(self, app: ASGIApp, desk: Desk, sessions: Sessions, inline: str = "") -> None:
        """`inline`: the hash of the one script that may stand in a page."""
        self._app, self._desk, self._sessions = app, desk, sessions
        policy = POLICY.format(scripts=f"'self' {inline}".rstrip())
        self._headers = HEADERS | {"content-security-policy": policy}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        scope["state"] = {}  # of this request alone
        send = Sent(scope, Counted(scope, send), self._headers)
        request = Request(scope)
        try:
            await self._looked_at(request, receive, send)
        except Gone:
            return
        except NowiserError as error:
            await failed(request, error)(scope, receive, send)
        except Exception as error:  # noqa: BLE001 (a bug of ours: where it was is logged, nothing of it is told)
            failure.record(self._desk.folder, error, "in the server")
            if not send.begun:
                await failed(request, NotEvaluated(UNSEEN))(scope, receive, send)

    async def _looked_at(self, request: Request, receive: Receive, send: Send) -> None:
        body = b"" if request.method in SAFE else await _body(request, receive)
        account, session, bearer = await self._who(request)
        if request.method not in SAFE and not bearer:
            _check_origin(request.headers)
            if session is not None:
                _check_csrf(request.headers, body, session)
        request.scope["state"] |= {"account": account, "session": session, "bearer": bearer}
        await self._app(request.scope, _replayed(body, receive), send)

    async def _who(self, request: Request) -> tuple[Account | None, Session | None, bool]:
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            account = await self._desk.quickly(self._desk.register.of_token, token.strip())
            if account is None:
                raise LoginFailed
            return account, None, True
        text = request.cookies.get(cookie_name(request))
        session = self._sessions.find(text) if text is not None else None
        if text is None or session is None:
            return None, None, False
        account = await self._desk.quickly(self._desk.register.find, session.name)
        if account is None or session.secret not in secrets_of(account):
            self._sessions.end(text)
            return None, None, False
        return account, session, False


class Gone(Exception):
    """The client left before its request was here: half of a request is none."""


async def _body(request: Request, receive: Receive) -> bytes:
    length = request.headers.get("content-length", "0")
    if not length.isascii() or not length.isdigit() or int(length) > BODY:
        raise _too_large()
    pieces: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Gone
                pieces.append(message.get("body", b""))
                size += len(pieces[-1])
                if size > BODY:
                    raise _too_large()
                if not message.get("more_body", False):
                    break
    except TimeoutError:
        raise TooLarge(f"The request did not arrive within {PATIENCE:.0f} s.") from None
    return b"".join(pieces)


def _too_large() -> TooLarge:
    return TooLarge(f"A request has at most {BODY:,} bytes.")


def _replayed(body: bytes, receive: Receive) -> Receive:
    told = False

    async def again() -> Message:
        nonlocal told
        if told:
            return await receive()
        told = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again


def _check_origin(headers: Headers) -> None:
    """Browsers say which page a request comes from; programs say nothing, and have no session either."""
    origin, site = headers.get("origin"), headers.get("sec-fetch-site")
    ours = origin is None or urlsplit(origin).netloc == headers.get("host")
    if not ours or site not in (None, "same-origin", "none"):
        raise NotAuthorised("The request comes from another site.", hint="Open the page here and try again.")


def _check_csrf(headers: Headers, body: bytes, session: Session) -> None:
    said = headers.get("x-csrf-token")
    if said is None and headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
        fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=200)
        said = next(iter(fields.get(CSRF, ())), None)
    if said is None or not hmac.compare_digest(said.encode(), session.csrf.encode()):
        raise NotAuthorised("The form is out of date.", hint="Load the page again. Nothing was done.")


class Sent:
    """Sends with our headers, and knows whether anything was sent."""

    def __init__(self, scope: Scope, send: Send, headers: dict[str, str]) -> None:
        self._send, self.begun = send, False
        self._extra = dict(headers)
        if scope.get("scheme") == "https":
            self._extra["strict-transport-security"] = "max-age=31536000"

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            headers = MutableHeaders(scope=message)
            for name, value in self._extra.items():
                headers.setdefault(name, value)
            headers.setdefault("cache-control", "no-store")
        await self._send(message)
