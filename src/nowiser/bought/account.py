"""Gaussian noise bought from a policy's allowance: a share of it in, precision, charge and before → after out.

A release of synthetic rows or of a model is a chain of noisy steps, each chosen in view of the ones before. Its loss
is kept in μ² to the end: every step is no easier to tell apart than N(0, 1) from N(μ_i, 1), and Σ μ_i² says the same of
all steps together (adaptive composition). `rho` is μ²/2, the zero-concentrated loss of the same noise. Every attacker
is held to his promise by these totals together with all answers and releases: an attacker on average by μ itself, one
for every answer except with the policy's δ (`guess.budget`).

    offer = account.offer(policy, table, spend, Factors(presence=1, jump=2))      touches no data, charges nothing
    bought = account.buy(policy, offer, what="synthetic rows of stays", digest=…)   charged: the data may be read

Factors say what one unit of noise costs. The unit: rows are counted with noise of variance m²/μ², where m is
`rows_per_person`, so that a person who comes or goes, moving one count by m, costs μ². Where that person is replaced,
two counts move.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import floor

from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.guess.budget import allowance
from nowiser.guess.budget.allowance import Guess
from nowiser.ledger.opening import for_policy
from nowiser.model.charge import PICO, Account, Charge, Kind
from nowiser.model.policy import Policy
from nowiser.model.schema import Protect, Role, Table
from nowiser.sql.bound import persons

NOTHING = Charge()


@dataclass(frozen=True)
class Factors:
    """What a release with μ² = 1 costs if a person comes or goes, and if the secrets of a person are replaced.

    `rho`: charge zero-concentrated losses instead, for steps of which no μ is known; amounts are then those of ρ = 1.
    """

    presence: Fraction | int = 1
    jump: Fraction | int = 2
    rho: bool = False


@dataclass(frozen=True)
class Offer:
    """What a share of the allowance buys, before anything is charged."""

    table: str
    amount: Fraction  # μ², or ρ where the factors say so, of the noise in units of a person's rows
    rho: Fraction
    charge: Charge
    guesses: tuple[Guess, ...]  # every attacker, before → after this release
    share: Fraction
    left: Fraction


@dataclass(frozen=True)
class Bought:
    """What was charged; `entry` is its number in the ledger."""

    offer: Offer
    entry: int


def of_people(table: Table) -> None:
    """Raises NotAnswerable where rows join two people."""
    if table.ends is not None:
        raise NotAnswerable(
            f"rows of {table.name!r} join two people: they are no table of people",
            hint="nowiser graph answers about links, and makes links of nobody (nowiser graph synthetic).",
        )


def unit(policy: Policy, table: Table, factors: Factors, columns: tuple[str, ...]) -> Charge:
    """The accounts that a release of these columns is charged to, at μ² = 1."""
    kinds: tuple[Kind, Kind] = ("rho_presence", "rho") if factors.rho else ("mu_presence", "mu")
    root = persons.root(policy, table)
    if table.is_public:
        raise NotAnswerable(f"{table.name!r} is public: nothing in it needs noise", hint="Give out the table itself.")
    of_people(table)
    amounts = {}
    if Protect.PERSONS in (table.protect, root.protect):
        amounts[Account(kinds[0], (root.name,))] = _pico(factors.presence)
        about = persons.attributes(policy, root) or persons.linked(policy, root)
    else:
        secret = {c.name for c in table.columns if c.role is Role.SENSITIVE}
        about = tuple(sorted(f"{table.name}.{c}" for c in columns if c in secret))
        if not about:
            raise NotAnswerable(
                f"none of these columns of {table.name!r} is sensitive: nothing in them needs noise",
                hint="Give out the columns themselves, or name a sensitive one besides.",
            )
    if about:
        amounts[Account(kinds[1], about)] = _pico(factors.jump)
    return Charge.of(amounts)


def offer(
    policy: Policy,
    table: Table,
    spend: Fraction,
    factors: Factors,
    columns: tuple[str, ...],
    *,
    analyst: str | None = None,
    without: Charge = NOTHING,
    one: Charge | None = None,
) -> Offer:
    """What `spend`, a share of the whole allowance, buys. Raises Exhausted where that much is not left.

    `without`: a part of the totals that will be taken over. `one`: what is charged at μ² = 1, if not one table's unit.
    """
    one = unit(policy, table, factors, columns) if one is None else one
    with for_policy(policy) as ledger:
        totals = ledger.totals().without(without)
        own = ledger.totals(analyst) if analyst is not None else NOTHING
    found = allowance.largest_multiple(policy, totals, one, spend, analyst=analyst, own=own)
    amount = Fraction(floor(found * 2**50), 2**50)
    if amount <= 0:
        raise Misconfigured(f"{float(spend):.3g} of the allowance is too little for any noise there is")
    charge = one.sharper(amount)
    after = totals + charge
    return Offer(
        table.name,
        amount,
        amount if factors.rho else amount / 2,
        charge,
        allowance.standing(policy, after),
        allowance.share_used(policy, charge),
        max(Fraction(0), 1 - allowance.share_used(policy, after)),
    )


def buy(policy: Policy, offered: Offer, *, what: str, digest: str, analyst: str | None = None) -> Bought:
    """Charge it, durably: afterwards the data may be read. Raises Exhausted if somebody else spent it meanwhile."""
    with for_policy(policy) as ledger:
        ledger.declare(policy)
        entry = ledger.publish(
            offered.charge,
            allowance.admit(policy, offered.charge, analyst=analyst),
            policy=policy.digest,
            what=what,
            analyst=analyst or "custodian",
            digest=digest,
        )
    return Bought(offered, entry)


def _pico(amount: Fraction | int) -> int:
    return -int(-Fraction(amount) * PICO // 1)
