"""Several questions planned together: error bars before anything is spent, measured jointly where that is cheaper.

Every number that is measured gets the same share of what may be spent. How much that is follows from the account's own
arithmetic: charges to different parts of a partition, for example, do not add up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from typing import Any

from nowiser.builder.joint import Measure, Member, alternatives, part
from nowiser.builder.session import Session
from nowiser.errors import Exhausted, Misconfigured
from nowiser.guess.budget import allowance
from nowiser.model.charge import Charge
from nowiser.model.policy import Policy
from nowiser.percent import percent
from nowiser.report.answer import Answer, drawn, spoken_guess
from nowiser.report.shown import bar_words
from nowiser.report.visible import on_one_line
from nowiser.sql.plan.plan import Plan
from nowiser.sql.tree import Query

STEPS = 8  # of the search for what each may spend
MOST = 100  # questions
SLACK = Fraction(51, 50)  # where Gaussian noise meets other noise, a price is known to a hundredth
FREE = Charge()


@dataclass(frozen=True)
class Desk:
    """What a workload uses of its gateway."""

    policy: Policy
    totals: Charge
    read: Callable[[str], Query]
    plan: Callable[[str], Plan]
    price: Callable[[Plan, Fraction, Charge], tuple[Charge, Answer]]  # at a share to spend, on top of totals
    admit: Callable[[Charge], None]
    session: Callable[[Fraction], Session]


@dataclass(frozen=True, eq=False, repr=False)
class Workload:
    """Questions with their error bars, at one price. `run` asks them; until then nothing is charged."""

    questions: tuple[str, ...]
    explanations: tuple[Answer, ...]  # one for each question
    measures: tuple[tuple[str, Fraction], ...]  # the SQL that will be asked, and what it may spend; 0: it is free
    price: float  # the share of the whole allowance for all of them
    left: float  # the share that would be left
    guesses: tuple[dict[str, Any], ...]
    refusal: str | None
    _members: tuple[tuple[Member, ...], ...]
    _desk: Desk
    _spend: Fraction

    @property
    def admitted(self) -> bool:
        """Whether the allowance covers them."""
        return self.refusal is None

    def run(self, *, anyway: bool = False) -> tuple[Answer, ...]:
        """The answers, in the order of the questions, charged. Exhausted, before the first, if they do not all fit.

        `anyway`: also those that would be too imprecise to be useful.
        """
        if self.refusal is not None:
            raise Exhausted(self.refusal)
        found: dict[int, Answer] = {}
        with self._desk.session(min(Fraction(1), self._spend * SLACK)) as session:
            for (sql, share), members in zip(self.measures, self._members, strict=True):
                answer = session.run(sql, spend=share or None, anyway=anyway)
                found |= {m.place: part(answer, m) for m in members}
        return tuple(found[i] for i in range(len(self.questions)))

    def to_dict(self) -> dict[str, Any]:
        """What `nowiser explain --json` prints for several questions."""
        return {
            "questions": [
                {"sql": sql, **answer.to_dict()} for sql, answer in zip(self.questions, self.explanations, strict=True)
            ],
            "measured": [{"sql": sql, "spend": float(share)} for sql, share in self.measures],
            "price": self.price,
            "left": self.left,
            "guesses": list(self.guesses),
            "admitted": self.admitted,
        }

    def __str__(self) -> str:
        lines = [] if self.refusal is None else [f"Not admitted: {self.refusal}"]
        for sql, answer in zip(self.questions, self.explanations, strict=True):
            bars = "; ".join(f"{name}: {words}" for name, words in _bars(answer))
            lines += [on_one_line(" ".join(sql.split())), f"  {on_one_line(bars)}"]
        return "\n".join([*lines, self._told(), *(spoken_guess(g) for g in self.guesses)])

    def __repr__(self) -> str:
        return f"<Workload: {self._told()}>"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self) if cycle else str(self))

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td><code>{escape(' '.join(sql.split()))}</code></td>"
            f"<td>{'<br>'.join(escape(f'{n}: {w}') for n, w in _bars(answer))}</td></tr>"
            for sql, answer in zip(self.questions, self.explanations, strict=True)
        )
        refused = "" if self.refusal is None else f"<p><b>Not admitted:</b> {escape(self.refusal)}</p>"
        head = "<tr><th>question</th><th>error bar (95 %)</th></tr>"
        table = f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>"
        return f"{refused}{table}<p>{escape(self._told())}</p>{drawn(self.guesses, self.left)}"

    def _told(self) -> str:
        many, few = len(self.questions), len(self.measures)
        asked = f"{many} questions" if many != 1 else "1 question"
        jointly = f", measured as {few}" if few < many else ""
        return f"{asked}{jointly}: {percent(self.price)} of the allowance; {percent(self.left)} would be left"


def _bars(answer: Answer) -> list[tuple[str, str]]:
    return [(name, words.removesuffix(": see the advice")) for name, words in bar_words(answer)]


def workload(desk: Desk, questions: Sequence[str], spend: Fraction | None) -> Workload:
    """Plan the questions together. `spend`: for all of them; default: what each would spend by itself."""
    if not 0 < len(questions) <= MOST:
        raise Misconfigured(f"Give 1 to {MOST} questions, not {len(questions)}.")
    measures, plans = _cheapest(desk, questions)
    weights = [0 if p.free else _noisy(p) for p in plans]
    whole = min(Fraction(1), len(questions) * desk.policy.spend) if spend is None else spend
    refusal, totals = None, desk.totals
    try:
        shares, priced = _shared(desk, plans, weights, whole, totals)
        desk.admit(_sum(priced))
    except Exhausted as short:  # the bars can be told all the same, as on the first day
        refusal, totals = f"{short.message}. {short.hint or ''}".strip(), FREE
        shares, priced = _shared(desk, plans, weights, whole, totals)
    charge = _sum(priced)
    explained = {
        m.place: part(replace(answer, admitted=refusal is None, refusal=refusal), m)
        for measure, (_, answer) in zip(measures, priced, strict=True)
        for m in measure.members
    }
    after = desk.totals + charge
    return Workload(
        questions=tuple(questions),
        explanations=tuple(explained[i] for i in range(len(questions))),
        measures=tuple((m.sql, share) for m, share in zip(measures, shares, strict=True)),
        price=float(allowance.share_used(desk.policy, charge)),
        left=float(max(Fraction(0), 1 - allowance.share_used(desk.policy, after))),
        guesses=tuple(g.to_json() for g in allowance.standing(desk.policy, after)),
        refusal=refusal,
        _members=tuple(m.members for m in measures),
        _desk=desk,
        _spend=whole,
    )


def _cheapest(desk: Desk, questions: Sequence[str]) -> tuple[list[Measure], list[Plan]]:
    """The cheapest way to ask each family of questions; as they are asked, where that is no dearer."""
    found: list[tuple[Measure, Plan]] = []
    for ways in alternatives(questions, desk.policy, desk.read):
        planned = [[(measure, desk.plan(measure.sql)) for measure in way] for way in ways]
        found += min(planned, key=lambda way: sum(_loss(p) for _, p in way))
    found.sort(key=lambda pair: pair[0].members[0].place)
    return [m for m, _ in found], [p for _, p in found]


def _noisy(planned: Plan) -> int:
    """How many numbers of each group are measured with noise."""
    return sum(not reach.exact for reach in planned.reaches)


def _loss(planned: Plan) -> Fraction:
    """What noise of the size of one row costs, in nats: numbers that a person moves further cost more."""
    rows = [cell.largest for cell in planned.tally.cells] + [1] * len(planned.histograms)
    both = zip(planned.reaches, rows, strict=True)
    return sum((Fraction(max(r.jump, r.presence), max(1, size)) for r, size in both if not r.exact), Fraction(0))


Priced = list[tuple[Charge, Answer]]


def _shared(
    desk: Desk, plans: Sequence[Plan], weights: Sequence[int], whole: Fraction, totals: Charge
) -> tuple[list[Fraction], Priced]:
    """What each may spend, in proportion to its numbers, so that all of them together spend the whole at most."""

    def priced(each: Fraction) -> tuple[list[Fraction], Priced]:
        shares = [each * weight for weight in weights]
        return shares, [desk.price(p, s or whole, totals) for p, s in zip(plans, shares, strict=True)]

    least = whole / max(1, sum(weights))  # always enough: shares add up at most
    best = priced(least)
    most = whole / max(1, *weights)
    if most <= least or allowance.share_used(desk.policy, _sum(best[1])) > whole * Fraction(19, 20):
        return best
    for step in range(STEPS):
        tried = most if step == 0 else (least + most) / 2
        found = priced(tried)
        if allowance.within(desk.policy, _sum(found[1]), whole):
            least, best = tried, found
            if step == 0:
                break
        else:
            most = tried
    return best


def _sum(priced: Priced) -> Charge:
    return Charge.of(amount for charge, _ in priced for amount in charge.amounts)
