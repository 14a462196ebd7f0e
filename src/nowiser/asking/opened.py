"""A policy that was opened: who may ask, how a question is planned and priced, and how everybody stands."""

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import replace
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any, Self

from nowiser import engines, ledger
from nowiser.asking import planning, running
from nowiser.asking.earlier import Old, earlier, precise, stored_cells
from nowiser.asking.sizes import Sizes
from nowiser.asking.telling import Telling
from nowiser.builder.written import text_of
from nowiser.engines.aligned import aligned
from nowiser.engines.base import Engine
from nowiser.errors import Exhausted, NotAnswerable, NotAuthorised, NowiserError
from nowiser.guess.budget import allowance
from nowiser.ledger.base import Ledger
from nowiser.ledger.frontiers import Frontiers
from nowiser.model.charge import Charge
from nowiser.model.policy import Policy
from nowiser.model.schema import Kind
from nowiser.noise.entropy import OS, Entropy
from nowiser.policy.file import PolicyFile
from nowiser.report import failure, shortage
from nowiser.report.answer import Allowance, Answer
from nowiser.report.levers import Case
from nowiser.report.usefulness import Size, judged
from nowiser.sql.columns import Described, columns_of, columns_of_constants, kinds_at
from nowiser.sql.plan import precision
from nowiser.sql.plan.cache import QueryCache
from nowiser.sql.plan.choice import FREE, Chosen, choose
from nowiser.sql.plan.plan import Plan, plan
from nowiser.sql.plan.tally import Tally
from nowiser.sql.read.bi import setting
from nowiser.sql.read.catalogue import described
from nowiser.sql.read.select import read
from nowiser.sql.read.text.parameters import filled, listed, stand_ins, starts
from nowiser.sql.tree import Query

if TYPE_CHECKING:
    import pyarrow as pa

    from nowiser.report.custodian import Report
    from nowiser.report.tables import Tables

UNPLANNED = "The question could not be evaluated. Nothing was charged: no data had been touched."


