# ruff: noqa: S608 (the SQL is made of our own words only)
"""The ledger: the same code and the same statements on SQLite and PostgreSQL.

*Why a killed process has charged at least what it answered.* `reserve` commits before it returns, the data is
read afterwards, and nothing ever takes a charge back. *Why many writers never exceed a limit.* `admit` sees the totals
inside the transaction that appends, and writers take turns. *Why a changed policy binds gateways that are open.* The
same transaction compares the policy of whoever charges with the one declared last.
"""

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Self

from nowiser.errors import LedgerBroken, Misconfigured
from nowiser.ledger import accounts, alarms, owner, shown as shown_releases, spent
from nowiser.ledger.access import check_access, check_policy, failures, in_force
from nowiser.ledger.anchor import Anchor
from nowiser.ledger.base import Admit, Armed, Entry, EntryKind, Head, Outcome, Release, Reservation
from nowiser.ledger.chain import (
    COLUMNS,
    EVERYONE,
    GENESIS,
    Row,
    Totals,
    build,
    charge_of,
    check_chain,
    digest as digest_of,
    entry_of,
    scope_of,
    text_of,
)
from nowiser.ledger.daily import charged_since
from nowiser.ledger.declaration import declaration
from nowiser.ledger.flight import abandoned, check_flight
from nowiser.ledger.store import Store, Work
from nowiser.ledger.untold import until_told
from nowiser.model.charge import Charge, to_json
from nowiser.model.policy import Policy

_ADD = (
    "INSERT INTO nowiser_entries (seq, kind, body, previous, hash, refers)"
    " VALUES (:seq, :kind, :body, :previous, :hash, :refers)"
)
_KEEP = (
    "INSERT INTO nowiser_answers (seq, question, data_version, answer) VALUES (:seq, :question, :data_version, :answer)"
)
_NOTE = "INSERT INTO nowiser_measured (base, data_version, seq) VALUES (:base, :data_version, :seq)"
_CHANGE = (
    "INSERT INTO nowiser_totals (scope, charge) VALUES (:scope, :charge)"
    " ON CONFLICT (scope) DO UPDATE SET charge = excluded.charge"
)
_TOTALS = "SELECT scope, charge FROM nowiser_totals"
_ROWS = f"SELECT {COLUMNS} FROM nowiser_entries ORDER BY seq"
_LAST = f"{_ROWS} DESC LIMIT 1"
_ENTRY = f"SELECT {COLUMNS} FROM nowiser_entries WHERE seq = :seq"
_ONE = "SELECT hash FROM nowiser_entries WHERE seq = :seq"
_OPEN = "SELECT seq, kind FROM nowiser_entries WHERE seq = :held OR refers = :held"
_STORED = (
    "SELECT a.answer, e.seq, e.kind, e.body, e.previous, e.hash, e.refers FROM nowiser_answers a"
    " JOIN nowiser_entries e ON a.seq = e.seq"
    " WHERE a.question = :question AND a.data_version = :data_version ORDER BY a.seq LIMIT 1"
)
_MEASURED = (
    "SELECT a.answer, e.seq, e.kind, e.body, e.previous, e.hash, e.refers FROM nowiser_measured m"
    " JOIN nowiser_answers a ON a.seq = m.seq JOIN nowiser_entries e ON e.seq = m.seq"
    " WHERE m.base = :base AND m.data_version = :data_version AND a.data_version = :data_version ORDER BY m.seq"
)
_ANSWERS = "SELECT seq, question, data_version, answer FROM nowiser_answers"


NOTHING = Charge()
NO_DETAILS: Mapping[str, Any] = {}


