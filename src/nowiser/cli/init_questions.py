"""The four questions of `nowiser init`: answers are checked against the file, and asked again where they are wrong."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from fractions import Fraction
from typing import TypeVar

import typer

from nowiser.errors import Misconfigured
from nowiser.files.dates import is_form
from nowiser.model.checks import percentage
from nowiser.model.schema import Kind
from nowiser.percent import percent as share
from nowiser.policy.draft.prior_text import in_yaml
from nowiser.policy.draft.profile import Profile, Seen
from nowiser.policy.draft.round_numbers import decimal
from nowiser.policy.tables import EACH_ROW
from nowiser.policy.tree import suggestion

FIRST = "1. Who is a person? The column that names one, or `each row`"
SECOND = "2. Which guesses would hurt, and how close? (column:distance, or column)"
THIRD = "3. How many points better may an attacker guess, after everything that is ever answered?"
FOURTH = "4. What does everybody know anyway?"
KNOWN = "   Everybody knows"
MEMBERS, UNIFORM, UNKNOWN = "members", "uniform", "unknown"

T = TypeVar("T")
Secrets = tuple[tuple[str, Fraction | None], ...]


@dataclass(frozen=True)
class KnownToAll:
    """What everybody knows: who is in the table, columns, and what is believed about secrets."""

    members: bool
    public: tuple[str, ...]
    prior: str = UNIFORM  # of secrets without one of their own
    priors: dict[str, str] = field(default_factory=dict)  # as the policy says them


class Ask:
    """Asks at a terminal or takes lines from a pipe; a proposal is taken on Enter, a wrong answer is asked again."""

    def __init__(self, *, quiet: bool) -> None:
        self.quiet = quiet

    def __call__(
        self, question: str, proposal: str, read: Callable[[str], T], mend: Callable[[str], str] | None = None
    ) -> T:
        """The answer as `read` understands it. `mend`: what is right in a wrong answer, to go on from."""
        while True:
            answer = proposal if self.quiet else self._typed(question, proposal)
            try:
                return read(answer)
            except Misconfigured as wrong:
                if self.quiet:
                    raise
                typer.echo(f"   {wrong.message}. {wrong.hint or ''}".rstrip(), err=True)
                proposal = (mend(answer) if mend is not None else "") or proposal

    def _typed(self, question: str, proposal: str) -> str:
        try:
            return str(typer.prompt(question, default=proposal, err=True))
        except typer.Abort:
            if sys.stdin.isatty():
                raise
            raise Misconfigured(
                "there is nobody to ask: the input is not a terminal and has ended",
                hint="Give --person, --sensitive, --gain and --prior, or --yes to take the proposals.",
            ) from None


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


def spelled(secrets: Iterable[Seen]) -> str:
    """Secrets as they are typed: `fare:2, survived`."""
    return ", ".join(c.name if (r := c.radius()) is None else f"{c.name}:{decimal(r)}" for c in secrets)


def split(answer: str) -> list[str]:
    return [part.strip() for part in answer.split(";" if ";" in answer else ",") if part.strip()]


def mended(answer: str, profile: Profile, *words: str) -> str:
    """What was typed with the nearest column in place of each name that is none; others are left out."""
    names = [c.name for c in profile.columns] + list(words)
    kept = []
    for part in split(answer):
        at = min((i for i in (part.find(":"), part.find("=")) if i >= 0), default=len(part))
        name, rest = part[:at].strip(), part[at:]
        if part in names or name in names:
            kept.append(part)
        elif close := get_close_matches(name, names, 1, 0.6):
            kept.append(close[0] + rest)
    return ", ".join(kept)


def secrets_of(answers: list[str], profile: Profile, person: tuple[str, ...]) -> Secrets:
    found: dict[str, Fraction | None] = {}
    for answer in answers:
        name, colon, distance = answer.rpartition(":") if profile.column(answer) is None else (answer, "", "")
        seen = _known(name if colon else answer, profile)
        if seen.name in person:
            raise Misconfigured(f"{seen.name!r} names the person and cannot be guessed as a value")
        found[seen.name] = _radius(distance, seen) if colon else seen.radius()
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


def dates_of(said: Iterable[str]) -> dict[str, str]:
    """`visit=day.month.year`: columns and the form of their dates."""
    found = {}
    for part in said:
        name, _, form = part.rpartition("=")
        if not name or not is_form(form):
            raise Misconfigured(
                f"--dates {part!r} does not say where year, month and day stand",
                hint="For example --dates visit=day.month.year, or 'visit=month/day/year hour:minute'.",
            )
        found[name] = form
    return found


def gain_of(text: str) -> Fraction:
    """`5%`, `5` or `0.05`: five points."""
    written = text.strip().removesuffix("points").strip()
    try:
        value = Fraction(written) / 100 if Fraction(written) >= 1 else percentage(written, "gain")
    except (ValueError, ZeroDivisionError):
        value = percentage(written, "gain")
    if not 0 < value < 1:
        raise Misconfigured(f"gain must be more than 0 % and less than 100 %, found {share(float(value))}")
    return value


def known_to_all(parts: Iterable[str], profile: Profile, taken: tuple[str, ...]) -> KnownToAll:
    """`members, sex, day, uniform, fare=normal:13:5`, in any order; `taken` names persons and secrets."""
    members, public, prior, priors = False, [], "", {}
    for part in parts:
        name, equals, form = part.partition("=")
        if part == MEMBERS and profile.column(part) is None:
            members = True
        elif part in (UNIFORM, UNKNOWN) and profile.column(part) is None:
            prior = part
        elif equals and profile.column(part) is None:
            if name.strip() not in taken:
                raise Misconfigured(f"{name.strip()!r} is not among the guesses that hurt, so it has no prior")
            priors[name.strip()] = in_yaml(form)
        elif _known(part, profile).name in taken:
            raise Misconfigured(f"{part!r} is secret or names the person: it cannot be known to everybody")
        else:
            public.append(part)
    if public and not members:
        raise Misconfigured(
            f"if it is secret who is in the table, {public[0]!r} cannot be known to everybody",
            hint=f"Say `{MEMBERS}`, too, or leave out the columns.",
        )
    return KnownToAll(members, tuple(public), prior or UNKNOWN, priors)
