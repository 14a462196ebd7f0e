"""Random policies with linked tables, worlds for them that differ in one person, and questions about them.

Everything comes from one `random.Random`. A policy has persons `t`, one to three tables linked to them or to each other
by a person's name or a key of any kind, and a public table `d`. A world has a few persons; of the first of them, Alice,
it has several lives. Where persons are protected her rows appear, vanish and change in every table, but for the public
columns of the one row that names her. Where values are, every secret value of every row of hers moves by itself.
"""

from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from fractions import Fraction
from random import Random

LETTERS = ("a", "b")
ZEROS = (0.0, 0.5, 1.5)
KEYS = {  # how the n-th key is written, and sometimes written otherwise
    "integer": lambda n: [str(n)],
    "text": lambda n: [f"n{n}"],
    "real": lambda n: [f"{n}.0", str(n)] if n else ["0.0", "-0.0"],
    "date": lambda n: [str(date(2024, 1, 1) + timedelta(n))],
}
SOME = {  # keys, as a question writes them
    "integer": ("0", "2"),
    "text": ("'n0'", "'n2'"),
    "real": ("0.0", "2"),
    "date": ("DATE '2024-01-01'", "DATE '2024-01-03'"),
}
PUBLIC = [("a", "1"), ("b", "3"), ("c", "2")]


@dataclass(frozen=True)
class Declared:
    """One table of persons. `parent`, `by`: the table and column its rows are linked to."""

    name: str
    parent: str | None = None
    by: str = ""
    rows: int = 1
    groups: int | None = None
    each: bool = False
    kind: str = "integer"  # of the key `k`
    link: str = "integer"  # of the column `r`
    secret_key: bool = False
    nullable: bool = False
    alike: bool = False  # a, x: one value per person
    low: int = 50

    @property
    def columns(self):
        return ("r", "k", "h", "o", "f", "c", "a", "x")

    def text(self, protect):
        owner = "each row" if self.each else "r" if self.parent is None else f"{{r: {self.parent}.{self.by}}}"
        one = ", one_per_person: true" if self.alike else ""
        key = f"{{sensitive: {self.kind}, nullable: true}}" if self.secret_key else f"{{identifier: {self.kind}}}"
        lines = [f"  {self.name}:", f"    source: {self.name}.csv", f"    person: {owner}"]
        lines += [f"    protect: {protect}"] if self.parent is None else []
        lines += [f"    rows_per_person: {self.rows}"] if not self.each else []
        lines += [f"    groups_per_person: {self.groups}"] if self.groups else []
        lines += ["    unique: [k]", "    columns:", f"      r: {{identifier: {self.link}}}", f"      k: {key}"]
        lines += ["      h: {public: [a, b]}", "      o: {public: {values: [0, 0.5, 1.5]}, kind: real}"]
        lines += ["      f: {sensitive: {values: [0, 0.5, 1.5]}, kind: real, nullable: true}"]
        lines += [f"      c: {{sensitive: [a, b, c], nullable: {str(self.nullable).lower()}}}"]
        lines += [f"      a: {{sensitive: [{self.low}, {self.low + 10}], kind: integer{one}}}"]
        return [*lines, f"      x: {{sensitive: [-3, 4], nullable: {str(self.nullable).lower()}{one}}}"]


@dataclass(frozen=True)
class Family:
    """A policy, and everything drawn for it."""

    protect: str
    tables: tuple[Declared, ...]

    @property
    def text(self):
        lines = ["nowiser: 1", "ENGINE", "tables:", *(line for t in self.tables for line in t.text(self.protect))]
        lines += ["  d:", "    source: d.csv", "    public: true", "    unique: [h]", "    columns:"]
        lines += ["      h: {public: [a, b, c]}", "      m: {public: [0, 3], kind: integer}"]
        return "\n".join([*lines, "attackers:", "  - {guess: t.a within 2, gain: 20%}", ""])

    def table(self, name):
        return next(t for t in self.tables if t.name == name)


