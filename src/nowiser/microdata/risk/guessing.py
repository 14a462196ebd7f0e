"""Before → after: how much better an attacker guesses a sensitive value once he holds the release.

*before* is how often the best guess is right that needs no release, only the column's distribution in
the table as a whole. *after* is how often the attacker's best guess is right with the release, for a
victim drawn from the table, and never less than before, since he may ignore the release.

* The attacker who *has found her row*: Bayes. For a published matrix the expected belief in the best guess,
  exactly; for noise and rank swapping the average over released rows of the posterior given the released
  value, for correlated noise given all values that were perturbed together (`together`); otherwise the share of
  rows for which the released value is right, with its interval. If reading the whole row (`whole_row`) does
  better, that figure is given instead.
* The attacker who *knows the quasi-identifiers* exactly, roughly or not at all: his best guess for each of the
  drawn victims is compared with the truth; the share that is right, with a 95 % Clopper–Pearson interval. If
  attackers who learn from the release and may ignore columns (`by_quasi`) do better, that is the figure.

Each figure is what the best of these attackers reaches, so a lower bound of what can be guessed.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from nowiser.microdata.method_contract import Run
from nowiser.microdata.risk.belief import Belief, Categories, Posterior, believe
from nowiser.microdata.risk.best_guess import Floats, Goal, Guessed, Ints, clopper_pearson, drawn, usual_goal
from nowiser.microdata.risk.channel import Channel, Matrix, Noise, Released, estimated
from nowiser.microdata.risk.labels import Rules
from nowiser.microdata.risk.linking import LEVELS, Knowledge, Links, is_aligned, links
from nowiser.microdata.risk.together import Together, beliefs as beliefs_together, interval_of_mean, most_rows
from nowiser.microdata.risk.whole_row import by_quasi, whole_row
from nowiser.microdata.table.micro_table import MicroTable

VICTIMS = 1000  # drawn per attacker; all rows if there are fewer
SEARCHED = 300  # of them, when every released row has to be weighed for each
FOUND = "has found the victim's row"
NO_KNOWLEDGE = "knows no quasi-identifier"


def guesses_of(run: Run, before: MicroTable, after: MicroTable, channels: Mapping[str, Channel]) -> tuple[Guessed, ...]:
    """Before → after of every attacker for one step: `before` is the table the step was given."""
    if not run.roles.sensitive:
        return ()
    known = {n: c for n, c in channels.items() if _untouched(run.original, before, n)}
    out: list[Guessed] = []
    for name in run.roles.sensitive:
        if name in after and name in run.original:
            goal = Goal(name, run.within[name]) if name in run.within else None
            out += guesses(run.original, after, run.roles.quasi, name, channels=known, goal=goal)
    return tuple(out)


def guesses(
    original: MicroTable,
    released: MicroTable,
    quasi: tuple[str, ...],
    sensitive: str,
    *,
    channels: Mapping[str, Channel] | None = None,
    goal: Goal | None = None,
    victims: int = VICTIMS,
    seed: int = 0,
    labels: Mapping[str, Rules] | None = None,
) -> tuple[Guessed, ...]:
    """All attackers on one sensitive column. `released.origin` tells which row is whose."""
    known = dict(channels or {})
    column = original[sensitive]
    aim = goal or usual_goal(sensitive, column.numbers if column.is_numeric else None, len(column.values))
    published = known.get(sensitive, Released())
    ways = [published]
    if isinstance(published, Released) and is_aligned(released):
        ways.append(estimated(column, released[sensitive], released.origin))  # as it stands, or as what it looks like
    beliefs = [believe(column, released[sensitive], way, aim) for way in dict.fromkeys(ways)]
    random = np.random.default_rng(seed)
    people = drawn(original.rows, victims, random)
    before = beliefs[0].before()

    ladder: list[Guessed] = []  # from the weakest attacker to the strongest: who knows more may do as who knows less
    for level in reversed(LEVELS):
        if level != "not at all" and not quasi:
            continue
        where = links(original, released, tuple(q for q in quasi if q != sensitive), level, known, labels=labels)
        tried = people[:: max(1, len(people) // SEARCHED)] if where.soft else people
        right = max(success(belief, where, tried, random) for belief in beliefs)
        low, high = clopper_pearson(right, len(tried))
        how = "enumerated" if len(tried) == original.rows else "simulated"
        here = Guessed(_words(level), sensitive, before, right / len(tried), low, high, how, aim.within)
        if level == "exactly" and released.rows and is_aligned(released):
            others = tuple(q for q in quasi if q != sensitive)
            here = _stronger(here, by_quasi(original, released, others, aim, published))
        ladder.append(_at_least(here, ladder[-1] if ladder else replace(here, after=before, low=before, high=before)))
    if released.rows and is_aligned(released):
        reader = whole_row(original, released, aim, random)
        joint = _joint(original, released, published, known)
        alone = max((found(b, published, released, aim, random) for b in beliefs), key=lambda g: g.after)
        if joint is not None:
            alone = _found_together(joint, (original, released), aim, before, random)
        alone = _stronger(alone, reader)
        weaker = ladder[-1]
        ladder.append(replace(weaker, attacker=FOUND) if (weaker.low or 0.0) > alone.after else alone)
    return tuple(replace(g, number=column.is_numeric) for g in reversed(ladder))


def success(belief: Belief, where: Links, people: Ints, random: np.random.Generator) -> int:
    """How many of these victims are guessed right."""
    right = 0
    cache: dict[int, float] = {}
    for victim in people:
        group = int(where.group[victim])
        if where.soft or group not in cache:
            guess, _ = belief.guess(*where.candidates(int(victim), random))
            cache[group] = guess
        right += belief.right(cache[group], int(victim))
    return right


def found(belief: Belief, channel: Channel, released: MicroTable, aim: Goal, random: np.random.Generator) -> Guessed:
    """The attacker who knows which released row is his victim's, and the channel if it is published."""
    before = belief.before()
    exact = Guessed(FOUND, aim.column, before, before, how="Bayes", within=aim.within)
    if isinstance(belief, Categories) and isinstance(channel, Matrix):
        return replace(exact, after=expected(belief))
    rows = drawn(released.rows, VICTIMS, random)
    if isinstance(belief, Posterior) and not isinstance(channel, Released):
        _, mass = belief.guesses(rows)
        return replace(exact, after=max(before, float(mass.mean())))
    right = sum(
        belief.right(belief.guess(np.array([r]), np.ones(1))[0], int(released.origin[r])) for r in rows.tolist()
    )
    low, high = clopper_pearson(right, len(rows))
    after = max(before, right / len(rows))
    how = "enumerated" if len(rows) == released.rows else "simulated"
    return replace(exact, after=after, low=max(before, low), high=max(before, high), how=how)


