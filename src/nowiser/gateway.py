"""The gateway: a question comes in, an answer goes out that leaves attackers no wiser than promised.

    read → plan → choose noise → admit and reserve → run → blur → settle → explain

Until the reservation nothing secret has been touched, so a refusal tells nothing. After it the charge stays,
whatever happens.
"""

import contextlib
import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from nowiser import engines, ledger, policy
from nowiser.builder.written import text_of
from nowiser.earlier import Blurred, earlier, precise, released, stored_cells, together
from nowiser.engines.aligned import aligned, counts, distinct_keys, with_found
from nowiser.engines.base import Broken, Engine
from nowiser.engines.lacking import refuse_lacking
from nowiser.errors import (
    Exhausted,
    NotAnswerable,
    NotAuthorised,
    NotEvaluated,
    NowiserError,
)
from nowiser.guess.budget import allowance
from nowiser.ledger.base import Ledger, Reservation
from nowiser.ledger.flight import in_turn
from nowiser.ledger.frontiers import Frontiers
from nowiser.meanwhile import meanwhile
from nowiser.model.charge import Charge
from nowiser.model.policy import Policy
from nowiser.model.schema import Value
from nowiser.noise.entropy import OS, Entropy
from nowiser.noise.integers import add
from nowiser.policy.file import PolicyFile
from nowiser.report import failure, shortage
from nowiser.report.answer import Allowance, Answer, gist
from nowiser.report.costs import added, cost_of
from nowiser.report.derivation import derivation
from nowiser.report.kept import again, keep
from nowiser.report.levers import Case
from nowiser.report.usefulness import Size, judged, without_rows
from nowiser.report.useless import useless
from nowiser.sizes import Sizes
from nowiser.sql.aggregates.picked import of_nobody, picked
from nowiser.sql.answer import results as release
from nowiser.sql.answer.expected import cells_of
from nowiser.sql.answer.thresholds import shown
from nowiser.sql.answer.vectors import vector
from nowiser.sql.bound import clipping
from nowiser.sql.canonical import digest
from nowiser.sql.plan import precision
from nowiser.sql.plan.cache import QueryCache
from nowiser.sql.plan.choice import FREE, Chosen, choose
from nowiser.sql.plan.groups import Listed
from nowiser.sql.plan.plan import Noise, Plan, keys_to_read, plan
from nowiser.sql.plan.tally import Tally
from nowiser.sql.read.bi import Setting, setting
from nowiser.sql.read.catalogue import described
from nowiser.sql.read.constants import shown_as
from nowiser.sql.read.select import read
from nowiser.sql.tree import Literal, Query

if TYPE_CHECKING:
    import pyarrow as pa

    from nowiser.builder.alarm import Alarm
    from nowiser.builder.session import Session
    from nowiser.builder.table import Table
    from nowiser.builder.workload import Workload
    from nowiser.report.custodian import Report
    from nowiser.report.tables import Tables

FAILED = "The question could not be evaluated. It is charged, because what a failure tells is not known."

UNPLANNED = "The question could not be evaluated. Nothing was charged: no data had been touched."

UNANSWERED = "The question could not be evaluated. Whether it was charged is in the ledger."

FOLLOWS = "Follows from earlier answers: free."

UNREAD = "The question could not be evaluated. Nothing was charged: only something public was read."


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


