"""The nouns of a policy: tables, their columns, and who a row belongs to."""

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction


class Kind(Enum):
    """What a column holds. Dates count days and timestamps count microseconds since 1970-01-01."""

    INTEGER = "integer"
    REAL = "real"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"


class Role(Enum):
    IDENTIFIER = "identifier"  # names a person or a row; only for joining, counting and grouping per person
    PUBLIC = "public"  # known to everybody, for everybody who is in the table
    SENSITIVE = "sensitive"  # secret


class Protect(Enum):
    """What is secret: the person's presence and every attribute, or only the values of sensitive columns."""

    PERSONS = "persons"
    VALUES = "values"


Value = int | float | str | bool


@dataclass(frozen=True)
class Column:
    """A column as the custodian declares it. Everything here is a public statement, never read off the data."""

    name: str
    kind: Kind
    role: Role
    low: Fraction | None = None  # declared range, in raw units (days, microseconds for dates, timestamps)
    high: Fraction | None = None
    grid: Fraction | None = None  # the unit in which sums of this column are released
    domain: tuple[Value, ...] | None = None  # all values a reader will ever see, in this order
    # Whether NULL is a value of its own. False: the gateway reads a NULL as the middle of the range or the first
    # value of the domain, so that nothing depends on it. True for a secret column: NULL or not is a secret too, SQL's
    # rules hold, and only `jump` can pay for it, since there is no distance from a number to nothing.
    nullable: bool = True
    # One value per person, however many rows: the gateway gives every row of a person the value of the first one.
    one_per_person: bool = False

    @property
    def secret(self) -> bool:
        return self.role is not Role.PUBLIC


@dataclass(frozen=True)
class Link:
    """`visits.patient_id → patients.id`: rows of this table belong to the person of that row."""

    columns: tuple[str, ...]
    table: str
    references: tuple[str, ...]


@dataclass(frozen=True)
class Csv:
    """How the fields of a csv file are told apart: RFC 4180 unless something else is declared."""

    delimiter: str = ","
    quote: str | None = '"'  # around a field; None: there are no quotes
    escape: str | None = '"'  # before a quote inside of quotes
    dates: tuple[tuple[str, str], ...] = ()  # columns whose dates are not written as 2023-11-28, and the form of them


@dataclass(frozen=True)
class Table:
    """A table of the policy.

    Whom a row belongs to: `person` names columns, `link` leads to a row of another table, `row_is_person` says
    that every row is a person of its own (then `rows_per_person` is 1). With none of them the table is public:
    it holds nothing about persons.
    """

    name: str
    source: str
    columns: tuple[Column, ...]
    person: tuple[str, ...] = ()  # one person = one value of these columns
    link: Link | None = None
    rows_per_person: int = 1
    groups_per_person: int | None = None
    protect: Protect = Protect.PERSONS
    unique: tuple[tuple[str, ...], ...] = ()  # declared keys, for joins
    row_is_person: bool = False  # `person: each row`
    people: int | None = (
        None  # about how many persons are in it, said to everybody: only to judge whether answers are useful
    )
    csv: Csv | None = None  # how its file is written; None: as files of its name are by default
    # A public column with one value per person: questions about different values concern different persons.
    partition: str | None = None
    references: tuple[Link, ...] = ()  # columns that lead to rows of other tables of the same persons, for joins
    # Its rows join two people: the two columns, and the table of the people. SQL does not ask about them.
    ends: Link | None = None

    @property
    def is_public(self) -> bool:
        return not self.person and self.link is None and not self.row_is_person

    def column(self, name: str) -> Column | None:
        return next((c for c in self.columns if c.name == name), None)
