"""What does not fit together is said before anything runs."""

from typing import Any

import numpy as np
from scipy.stats import rankdata

from nowiser.attacks.soft import encoded
from nowiser.attacks.tables.model import learnt
from nowiser.attacks.view import View
from nowiser.attacks.walls import copied
from nowiser.errors import Misconfigured, NotAnswerable
from nowiser.microdata.identifiers import NUMBERS, is_unique, words
from nowiser.microdata.table.arrays import dense
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable, no_column
from nowiser.microdata.table.read import load

FEW = 100  # victims
OTHER_PEOPLE = 0.6  # a classifier that tells outsiders apart so well finds another population
APART = 1500  # people of each kind that it sees


def check_tables(old: MicroTable, new: MicroTable, quasi: tuple[str, ...], secrets: tuple[str, ...]) -> None:
    """Raises Misconfigured for empty tables and for columns that one of them lacks."""
    for table, what in ((old, "original"), (new, "release")):
        if not table.rows:
            raise Misconfigured(f"the {what} has no rows")
        for name in (*quasi, *secrets):
            if name not in table:
                raise no_column(name, table.names, f"the {what}")
    if not set(old.names) & set(new.names):
        raise Misconfigured(
            "the release and the original have no column in common",
            hint=f"The release has {', '.join(map(repr, new.names))}; the original {', '.join(map(repr, old.names))}.",
        )


def check_secret(old: MicroTable, name: str, within: float | None) -> None:
    """Raises NotAnswerable where guessing means nothing."""
    column = old[name]
    if column.distinct < 2:
        raise NotAnswerable(f"{name!r} has one value: there is nothing to guess")
    if within is not None and not column.is_numeric:
        raise Misconfigured(f"within: {name!r} is not a numeric column")
    if within is None and is_unique(column) and column.distinct > 20:
        raise NotAnswerable(
            f"{name!r} has another value in every row: guessing it exactly is meaningless",
            hint=f"Say how near a guess must come, as in --sensitive {name}:5." if column.is_numeric else None,
        )


def remarks(old: MicroTable, new: MicroTable, quasi: tuple[str, ...], person: str | None) -> list[str]:
    """What the custodian should read first."""
    notes = []
    common = [n for n in old.names if n in new]
    if old.rows == new.rows and (np.sort(keys(old, new, common)[0]) == np.sort(keys(old, new, common)[1])).all():
        notes.append("the release IS the original: all rows are equal in all released columns")
    if old.rows < FEW:
        notes.append(f"only {old.rows} people: intervals are wide, and the surest victims are not shown")
    if person is not None and person not in old:
        raise no_column(person, old.names, "person")
    several = [] if person is not None else [n for n in old.names if n not in quasi and repeats(old[n])]
    if several:
        notes.append(
            f"rows with the same {several[0]!r} may be of one person: intervals are too narrow then; name that column"
            " (--person)"
        )
    if not quasi:
        notes.append("no quasi-identifier is named: attacks that know something of a victim are not run (--quasi)")
    return notes


def repeats(column: Column) -> bool:
    """Whether it looks as if it numbered people who have several rows each."""
    called = words(column.name) & {"person", "patient", "user", "customer", "client", "member", "student", "employee"}
    numbered = bool(called) and bool(called & {column.name.lower()} or words(column.name) & set(NUMBERS))
    return numbered and column.distinct > FEW and 1.05 * column.distinct < len(column)


def check_control(
    old: MicroTable, outside: MicroTable, quasi: tuple[str, ...], secrets: tuple[str, ...], key: str | None = None
) -> list[str]:
    """Outsiders have the columns, are not in the original, and come from the same population."""
    if not outside.rows:
        raise Misconfigured("the control has no rows")
    for name in (*quasi, *secrets):
        if name not in outside:
            raise no_column(name, outside.names, "control")
    shared = in_both(old, outside, key)
    if shared:
        raise Misconfigured(
            f"control: {shared:,} of its {outside.rows:,} rows are rows of the original; it must hold other people",
            hint=None if key is None else f"They have the same {key!r}. Leave it out if it numbers other people there.",
        )
    apart = told_apart(old, outside, tuple(q for q in quasi if q != key))
    if apart <= OTHER_PEOPLE:
        return []
    told = f"the people of the control are another population (told apart with an AUC of {apart:.2f})"
    return [f"{told}: members − outside mixes two differences"]


def in_both(old: MicroTable, outside: MicroTable, key: str | None) -> int:
    """Rows of the control that are people of the original: by the key, or more equal rows than chance explains.

    By chance a row of other people equals one of the original about as often as one of the original equals another.
    """
    if key is not None and key in old and key in outside:
        a, b = keys(old, outside, [key])
        return int(np.isin(b, a).sum())
    a, b = keys(old, outside, [n for n in old.names if n in outside])
    shared = int(np.isin(b, a).sum())
    usual = float((np.bincount(a)[a] > 1).mean()) * outside.rows
    return shared if shared > usual + 5 * np.sqrt(usual + 1) + 0.01 * outside.rows else 0


def told_apart(old: MicroTable, outside: MicroTable, quasi: tuple[str, ...]) -> float:
    """The AUC of a model that tells both from half of the rows, on the other half; less what chance may add."""
    random = np.random.default_rng(0)
    many = min(APART, old.rows, outside.rows)
    if not quasi or many < 2 * FEW:
        return 0.5
    first, second = (copied(t.take(random.permutation(t.rows)[:many]), quasi) for t in (old, outside))
    both = encoded(View(known=first), first, second, quasi)
    half = many // 2
    inside = np.repeat([1, 0], half)
    shown, asked = (np.vstack([both.known[k], both.seen[k]]) for k in (slice(None, half), slice(half, None)))
    chance = learnt(shown, inside, 2, asked, np.arange(len(shown)))
    ranks = rankdata(chance[:, 1])[: many - half]
    rest = many - half
    auc = (ranks.sum() - rest * (rest + 1) / 2) / rest**2
    return float(auc - 2 * np.sqrt((2 * rest + 1) / (12 * rest**2)))


def outside_list(old: MicroTable, aux: Any, identity: str | None, quasi: tuple[str, ...]) -> MicroTable | None:
    """The outside list, with names that the original has too."""
    if aux is None:
        if identity is not None:
            raise Misconfigured("identity names a column of the outside list: name the list too (--aux)")
        return None
    table = load(aux)
    if identity is None:
        raise Misconfigured("the outside list needs a column that names people (--identity)")
    for there, what in ((old, "the original"), (table, "aux")):
        if identity not in there:
            raise no_column(identity, there.names, what)
    if quasi and not set(quasi) & set(table.names):
        raise Misconfigured("aux: the outside list has no quasi-identifier", hint=f"It has {', '.join(table.names)}.")
    return table


def keys(first: MicroTable, second: MicroTable, names: list[str]) -> tuple[Any, Any]:
    """One number for each row of both, equal where all these columns are equal as text."""
    rows = first.rows
    key = np.zeros(rows + second.rows, dtype=np.int64)
    for name in names:
        a, b = codes(first[name], second[name])
        both = np.concatenate([a, b]) + 1
        key, _ = dense(key * (int(both.max(initial=0)) + 1) + both)
    return key[:rows], key[rows:]


def codes(a: Column, b: Column) -> tuple[Any, Any]:
    from nowiser.microdata.risk.linking import shared_codes

    return shared_codes(a, b)
