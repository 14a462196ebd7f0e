# ruff: noqa: S608 (printed from the policy; every identifier is quoted, every literal escaped)
"""The prepared copy: raw rows made into what the policy declares, once, so that questions run at raw speed.

For every table, row by row: declared kinds (what cannot be read is NULL; NaN is NULL; zero has no sign), numbers
clipped to their declared range, values outside a declared domain NULL, and where a column is declared never to be NULL,
the middle of its range or its first value instead. So every value of the copy is one the analysis reckoned with.

Where every row is a person, rows that share a key declared unique are all left out. Then, person by person: the value
of the first row in all of them, where a column is declared one value per person; one row for each value of a key
declared unique; and at most `rows_per_person` rows, chosen by a salted order of the person's own rows in which neither
other persons nor secret values have a part. So neighbouring tables have neighbouring copies, and moving a secret value
never changes which rows count.

Columns besides the declared ones: `:units:c` (the column in units of its sums), `:clipped:c` (it was outside) and
`:beyond` (this row stands for one of the same person that is left out; at most one for each row that counts).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from nowiser.engines.owner import belonging, direct, led_to, owner
from nowiser.engines.render import Dialect, in_whole_units, literal, quote
from nowiser.engines.zero import signless
from nowiser.errors import Misconfigured
from nowiser.model.policy import Policy
from nowiser.model.schema import Column, Kind, Table
from nowiser.sql.bound.clipped_totals import stored
from nowiser.sql.bound.clipping import BEYOND, clipped_name, ranged
from nowiser.sql.bound.groups_per_person import group_keys, limits_groups
from nowiser.sql.functions.dates import EVER
from nowiser.sql.plan.cells import sum_cell
from nowiser.sql.read.names import column_type
from nowiser.sql.tree import Column as Leaf


@dataclass(frozen=True)
class Raw:
    """Rows as the engine has them: a relation, the engine's types of its columns, and the place of a row in it.

    `place` orders the rows of one person. It looks at nothing secret: a file position, a physical address, or
    public columns.
    """

    sql: str
    types: dict[str, str]
    place: str


LARGEST = 1.7976931348623157e308  # the largest double


def units_name(column: str) -> str:
    return f":units:{column}"


def in_order(policy: Policy) -> list[Table]:
    """Tables so that each comes after the one it is linked to."""
    done: list[Table] = []
    left = list(policy.tables)
    while left:
        ready = [t for t in left if t.link is None or any(d.name == t.link.table for d in done)]
        if not ready:
            raise Misconfigured(f"The links of {', '.join(t.name for t in left)} go round in circles.")
        done += ready
        left = [t for t in left if t not in ready]
    return done


def statement(
    table: Table,
    policy: Policy,
    dialect: Dialect,
    raw: Raw,
    *,
    salt: str,
    at: Callable[[Table], str] = lambda home: quote(home.name),
    ordered: bool = True,
    split: str | None = None,
) -> str:
    """The SELECT that makes the prepared rows. `at`: where the prepared rows of the tables it is linked to are.

    `ordered`: in the order of the source, so that what lay together stays together when it is stored.
    `split`: not to be stored but asked at once, so rows of persons within the limit are not ranked: all of them
    count, whatever their order. The word says, where it must, that a sub-select is to be written out at each use.
    """
    steps, last = _steps(table, policy, dialect, raw, at)
    person = owner(table, policy)
    kept = _kept(table, person, dialect, quote(BEYOND))
    order = ' ORDER BY ":at"' if ordered else ""
    if not person:
        return f"WITH {', '.join(steps)} SELECT {', '.join(kept)} FROM {last}{order}"
    by = ", ".join(quote(p) for p in person)
    rest = ""
    # Not along links: each table written out at three places would be written out nine times by the next.
    if split is not None and table.link is None and not limits_groups(table) and not led_to(table, policy):
        steps = [step.replace(" AS (", f" AS {split} (", 1) for step in steps]
        many = f"HAVING count(*) > {table.rows_per_person}"
        steps.append(f"many AS (SELECT {by} FROM {last} GROUP BY {by} {many})")
        same = " AND ".join(f"many.{quote(p)} = {last}.{quote(p)}" for p in person)
        few = _kept(table, person, dialect, f"FALSE AS {quote(BEYOND)}")
        rest = f" UNION ALL SELECT {', '.join(few)} FROM {last} WHERE NOT EXISTS (SELECT 1 FROM many WHERE {same})"
        steps.append(f"them AS (SELECT * FROM {last} WHERE EXISTS (SELECT 1 FROM many WHERE {same}))")
        last = "them"
    steps.append(f'turned AS (SELECT *, row_number() OVER (PARTITION BY {by} ORDER BY ":at") AS ":turn" FROM {last})')
    shuffled = dialect.digest([dialect.text(salt), *(quote(p) for p in person), '":turn"'])
    turn = f'row_number() OVER (PARTITION BY {by} ORDER BY {shuffled}, ":turn") AS ":rank"'
    # the row that comes as many places later, if there is one, is left out: this row stands for it
    later = f'lead(":turn", {table.rows_per_person}) OVER (PARTITION BY {by} ORDER BY {shuffled}, ":turn")'
    steps.append(f"ranked AS (SELECT *, {turn}, {later} IS NOT NULL AS {quote(BEYOND)} FROM turned)")
    limit = f'":rank" <= {table.rows_per_person}'
    last = "ranked"
    if keys := group_keys(table):
        kept += ['":rank"', *(quote(f":{what}:{c.name}") for c in keys for what in ("group", "row", "size"))]
        places = ", ".join(_places(c, person, salt, dialect) for c in keys)
        steps.append(f"placed AS (SELECT *, {places} FROM ranked)")
        last, limit = "placed", _counted(table, keys)
    elif limits_groups(table):
        kept.append('":rank"')
    last, limit = _apart(table, policy, steps, last, limit)
    return f"WITH {', '.join(steps)} SELECT {', '.join(kept)} FROM {last} WHERE {limit}{rest}{order}"


def by_place(table: Table, policy: Policy) -> bool:
    """Whether the rows that count can be told by their place in the source alone.

    Not where a row may be one of several persons (a link through other tables), nor where ranks are stored.
    """
    return bool(owner(table, policy)) and not limits_groups(table) and (table.link is None or direct(table, policy))


def candidates(table: Table, policy: Policy, dialect: Dialect, raw: Raw) -> str:
    """A SELECT of who a row belongs to and its place, `:at`, for every row before rows are limited."""
    steps, last = _steps(table, policy, dialect, raw, lambda home: quote(home.name))
    names = ", ".join(quote(p) for p in owner(table, policy))
    return f'WITH {", ".join(steps)} SELECT {names}, ":at" FROM {last}'


def picked(
    table: Table, policy: Policy, dialect: Dialect, raw: Raw, *, condition: str, marked: str, beside: str = ""
) -> str:
    """The SELECT that makes the prepared rows, where conditions on `:at` say which of them are within the limit, and
    which of these stand for one beyond it. `beside`: a JOIN with what these conditions look at.
    """
    steps, last = _steps(table, policy, dialect, raw, lambda home: quote(home.name))
    kept = _kept(table, owner(table, policy), dialect, f"{marked} AS {quote(BEYOND)}")
    last, condition = _apart(table, policy, steps, f"{last} {beside}", condition)
    return f"WITH {', '.join(steps)} SELECT {', '.join(kept)} FROM {last} WHERE {condition}"


def _steps(
    table: Table, policy: Policy, dialect: Dialect, raw: Raw, at: Callable[[Table], str]
) -> tuple[list[str], str]:
    """Rows as declared, of persons we know, each key once: sub-selects, and the name of the last."""
    names = {c.name: _found(table, c.name, list(raw.types)) for c in table.columns}
    types = {f"src.{quote(n)}": t for n, t in raw.types.items()}

    def read(c: Column) -> str:
        return dialect.read(c.kind, names[c.name], types[names[c.name]])

    columns = [f"{_inside(c, read(c), dialect)} AS {quote(c.name)}" for c in table.columns]
    columns += [f"{_outside(c, read(c), dialect)} AS {quote(clipped_name(c.name))}" for c in table.columns if ranged(c)]
    steps = [f'raw AS (SELECT {", ".join(columns)}, {raw.place} AS ":at" FROM {raw.sql} AS src)']
    person = owner(table, policy)
    last = "raw"
    if person:
        steps.append(f"owned AS ({belonging(table, policy, at)})")
        last = "owned"
        if same := [c for c in table.columns if c.one_per_person]:
            steps.append(f"alike AS ({_alike(table, person, same, last)})")
            last = "alike"
    for i, key in enumerate(table.unique):
        key_ = [quote(c) for c in key]
        steps += _alone(i, last, key_) if table.row_is_person else _once(i, last, [quote(p) for p in person], key_)
        last = f"once{i}"
    return steps, last


def readable(table: Table, person: Sequence[str]) -> list[str]:
    """The columns of the copy that a question can name: not what says which rows count, or stand for others."""
    whose = [p for p in person if p.startswith(":")]
    return [*(c.name for c in table.columns), *whose, *(units_name(c.name) for c in table.columns if _in_units(c))]


def _kept(table: Table, person: tuple[str, ...], dialect: Dialect, beyond: str) -> list[str]:
    """The columns of the copy."""
    kept = [quote(c.name) for c in table.columns]
    kept += [quote(p) for p in person if p.startswith(":")]
    kept += [f"{_units(c, table, dialect)} AS {quote(units_name(c.name))}" for c in table.columns if _in_units(c)]
    kept += [quote(clipped_name(c.name)) for c in table.columns if ranged(c)]
    return kept + ([beyond] if person else [])


def _places(c: Column, person: tuple[str, ...], salt: str, dialect: Dialect) -> str:
    """The ranks of `sql/bound/groups_per_person.py` for one column."""
    by, name = ", ".join(quote(p) for p in person), quote(c.name)
    missing = f"CASE WHEN {name} IS NULL THEN 1 ELSE 0 END"
    shown = f"coalesce(CAST({name} AS {dialect.types[Kind.TEXT]}), {dialect.text('')})"
    shuffled = dialect.digest([dialect.text(salt + c.name), *(quote(p) for p in person), shown])
    groups = f"dense_rank() OVER (PARTITION BY {by} ORDER BY {missing}, {shuffled}, {name})"
    rows = f'row_number() OVER (PARTITION BY {by}, {name} ORDER BY ":rank")'
    size = f"count(*) OVER (PARTITION BY {by}, {name})"
    ranks = {"group": groups, "row": rows, "size": size}
    return ", ".join(f"{rank} AS {quote(f':{what}:{c.name}')}" for what, rank in ranks.items())


def _counted(table: Table, keys: tuple[Column, ...]) -> str:
    """Rows that no question will ever count are not kept."""
    m, g = table.rows_per_person, table.groups_per_person
    clipped = stored(table)  # there, all rows of the person have a part in what is clipped
    rows = {c: "" if c.name in clipped else f" AND {quote(f':row:{c.name}')} <= {m}" for c in keys}
    ways = [f"({quote(f':group:{c.name}')} <= {g}{rows[c]})" for c in keys]
    first = f'":rank" <= {m}'
    return f"({' OR '.join([first, *ways])})"


def _alike(table: Table, person: tuple[str, ...], same: Sequence[Column], last: str) -> str:
    """Every row of a person with the values of the first, where a column is declared one value per person.

    The first in the order of the source, which looks at nothing secret: so if that value moves by a distance, all
    rows move by it, and nothing else of a person moves them. What was clipped is the value of that row too.
    """
    by = ", ".join(quote(p) for p in person)
    taken = {c.name for c in same} | {clipped_name(c.name) for c in same if ranged(c)}
    kept = [c.name for c in table.columns] + [clipped_name(c.name) for c in table.columns if ranged(c)]
    kept += [p for p in person if p.startswith(":")]
    first = f'first_value({{0}}) OVER (PARTITION BY {by} ORDER BY ":at") AS {{0}}'
    columns = [first.format(quote(n)) if n in taken else quote(n) for n in kept]
    return f'SELECT {", ".join(columns)}, ":at" FROM {last}'


def _once(i: int, last: str, person: list[str], key: list[str]) -> list[str]:
    """Of rows of one person with the same key the first. Rows without a key are nobody's double."""
    by = ", ".join(dict.fromkeys([*person, *key]))
    missing = " OR ".join(f"{c} IS NULL" for c in key)
    return [
        f'seen{i} AS (SELECT *, row_number() OVER (PARTITION BY {by} ORDER BY ":at") AS ":same{i}" FROM {last})',
        f'once{i} AS (SELECT * FROM seen{i} WHERE ":same{i}" = 1 OR {missing})',
    ]


