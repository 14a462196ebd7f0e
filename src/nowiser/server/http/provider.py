"""Single sign-on: an OpenID provider, where it sends people and whom it says they are.

The code flow with PKCE (RFC 6749, 7636; OpenID Connect Core 3.1). One random text, kept in a cookie while somebody is
with the provider, is what state, nonce and verifier are made of: nothing is kept here meanwhile.

Raises Unreachable where the provider does not answer, LoginFailed where what it says does not hold.
"""

import base64
import hashlib
import hmac
import json
import logging
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Any
from urllib.parse import urlencode, urlsplit

from nowiser.errors import Misconfigured, Unreachable
from nowiser.server.problems import LoginFailed

log = logging.getLogger("nowiser.server.sign_on")

PATIENCE, LARGEST = 10.0, 1_000_000  # seconds and bytes of an answer
FRESH, AGAIN = 3600.0, 60.0  # seconds: how long keys are believed; how often new ones are looked for
LEEWAY = 60  # seconds that clocks may differ
SIGNED = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")


@dataclass(frozen=True)
class SignOn:
    """What the custodian and the provider agreed on. `secret` None: a public client."""

    issuer: str
    client: str
    secret: str | None = None

    def check(self) -> None:
        if not _safe(self.issuer):
            raise Misconfigured(
                f"The provider of single sign-on must be an https:// address, not {self.issuer}.",
                hint="For example --sign-on https://id.hospital.example.",
            )


@dataclass(frozen=True)
class Keys:
    """What the provider says about itself. `at`: when it did."""

    says: Mapping[str, Any]
    jwks: Mapping[str, Any]
    at: float


class Provider:
    """One for the process. Blocking: called in threads."""

    def __init__(self, agreed: SignOn) -> None:
        self._agreed, self._lock = agreed, Lock()
        self._keys: Keys | None = None

    def address(self, text: str, back: str) -> str:
        """Where somebody whose cookie is `text` logs in; she comes back to `back`."""
        challenge = _base64(hashlib.sha256(made_of(text, "verifier").encode()).digest())
        asked = {
            "response_type": "code",
            "client_id": self._agreed.client,
            "redirect_uri": back,
            "scope": "openid",
            "state": made_of(text, "state"),
            "nonce": made_of(text, "nonce"),
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        there = self._known().says["authorization_endpoint"]
        return f"{there}{'&' if urlsplit(there).query else '?'}{urlencode(asked)}"

    def subject(self, text: str, code: str, back: str) -> str:
        """Who came back with a code: issuer and subject, as `nowiser user change --subject` takes them."""
        asked = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": back,
            "client_id": self._agreed.client,
            "code_verifier": made_of(text, "verifier"),
        }
        if self._agreed.secret is not None:
            asked["client_secret"] = self._agreed.secret
        answer = _fetched(self._known().says["token_endpoint"], asked)
        claims = self._claims(str(answer.get("id_token", "")), made_of(text, "nonce"))
        return f"{self._agreed.issuer} {claims['sub']}"

    def _claims(self, token: str, nonce: str) -> Mapping[str, Any]:
        from joserfc import jwt
        from joserfc.errors import InvalidKeyIdError, JoseError
        from joserfc.jwk import KeySet

        agreed = self._agreed
        wanted = jwt.JWTClaimsRegistry(
            leeway=LEEWAY,
            iss={"essential": True, "value": agreed.issuer},
            aud={"essential": True, "value": agreed.client},
            sub={"essential": True},
            exp={"essential": True},
            iat={"essential": True},
            nonce={"essential": True, "value": nonce},
        )
        for newest in (False, True):  # keys are changed now and then
            try:
                keys = KeySet.import_key_set(dict(self._known(newest=newest).jwks))  # type: ignore[arg-type]
                claims: Mapping[str, Any] = jwt.decode(token, keys, algorithms=list(SIGNED)).claims
                wanted.validate(dict(claims))
            except InvalidKeyIdError:
                continue
            except (JoseError, ValueError, TypeError, KeyError) as wrong:
                log.warning("single sign-on: an identity token does not hold (%s)", type(wrong).__name__)
                raise LoginFailed from None
            others = claims["aud"] if isinstance(claims["aud"], list) else []
            if (len(others) > 1 and "azp" not in claims) or claims.get("azp", agreed.client) != agreed.client:
                raise LoginFailed
            return claims
        raise LoginFailed

    def _known(self, *, newest: bool = False) -> Keys:
        with self._lock:
            known, now = self._keys, monotonic()
            if known is not None and now - known.at < (AGAIN if newest else FRESH):
                return known
            says = _fetched(f"{self._agreed.issuer.rstrip('/')}/.well-known/openid-configuration")
            ends = [str(says.get(f"{end}")) for end in ("authorization_endpoint", "token_endpoint", "jwks_uri")]
            if says.get("issuer") != self._agreed.issuer or not all(map(_safe, ends)):
                raise Unreachable(
                    "The provider of single sign-on says that it is somebody else.",
                    hint="--sign-on must be its issuer, letter by letter.",
                )
            self._keys = Keys(says, _fetched(ends[2]), now)
            return self._keys


def made_of(text: str, what: str) -> str:
    """State, nonce and verifier: none of them tells another one."""
    return _base64(hmac.digest(text.encode(), f"nowiser {what}".encode(), "sha256"))


class _Stay(urllib.request.HTTPRedirectHandler):
    """A secret is sent to the address that was agreed on, and to no other."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _fetched(address: str, form: Mapping[str, str] | None = None) -> Mapping[str, Any]:
    body = None if form is None else urlencode(form).encode()
    request = urllib.request.Request(address, body, {"accept": "application/json"})  # noqa: S310 (checked: https)
    try:
        with urllib.request.build_opener(_Stay).open(request, timeout=PATIENCE) as answer:
            found = json.loads(answer.read(LARGEST))
    except urllib.error.HTTPError as refused:
        refused.close()
        log.warning("single sign-on: %s answers %s", urlsplit(address).path, refused.code)
        if form is not None and refused.code in (400, 401, 403):
            raise LoginFailed from None
        raise _unreachable() from None
    except (OSError, ValueError) as gone:
        log.warning("single sign-on: %s (%s)", urlsplit(address).path, type(gone).__name__)
        raise _unreachable() from None
    if not isinstance(found, dict):
        raise _unreachable()
    return found


def _unreachable() -> Unreachable:
    return Unreachable(
        "The provider of single sign-on does not answer.", hint="Log in with a password or a token, or try again later."
    )


def _safe(address: str) -> bool:
    """https; http on this machine only."""
    parts = urlsplit(address)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in ("127.0.0.1", "::1", "localhost"))


def _base64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
