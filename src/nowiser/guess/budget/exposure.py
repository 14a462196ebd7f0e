"""From everything charged so far to what it tells about one attacker's goal.

The ledger keeps promises about the likelihood ℓ of all outputs so far as a function of the victim's *whole* record.
An attacker's goal is about some attributes of it. Let D be the attributes that may depend on an attribute a (its
independence group; everything, unless the policy says otherwise), b ≠ a the others in D.

**One attribute.** The likelihood of a's value alone is the average `ℓ_a(x) = E[ℓ(record) | a = x]`. Attributes outside
D are independent of a: their average is the same for every x. Those in D may change with x in any way, but not further
than their declared range. Averages of likelihoods that stay within a factor stay within it, hence

    |ln ℓ_a(x) − ln ℓ_a(x')|  ≤  slope_a·|x − x'|  +  [x ≠ x']·jump_a,
    jump_a = Σ jump_S over the sets S that meet D  +  Σ_b slope_b·range_b,

which is the form (slope, jump) of the calculus, and its ceiling applies with the prior of a.

**Several attributes in different groups.** The same per attribute; the product rules of independent attributes apply.

**Any goal at all.** A change of the victim's whole record moves ln ℓ by at most the *reach*: the sum of the jumps that
meet the groups of the goal and of slope·range over them. The goal then has posterior odds of at most e^reach times
its prior odds, however its attributes depend on each other. Where both apply the smaller one counts. When attributes
of a goal depend on each other their joint prior is unknown; so is `before`. It lies between 0 and the Fréchet bound
(`and`: the smallest part, `or`: the sum), and the worst value in between is reported.

**Presence.** The output given presence is an average over records of somebody who is there; given absence, of a table
without. So only `presence` counts, of every table whose rows belong to the same persons. Somebody without rows in a
*linked* table may be absent, or be one of the persons and have none: against the first the likelihood moves by
`presence`, against the second, a replaced record, by `jump`. The contrary of the goal is a mixture of both, so the
larger of the totals counts. With Gaussian noise either may fail: each with half of δ.

**Gaussian noise.** Step by step the odds of the goal move by log-likelihood ratios of mixtures, each bounded (Laplace)
or ρ_i-concentrated. By Ville's inequality, for some λ_j = 2^j, at all times at once (docs/mathematics/noise.md)

    the logarithm of the odds moves by at most  min over j of  (1 + λ_j)·ρ + ln(1/δ_j)/λ_j ,     Σδ_j = δ,

besides the bounded parts, except with probability δ in all (`concentrated`). This is about the odds of the whole goal,
not about distances and not about one attribute of several: where Gaussian noise was used, slopes are charged over the
whole range, and a goal on several attributes is judged by its reach, which uses δ once.

Attributes and tables that the policy does not know (any more) count as dependent on everything: costs are never reset.
Everything is computed in Fractions and rounded up once, on the way to floats.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations

from nowiser.errors import Misconfigured
from nowiser.guess.formula import simple_goals
from nowiser.model.attacker import Attacker
from nowiser.model.charge import ATTO, GAUSSIAN, UNIT, Charge
from nowiser.model.goal import Goal, On, Within
from nowiser.model.policy import Policy


@dataclass(frozen=True)
class Share:
    """What one attribute of a goal has suffered, in nats: per raw unit, and for any change at all."""

    slope: Fraction = Fraction(0)
    jump: Fraction = Fraction(0)


@dataclass(frozen=True)
class Exposure:
    """What an attacker's goal has suffered.

    shares: per attribute (or table, for presence); None when only the goal as a whole can be judged, because its parts
    depend on each other or because Gaussian noise was used.
    reach: how far ln ℓ can move when the victim's record changes in any way that matters to the goal.
    rho: of Gaussian noise; `reach` has it as `concentrated(rho, delta)`, and then every share is a jump.
    """

    shares: tuple[tuple[str, Share], ...] | None
    reach: Fraction
    rho: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)

    def __bool__(self) -> bool:
        return self.reach > 0

    def multiple_within(self, reach: Fraction, beside: Fraction = Fraction(0)) -> Fraction:
        """The largest multiple of these costs, and of `beside`, that reaches no further."""
        if not self.rho:
            return reach / (self.reach + beside)
        rest = self.reach - concentrated(self.rho, self.delta) + beside
        return max(Fraction(0), *((reach - start) / (rest + slope * self.rho) for slope, start in _lines(self.delta)))


def exposure(policy: Policy, attacker: Attacker, totals: Charge) -> Exposure:
    """What `totals` cost this attacker's goal. Exact, except for Gaussian noise, which is rounded up."""
    return _exposure(Identical(policy), attacker.goal, totals)