def _alone(i: int | str, last: str, key: list[str]) -> list[str]:
    """Of rows with the same key none, where every row is a person: keeping the first would let one person's row remove
    another's, and both would have changed.

    *Why a person still moves one row.* Add a row with key k. If nobody has k, the row appears. If one row has k, that
    one disappears and the new one does not appear. If several have it, none was there and none is. So of the rows that
    are left at most one comes or goes; and what comes of several such steps, one for each key, as well.
    """
    missing = " OR ".join(f"{c} IS NULL" for c in key)
    by = ", ".join(key)
    return [
        f'seen{i} AS (SELECT *, count(*) OVER (PARTITION BY {by}) AS ":same{i}" FROM {last})',
        f'once{i} AS (SELECT * FROM seen{i} WHERE ":same{i}" = 1 OR {missing})',
    ]


def _apart(table: Table, policy: Policy, steps: list[str], last: str, counted: str) -> tuple[str, str]:
    """Rows of persons who have one row each, without those that share a key by which others lead to them (`owner.py`).

    Of the rows that count, so after the limit: rows that are left out anyway take nobody away. Adds to `steps`; gives
    the last of them, and the condition that is left.
    """
    keys = led_to(table, policy)
    if not keys:
        return last, counted
    steps.append(f"counted AS (SELECT * FROM {last} WHERE {counted})")
    last = "counted"
    for i, key in enumerate(keys):
        steps += _alone(f"_led{i}", last, [quote(c) for c in key])
        last = f"once_led{i}"
    return last, "TRUE"


