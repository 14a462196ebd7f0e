"""What each answer to the fourth question buys: the same draft with other beliefs, priced as `nowiser check` does."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from nowiser.cli.check_allowance import SHOWN, bars, buys
from nowiser.cli.check_questions import Question, questions
from nowiser.errors import Misconfigured
from nowiser.model.charge import Charge
from nowiser.model.policy import Policy
from nowiser.model.schema import Protect
from nowiser.policy import parse
from nowiser.policy.draft.prior_text import at_first
from nowiser.policy.draft.profile import Profile
from nowiser.policy.draft.round_numbers import decimal
from nowiser.policy.draft.text import Wishes, draft


@dataclass(frozen=True)
class Belief:
    """One way to answer the fourth question, and the error bars it gives to the first questions."""

    answer: str
    meaning: str
    bars: dict[str, tuple[str, bool]]  # by question; and whether it is useful


def beliefs(profile: Profile, wishes: Wishes, rows: int, reading: Callable[[str], Policy] = parse) -> list[Belief]:
    """Uniform, a shape, unknown, and members secret, each with what it buys. The first has the proposed policy."""
    rows_of = {profile.table: rows}
    asked: list[Question] = []
    found = []
    for answer, meaning, other in _alternatives(profile, wishes):
        try:
            policy = reading(draft(profile, other))
        except Misconfigured:  # a shape that contradicts the range
            continue
        if not asked:
            first = {p.sql for p in buys(policy, Charge(), rows_of).purchases}
            asked = [q for q in questions(policy) if q.sql in first][:SHOWN]
        mine = {q.sql: q for q in questions(policy)}
        found.append(Belief(answer, meaning, bars(policy, rows_of, [mine.get(q.sql, q) for q in asked])))
    return found


def _alternatives(profile: Profile, wishes: Wishes) -> Iterator[tuple[str, str, Wishes]]:
    guarded = [c for c in profile.columns if c.name in dict(wishes.secrets)]
    even = replace(wishes, priors={c.name: at_first(c) for c in guarded})
    yield "uniform", "every value of a declared range or list is equally likely", even
    number = next((c for c in guarded if c.has_range), None)
    if number is not None:
        low, high = number.span()
        mean, sd = decimal((low + high) / 2), decimal((high - low) / 8)
        shaped = {**even.priors, number.name: f"{{normal: {{mean: {mean}, sd: {sd}}}}}"}
        example = f"{number.name}=normal:{mean}:{sd}"
        yield (
            example,
            "a shape that is published elsewhere; these numbers are an example",
            replace(wishes, priors=shaped),
        )
    yield "unknown", "nothing you would sign: the worst belief there is counts", replace(wishes, priors={})
    if wishes.protect is Protect.VALUES:
        hidden = replace(even, protect=Protect.PERSONS, public=())
        yield "without members", "even who is in the table is secret", hidden


def shown(found: list[Belief]) -> Any:
    """The table of them, for a terminal."""
    from rich.table import Table

    asked = list(found[0].bars) if found else []
    table = Table(box=None, pad_edge=False)
    for title in ("answer", "meaning"):
        table.add_column(title)
    for sql in asked:
        table.add_column(sql.removeprefix("SELECT ").partition(" FROM ")[0], justify="right")
    for belief in found:
        table.add_row(belief.answer, belief.meaning, *(_bar(belief.bars.get(sql)) for sql in asked))
    return table


def _bar(found: tuple[str, bool] | None) -> str:
    if found is None:
        return "–"
    bar, useful = found
    return bar if useful else f"useless: {bar}"
