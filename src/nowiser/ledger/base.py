"""What an account promises, whichever database keeps it.

A ledger is an append-only chain of entries: each carries the SHA-256 of its canonical JSON and of the entry
before it. Nine kinds:

| kind          | when                                                                  | charges |
|---------------|-----------------------------------------------------------------------|---------|
| `policy`      | a policy is declared for the first time, or changed                   | no      |
| `reserve`     | before the data is read: who asks what, on which data, at which cost  | **yes** |
| `settle`      | the answer, byte for byte, of a reservation                           | no      |
| `failed`      | the run failed; the reservation keeps its charge, and what is missing | **yes** |
|               | to the policy's default spend is charged besides                      |         |
| `look`        | an alarm, which is a reservation, was looked at and is quiet          | no      |
| `reopened`    | the custodian looked at an analyst's failures: she may ask again      | no      |
| `publication` | a table, model or graph was released outside the gateway              | **yes** |
| `act`         | somebody administers: an account is made or changed, a server starts  | no      |
| `lost`        | an older copy was put back: what was charged after it is charged again | **yes** |

The cost is durable before the data is read, so a process killed at any instant has charged at least what it
answered. The only data in a ledger are the noisy answers analysts got anyway.

    with open_ledger("sqlite:///.nowiser/ledger.sqlite") as ledger:
        ledger.declare(policy)
        held = ledger.reserve(
            charge, admit, policy=policy.digest, question=digest, sql=text, analyst="ann", data_version=version
        )
        ...                                    # run, blur
        ledger.settle(held, answer_bytes)      # or ledger.fail(held)
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Protocol, Self

from nowiser.model.charge import Charge
from nowiser.model.policy import Policy

EntryKind = Literal["policy", "reserve", "settle", "failed", "look", "reopened", "publication", "act", "lost"]

# Called with everybody's totals and the analyst's own totals, both without the new charge, inside the
# transaction that will append it. Raises Exhausted to refuse; then nothing is written.
Admit = Callable[[Charge, Charge], None]


@dataclass(frozen=True)
class Entry:
    """One link of the chain. `body` is what the hash covers, besides the previous hash."""

    seq: int  # 1, 2, 3, …
    kind: EntryKind
    body: dict[str, Any]
    previous: str
    hash: str


@dataclass(frozen=True)
class Reservation:
    """A charge that is in the chain; `seq` is its entry, `totals` everything charged up to and with it."""

    seq: int
    question: str
    data_version: str
    totals: Charge | None = None
    analyst: str = ""
    # Makes the anchor of the charge durable too; the first call counts. Worth the wait while the engine works: what was
    # not answered yet may be rolled back without harm, and `settle` and `fail` see to it if nobody did.
    anchor: Callable[[], None] = field(default=lambda: None, compare=False, repr=False)


@dataclass(frozen=True)
class Armed:
    """An alarm that was paid for. `terms`: what its noise is, as said when it was reserved."""

    reservation: Reservation
    terms: dict[str, Any]
    secret: bytes  # of its threshold; empty once it is over
    looks: int
    looked: str  # the version of the data that were quiet last
    over: str | None  # when it rang or failed; None: it may be looked at
    failed: bool = False


Outcome = Literal["quiet", "rang", "failed"]


@dataclass(frozen=True)
class Release:
    """A publication. `shown` is None where it was no counted release, or a version before this one kept nothing."""

    seq: int
    what: str
    digest: str  # of the file
    shown: bytes | None


@dataclass(frozen=True)
class Head:
    """How far a chain reaches: its last entry and that entry's hash."""

    seq: int
    hash: str
    spent: str = field(default="", compare=False, repr=False)  # all totals with it, as `Totals.text` writes them


