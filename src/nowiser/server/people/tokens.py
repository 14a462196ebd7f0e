"""Tokens: made once, shown once, kept as verifiers only."""

import hashlib
import hmac
import secrets
from base64 import b32encode
from dataclasses import dataclass
from datetime import UTC, datetime

from nowiser.server.people.account import Account, Token

PREFIX = "nw_"
BITS = 160
ITERATIONS = 4096  # of SCRAM: a token is no word that somebody could guess, so stretching it buys nothing


@dataclass(frozen=True)
class Keys:
    """What SCRAM-SHA-256 keeps of a secret (RFC 5802)."""

    stored: bytes
    server: bytes


def made(account: Account, label: str) -> tuple[Token, str]:
    """A new token for an account, and its text, which is kept nowhere."""
    text = PREFIX + b32encode(secrets.token_bytes(BITS // 8)).decode().lower()
    keys = keys_of(text, bytes.fromhex(account.salt))
    now = datetime.now(UTC).isoformat(timespec="seconds")
    token = Token(secrets.token_hex(4), label, now, digest(text), keys.stored.hex(), keys.server.hex())
    return token, text


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def keys_of(text: str, salt: bytes) -> Keys:
    salted = hashlib.pbkdf2_hmac("sha256", text.encode(), salt, ITERATIONS)
    client = hmac.digest(salted, b"Client Key", "sha256")
    return Keys(hashlib.sha256(client).digest(), hmac.digest(salted, b"Server Key", "sha256"))


def new_salt() -> str:
    return secrets.token_hex(16)
