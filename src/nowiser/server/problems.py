"""One table: what a refusal or a fault is called on every surface of the server.

The kind is the same word everywhere. HTTP statuses and SQLSTATEs are those that clients treat rightly: a refusal is
never one that a driver repeats by itself.
"""

from dataclasses import dataclass

from nowiser.errors import (
    Exhausted,
    LedgerBroken,
    Misconfigured,
    NotAnswerable,
    NotAuthorised,
    NotEvaluated,
    NowiserError,
    Unreachable,
)


@dataclass(frozen=True)
class Problem:
    kind: str
    status: int  # of HTTP
    sqlstate: str
    title: str


REFUSED = Problem("refused", 422, "42501", "The question is outside of what is answered")
SYNTAX = Problem("syntax", 422, "42601", "The question cannot be read")
NO_COLUMN = Problem("no column", 422, "42703", "There is no such column")
NO_TABLE = Problem("no table", 422, "42P01", "There is no such table")
USELESS = Problem("useless", 422, "42501", "The answer would tell next to nothing")
MISCONFIGURED = Problem("misconfigured", 400, "F0000", "An argument or the policy is wrong")
EXHAUSTED = Problem("exhausted", 409, "53400", "The allowance is used up")
NOT_AUTHORISED = Problem("not authorised", 403, "42501", "You may not do this")
LOGIN = Problem("log-in", 401, "28P01", "The name or the password is wrong")
UNREACHABLE = Problem("unreachable", 503, "57P03", "The engine or the ledger cannot be reached")
NOT_EVALUATED = Problem("not evaluated", 500, "58000", "The question could not be evaluated")
LEDGER_BROKEN = Problem("ledger broken", 500, "58030", "The ledger does not verify")
LOGGED_OUT = Problem("log-in", 401, "28000", "Log in first")
CONFLICT = Problem("conflict", 409, "40001", "It has changed since you looked")
NOT_FOUND = Problem("not found", 404, "02000", "There is nothing here")
NOT_ALLOWED = Problem("not allowed", 405, "0A000", "Not in this way")
TOO_LARGE = Problem("too large", 413, "54000", "Too large")
TOO_MANY = Problem("too many", 429, "53300", "Too many at once")
BROKEN = Problem("fault", 500, "XX000", "A fault of ours")

_BY_KIND = {"useless": USELESS, "syntax": SYNTAX, "no column": NO_COLUMN, "no table": NO_TABLE}
_BY_CLASS: tuple[tuple[type[NowiserError], Problem], ...] = (
    (NotAnswerable, REFUSED),
    (Misconfigured, MISCONFIGURED),
    (Exhausted, EXHAUSTED),
    (NotAuthorised, NOT_AUTHORISED),
    (Unreachable, UNREACHABLE),
    (NotEvaluated, NOT_EVALUATED),
    (LedgerBroken, LEDGER_BROKEN),
)


class LoginFailed(NotAuthorised):
    """One text for a wrong secret and an unknown name."""

    kind = "log-in"

    def __init__(self) -> None:
        super().__init__("The name or the password is wrong.")


class LoggedOut(NotAuthorised):
    """Nobody is logged in."""

    kind = "log-in"

    def __init__(self) -> None:
        super().__init__(
            "This needs an account.", hint="Log in, or send a token: `Authorization: Bearer nw_…` (nowiser user token)."
        )


class NotFound(Misconfigured):
    """There is nothing under this address or name."""

    kind = "not found"


class Conflict(Misconfigured):
    """What was to be changed is not what it was."""

    kind = "conflict"


class TooLarge(Misconfigured):
    """More than is read."""

    kind = "too large"


class TooMany(NotAuthorised):
    """Too many log-ins, connections or questions at once."""

    kind = "too many"


_OURS = {LoggedOut: LOGGED_OUT, TooMany: TOO_MANY, NotFound: NOT_FOUND, Conflict: CONFLICT, TooLarge: TOO_LARGE}


def problem_of(error: BaseException) -> Problem:
    """What an exception is called; a fault of ours where it is none of nowiser's."""
    if isinstance(error, LoginFailed):
        return LOGIN
    if isinstance(error, LoggedOut | TooMany | NotFound | Conflict | TooLarge):
        return _OURS[type(error)]
    if isinstance(error, NowiserError):
        named = _BY_KIND.get(getattr(error, "reason", error.kind))
        if named is not None:
            return named
        return next((p for c, p in _BY_CLASS if isinstance(error, c)), BROKEN)
    return BROKEN
