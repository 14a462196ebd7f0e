"""The flow `assess`: read → which attacks apply → try each → again on fresh victims what beats a ceiling → words."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from nowiser.attacks.harness import NotRun, again, attempt
from nowiser.attacks.outcome import CUTS, Claim, Outcome
from nowiser.attacks.registry import chosen
from nowiser.attacks.victims import Game
from nowiser.attacks.view import Attack

VICTIMS, SECONDS = 3000, 120.0
ALPHA = 0.05
MORE = 3  # times as many victims where a claim about everybody is held against the surest of them


@dataclass(frozen=True)
class Round:
    """One game, with the column it is about and what was promised for it."""

    game: Game
    column: str | None = None
    claim: Claim | None = None
    goals: frozenset[str] | None = None  # None: all
    presence: Claim | None = None  # what was promised about who is in the release at all


@dataclass(frozen=True)
class Assessment:
    """What attackers reached, held against what was promised. For the custodian only: made from true values."""

    title: str
    outcomes: tuple[Outcome, ...]
    not_run: tuple[NotRun, ...]
    claims: tuple[Claim, ...]
    seed: int
    level: float
    notes: tuple[str, ...] = field(default=())

    @property
    def best(self) -> Outcome | None:
        """The attack on secret values that gained most; any other one where there is none of these."""
        values = [o for o in self.outcomes if o.goal == "value" and o.verdict != "not comparable"]
        return max(values or self.outcomes, key=lambda o: o.after.value - o.before.value, default=None)

    @property
    def refuted(self) -> bool:
        return any(o.verdict == "refuted" for o in self.outcomes)

    @property
    def highest(self) -> float:
        """The highest lower end of any attack on a secret value, at any cut."""
        return max((o.highest[1].low for o in self.outcomes if o.goal == "value"), default=0.0)

    def to_json(self) -> dict[str, Any]:
        from importlib.metadata import version

        return {
            "title": self.title,
            "claims": [
                {"column": c.column, "goal": c.goal, "ceiling": c.ceiling, "every": c.every, "words": c.words}
                for c in self.claims
            ],
            "outcomes": [o.to_json() for o in self.outcomes],
            "not_run": [{"attack": n.attack, "column": n.column, "why": n.why} for n in self.not_run],
            "refuted": self.refuted,
            "notes": list(self.notes),
            "seed": self.seed,
            "level": self.level,
            "version": version("nowiser"),
        }

    def chart(self) -> Any:
        from nowiser.report.attack import ladder

        return ladder(self.to_json())

    def curve(self) -> Any:
        """How often he is right among the victims he is surest of."""
        from nowiser.report.attack import surest

        return surest(self.to_json())

    def _repr_html_(self) -> str:
        from nowiser.report.attack import html

        return html(self.to_json(), whole_page=False)

    def save(self, path: str | Path) -> Path:
        """Write the report as one HTML file that loads nothing from elsewhere."""
        from nowiser.report.attack import save_report

        return save_report(self.to_json(), Path(path))


def quiet(message: str) -> None:
    del message


def assess(
    title: str,
    rounds: Sequence[Round],
    *,
    only: Sequence[str] = (),
    skip: Sequence[str] = (),
    victims: int = VICTIMS,
    seconds: float = SECONDS,
    seed: int,
    notes: Iterable[str] = (),
    progress: Callable[[str], None] = quiet,
) -> Assessment:
    """Try every attack that applies, the quickest first, until the time is over or somebody stops it."""
    tried = [(r, a) for r in rounds for a in chosen(r.game.against, tuple(only), tuple(skip)) if _wanted(r, a)]
    tried = _once(tried)
    tried.sort(key=lambda pair: pair[1].minutes)
    level = 1 - ALPHA / max(1, len(tried) * (len(CUTS) + 1))
    end = time.monotonic() + seconds
    outcomes: list[Outcome] = []
    not_run: list[NotRun] = []
    said = list(notes)
    try:
        for i, (here, attack) in enumerate(tried):
            if time.monotonic() > end and outcomes:
                not_run.append(NotRun(attack.name, f"the time is over (--seconds {seconds:g})", here.column))
                continue
            progress(f"{i + 1} of {len(tried)}: {attack.name}{f' on {here.column}' if here.column else ''}")
            wide = here.claim is not None and attack.goal == here.claim.goal and attack.against == "tables"
            tries = MORE * victims if wide else victims
            found = attempt(attack, here.game, victims=tries, seed=seed, level=level, column=here.column)
            if isinstance(found, NotRun):
                not_run.append(found)
                continue
            if "ruled out" in attack.needs:  # *before* knows more too
                found = replace(found, ceiling=here.claim, verdict="not comparable")
            elif here.claim is not None and attack.goal == here.claim.goal:
                found = again(found, attack, here.game, here.claim, victims=tries, seed=seed)
            outcomes.append(found)
    except KeyboardInterrupt:
        done = {(o.attack, o.column) for o in outcomes} | {(n.attack, n.column) for n in not_run}
        left = [(r, a) for r, a in tried if (a.name, r.column) not in done]
        not_run += [NotRun(a.name, "stopped", r.column) for r, a in left]
        said.append("stopped before the end: what was done is shown")
    claims = tuple(c for r in rounds for c in (r.claim, r.presence) if c is not None)
    return Assessment(title, tuple(outcomes), tuple(not_run), claims, seed, level, tuple(said))


def _wanted(here: Round, attack: Attack) -> bool:
    return here.goals is None or attack.goal in here.goals


def _once(tried: list[tuple[Round, Attack]]) -> list[tuple[Round, Attack]]:
    """Attacks that guess no secret value are the same whatever column the round is about."""
    seen: set[str] = set()
    out = []
    for here, attack in tried:
        if attack.goal != "value":
            if attack.name in seen:
                continue
            seen.add(attack.name)
            own = here.claim is not None and here.claim.goal == attack.goal
            out.append((Round(here.game, None, here.claim if own else here.presence, here.goals), attack))
        else:
            out.append((here, attack))
    return out