def _found(table: Table, name: str, present: list[str]) -> str:
    exact = [p for p in present if p == name] or [p for p in present if p.lower() == name.lower()]
    if len(exact) != 1:
        raise Misconfigured(
            f"The source of table {table.name} has no column {name}.",
            hint="The custodian runs `nowiser check`, which names those it has.",
        )
    return f"src.{quote(exact[0])}"


def _in_units(c: Column) -> bool:
    return c.kind is Kind.REAL and c.low is not None and c.high is not None


def _inside(c: Column, value: str, dialect: Dialect) -> str:
    value = signless(value, dialect) if c.kind is Kind.REAL else value
    if c.domain is not None:
        members = ", ".join(literal(v, c.kind, dialect) for v in c.domain)
        value = f"CASE WHEN {value} IN ({members}) THEN {value} END"
    elif c.low is not None and c.high is not None:
        low, high = (literal(end, c.kind, dialect) for end in _ends(c))
        value = f"CASE WHEN {value} < {low} THEN {low} WHEN {value} > {high} THEN {high} ELSE {value} END"
    elif c.kind in EVER:  # years 1 to 9999, so that every part of a date has bounds
        low, high = (literal(int(end), c.kind, dialect) for end in (EVER[c.kind].low, EVER[c.kind].high))
        value = f"CASE WHEN {value} BETWEEN {low} AND {high} THEN {value} END"
    elif c.kind is Kind.REAL:
        value = f"CASE WHEN abs({value}) <= {literal(LARGEST, c.kind, dialect)} THEN {value} END"
    return value if c.nullable else f"coalesce({value}, {literal(_stand_in(c), c.kind, dialect)})"


