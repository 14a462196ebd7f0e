"""The gateway: a question comes in, an answer goes out that leaves attackers no wiser than promised.

    read → plan → choose noise → admit and reserve → run → blur → settle → explain

Until the reservation nothing secret has been touched, so a refusal tells nothing. After it the charge stays,
whatever happens.
"""

import contextlib
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from nowiser import ledger, policy
from nowiser.asking import running
from nowiser.asking.earlier import Old, precise, released, stored_cells, together
from nowiser.asking.opened import Opened
from nowiser.asking.telling import barred
from nowiser.builder.written import text_of, texts_of
from nowiser.engines.base import Engine
from nowiser.errors import (
    Exhausted,
    NotAnswerable,
    NotEvaluated,
)
from nowiser.guess.budget import allowance
from nowiser.ledger.base import Ledger, Reservation
from nowiser.ledger.flight import in_turn
from nowiser.meanwhile import meanwhile
from nowiser.model.charge import Charge
from nowiser.model.policy import Policy
from nowiser.report import failure, shortage
from nowiser.report.answer import Answer, gist
from nowiser.report.costs import added
from nowiser.report.kept import again, keep
from nowiser.report.usefulness import judged, without_rows
from nowiser.report.useless import useless
from nowiser.sql.answer import results as release
from nowiser.sql.answer.thresholds import shown
from nowiser.sql.bound import clipping
from nowiser.sql.canonical import digest
from nowiser.sql.columns import columns_of
from nowiser.sql.plan import precision
from nowiser.sql.plan.choice import FREE, Chosen
from nowiser.sql.plan.plan import Noise, Plan
from nowiser.sql.read.bi import setting
from nowiser.sql.read.catalogue import described
from nowiser.sql.tree import Query
from nowiser.synth.synopsis.kept import Synopses

if TYPE_CHECKING:
    from nowiser.builder.alarm import Alarm
    from nowiser.builder.session import Session
    from nowiser.builder.table import Table
    from nowiser.builder.workload import Workload
    from nowiser.graphs.ask import Links

FAILED = "The question could not be evaluated. It is charged, because what a failure tells is not known."

UNANSWERED = "The question could not be evaluated. Whether it was charged is in the ledger."


def open(path: str | Path | None = None) -> "Gateway":  # noqa: A001 (nw.open reads as intended)
    """Open the gateway of a policy file (default: $NOWISER_POLICY, else ./nowiser.yaml)."""
    return Gateway(policy.read(Path(path or os.environ.get("NOWISER_POLICY") or "nowiser.yaml")))


@dataclass(frozen=True)
class Asked:
    """How a question is noted in the ledger."""

    question: str
    sql: str
    analyst: str
    data_version: str