def family(rng: Random, *, protect=None, secret_keys=True) -> Family:
    protect = protect or rng.choice(["persons", "values"])
    kinds = list(KEYS)
    each = rng.random() < 0.25
    tables = [
        Declared(
            "t",
            rows=1 if each else rng.choice([1, 1, 2, 3]),
            each=each,
            kind=rng.choice(kinds),
            link=rng.choice(["integer", "text"]),
            **_common(rng, secret_keys=secret_keys),
        )
    ]
    for name in "uvw"[: rng.choice([1, 1, 2, 2, 3])]:
        parent = rng.choice(tables)
        by = "k" if parent.each or parent.parent is not None else rng.choice(["r", "k"])
        tables.append(
            Declared(
                name,
                parent.name,
                by,
                rows=rng.choice([1, 1, 2, 3]),
                groups=rng.choice([None, None, None, 1, 2]),
                kind=rng.choice(kinds),
                link=parent.link if by == "r" else parent.kind,
                **_common(rng, secret_keys=secret_keys),
            )
        )
    if not tables[0].each and rng.random() < 0.2:
        tables[0] = replace(tables[0], groups=rng.choice([1, 2]))
    return Family(protect, tuple(tables))


def _common(rng, *, secret_keys):
    return {
        "secret_key": secret_keys and rng.random() < 0.1,
        "nullable": rng.random() < 0.3,
        "alike": rng.random() < 0.25,
        "low": rng.choice([50, 50, 0, -5, -70]),
    }


# -- lives -----------------------------------------------------------------------------------------------------


@dataclass
class Lives:
    """Alice's lives: for each name the rows of every table, as texts, hers among the others' in the same places.

    `moved`: for each life in which one value moved, from which life, the attribute, and by how much.
    """

    rows: dict[str, dict[str, list[tuple[str, ...]]]] = field(default_factory=dict)
    moved: dict[str, tuple[str, str, Fraction]] = field(default_factory=dict)
    changed: dict[tuple[str, str], set[str]] = field(default_factory=dict)


def lives(found: Family, rng: Random) -> Lives:
    others = [_person(found, rng, n) for n in range(2, rng.choice([3, 4, 5]))]
    alice = _person(found, rng, 1)
    before = rng.random() < 0.5
    made = Lives()

    def put(name, own):
        everybody = [own, *others] if before else [*others, own]
        made.rows[name] = {t.name: [r for one in everybody for r in one[t.name]] for t in found.tables}

    put("first", alice)
    if found.protect == "persons":
        put("absent", {t.name: [] for t in found.tables})
        for i in range(3):
            put(f"other{i}", _person(found, rng, 1, keep=alice if found.tables[0].rows == 1 else None))
        return made
    for i in range(2):
        put(f"other{i}", {n: [_secrets(found.table(n), rng, r) for r in rows] for n, rows in alice.items()})
    for i in range(3):
        moves = _moved(found, rng, alice)
        if moves is not None:
            put(f"moved{i}", moves[0])
            made.moved[f"moved{i}"] = ("first", *moves[1:])
    return made


def _person(found, rng, number, *, keep=None):
    """Raw rows of one person by table. `keep`: of the row that names her, what is public, or names it, stays."""
    rows, keys = {}, {}
    for t in found.tables:
        # Where a person has one row in the table that names persons, two persons may share a key by mistake.
        few = t.parent is None and t.rows == 1 and not t.groups
        own, seen = [], []
        if t.parent is None:
            many = 1 if t.each else rng.choice([1, 1, t.rows, t.rows + 1])
            names = [number] * many
        else:
            led = keys[t.parent] if t.by == "k" else [number]
            names = [rng.choice(led) for _ in range(rng.choice([0, 1, 1, t.rows, t.rows + 2]))] if led else []
        if keep is not None and t.parent is None:
            rows[t.name] = [_secrets(t, rng, r) for r in keep[t.name]]
            keys[t.name] = [_number(t.kind, r[1]) for r in rows[t.name] if r[1]]
            continue
        for i, name in enumerate(names):
            key = number * 10 + i
            if few and rng.random() < 0.15:
                key = rng.choice([10, 20, 30, 0])
            elif i and rng.random() < 0.15:
                key = number * 10  # a key twice, of one person
            if t.parent is None:
                link = rng.choice(KEYS[t.link](number))
            else:
                kind = found.table(t.parent).kind if t.by == "k" else found.table(t.parent).link
                link = rng.choice(KEYS[kind](name))
            written = "" if rng.random() < 0.05 else rng.choice(KEYS[t.kind](key))
            shown = (rng.choice([*LETTERS, *LETTERS, "", "z"]), rng.choice(["0", "-0.0", "0.0", "0.5", "1.5", ""]))
            own.append(_secrets(t, rng, (link, written, *shown, "", "", "", "")))
            if written:
                seen.append(key)
        rows[t.name], keys[t.name] = own, seen
    return rows


def _number(kind, written):
    """Which key a text is, as `KEYS` wrote it."""
    if kind == "date":
        return (date.fromisoformat(written) - date(2024, 1, 1)).days
    return int(float(written.lstrip("n")))


