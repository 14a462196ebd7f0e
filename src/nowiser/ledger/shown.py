"""What counted releases showed, kept beside the chain: a release that follows is measured together with them.

The chain has the digest of each record. A record that is missing or changed is found before anything is built on it.
"""

from collections.abc import Iterator

from nowiser.errors import LedgerBroken
from nowiser.ledger.base import Release
from nowiser.ledger.chain import COLUMNS, Row, digest, entry_of
from nowiser.ledger.store import Work

_KEEP = "INSERT INTO nowiser_releases (seq, shown) VALUES (:seq, :shown)"
_ALL = f"SELECT {COLUMNS} FROM nowiser_entries WHERE kind = 'publication' AND seq > :after ORDER BY seq"  # noqa: S608
_ONE = "SELECT shown FROM nowiser_releases WHERE seq = :seq"
_KEPT = "SELECT seq FROM nowiser_releases"
_LAST = "SELECT max(seq) FROM nowiser_entries WHERE kind = 'publication'"


class Meanwhile(Exception):
    """Somebody else published since the releases were read."""


def check_last(work: Work, seen: int) -> None:
    """Raises Meanwhile unless this is the last publication."""
    if last(work) != seen:
        raise Meanwhile


def last(work: Work) -> int:
    row = work.execute(_LAST).fetchone()
    return int(row[0] or 0) if row is not None else 0


def keep(work: Work, seq: int, shown: bytes) -> None:
    work.execute(_KEEP, {"seq": seq, "shown": shown})


def releases(work: Work, after: int = 0) -> Iterator[Release]:
    """Every publication, with what it showed. Raises LedgerBroken where a record does not match the chain."""
    for row in list(work.execute(_ALL, {"after": after})):
        entry = entry_of(Row(*row))
        wanted, shown = entry.body.get("shown"), None
        if wanted is not None:
            found = work.execute(_ONE, {"seq": entry.seq}).fetchone()
            shown = bytes(found[0]) if found is not None else b""
            if digest(shown) != wanted:
                raise LedgerBroken(
                    f"the ledger does not verify: what release {entry.seq} showed was changed or removed",
                    hint="Without it no further release can be measured. Restore the ledger from a backup.",
                )
        yield Release(entry.seq, str(entry.body["what"]), str(entry.body["digest"]), shown)


def check(work: Work) -> None:
    """Raise LedgerBroken unless the records are those of the chain, all of them and no others."""
    known = {r.seq for r in releases(work) if r.shown is not None}
    if extra := {int(row[0]) for row in work.execute(_KEPT)} - known:
        raise LedgerBroken(f"the ledger does not verify: a record is kept for entry {min(extra)}, which shows nothing")
