"""SCRAM-SHA-256 and -PLUS (RFC 5802, 7677, 5929), the server's side, from verifiers: no secret is kept.

The tokens of an account share its salt, so one exchange tries them all. A name without an account goes through the
same steps with a salt made up for it, always the same one, and fails at the end after as much work.
"""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from secrets import token_urlsafe

from nowiser.server.people.tokens import ITERATIONS

PLAIN, PLUS = "SCRAM-SHA-256", "SCRAM-SHA-256-PLUS"
BINDING = "p=tls-server-end-point"
TRIED = 20  # verifiers each time, made-up ones among them: the time does not tell how many tokens there are


class Wrong(Exception):
    """The exchange fails. The client is not told why."""


@dataclass(frozen=True)
class Verifier:
    """Of one token."""

    token: str  # its id
    stored: bytes
    server: bytes


@dataclass(frozen=True)
class Verifiers:
    """Of everything somebody may log in with. `binding`: the digest of our certificate, where it can be bound."""

    salt: bytes
    known: tuple[Verifier, ...]
    binding: bytes | None = None


def made_up_salt(name: str, secret: bytes) -> bytes:
    return hmac.digest(secret, name.encode(), "sha256")[:16]


class Exchange:
    """client-first → server-first → client-final → server-final."""

    def __init__(self, verifiers: Verifiers, mechanism: str) -> None:
        self._verifiers, self._plus = verifiers, mechanism == PLUS
        self._header = self._bare = self._nonce = self._said = ""

    def first(self, message: bytes) -> bytes:
        flag, _, rest = _decoded(message).partition(",")
        authzid, _, bare = rest.partition(",")
        fields = _fields(bare)
        nonce = fields.get("r", "")
        if authzid or "m" in fields or not nonce:
            raise Wrong
        if flag != BINDING if self._plus else flag not in ("n", "y"):
            raise Wrong
        if flag == "y" and self._verifiers.binding is not None:  # it was not told that we can bind: somebody between
            raise Wrong
        self._header, self._bare, self._nonce = f"{flag},{authzid},", bare, nonce + token_urlsafe(18)
        salt = b64encode(self._verifiers.salt).decode()
        self._said = f"r={self._nonce},s={salt},i={ITERATIONS}"
        return self._said.encode()

    def final(self, message: bytes) -> tuple[bytes, Verifier]:
        """What the server proves, and whose secret it was."""
        without, _, proof64 = _decoded(message).rpartition(",p=")
        fields = _fields(without)
        proof, bound = _of_base64(proof64), _of_base64(fields.get("c", ""))
        binding = self._verifiers.binding if self._plus and self._verifiers.binding is not None else b""
        same = hmac.compare_digest(fields.get("r", "").encode(), self._nonce.encode())
        same &= hmac.compare_digest(bound, self._header.encode() + binding)
        said = f"{self._bare},{self._said},{without}".encode()
        found, nobody = None, Verifier("", bytes(32), bytes(32))
        known = self._verifiers.known
        for verifier in (*known, *[nobody] * (TRIED - len(known))):
            signature = hmac.digest(verifier.stored, said, "sha256")
            key = bytes(a ^ b for a, b in zip(proof, signature, strict=False))
            if hmac.compare_digest(sha256(key).digest(), verifier.stored):
                found = verifier
        if found is None or not same or len(proof) != 32:
            raise Wrong
        return b"v=" + b64encode(hmac.digest(found.server, said, "sha256")), found


def _decoded(message: bytes) -> str:
    try:
        return message.decode()
    except UnicodeDecodeError:
        raise Wrong from None


def _fields(text: str) -> Mapping[str, str]:
    pairs = [part.split("=", 1) for part in text.split(",")]
    if any(len(pair) != 2 for pair in pairs):
        raise Wrong
    return {pair[0]: pair[1] for pair in pairs}


def _of_base64(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except ValueError:
        raise Wrong from None
