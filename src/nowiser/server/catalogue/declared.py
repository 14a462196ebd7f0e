"""What a policy declares, as rows of PostgreSQL's catalogue: tables, columns, keys, links between tables, comments.

Only the policy is read. Numbers (oids) begin at 16384, as those of a user's own objects do.
"""

from dataclasses import dataclass, field
from typing import Any

from nowiser.model.policy import Policy
from nowiser.model.schema import Kind, Table
from nowiser.policy.catalogue import TableFacts, catalogue
from nowiser.report.tables import whose

OWNER, PUBLIC_SCHEMA, OWN_SCHEMA, ME, DATABASE, FIRST = 10, 2200, 16386, 16384, 16385, 16400
HEAP, BTREE = 2, 403
TYPES = {
    Kind.INTEGER: 20,
    Kind.REAL: 701,
    Kind.TEXT: 25,
    Kind.BOOLEAN: 16,
    Kind.DATE: 1082,
    Kind.TIMESTAMP: 1114,
}
_CLASSES = {20: 3124, 701: 3123, 25: 3126, 16: 424, 1082: 3122, 1114: 3128}  # btree's operators of each type
_CLASS, _CONSTRAINT = 1259, 2606
LETTERS = ["nowiser=arwdDxt/nowiser", "=r/nowiser"]

# Relations of our own: what an account may know about itself
OWN: dict[str, tuple[tuple[str, int], ...]] = {
    "allowance": (("allowance_left", 701), ("left_today", 701), ("per_day", 701)),
    "guesses": (("guess", 25), ("before_percent", 701), ("now_percent", 701), ("limit_percent", 701)),
    "questions": (("asked_at", 1114), ("analyst", 25), ("question", 25), ("spent", 701)),
}


@dataclass
class Rows:
    """Rows of the catalogue, by table; a row names its columns, others are as in an empty database."""

    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    next: int = FIRST

    def add(self, table: str, **row: Any) -> None:
        self.tables.setdefault(table, []).append(row)

    def oid(self) -> int:
        self.next += 1
        return self.next


@dataclass(frozen=True)
class Shape:
    """A table as the catalogue shows it."""

    name: str
    schema: int
    columns: tuple[tuple[str, int, bool, str], ...]  # name, type, NOT NULL, comment
    comment: str
    keys: tuple[tuple[str, ...], ...] = ()
    links: tuple[tuple[tuple[str, ...], str, tuple[str, ...]], ...] = ()  # columns, table, its columns

    @property
    def primary(self) -> tuple[str, ...] | None:
        """The first declared key, where none of its columns can be NULL."""
        sure = {name for name, _, never_null, _ in self.columns if never_null}
        return next((key for key in self.keys if sure.issuperset(key)), None)

    def named(self, key: tuple[str, ...]) -> str:
        return f"{self.name}_pkey" if key == self.primary else f"{self.name}_{'_'.join(key)}_key"[:63]


def shapes(policy: Policy) -> tuple[Shape, ...]:
    """Every relation that is no part of PostgreSQL itself."""
    facts = {t.name: t for t in catalogue(policy)}
    found = [_shape(t, facts[t.name]) for t in policy.tables]
    found += [
        Shape(name, OWN_SCHEMA, tuple((n, t, False, "") for n, t in columns), "") for name, columns in OWN.items()
    ]
    return tuple(found)


def _shape(table: Table, facts: TableFacts) -> Shape:
    said = {c.name: f"{c.role}; {c.declared}" if c.declared else c.role for c in facts.columns}
    columns = tuple((c.name, TYPES[c.kind], not c.nullable, said[c.name]) for c in table.columns)
    links = [*table.references, *((table.link,) if table.link is not None else ())]
    return Shape(
        table.name,
        PUBLIC_SCHEMA,
        columns,
        whose(facts),
        _keys(table),
        tuple((k.columns, k.table, k.references) for k in links),
    )


def _keys(table: Table) -> tuple[tuple[str, ...], ...]:
    """Declared keys; and the person, where one row of each counts."""
    alone = (table.person,) if table.person and table.rows_per_person == 1 else ()
    return tuple(dict.fromkeys((*alone, *table.unique)))


def rows(policy: Policy) -> Rows:
    """The rows that come on top of those of an empty database."""
    found = Rows()
    every = shapes(policy)
    found.add(
        "pg_namespace", oid=OWN_SCHEMA, nspname="nowiser", nspowner=OWNER, nspacl=["nowiser=UC/nowiser", "=U/nowiser"]
    )
    numbers = {(s.schema, s.name): _relation(found, s) for s in every}
    keys = {(s.name, key): _key(found, s, key, numbers[s.schema, s.name]) for s in every for key in s.keys}
    for shape in every:
        for link in shape.links:
            _link(found, shape, link, numbers, keys, every)
    return found