class SqlLedger:
    """An account in a database, its head anchored in a file."""

    def __init__(self, store: Store, anchor: Anchor | None, *, lost: bool = False) -> None:
        """`lost`: opened to `accept_lost`, although the anchor does not find its entry."""
        self._store = store
        self._anchor = anchor
        if not lost:
            self._check_anchor()

    # ------------------------------------------------------------------ writing

    def declare(self, policy: Policy, *, reason: str | None = None) -> bool:
        with self._store.read() as work:
            last = in_force(work)
            if last is not None and last["digest"] == policy.digest:
                return False
        with self._store.write() as work:
            body = declaration(in_force(work), policy, reason)
            if body is None:
                return False
            head = self._append(work, "policy", body)
        self._advance(head)
        self._anchored()
        return True

    def reserve(
        self,
        charge: Charge,
        admit: Admit,
        *,
        policy: str,
        question: str,
        sql: str,
        analyst: str,
        data_version: str,
        once: bool = False,
    ) -> Reservation:
        body = {"question": question, "sql": sql, "data_version": data_version, "analyst": analyst, "owner": owner.me()}
        head, now = self._charge("reserve", charge, admit, policy, body, once=once)
        anchor = lru_cache(maxsize=1)(self._anchored)
        return Reservation(head.seq, question, data_version, now.of(EVERYONE), analyst, anchor)

    def arm(
        self,
        charge: Charge,
        admit: Admit,
        *,
        policy: str,
        question: str,
        sql: str,
        analyst: str,
        data_version: str,
        terms: dict[str, Any],
        secret: bytes,
        after: int,
    ) -> Armed:
        asked = {"question": question, "sql": sql, "data_version": data_version, "analyst": analyst}
        body = {**asked, "alarm": terms, "secret": digest_of(secret)}
        with contextlib.suppress(alarms.AlreadyArmed):  # by somebody else, just now
            self._charge(
                "reserve",
                charge,
                admit,
                policy,
                body,
                besides=partial(alarms.keep, question=question, secret=secret, after=after),
            )
            self._anchored()
        found = self.alarm(question)
        assert found is not None
        return found

    def look(
        self,
        alarm: Armed,
        outcome: Outcome,
        *,
        policy: str,
        analyst: str,
        data_version: str,
        answer: bytes = b"",
        owed: Charge = NOTHING,
    ) -> bool:
        held = alarm.reservation
        with self._store.write() as work:
            check_access(work, policy, analyst)
            now = alarms.find(work, held.question)
            if now is None or now.reservation.seq != held.seq or now.over is not None:
                return False
            match outcome:
                case "quiet":
                    body = {"alarm": held.seq, "data_version": data_version, "analyst": analyst}
                    head = self._append(work, "look", body)
                case "rang":
                    head = self._settled(work, held, answer)
                case "failed":
                    body = {"reservation": held.seq, "analyst": analyst, "charge": to_json(owed)}
                    head = self._append(work, "failed", body, held, charged=(analyst, owed))
            alarms.looked(work, held.seq, data_version, over=outcome != "quiet")
        self._advance(head)
        self._anchored()
        return True

    def publish(
        self,
        charge: Charge,
        admit: Admit,
        *,
        policy: str,
        what: str,
        analyst: str,
        digest: str,
        shown: bytes | None = None,
        after: int | None = None,
    ) -> int:
        body = {"what": what, "digest": digest, "analyst": analyst}
        if shown is not None:
            body["shown"] = digest_of(shown)

        def first(work: Work) -> None:
            if after is not None:
                shown_releases.check_last(work, after)

        def besides(work: Work, seq: int) -> None:
            if shown is not None:
                shown_releases.keep(work, seq, shown)

        head, _ = self._charge("publication", charge, admit, policy, body, first=first, besides=besides)
        self._anchored()
        return head.seq

    def releases(self) -> list[Release]:
        with self._store.read() as work:
            return list(shown_releases.releases(work))

    def act(self, what: str, *, by: str, details: Mapping[str, Any] = NO_DETAILS) -> int:
        with self._store.write() as work:
            head = self._append(work, "act", {**details, "what": what, "by": by})
        self._advance(head)
        self._anchored()
        return head.seq

    def keep_account(self, name: str, account: Mapping[str, Any] | None, *, what: str, by: str) -> int:
        text = accounts.packed(dict(account) if account is not None else None)
        body = {"what": what, "by": by, "account": name, "digest": digest_of(text.encode())}
        with self._store.write() as work:
            head = self._append(work, "act", body)
            accounts.keep(work, head.seq, name, text)
        self._advance(head)
        self._anchored()
        return head.seq

    def settle(self, reservation: Reservation, answer: bytes, measured: Sequence[str] = ()) -> None:
        with self._store.write() as work:
            head = self._settled(work, reservation, answer, measured)
        self._advance(head)
        reservation.anchor()

    def _settled(self, work: Work, reservation: Reservation, answer: bytes, measured: Sequence[str] = ()) -> Head:
        body = {
            "reservation": reservation.seq,
            "question": reservation.question,
            "data_version": reservation.data_version,
            "answer": digest_of(answer),
        }
        head = self._append(work, "settle", body, reservation)
        kept = {"question": reservation.question, "data_version": reservation.data_version, "answer": answer}
        work.execute(_KEEP, {"seq": head.seq, **kept})
        for base in dict.fromkeys(measured):
            work.execute(_NOTE, {"base": base, "data_version": reservation.data_version, "seq": head.seq})
        return head

    def fail(self, reservation: Reservation, owed: Charge = NOTHING) -> None:
        body = {"reservation": reservation.seq, "analyst": reservation.analyst, "charge": to_json(owed)}
        with self._store.write() as work:
            head = self._append(work, "failed", body, reservation, charged=(reservation.analyst, owed))
        self._advance(head)
        reservation.anchor()

    def reopen(self, *, analyst: str | None, reason: str) -> int:
        with self._store.write() as work:
            failed = failures(work)
            forgiven = sum(failed.values()) if analyst is None else failed.get(analyst, 0)
            if not forgiven:
                return 0
            head = self._append(work, "reopened", {"analyst": analyst, "reason": reason, "failures": forgiven})
        self._advance(head)
        self._anchored()
        return forgiven

    def _charge(
        self,
        kind: EntryKind,
        charge: Charge,
        admit: Admit,
        policy: str,
        body: Mapping[str, Any],
        *,
        once: bool = False,
        first: Callable[[Work], None] | None = None,
        besides: Callable[[Work, int], None] | None = None,
    ) -> tuple[Head, Totals]:
        analyst = body["analyst"]
        with self._store.write() as work:
            if first is not None:
                first(work)
            if kind == "reserve":
                check_access(work, policy, analyst)
                if once:
                    check_flight(work, body["question"], body["data_version"])
            else:  # releases are the custodian's own
                check_policy(work, policy)
            now, held = _totals(work), None
            every, own = now.of(EVERYONE), now.of(scope_of(analyst))
            if once and (found := abandoned(work, body["question"], body["data_version"])) and found[1] == charge:
                held = _reservation(work, found[0])
                body = {**body, "reservation": held.seq}
                every, charge = every.without(charge), NOTHING
                own = own.without(found[1]) if held.analyst == analyst else own
            admit(every, own)
            whole = {**body, "charge": to_json(charge)}
            head = self._append(work, kind, whole, held, charged=(analyst, charge), now=now)
            if besides is not None:
                besides(work, head.seq)
        self._advance(head)
        return head, now

    def _append(
        self,
        work: Work,
        kind: EntryKind,
        body: Mapping[str, Any],
        reservation: Reservation | None = None,
        *,
        charged: tuple[str, Charge] | None = None,
        now: Totals | None = None,
    ) -> Head:
        """Add one entry. Refuses to build on a last entry or on totals that do not match their hashes."""
        current = now if now is not None else _totals(work)
        head = _checked_head(work, current)
        if reservation is not None:
            _check_open(work, reservation)
        if charged is not None:
            for scope in current.add(*charged):
                work.execute(_CHANGE, {"scope": scope, "charge": text_of(current.of(scope))})
        stamped = {**body, "at": datetime.now(UTC).isoformat(timespec="milliseconds")}
        entry, text = build(head, kind, stamped, current)
        link = {"seq": entry.seq, "kind": kind, "body": text, "previous": entry.previous, "hash": entry.hash}
        work.execute(_ADD, {**link, "refers": reservation.seq if reservation is not None else None})
        return Head(entry.seq, entry.hash, current.text())

    # ------------------------------------------------------------------ reading

    def check_access(self, *, policy: str, analyst: str | None = None) -> None:
        with self._store.read() as work:
            if analyst is None:
                check_policy(work, policy)
            else:
                check_access(work, policy, analyst)

    def account(self, name: str) -> dict[str, Any] | None:
        with self._store.read() as work:
            text = accounts.find(work, name)
        return None if text is None else json.loads(text)

    def accounts(self) -> dict[str, dict[str, Any]]:
        with self._store.read() as work:
            return {name: json.loads(text) for name, text in accounts.every(work).items()}

    def charged_since(self, analyst: str, at: datetime) -> Charge:
        with self._store.read() as work:
            return charged_since(work, analyst, at)

    def failures(self) -> dict[str, int]:
        with self._store.read() as work:
            return failures(work)

    def stored(self, question: str, data_version: str) -> bytes | None:
        with self._store.read() as work:
            row = work.execute(_STORED, {"question": question, "data_version": data_version}).fetchone()
        return None if row is None else _checked_answer(row)

    def until_told(self, at_least: float) -> float:
        with self._store.read() as work:
            return until_told(work, at_least)

    def abandoned(self, question: str, data_version: str) -> Charge:
        with self._store.read() as work:
            found = abandoned(work, question, data_version)
        return NOTHING if found is None else found[1]

    def measurements(self, base: str, data_version: str) -> list[bytes]:
        with self._store.read() as work:
            rows = list(work.execute(_MEASURED, {"base": base, "data_version": data_version}))
        return [_checked_answer(row) for row in {row[1]: row for row in rows}.values()]

    def alarm(self, question: str) -> Armed | None:
        with self._store.read() as work:
            return alarms.find(work, question)

    def totals(self, analyst: str | None = None) -> Charge:
        with self._store.read() as work:
            return _checked_totals(work).of(EVERYONE if analyst is None else scope_of(analyst))

    def analysts(self) -> dict[str, Charge]:
        with self._store.read() as work:
            scopes = _checked_totals(work).scopes
        prefix = scope_of("")
        return {s.removeprefix(prefix): charge for s, charge in sorted(scopes.items()) if s.startswith(prefix)}

    def entries(self) -> Iterator[Entry]:
        with self._store.read() as work:
            for row in _rows(work):
                yield entry_of.__wrapped__(row)

    # ------------------------------------------------------------------ copies

    def backup(self, file: Path) -> Head:
        head = self.verify()
        self._store.backup(file)
        return head

    def accept_lost(self, reason: str) -> int:
        anchored = self._anchor.read() if self._anchor is not None else None
        if self._anchor is None or anchored is None:
            raise LedgerBroken("the ledger does not verify: its anchor is missing", hint=_RESTORE)
        with self._store.write() as work:
            last = _last(work)
            found = work.execute(_ONE, {"seq": anchored.seq}).fetchone()
            if found is not None and found[0] == anchored.hash:
                raise Misconfigured("Nothing is lost: the ledger contains the entry that is anchored.")
            counted, head = Totals(), GENESIS
            for entry in check_chain(_rows(work), counted):
                head = Head(entry.seq, entry.hash)
            if last is None or head.seq >= anchored.seq:
                raise LedgerBroken("the ledger does not verify: it is no older copy of the anchored one", hint=_RESTORE)
            known = spent.read(self._anchor.path, anchored)
            body = {
                "what": "an older copy was put back",
                "reason": reason,
                "until": anchored.seq,
                "head": anchored.hash,
            }
            many, prefix = anchored.seq - head.seq, scope_of("")
            scopes = sorted(s for s in known.scopes | counted.scopes if s.startswith(prefix))
            for scope in scopes or [prefix]:
                try:
                    owed = known.of(scope).without(counted.of(scope))
                except ValueError:
                    raise LedgerBroken("this is no older copy of the anchored ledger", hint=_RESTORE) from None
                if owed or scope == (scopes or [prefix])[-1]:
                    analyst = scope.removeprefix(prefix)
                    whole = {**body, "analyst": analyst, "charge": to_json(owed)}
                    head = self._append(work, "lost", whole, charged=(analyst, owed))
        self._anchor.start_again(head)
        return many

    # ------------------------------------------------------------------ checking

    def verify(self) -> Head:
        anchored = self._anchor.read() if self._anchor is not None else GENESIS  # before the view, so never ahead of it
        if anchored is None:
            raise LedgerBroken("the ledger does not verify: its anchor is missing", hint=_RESTORE)
        with self._store.read() as work:
            self._store.check(work)
            counted, head = Totals(), GENESIS
            kept = _answer_digests(work)
            for entry in check_chain(_rows(work), counted):
                head = Head(entry.seq, entry.hash)
                if entry.seq == anchored.seq and entry.hash != anchored.hash:
                    raise _rolled_back(anchored)
                if entry.kind == "settle":
                    expected = (entry.body["question"], entry.body["data_version"], entry.body["answer"])
                    if kept.pop(entry.seq, None) != expected:
                        raise LedgerBroken(
                            f"the ledger does not verify: the stored answer of entry {entry.seq} was changed or removed"
                        )
            alarms.check(work)
            shown_releases.check(work)
            accounts.check(work)
            if kept:
                raise LedgerBroken(
                    f"the ledger does not verify: an answer is stored for entry {min(kept)}, which settles nothing"
                )
            if head.seq < anchored.seq:
                raise _rolled_back(anchored)
            if _totals(work).scopes != counted.scopes:
                raise LedgerBroken("the ledger does not verify: the totals are not the sum of the entries")
        return head

    def _check_anchor(self) -> None:
        """At opening: the chain must contain the anchored entry."""
        if self._anchor is None:
            return
        anchored = self._anchor.read()
        with self._store.read() as work:
            last = _last(work)
            if anchored is not None and anchored.seq > 0:
                found = work.execute(_ONE, {"seq": anchored.seq}).fetchone()
                if found is None or found[0] != anchored.hash:
                    raise _rolled_back(anchored)
        if anchored is None:
            if last is not None and self._store.file is not None:
                raise LedgerBroken("the ledger does not verify: its anchor is missing", hint=_RESTORE)
            # a new ledger; or another host's ledger, trusted as it is found when first used from here
            self._anchor.create(Head(last.seq, last.hash) if last is not None else GENESIS)
        self._anchor.close_to_others()

    def _advance(self, head: Head) -> None:
        """Every process sees it at once, and it outlives ours; `_anchored` makes it outlive a power failure."""
        if self._anchor is not None:
            self._anchor.advance(head)

    def _anchored(self) -> None:
        if self._anchor is not None:
            self._anchor.sync()

    def close(self) -> None:
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_RESTORE = (
    "Put back the ledger and its anchor (the .head file) as they were together. Where only an older copy is left: "
    '`nowiser ledger accept --lost "why"` books what was charged after it.'
)


