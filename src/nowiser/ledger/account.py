"""The ledger on SQLAlchemy Core: the same code on SQLite and PostgreSQL.

*Why a killed process has charged at least what it answered.* `reserve` commits before it returns, the data is
read afterwards, and nothing ever takes a charge back. *Why many writers never exceed a limit.* `admit` sees the totals
inside the transaction that appends, and writers take turns.
"""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Self

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from nowiser.errors import LedgerBroken
from nowiser.ledger.anchor import Anchor
from nowiser.ledger.base import Admit, Entry, EntryKind, Head, Reservation
from nowiser.ledger.chain import EVERYONE, GENESIS, Row, Totals, build, canonical, check_chain, digest, scope_of
from nowiser.ledger.chain import entry_hash as hash_of
from nowiser.ledger.database import Database, answers, entries, totals
from nowiser.ledger.declaration import declaration
from nowiser.model.charge import Charge, from_json, to_json
from nowiser.model.policy import Policy

# The statements of a question, built once: building them takes longer than running them.
_ADD, _KEEP, _OPEN_TOTAL = entries.insert(), answers.insert(), totals.insert()
_CHANGE = totals.update().where(totals.c.scope == sa.bindparam("of")).values(charge=sa.bindparam("charge"))
_TOTALS = sa.select(totals.c.scope, totals.c.charge)
_LAST = sa.select(entries).order_by(entries.c.seq.desc()).limit(1)
_OPEN = sa.select(entries.c.seq, entries.c.kind).where(
    (entries.c.seq == sa.bindparam("held")) | (entries.c.refers == sa.bindparam("held"))
)
_STORED = (
    sa.select(answers.c.seq, answers.c.answer, entries.c.body)
    .join_from(answers, entries, answers.c.seq == entries.c.seq)
    .where((answers.c.question == sa.bindparam("question")) & (answers.c.data_version == sa.bindparam("data_version")))
    .order_by(answers.c.seq)
    .limit(1)
)


