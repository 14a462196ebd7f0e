"""Games of histories from tables: one row is one entry of a person, such as a film, a search, a hospital.

released: whose (a number), the item, perhaps a value and a day    original: the same, with the same numbers
with an outside list: names and items → trails; names and words → searches. The original tells whose a number is
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from nowiser.attacks.sparse.game import Films, SearchLog, Trails
from nowiser.attacks.sparse.histories import Histories
from nowiser.attacks.victims import Game
from nowiser.attacks.view import Floats, Ints
from nowiser.errors import Misconfigured
from nowiser.microdata.risk.linking import shared_codes
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable, no_column

SECONDS_SINCE = 1_000_000  # larger numbers are no days, but seconds since 1970
PLACES = 2000


def game(
    original: MicroTable,
    released: MicroTable,
    *,
    person: str,
    item: str,
    value: str | None = None,
    date: str | None = None,
    known: int = 4,
    aux: MicroTable | None = None,
    identity: str | None = None,
) -> Game:
    """The game these tables make."""
    needed = {person, item} | {c for c in (value, date) if c is not None}
    for table, what in ((original, "the original"), (released, "the release")):
        for name in sorted(needed & {person} if aux is not None and table is original else needed):
            if name not in table:
                raise no_column(name, table.names, what)
    if aux is not None:
        assert identity is not None, "checked with the list"
        return named(original, released, aux, person, item, identity)
    if known < 1:
        raise Misconfigured(f"known: an attacker remembers at least 1 entry, not {known}")
    whose, theirs, persons = both(original[person], released[person])
    if not np.isin(theirs, whose).any():
        raise Misconfigured(
            f"no {person!r} of the release is in the original, so nobody can say whose record is whose",
            hint="Give the original the numbers of the release.",
        )
    items, shown, _ = both(original[item], released[item])
    fields = frozenset({n for n, c in (("value", value), ("day", date)) if c is not None})
    here, there = (
        Histories.of(
            who,
            what,
            None if value is None else numbers(table[value], value),
            None if date is None else days(table[date], date),
            persons,
        )
        for table, who, what in ((original, whose, items), (released, theirs, shown))
    )
    if here.size.max(initial=0) < known:
        raise Misconfigured(f"nobody has {known} entries (--known)")
    return Films(here, there, known=known, fields=fields)


def named(  # noqa: PLR0917 (three tables and their columns)
    original: MicroTable, released: MicroTable, aux: MicroTable, person: str, item: str, identity: str
) -> Trails | SearchLog:
    """Names and places, or names and words, and which of the released numbers each name is."""
    numbers, _, size = both(original[person], released[person])
    names, listed, many = both(original[identity], aux[identity])
    number_of = np.full(many, -1, np.int64)
    number_of[names] = numbers
    theirs = both(original[person], released[person])[1]
    who = np.unique(listed[number_of[listed] >= 0])
    who = who[np.isin(number_of[who], theirs)]
    if not len(who):
        raise Misconfigured("nobody of the outside list has a record in the release, as the original tells it")
    if item in aux:
        shown, told, places = both(released[item], aux[item])
        if places > PLACES:
            raise Misconfigured(f"{item!r} has {places:,} values: trails go over at most {PLACES:,} places")
        records, lists = np.zeros((size, places), bool), np.zeros((many, places), bool)
        records[theirs, shown] = True
        lists[listed, told] = True
        own = records[number_of[who]]
        return Trails(lists[who], own, complete=bool((lists[who] == own).all()))
    texts: list[list[str]] = [[] for _ in range(size)]
    for number, text in zip(theirs.tolist(), released[item].to_arrow().cast(pa.string()).to_pylist(), strict=True):
        texts[number].append(text or "")
    words: dict[int, list[str]] = {int(w): [] for w in who}
    columns = [aux[n].to_arrow().cast(pa.string()).to_pylist() for n in aux.names]
    for row, name in enumerate(listed.tolist()):
        if name in words:
            words[name] += [c[row] for c in columns if c[row]]
    log = [texts[int(number_of[w])] for w in who]
    return SearchLog(log, log, [words[int(w)] for w in who])


def both(first: Column, second: Column) -> tuple[Ints, Ints, int]:
    """Numbers for the values of two columns, equal where these are equal as text."""
    a, b = shared_codes(first, second)
    if (a < 0).any() or (b < 0).any():
        raise Misconfigured(f"{first.name!r} is missing in some rows", hint="Leave these rows out.")
    return a.astype(np.int64), b.astype(np.int64), int(max(a.max(initial=0), b.max(initial=0))) + 1


def numbers(column: Column, name: str) -> Floats:
    if not column.is_numeric or column.nulls:
        raise Misconfigured(f"{name!r} must hold a number in every row")
    return np.asarray(column.numbers, np.float64)


def days(column: Column, name: str) -> Floats:
    """Dates and times as days; numbers are days, or seconds since 1970 if they are large."""
    arrow = column.to_arrow()
    if pa.types.is_temporal(arrow.type) and not arrow.null_count:
        return np.asarray(pc.cast(arrow.cast(pa.timestamp("s")), pa.int64()).to_numpy(False) / 86400.0)
    found = numbers(column, name)
    return found / 86400.0 if len(found) and np.abs(found).max() > SECONDS_SINCE else found