@lru_cache(maxsize=1024)  # one question asks several times: to choose its noise, to admit it, to say what is left
def _exposure(key: "Identical", goal: Goal, totals: Charge) -> Exposure:
    policy = key.policy
    scope = scope_of(key, goal)
    slopes, jumps, rho = _amounts(policy, scope, totals)
    reach = jumps + _over_ranges(policy, slopes)
    if rho:
        delta = policy.delta / (2 if linked(policy, scope) else 1)  # of two contraries each may fail
        reach += concentrated(rho, delta)
        alone = scope.separate and len(scope.groups) == 1
        return Exposure(((scope.groups[0][0], Share(jump=reach)),) if alone else None, reach, rho, delta)
    if not scope.separate:
        return Exposure(None, reach)
    shares = []
    for name, group in scope.groups:
        slopes, jumps, _ = _amounts(policy, Scope(((name, group),), separate=True), totals)
        own = slopes.pop(name, Fraction(0))
        shares.append((name, Share(own, jumps + _over_ranges(policy, slopes))))
    return Exposure(tuple(shares), reach)


def _over_ranges(policy: Policy, slopes: dict[str, Fraction]) -> Fraction:
    return sum((slope * width(policy, a) for a, slope in slopes.items() if slope), Fraction(0))


def failing(policy: Policy, totals: Charge) -> Fraction:
    """With which probability the promises may fail: what was charged to `delta`, and the policy's δ if it was used."""
    charged = Fraction(sum(n for a, n in totals.amounts if a.kind == "delta"), ATTO)
    gaussian = any(a.kind in GAUSSIAN for a, _ in totals.amounts)
    return charged + (policy.delta if gaussian else 0)


def width(policy: Policy, attribute: str) -> Fraction:
    """The length of an attribute's declared range."""
    table_name, _, column_name = attribute.partition(".")
    table = policy.table(table_name)
    column = table.column(column_name) if table is not None else None
    if column is None or column.low is None or column.high is None:
        lacks, said = (
            ("has no declared range", "Declare the range of") if column else ("the policy does not declare", "Keep")
        )
        where = ", as it was" if column else " in the policy, with its range"
        raise Misconfigured(
            f"the ledger has costs per unit of {attribute}, which {lacks} any more",
            hint=f"{said} {attribute}{where}: what was released about it still counts.",
        )
    return column.high - column.low


def concentrated(rho: Fraction, delta: Fraction) -> Fraction:
    """How far a total of ρ, reached in any steps, moves a logarithm of odds: at all times, except with probability δ.

    Rounded up. At one time fixed in advance it would be ρ + 2·sqrt(ρ·ln(1/δ)); to hold at all of them costs 5 to 10 %
    more for δ = 1e-9.
    """
    if delta <= 0:
        raise Misconfigured(
            "the policy names no `delta`: how seldom its promises may fail. This Gaussian noise, or that of an earlier "
            "answer, needs one",
            hint="Write for example `delta: 1e-9` into the policy: once in a billion.",
        )
    return min(factor * rho + start for factor, start in _lines(delta))


@lru_cache(maxsize=64)
def _lines(delta: Fraction) -> tuple[tuple[Fraction, Fraction], ...]:
    """(1 + λ, ln(1/δ_λ)/λ) for λ = 2^j. The shares 2/3/((d + 1)(d + 2)) of δ, d = |j − 7|, add up to 1 over all j.

    λ = 2^7 is best where ρ is about 10^-3, which is what a gain of some percent allows. Others are there so that the
    first answers do not look as bad as the last ones, and j ends where ρ is a piconat or all is told anyway.
    """
    found = []
    for j in range(-2, 25):
        share, size = delta * Fraction(2, 3 * (abs(j - 7) + 1) * (abs(j - 7) + 2)), Fraction(2) ** j
        nats = (math.log(share.denominator) - math.log(share.numerator)) * (1 + 1e-12)
        found.append((1 + size, Fraction(nats) / size))
    return tuple(found)


def up(value: Fraction | float) -> float:
    """The smallest float that is certainly not below."""
    found = float(value)
    return found if Fraction(found) >= value else math.nextafter(found, math.inf)


def radius(goal: Goal, attribute: str) -> Fraction:
    """The r of `within r` on this attribute, the smallest of several; 1 for other goals: slopes stay per raw unit."""
    own = (g.goal for g in simple_goals(goal) if isinstance(g, On) and g.attribute == attribute)
    return min((Fraction(g.radius) for g in own if isinstance(g, Within)), default=Fraction(1))


# ---------------------------------------------------------------------------------------- which accounts matter


_OF_VALUES = ("jump", "rho", "mu", "square", "squared")  # kinds about a whole record