class SqlLedger:
    """An account in a database, its head anchored in a file."""

    def __init__(self, database: Database, anchor: Anchor | None) -> None:
        self._database = database
        self._anchor = anchor
        self._check_anchor()

    # ------------------------------------------------------------------ writing

    def declare(self, policy: Policy, *, reason: str | None = None) -> bool:
        with self._database.read() as connection:
            if _declared(connection) == policy.digest:
                return False
        with self._database.write() as connection:
            body = declaration(_last_policy(connection), policy, reason)
            if body is None:
                return False
            head = self._append(connection, "policy", body)
        self._advance(head)
        return True

    def reserve(
        self, charge: Charge, admit: Admit, *, question: str, sql: str, analyst: str, data_version: str
    ) -> Reservation:
        body = {"question": question, "sql": sql, "data_version": data_version}
        head, now = self._charge("reserve", charge, admit, analyst, body)
        return Reservation(head.seq, question, data_version, now.of(EVERYONE))

    def publish(self, charge: Charge, admit: Admit, *, what: str, analyst: str, digest: str) -> int:
        return self._charge("publication", charge, admit, analyst, {"what": what, "digest": digest})[0].seq

    def settle(self, reservation: Reservation, answer: bytes) -> None:
        body = {
            "reservation": reservation.seq,
            "question": reservation.question,
            "data_version": reservation.data_version,
            "answer": digest(answer),
        }
        with self._database.write() as connection:
            head = self._append(connection, "settle", body, reservation)
            kept = {"question": reservation.question, "data_version": reservation.data_version, "answer": answer}
            connection.execute(_KEEP, {"seq": head.seq, **kept})
        self._advance(head, durable=False)  # its charge is anchored already

    def fail(self, reservation: Reservation) -> None:
        with self._database.write() as connection:
            head = self._append(connection, "failed", {"reservation": reservation.seq}, reservation)
        self._advance(head, durable=False)  # its charge is anchored already

    def _charge(
        self, kind: EntryKind, charge: Charge, admit: Admit, analyst: str, body: Mapping[str, Any]
    ) -> tuple[Head, Totals]:
        with self._database.write() as connection:
            now = _totals(connection)
            admit(now.of(EVERYONE), now.of(scope_of(analyst)))
            whole = {**body, "analyst": analyst, "charge": to_json(charge)}
            head = self._append(connection, kind, whole, charged=(analyst, charge), now=now)
        self._advance(head)
        return head, now

    def _append(
        self,
        connection: Connection,
        kind: EntryKind,
        body: Mapping[str, Any],
        reservation: Reservation | None = None,
        *,
        charged: tuple[str, Charge] | None = None,
        now: Totals | None = None,
    ) -> Head:
        """Add one entry. Refuses to build on a last entry or on totals that do not match their hashes."""
        current = now if now is not None else _totals(connection)
        head = _checked_head(connection, current)
        if reservation is not None:
            _check_open(connection, reservation)
        if charged is not None:
            for scope in current.add(*charged):
                _store_total(connection, scope, current.of(scope))
        stamped = {**body, "at": datetime.now(UTC).isoformat(timespec="milliseconds")}
        entry, text = build(head, kind, stamped, current)
        link = {"seq": entry.seq, "kind": kind, "body": text, "previous": entry.previous, "hash": entry.hash}
        connection.execute(_ADD, {**link, "refers": reservation.seq if reservation is not None else None})
        return Head(entry.seq, entry.hash)

    # ------------------------------------------------------------------ reading

    def stored(self, question: str, data_version: str) -> bytes | None:
        with self._database.read() as connection:
            row = connection.execute(_STORED, {"question": question, "data_version": data_version}).first()
        if row is None:
            return None
        if json.loads(row.body)["answer"] != digest(row.answer):
            raise LedgerBroken(f"the ledger does not verify: the stored answer of entry {row.seq} was changed")
        return bytes(row.answer)

    def totals(self, analyst: str | None = None) -> Charge:
        with self._database.read() as connection:
            return _totals(connection).of(EVERYONE if analyst is None else scope_of(analyst))

    def analysts(self) -> dict[str, Charge]:
        with self._database.read() as connection:
            scopes = _totals(connection).scopes
        prefix = scope_of("")
        return {s.removeprefix(prefix): charge for s, charge in sorted(scopes.items()) if s.startswith(prefix)}

    def entries(self) -> Iterator[Entry]:
        with self._database.read() as connection:
            for row in _rows(connection):
                yield Entry(row.seq, row.kind, json.loads(row.body), row.previous, row.hash)

    # ------------------------------------------------------------------ checking

    def verify(self) -> Head:
        anchored = self._anchor.read() if self._anchor is not None else GENESIS  # before the view, so never ahead of it
        if anchored is None:
            raise LedgerBroken("the ledger does not verify: its anchor is missing", hint=_RESTORE)
        with self._database.read() as connection:
            counted, head = Totals(), GENESIS
            kept = _answer_digests(connection)
            for entry in check_chain(_rows(connection), counted):
                head = Head(entry.seq, entry.hash)
                if entry.seq == anchored.seq and entry.hash != anchored.hash:
                    raise _rolled_back(anchored)
                if entry.kind == "settle":
                    expected = (entry.body["question"], entry.body["data_version"], entry.body["answer"])
                    if kept.pop(entry.seq, None) != expected:
                        raise LedgerBroken(
                            f"the ledger does not verify: the stored answer of entry {entry.seq} was changed or removed"
                        )
            if kept:
                raise LedgerBroken(
                    f"the ledger does not verify: an answer is stored for entry {min(kept)}, which settles nothing"
                )
            if head.seq < anchored.seq:
                raise _rolled_back(anchored)
            if _totals(connection).scopes != counted.scopes:
                raise LedgerBroken("the ledger does not verify: the totals are not the sum of the entries")
        return head

    def _check_anchor(self) -> None:
        """At opening: the chain must contain the anchored entry."""
        if self._anchor is None:
            return
        anchored = self._anchor.read()
        with self._database.read() as connection:
            head = _head(connection)
            if anchored is not None and anchored.seq > 0:
                found = connection.execute(sa.select(entries.c.hash).where(entries.c.seq == anchored.seq)).scalar()
                if found != anchored.hash:
                    raise _rolled_back(anchored)
        if anchored is None:
            if head.seq and self._database.is_sqlite:
                raise LedgerBroken("the ledger does not verify: its anchor is missing", hint=_RESTORE)
            # a new ledger; or another host's ledger, trusted as it is found when first used from here
            self._anchor.create(head)

    def _advance(self, head: Head, *, durable: bool = True) -> None:
        if self._anchor is not None:
            self._anchor.advance(head, durable=durable)

    def close(self) -> None:
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_RESTORE = "Put back the ledger and its anchor (the .head file) as they were together; never answer without them."