def _secrets(t, rng, row):
    """The row with other secrets."""
    f = rng.choice(["0", "-0.0", "0.5", "1.5", "", "7"])
    c = rng.choice(["a", "b", "c", "a", "b", ""])
    a = rng.choice([str(t.low), str(t.low + 10), str(rng.randint(t.low, t.low + 10)), "", "999"])
    x = rng.choice(["-3", "4", "0", "-0.0", f"{rng.uniform(-3, 4):.3f}", "", "1e9"])
    key = rng.choice(KEYS[t.kind](rng.choice([10, 11, 20, 30]))) if t.secret_key else row[1]
    return (row[0], key, *row[2:4], f, c, a, x)


def _moved(found, rng, alice):
    """One value moves by a distance, the same column of her other rows in any way: rows, attribute, distance."""
    fit = [t for t in found.tables if alice[t.name] and not (t.nullable or t.secret_key or t.groups)]
    fit = [t for t in fit if len(alice[t.name]) <= t.rows]  # the promise is about rows that count
    if not fit:
        return None
    t = max(fit, key=lambda t: (rng.random() < 0.8 and len(alice[t.name]), rng.random()))
    own = alice[t.name]
    at = 0 if t.alike else rng.randrange(len(own))
    column, low, high = rng.choice([(6, t.low, t.low + 10), (7, -3, 4)])
    before = _read(own[at][column], low, high, whole=column == 6)
    step = rng.choice([1, 1, 3, 10]) if column == 6 else rng.choice([0.001, 0.5, 7.0])
    after = min(max(before + Fraction(step) * rng.choice([1, -1]), low), high)
    rows = []
    for i, r in enumerate(own):
        value = str(float(after) if column == 7 else int(after)) if i == at else _secrets(t, rng, r)[column]
        rows.append((*r[:column], value, *r[column + 1 :]))
    distance = abs(_read(rows[at][column], low, high, whole=column == 6) - before)
    return {**alice, t.name: rows}, f"{t.name}.{t.columns[column]}", distance


