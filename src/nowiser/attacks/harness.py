"""Runs one attack against one game: before, members, outside, the surest, unprotected; scores it out of its reach."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np

from nowiser.attacks.curves import Curve, claims
from nowiser.attacks.intervals import Difference, Rate, counted, difference, paired, rate
from nowiser.attacks.outcome import CUTS, FEWEST_IN_CUT, Claim, Outcome, judged
from nowiser.attacks.victims import Game, Trial, surest
from nowiser.attacks.view import Attack, Bools, Guesses, Run
from nowiser.attacks.walls import plain


@dataclass(frozen=True, eq=False)
class Scored:
    """A run with its verdicts, victim by victim."""

    trial: Trial
    guesses: Guesses
    right: Bools
    before: Bools | float


@dataclass(frozen=True)
class NotRun:
    """An attack that was not tried, and why. Never counted among the beaten."""

    attack: str
    why: str
    column: str | None = None


def stream(seed: int, *names: object) -> np.random.Generator:
    """Random numbers for one purpose: the same for the same seed, whatever else ran."""
    words = "\0".join(str(n) for n in (seed, *names))  # hashed: an attack cannot read the seed off its generator
    return np.random.default_rng(int.from_bytes(sha256(words.encode()).digest(), "little"))


def scored(attack: Attack, game: Game, run: Run, victims: int, seed: int, *, fresh: bool = False) -> Scored | str:
    """One run: the attack sees the view, and what it answers is judged here."""
    trial = game.trial(attack, run, victims, stream(seed, "victims", run), fresh=fresh)
    if isinstance(trial, str):
        return trial
    return judge(attack, trial, stream(seed, attack.name, run))


def judge(attack: Attack, trial: Trial, random: np.random.Generator) -> Scored:
    """What he answers to a view, victim by victim."""
    guesses = plain(attack.guess(trial.view, random), trial.view.known.rows, attack.name)
    right = trial.right(guesses)
    if attack.goal == "value" and not isinstance(trial.before, float):
        right = np.where(guesses.silent, trial.before, right)  # of whom he learns nothing he guesses as before
    else:
        right = right & ~guesses.silent
    return Scored(trial, guesses, right, trial.before)


def attempt(
    attack: Attack, game: Game, *, victims: int, seed: int, level: float = 0.95, column: str | None = None
) -> Outcome | NotRun:
    """All runs of one attack. `level` is already corrected for how many are tried."""
    start = time.monotonic()
    lacking = attack.needs - game.offers
    if lacking:
        return NotRun(attack.name, f"needs {', '.join(NEEDED.get(n, n) for n in sorted(lacking))}", column)
    members = scored(attack, game, "members", victims, seed)
    if isinstance(members, str):
        return NotRun(attack.name, members, column)
    outside = scored(attack, game, "outside", victims, seed)
    bare = scored(attack, game, "unprotected", victims, seed)
    notes = tuple(
        f"{what}: {why}" for what, why in (("outside", outside), ("unprotected", bare)) if isinstance(why, str)
    )
    random = stream(seed, attack.name, "intervals")
    n = len(members.right)
    before = _before(members, level)
    raw = rate(members.right, level, members.trial.persons)
    masked, outside = (outside, NO_ROW) if attack.goal == "row" else (NO_ROW, outside)
    control = None if isinstance(outside, str) else rate(outside.right, level, outside.trial.persons)
    said = ~members.guesses.silent
    figures = members.trial.figures(members.guesses) if members.trial.figures is not None else {}
    return Outcome(
        attack=attack.name,
        knows=attack.knows,
        goal=attack.goal,
        column=column,
        before=before,
        after=raw if raw.value >= before.value or attack.goal == "one person" else before,  # he may ignore the release
        control=control,
        unprotected=None if isinstance(bare, str) else rate(bare.right, level, bare.trial.persons),
        surest=at_cuts(members, level, random),
        surest_outside={} if isinstance(outside, str) else at_cuts(outside, level, random),
        advantage=_advantage(attack, outside, (raw, control), seed, level),
        claimed=float(np.mean(said)) if n else 0.0,
        misnamed=None if isinstance(masked, str) else rate(~masked.guesses.silent, level),
        precision=counted(int(members.right[said].sum()), int(said.sum()), level) if said.any() else None,
        victims=n,
        seconds=time.monotonic() - start,
        seed=seed,
        level=level,
        figures=figures,
        course=members.guesses.course,
        curve=_curve(attack, members),
        notes=notes,
    )


def again(outcome: Outcome, attack: Attack, game: Game, claim: Claim, *, victims: int, seed: int) -> Outcome:
    """The verdict on a claim; where the first run is above it, after a second run on fresh victims."""
    here = replace(outcome, ceiling=claim, verdict=judged(outcome, claim))
    if here.verdict != "above, not confirmed":
        return here
    second = scored(attack, game, "members", victims, seed + 1, fresh=True)
    if isinstance(second, str):
        return replace(here, notes=(*here.notes, f"second run: {second}"))
    rates = at_cuts(second, outcome.level, stream(seed + 1, attack.name, "intervals"))
    here = replace(here, again=rates)
    return replace(here, verdict=judged(here, claim))


def at_cuts(run: Scored, level: float, random: np.random.Generator) -> Mapping[float, Rate]:
    """His rate among the victims he is surest of; cuts with few victims are left out."""
    out: dict[float, Rate] = {}
    persons = run.trial.persons
    for share in CUTS:
        who = surest(np.where(run.guesses.silent, -np.inf, run.guesses.confidence), share, random)
        if len(who) >= FEWEST_IN_CUT and np.ptp(run.guesses.confidence) > 0:
            out[share] = rate(run.right[who], level, None if persons is None else persons[who])
    out[1.0] = rate(run.right, level, persons)
    return out


def _before(run: Scored, level: float) -> Rate:
    if isinstance(run.before, float):
        return Rate(run.before, run.before, run.before, round(run.before * len(run.right)), len(run.right))
    return rate(run.before, level)


def _advantage(
    attack: Attack,
    outside: Scored | str,
    rates: tuple[Rate, Rate | None],
    seed: int,
    level: float,
) -> Difference | None:
    raw, control = rates
    if isinstance(outside, str) or control is None:
        return None
    twin, persons = outside.trial.twin, outside.trial.persons
    if twin is not None and persons is not None:  # a crossover: the same people, and the same coins
        inside = judge(attack, twin, stream(seed, attack.name, "outside"))
        return paired(inside.right, outside.right, persons, level)
    return difference(raw, control)


def _curve(attack: Attack, run: Scored) -> Curve:
    if run.trial.curve is not None:
        return run.trial.curve(run.guesses)
    return claims(run.right, run.guesses.confidence) if attack.goal == "row" else ()


NO_ROW = "no record is theirs"
NEEDED = {
    "released": "a released table",
    "releases": "a second release (--release)",
    "aux": "an outside list (--aux and --identity)",
    "rerun": "the recipe (--recipe) or a generator (--generator)",
    "reference": "people outside the release (--control)",
    "ruled out": "a secret of three categories or more",
    "ask": "a gateway (--gateway)",
    "two values": "a secret with two values",
    "secret": "a sensitive column (--sensitive)",
    "quasi": "quasi-identifiers (--quasi)",
    "seeds": "people whom he finds for certain (--seeds)",
    "label": "a label of the people (--label)",
    "aligned": "to be told which released row is whose (--key, --in-order)",
}
