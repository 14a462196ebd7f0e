"""An alarm: look at a count or a sum as often as you like, pay once, and learn once that it has passed a threshold.

    price → pay (with the first look) → look, look, look … → it rings, and is over

Each look is at the data of the day, whoever came, went or changed since. The proof (`noise/above_threshold.py`) wants
only that one person moves the number of every look by a bounded distance, so the promise covers all looks together.
Data that were looked at and quiet are quiet again, without fresh noise. What a look would tell about other looks, the
noise of the threshold, stays in the ledger until the alarm is over. The name of an alarm is its question, threshold,
spend and policy: under another policy it is another alarm.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from math import ceil
from typing import Any

from nowiser.errors import Exhausted, NotAnswerable, NotEvaluated
from nowiser.guess.budget import allowance
from nowiser.ledger import state_folder
from nowiser.ledger.alarms import packed, unpacked
from nowiser.ledger.base import Armed, Ledger, Outcome
from nowiser.model.charge import Charge
from nowiser.model.policy import Policy
from nowiser.noise.above_threshold import AboveThreshold
from nowiser.noise.entropy import Entropy
from nowiser.percent import percent
from nowiser.report import failure
from nowiser.report.answer import Answer, rounded
from nowiser.report.kept import keep
from nowiser.sql.answer.vectors import vector
from nowiser.sql.bound.relations import rows
from nowiser.sql.canonical import digest
from nowiser.sql.plan.cells import Cell
from nowiser.sql.plan.plan import Plan, Way
from nowiser.sql.plan.precision import Wish
from nowiser.sql.tree import Filter, Released, Scan, columns, existing

FAILED = "The look failed. It is charged, because what a failure tells is not known, and the alarm is over."
UNLOOKED = "The look could not be made. Whether it was charged is in the ledger."
FREE = Charge()


@dataclass(frozen=True)
class Doors:
    """What an alarm uses of its gateway."""

    policy: Policy
    ledger: Ledger
    entropy: Entropy
    enter: Callable[[str | None], str | None]
    version: Callable[[], str]
    run: Callable[[Plan], tuple[Plan, list[Any]]]


@dataclass(frozen=True)
class Price:
    """What an alarm costs, and its noise."""

    charge: Charge
    noise: AboveThreshold


class Alarm:
    """Rings once, when a count or a sum has passed a threshold. The first look pays; all others are free."""

    def __init__(
        self, doors: Doors, sql: str, planned: Plan, above: Fraction, wish: Wish, *, analyst: str | None, again: bool
    ) -> None:
        refuse(planned)
        self._doors, self._planned, self._wish = doors, planned, wish
        self._analyst, self._again = analyst, again
        self.sql, self.above = sql, float(above)
        self._unit = planned.tally.cells[0].unit
        self._threshold = ceil(above / self._unit)
        terms = f"alarm above {above} {wish} {doors.policy.digest}"
        named = replace(planned.query, outputs=(replace(planned.query.outputs[0], name="alarm"),))
        self._name = digest(named, terms)

    def look(self) -> bool:
        """Whether it rings on the data of now. Raises NotAnswerable once it is over, Exhausted if it cannot be paid."""
        doors = self._doors
        who = doors.enter(self._analyst)
        with failure.wall(state_folder(doors.policy), UNLOOKED, "while an alarm was looked at"):
            version = doors.version()
            armed = self._armed(who, version)
            if armed.looked == version and not armed.over:
                return False
            if armed.over:
                raise _over(armed)
            outcome, owed = self._outcome(armed)
            answer = keep(_rang(self._planned)) if outcome == "rang" else b""
            told = doors.ledger.look(
                armed,
                outcome,
                policy=doors.policy.digest,
                analyst=who or "",
                data_version=version,
                answer=answer,
                owed=owed,
            )
            if not told:
                raise _over(doors.ledger.alarm(self._name) or armed)
        if outcome == "failed":
            raise NotEvaluated(FAILED)
        return outcome == "rang"

    @property
    def rang(self) -> bool:
        """Whether it has rung."""
        armed = self._last()
        return armed is not None and armed.over is not None and not armed.failed

    @property
    def looks(self) -> int:
        """How often new data were looked at."""
        armed = self._last()
        return 0 if armed is None else armed.looks

    @property
    def price(self) -> float:
        """The share of the whole allowance that the first look uses, and all looks together."""
        return float(allowance.share_used(self._doors.policy, self._priced().charge))

    @property
    def late(self) -> float:
        """How far above the threshold one look rings in 97.5 of 100 cases."""
        return float(self._noise().late() * self._unit)

    @property
    def early(self) -> float:
        """How far below the threshold a year of daily looks stays quiet in 97.5 of 100 cases."""
        return float(self._noise().early() * self._unit)

    def __str__(self) -> str:
        armed = self._last()
        if armed is None or (armed.over and self._again):
            state = f"not paid yet: the first look costs {percent(self.price)} of the allowance, all others nothing"
        elif armed.over:
            state = f"{'failed' if armed.failed else 'rang'} {armed.over[:16].replace('T', ' ')} UTC"
        else:
            state = f"watching; {armed.looks} looks so far"
        return (
            f"Alarm: {' '.join(self.sql.split())} above {self.above:,.12g}\n"
            f"  {state}\n"
            f"  at {rounded(self.late)} above it rings at once (97.5 %); "
            f"at {rounded(self.early)} below it stays quiet for 365 looks (97.5 %)"
        )

    def __repr__(self) -> str:
        return f"<{str(self).splitlines()[0]};{str(self).splitlines()[1][1:]}>"

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    # -- steps -----------------------------------------------------------------------------------------------

    def _last(self) -> Armed | None:
        return self._doors.ledger.alarm(self._name)

    def _noise(self) -> AboveThreshold:
        armed = self._last()
        return self._priced().noise if armed is None else _noise(armed)

    def _priced(self, who: str | None = None, totals: Charge = FREE, own: Charge = FREE) -> Price:
        """The finest noise for what is to be spent. Only losses that hold for every output: no Gaussian noise."""
        policy = self._doors.policy
        share, options = self._wish.spend, list[tuple[Fraction, Way, Fraction]]()
        assert share is not None
        refusal: Exhausted | None = None
        for way in self._planned.ways:
            if way.gaussian or way.top is not None or way.summed is not None:
                continue
            try:
                s = allowance.largest_multiple(policy, totals, way.unit, share, analyst=who, own=own)
            except Exhausted as found:
                refusal = found
                continue
            s = Fraction(int(s * 2**40), 2**40) or s
            base = way.bases[0]
            assert base is not None
            options.append((s / base, way, s))
        if not options:
            raise refusal or AssertionError("a count or a sum has a way without Gaussian noise")
        loss, way, s = max(options, key=lambda option: option[0])
        return Price(way.charge(s), AboveThreshold(loss, one_way=one_way(self._planned, policy)))

    def _armed(self, who: str | None, version: str) -> Armed:
        """The alarm as it stands; paid now, if it was not."""
        found = self._last()
        if found is not None and not (found.over and self._again):
            return found
        doors = self._doors
        price = self._priced(who, doors.ledger.totals(), doors.ledger.totals(who) if who else FREE)
        terms = {"above": str(self._threshold), "loss": str(price.noise.loss), "one_way": price.noise.one_way}
        self._again = False
        return doors.ledger.arm(
            price.charge,
            allowance.admit(doors.policy, price.charge, analyst=who),
            policy=doors.policy.digest,
            question=self._name,
            sql=f"alarm: {self.sql} above {self.above:.12g}",
            analyst=who or "",
            data_version=version,
            terms=terms,
            secret=packed(price.noise.secret(doors.entropy), doors.entropy.bytes(32)),
            after=0 if found is None else found.reservation.seq,
        )

    def _outcome(self, armed: Armed) -> tuple[Outcome, Charge]:
        """Look at the data. Whatever goes wrong may depend on them: the alarm is over, and the failure is charged."""
        doors = self._doors
        try:
            _, (cell,) = doors.run(self._planned)
            (number,) = cell.tolist()
            rings = _noise(armed).rings(int(number), int(armed.terms["above"]), unpacked(armed.secret), doors.entropy)
        except Exception as error:  # noqa: BLE001 (one neutral message)
            failure.record(state_folder(doors.policy), error, armed.reservation.seq)
            unit = next(way.unit for way in self._planned.ways if not way.gaussian)
            return "failed", allowance.owed_for_failing(doors.policy, unit, FREE)
        return ("rang" if rings else "quiet"), FREE


def refuse(planned: Plan) -> None:
    """Raise NotAnswerable unless the question is one count or sum of secret rows."""
    query, hint = planned.query, "For example SELECT COUNT(*) FROM visits WHERE time > 30."
    if planned.free:
        raise NotAnswerable("This is public: it needs no alarm.", hint="Ask it as often as you like: exact and free.")
    plain = len(query.outputs) == 1 and isinstance(query.outputs[0].expression, Released) and query.having is None
    if query.keys or query.after or query.sets is not None or not plain or query.limit is not None:
        raise NotAnswerable("An alarm watches one number: one row with one result.", hint=hint)
    (reading,) = planned.readings
    cells = planned.tally.cells
    if reading.aggregate.function not in ("count", "sum") or len(cells) != 1 or planned.histograms or cells[0].shift:
        raise NotAnswerable(
            "An alarm watches a count or a sum.",
            hint="An average is above 20 where SUM(x - 20) is above 0; a median, where half of the rows are.",
            span=reading.aggregate.span,
        )


def one_way(planned: Plan, policy: Policy) -> bool:
    """Whether a person moves the numbers of all looks in the same direction: she comes, and a plain count grows.

    Not where a secret of hers decides whether she counts: it may on one day, and not on another. Nor where whoever is
    replaced may have other rows, or none: in a linked table she may come on one day and go on another.
    """
    (cell,), relation = planned.tally.cells, planned.tally.relation
    while isinstance(relation, Filter):
        if existing(relation.condition) or any(c.declared.secret for c in columns(relation.condition)):
            return False
        relation = relation.source
    return isinstance(relation, Scan) and cell == Cell(None, None) and rows(relation, policy).plain


def _noise(armed: Armed) -> AboveThreshold:
    return AboveThreshold(Fraction(armed.terms["loss"]), one_way=bool(armed.terms["one_way"]))


def _over(armed: Armed) -> NotAnswerable:
    how = "failed" if armed.failed else "rang"
    return NotAnswerable(
        f"This alarm {how} at {(armed.over or '')[:16].replace('T', ' ')} UTC: it is over.",
        hint="A new one is charged like the first: gw.alarm(…, again=True).",
    )


def _rang(planned: Plan) -> Answer:
    """What the ledger keeps of a ring."""
    name = planned.query.outputs[0].name
    return Answer(
        columns=(name,),
        values=(vector(["above"]),),
        bars=(0.0,),
        exact=(),
        cost={},
        guesses=(),
        left=0.0,
        stored=False,
        bounding=(),
    )
