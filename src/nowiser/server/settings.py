"""What the server is told when it starts."""

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from nowiser.errors import Misconfigured
from nowiser.server.http.provider import SignOn


@dataclass(frozen=True)
class Settings:
    """`at_least`: seconds until a new answer is told at the earliest (see `desk.py`); None: as the policy says."""

    policy: Path = Path("nowiser.yaml")
    host: str = "127.0.0.1"
    port: int = 8080  # HTTP and pages; 0: any that is free
    pg_port: int | None = 5433  # the PostgreSQL wire; None: not spoken
    certificate: Path | None = None
    key: Path | None = None
    threads: int = 4  # questions answered at once
    waiting: int = 128  # questions waiting or running, at most; half of them of one account
    at_least: float | None = None  # instead of the policy's
    proxied: bool = False  # behind a proxy on this machine that speaks TLS
    connections: int = 200  # of the wire
    per_account: int = 20
    four_eyes: bool = False
    sign_on: SignOn | None = None

    @property
    def local(self) -> bool:
        """Whether only this machine can connect."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    def check(self) -> None:
        """Raise Misconfigured for what would be unsafe or cannot work."""
        if self.sign_on is not None:
            self.sign_on.check()
        if (self.certificate is None) != (self.key is None):
            raise Misconfigured("TLS needs both --certificate and --key.")
        for file in (self.certificate, self.key):
            if file is not None and not file.is_file():
                raise Misconfigured(f"There is no file {file}.", hint="Give the certificate and its key in PEM.")
        if not self.local and self.certificate is None:
            raise Misconfigured(
                f"{self.host} can be reached from other machines, and passwords would be sent in clear.",
                hint="Give --certificate and --key, or listen on 127.0.0.1 behind a proxy that speaks TLS.",
            )
