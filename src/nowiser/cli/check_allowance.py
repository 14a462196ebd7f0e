"""What the allowance buys, in questions somebody might ask: planned and judged as `query` would, never run.

How many rows there are is public under `protect: values`; elsewhere what the policy says under `people`, or a round
number.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from nowiser.cli.check_questions import Question, found_keys, questions
from nowiser.errors import NotAnswerable
from nowiser.guess.budget.allowance import share_used
from nowiser.model.charge import Charge
from nowiser.model.policy import Policy
from nowiser.model.schema import Protect
from nowiser.policy.draft.round_numbers import percent
from nowiser.report import levers, usefulness
from nowiser.report.answer import bar_of
from nowiser.report.levers import Case, Lever
from nowiser.report.usefulness import Figure
from nowiser.sql.plan.plan import plan
from nowiser.sql.plan.precision import Wish
from nowiser.sql.read.select import read

ROUND_NUMBER = 1_000  # rows, where nobody may know how many there are
SHOWN = 3


@dataclass(frozen=True)
class Purchase:
    """So many questions of this form, each with this error bar (95 %); or a single one with that.

    spend: the share of the allowance for each; more than the policy's default where that makes the answer useful.
    useful: as `query` judges it. needed: how many rows it would take, where it is not.
    """

    sql: str
    what: str
    rows: int
    spend: Fraction
    questions: int
    error: float
    alone: float
    useful: bool
    holds: str = ""  # the kind of its values: bars of dates are days
    default: bool = True  # whether the policy's default is spent
    needed: int | None = None

    def __str__(self) -> str:
        spend = f" with --spend {percent(self.spend)}" if not self.default else ""
        if self.questions > 1:
            said = f"about {self.questions} {self.what} over {self.rows:,} rows{spend}, each ±{self._bar(self.error)}"
            said += f"; or a single one, ±{self._bar(self.alone)}"
        else:
            first, _, rest = self.what.partition(" ")
            said = f"one {first.removesuffix('s')} {rest} over {self.rows:,} rows{spend}, ±{self._bar(self.error)}"
        if self.needed is not None:
            said += f" (useless: it takes some {self.needed:,} rows)"
        elif not self.useful:
            said += " (useless)"
        return said

    def _bar(self, error: float) -> str:
        return bar_of(float(f"{error:.2g}"), self.holds)

    def to_json(self) -> dict[str, Any]:
        return {
            "sql": self.sql,
            "rows": self.rows,
            "spend": float(self.spend),
            "questions": self.questions,
            "error": self.error,
            "error_if_alone": self.alone,
            "useful": self.useful,
            "rows_needed": self.needed,
            "text": str(self),
        }


@dataclass(frozen=True)
class Alternatives:
    """What would make the first question more precise than it is: who binds, and real alternatives."""

    sql: str
    figure: Figure
    binding: str | None
    levers: tuple[Lever, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "sql": self.sql,
            "error": self.figure.bar,
            "binding": self.binding,
            "levers": [lever.to_json() for lever in self.levers],
        }


@dataclass(frozen=True)
class Allowance:
    purchases: tuple[Purchase, ...] = ()
    alternatives: Alternatives | None = None
    hidden: tuple[str, ...] = ()  # columns of texts whose groups are too small ever to be shown


def buys(policy: Policy, totals: Charge, rows: Mapping[str, int]) -> Allowance:
    """Useful questions first: three of them where there are so many, whatever has to be spent on each; then those about
    what attackers are after that are useless.
    """
    left = 1 - share_used(policy, totals)
    found: list[tuple[Question, Case, Purchase]] = []
    for question in questions(policy):
        case = _case(policy, totals, question, rows, left)
        bought = _bought(case, question) if case is not None else None
        if case is not None and bought is not None:
            found.append((question, case, bought))
    useful = sorted((f for f in found if f[2].useful), key=lambda f: f[2].spend)[:SHOWN]
    wanted = {name for attacker in policy.attackers for name in attacker.goal.attributes}
    useless = [f for f in found if not f[2].useful and _name(f[0]) in wanted]
    shown = [*useful, *useless][:SHOWN]
    return Allowance(
        tuple(f[2] for f in shown),
        _alternatives(shown[0][1], shown[0][2].sql) if shown else None,
        tuple(_hidden(policy, totals, rows, left)),
    )


def bars(policy: Policy, rows: Mapping[str, int], asked: Iterable[Question]) -> dict[str, tuple[str, bool]]:
    """For each question the bar it has for the default spend of an untouched allowance, and whether that is useful."""
    found = {}
    for question in asked:
        case = _case(policy, Charge(), question, rows, Fraction(1))
        now = case.now if case is not None else None
        if now is not None and now.worst is not None:
            found[question.sql] = now.worst.width, not now.useless
    return found


def _hidden(policy: Policy, totals: Charge, rows: Mapping[str, int], left: Fraction) -> Iterator[str]:
    """Keys without declared values that a GROUP BY would never show, because nobody has so many rows."""
    for question in found_keys(policy):
        case = _case(policy, totals, question, rows, left)
        if case is not None and case.now is not None and case.now.useless:
            assert question.about is not None
            yield (
                f"{question.table.name}.{question.about.name}: GROUP BY shows nothing: {case.now} "
                "Declare its values, or the persons under `people`"
            )


def _name(question: Question) -> str:
    return f"{question.table.name}.{question.about.name}" if question.about is not None else question.table.name


def _case(policy: Policy, totals: Charge, question: Question, rows: Mapping[str, int], left: Fraction) -> Case | None:
    """The question as it would be planned; None where it is free or not answered."""
    try:
        planned = plan(read(question.sql, policy), policy)
    except NotAnswerable:
        return None
    if planned.free:
        return None
    table, known = question.table, {}
    if table.protect is Protect.VALUES and table.name in rows:
        known[table.name] = (float(rows[table.name]), "public")
    elif table.people is None:
        known[table.name] = (float(ROUND_NUMBER), "assumed")
    size = usefulness.size_of(policy, planned, known)  # type: ignore[arg-type]  # the words are among those it knows
    return Case(
        policy,
        planned,
        Wish(spend=policy.spend),
        size,
        totals,
        left,
        read=lambda other: plan(read(question.sql, other), other),
    )


def _bought(case: Case, question: Question) -> Purchase | None:
    """The smallest usual spend that makes the answer useful; the policy's default where none does."""
    default = case.policy.spend
    for spend in (default, *(s for s in levers.SPENDS if s > default), case.left):
        judged = case.judged(spend=spend) if 0 < spend <= case.left else None
        if judged is not None and judged.worst is not None and not judged.useless:
            return _purchase(case, question, spend, useful=True)
    return _purchase(case, question, default, useful=False) if default <= case.left else None


def _purchase(case: Case, question: Question, spend: Fraction, *, useful: bool) -> Purchase | None:
    each, alone = (case.judged(spend=share) for share in (spend, case.left))
    if each is None or alone is None or each.worst is None or alone.worst is None:
        return None
    return Purchase(
        question.sql,
        question.what,
        round(case.size.total),
        spend,
        int(case.left / spend),
        each.worst.bar,
        alone.worst.bar,
        useful,
        each.worst.holds,
        spend == case.policy.spend,
        None if useful else levers.people_needed(case),
    )


def _alternatives(case: Case, sql: str) -> Alternatives | None:
    """For the default spend."""
    if case.now is None or case.now.worst is None:
        return None
    binding = case.binding
    changes = levers.levers(case)[: levers.MOST]
    return Alternatives(sql, case.now.worst, None if binding is None else binding.text, changes)