class Ledger(Protocol):
    """The account. Safe to use from many threads and many processes at once."""

    def declare(self, policy: Policy, *, reason: str | None = None) -> bool:
        """Record that this policy holds from now on; True if that was news.

        Raises Misconfigured when the change loosens a promise and no reason is given. Costs stay.
        """

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
        """Charge, or raise what `admit` raises and leave no trace. Durable when it returns.

        `policy`: the digest of the policy that `admit` judges by. Raises Misconfigured when another one is in force,
        NotAuthorised when too many questions of this analyst failed. `once`: raises `flight.UnderWay` when the same
        question on the same data is being answered at this moment, or was since the caller looked: then look again.
        What a dead process had reserved for the same question at the same charge is taken over, not charged again.
        """

    def settle(self, reservation: Reservation, answer: bytes, measured: Sequence[str] = ...) -> None:
        """Keep the answer, so that the same question on the same data gets it again, free.

        `measured`: names under which its noisy cells are looked for by other questions (`measurements`).
        """

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
        """Charge for an alarm as `reserve` does and keep its secret.

        `after`: the entry of the last alarm of that name, 0 for none. Where another one was armed since, that one is
        given back, free.
        """

    def alarm(self, question: str) -> Armed | None:
        """The last alarm of that name, over or not."""

    def look(
        self,
        alarm: Armed,
        outcome: Outcome,
        *,
        policy: str,
        analyst: str,
        data_version: str,
        answer: bytes = ...,
        owed: Charge = ...,
    ) -> bool:
        """Record a look before its outcome is told; False, and nothing recorded, if the alarm was over before."""

    def fail(self, reservation: Reservation, owed: Charge = ...) -> None:
        """The run failed. The charge stays, and `owed` is charged besides, beyond any limit."""

    def reopen(self, *, analyst: str | None, reason: str) -> int:
        """The custodian looked at the failures of an analyst (None: of everybody), who may ask again. How many."""

    def failures(self) -> dict[str, int]:
        """Per analyst, how many questions failed since the custodian last looked."""

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
        """Charge for something released outside the gateway; the number of its entry. `policy` as for `reserve`.

        `shown`: what later releases are measured together with. `after`: the last publication that was seen (0 for
        none); raises `shown.Meanwhile`, and writes nothing, where another one came since.
        """

    def releases(self) -> list[Release]:
        """All publications, in order, with what the counted ones showed."""

    def act(self, what: str, *, by: str, details: Mapping[str, Any] = ...) -> int:
        """Note what somebody did who administers; the number of its entry."""

    def keep_account(self, name: str, account: Mapping[str, Any] | None, *, what: str, by: str) -> int:
        """Make, change or (None) drop who may log in. The chain notes what was done, by whom, and its digest."""

    def account(self, name: str) -> dict[str, Any] | None:
        """Who may log in under this name, as it was kept. Raises LedgerBroken where somebody changed it."""

    def accounts(self) -> dict[str, dict[str, Any]]:
        """Everybody who may log in."""

    def charged_since(self, analyst: str, at: datetime) -> Charge:
        """What an analyst was charged since a time of day; by entries whose clock says so."""

    def until_told(self, at_least: float) -> float:
        """Seconds until all answers kept lately are told by a server whose grid of times begins with `at_least`."""

    def check_access(self, *, policy: str, analyst: str | None = None) -> None:
        """Raise as `reserve` would: for another policy in force, and for an analyst (if named) with many failures."""

    def stored(self, question: str, data_version: str) -> bytes | None:
        """The answer once given to this question on this data, byte for byte."""

    def abandoned(self, question: str, data_version: str) -> Charge:
        """What a dead process was charged for this question and told nobody: part of the totals, taken over once."""

    def measurements(self, base: str, data_version: str) -> list[bytes]:
        """Answers that were settled with this name among what they measured, on this data."""

    def totals(self, analyst: str | None = None) -> Charge:
        """Everything charged so far, or what one analyst was charged."""

    def analysts(self) -> dict[str, Charge]:
        """What each analyst was charged."""

    def entries(self) -> Iterator[Entry]:
        """The chain, from the first entry."""

    def verify(self) -> Head:
        """Check every hash, the order, the stored answers, the totals and the anchor.

        Raises LedgerBroken naming the first entry that is wrong.
        """

    def backup(self, file: Path) -> Head:
        """A copy of everything in a new file, as of one moment; the head of its chain."""

    def accept_lost(self, reason: str) -> int:
        """Go on from an older copy that was put back: book what was charged after it, per analyst; how many entries
        are lost. Raises LedgerBroken where what was charged is not known.
        """

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...