def _outside(c: Column, value: str, dialect: Dialect) -> str:
    low, high = (literal(end, c.kind, dialect) for end in _ends(c))
    return f"coalesce({value} < {low} OR {value} > {high}, FALSE)"


def _ends(c: Column) -> Iterator[int | float]:
    assert c.low is not None
    assert c.high is not None
    for end in (c.low, c.high):
        yield float(end) if c.kind is Kind.REAL else int(end)


def _stand_in(c: Column) -> object:
    """What a missing value counts as where none may be missing."""
    if c.domain is not None:
        return c.domain[0]
    if c.low is not None and c.high is not None:
        middle = (c.low + c.high) / 2
        return float(middle) if c.kind is Kind.REAL else int(middle // 1)
    return {Kind.TEXT: "", Kind.BOOLEAN: False, Kind.REAL: 0.0}.get(c.kind, 0)


def unit_of(table: str, c: Column) -> Fraction:
    """The unit in which sums of this bare column are computed."""
    return sum_cell(Leaf("t0", table, c, column_type(c)), None, centred=False).unit


def _units(c: Column, table: Table, dialect: Dialect) -> str:
    """The column in units. 2³⁰ of them are no less than the largest value (`cells.PRECISION`), so 32 bits hold it.

    Engines add such numbers without loss: n of them pass 2⁶³ only if n > 2³³, and DuckDB takes 64 bits for the sum
    where the largest value and the number of rows of the copy prove that they suffice, else 128.
    """
    return f"CAST({in_whole_units(quote(c.name), unit_of(table.name, c), dialect)} AS {dialect.small})"
