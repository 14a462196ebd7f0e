"""The chain: what an entry's hash covers, and what makes a list of entries one unbroken chain.

An entry's hash is SHA-256 over the previous hash and the canonical JSON (sorted keys, no spaces, UTF-8) of its
number, kind and body. The body of every entry also names the digest of all totals after it. So whoever knows the
last hash knows every entry and every total: changing, dropping, inserting or reordering one changes the last hash.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from nowiser.errors import LedgerBroken
from nowiser.ledger.base import Entry, EntryKind, Head
from nowiser.model.charge import Charge, from_json, to_json

GENESIS = Head(0, "0" * 64)  # before the first entry
EVERYONE = "everyone"  # scope of the common totals; one analyst's scope is `analyst:<name>`


_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical(value: Any) -> str:
    return _CANONICAL.encode(value)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def entry_hash(seq: int, kind: str, body: str, previous: str) -> str:
    """`body` is the canonical JSON as stored: a single changed byte changes the hash."""
    return digest(f"{previous}\n{seq}\n{kind}\n{body}".encode())


@lru_cache(maxsize=1024)
def text_of(charge: Charge) -> str:
    """The canonical JSON of a charge. Remembered, like its inverse: totals are read and written again and again."""
    return canonical(to_json(charge))


@lru_cache(maxsize=1024)
def charge_of(text: str) -> Charge:
    """A charge as `text_of` wrote it. Raises LedgerBroken for anything else."""
    try:
        found = from_json(json.loads(text))
    except (ValueError, TypeError):
        found = None
    if found is None or text_of(found) != text:
        raise LedgerBroken("the ledger does not verify: a total cannot be read")
    return found


def scope_of(analyst: str) -> str:
    return f"analyst:{analyst}"


@dataclass
class Totals:
    """What has been charged, in all and per analyst."""

    scopes: dict[str, Charge] = field(default_factory=dict)

    def add(self, analyst: str, charge: Charge) -> tuple[str, ...]:
        """Charge; the scopes that changed."""
        changed = (EVERYONE, scope_of(analyst))
        for scope in changed:
            self.scopes[scope] = self.scopes.get(scope, Charge()) + charge
        return changed

    def of(self, scope: str) -> Charge:
        return self.scopes.get(scope, Charge())

    def text(self) -> str:
        """All scopes, for the file beside the anchor."""
        return canonical({scope: to_json(charge) for scope, charge in self.scopes.items()})

    @staticmethod
    def of_text(text: str) -> "Totals":
        return Totals({scope: from_json(charge) for scope, charge in json.loads(text).items()})

    def digest(self) -> str:
        """Of the canonical JSON of all scopes, put together from that of each charge."""
        parts = (f"{canonical(scope)}:{text_of(charge)}" for scope, charge in sorted(self.scopes.items()))
        return digest(f"{{{','.join(parts)}}}".encode())


def build(head: Head, kind: EntryKind, body: Mapping[str, Any], totals: Totals) -> tuple[Entry, str]:
    """The next entry after `head`, and its body as it is stored."""
    whole = {**body, "totals": totals.digest()}
    text = canonical(whole)
    seq = head.seq + 1
    return Entry(seq, kind, whole, head.hash, entry_hash(seq, kind, text, head.hash)), text


COLUMNS = "seq, kind, body, previous, hash, refers"  # of a row


@dataclass(frozen=True)
class Row:
    """An entry as a database stores it."""

    seq: int
    kind: EntryKind
    body: str
    previous: str
    hash: str
    refers: int | None


@lru_cache(maxsize=256)
def entry_of(row: Row) -> Entry:
    """The entry of a row by itself, whose `body` is not to be changed. Raises LedgerBroken unless the row is what was
    hashed: nothing of an entry is used unchecked. Remembered: the policy in force is read with every question.
    """
    if entry_hash(row.seq, row.kind, row.body, row.previous) != row.hash:
        raise LedgerBroken(f"the ledger does not verify: the content of entry {row.seq} does not match its hash")
    return Entry(row.seq, row.kind, json.loads(row.body), row.previous, row.hash)


def check_row(row: Row, head: Head) -> Entry:
    """The entry of a row that must follow `head`."""
    where = f"entry {head.seq + 1}"
    if row.seq != head.seq + 1:
        raise LedgerBroken(f"the ledger does not verify: {where} is missing; the next one is number {row.seq}")
    if row.previous != head.hash:
        raise LedgerBroken(f"the ledger does not verify: {where} does not continue the entry before it")
    entry = entry_of.__wrapped__(row)  # each once: a long chain would push out what is worth remembering
    if row.refers != entry.body.get("reservation"):
        raise LedgerBroken(f"the ledger does not verify: {where} points at another reservation than its body says")
    return entry


def check_chain(rows: Iterable[Row], totals: Totals) -> Iterator[Entry]:
    """Every entry in order, each checked before it is yielded; `totals` is filled on the way."""
    head = GENESIS
    open_reservations: set[int] = set()
    for row in rows:
        entry = check_row(row, head)
        if "charge" in entry.body:
            totals.add(entry.body["analyst"], from_json(entry.body["charge"]))
        if entry.kind == "reserve":
            open_reservations.add(entry.seq)
        if row.refers is not None:
            if row.refers not in open_reservations:
                raise LedgerBroken(
                    f"the ledger does not verify: entry {entry.seq} closes entry {row.refers}, "
                    "which is no open reservation"
                )
            open_reservations.remove(row.refers)
        if entry.body["totals"] != totals.digest():
            raise LedgerBroken(f"the ledger does not verify: the totals named in entry {entry.seq} are wrong")
        head = Head(entry.seq, entry.hash)
        yield entry
