"""A counted release under a policy: measured together with all earlier ones and all answers, and entered.

Several processes: what was measured is entered only if nobody published since; else it is measured again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from nowiser.engines.owner import owner
from nowiser.errors import NotAnswerable
from nowiser.guess.budget import told as shared
from nowiser.guess.budget.exposure import exposure, up
from nowiser.ledger.base import Release
from nowiser.microdata.candidates import KNOWS, ONE_ROW, Candidate, private_columns
from nowiser.microdata.groups.compound import columns_of, tree_of
from nowiser.microdata.method_contract import Run
from nowiser.microdata.releases.contradictions import refuse_contradictions
from nowiser.microdata.releases.measure import Told, together
from nowiser.microdata.releases.persons import Ever, have_several, same
from nowiser.microdata.releases.record import Record, keys, record
from nowiser.microdata.releases.worlds import linked
from nowiser.microdata.risk.intersection import Answered
from nowiser.model.charge import PICO, Account, Charge
from nowiser.model.policy import Policy
from nowiser.model.schema import Role, Table
from nowiser.percent import percent


@dataclass
class Counting:
    """What this release shows, and the measurement it was admitted with."""

    policy: Policy
    table: Table
    record: Record | None = None
    seen: int = 0  # the last publication that was measured
    told: dict[str, Told] = field(default_factory=dict)
    tried: dict[str, tuple[shared.Lift, ...]] = field(default_factory=dict)  # by attackers of perturbed columns
    ever: dict[str, Ever] = field(default_factory=dict)  # by attackers, where people have several rows
    columns: tuple[str, ...] = ()  # sensitive ones that are released without a charge

    @property
    def what(self) -> str:
        return f"rows of {self.table.name}"

    def take(self, candidate: Candidate, run: Run) -> None:
        """Note what a version shows. Of one made in a stream nobody knows who is in which group."""
        self.record = None
        sensitive = {c.name for c in self.table.columns if c.role is Role.SENSITIVE} - private_columns(candidate.steps)
        self.columns = tuple(sorted(c for c in candidate.names if c in sensitive))
        if candidate.streamed is not None:
            return
        private = private_columns(candidate.steps)
        public = {c.name for c in self.table.columns if c.role is Role.PUBLIC}
        table = candidate.table
        known = [c for c in table.names if c in run.roles.quasi or c in public]
        secret = [c for c in table.names if c not in known and c not in private and c in run.original]
        changed = [c for c in secret if not run.original[c].same_rows(table[c], table.origin)]
        several, whose = have_several(table, run), self._whose(run)
        people = keys(run.original, whose)
        self.record = record(table, people, known, secret, changed=changed, several=several, whose=whose)

    def warn(self, heard: Callable[[str], None]) -> None:
        """Say, before it is written, after which releases nothing more can be measured."""
        after = [
            a.text
            for a in self.policy.attackers
            if {f"{self.table.name}.{c}" for c in self.columns} & {*a.goal.attributes}
        ]
        if after and self.record is None:
            heard(
                f"Of rows released in a stream nobody knows who is in which group: afterwards no further release of "
                f"{self.table.name!r} and no answer that helps to guess `{after[0]}` will be admitted. Publish without "
                "--stream to keep both possible."
            )
        elif after and self.record is not None and self.record.changed:
            heard(
                f"{', '.join(self.record.changed)} is perturbed: a further release of {self.table.name!r} can be "
                "measured together with this one only by counting, which may be refused. Release everything that is "
                "needed at once, or give out this release again."
            )

    def _whose(self, run: Run) -> tuple[str, ...]:
        names = owner(self.table, self.policy)
        if self.table.link is not None and any(n not in run.original for n in names):
            names = self.table.link.columns
        if not names or any(n not in run.original for n in names):  # every row is a person: all that is not secret
            secret = {c.name for c in self.table.columns if c.role is Role.SENSITIVE}
            names = tuple(n for n in run.original.names if n not in secret)
        return tuple(names)

    def charge(self, totals: Charge) -> Charge:
        """What this release adds to the account, so that answers that follow are held to the promise with it."""
        if not self.columns:
            return Charge()
        found = Charge.of({Account("shown", tuple(f"{self.table.name}.{c}" for c in self.columns)): PICO})
        for attacker in self.policy.attackers:
            measured = self.told.get(attacker.text)
            lifts = (*(measured.lifts if measured else ()), *self.tried.get(attacker.text, ()))
            found = found + shared.news(attacker.goal, totals + found, lifts)
        return found

    def measure(self, releases: Sequence[Release], totals: Charge, heard: Callable[[str], None]) -> None:
        """Raises NotAnswerable where this release, all earlier ones and all answers would tell more than promised."""
        earlier = [r for r in releases if r.what == self.what]
        self.seen = releases[-1].seq if releases else 0
        self.told = {}
        records = [Record.from_bytes(r.shown) for r in earlier if r.shown]
        for attacker in self.policy.attackers:
            tree = tree_of(attacker.goal, self.table.name)
            if tree is None or not self._tells_of(columns_of(tree), records):
                continue
            if earlier and (self.record is None or len(records) < len(earlier)):
                raise NotAnswerable(
                    f"the policy limits `{attacker.text}`, and this release cannot be measured together with the "
                    "earlier ones: one of them was made in a stream, or by a version of nowiser that kept no groups",
                    hint="Publish without --stream, or answer questions instead of releasing rows.",
                )
            if self.record is None or (not earlier and set(columns_of(tree)) & set(self.record.changed)):
                continue  # perturbed: the attackers of `nowiser.microdata.risk` are tried instead
            reach = Answered(jump=up(exposure(self.policy, attacker, totals).reach))
            for other in records:
                self._same_people(attacker.text, other.whose, self.record.whose)
            if self.record.several or any(r.several for r in records):
                told = self._by_person(attacker.text, records, reach)
            else:
                refuse_contradictions(records, self.record, linked([*records, self.record], columns_of(tree)))
                told = together([*records, self.record], tree, reach)
            self.told[attacker.text] = told
            _admit(attacker.text, float(attacker.gain), told, answered=reach.jump > 0)
        if earlier and self.told:
            worst = max(self.told.values(), key=lambda t: t.gain)
            heard(
                f"Measured together with {_count(len(earlier))} of {self.table.name!r} and the answers given so far: "
                f"an attacker who {ONE_ROW if self.ever else KNOWS} gains at most "
                f"{percent(worst.gain)} ({percent(worst.before)} → {percent(worst.high)}"
                f"{'' if worst.exact else '; estimated, not bounded'})."
            )

    def _tells_of(self, columns: Sequence[str], earlier: Sequence[Record]) -> bool:
        """Whether this release shows one of the columns, or what tells that a row of an earlier one is a row of it."""
        return self.record is None or bool({*linked([*earlier, self.record], columns)} & {*self.record.columns})

    def _same_people(self, text: str, before: Sequence[str], now: Sequence[str]) -> None:
        """Raises NotAnswerable where an earlier release cannot tell who of this one was in it."""
        if before != now:
            raise NotAnswerable(
                f"an earlier release of {self.table.name!r} told people apart by {', '.join(before) or 'nothing'}, "
                f"this one by {', '.join(now)}: they cannot be measured together, and the policy limits `{text}`",
                hint="Tell people apart as before: by `person` of the policy, or where each row is a person by the "
                "same columns of the file.",
            )

    def _by_person(self, text: str, earlier: Sequence[Record], reach: Answered) -> Told:
        """Raises NotAnswerable unless all earlier releases were the same as this one."""
        mine = self.record
        if text not in self.ever or mine is None or not all(same(mine, r) for r in earlier):
            raise NotAnswerable(
                f"people of {self.table.name!r} have several rows in this release or an earlier one, and different "
                f"releases of such rows cannot be measured together: the policy limits `{text}`",
                hint="Give out the earlier release again, or publish one row of each person (rows_per_person: 1) from "
                "the first release on.",
            )
        return self.ever[text].told(reach)


def _admit(text: str, limit: float, told: Told, *, answered: bool) -> None:
    if told.gain <= limit + 1e-9:
        return
    others = [f"{_count(told.releases - 1)}"] if told.releases > 1 else []
    others += ["the answers given so far"] if answered else []
    beside = f" together with {' and '.join(others)}" if others else ""
    raise NotAnswerable(
        f"the policy lets `{text}` gain {percent(limit)}, and this release{beside} may tell {percent(told.gain)} "
        f"({percent(told.before)} → {percent(told.high)}{'' if told.exact else '; estimated, not bounded'})",
        hint="Give out an earlier release again, use the same levels as before, or generalise more (a larger k, a "
        "smaller gain).",
    )


def _count(releases: int) -> str:
    return "1 earlier release" if releases == 1 else f"{releases} earlier releases"
