"""Released files that lie beside the policy, found by what the ledger charged: never by a path that somebody sent."""

import json
from dataclasses import dataclass
from pathlib import Path

from nowiser.gateway import Gateway
from nowiser.server.jobs.wish import Compare
from nowiser.server.problems import NotFound

CODEBOOK = ".codebook.json"
LARGEST = 50_000_000  # bytes of a codebook or report that are read


@dataclass(frozen=True)
class Released:
    """`data`: the file itself, which may have been moved away."""

    data: Path
    report: Path
    comparison: Path


def released(gate: Gateway) -> dict[int, Released]:
    """By entry of the ledger: files whose codebook names the digest that was charged."""
    home = _home(gate)
    named: dict[str, Released] = {}
    for codebook in (*home.glob(f"*{CODEBOOK}"), *home.glob(f"*/*{CODEBOOK}")):
        name, digest = _described(codebook)
        if digest and name == Path(name).name:
            stem = codebook.name.removesuffix(CODEBOOK)
            files = (codebook.with_name(n) for n in (name, f"{stem}.report.html", f"{Path(name).stem}.compare.html"))
            named[digest] = Released(*files)
    return {r.seq: named[r.digest] for r in gate.ledger.releases() if r.digest and r.digest in named}


def compared(gate: Gateway, seq: int, table: str, by: str) -> Compare:
    """What a comparison of this release is told."""
    found = released(gate).get(seq)
    if found is None or not found.data.is_file():
        raise NotFound(
            "The file of this release is not here.", hint="It lies in the folder of the policy, or in one there."
        )
    if gate.policy.table(table) is None:
        raise NotFound(f"There is no table {table} in the policy.")
    return Compare(by, table, str(found.data.relative_to(_home(gate))))


def readable(file: Path) -> bool:
    return file.is_file() and file.stat().st_size <= LARGEST


def _home(gate: Gateway) -> Path:
    assert gate.policy.path is not None
    return gate.policy.path.resolve().parent


def _described(codebook: Path) -> tuple[str, str]:
    """Name and digest of the data it describes; empty where it is no codebook of ours."""
    if not readable(codebook):
        return "", ""
    try:
        found = json.loads(codebook.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return "", ""
    file = found.get("file") if isinstance(found, dict) else None
    return (str(file.get("name") or ""), str(file.get("sha256") or "")) if isinstance(file, dict) else ("", "")
