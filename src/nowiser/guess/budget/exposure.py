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
without. So only `presence` counts, of every table whose rows belong to the same persons.

**Presence in a linked table.** Somebody who has no rows in u may be absent, or be one of the persons and have none.
Against the first the likelihood moves by `presence`, against the second, a replaced record, by `jump`: all that was
charged about any attribute of these persons. The contrary of the goal is a mixture of both, so the larger of the totals
counts. With Gaussian noise either may fail: each with half of δ.

**Gaussian noise.** Step by step the odds of the goal against its contrary move by log-likelihood ratios of mixtures,
each bounded (Laplace) or ρ_i-concentrated (mixtures are no worse, Rényi divergence being quasi-convex). So for every
λ > 0 the process exp(λ·(sum of the latter) − λ(1+λ)·Σρ_i) is a supermartingale where the goal is true, however the next
question is chosen. By Ville's inequality it *ever* exceeds 1/δ with probability at most δ. Hence, at all times at once,

    the logarithm of the odds moves by at most  min over j of  (1 + λ_j)·ρ + ln(1/δ_j)/λ_j ,     λ_j = 2^j,  Σδ_j = δ,

besides the bounded parts, except with probability δ in all (`concentrated`; docs/mathematics/noise.md has the proof).
This argument is about the odds of the whole goal, not about distances and not about one attribute of several: where
Gaussian noise was used, slopes are charged over the whole range, and a goal on several attributes is judged by its
reach, which uses δ once.

Attributes and tables that the policy does not know (any more) count as dependent on everything: costs are never reset.
Everything is computed in Fractions and rounded up once, on the way to floats.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from nowiser.errors import Misconfigured
from nowiser.model.attacker import Attacker
from nowiser.model.charge import ATTO, PICO, Charge
from nowiser.model.goal import And, Goal, Not, On, Or, Present, Within
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
    """

    shares: tuple[tuple[str, Share], ...] | None
    reach: Fraction

    def __bool__(self) -> bool:
        return self.reach > 0


def exposure(policy: Policy, attacker: Attacker, totals: Charge) -> Exposure:
    """What `totals` cost this attacker's goal. Exact, except for Gaussian noise, which is rounded up."""
    return _exposure(Known(policy), attacker.goal, totals)


@lru_cache(maxsize=1024)  # one question asks several times: to choose its noise, to admit it, to say what is left
def _exposure(known: "Known", goal: Goal, totals: Charge) -> Exposure:
    policy = known.policy
    scope = _scope(known, goal)
    slopes, jumps, rho = _amounts(policy, scope, totals)
    if rho:
        jumps += concentrated(rho, _delta(policy, scope))
    widths = {a: slope * width(policy, a) for a, slope in slopes.items() if slope}
    reach = jumps + sum(widths.values(), Fraction(0))
    if not scope.separate or (rho and len(scope.groups) > 1):
        return Exposure(None, reach)
    shares = []
    for name, group in scope.groups:
        inner = _Scope(((name, group),), separate=True)
        inner_slopes, inner_jumps, inner_rho = _amounts(policy, inner, totals)
        own = inner_slopes.pop(name, Fraction(0)) if not inner_rho else Fraction(0)
        if inner_rho:
            inner_jumps += concentrated(inner_rho, _delta(policy, inner))
        inner_jumps += sum((s * width(policy, b) for b, s in inner_slopes.items() if s), Fraction(0))
        shares.append((name, Share(own, inner_jumps)))
    return Exposure(tuple(shares), reach)


def failing(policy: Policy, totals: Charge) -> Fraction:
    """With which probability the promises may fail: what was charged to `delta`, and the policy's δ if it was used."""
    charged = Fraction(sum(n for a, n in totals.amounts if a.kind == "delta"), ATTO)
    gaussian = any(a.kind in ("rho", "rho_presence") for a, _ in totals.amounts)
    return charged + (policy.delta if gaussian else 0)


def width(policy: Policy, attribute: str) -> Fraction:
    """The length of an attribute's declared range."""
    table_name, _, column_name = attribute.partition(".")
    table = policy.table(table_name)
    column = table.column(column_name) if table is not None else None
    if column is None:
        raise Misconfigured(
            f"the ledger has costs per unit of {attribute}, which the policy does not declare any more",
            hint=f"Keep {attribute} in the policy, with its range: what was released about it still counts.",
        )
    if column.low is None or column.high is None:
        raise Misconfigured(
            f"the ledger has costs per unit of {attribute}, which has no declared range any more",
            hint=f"Declare the range of {attribute}, as it was: what was released about it still counts.",
        )
    return column.high - column.low


