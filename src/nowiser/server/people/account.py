"""An account: a name, a role, a brake, and verifiers of its secrets; never a secret itself."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from fractions import Fraction
from typing import Any

from nowiser.errors import Misconfigured

NAME = re.compile(r"[a-z0-9][a-z0-9._@-]{0,62}", re.ASCII)
PER_DAY = Fraction(5, 100)


class Role(StrEnum):
    """What an account may do. An auditor reads everything and changes nothing; only a custodian changes promises."""

    analyst = "analyst"
    custodian = "custodian"
    auditor = "auditor"

    @property
    def asks(self) -> bool:
        return self is not Role.auditor

    @property
    def sees_all(self) -> bool:
        return self is not Role.analyst


@dataclass(frozen=True)
class Token:
    """A secret of 160 bits for programs: as HTTP bearer, and as password on the PostgreSQL wire."""

    id: str
    label: str
    made: str  # ISO 8601
    digest: str  # SHA-256, in hex
    stored_key: str  # of SCRAM-SHA-256 with the account's salt, in hex
    server_key: str


@dataclass(frozen=True)
class Account:
    """`per_day`: the share of the whole allowance it may use from midnight to midnight (UTC)."""

    name: str
    role: Role
    per_day: Fraction
    salt: str  # of its tokens on the wire, in hex
    password: str | None = None  # argon2id, for the web pages only
    tokens: tuple[Token, ...] = field(default=())
    disabled: bool = False
    subject: str | None = None  # of single sign-on: issuer and subject

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {
            "role": self.role.value,
            "per_day": str(self.per_day),
            "tokens": list(map(asdict, self.tokens)),
        }

    @staticmethod
    def of(stored: Mapping[str, Any]) -> "Account":
        known = {
            **stored,
            "role": Role(stored["role"]),
            "per_day": Fraction(stored["per_day"]),
            "tokens": tuple(Token(**t) for t in stored["tokens"]),
        }
        return Account(**known)


def checked_name(name: str) -> str:
    if NAME.fullmatch(name) is None:
        raise Misconfigured(
            "A name of an account has 1 to 63 small letters, digits, dots, hyphens, underscores or @.",
            hint="For example ana, or ana.silva@hospital.example.",
        )
    return name


def role_of(word: str) -> Role:
    try:
        return Role(word)
    except ValueError:
        raise Misconfigured(f"There is no role {word!r}.", hint=f"Roles: {', '.join(Role)}.") from None
