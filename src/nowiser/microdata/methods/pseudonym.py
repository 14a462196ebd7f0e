"""Pseudonyms by keyed hashing: the same person keeps the same code, and only the key's holder can recompute it.

HMAC-SHA-256 over the value, cut to 16 bytes (the chance that any two of a billion values collide is below
10⁻²⁰). A plain hash is no pseudonym: whoever can list the possible names can hash them all, so without a key
nothing is released. The key comes from a file or an environment variable, or is made from the operating
system's entropy and stored in a file of its own that only its owner can read; it never enters the codebook.
"""

import hmac
import os
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nowiser.errors import Misconfigured
from nowiser.microdata.method_contract import Run, Step
from nowiser.microdata.methods.coding import relabelled
from nowiser.microdata.table.micro_table import MicroTable

LEAST = 16  # bytes of a key


@dataclass(frozen=True)
class Pseudonym:
    """`key_file` (made if it is not there) or `key_env`. A pseudonym is no anonymity: rows stay linked to a person."""

    column: str
    key_file: str | None = None
    key_env: str | None = None
    name: ClassVar[str] = "pseudonym"

    def __post_init__(self) -> None:
        if (self.key_file is None) == (self.key_env is None):
            raise Misconfigured(
                f"the pseudonym of {self.column!r} needs exactly one of key_file and key_env",
                hint="A hash without a key can be undone by listing the possible values.",
            )

    @property
    def pseudonymises(self) -> tuple[str, ...]:
        return (self.column,)

    def apply(self, table: MicroTable, run: Run) -> Step:
        del run
        key = self.key()
        column = table[self.column]
        codes = [hmac.digest(key, text.encode(), "sha256")[:16].hex() for text in column.labels]
        book = {"column": self.column, "how": "HMAC-SHA-256, 128 bits, secret key", "distinct": len(codes)}
        return Step(table.with_columns(relabelled(column, codes)), self.name, book)

    def key(self) -> bytes:
        if self.key_env is not None:
            found = os.environ.get(self.key_env, "").encode()
            where = f"the environment variable {self.key_env}"
        else:
            path = Path(str(self.key_file))
            if not path.exists():
                return made(path)
            found, where = path.read_bytes().strip(), f"the key file {path}"
        if len(found) < LEAST:
            raise Misconfigured(f"{where} must hold a key of at least {LEAST} bytes, and holds {len(found)}")
        return found


def made(path: Path) -> bytes:
    """A new key in a file that only its owner can read."""
    key = secrets.token_hex(32).encode()
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise Misconfigured(f"the key file {path} cannot be made: {error.strerror}") from None
    with os.fdopen(handle, "wb") as file:
        file.write(key + b"\n")
    return key


METHOD = Pseudonym