def _read(text, low, high, *, whole):
    """A value as the copy has it: the middle of the range where there is none, else clipped."""
    if not text:
        middle = Fraction(low + high, 2)
        return Fraction(middle // 1) if whole else middle
    return min(max(Fraction(float(text)), Fraction(low)), Fraction(high))


def files(found: Family, rows) -> dict[str, str]:
    """The csv files of one life."""
    made = {t.name: "\n".join([",".join(t.columns), *(",".join(r) for r in rows[t.name])]) + "\n" for t in found.tables}
    return {**made, "d": "h,m\n" + "".join(f"{h},{m}\n" for h, m in PUBLIC)}


# -- questions -------------------------------------------------------------------------------------------------


class Asking:
    """Questions about a family: sources of every shape, keys of every kind, sums that are lines and sums that are not."""

    def __init__(self, found: Family, rng: Random) -> None:
        self.found, self.rng = found, rng

    def question(self) -> str:
        source, names = self._source()
        keys = [k for n in names for k in (f"{n}h", f"{n}c", f"{n}f", f"{n}o", f"{n}f * 0.0", f"{n}a", f"{n}x > 0")]
        numbers = [e for n in names for e in (f"{n}a", f"{n}x", f"{n}a + 2 * {n}x", f"ABS({n}x)", f"{n}a - 55")]
        conditions = [
            c
            for n in names
            for c in (f"{n}x > 0", f"{n}h = 'a'", f"{n}c = 'a'", f"{n}a >= 55", f"{n}c IS NULL", f"{n}o = 0")
        ]
        return self._asked(source, keys, numbers, conditions)

    def _asked(self, source, keys, numbers, conditions):
        rng = self.rng
        some = [
            "COUNT(*)",
            f"SUM({rng.choice(numbers)})",
            f"SUM({rng.choice(numbers)})",
            f"AVG({rng.choice(numbers)})",
            f"COUNT({rng.choice(numbers)})",
            f"COUNT(DISTINCT {rng.choice(numbers)})",
            f"SUM(CASE WHEN {rng.choice(conditions)} THEN 1 ELSE -1 END)",
            f"COUNT(*) FILTER (WHERE {rng.choice(conditions)})",
            f"SUM({rng.choice(numbers)}) FILTER (WHERE {rng.choice(conditions)})",
            f"VAR_SAMP({rng.choice(numbers)})",
            f"MEDIAN({rng.choice(numbers)})",
        ]
        what = rng.sample(some, rng.choice([1, 1, 2]))
        by = rng.sample(keys, rng.choice([0, 0, 1, 1, 2]))
        text = f"SELECT {', '.join([*(f'{k} AS k{i}' for i, k in enumerate(by)), *what])} FROM {source}"
        if rng.random() < 0.35:
            text += f" {'AND' if ' WHERE ' in source.rpartition(')')[2] or 'EXISTS' in source or ' IN (' in source else 'WHERE'} {rng.choice(conditions)}"
        if by:
            shape = rng.choice(["{}", "{}", "{}", "{}", "ROLLUP ({})", "CUBE ({})", "GROUPING SETS (({}), ())"])
            text += f" GROUP BY {shape.format(', '.join(by))}"
            if shape == "{}" and what == ["COUNT(*)"] and rng.random() < 0.3:
                text += " ORDER BY COUNT(*) DESC LIMIT 1"
        return text

    def _source(self):
        """FROM, and the prefixes of the tables whose columns may be named."""
        rng = self.rng
        t = rng.choice(self.found.tables)
        child = rng.choice([c for c in self.found.tables if c.parent is not None])
        parent = self.found.table(child.parent)
        on = f"{parent.name}.{child.by} = {child.name}.r"
        order = rng.choice(["x", "c", "a DESC", "f NULLS FIRST, h", "o", "k"])
        inside = rng.choice(["", " AND {0}.x > 0", " AND {0}.h = 'a'", " AND {0}.c = 'a'"]).format(child.name)
        shapes = [
            (t.name, [""]),
            (child.name, [""]),
            (child.name, [""]),
            (f"{parent.name} JOIN {child.name} ON {on}{inside}", [f"{parent.name}.", f"{child.name}."]),
            (f"{parent.name} LEFT JOIN {child.name} ON {on}{inside}", [f"{parent.name}.", f"{child.name}."]),
            (f"{child.name} p JOIN {child.name} q ON p.r = q.r", ["p.", "q."]),
            (f"{parent.name} WHERE {rng.choice(['', 'NOT '])}EXISTS (SELECT 1 FROM {child.name} WHERE {on}{inside})", [f"{parent.name}."]),
            (f"{child.name} WHERE r IN (SELECT {child.by} FROM {parent.name} WHERE {rng.choice(['x > 0', 'h = chr(97)', 'a > 52'])})", [""]),
            (f"{t.name} JOIN d ON {t.name}.{rng.choice('hc')} = d.h", [f"{t.name}."]),
            (f"{t.name} LEFT JOIN d ON {t.name}.{rng.choice('hc')} = d.h", [f"{t.name}."]),
            (f"(SELECT h, c, f, o, a, x FROM {parent.name} UNION ALL SELECT h, c, f, o, a, x FROM {child.name}) e", [""]),
            (f"(SELECT r, {rng.choice(['MIN(h)', 'MAX(h)'])} AS h2, h, c, f, o, SUM(a) AS a, MAX(x) AS x FROM {child.name} GROUP BY r, h, c, f, o) e", [""]),
            (f"(SELECT r, SUM(a) AS a, AVG(x) AS x, COUNT(*) AS c, COUNT(DISTINCT h) AS h, COUNT(x) AS f, MIN(a) AS o FROM {child.name}{rng.choice(['', ' WHERE x > 0'])} GROUP BY r) e", [""]),
            (f"{parent.name} LEFT JOIN (SELECT r, SUM(a) AS s, COUNT(*) AS n FROM {child.name} GROUP BY r) e ON e.r = {parent.name}.{child.by}", [f"{parent.name}."]),
            (f"{child.name} WHERE k {rng.choice(['= {0}', 'IN ({0}, {1})']).format(*SOME[child.kind])}", [""]),
            (f"(SELECT h, c, f, o, a, x, ROW_NUMBER() OVER (PARTITION BY r ORDER BY {order}) AS nr FROM {child.name}) e WHERE nr {rng.choice(['= 1', '<= 2'])}", [""]),
            (f"(SELECT h, LAG(c) OVER (PARTITION BY r ORDER BY {order}) AS c, f, RANK() OVER (PARTITION BY r, h ORDER BY {order}) AS o, SUM(a) OVER (PARTITION BY r) AS a, FIRST_VALUE(x) OVER (PARTITION BY r ORDER BY {order}) AS x FROM {child.name}{rng.choice(['', ' WHERE x > 0'])}) e", [""]),
            (f"(SELECT DISTINCT ON (r) h, c, f, o, a, x FROM {child.name} ORDER BY r, {order}) e", [""]),
        ]  # fmt: skip
        return rng.choice(shapes)
