"""What several releases about the same people tell together, and a release with the answers already given.

Releases made independently of one another, given the people, multiply their likelihoods:

    posterior(v)  ∝  prior(v) · Π_k  ( posterior_k(v) / prior(v) )

so each release may be judged by itself and combined afterwards. Groups of two releases that share people are not
independent: this is one attacker, neither a bound nor the best one. `nowiser.microdata.releases` counts worlds jointly,
and is what a policy decides by. *This is the classical composition attack:* two
k-anonymous tables of the same hospital may each hide a diagnosis among k, and leave one that both groups share.

Answers of the gateway are known by what they cost: (slope, jump) about the attribute. Their likelihood moves by
at most e^(slope·|x−x'| + jump) when one record changes. Given a release, another value of the victim is another value
of somebody else in her group too, so two records change: the odds of any guess move by at most e^(2·(jump + slope·R))
on a range of width R. Several releases whose groups cross need longer exchanges, of 2 records per release at the least.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from nowiser.errors import Misconfigured
from nowiser.guess.budget.exposure import exposure, up
from nowiser.microdata.risk.belief import believe
from nowiser.microdata.risk.best_guess import Floats, Goal, Guessed, best_windows, clopper_pearson, usual_goal
from nowiser.microdata.risk.channel import Released
from nowiser.microdata.risk.linking import links
from nowiser.microdata.table.arrays import chosen
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable
from nowiser.model.attacker import Attacker
from nowiser.model.charge import Charge
from nowiser.model.goal import Exactly, On
from nowiser.model.policy import Policy


@dataclass(frozen=True)
class Answered:
    """What the gateway's answers have cost about the attribute so far, from the ledger's totals."""

    slope: float = 0.0  # nats per raw unit
    jump: float = 0.0  # nats
    width: float = 0.0  # of the declared range, raw units

    @property
    def reach(self) -> float:
        """The most that the log-likelihood of all answers can move."""
        return self.jump + self.slope * self.width


def combined(prior: Floats, posteriors: Sequence[Floats]) -> Floats:
    """The belief after several independent releases, from the belief after each (rows × values each)."""
    if any(p.shape[-1] != len(prior) for p in posteriors):
        raise Misconfigured("beliefs of several releases must be about the same values")
    with np.errstate(divide="ignore", invalid="ignore"):
        log = np.log(prior)[None, :] + sum(np.where(prior > 0, np.log(p) - np.log(prior), 0.0) for p in posteriors)
    log = np.where(prior[None, :] > 0, log, -np.inf)
    top = log.max(axis=1, keepdims=True)
    # all releases together rule everything out: they contradict each other, and tell nothing
    weight = np.where(np.isfinite(top), np.exp(log - np.where(np.isfinite(top), top, 0.0)), prior[None, :])
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def with_answers(after: float, answered: Answered, people: int = 2) -> float:
    """The ceiling on a guess that was right with chance `after`, once the answers are known too.

    people: records in which worlds differ at least, where the guess is right and where it is wrong.
    """
    if not 0 <= after <= 1:
        raise Misconfigured(f"a chance lies between 0 and 1, not {after:g}")
    reach = math.exp(min(people * answered.reach, 700.0))
    return after * reach / (1 - after + after * reach)


def answered_about(policy: Policy, totals: Charge, attribute: str) -> Answered:
    """What everything in the ledger has cost about `table.column`: its own accounts and those of attributes that may
    tell about it, as one jump over the declared ranges.
    """
    told = exposure(policy, Attacker(On(attribute, Exactly()), Fraction(0)), totals)
    return Answered(jump=up(told.reach))


def also_answered(told: Sequence[Guessed], answered: Answered) -> tuple[Guessed, ...]:
    """The ceiling for each of these attackers once he also has the answers of the gateway."""
    return tuple(
        replace(
            g,
            attacker=f"{g.attacker}, and has the answers given so far",
            after=with_answers(g.after if g.high is None else g.high, answered),
            low=None,
            high=None,
            how="bound",
        )
        for g in told
    )


def intersection(
    original: MicroTable,
    releases: Sequence[MicroTable],
    quasi: Sequence[str],
    sensitive: str,
    *,
    goal: Goal | None = None,
    answered: Answered | None = None,
    victims: int = 1000,
    seed: int = 0,
) -> tuple[Guessed, ...]:
    """Before → after of an attacker who knows the quasi-identifiers exactly: per release, all together, and with
    the gateway's answers.
    """
    if not releases:
        raise Misconfigured("an intersection needs at least one release")
    names = chosen(original, quasi, what="quasi-identifiers")
    column = original[sensitive]
    aim = goal or usual_goal(sensitive, column.numbers if column.is_numeric else None, len(column.values))
    random = np.random.default_rng(seed)
    drawn = (
        np.arange(original.rows) if original.rows <= victims else np.sort(random.choice(original.rows, victims, False))
    )
    prior, values = _prior(column, aim)
    before = believe(column, column, Released(), aim).before()
    each = [_beliefs(original, r, names, sensitive, drawn, random) for r in releases]

    out = []
    titles = [f"sees release {i + 1}" for i in range(len(each))]
    for title, belief in [*zip(titles, each, strict=True), ("sees all releases", combined(prior, each))]:
        right = _right(belief, values, column, drawn, aim)
        low, high = clopper_pearson(right, len(drawn))
        how = "enumerated" if len(drawn) == original.rows else "simulated"
        out.append(
            Guessed(
                title,
                sensitive,
                before,
                max(before, right / len(drawn)),
                max(before, low),
                max(before, high),
                how,
                aim.within,
            )
        )
    if answered is not None:
        after = out[-1].high if out[-1].high is not None else out[-1].after
        worst = with_answers(after, answered, 2 ** len(releases))
        out.append(
            Guessed("sees all releases and the answers given", sensitive, before, worst, how="bound", within=aim.within)
        )
    return tuple(out)


def _prior(column: Column, aim: Goal) -> tuple[Floats, Floats]:
    """The distribution of the column over its distinct values, and those values (codes for categories)."""
    counts = column.counts().astype(np.float64)
    values = column.value_numbers if aim.within is not None else np.arange(len(counts), dtype=np.float64)
    return counts / counts.sum(), values


def _beliefs(  # noqa: PLR0917 (the pieces of one attacker)
    original: MicroTable,
    released: MicroTable,
    quasi: Sequence[str],
    sensitive: str,
    drawn: np.ndarray,
    random: np.random.Generator,
) -> Floats:
    """Belief over the distinct original values per victim: the spread of the released values of her look-alikes."""
    prior, _ = _prior(original[sensitive], Goal(sensitive))
    where = links(original, released, tuple(q for q in quasi if q != sensitive), "exactly", {})
    place = {v: i for i, v in enumerate(original[sensitive].labels)}
    codes = np.array([place.get(v, -1) for v in released[sensitive].labels] + [-1])[released[sensitive].codes]
    out = np.empty((len(drawn), len(prior)))
    for i, victim in enumerate(drawn):
        rows, weight = where.candidates(int(victim), random)
        seen = codes[rows]
        mass = np.bincount(seen[seen >= 0], weights=weight[seen >= 0], minlength=len(prior))
        out[i] = mass + (1 - mass.sum()) * prior  # what was suppressed or recoded is as before
    return out


def _right(belief: Floats, values: Floats, column: Column, drawn: np.ndarray, aim: Goal) -> int:
    if aim.within is None:
        return int((np.argmax(belief, axis=1) == column.codes[drawn]).sum())
    guess, _ = best_windows(values, belief, aim.within)
    return int((np.abs(column.numbers[drawn] - guess) <= aim.within * (1 + 1e-12)).sum())
