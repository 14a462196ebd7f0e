"""The first policy for a file: pure text from what was seen and what the custodian answered.

Ranges are rounded outward to numbers that anybody could have written down without seeing the data, and every
statement that nevertheless came from the data is marked *to be confirmed as public*: declaring a range, a list of
values or a number of rows publishes it, and only the custodian can say whether that is harmless.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from fractions import Fraction

from nowiser.model.goal import named
from nowiser.model.schema import Csv, Kind, Protect
from nowiser.policy.csv import spelled
from nowiser.policy.draft.profile import Profile, Seen
from nowiser.policy.draft.round_numbers import about, decimal, percent
from nowiser.policy.draft.spelling import spell
from nowiser.policy.tables import EACH_ROW

CONFIRM = "to be confirmed as public"
_WIDTH = 60  # where comments start


@dataclass(frozen=True)
class Wishes:
    """The answers to the four questions."""

    person: tuple[str, ...]  # empty: each row is a person
    secrets: tuple[tuple[str, Fraction | None], ...]  # column and how close a guess hurts; None: exactly
    gain: Fraction
    protect: Protect = Protect.PERSONS
    public: tuple[str, ...] = ()  # columns that everybody knows; of no effect where persons are protected
    priors: Mapping[str, str] = field(default_factory=dict)  # column → prior as the policy says it; else unknown
    rows_per_person: int = 1
    people: int | None = None
    spend: Fraction = Fraction(1, 10)


def draft(profile: Profile, wishes: Wishes) -> str:
    """The text of a policy that reads back without error."""
    lines = [
        f"# What is marked `{CONFIRM}` was read off the data and rounded.",
        "# Keep it only if saying it aloud harms nobody. Then run `nowiser check`.",
        "nowiser: 1",
        f"engine: {spell(profile.engine)}",
        "tables:",
        f"  {spell(profile.table)}:",
        f"    source: {spell(profile.source)}",
        *([_noted(f"    csv: {_dialect(profile.csv)}", "how the file is written")] if profile.csv else []),
        *_persons(wishes),
        "    columns:",
        *(_column(column, wishes, profile.rows) for column in profile.columns),
        "",
        *_attackers(profile, wishes),
        "",
        "answers:",
        _noted(
            f"  spend: {percent(wishes.spend)}",
            f"of the whole allowance per question: about {int(1 / wishes.spend)} answers",
        ),
        _noted(
            "  reuse: true",
            "what follows from earlier answers is free; an analyst sees that others asked something like it",
        ),
    ]
    return "\n".join(lines) + "\n"


def _persons(wishes: Wishes) -> list[str]:
    if not wishes.person:
        lines = [_noted(f"    person: {EACH_ROW}", "no column names a person")]
    else:
        person = ", ".join(map(spell, wishes.person))
        line = f"    person: {f'[{person}]' if len(wishes.person) > 1 else person}"
        note = "further rows of a person are left out" if wishes.rows_per_person > 1 else "enforced, not trusted"
        lines = [
            _noted(line, "one person = one value of this"),
            _noted(f"    rows_per_person: {wishes.rows_per_person}", f"{CONFIRM}; {note}"),
        ]
    if wishes.protect is Protect.VALUES:
        return [*lines, _noted(f"    protect: {wishes.protect.value}", f"{CONFIRM}: who is in the table")]
    lines.append(_noted(f"    protect: {wishes.protect.value}", "even who is in the table is secret"))
    if wishes.people:
        note = f"{CONFIRM}: about so many; tells useful answers from useless ones"
        lines.append(_noted(f"    people: {about(wishes.people)}", note))
    return lines


def _attackers(profile: Profile, wishes: Wishes) -> list[str]:
    gain = percent(wishes.gain)
    goals = [_goal(profile.table, name, radius) for name, radius in wishes.secrets]
    if wishes.protect is Protect.PERSONS:
        goals.append(f"present in {named(profile.table)}")
    guarded = dict(wishes.secrets)
    rest = [c for c in profile.columns if c.name not in (*guarded, *wishes.person, *wishes.public)]
    others = [c for c in rest if not c.names_rows(profile.rows)]
    return [
        f"# Nothing below may become guessable more than {gain[:-1]} points better than before.",
        *(
            ["# Other sensitive columns are secret without a promise of their own; add an attacker to make one."]
            * bool(others)
        ),
        "attackers:",
        *(f"  - {{guess: {spell(goal)}, gain: {gain}}}" for goal in goals),
    ]


def _goal(table: str, column: str, radius: Fraction | None) -> str:
    name = named(f"{table}.{column}")
    return f"{name} exactly" if radius is None else f"{name} within {decimal(radius)}"


def _dialect(csv: Csv) -> str:
    usual = Csv(escape=csv.quote)
    said = {key: getattr(csv, key) for key in ("delimiter", "quote", "escape")}
    said = {key: value for key, value in said.items() if value != getattr(usual, key)}
    parts = [f"{key}: {spelled(value)}" for key, value in said.items()]
    if csv.dates:
        parts.append(f"dates: {{{', '.join(f'{spell(name)}: {spell(form)}' for name, form in csv.dates)}}}")
    return f"{{{', '.join(parts)}}}"


def _column(seen: Seen, wishes: Wishes, rows: int) -> str:
    name = f"      {spell(seen.name)}"
    if seen.name in wishes.person:
        return f"{name}: {{identifier: {seen.kind.value}}}"
    guarded = seen.name in dict(wishes.secrets)
    if not guarded and seen.names_rows(rows):
        note = "numbers the rows" if seen.numbers_rows(rows) else "nearly every row has its own"
        return _noted(f"{name}: {{identifier: {seen.kind.value}}}", note)
    public = wishes.protect is Protect.VALUES and seen.name in wishes.public and not guarded
    declared, confirm = _declared(seen)
    extra = f", kind: {seen.kind.value}" if seen.is_number and seen.kind is Kind.INTEGER else ""
    if guarded:
        extra += f", prior: {wishes.priors.get(seen.name, 'unknown')}"
    if seen.nulls and not public and confirm:
        extra += ", nullable: true"
    notes = [CONFIRM] if confirm or public else []
    if seen.has_range and seen.cut():
        notes.append("about 1 in 100 values is outside and moved to the end")
    if not confirm and seen.kind is not Kind.BOOLEAN:
        notes.append("no range declared: counted, not summed" if seen.kind is not Kind.TEXT else "any text")
    return _noted(f"{name}: {{{'public' if public else 'sensitive'}: {declared}{extra}}}", "; ".join(notes))


def _declared(seen: Seen) -> tuple[str, bool]:
    """The declaration, and whether it tells something about the data."""
    if seen.values is not None:
        values = ", ".join(str(v) if isinstance(v, int) else spell(v) for v in seen.values)
        return f"{{values: [{values}]}}" if isinstance(seen.values[0], int) else f"[{values}]", True
    if seen.low is None or seen.high is None:
        return seen.kind.value, False
    if isinstance(seen.low, date) and isinstance(seen.high, date):
        return f"[{_span_of_years(seen.kind, seen.low.year, seen.high.year)}]", True
    low, high = seen.span()
    return f"[{decimal(low)}, {decimal(high)}]", True


def _span_of_years(kind: Kind, first: int, last: int) -> str:
    if kind is Kind.DATE:
        return f"{date(first, 1, 1)}, {date(last, 12, 31)}"
    end = datetime(last, 12, 31) + timedelta(hours=23, minutes=59, seconds=59)  # noqa: DTZ001 (policies have no zones)
    return f"{first:04d}-01-01 00:00:00, {end:%Y-%m-%d %H:%M:%S}"


def _noted(line: str, note: str) -> str:
    return f"{line:<{_WIDTH}} # {note}" if note else line