@dataclass(frozen=True)
class Scope:
    """The attributes (tables, for presence) of a goal, each with the names whose accounts tell about it."""

    groups: tuple[tuple[str, frozenset[str]], ...]
    separate: bool  # no two of them depend on each other, and each stands alone in the goal


@dataclass(frozen=True, eq=False)
class Identical:
    """A policy as a key of a cache: by identity, since policies are frozen."""

    policy: Policy

    def __hash__(self) -> int:
        return id(self.policy)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identical) and other.policy is self.policy


@lru_cache(maxsize=1024)
def scope_of(key: Identical, goal: Goal) -> Scope:
    policy = key.policy
    groups = tuple((name, _group(policy, name)) for name in goal.attributes)
    used = [name for simple in simple_goals(goal) for name in simple.attributes]
    alone = len(used) == len(groups) == len(simple_goals(goal))  # no place on a map, and no attribute twice
    values = len(groups) == 1 or all("." in name for name, _ in groups)
    distinct = all(not (g & h) for (_, g), (_, h) in combinations(groups, 2))
    return Scope(groups, separate=alone and values and distinct)


def _group(policy: Policy, name: str) -> frozenset[str]:
    table = policy.table(name)
    if table is not None and "." not in name:
        same = [t for t in policy.tables if _root(policy, t.name) == _root(policy, name)]
        record = (f"{t.name}.{c.name}" for t in same for c in t.columns if c.secret)
        return frozenset((*(t.name for t in same), *(record if table.link is not None else ())))
    return frozenset((name, *policy.dependents(name)))


def _root(policy: Policy, name: str) -> str:
    """The table whose rows are the persons that rows of this table belong to."""
    table = policy.table(name)
    for _ in policy.tables:
        if table is None or table.link is None:
            break
        table = policy.table(table.link.table)
    return table.name if table is not None else name


def _amounts(policy: Policy, scope: Scope, totals: Charge) -> tuple[dict[str, Fraction], Fraction, Fraction]:
    """Slopes per attribute, the sum of jumps and the sum of ρ that tell about the groups of a scope.

    Gaussian noise with μ² has ρ = μ²/2, and c² per unit² over a range of w has μ² = c²w².
    """
    slopes, near, told = matching(policy, scope, totals)
    over = sum((c2 * width(policy, a) ** 2 for a, c2 in near.items() if c2), Fraction(0))
    if any("." in name for name, _ in scope.groups):
        jump, rho = told["jump"], told["rho"] + (told["mu"] + over) / 2
        if any("." not in name for name, _ in scope.groups):
            jump, rho = jump + told["presence"], rho + told["rho_presence"] + told["mu_presence"] / 2
    else:
        counts = linked(policy, scope)
        jump = max(told["presence"], told["jump"] * counts)
        rho = max(told["rho_presence"] + told["mu_presence"] / 2, (told["rho"] + told["mu"] / 2) * counts)
    return slopes, jump, rho


def matching(
    policy: Policy, scope: Scope, totals: Charge
) -> tuple[dict[str, Fraction], dict[str, Fraction], dict[str, Fraction]]:
    """What tells about the groups of a scope: slopes and c² per attribute, and the sum of every other kind."""
    names = frozenset().union(*(group for _, group in scope.groups))
    about_values = any("." in name for name, _ in scope.groups)
    known = _known_names(Identical(policy))
    persons = {_root(policy, name.partition(".")[0]) for name in names}
    by_distance: dict[str, dict[str, Fraction]] = {"slope": {}, "c": {}}
    told: dict[str, Fraction] = dict.fromkeys(UNIT, Fraction(0))
    for account, amount in totals.amounts:
        # an account about nothing in particular, or about something the policy forgot, is about everything; a jump of
        # a table is that of persons without a sensitive column, and about all of their record
        matters = not account.about or any(
            name in names or name not in known or (account.kind in _OF_VALUES and _root(policy, name) in persons)
            for name in account.about
        )
        size = Fraction(amount, UNIT[account.kind])
        if matters and account.kind in by_distance and about_values:
            each = by_distance[account.kind]
            each[account.about[0]] = each.get(account.about[0], Fraction(0)) + size
        elif matters:
            told[account.kind] += size
    return by_distance["slope"], by_distance["c"], told


def linked(policy: Policy, scope: Scope) -> bool:
    """Whether a goal is about rows in a linked table, which a person may have or not, and about nothing else."""
    tables = [policy.table(name) for name, _ in scope.groups]
    return all(t is not None for t in tables) and any(t is not None and t.link is not None for t in tables)


@lru_cache(maxsize=64)
def _known_names(key: Identical) -> frozenset[str]:
    tables = key.policy.tables
    return frozenset(t.name for t in tables) | frozenset(f"{t.name}.{c.name}" for t in tables for c in t.columns)
