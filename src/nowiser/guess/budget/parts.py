"""An account with parts: what one person has suffered is the common account and that of her own cell.

A partition is a public column that is fixed for a person. A question about one of its values depends on persons with
that value alone, so the likelihood of its answer does not move when anybody else changes, comes or goes. Take a person
of cell c and any sequence of questions, each chosen in view of the answers before it. The likelihood of all answers is
the product of their conditional likelihoods; hers moves only those of common questions and of questions about c. So
everything that is charged to her is common + c, for each kind of total, and the worst over cells bounds everybody.
Somebody whose value is not declared, or missing, is in no cell and has suffered the common account alone, because
charges go to a cell only where a condition demands its value.

Cells of a column that is no partition of the policy (any more) are everybody's: costs are never reset.
"""

from functools import lru_cache

from nowiser.guess.budget.exposure import Identical
from nowiser.model.charge import COVERED, Account, Charge
from nowiser.model.policy import Policy

Amounts = dict[Account, int]


def views(policy: Policy, totals: Charge) -> tuple[Charge, ...]:
    """What persons have suffered: accounts without cells, one for every kind of person who may be the most exposed.

    With partitions of several tables a person of one is taken to be in all cells of the others.
    """
    return _views(Identical(policy), totals)


@lru_cache(maxsize=1024)
def _views(key: Identical, totals: Charge) -> tuple[Charge, ...]:
    if not any(account.cell for account, _ in totals.amounts):
        return (totals,)
    partitions = {f"{t.name}.{t.partition}" for t in key.policy.tables if t.partition is not None}
    common: Amounts = {}
    cells: dict[tuple[str, ...], Amounts] = {}
    for account, amount in totals.amounts:
        own = cells.setdefault(account.cell, {}) if account.cell and account.cell[0] in partitions else common
        plain = Account(account.kind, account.about)
        own[plain] = own.get(plain, 0) + amount
    found = [common]
    for partition in sorted({cell[0] for cell in cells}):
        here = _most([amounts for cell, amounts in cells.items() if cell[0] == partition])
        elsewhere = [amounts for cell, amounts in cells.items() if cell[0] != partition]
        found += [_sum([common, *elsewhere, amounts]) for amounts in here]
    return tuple(Charge.of(amounts) for amounts in (found[1:] or found))


def _most(cells: list[Amounts]) -> list[Amounts]:
    """Those that no other one exceeds in every account: one of them is the worst, whatever the goal."""
    kept: list[Amounts] = []
    for amounts in sorted(cells, key=lambda a: -sum(a.values())):
        if not any(_exceeds(other, amounts) for other in kept):
            kept.append(amounts)
    return kept


def _exceeds(other: Amounts, amounts: Amounts) -> bool:
    """Whether nobody with these amounts is more exposed; of what is covered by squares, more is better."""
    covered = {k for k in (*other, *amounts) if k.kind in COVERED}
    more = all(other.get(k, 0) >= n for k, n in amounts.items() if k not in covered)
    return more and all(other.get(k, 0) <= amounts.get(k, 0) for k in covered)


def _sum(parts: list[Amounts]) -> Amounts:
    total: Amounts = {}
    for amounts in parts:
        for account, amount in amounts.items():
            total[account] = total.get(account, 0) + amount
    return total


def touched(totals: Charge, unit: Charge) -> Charge:
    """The totals of those persons alone whom a charge concerns."""
    cells = {account.cell for account, _ in unit.amounts if account.kind != "delta"}
    if () in cells:
        return totals
    return Charge.of((a, n) for a, n in totals.amounts if not a.cell or a.cell in cells)