class Gateway(Opened):
    """Answers questions under one policy. Safe to use from several threads."""

    def __init__(self, policy: Policy, *, engine: Engine | None = None, account: Ledger | None = None) -> None:
        super().__init__(policy, engine=engine, account=account)
        self._said: set[str] = set()  # notes: each is shown once
        self._synopses = Synopses(self.policy, self._ledger)

    def query(
        self,
        sql: Any,
        *,
        parameters: Sequence[Any] | None = None,
        error: float | Fraction | None = None,
        spend: float | Fraction | str | None = None,
        analyst: str | None = None,
        clipped: bool = False,
        anyway: bool = False,
    ) -> Answer:
        """Answer a question. `error`: the 95 % half-width wanted; or `spend`: the share of the allowance to use.

        The question is SQL, a question built by `table`, or a select of SQLAlchemy, ibis or sqlglot. `parameters`: the
        values of $1, $2, … in it, or of each ? in turn; they are values and nothing else, whatever they contain.

        `anyway`: also where the bars would be so wide that the answer is useless; nothing is looked at beforehand.
        `clipped`: also estimate, as a second question with its own charge, how many rows were clipped or left out;
        where the allowance has no room for that any more, the answer is given and says so.

        Raises NotAnswerable (Useless among them), Exhausted, NotAuthorised, or Misconfigured (the policy was changed
        elsewhere): nothing charged, no secret touched. Raises NotEvaluated: the engine failed, the charge stays.
        """
        sql = text_of(sql)
        who, wish = self._entered(analyst), precision.wish(self.policy, error, spend)
        if (found := setting(sql) or described(sql, self.policy)) is not None:
            return self._told.constant(found, self._ledger.totals())
        with self._before_charging():
            question, sql = self._read(sql, parameters)
        answer = self._with_news(self._asked(question, sql, wish, who, anyway=anyway))
        answer = replace(answer, kinds=tuple(c.kind.value for c in columns_of(question)))
        if clipped and (second := clipping.question(question)) is not None:
            wish = precision.wish(self.policy, None, spend)
            try:
                text = f"{sql} -- how many rows were clipped or left out"
                estimate = self._asked(second, text, wish, who, anyway=True)
            except Exhausted as short:  # the answer is charged, so it is given; only the estimate is not
                note = f"how many rows were clipped or left out is not estimated: {short.message}"
                return replace(answer, bounding=(*answer.bounding, note), news=(*answer.news, note))
            notes = clipping.notes(estimate.columns, estimate.rows or (), estimate.errors())
            answer = replace(
                answer,
                guesses=estimate.guesses,
                left=estimate.left,
                cost=added(answer.cost, estimate.cost),
                bounding=answer.bounding + notes,
                news=answer.news + notes,
            )
        return answer

    def _earlier(self, planned: Plan, version: str) -> Old | None:
        """What follows from stored answers, or from the synopsis if the policy says so."""
        stored = super()._earlier(planned, version)
        if self.policy.answers_from == "data" or planned.free:
            return stored
        try:
            told = self._synopses.answered(planned, version, lambda: self._exact(planned))
        except NotAnswerable:
            if stored is None and self.policy.answers_from == "synopsis":
                raise
            return stored
        return told if stored is None or (not told.inferred and precise(told.noise, stored.noise)) else stored

    def _with_news(self, answer: Answer) -> Answer:
        """Marked with the notes that were not said yet."""
        news = tuple(note for note in answer.bounding if gist(note) not in self._said)
        self._said.update(map(gist, news))
        return replace(answer, news=news)

    def _asked(self, question: Query, sql: str, wish: precision.Wish, who: str | None, *, anyway: bool) -> Answer:
        with failure.wall(ledger.state_folder(self.policy), UNANSWERED, "while it was charged"):
            return in_turn(partial(self._ask, question, sql, wish, who, anyway=anyway))

    def _ask(self, question: Query, sql: str, wish: precision.Wish, who: str | None, *, anyway: bool) -> Answer:
        with self._before_charging():
            version = self._engine.prepared_version()
            name = digest(question, str(wish))
        kept = self._ledger.stored(name, version)
        if kept is not None:
            return self._told.standing(again(kept), self._ledger.totals())
        said = self._ledger.totals().without(self._ledger.abandoned(name, version))
        # Everything that can be said without the data is said now: a fault in it refuses, before anything is charged.
        with self._before_charging():
            planned = self._plan(question)
            size = None if anyway else self._sizes.of(question, planned, version)
            if without_rows(planned, size):
                return self._told.empty(planned, said)
            old = self._earlier(planned, version)
            if old is not None and self.policy.answers_from == "synopsis":
                return self._following(planned, old, Asked(name, sql, who or "", version))
            try:
                asked, (planned, chosen, answer) = planned, self._priced(planned, wish, who, said)
                enough = old is not None and precise(old.noise, chosen.noise)
            except Exhausted as refusal:
                if old is None:
                    raise self._short(refusal, planned, wish, who, said) from None
                asked, enough = planned, True
            if (
                not enough
                and size is not None
                and (judgement := judged(planned, chosen.noise, size, chosen.nats)).useless
            ):
                raise useless(judgement, self._case(sql, planned, wish, size, said, who))
        if enough and old is not None:  # not in there: who answers the same just now is waited for
            return self._following(asked, old, Asked(name, sql, who or "", version))

        def admit(totals: Charge, own: Charge) -> None:
            nonlocal answer, said
            allowance.admits(self.policy, totals, chosen.charge, analyst=who, own=own)
            if totals != said:  # somebody else was answered in between
                answer, said = self._told.standing(answer, totals + chosen.charge, chosen.charge), totals

        try:
            reservation = self._ledger.reserve(
                chosen.charge,
                admit,
                policy=self.policy.digest,
                question=name,
                sql=sql,
                analyst=who or "",
                data_version=version,
                once=True,
            )
        except Exhausted as refusal:
            raise self._short(refusal, planned, wish, who, self._ledger.totals(), charge=chosen.charge) from None
        try:
            ahead = meanwhile(partial(running.ahead, planned, chosen, reservation, self._entropy))
            planned, cells = self._run(planned)
            planned, cells = self._picked(planned, cells, chosen)
            blurred = self._blur(chosen.noise, cells, ahead.result())
            measurements = released(planned, chosen.noise, blurred) if self.policy.reuse and chosen.top is None else ()
            noise, blurred = together(planned, chosen.noise, blurred, measurements, stored_cells(self._ledger, version))
            planned, blurred = shown(planned, chosen.noise, blurred)
            found = release.results(planned, noise, blurred)
            bars = found.bars if chosen.top is None else tuple(None if b == 0.0 else b for b in found.bars)
            answer = replace(answer, values=found.values, bars=bars)
            self._ledger.settle(reservation, keep(answer, measurements), [m.of.base for m in measurements])
        except Exception as error:  # noqa: BLE001 (whatever went wrong may depend on the data: one neutral message)
            self._failed(reservation, chosen, error)
            raise NotEvaluated(FAILED) from None
        self._frontiers.answered()
        return answer

    def _following(self, planned: Plan, old: Old, asked: Asked) -> Answer:
        """An answer computed from earlier ones. It charges nothing, and is kept like any other.

        Those from a synopsis are not: they are computed again, and better once the synopsis is.
        """
        found = release.results(planned, old.noise, old.cells)
        answer = replace(
            self._told.would_follow(planned, old, self._ledger.totals()),
            values=found.values,
            bars=barred(planned, old, found.bars),
            expected={},
            expected_for="",
            price=None,
        )
        if old.synopsis:
            return answer
        reservation = self._ledger.reserve(FREE, lambda *_: None, policy=self.policy.digest, once=True, **asdict(asked))
        self._ledger.settle(reservation, keep(answer))
        return answer

    def _failed(self, reservation: Reservation, chosen: Chosen, error: Exception) -> None:
        """Note that the run failed, and charge it the default spend at least, however little was to be spent.

        Where even that cannot be written, or the answer was kept and only its anchor failed, the reservation stays
        as it is: charged.
        """
        failure.record(ledger.state_folder(self.policy), error, reservation.seq)
        with contextlib.suppress(Exception):
            self._ledger.fail(reservation, allowance.owed_for_failing(self.policy, chosen.unit, chosen.charge))

    def _picked(self, planned: Plan, cells: list[Any], chosen: Chosen) -> tuple[Plan, list[NDArray[Any]]]:
        return running.pick(planned, cells, chosen, self._entropy)

    def _blur(
        self, noise: Sequence[Noise], cells: Sequence[NDArray[Any]], drawn: list[NDArray[Any]] | None = None
    ) -> list[NDArray[Any]]:
        return running.blur(noise, cells, self._entropy, drawn)

    def explain(
        self,
        sql: Any,
        *,
        parameters: Sequence[Any] | None = None,
        error: float | Fraction | None = None,
        spend: float | Fraction | str | None = None,
        analyst: str | None = None,
    ) -> Answer:
        """What a question would cost and how precise it would be. Touches nothing secret, charges nothing.

        Where the allowance does not cover the question any more, `admitted` is False and `refusal` says why; the
        figures are those of the question asked on top of all answers so far.
        """
        sql = text_of(sql)
        who = self._entered(analyst)
        wish = precision.wish(self.policy, error, spend)
        if (constant := setting(sql) or described(sql, self.policy)) is not None:
            return replace(self._told.constant(constant, self._ledger.totals()), values=None, price=0.0)
        with self._before_charging():
            question, sql = self._read(sql, parameters)
            planned = self._plan(question)
            totals = self._ledger.totals()
            size = self._sizes.at_hand(question, planned)
            if without_rows(planned, size):
                return replace(self._told.empty(planned, totals), values=None, price=0.0)
            old = (
                self._earlier(planned, self._engine.prepared_version()) if totals and self._looks_back else None
            )  # then the copy is there
            if old is not None and self.policy.answers_from == "synopsis":
                return self._told.would_follow(planned, old, totals)
            try:
                through, chosen, answer = self._priced(planned, wish, who, totals)
                if old is not None and precise(old.noise, chosen.noise):
                    return self._told.would_follow(planned, old, totals)
                allowance.admits(self.policy, totals, chosen.charge, analyst=who, own=self._ledger.totals(who))
            except Exhausted as refusal:
                if old is not None:
                    return self._told.would_follow(planned, old, totals)
                return self._not_admitted(refusal, planned, wish, size, who, totals)
            found = judged(through, chosen.noise, size, chosen.nats)
            why = useless(found, self._case(sql, planned, wish, size, totals, who)) if found.useless else None
            return replace(
                answer,
                price=float(shortage.share_of(self.policy, chosen.charge)),
                expected=found.bars,
                expected_for=found.size.words,
                useless=why,
            )

    # -- several questions, built in Python ---------------------------------------------------------------

    def table(self, name: str) -> "Table":
        """A table to build questions on, as in `gw.table("visits").where(nw.col("time") > 20).agg(n=nw.count())`.

        Lazy: nothing is touched until a question of it is run.
        """
        from nowiser.builder.table import table

        return table(self, name)

    def session(self, *, spend: float | Fraction | str, analyst: str | None = None) -> "Session":
        """A cap on what is asked through it, as a share of the whole allowance; nothing is charged or set aside.

        `with gw.session(spend="20%") as s: s.run(question, spend="2%")`; `s.left`, `s.spent`, `s.guesses`.
        """
        from nowiser.builder.session import Capped, Session

        cap = precision.wish(self.policy, None, spend).spend
        assert cap is not None
        capped = Capped(self._ledger, self.policy, cap)
        return Session(self.through(capped), capped, analyst)

    def remaining(
        self,
        sql: Any,
        *,
        error: float | Fraction | None = None,
        spend: float | Fraction | str | None = None,
        analyst: str | None = None,
    ) -> float:
        """How many questions of this price still fit, by the account's own arithmetic; infinity where any number does.

        Touches nothing secret, charges nothing. The same question again on the same data is free, and not counted.
        """
        from nowiser.builder.remaining import fitting

        who, wish = self._entered(analyst), precision.wish(self.policy, error, spend)
        with self._before_charging():
            totals, own = self._ledger.totals(), self._ledger.totals(who) if who else FREE
            try:
                _, chosen, _ = self._priced(self._plan(self._known.read(text_of(sql))), wish, who, totals)
            except Exhausted:
                return 0
            return fitting(self.policy, totals, chosen.charge, analyst=who, own=own)

    def what_if(
        self, questions: Sequence[Any], *, spend: float | Fraction | str | None = None, analyst: str | None = None
    ) -> "Workload":
        """Several questions planned together: their error bars before anything is spent. `.run()` asks them.

        `spend`: the share of the allowance for all of them; by default what each would spend by itself. Questions
        about the same rows, or that differ in one declared value, are measured jointly where that is cheaper.
        """
        from nowiser.builder.workload import Desk, workload

        who, wish = self._entered(analyst), precision.wish(self.policy, None, spend)
        totals, own = self._ledger.totals(), self._ledger.totals(who) if who else FREE

        desk = Desk(
            self.policy,
            totals,
            self._known.read,
            lambda sql: self._plan(self._known.read(sql)),
            lambda planned, share, upon: self._price_upon(planned, share, upon, totals, who),
            lambda charge: allowance.admits(self.policy, totals, charge, analyst=who, own=own),
            lambda cap: self.session(spend=cap, analyst=who),
        )
        with self._before_charging():
            return workload(desk, texts_of(questions), None if spend is None else wish.spend)

    def alarm(
        self,
        sql: Any,
        *,
        above: float | Fraction,
        spend: float | Fraction | str | None = None,
        analyst: str | None = None,
        again: bool = False,
    ) -> "Alarm":
        """Watch a count or a sum: `alarm.look()` says whether it is above a threshold, every day, until it rings.

        Charged once, with the first look, whatever process looks; each look is at the data of then. It rings once.
        `again`: where it is over, the next look pays for a new one.
        """
        from nowiser.builder.alarm import Alarm, Doors

        who, wish = self._entered(analyst), precision.wish(self.policy, None, spend)
        doors = Doors(self.policy, self._ledger, self._entropy, self._entered, self._engine.prepared_version, self._run)
        text, threshold = text_of(sql), precision.number(above, "above")
        with self._before_charging():
            planned = self._plan(self._known.read(text))
        return Alarm(doors, text, planned, threshold, wish, analyst=who, again=again)

    def graph(self, table: str | None = None) -> "Links":
        """The links of a table that joins people: `gw.graph("friends").ask("triangles", spend="10%")`, `.explain`."""
        from nowiser.graphs.ask import Links

        return Links(self.policy, table, self._ledger, self._entered)

    def learn(self, table: str, **wanted: Any) -> Any:
        """A model fitted on a table: `target`, `features`, `model` (one of `nw.learn`; default: boosting), `spend`.

        Charged before a row is read. Its `card_` says what it cost, before → after, and how well it does on others.
        """
        from nowiser.learn.learn import learn

        return learn(self.policy, table, analyst=self._entered(wanted.pop("analyst", None)), **wanted)
