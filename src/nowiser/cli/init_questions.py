"""The three questions of `nowiser init`: proposals from what the file shows, answers checked against it."""

import sys
from fractions import Fraction

import typer

from nowiser.errors import Misconfigured
from nowiser.model.checks import percentage
from nowiser.model.schema import Kind
from nowiser.policy.draft import Profile, Seen, decimal, names_rows, percent, radius_of
from nowiser.policy.tables import EACH_ROW
from nowiser.policy.tree import suggestion

_LIKE_A_PERSON = ("person", "patient", "student", "customer", "client", "user", "employee", "member", "pid", "id")
FIRST = "1. Who is a person? The column that names one, or `each row`"
SECOND = "2. What is secret, and how close a guess hurts? (column:distance, or column)"
THIRD = "3. How much better may an attacker guess?"


class Ask:
    """Asks at a terminal or takes lines from a pipe; a proposal is taken on Enter."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet

    def __call__(self, question: str, proposal: str) -> str:
        if self.quiet:
            return proposal
        try:
            return str(typer.prompt(question, default=proposal, err=True))
        except typer.Abort:
            if sys.stdin.isatty():
                raise
            raise Misconfigured(
                "there is nobody to ask: the input is not a terminal and has ended",
                hint="Give --person, --sensitive and --gain, or --yes to take the proposals.",
            ) from None


def show(profile: Profile) -> None:
    from rich.console import Console
    from rich.table import Table

    shown = Table(box=None, pad_edge=False)
    for title in ("column", "kind", "different values"):
        shown.add_column(title, justify="right" if title.startswith("different") else "left")
    for column in profile.columns:
        shown.add_row(column.name, column.kind.value, f"{column.distinct:,}")
    console = Console(stderr=True, highlight=False)
    console.print(f"{profile.source}: {profile.rows:,} rows\n")
    console.print(shown)
    console.print()


def likely_person(profile: Profile) -> str:
    """The column whose name speaks of persons, or the first in which nearly every row has its own value."""

    def likeness(seen: Seen) -> int:
        words = seen.name.lower().replace("-", "_").split("_")
        return next((i for i, word in enumerate(_LIKE_A_PERSON) if word in words), len(_LIKE_A_PERSON))

    candidates = [c for c in profile.columns if c.kind in (Kind.TEXT, Kind.INTEGER) and c.distinct > 1]
    best = min(candidates, key=likeness, default=None)
    if best is not None and likeness(best) < len(_LIKE_A_PERSON):
        return best.name
    own = [c.name for c in candidates if c.kind is Kind.TEXT and c.distinct == profile.rows]
    return own[0] if own else EACH_ROW


def persons(answer: str, profile: Profile) -> tuple[str, ...]:
    if answer.strip() in (EACH_ROW, ""):
        return ()
    names = tuple(part.strip() for part in answer.split(",")) if profile.column(answer) is None else (answer,)
    for name in names:
        _known(name, profile)
    return names


def _known(name: str, profile: Profile) -> Seen:
    seen = profile.column(name)
    if seen is None:
        known = [c.name for c in profile.columns]
        raise Misconfigured(f"{profile.source} has no column {name!r}", hint=suggestion(name, known, "Its columns"))
    return seen


def likely_secrets(profile: Profile, person: tuple[str, ...]) -> str:
    """Numbers with many values, with a distance; if there are none, whatever is left."""
    rest = [c for c in profile.columns if c.name not in person and not names_rows(c, profile.rows)]
    numbers = [c for c in rest if c.kind in (Kind.INTEGER, Kind.REAL) and c.distinct > 20]
    chosen = numbers or [c for c in rest if c.values is not None or c.kind is Kind.BOOLEAN] or rest
    spelled = [c.name if (r := radius_of(c)) is None else f"{c.name}:{decimal(r)}" for c in chosen]
    return ", ".join(spelled)


def split(answer: str) -> list[str]:
    return [part.strip() for part in answer.split(",") if part.strip()]


def secrets_of(
    answers: list[str], profile: Profile, person: tuple[str, ...]
) -> tuple[tuple[str, Fraction | None], ...]:
    found: dict[str, Fraction | None] = {}
    for answer in answers:
        name, colon, distance = answer.rpartition(":") if profile.column(answer) is None else (answer, "", "")
        seen = _known(name if colon else answer, profile)
        if seen.name in person:
            raise Misconfigured(f"{seen.name!r} names the person and cannot be guessed as a value")
        found[seen.name] = _radius(distance, seen) if colon else radius_of(seen)
    if not found:
        raise Misconfigured("nothing is secret, so there is nothing to promise", hint="Name a column with --sensitive.")
    return tuple(found.items())


def _radius(text: str, seen: Seen) -> Fraction:
    written = text.strip().removeprefix("within").strip()
    try:
        radius = Fraction(written)
    except (ValueError, ZeroDivisionError):
        radius = Fraction(0)
    if radius <= 0:
        raise Misconfigured(f"the distance for {seen.name!r} must be a number greater than 0, like {seen.name}:2")
    if seen.kind not in (Kind.INTEGER, Kind.REAL, Kind.DATE):
        raise Misconfigured(f"{seen.name!r} holds {seen.kind.value}: there is no distance", hint=f"Write {seen.name}.")
    return radius


def gain_of(text: str) -> Fraction:
    value = percentage(text, "gain")
    if not 0 < value < 1:
        raise Misconfigured(f"gain must be more than 0% and less than 100%, found {percent(value)}")
    return value
