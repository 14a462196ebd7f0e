"""Sessions of people who logged in on the pages. Kept in this process: a restart logs everybody out.

The cookie has 256 random bits; what is kept is their digest, the name, and which secret opened it. Every request reads
the account again: a session ends with its secret, and an account that is switched off is logged out at once.
"""

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from threading import Lock
from time import monotonic

from starlette.requests import Request
from starlette.responses import Response

from nowiser.server.people.account import Account

IDLE, LONGEST = 60 * 60.0, 12 * 60 * 60.0  # seconds
MOST = 10_000  # sessions; the ones idle longest end first
CSRF = "csrf"  # the field of a form; the header is x-csrf-token


@dataclass(frozen=True)
class Session:
    name: str
    secret: str  # which one opened it: see `secrets_of`
    csrf: str
    begun: float
    seen: float


class Sessions:
    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._lock = clock, Lock()
        self._open: OrderedDict[str, Session] = OrderedDict()

    def begin(self, account: Account, secret: str) -> tuple[str, Session]:
        """A session, and the text of its cookie."""
        text, now = secrets.token_urlsafe(32), self._clock()
        session = Session(account.name, secret, secrets.token_urlsafe(32), now, now)
        with self._lock:
            self._open[_digest(text)] = session
            while len(self._open) > MOST:
                self._open.popitem(last=False)
        return text, session

    def find(self, text: str) -> Session | None:
        key, now = _digest(text), self._clock()
        with self._lock:
            found = self._open.get(key)
            if found is None or now - found.seen > IDLE or now - found.begun > LONGEST:
                self._open.pop(key, None)
                return None
            self._open[key] = found = replace(found, seen=now)
            self._open.move_to_end(key)
            return found

    def end(self, text: str) -> None:
        with self._lock:
            self._open.pop(_digest(text), None)


def secrets_of(account: Account) -> set[str]:
    """What may have opened a session of this account, by names that are no secrets."""
    found = {f"token {t.id}" for t in account.tokens}
    if account.password is not None:
        found.add(f"password {_digest(account.password)}")
    if account.subject is not None:
        found.add(f"subject {account.subject}")
    return found


def cookie_name(request: Request) -> str:
    """`__Host-`: browsers take it over TLS only, from this host only, for all of it."""
    return "__Host-nowiser" if request.url.scheme == "https" else "nowiser"


def remember(request: Request, response: Response, text: str) -> None:
    safe = request.url.scheme == "https"
    response.set_cookie(
        cookie_name(request), text, max_age=int(LONGEST), path="/", secure=safe, httponly=True, samesite="strict"
    )


def forget(request: Request, response: Response) -> None:
    """Log out: the session ends here, and the cookie there."""
    if (text := request.cookies.get(cookie_name(request))) is not None:
        request.app.state.sessions.end(text)
    safe = request.url.scheme == "https"
    response.delete_cookie(cookie_name(request), path="/", secure=safe, httponly=True, samesite="strict")


def current(request: Request) -> Account | None:
    """Who sent this request, by session or token; `guard.py` has looked it up."""
    found: Account | None = getattr(request.state, "account", None)
    return found


def csrf_token(request: Request) -> str:
    """What forms of this session carry in the field `csrf`, and scripts in the header `x-csrf-token`."""
    session: Session | None = getattr(request.state, "session", None)
    return session.csrf if session is not None else ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
