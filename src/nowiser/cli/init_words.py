"""What `nowiser init` says: what it sees and proposes, and what the written policy promises."""

import shlex
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nowiser.cli import init_questions as questions, output
from nowiser.cli.check_ledger import sharing
from nowiser.model.charge import Charge
from nowiser.model.schema import Protect, Role
from nowiser.percent import percent as share
from nowiser.policy.draft import proposals
from nowiser.policy.draft.profile import Profile, Seen
from nowiser.policy.draft.text import CONFIRM, Wishes

if TYPE_CHECKING:
    from nowiser.cli.init_interview import Outcome


def _console() -> Any:
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def show(profile: Profile) -> None:
    """The columns, and what each is proposed to be."""
    from rich.table import Table

    who = questions.persons(proposals.person(profile), profile)
    hurts = proposals.secrets(profile, who)
    shown = Table(box=None, pad_edge=False)
    for title in ("column", "kind", "different values", "proposed"):
        shown.add_column(title, justify="right" if title.startswith("different") else "left")
    for column in profile.columns:
        shown.add_row(column.name, column.kind.value, f"{column.distinct:,}", _proposed(column, profile, who, hurts))
    console = _console()
    console.print(f"{profile.source}: {profile.rows:,} rows\n", markup=False)
    console.print(shown)
    console.print("\nPress Enter to take what stands in brackets.\n", markup=False)


def _proposed(seen: Seen, profile: Profile, who: tuple[str, ...], hurts: Iterable[Seen]) -> str:
    if seen.name in who:
        return "names the person"
    if seen in hurts:
        return "secret, with a promise"
    if seen.names_rows(profile.rows):
        return "numbers the rows" if seen.numbers_rows(profile.rows) else "names the row: never shown"
    return "public" if proposals.harmless(seen) else "secret"


def fourth(profile: Profile, wishes: Wishes, told: Iterable[proposals.Tells]) -> None:
    """Before the fourth question: what its words mean and buy. `wishes`: as they are proposed."""
    from nowiser.cli import init_buys

    console = _console()
    console.print(f"\n{questions.FOURTH} Leave out what they do not know.", markup=False)
    console.print(f"   {questions.MEMBERS}: who is in the table.", markup=False)
    if proposals.about_health(profile):
        console.print(
            "      These columns speak of health: does being in the table tell something? Then leave it out.",
            markup=False,
        )
    if wishes.public:
        console.print(
            f"   {', '.join(wishes.public)}: known of everybody in it; counts by these are exact and free.",
            markup=False,
        )
    for t in told:
        if t.secret in dict(wishes.secrets) and t.giver not in wishes.public:
            console.print(f"   ({t}, so it is kept secret, too.)", markup=False)
    console.print("   And what is believed about the secrets? Error bars of first questions:\n", markup=False)
    console.print(init_buys.shown(init_buys.beliefs(profile, wishes, profile.rows)))
    console.print()


def so_far(file: Path, said: Iterable[str]) -> str:
    return shlex.join(["nowiser", "init", str(file), *said])


def to_json(target: Path, found: "Outcome") -> dict[str, Any]:
    from nowiser.guess.budget.allowance import standing

    return {
        "policy": str(target),
        "table": found.profile.table,
        "to_confirm": _to_confirm(found.text),
        "protect": found.wishes.protect.value,
        "public": list(found.wishes.public),
        "spend": float(found.wishes.spend),
        "guesses": [guess.to_json() for guess in standing(found.policy, Charge())],
        "warnings": list(found.warnings),
    }


def _to_confirm(text: str) -> int:
    return text.count(CONFIRM) - 1  # once in the heading


def written(target: Path, found: "Outcome") -> None:
    """What was promised, in words, and what to do next."""
    from nowiser.guess.budget.allowance import standing

    wishes = found.wishes
    for guess in standing(found.policy, Charge()):
        before, limit = share(guess.before), share(guess.limit)
        output.say(f"{guess.guess}: guessed right with {before} before any answer, at most {limit} after all.")
    (table,) = found.policy.tables
    others = [c.name for c in table.columns if c.role is Role.SENSITIVE and c.name not in dict(wishes.secrets)]
    if others:
        output.say(f"Secret as well, without a promise of their own: {', '.join(others)}.")
    if wishes.protect is Protect.VALUES:
        known = f", and of everybody in it: {', '.join(wishes.public)}" if wishes.public else ""
        output.say(f"Taken as known to everybody: who is in the table{known}.")
    else:
        output.say("Even who is in the table is secret.")
    output.say(
        f"Each question spends {share(float(wishes.spend), 0)} of the allowance: about {int(1 / wishes.spend)} answers."
    )
    for note in found.warnings:
        output.say(f"! {note}. Everybody who knows the one knows the other: make it secret.", err=True)
    if (said := sharing(replace(found.policy, path=target))) is not None:
        output.say(f"! {said}.", err=True)
    output.say(f"\nWrote {target}. {_to_confirm(found.text)} statements in it are marked `{CONFIRM}`: read them,")
    output.say("then run `nowiser check`.")
