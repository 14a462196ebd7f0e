"""What the choice of a version tells: an attacker who knows the method runs it in all possible worlds.

A world gives the released rows of every group of look-alikes to its people in some order, and people who were left out
values as often as the file shows them. Worlds in which the method makes another choice are out. Where the sizes of
groups alone lead to the same version, every world makes that choice, because the limits are checked on the file, which
all worlds share: then the choice tells nothing. Else the worlds are counted where they are few, or drawn.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
from scipy.stats import beta

from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.microdata.candidates import KNOWS, Candidate, follow, within_limits
from nowiser.microdata.choice.aims import Aim, aims
from nowiser.microdata.choice.possible import FEW, Possible
from nowiser.microdata.codebook import plain
from nowiser.microdata.method_contract import Guessing, Run
from nowiser.microdata.models import sized
from nowiser.microdata.registry import HALF
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.report.released_table import SIZES_ALONE

DRAWN, TOO_FEW = 60, 10  # worlds, where there are more; with fewer nothing is said
# What running the method once takes, in steps of about 50 µs: combinations of levels and rows. Not measured by a clock:
# the same input is told the same.
START, COUNTING, DRAWING = 100, 120_000, 20_000
PURE = {"generalise", "local_recoding", "mondrian", "record_suppression", "cell_suppression"}
RUNS = f"{KNOWS}, and runs the method in every possible world"
SIZES = SIZES_ALONE
COUNTED = "The version was chosen by looking at sensitive values. What that tells was counted over all possible worlds."
SAMPLED = (
    "The version was chosen by looking at sensitive values. Of {} drawn worlds {} lead to it: whoever runs the method "
    "in every possible world gains at most {} points about {}."
)
UNDECIDED = (
    "The version was chosen by looking at sensitive values. Of {0} drawn worlds {1} lead to it. That bounds the gain "
    "about {3} of whoever runs the method in every possible world by {2} points only: drawn worlds cannot decide "
    "whether the limit of {4} points holds against him. `blind` chooses by the sizes of groups alone."
)
UNMEASURED = (
    "The version was chosen by looking at sensitive values, and what that tells was not measured{}: an attacker who "
    "runs the method himself may learn more than the figures say. `blind` chooses by the sizes of groups alone."
)
SEVERAL = " (it was chosen among versions of several methods; name one method to have it measured)"


def measured_choice(
    steps: Sequence[Any], table: MicroTable, run: Run, chosen: Candidate, *, ruled: bool = True, blind: bool = False
) -> Candidate:
    """The version with what its choice tells. Raises NotAnswerable where that, counted, breaks a gain of the recipe.

    `ruled`: the version is that of one method, whatever the others would have led to, or which method it is follows
    from sizes alone. `blind`: the search saw sizes alone.
    """
    only_sizes = blind or sized(run.models) == list(run.models)
    if only_sizes and run.loss != "gain" and (ruled or not blind):
        return replace(chosen, choice=SIZES)
    if not ruled:  # in another world other methods lead to other versions, and this one may lose against them
        return replace(chosen, choice=UNMEASURED.format(SEVERAL))
    if run.weights is not None or run.persons is not None or {s.name for s in steps} - PURE:
        return replace(chosen, choice=UNMEASURED.format(""))
    if _as_by_sizes(steps, run, chosen) and _same(_made(steps, table, run, blind=True), chosen, run):
        return replace(chosen, choice=SIZES)
    there = [c for c in run.roles.sensitive if c in chosen.table and c in table]
    possible, each = Possible.of(table, chosen, run.roles.quasi, there), _effort(steps, table, run)
    wanted = aims(run, chosen, possible)
    if possible.count <= FEW and each * possible.count <= COUNTING:
        found = _counted(possible, wanted, lambda w: _same(_world(steps, w, run), chosen, run))
        return replace(chosen, guesses=(*chosen.guesses, *found), choice=COUNTED)
    tried = min(DRAWN, DRAWING // each)
    if tried < TOO_FEW:
        return replace(chosen, choice=UNMEASURED.format(" (it takes too long)"))
    kept, random = 0, np.random.default_rng(possible.seed)
    for _ in range(tried):
        world = possible.table(possible.drawn(random))
        kept += _same(_world(steps, world, run), chosen, run)
    if not kept:
        return replace(chosen, choice=UNMEASURED.format(f" (none of {tried} drawn worlds leads to it)"))
    return _bounded(chosen, wanted, possible, kept, tried)


def _as_by_sizes(steps: Sequence[Any], run: Run, chosen: Candidate) -> bool:
    """Whether a version that sizes lead to in one world is found in all worlds that show the same groups.

    A version that loses least by sizes alone, and keeps the limits, is the best in each of them: elsewhere more rows
    are left out than sizes ask for, which loses no less. Methods that judge groups on their way which are not released
    may go another way.
    """
    names = {s.name for s in steps}
    if run.loss == "gain" or (run.suppress and run.gs_factor < HALF) or isinstance(chosen.optimal, float):
        return False  # the last: time ran out, and in another world it may run out elsewhere
    return names <= {"generalise", "record_suppression"} or (names == {"mondrian"} and not chosen.suppressed)


def _effort(steps: Sequence[Any], table: MicroTable, run: Run) -> int:
    nodes = prod(run.hierarchies[q].height + 1 for q in run.roles.quasi if q in run.hierarchies)
    return START + table.rows + (nodes if any(s.name == "generalise" for s in steps) else 0)


def _bounded(chosen: Candidate, wanted: Sequence[Aim], possible: Possible, kept: int, tried: int) -> Candidate:
    """If at least this share of worlds leads to the choice, no belief is more than 1/share times the group's.

    The bound stands beside the figures: it is loose, and no figure of what anybody gains.
    """
    share = float(beta.ppf(0.05, kept, tried - kept + 1))
    beliefs = possible.beliefs
    found = []
    for aim in wanted:
        before, most = aim.hits @ possible.share, (beliefs @ aim.hits.T).max(axis=0)
        high = np.minimum(1.0, most / share)
        at = int((high - before).argmax())
        low, end = float(most[at]), float(high[at])
        told = replace(aim.said, attacker=RUNS, before=float(before[at]), after=end, low=low, high=end, how="sampled")
        found.append((told, aim.limit))
    broken = [(g, limit) for g, limit in found if limit is not None and g.gain > limit + 1e-9]
    worst, limit = max(broken or [(g, 0.0) for g, _ in found], key=lambda pair: pair[0].gain - pair[1])
    words = UNDECIDED if broken else SAMPLED
    points, most_allowed = f"{100 * worst.gain:.1f}", f"{100 * limit:.1f}"
    return replace(
        chosen, bounds=tuple(g for g, _ in found), choice=words.format(tried, kept, points, worst.aim, most_allowed)
    )


def stream_choice(chosen: Candidate, run: Run) -> Candidate:
    """The same for rows that stay in their file: said, not measured."""
    return replace(chosen, choice=SIZES if sized(run.models) == list(run.models) else UNMEASURED.format(""))


def _made(steps: Sequence[Any], table: MicroTable, run: Run, *, blind: bool) -> Candidate | None:
    models = sized(run.models) if blind else list(run.models)
    try:
        if blind:
            return follow(steps, table, run, "", models)
        return within_limits(lambda searched: follow(steps, table, run, "", searched), models)
    except (NotAnswerable, Misconfigured):
        return None


def _world(steps: Sequence[Any], world: MicroTable, run: Run) -> Candidate | None:
    found = _made(steps, world, replace(run, original=world, notice=lambda _: None), blind=False)
    return found if found is not None and found.holds else None


def _same(found: Candidate | None, chosen: Candidate, run: Run) -> bool:
    """Whether the same people are released, with the same quasi-identifiers, and the codebook says the same of it."""
    if found is None or found.rows != chosen.rows or _described(found) != _described(chosen):
        return False
    one, two = found.table.take(np.argsort(found.table.origin)), chosen.table.take(np.argsort(chosen.table.origin))
    if not np.array_equal(one.origin, two.origin):
        return False
    return all(one[q].to_arrow().cast(pa.string()).equals(two[q].to_arrow().cast(pa.string())) for q in run.roles.quasi)


def _described(found: Candidate) -> Any:
    return plain([found.loss, found.optimal, *(s.codebook for s in found.steps)])


def _counted(possible: Possible, wanted: Sequence[Aim], accepted: Callable[[MicroTable], bool]) -> tuple[Guessing, ...]:
    """Raises NotAnswerable where what the choice tells breaks a limit."""
    beliefs = possible.tallied(accepted)
    if beliefs is None:
        raise NotAnswerable(
            "only secrets that none of the released rows shows lead to this version: whoever runs the method would "
            "know that somebody who was left out has one of them",
            hint="Use --blind (blind: true in a recipe): it chooses by sizes alone. Or leave nobody out.",
        )
    out = []
    for aim in wanted:
        before, after = aim.gained(beliefs, possible.share)
        guess = replace(aim.said, attacker=RUNS, before=before, after=after, how="worlds")
        if aim.limit is not None and guess.gain > aim.limit + 1e-9:
            raise NotAnswerable(
                f"whoever runs the method in every possible world gains {100 * guess.gain:.1f} points about "
                f"{guess.aim}, and the limit is {100 * aim.limit:.1f}: the choice of this version tells it",
                hint="Use --blind (blind: true in a recipe): it chooses by sizes alone. Try a larger k.",
            )
        out.append(guess)
    return tuple(out)
