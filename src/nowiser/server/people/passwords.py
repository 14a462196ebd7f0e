"""Passwords for the web pages: argon2id, and the same time for a name that does not exist."""

import hmac
from functools import lru_cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from nowiser.errors import Misconfigured

LEAST = 12  # characters
MOST = 512
_HASHER = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


def hashed(password: str) -> str:
    if not LEAST <= len(password) <= MOST:
        raise Misconfigured(f"A password has {LEAST} to {MOST} characters.", hint="Four random words make a good one.")
    return _HASHER.hash(password)


def right(stored: str | None, password: str) -> bool:
    """Whether it is the password. As slow where there is none, so that the time does not tell who has an account."""
    try:
        _HASHER.verify(stored or _nobodys(), password[:MOST])
    except (VerificationError, InvalidHashError):
        return False
    return stored is not None


def same(one: str, other: str) -> bool:
    """Compared in a time that tells nothing."""
    return hmac.compare_digest(one.encode(), other.encode())


@lru_cache(maxsize=1)
def _nobodys() -> str:
    return _HASHER.hash("the password of nobody")
