"""A gateway that is somewhere else: what `nowiser serve` answers over HTTPS, with the methods of `Gateway`.

By the standard library. Certificates are checked; a token is sent over TLS, or to this machine, and nowhere else. A
question that is sent again is free, so nothing is lost when the line breaks.
"""

import json
import ssl
from collections.abc import Mapping, Sequence
from fractions import Fraction
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import ip_address
from math import inf
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from nowiser.builder.written import text_of
from nowiser.errors import (
    Exhausted,
    LedgerBroken,
    Misconfigured,
    NotAnswerable,
    NotAuthorised,
    NotEvaluated,
    NowiserError,
    Span,
    Unreachable,
)
from nowiser.model.schema import Kind
from nowiser.policy.catalogue import facts_of
from nowiser.report.answer import Allowance, Answer
from nowiser.report.sent import received, useless
from nowiser.report.tables import Tables
from nowiser.sql.columns import Described
from nowiser.sql.read.text.parameters import filled

PATIENCE = 120.0  # seconds; engines give up after 60
MOST = 1 << 30  # bytes of an answer

_BY_EXIT = {
    c.exit_code: c for c in (NotAnswerable, Misconfigured, NotAuthorised, Unreachable, NotEvaluated, LedgerBroken)
}


class Remote:
    """The server at `https://host`. Threads may share it."""

    def __init__(
        self, url: str, *, token: str | None = None, ca: str | Path | None = None, timeout: float = PATIENCE
    ) -> None:
        place = urlsplit(url)
        if place.scheme not in ("https", "http") or not place.hostname or place.query or place.username:
            raise Misconfigured("The address of a server is like https://nowiser.hospital.example.")
        if place.scheme == "http" and not _here(place.hostname):
            raise Misconfigured(
                "Over http the token would be sent in clear.", hint="Write https://; http is for this machine only."
            )
        if token is not None and not (token.isascii() and token.isprintable()):
            raise Misconfigured(
                "This is no token.", hint="A token begins with nw_; `nowiser user token NAME` makes one."
            )
        self._host, self._port, self._path = place.hostname, place.port, place.path.rstrip("/")
        self._token, self._timeout = token, timeout
        self._tls = _trusting(ca) if place.scheme == "https" else None

    def query(
        self,
        sql: Any,
        *,
        parameters: Sequence[Any] | None = None,
        error: float | Fraction | None = None,
        spend: float | Fraction | str | None = None,
        analyst: str | None = None,
        clipped: bool = False,
        anyway: bool = False,
    ) -> Answer:
        """As `Gateway.query`. Who asks is whose token it is."""
        _nobody_else(analyst)
        text = _text(sql, parameters)
        asked = {"sql": text, **_wish(error, spend), "clipped": clipped, "anyway": anyway}
        return received(self._asked("POST", "query", asked, text))

    def explain(
        self,
        sql: Any,
        *,
        parameters: Sequence[Any] | None = None,
        error: float | Fraction | None = None,
        spend: float | Fraction | str | None = None,
        analyst: str | None = None,
    ) -> Answer:
        """As `Gateway.explain`."""
        _nobody_else(analyst)
        text = _text(sql, parameters)
        return received(self._asked("POST", "explain", {"sql": text, **_wish(error, spend)}, text))

    def describe(self, sql: Any) -> tuple[Described, ...]:
        """As `Gateway.describe`."""
        text = text_of(sql)
        found = self._asked("POST", "describe", {"sql": text}, text)["columns"]
        return tuple(Described(c["name"], Kind(c["kind"]), c["nullable"]) for c in found)

    def remaining(
        self,
        sql: Any,
        *,
        error: float | Fraction | None = None,
        spend: float | Fraction | str | None = None,
        analyst: str | None = None,
    ) -> float:
        """As `Gateway.remaining`."""
        _nobody_else(analyst)
        text = text_of(sql)
        many = self._asked("POST", "remaining", {"sql": text, **_wish(error, spend)}, text)["remaining"]
        return inf if many is None else many

    def tables(self) -> Tables:
        """As `Gateway.tables`."""
        return Tables(tuple(map(facts_of, self._asked("GET", "tables")["tables"])))

    def allowance(self) -> Allowance:
        """As `Gateway.allowance`."""
        found = self._asked("GET", "allowance")
        return Allowance(found["guesses"], found["left"], found["unguarded"])

    def questions(self) -> list[dict[str, Any]]:
        """What I asked; what everybody asked, for custodians and auditors."""
        found: list[dict[str, Any]] = self._asked("GET", "questions")["questions"]
        return found

    def close(self) -> None:
        """Nothing is held open."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Remote {self._host}>"

    def _asked(self, method: str, name: str, body: Mapping[str, Any] | None = None, sql: str = "") -> Any:
        headers = {"accept": "application/json", "user-agent": "nowiser"}
        if self._token is not None:
            headers["authorization"] = f"Bearer {self._token}"
        if body is not None:
            headers["content-type"] = "application/json"
        status, kind, text = self._sent(method, name, None if body is None else json.dumps(body), headers)
        try:
            found = json.loads(text)
        except ValueError:
            found = None
        if status < 300 and kind == "application/json" and found is not None:
            return found
        if kind == "application/problem+json" and isinstance(found, dict):
            raise problem(found, sql)
        raise Unreachable("What answers there is no server of nowiser.", hint="Check the address and its port.")

    def _sent(self, method: str, name: str, body: str | None, headers: dict[str, str]) -> tuple[int, str, bytes]:
        line = self._connection()
        try:
            line.request(method, f"{self._path}/api/v1/{name}", None if body is None else body.encode(), headers)
            answer = line.getresponse()
            text = answer.read(MOST)
            return answer.status, answer.headers.get_content_type(), text
        except ssl.SSLCertVerificationError:
            raise Unreachable(
                "The server's certificate is not one that is trusted here.",
                hint='Give the certificate of your own authority: nw.connect(url, ca="ca.pem").',
            ) from None
        except (OSError, HTTPException) as error:
            raise Unreachable(
                f"The server cannot be reached ({type(error).__name__}).", hint="Ask again: the same question is free."
            ) from None
        finally:
            line.close()

    def _connection(self) -> HTTPConnection:
        if self._tls is None:
            return HTTPConnection(self._host, self._port, timeout=self._timeout)
        return HTTPSConnection(self._host, self._port, timeout=self._timeout, context=self._tls)


def problem(body: Mapping[str, Any], sql: str = "") -> NowiserError:
    """The exception that a problem was made of."""
    text, hint, span = str(body.get("detail")), body.get("hint"), _span(body.get("where"), sql)
    if "figures" in body:
        found = useless(body)
        found.span = span
        return found
    if body.get("exit") == Exhausted.exit_code:
        return Exhausted(
            text, hint=hint, span=span, needed=body.get("needed"), left=body.get("left"), ask=body.get("ask")
        )
    return _BY_EXIT.get(body.get("exit", 0), NotEvaluated)(text, hint=hint, span=span)


def _span(where: Any, sql: str) -> Span | None:
    if not isinstance(where, dict) or not sql:
        return None
    lines = sql.split("\n")
    start = sum(len(line) + 1 for line in lines[: where["line"] - 1]) + where["column"] - 1
    return Span(sql, start, start + where["length"])


def _text(sql: Any, parameters: Sequence[Any] | None) -> str:
    return text_of(sql) if parameters is None else filled(text_of(sql), parameters)


def _wish(error: float | Fraction | None, spend: float | Fraction | str | None) -> dict[str, Any]:
    return {
        "error": None if error is None else float(error),
        "spend": spend if spend is None or isinstance(spend, str) else float(spend),
    }


def _nobody_else(analyst: str | None) -> None:
    if analyst is not None:
        raise Misconfigured("Who asks a server is whose token it is.", hint="Leave analyst out.")


def _here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _trusting(ca: str | Path | None) -> ssl.SSLContext:
    try:
        found = ssl.create_default_context(cafile=None if ca is None else str(ca))
    except (OSError, ssl.SSLError):
        raise Misconfigured(
            "The file of certificates cannot be read.", hint="It is in PEM: nw.connect(url, ca=…)."
        ) from None
    found.minimum_version = ssl.TLSVersion.TLSv1_2
    return found