class Gateway:
    """Answers questions under one policy. Safe to use from several threads."""

    def __init__(self, policy: Policy, *, engine: Engine | None = None, account: Ledger | None = None) -> None:
        allowance.refuse_empty_promises(policy)
        self.policy = policy
        self._file = PolicyFile(policy)
        self._unguarded = allowance.unguarded(policy)
        self._engine = engine or engines.connect(policy)
        self._ledger = account or ledger.for_policy(policy)
        self._ledger.declare(policy)
        self._frontiers = Frontiers(policy)
        self._entropy: Entropy = OS
        self._known = QueryCache(policy, self._free)
        self._said: set[str] = set()  # notes: each is shown once
        self._sizes = Sizes(policy, self._engine, self._ledger, self._plan, self._public)

    def query(
        self,
        sql: Any,
        *,
        error: float | Fraction | None = None,
        spend: float | Fraction | str | None = None,
        analyst: str | None = None,
        clipped: bool = False,
        anyway: bool = False,
    ) -> Answer:
        """Answer a question. `error`: the 95 % half-width wanted; or `spend`: the share of the allowance to use.

        The question is SQL, a question built by `table`, or a select of SQLAlchemy, ibis or sqlglot.

        `anyway`: also where the bars would be so wide that the answer is useless; nothing is looked at beforehand.
        `clipped`: also estimate, as a second question with its own charge, how many rows were clipped or left out;
        where the allowance has no room for that any more, the answer is given and says so.

        Raises NotAnswerable (Useless among them), Exhausted, NotAuthorised, or Misconfigured (the policy was changed
        elsewhere): nothing charged, no secret touched. Raises NotEvaluated: the engine failed, the charge stays.
        """
        sql = text_of(sql)
        who, wish = self._entered(analyst), precision.wish(self.policy, error, spend)
        if (found := setting(sql) or described(sql, self.policy)) is not None:
            return self._constant(found)
        with self._before_charging():
            question = self._known.read(sql)
        answer = self._with_news(self._asked(question, sql, wish, who, anyway=anyway))
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
            planned = self._plan(question)
            version = self._engine.prepared_version()
            name = digest(question, str(wish))
        kept = self._ledger.stored(name, version)
        if kept is not None:
            return self._standing(again(kept), self._ledger.totals())
        said = self._ledger.totals()
        # Everything that can be said without the data is said now: a fault in it refuses, before anything is charged.
        with self._before_charging():
            size = None if anyway else self._sizes.of(question, planned, version)
            if without_rows(planned, size):
                return self._empty(planned, said)
            old = self._earlier(planned, version)
            try:
                asked, (planned, chosen, answer) = planned, self._priced(planned, wish, who, said)
            except Exhausted as refusal:
                if old is not None:
                    return self._following(planned, old, Asked(name, sql, who or "", version))
                raise self._short(refusal, planned, wish, who, said) from None
            if old is not None and precise(old[0], chosen.noise):
                return self._following(asked, old, Asked(name, sql, who or "", version))
            if size is not None and (judgement := judged(planned, chosen.noise, size, chosen.nats)).useless:
                raise useless(judgement, self._case(sql, planned, wish, size, said, who))

        def admit(totals: Charge, own: Charge) -> None:
            nonlocal answer, said
            allowance.admits(self.policy, totals, chosen.charge, analyst=who, own=own)
            if totals != said:  # somebody else was answered in between
                answer, said = self._standing(answer, totals + chosen.charge, chosen.charge), totals

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
            ahead = meanwhile(partial(self._ahead, planned, chosen, reservation))
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

    def _earlier(self, planned: Plan, version: str) -> Blurred | None:
        """The cells of a question as they follow from stored answers on the same data; None if they do not."""
        if not self.policy.reuse:
            return None
        return earlier(
            planned, stored_cells(self._ledger, version), lambda: aligned(self._public(planned.public), planned)
        )

    def _following(self, planned: Plan, old: Blurred, asked: Asked) -> Answer:
        """An answer computed from earlier ones. It charges nothing, and is kept like any other."""
        found = release.results(planned, *old)
        answer = replace(
            self._would_follow(planned, old, self._ledger.totals()), values=found.values, bars=found.bars, price=None
        )
        reservation = self._ledger.reserve(FREE, lambda *_: None, policy=self.policy.digest, once=True, **asdict(asked))
        self._ledger.settle(reservation, keep(answer))
        return answer

    def _would_follow(self, planned: Plan, old: Blurred, totals: Charge) -> Answer:
        """The same but for its rows."""
        dry = self._dry(planned, Chosen(FREE, tuple(None for _ in planned.reaches), FOLLOWS), totals)
        return replace(dry, bars=release.planned_errors(planned, old[0]), notes=(FOLLOWS,), follows=True, price=0.0)

    def explain(
        self,
        sql: Any,
        *,
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
            return replace(self._constant(constant), values=None, price=0.0)
        with self._before_charging():
            question = self._known.read(sql)
            planned = self._plan(question)
            totals = self._ledger.totals()
            size = self._sizes.at_hand(question, planned)
            if without_rows(planned, size):
                return replace(self._empty(planned, totals), values=None, price=0.0)
            old = (
                self._earlier(planned, self._engine.prepared_version()) if totals and self.policy.reuse else None
            )  # then the copy is there
            try:
                through, chosen, answer = self._priced(planned, wish, who, totals)
                if old is not None and precise(old[0], chosen.noise):
                    return self._would_follow(planned, old, totals)
                allowance.admits(self.policy, totals, chosen.charge, analyst=who, own=self._ledger.totals(who))
            except Exhausted as refusal:
                if old is not None:
                    return self._would_follow(planned, old, totals)
                return self._not_admitted(refusal, planned, wish, who, totals)
            found = judged(through, chosen.noise, size, chosen.nats)
            why = useless(found, self._case(sql, planned, wish, size, totals, who)) if found.useless else None
            return replace(
                answer,
                price=float(shortage.share_of(self.policy, chosen.charge)),
                expected=found.bars,
                expected_for=found.size.words,
                useless=why,
            )

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
        inside = copy(self)
        inside._ledger = capped = Capped(self._ledger, self.policy, cap)  # noqa: SLF001 (the same gateway but for this)
        return Session(inside, capped, analyst)

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

        def price(planned: Plan, share: Fraction, upon: Charge) -> tuple[Charge, Answer]:
            old = self._earlier(planned, self._engine.prepared_version()) if upon and self.policy.reuse else None
            try:
                _, chosen, answer = self._priced(planned, precision.Wish(spend=share), who if upon else None, upon)
            except Exhausted:
                if old is None:
                    raise
                return FREE, self._would_follow(planned, old, totals)
            if old is not None and precise(old[0], chosen.noise):
                return FREE, self._would_follow(planned, old, totals)
            return chosen.charge, replace(answer, price=float(shortage.share_of(self.policy, chosen.charge)))

        desk = Desk(
            self.policy,
            totals,
            self._known.read,
            lambda sql: self._plan(self._known.read(sql)),
            price,
            lambda charge: allowance.admits(self.policy, totals, charge, analyst=who, own=own),
            lambda cap: self.session(spend=cap, analyst=who),
        )
        with self._before_charging():
            return workload(desk, [text_of(q) for q in questions], None if spend is None else wish.spend)

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

    def tables(self) -> "Tables":
        """What may be asked about: tables, columns, roles, types, values and ranges, as the custodian declares them.

        A mapping from names that prints as a table and draws itself in a notebook. Nothing is read from the data.
        """
        from nowiser.report.tables import Tables

        return Tables.of(self.policy)

    def allowance(self) -> Allowance:
        """How every attacker stands after all answers so far, and what is left of the allowance.

        A dictionary (`guesses`, `left`, `unguarded`) that prints as a sentence each and draws itself in a notebook.
        """
        self._file.check()
        self._ledger.check_access(policy=self.policy.digest)
        totals = self._ledger.totals()
        return Allowance(self._guesses(totals), self._left(totals), self._unguarded)

    def report(self) -> "Report":
        """The custodian's report: promises, questions, attackers, releases, what is left, the verified ledger's head.

        Prints as Markdown, draws itself in a notebook; `.save("report.html")` (or .pdf, .md). `nowiser report` adds
        what `nowiser check` finds in the data.
        """
        from nowiser.report.account import account
        from nowiser.report.custodian import report

        kept = self._ledger
        head = kept.verify()
        return report(self.policy, account(self.policy, kept.entries(), kept.analysts(), kept.failures()), head)

    def __repr__(self) -> str:
        name = self.policy.path.name if self.policy.path else "a policy"
        return f"<Gateway of {name}: {', '.join(t.name for t in self.policy.tables)}>"

    def _repr_html_(self) -> str:
        try:
            stands = self.allowance()._repr_html_()
        except NowiserError as error:  # the tables can be shown all the same
            stands = f"<p>{escape(error.message)}</p>"
        return self.tables()._repr_html_() + stands

    def close(self) -> None:
        self._frontiers.close()
        self._engine.close()
        self._ledger.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _before_charging(self) -> AbstractContextManager[None]:
        """A fault of ours in here is logged, and told in one neutral sentence."""
        return failure.wall(ledger.state_folder(self.policy), UNPLANNED)

    # -- steps -------------------------------------------------------------------------------------------

    def _entered(self, name: str | None) -> str | None:
        """Who asks. Before anything is read or said: the policy is in force, and she may ask.

        Asked again inside the transaction that charges; here also for what is free: stored answers, `explain`, limits.
        """
        who = self._analyst(name)
        self._file.check()
        self._ledger.check_access(policy=self.policy.digest, analyst=who or "")
        return who

    def _analyst(self, name: str | None) -> str | None:
        who = name or os.environ.get("NOWISER_ANALYST") or None
        if who is not None and who != who.encode("utf-8", "ignore").decode():
            raise NotAuthorised("The name of the analyst is no text in UTF-8.")
        if self.policy.analysts and who not in self.policy.analysts:
            raise NotAuthorised(
                f"The policy knows no analyst {who}." if who else "The policy wants to know who asks.",
                hint='Say who you are with analyst="…"; the custodian lists analysts in the policy.',
            )
        return who

    def _free(self, question: Query) -> Literal:
        """The one value of a question that stands inside another: of something public, exact and free."""
        planned = self._plan(question)
        if not planned.free or question.keys or question.after or len(question.outputs) != 1:
            raise NotAnswerable("This is not one number of public tables.")
        try:
            planned, cells = self._run(planned)
            value = release.results(planned, [None] * len(planned.reaches), cells).one()
        except Broken as error:
            failure.record(ledger.state_folder(self.policy), error)
            raise NotEvaluated(UNREAD) from None
        return shown_as(value, question.outputs[0].expression.type.kind)

    def _plan(self, question: Query) -> Plan:
        """The plan; values of keys that stand in public tables or columns are read there, which touches no secret."""
        public: dict[int, tuple[Value, ...]] = {}
        for i, home in keys_to_read(question, self.policy):
            found = self._public(Tally(home, (question.keys[i],), ()))
            public[i] = distinct_keys(found, question.keys[i].type.kind)
        planned = plan(question, self.policy, public)
        for tally in planned.tallies:
            refuse_lacking(tally, self._engine)
        return planned

    def _priced(
        self, planned: Plan, wish: precision.Wish, who: str | None, totals: Charge
    ) -> tuple[Plan, Chosen, Answer]:
        """How it will be blurred, and the answer but for its rows. Raises NotAnswerable where nobody could write it."""
        try:
            chosen = self._choose(planned, wish, who, totals)
            planned = planned.through(chosen.summed)
            return planned, chosen, self._dry(planned, chosen, totals)
        except OverflowError:
            raise NotAnswerable(
                "The noise would be larger than any number that can be shown.",
                hint="Spend more on it, or ask about smaller numbers.",
            ) from None

    def _choose(self, planned: Plan, wish: precision.Wish, who: str | None, totals: Charge) -> Chosen:
        own = self._ledger.totals(who) if who else FREE
        fewest = None if wish.error is None or planned.free else self._fewest(planned)
        return choose(self.policy, planned, wish, totals, analyst=who, own=own, fewest=fewest)

    def _short(
        self,
        refusal: Exhausted,
        planned: Plan,
        wish: precision.Wish,
        who: str | None,
        totals: Charge,
        *,
        charge: Charge | None = None,
    ) -> Exhausted:
        """A refusal with what the question needs, what is left, and what would be admitted."""
        own = self._ledger.totals(who) if who else FREE
        left = shortage.left_for(self.policy, totals, who, own)
        spend = shortage.affordable(self.policy, planned.ways, totals, left, analyst=who, own=own)
        needed = wish.spend if charge is None or wish.spend is not None else shortage.share_of(self.policy, charge)
        assert needed is not None, "what is wanted is a share, or the charge for an error is known"
        return shortage.told(refusal, needed=needed, left=left, spend=spend)

    def _not_admitted(
        self, refusal: Exhausted, planned: Plan, wish: precision.Wish, who: str | None, totals: Charge
    ) -> Answer:
        """What the question would cost and do although the allowance does not cover it: priced as on the first day."""
        try:
            _, chosen, answer = self._priced(planned, wish, None, FREE)
        except Exhausted:  # not even then
            raise refusal from None
        short = self._short(refusal, planned, wish, who, totals, charge=chosen.charge)
        return replace(
            self._standing(answer, totals + chosen.charge, chosen.charge),
            left=self._left(totals),
            price=short.needed,
            admitted=False,
            refusal=f"{short.message}. {short.hint}" if short.hint else short.message,
        )

    def _fewest(self, planned: Plan) -> int | None:
        """Rows in the smallest group, where that is public: what an average divides by."""
        bottoms = {r.bottom for r in planned.readings if r.bottom is not None and planned.reaches[r.bottom].exact}
        if not bottoms:
            return None
        public = [i for i, r in enumerate(planned.reaches) if r.exact]
        cells = aligned(self._public(planned.public), planned)
        return min((int(n) for i in bottoms for n in cells[public.index(i)] if n > 0), default=None)

    # -- usefulness ----------------------------------------------------------------------------------------

    def _case(  # noqa: PLR0917 (what a question was planned with)
        self, sql: str, planned: Plan, wish: precision.Wish, size: Size, totals: Charge, who: str | None
    ) -> Case:
        """What levers are worked out from, when somebody looks at them: nothing of it changes or is secret."""
        own = self._ledger.totals(who) if who else FREE
        left = shortage.left_for(self.policy, totals, who, own)
        return Case(self.policy, planned, wish, size, totals, left, who, own, lambda p: plan(read(sql, p), p))

    def _empty(self, planned: Plan, totals: Charge) -> Answer:
        """Of no rows everything is known: nothing is read, and nothing charged."""
        planned = of_nobody(planned)
        cells = cells_of(planned, np.zeros(len(planned.groups)))
        found = release.results(planned, [None] * len(planned.reaches), cells)
        names = tuple(o.name for o in planned.query.results)
        answer = Answer(
            columns=names,
            values=found.values,
            bars=tuple(0.0 for _ in names),
            exact=names,
            cost={},
            guesses=(),
            left=0.0,
            stored=False,
            bounding=planned.bounding,
        )
        return self._standing(answer, totals)

    def _public(self, tally: Tally) -> "pa.Table":
        """Something public, read before anything is charged."""
        try:
            return self._engine.run(tally)
        except Broken as error:
            failure.record(ledger.state_folder(self.policy), error)
            raise NotEvaluated(UNREAD) from None

    def _failed(self, reservation: Reservation, chosen: Chosen, error: Exception) -> None:
        """Note that the run failed, and charge it the default spend at least, however little was to be spent.

        Where even that cannot be written, or the answer was kept and only its anchor failed, the reservation stays
        as it is: charged.
        """
        failure.record(ledger.state_folder(self.policy), error, reservation.seq)
        with contextlib.suppress(Exception):
            self._ledger.fail(reservation, allowance.owed_for_failing(self.policy, chosen.unit, chosen.charge))

    def _run(self, planned: Plan) -> tuple[Plan, list[Any]]:
        """The exact part: cells, then histograms; and the groups, where they were found in the data."""
        cells: list[Any] = []  # arrays; of quantiles that are picked, the buckets that have rows
        if planned.tally.cells or isinstance(planned.groups, Listed):
            exact = self._engine.run(planned.tally)
            planned = with_found(exact, planned)
            cells = aligned(exact, planned)
        for histogram, tally in zip(planned.histograms, planned.tallies[1:], strict=True):
            cells.append(counts(self._engine.run(tally), planned, histogram))
        return planned, cells

    def _picked(self, planned: Plan, cells: list[Any], chosen: Chosen) -> tuple[Plan, list[NDArray[Any]]]:
        """Quantiles, and groups by noisy max, where these are picked; nothing of the others goes any further."""
        planned, cells = picked(planned, cells, chosen.nats, self._entropy)
        if chosen.top is None:
            return planned, cells
        places = chosen.top.pick(cells[0], chosen.nats, self._entropy)
        every = list(planned.groups)
        largest = replace(planned, groups=Listed(len(planned.query.keys), tuple(every[i] for i in places)))
        # Without counts only the order of the picks is told.
        return largest, [cells[0][places] if chosen.top.counted else np.arange(len(places), 0, -1)]

    def _ahead(self, planned: Plan, chosen: Chosen, reservation: Reservation) -> list[NDArray[Any]] | None:
        """What can be done while the engine works: the charge is anchored, and noise is drawn if it is known how much.

        Noise is independent of what it is added to, so it is the same noise whenever it is drawn.
        """
        reservation.anchor()
        if isinstance(planned.measured, Listed) or planned.histograms or chosen.top is not None:
            return None
        nothing = np.zeros(len(planned.measured), dtype=np.int64)
        return [nothing if n is None else n.blur(nothing, self._entropy) for n in chosen.noise]

    def _blur(
        self, noise: Sequence[Noise], cells: Sequence[NDArray[Any]], drawn: list[NDArray[Any]] | None = None
    ) -> list[NDArray[Any]]:
        """`drawn`: noise that was drawn ahead, a number for each cell, and is used here and nowhere else."""
        if drawn is not None and [d.shape for d in drawn] == [c.shape for c in cells]:
            return [c if n is None else add(c, d) for n, c, d in zip(noise, cells, drawn, strict=True)]
        return [
            c if n is None else n.blur(c.reshape(-1), self._entropy).reshape(c.shape)
            for n, c in zip(noise, cells, strict=True)
        ]

    def _dry(self, planned: Plan, chosen: Chosen, totals: Charge) -> Answer:
        """The answer but for its rows, as if its charge came on top of these totals."""
        answer = Answer(
            columns=tuple(o.name for o in planned.query.results),
            values=None,
            bars=release.planned_errors(planned, chosen.noise),
            exact=release.exact_columns(planned) if chosen.top is None else (),  # which groups is a noisy choice
            cost=cost_of(chosen.charge, self.policy),
            guesses=(),
            left=0.0,
            stored=False,
            bounding=planned.bounding,
            ranges=release.ranges(planned),
            notes=derivation(planned, chosen.name, chosen.noise, chosen.nats) + self._loose(chosen.charge),
        )
        return self._standing(answer, totals + chosen.charge, chosen.charge)

    def _standing(self, answer: Answer, totals: Charge, charge: Charge = FREE) -> Answer:
        """With how every attacker stands after these totals, of which the last charge is part, and what is left."""
        return replace(answer, guesses=self._guesses(totals, charge), left=self._left(totals))

    def _loose(self, charge: Charge) -> tuple[str, ...]:
        """What this would be charged for although no attacker is declared who is after it."""
        charged = {name for account, _ in charge.amounts for name in account.about}
        names = [name for name in self._unguarded if name in charged]
        return tuple(f"  no attacker guards {name}: answers about it are never used up" for name in names)

    def _constant(self, found: Setting) -> Answer:
        """SET and SHOW of what means nothing here: constants, free."""
        totals = self._ledger.totals()
        return Answer(
            columns=found.columns,
            values=tuple(vector(r[i] for r in found.rows) for i in range(len(found.columns))),
            bars=tuple(0.0 for _ in found.columns),
            exact=found.columns,
            cost={},
            guesses=self._guesses(totals),
            left=self._left(totals),
            stored=False,
            bounding=(),
        )

    def _guesses(self, totals: Charge, charge: Charge = FREE) -> tuple[dict[str, Any], ...]:
        found = []
        for attacker, guess in zip(self.policy.attackers, allowance.standing(self.policy, totals), strict=True):
            used, answers = allowance.answers_left(self.policy, attacker, totals, charge)
            found.append(guess.to_json() | {"used": float(used), "answers": answers})
        return tuple(found)

    def _left(self, totals: Charge) -> float:
        return float(max(Fraction(0), 1 - allowance.share_used(self.policy, totals)))