def _rolled_back(anchored: Head) -> LedgerBroken:
    return LedgerBroken(
        f"the ledger does not verify: it does not contain entry {anchored.seq} as anchored; "
        "it was rolled back, replaced or rewritten",
        hint=_RESTORE,
    )


def _reservation(work: Work, seq: int) -> Reservation:
    entry = entry_of(Row(*work.execute(_ENTRY, {"seq": seq}).fetchone()))
    return Reservation(seq, entry.body["question"], entry.body["data_version"], analyst=entry.body["analyst"])


def _checked_answer(row: Any) -> bytes:
    """A stored answer, which must be what the entry that settled it says."""
    answer, *rest = row
    entry = entry_of(Row(*rest))
    if not isinstance(answer, bytes) or entry.body.get("answer") != digest_of(answer):
        raise LedgerBroken(f"the ledger does not verify: the stored answer of entry {entry.seq} was changed")
    return bytes(answer)


def _rows(work: Work) -> Iterator[Row]:
    for row in work.execute(_ROWS):
        yield Row(*row)


def _last(work: Work) -> Row | None:
    row = work.execute(_LAST).fetchone()
    return Row(*row) if row is not None else None


def _checked_head(work: Work, current: Totals) -> Head:
    """The last entry, whose hash must match its content and whose totals must be the ones at hand."""
    row = _last(work)
    if row is None:
        return GENESIS
    if entry_of.__wrapped__(row).body["totals"] != current.digest():
        raise LedgerBroken("the ledger does not verify: the totals are not the sum of the entries")
    return Head(row.seq, row.hash)


def _check_open(work: Work, reservation: Reservation) -> None:
    found = [(seq, kind) for seq, kind in work.execute(_OPEN, {"held": reservation.seq})]
    if (reservation.seq, "reserve") not in found:
        raise ValueError(f"entry {reservation.seq} is no reservation")
    if len(found) > 1:
        raise ValueError(f"reservation {reservation.seq} was settled or failed before")


def _totals(work: Work) -> Totals:
    return Totals({scope: charge_of(text) for scope, text in work.execute(_TOTALS)})


def _checked_totals(work: Work) -> Totals:
    found = _totals(work)
    _checked_head(work, found)
    return found


def _answer_digests(work: Work) -> dict[int, tuple[str, str, str]]:
    return {
        seq: (question, version, digest_of(answer) if isinstance(answer, bytes) else "")
        for seq, question, version, answer in work.execute(_ANSWERS)
    }