def _relation(found: Rows, shape: Shape) -> int:
    number, kind, several = found.oid(), found.oid(), found.oid()
    found.add(
        "pg_class", oid=number, relname=shape.name, relnamespace=shape.schema, reltype=kind, relam=HEAP, relkind="r",
        relnatts=len(shape.columns), relacl=LETTERS, relhasindex=bool(shape.keys), relreplident="d",
    )  # fmt: skip
    common = {"typnamespace": shape.schema, "typdelim": ",", "typstorage": "x", "typalign": "d", "typlen": -1}
    found.add(
        "pg_type", oid=kind, typname=shape.name, typtype="c", typcategory="C", typrelid=number, typarray=several,
        typinput=2290, typoutput=2291, typreceive=2402, typsend=2403, **common,
    )  # fmt: skip
    found.add(
        "pg_type", oid=several, typname=f"_{shape.name}"[:63], typtype="b", typcategory="A", typelem=kind, typinput=750,
        typoutput=751, typreceive=2400, typsend=2401, typanalyze=3816, typsubscript=6179, **common,
    )  # fmt: skip
    for place, (name, type_, never_null, comment) in enumerate(shape.columns, start=1):
        found.add(
            "pg_attribute", attrelid=number, attnum=place, attname=name, atttypid=type_, attnotnull=never_null,
            attcollation=100 if type_ == 25 else 0,
        )  # fmt: skip
        if comment:
            found.add("pg_description", objoid=number, classoid=_CLASS, objsubid=place, description=comment)
    if shape.comment:
        found.add("pg_description", objoid=number, classoid=_CLASS, objsubid=0, description=shape.comment)
    return number


def _places(shape: Shape, names: tuple[str, ...]) -> list[int]:
    order = [name for name, *_ in shape.columns]
    return [order.index(n) + 1 for n in names]


def _key(found: Rows, shape: Shape, key: tuple[str, ...], table: int) -> int:
    """The constraint and the index behind it; the number of the index."""
    index, constraint, places, first = found.oid(), found.oid(), _places(shape, key), key == shape.primary
    types = [shape.columns[p - 1][1] for p in places]
    name = shape.named(key)
    found.add(
        "pg_class", oid=index, relname=name, relnamespace=shape.schema, relam=BTREE, relkind="i", relnatts=len(places),
        reltype=0,
    )  # fmt: skip
    for at, place in enumerate(places, start=1):
        column, type_, *_ = shape.columns[place - 1]
        found.add(
            "pg_attribute",
            attrelid=index,
            attnum=at,
            attname=column,
            atttypid=type_,
            attnotnull=False,
            attcollation=100 if type_ == 25 else 0,
        )
    found.add(
        "pg_index", indexrelid=index, indrelid=table, indnatts=len(places), indnkeyatts=len(places), indisunique=True,
        indisprimary=first, indkey=places, indclass=[_CLASSES[t] for t in types], indoption=[0] * len(places),
        indcollation=[100 if t == 25 else 0 for t in types],
    )  # fmt: skip
    found.add(
        "pg_constraint", oid=constraint, conname=name, connamespace=shape.schema, contype="p" if first else "u",
        conrelid=table, conindid=index, conkey=places,
    )  # fmt: skip
    listed = ", ".join(map(quoted, key))
    found.add("constraint_text", oid=constraint, written=f"{'PRIMARY KEY' if first else 'UNIQUE'} ({listed})")
    home = "public" if shape.schema == PUBLIC_SCHEMA else "nowiser"
    found.add(
        "index_text", oid=index,
        written=f"CREATE UNIQUE INDEX {quoted(name)} ON {home}.{quoted(shape.name)} USING btree ({listed})",
    )  # fmt: skip
    return index


def _link(  # noqa: PLR0917 (what a link joins)
    found: Rows,
    shape: Shape,
    link: tuple[tuple[str, ...], str, tuple[str, ...]],
    numbers: dict[tuple[int, str], int],
    keys: dict[tuple[str, tuple[str, ...]], int],
    every: tuple[Shape, ...],
) -> None:
    """A foreign key, where the other side is a declared key."""
    columns, target, referenced = link
    if (target, referenced) not in keys:
        return
    other = next(s for s in every if s.name == target and s.schema == PUBLIC_SCHEMA)
    number = found.oid()
    for row in found.tables["pg_class"]:
        if row["relname"] in (shape.name, target) and row["relnamespace"] == PUBLIC_SCHEMA:
            row["relhastriggers"] = True
    found.add(
        "pg_constraint", oid=number, conname=f"{shape.name}_{'_'.join(columns)}_fkey"[:63], connamespace=shape.schema,
        contype="f", conrelid=numbers[shape.schema, shape.name], confrelid=numbers[other.schema, target],
        conindid=keys[target, referenced], conkey=_places(shape, columns), confkey=_places(other, referenced),
        confupdtype="a", confdeltype="a", confmatchtype="s",
    )  # fmt: skip
    mine, theirs = (", ".join(map(quoted, side)) for side in (columns, referenced))
    found.add("constraint_text", oid=number, written=f"FOREIGN KEY ({mine}) REFERENCES {quoted(target)}({theirs})")


def quoted(name: str) -> str:
    """A name as SQL writes it: in quotes where it has to be."""
    plain = name.isascii() and name.replace("_", "a").isalnum() and name == name.lower() and not name[0].isdigit()
    return name if plain else '"' + name.replace('"', '""') + '"'