def _joint(
    original: MicroTable, released: MicroTable, channel: Channel, known: Mapping[str, Channel]
) -> Together | None:
    """The joint law of the noise, if that is the whole story of every column it is about."""
    together = channel.together if isinstance(channel, Noise) else None
    if together is None or not set(together.names) <= set(known) or not together.fits(original, released):
        return None
    return together


def _found_together(
    together: Together, tables: tuple[MicroTable, MicroTable], aim: Goal, before: float, random: np.random.Generator
) -> Guessed:
    """The attacker who knows which released row is his victim's, and reads all that was perturbed together."""
    original, released = tables
    rows = drawn(released.rows, most_rows(original), random)
    sure = beliefs_together(together, original, released, aim, rows)
    exact = Guessed(FOUND, aim.column, before, max(before, float(sure.mean())), how="Bayes", within=aim.within)
    if len(rows) == released.rows:
        return exact
    low, high = interval_of_mean(sure, released.rows)
    return replace(exact, low=max(before, low), high=max(before, high))


def expected(belief: Categories) -> float:
    """Σ_y max_v π(v)·P(y|v), averaged over the strata by their rows: the Bayes success of a published matrix."""
    share = np.bincount(belief.strata, minlength=len(belief.chances)) / max(1, len(belief.strata))
    each: Floats = (belief.chances * belief.prior[None, :, None]).max(axis=1).sum(axis=1)
    return float(share @ each)


def _at_least(here: Guessed, weaker: Guessed) -> Guessed:
    """Never worse than an attacker who knows less, nor than the guess without the release."""
    better = here if here.after >= weaker.after else replace(weaker, attacker=here.attacker)
    low = None if better.low is None else max(better.before, better.low)
    high = None if better.high is None else max(better.before, better.high)
    return replace(better, low=low, high=high)


def _stronger(alone: Guessed, reader: tuple[int, int] | None) -> Guessed:
    """The better of two who have found the row: the one who looks at the column, and the one who reads all of it."""
    if reader is None:
        return alone
    low, high = clopper_pearson(*reader)
    if low <= alone.after:  # not better beyond chance
        return alone
    return replace(alone, after=reader[0] / reader[1], low=max(alone.before, low), high=high, how="simulated")


def _words(level: Knowledge) -> str:
    if level == "not at all":
        return NO_KNOWLEDGE
    return f"knows the quasi-identifiers {level}"


def _untouched(original: MicroTable, table: MicroTable, name: str) -> bool:
    """Whether the step was given this column as the custodian has it (so the step's channel is the whole channel)."""
    if name not in original or name not in table:
        return False
    return original[name].same_rows(table[name], table.origin)
