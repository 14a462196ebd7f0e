"""What the ledger of a policy says so far, verified; nothing is written, and none is started for the purpose."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nowiser.model.charge import Charge
from nowiser.model.policy import Policy

NOTHING = Charge()
_POLICY = re.compile(r"^nowiser:\s*1\s*(#.*)?$", re.MULTILINE)
_LEDGER = re.compile(r"^ledger:\s*[\"']?([^\s\"'#]+)", re.MULTILINE)


@dataclass(frozen=True)
class Past:
    totals: Charge = NOTHING
    entries: int = 0
    head: str | None = None
    loosened: tuple[str, ...] = ()  # what this policy promises less than the one last declared
    open_to_all: bool = False  # everybody on this machine may read its file

    def to_json(self) -> dict[str, Any]:
        return {"entries": self.entries, "head": self.head}


def shared_with(policy: Policy) -> tuple[str, ...]:
    """Other policies in this folder that keep their account in the same ledger."""
    if policy.path is None:
        return ()
    here = policy.path.resolve()
    found = []
    for other in sorted([*here.parent.glob("*.yaml"), *here.parent.glob("*.yml")]):
        if other == here:
            continue
        try:
            text = other.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):  # then it is no policy that anybody uses
            continue
        if not _POLICY.search(text):
            continue
        said = _LEDGER.search(text)
        if (said[1] if said else None) == policy.ledger:
            found.append(other.name)
    return tuple(found)


def sharing(policy: Policy) -> str | None:
    """What to say about that; None where nothing is shared."""
    others = shared_with(policy)
    if not others or policy.path is None:
        return None
    own = f"ledger: sqlite:///.nowiser/{policy.path.stem}.sqlite"
    return (
        f"{policy.path.name} and {', '.join(others)} share one ledger: what is answered under one uses up the other. "
        f"That is right for the same people; for others write `{own}`"
    )


def look_back(policy: Policy) -> Past:
    """Raises LedgerBroken when it does not verify, Unreachable when its database is."""
    from nowiser.ledger.lock import open_to_all
    from nowiser.ledger.opening import FOLDER, for_policy
    from nowiser.policy import compare, from_canonical

    file: Path | None = None
    url = policy.ledger or f"sqlite:///{FOLDER}/ledger.sqlite"
    if url.startswith("sqlite:///"):
        home = policy.path.resolve().parent if policy.path is not None else None
        file = (home / url.removeprefix("sqlite:///")) if home is not None else None
        # an anchor without its ledger is a ledger that was taken away: opening it says so
        if file is None or not (file.exists() or file.with_suffix(".head").exists()):
            return Past()
    with for_policy(policy) as ledger:
        head = ledger.verify()
        declared = [entry.body for entry in ledger.entries() if entry.kind == "policy"]
        loosened: tuple[str, ...] = ()
        if declared and declared[-1]["digest"] != policy.digest:
            loosened = compare(from_canonical(declared[-1]["policy"]), policy).loosened
        return Past(ledger.totals(), head.seq, head.hash, loosened, file is not None and open_to_all(file))