def _rolled_back(anchored: Head) -> LedgerBroken:
    return LedgerBroken(
        f"the ledger does not verify: it does not contain entry {anchored.seq} as anchored; "
        "it was rolled back, replaced or rewritten",
        hint=_RESTORE,
    )


def _rows(connection: Connection) -> Iterator[Row]:
    columns = (entries.c.seq, entries.c.kind, entries.c.body, entries.c.previous, entries.c.hash, entries.c.refers)
    for row in connection.execute(sa.select(*columns).order_by(entries.c.seq)).yield_per(1000):
        yield Row(*row)


def _head(connection: Connection) -> Head:
    last = sa.select(entries.c.seq, entries.c.hash).order_by(entries.c.seq.desc()).limit(1)
    row = connection.execute(last).first()
    return Head(row.seq, row.hash) if row is not None else GENESIS


def _checked_head(connection: Connection, current: Totals) -> Head:
    """The last entry, whose hash must match its content and whose totals must be the ones at hand."""
    row = connection.execute(_LAST).first()
    if row is None:
        return GENESIS
    if hash_of(row.seq, row.kind, row.body, row.previous) != row.hash:
        raise LedgerBroken(f"the ledger does not verify: the content of entry {row.seq} does not match its hash")
    if json.loads(row.body)["totals"] != current.digest():
        raise LedgerBroken("the ledger does not verify: the totals are not the sum of the entries")
    return Head(row.seq, row.hash)


def _check_open(connection: Connection, reservation: Reservation) -> None:
    found = connection.execute(_OPEN, {"held": reservation.seq}).all()
    if ("reserve", reservation.seq) not in [(row.kind, row.seq) for row in found]:
        raise ValueError(f"entry {reservation.seq} is no reservation")
    if len(found) > 1:
        raise ValueError(f"reservation {reservation.seq} was settled or failed before")


def _totals(connection: Connection) -> Totals:
    rows = connection.execute(_TOTALS)
    return Totals({scope: from_json(json.loads(charge)) for scope, charge in rows})


def _store_total(connection: Connection, scope: str, charge: Charge) -> None:
    text = canonical(to_json(charge))
    changed = connection.execute(_CHANGE, {"of": scope, "charge": text})
    if changed.rowcount == 0:
        connection.execute(_OPEN_TOTAL, {"scope": scope, "charge": text})


def _answer_digests(connection: Connection) -> dict[int, tuple[str, str, str]]:
    rows = connection.execute(sa.select(answers.c.seq, answers.c.question, answers.c.data_version, answers.c.answer))
    return {row.seq: (row.question, row.data_version, digest(row.answer)) for row in rows.yield_per(100)}


def _last_policy(connection: Connection) -> dict[str, Any] | None:
    last = sa.select(entries.c.body).where(entries.c.kind == "policy").order_by(entries.c.seq.desc()).limit(1)
    text = connection.execute(last).scalar()
    return json.loads(text) if text is not None else None


def _declared(connection: Connection) -> str | None:
    body = _last_policy(connection)
    return body["digest"] if body is not None else None
