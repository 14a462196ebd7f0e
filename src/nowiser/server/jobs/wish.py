"""What a job is told. No path comes from the network: tables are the policy's, files lie beside it in one folder."""

import re
from dataclasses import dataclass
from pathlib import Path

from nowiser.errors import Misconfigured

FOLDER = "releases"  # beside the policy
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}", re.ASCII)


@dataclass(frozen=True)
class Publish:
    """A table of the policy, as `releases/<name>.csv`. `suppress`: the share of rows that may be left out."""

    by: str
    table: str
    name: str
    k: int = 5
    suppress: str = "5%"
    seconds: float = 60.0  # how long a proof is looked for
    look: bool = False  # say what it would tell and use; write and charge nothing

    kind = "publish"

    def check(self, policy: Path) -> None:
        if NAME.fullmatch(self.name) is None:
            raise Misconfigured(
                "A name of a release has 1 to 63 small letters, digits, hyphens and underscores.",
                hint="Try stays-2026.",
            )
        if (policy.resolve().parent / FOLDER / f"{self.name}.csv").exists():
            raise Misconfigured(f"There is a release {self.name} already.", hint="Choose another name.")

    @property
    def what(self) -> str:
        return f"{'look at' if self.look else 'publish'} {self.table} as {FOLDER}/{self.name}.csv"


@dataclass(frozen=True)
class Compare:
    """A released file, found by its entry of the ledger, beside the table it was made of."""

    by: str
    table: str
    file: str  # below the folder of the policy; named by a codebook whose digest was charged

    kind = "compare"

    def check(self, policy: Path) -> None:
        """There is nothing that the network said."""

    @property
    def what(self) -> str:
        return f"compare {self.file} with {self.table}"


Wish = Publish | Compare
