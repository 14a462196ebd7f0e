"""A charge in the words of an answer: per table and attribute, slope, jump and presence."""

from fractions import Fraction

from nowiser.model.charge import UNIT, Charge
from nowiser.model.goal import And, Goal, Not, On, Or, Within
from nowiser.model.policy import Policy
from nowiser.model.schema import Role, Table

Cost = dict[str, dict[str, dict[str, float]]]


def cost_of(charge: Charge, policy: Policy) -> Cost:
    """{table: {attribute: {slope, jump, presence, unit}}} in nats; slope is per `unit` raw units.

    Gaussian noise appears as `rho`, the zero-concentrated loss (half of μ²), and by distance as `c`: the square of how
    many standard deviations answers can differ per `unit`. A question about several cells of a partition charges each
    of them the same, and nobody is in two: it is shown once.
    """
    found: Cost = {}
    first = min((account.cell for account, _ in charge.amounts if account.cell), default=())

    def entry(attribute: str) -> dict[str, float]:
        table, _, column = attribute.partition(".")
        home = policy.table(table)
        column = column or (_naming(home) if home is not None else table)  # of a table: whether somebody is in it
        unit = radius(policy, attribute)
        blank = {"slope": 0.0, "jump": 0.0, "presence": 0.0, "unit": float(unit)}
        return found.setdefault(table, {}).setdefault(column, blank)

    for account, amount in charge.amounts:
        if account.cell not in ((), first):
            continue
        nats = Fraction(amount, UNIT[account.kind])
        match account.kind:
            case "slope":
                entry(account.about[0])["slope"] += float(nats * radius(policy, account.about[0]))
            case "jump" | "rho":
                for attribute in account.about:
                    spent = entry(attribute)
                    spent[account.kind] = spent.get(account.kind, 0.0) + float(nats)
            case "presence" | "rho_presence":
                for attribute in _persons(policy, account.about[0], found):
                    spent = entry(attribute)
                    spent[account.kind] = spent.get(account.kind, 0.0) + float(nats)
            case "mu" | "mu_presence":
                persons = account.kind == "mu_presence"
                for attribute in _persons(policy, account.about[0], found) if persons else account.about:
                    spent, kind = entry(attribute), account.kind.replace("mu", "rho")
                    spent[kind] = spent.get(kind, 0.0) + float(nats) / 2
            case "c":
                spent = entry(account.about[0])
                spent["c"] = spent.get("c", 0.0) + float(nats * radius(policy, account.about[0]) ** 2)
            case _:  # a probability is no cost of an attribute, and squares say nothing new
                pass
    return found


def added(one: Cost, two: Cost) -> Cost:
    """What two answers cost together."""
    total = {t: {c: dict(cost) for c, cost in columns.items()} for t, columns in one.items()}
    for table, columns in two.items():
        for column, cost in columns.items():
            mine = total.setdefault(table, {}).setdefault(column, {"unit": cost["unit"]})
            for kind, amount in cost.items():
                if kind != "unit":
                    mine[kind] = mine.get(kind, 0.0) + amount
    return total


def radius(policy: Policy, attribute: str) -> Fraction:
    """The smallest `within r` any attacker declares on this attribute, else one raw unit."""
    found = [r for a in policy.attackers for r in _radii(a.goal, attribute)]
    return min(found, default=Fraction(1))


def _radii(goal: Goal, attribute: str) -> list[Fraction]:
    match goal:
        case And() | Or():
            return [r for part in goal.parts for r in _radii(part, attribute)]
        case Not():
            return _radii(goal.goal, attribute)
        case On(goal=Within()) if attribute in goal.attributes:
            assert isinstance(goal.goal, Within)
            return [Fraction(goal.goal.radius)]
    return []


def _persons(policy: Policy, table: str, found: Cost) -> list[str]:
    """Where presence is shown: with every attribute charged so far, or with the column that names the person."""
    home = policy.table(table)
    assert home is not None, "charges name tables of the policy"
    charged = [f"{t}.{c}" for t, columns in found.items() for c in columns]
    return charged or [f"{table}.{_naming(home)}"]


def _naming(table: Table) -> str:
    secret = [c.name for c in table.columns if c.role is Role.SENSITIVE]
    naming = table.person or (table.link.columns if table.link is not None else ())
    return secret[0] if secret else (naming or ("person",))[0]
