"""What releases cost, in integers that only grow.

A charge is a set of accounts with an amount each. The amounts are whole *piconats* (10⁻¹² nats, for `slope` 10⁻¹² nats
per raw unit of the attribute; squares are counted in 10⁻¹², `c` in 10⁻²⁴ per raw unit²), so adding them up a million
times loses nothing.

| account                      | what an amount `c` on it promises about the likelihood ℓ of the released output     |
|------------------------------|--------------------------------------------------------------------------------------|
| `slope` of one attribute     | ln ℓ moves by at most c·|x − x'| when that attribute of one person moves from x to x' |
| `jump` of a set              | ln ℓ moves by at most c in all when any of these attributes of one person change     |
| `presence` of a person table | ln ℓ moves by at most c when one person comes or goes                                |
| `mu` of a set                | answers are told apart as N(0, 1) from N(√c, 1) when any of these attributes change  |
| `mu_presence`                | the same when one person comes or goes                                               |
| `c` of one attribute         | the same as N(0, 1) from N(√c·|x − x'|, 1) when it moves from x to x'                |
| `square` of a set            | Σ ε² of pure answers in `jump`, which only promises on average use                   |
| `squared` of a set           | Σ ε of the same answers, rounded down: what of `jump` has its squares counted        |
| `square_presence`, `squared_presence` | the same of `presence`                                                      |
| `rho`, `rho_presence`        | zero-concentrated loss of Gaussian noise, of ledgers before `mu` was kept            |
| `told` of a goal             | released rows lifted the odds of a guess of it by e^c, from the share that is named |
| `shown` of a set             | rows were released with these attributes, so many times                              |
| `delta`                      | the promise above may fail with this probability (amount in 10⁻¹⁸)                   |

An account may be that of a *cell* of a partition (`partition: faculty`): a public column that is fixed for a person.
Then the amount is about persons of that cell alone. Each person is in one cell, so what is known about her is the sum
of the accounts without a cell and of those of her own (`guess/budget/parts.py`).

`told` is about (goal, share before, people): by releasing rows the odds of some guess of the goal rose by e^c, and
answers move them by `people` times their reach besides (`guess/budget/told.py`).

Charges of successive releases add. A jump is kept per *set* of attributes because one question that
looks at three attributes of a person costs once, not three times, however many of them change.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, get_args

PICO = 10**12
ATTO = 10**18

Kind = Literal[
    "slope", "jump", "presence", "rho", "rho_presence", "delta",
    "mu", "mu_presence", "c", "square", "square_presence", "squared", "squared_presence",
    "told", "shown",
]  # fmt: skip
GAUSSIAN = frozenset[Kind](("rho", "rho_presence", "mu", "mu_presence", "c"))
SQUARES = frozenset[Kind](("square", "square_presence"))
COVERED = frozenset[Kind](("squared", "squared_presence"))
UNIT: dict[Kind, int] = dict.fromkeys(get_args(Kind), PICO) | {"delta": ATTO, "c": PICO * PICO}


@dataclass(frozen=True, order=True)
class Account:
    """One line of the account: its kind and the attributes (`table.column`) or person table it is about.

    cell: the column of a partition and a value of it, where only persons with that value are concerned.
    """

    kind: Kind
    about: tuple[str, ...] = ()
    cell: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = f" where {self.cell[0]} is {self.cell[1]}" if self.cell else ""
        return f"{self.kind}({', '.join(self.about)}){where}"


@dataclass(frozen=True)
class Charge:
    """Amounts per account; accounts with amount zero do not appear."""

    amounts: tuple[tuple[Account, int], ...] = ()

    @staticmethod
    def of(amounts: Mapping[Account, int] | Iterable[tuple[Account, int]]) -> "Charge":
        total: dict[Account, int] = {}
        for account, amount in amounts.items() if isinstance(amounts, Mapping) else amounts:
            if amount < 0:
                raise ValueError(f"a charge cannot be negative: {account} {amount}")
            total[account] = total.get(account, 0) + amount
        return Charge(tuple(sorted((a, n) for a, n in total.items() if n)))

    def __add__(self, other: "Charge") -> "Charge":
        return Charge.of((*self.amounts, *other.amounts))

    def without(self, other: "Charge") -> "Charge":
        """What is left when a charge that is part of it is taken out."""
        rest = dict(self.amounts)
        for account, amount in other.amounts:
            rest[account] = rest.get(account, 0) - amount
        return Charge.of(rest)

    def __getitem__(self, account: Account) -> int:
        return dict(self.amounts).get(account, 0)

    def times(self, factor: Fraction | int) -> "Charge":
        """The charge of `factor` such releases, rounded up (what is covered, down)."""
        return Charge.of((a, _rounded(a.kind, Fraction(n) * factor)) for a, n in self.amounts)

    def sharper(self, factor: Fraction) -> "Charge":
        """The charge of one release `factor` times as precise: losses grow in proportion, their squares with them."""
        return Charge.of(
            (a, _rounded(a.kind, n * factor * (factor if a.kind in SQUARES else 1))) for a, n in self.amounts
        )

    def within(self, cells: Iterable[tuple[str, ...]]) -> "Charge":
        """The same charge to persons of these cells alone; what may fail altogether (`delta`) stays everybody's."""
        every = tuple(cells)
        return Charge.of(
            (account if account.kind == "delta" else replace(account, cell=cell), amount)
            for account, amount in self.amounts
            for cell in (every if account.kind != "delta" else ((),))
        )

    def __bool__(self) -> bool:
        return bool(self.amounts)


def _rounded(kind: Kind, amount: Fraction) -> int:
    return int(amount) if kind in COVERED else ceil_fraction(amount)


def ceil_fraction(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)


def to_json(charge: Charge) -> list[list[object]]:
    """The accounts in their fixed order, for the ledger."""
    return [
        [account.kind, list(account.about), amount, *([list(account.cell)] if account.cell else [])]
        for account, amount in charge.amounts
    ]


def from_json(value: Iterable[Sequence[Any]]) -> Charge:
    return Charge.of((Account(kind, tuple(about), tuple(*cell)), int(amount)) for kind, about, amount, *cell in value)