class Opened:
    """A policy with its engine, its ledger and its source of noise. Asks and charges nothing."""

    def __init__(self, policy: Policy, *, engine: Engine | None = None, account: Ledger | None = None) -> None:
        allowance.refuse_empty_promises(policy)
        self.policy = policy
        self._file = PolicyFile(policy)
        self._engine = engine or engines.connect(policy)
        self._ledger = account or ledger.for_policy(policy)
        self._ledger.declare(policy)
        self._told = Telling(policy)
        self._frontiers = Frontiers(policy)
        self._entropy: Entropy = OS
        self._known = QueryCache(policy, lambda question: planning.free(question, policy, self._engine))
        self._sizes = Sizes(policy, self._engine, self._ledger, self._plan, self._public)

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
        return Allowance(self._told.guesses(totals), self._told.left(totals), self._told.unguarded)

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

    @property
    def ledger(self) -> Ledger:
        """The account that charges are kept in."""
        return self._ledger

    def check_policy(self) -> None:
        """Raise Misconfigured where the policy file, or the ledger, says something else than the policy opened."""
        self._file.check()
        self._ledger.check_access(policy=self.policy.digest)

    def through(self, account: Any) -> Self:
        """The same gateway, whose charges pass through a ledger that holds some of them back."""
        inside = copy(self)
        inside._ledger = account  # noqa: SLF001 (the same but for this)
        return inside

    def describe(self, sql: Any, parameters: Sequence[Any] | None = None) -> tuple[Described, ...]:
        """Names and kinds of the columns of an answer. Neither the ledger nor anything secret is touched; free.

        `parameters`: as in `query`; without them, $1 is read as anything that may stand where it does.
        """
        text = text_of(sql)
        if (constant := setting(text) or described(text, self.policy)) is not None:
            return columns_of_constants(constant.columns, constant.rows)
        with self._before_charging():
            return columns_of(self._unfilled(text) if parameters is None else self._read(text, parameters)[0])

    def parameters(self, sql: Any) -> tuple[Kind | None, ...]:
        """What each parameter of a question holds, by what it stands beside; None where nothing says so. Free."""
        text = text_of(sql)
        if setting(text) or described(text, self.policy) or not (found := stand_ins(text)):
            return (None,) * len(stand_ins(text))
        with self._before_charging():
            return kinds_at(self._known.read(text, found), starts(text), found)

    def _unfilled(self, text: str) -> Query:
        return self._known.read(text, stand_ins(text) or None)

    def _read(self, text: str, parameters: Sequence[Any] | None) -> tuple[Query, str]:
        """The question, and its text with every value written out, as the ledger keeps it."""
        if parameters is None:
            return self._known.read(text), text
        values = listed(parameters)
        return self._known.read(text, values), filled(text, values)

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

    # -- plans and prices ---------------------------------------------------------------------------------

    def _plan(self, question: Query) -> Plan:
        return planning.planned(question, self.policy, self._engine)

    def _public(self, tally: Tally) -> "pa.Table":
        return planning.public(tally, self.policy, self._engine)

    def _run(self, planned: Plan) -> tuple[Plan, list[Any]]:
        return running.run(self._engine, planned)

    @property
    def _looks_back(self) -> bool:
        """Whether a question may be answered by what was paid for earlier."""
        return self.policy.reuse or self.policy.answers_from != "data"

    def _earlier(self, planned: Plan, version: str) -> Old | None:
        """The cells of a question as they follow from stored answers on the same data; None if they do not."""
        if not self.policy.reuse:
            return None
        found = earlier(planned, stored_cells(self._ledger, version), lambda: self._exact(planned))
        return None if found is None else Old(*found)

    def _exact(self, planned: Plan) -> list[Any]:
        """The cells of a plan that are public."""
        return aligned(self._public(planned.public), planned)

    def _priced(
        self, planned: Plan, wish: precision.Wish, who: str | None, totals: Charge
    ) -> tuple[Plan, Chosen, Answer]:
        """How it will be blurred, and the answer but for its rows. Raises NotAnswerable where nobody could write it."""
        try:
            chosen = self._choose(planned, wish, who, totals)
            planned = planned.through(chosen.summed)
            return planned, chosen, self._told.dry(planned, chosen, totals)
        except OverflowError:
            raise NotAnswerable(
                "The noise would be larger than any number that can be shown.",
                hint="Spend more on it, or ask about smaller numbers.",
            ) from None

    def _choose(self, planned: Plan, wish: precision.Wish, who: str | None, totals: Charge) -> Chosen:
        own = self._ledger.totals(who) if who else FREE
        fewest = None if wish.error is None or planned.free else planning.fewest(planned, self.policy, self._engine)
        return choose(self.policy, planned, wish, totals, analyst=who, own=own, fewest=fewest)

    def _price_upon(
        self, planned: Plan, share: Fraction, upon: Charge, totals: Charge, who: str | None
    ) -> tuple[Charge, Answer]:
        """What a share buys on top of other charges; nothing where it follows from earlier answers."""
        old = self._earlier(planned, self._engine.prepared_version()) if upon and self._looks_back else None
        if old is not None and self.policy.answers_from == "synopsis":
            return FREE, self._told.would_follow(planned, old, totals)
        try:
            _, chosen, answer = self._priced(planned, precision.Wish(spend=share), who if upon else None, upon)
        except Exhausted:
            if old is None:
                raise
            return FREE, self._told.would_follow(planned, old, totals)
        if old is not None and precise(old.noise, chosen.noise):
            return FREE, self._told.would_follow(planned, old, totals)
        return chosen.charge, replace(answer, price=float(shortage.share_of(self.policy, chosen.charge)))

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

    def _not_admitted(  # noqa: PLR0917 (what a question was planned with)
        self, refusal: Exhausted, planned: Plan, wish: precision.Wish, size: Size, who: str | None, totals: Charge
    ) -> Answer:
        """What the question would cost and do although the allowance does not cover it: priced as on the first day."""
        try:
            through, chosen, answer = self._priced(planned, wish, None, FREE)
        except Exhausted:  # not even then
            raise refusal from None
        short = self._short(refusal, planned, wish, who, totals, charge=chosen.charge)
        answer = replace(
            answer, expected=judged(through, chosen.noise, size, chosen.nats).bars, expected_for=size.words
        )
        return replace(
            self._told.standing(answer, totals + chosen.charge, chosen.charge),
            left=self._told.left(totals),
            price=short.needed,
            admitted=False,
            refusal=f"{short.message}. {short.hint}" if short.hint else short.message,
        )

    def _case(  # noqa: PLR0917 (what a question was planned with)
        self, sql: str, planned: Plan, wish: precision.Wish, size: Size, totals: Charge, who: str | None
    ) -> Case:
        """What levers are worked out from, when somebody looks at them: nothing of it changes or is secret."""
        own = self._ledger.totals(who) if who else FREE
        left = shortage.left_for(self.policy, totals, who, own)
        return Case(self.policy, planned, wish, size, totals, left, who, own, lambda p: plan(read(sql, p), p))