def concentrated(rho: Fraction, delta: Fraction) -> Fraction:
    """How far a total of ρ, reached in any steps, moves a logarithm of odds: at all times, except with probability δ.

    Rounded up. At one time fixed in advance it would be ρ + 2·sqrt(ρ·ln(1/δ)); to hold at all of them costs 5 to 10 %
    more for δ = 1e-9.
    """
    if delta <= 0:
        raise Misconfigured(
            "Gaussian noise was used, but the policy allows no failure",
            hint="Write for example `delta: 1e-9` into the policy.",
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
        share = delta * Fraction(2, 3 * (abs(j - 7) + 1) * (abs(j - 7) + 2))
        size = Fraction(2) ** j
        found.append(
            (1 + size, Fraction((math.log(share.denominator) - math.log(share.numerator)) * (1 + 1e-12)) / size)
        )
    return tuple(found)


def up(value: Fraction | float) -> float:
    """The smallest float that is certainly not below."""
    found = float(value)
    return found if Fraction(found) >= value else math.nextafter(found, math.inf)


def radius(goal: Goal, attribute: str) -> Fraction:
    """The r of `within r` on this attribute, the smallest of several; 1 for other goals: slopes stay per raw unit."""
    match goal:
        case On(attribute=name, goal=Within(radius=r)) if name == attribute:
            return Fraction(r)
        case Not(goal=inner):
            return radius(inner, attribute)
        case And() | Or():
            found = {radius(part, attribute) for part in goal.parts if attribute in part.attributes}
            return min(found, default=Fraction(1))
        case _:
            return Fraction(1)


# ---------------------------------------------------------------------------------------- which accounts matter


@dataclass(frozen=True)
class _Scope:
    """The attributes (tables, for presence) of a goal, each with the names whose accounts tell about it."""

    groups: tuple[tuple[str, frozenset[str]], ...]
    separate: bool  # no two of them depend on each other, and each stands alone in the goal


@dataclass(frozen=True, eq=False)
class Known:
    """A policy as a key of a cache: by identity, since policies are frozen."""

    policy: Policy

    def __hash__(self) -> int:
        return id(self.policy)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and other.policy is self.policy


@lru_cache(maxsize=1024)
def _scope(known: Known, goal: Goal) -> _Scope:
    policy = known.policy
    groups = tuple((name, _group(policy, name)) for name in goal.attributes)
    names = [name for name, _ in groups]
    alone = not _on_a_map(goal) and _used_once(goal, names)
    distinct = all(not (g & h) for i, (_, g) in enumerate(groups) for _, h in groups[i + 1 :]) and not (
        len(groups) > 1 and any("." not in name for name in names)
    )
    return _Scope(groups, separate=alone and distinct)


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


def _on_a_map(goal: Goal) -> bool:
    match goal:
        case On():
            return len(goal.attributes) > 1
        case Not():
            return _on_a_map(goal.goal)
        case And() | Or():
            return any(_on_a_map(part) for part in goal.parts)
        case _:
            return False


def _used_once(goal: Goal, names: Iterable[str]) -> bool:
    return all(_uses(goal, name) == 1 for name in names)


def _uses(goal: Goal, name: str) -> int:
    match goal:
        case Not():
            return _uses(goal.goal, name)
        case And() | Or():
            return sum(_uses(part, name) for part in goal.parts)
        case Present() | On():
            return int(name in goal.attributes)
        case _:
            return 0


def _amounts(policy: Policy, scope: _Scope, totals: Charge) -> tuple[dict[str, Fraction], Fraction, Fraction]:
    """Slopes per attribute, the sum of jumps and the sum of ρ that tell about the groups of a scope."""
    names = frozenset().union(*(group for _, group in scope.groups))
    about_values = any("." in name for name, _ in scope.groups)
    about_presence = any("." not in name for name, _ in scope.groups)
    known = _known_names(Known(policy))
    persons = {_root(policy, name.partition(".")[0]) for name in names}
    slopes: dict[str, int] = {}
    told: dict[str, int] = {}
    for account, amount in totals.amounts:
        # an account about nothing in particular, or about something the policy forgot, is about everything; a jump of
        # a table is that of persons without a sensitive column, and about all of their record
        matters = not account.about or any(
            name in names or name not in known or (account.kind in ("jump", "rho") and _root(policy, name) in persons)
            for name in account.about
        )
        if matters and account.kind == "slope" and about_values:
            slopes[account.about[0]] = slopes.get(account.about[0], 0) + amount
        elif matters:
            told[account.kind] = told.get(account.kind, 0) + amount
    jump, rho = (
        _together(told.get(replaced, 0), told.get(gone, 0), about_values, about_presence, _linked(policy, scope))
        for replaced, gone in (("jump", "presence"), ("rho", "rho_presence"))
    )
    return {a: Fraction(n, PICO) for a, n in slopes.items()}, Fraction(jump, PICO), Fraction(rho, PICO)


def _together(replaced: int, gone: int, about_values: bool, about_presence: bool, linked: bool) -> int:
    """What counts of costs of a replaced record and of a person who comes or goes."""
    if about_values:
        return replaced + gone if about_presence else replaced
    return max(replaced, gone) if linked else gone


def _linked(policy: Policy, scope: _Scope) -> bool:
    """Whether a goal is about rows in a linked table, which a person may have or not, and about nothing else."""
    tables = [policy.table(name) for name, _ in scope.groups]
    return all(t is not None for t in tables) and any(t is not None and t.link is not None for t in tables)


def _delta(policy: Policy, scope: _Scope) -> Fraction:
    """With which probability a bound on Gaussian noise may fail: of two, where the goal has two contraries, half."""
    return policy.delta / 2 if _linked(policy, scope) else policy.delta


@lru_cache(maxsize=64)
def _known_names(known: Known) -> frozenset[str]:
    tables = known.policy.tables
    return frozenset(t.name for t in tables) | frozenset(f"{t.name}.{c.name}" for t in tables for c in t.columns)
