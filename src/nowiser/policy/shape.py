"""Which keys a policy has: the one list from which the reader, the JSON Schema and the error messages take them.

The shapes describe the *text* (shorthands included), for editors. What the text means is decided in the files beside
this one, which ask `keys_of` here; `tests/policy/test_shape.py` holds both to the same examples. Plain typed
dictionaries, so that reading a policy need not wait for pydantic; only `json_schema` does.
"""

from fractions import Fraction
from typing import Annotated, Any, Literal, Required, TypeVar

from annotated_types import Ge, Gt, Le, MaxLen, MinLen
from typing_extensions import TypedDict

LARGEST_DELTA = Fraction(1, 100)  # with this probability a promise may be void; more is no promise

Number = float
Share = str | Annotated[float, Gt(0), Le(1)]
Plain = str | bool | float
Pair = Annotated[list[Plain], MinLen(2), MaxLen(2)]
KindName = Literal["integer", "real", "text", "boolean", "date", "timestamp"]

_Shape = TypeVar("_Shape", bound=type)


def _closed(shape: _Shape) -> _Shape:
    """For pydantic: no other keys, and the strings below the keys are their descriptions."""
    shape.__pydantic_config__ = {"extra": "forbid", "use_attribute_docstrings": True}  # type: ignore[attr-defined]  # its way
    return shape


@_closed
class Range(TypedDict):
    range: Pair
    """Lowest and highest value."""


@_closed
class Values(TypedDict):
    values: Annotated[list[Plain], MinLen(1)]
    """Every value there can be."""


Declared = bool | KindName | list[Plain] | Range | Values


@_closed
class Normal(TypedDict):
    mean: Plain
    sd: Annotated[Number, Gt(0)]


@_closed
class Histogram(TypedDict):
    edges: Annotated[list[Plain], MinLen(2)]
    """Increasing; one more than weights."""
    weights: Annotated[list[Number], MinLen(1)]
    """Mass of each bin, in proportion."""


@_closed
class Empirical(TypedDict, total=False):
    file: Required[str]
    """A public csv or parquet file."""
    column: str
    """Default: the name of the column."""


@_closed
class Prior(TypedDict, total=False):
    """Exactly one of these."""

    uniform: Pair
    """Lowest and highest value believed possible."""
    normal: Normal
    """Mean and standard deviation."""
    lognormal: Normal
    """Mean and standard deviation of the logarithm."""
    histogram: Histogram
    categories: dict[str, Number | str]
    """Probability of each value, in proportion."""
    empirical: str | Empirical
    """A public csv or parquet file, e.g. last year's census."""


@_closed
class Column(TypedDict, total=False):
    """Exactly one of `identifier`, `public` and `sensitive`."""

    identifier: Literal[True] | KindName
    """Names a person or a row."""
    public: Declared
    """Known to everybody; with its range or all its values."""
    sensitive: Declared
    """Secret; with its range or all its values."""
    kind: KindName
    """What it holds, where that cannot be read off the values."""
    grid: Annotated[Number, Gt(0)]
    """The unit in which numbers are released."""
    prior: Literal["uniform", "unknown"] | Prior
    """What attackers are taken to believe beforehand. Default: `unknown`, the worst belief there is."""
    nullable: bool
    """Whether values may be missing, secretly."""
    one_per_person: bool
    """The same value in all rows of a person, like an age: enforced by taking that of the first row. Default: false."""


@_closed
class Csv(TypedDict, total=False):
    delimiter: str
    """The character between two fields, or `tab`. Default: a comma; a tab for files called .tsv."""
    quote: str
    """The character around a field that holds others of these, or `none`. Default: `"`."""
    escape: str
    """The character before a quote that belongs to the field. Default: the quote itself, doubled."""
    dates: dict[str, str]
    """Columns with dates that are not written as 2023-11-28, and their form: `{visit: day.month.year}`."""


@_closed
class Table(TypedDict, total=False):
    source: str
    """A csv or parquet file, or a table of the engine. Default: the table's name."""
    csv: Csv
    """How a csv file is written. Nothing is guessed from its rows. Default: RFC 4180 (commas, double quotes)."""
    person: str | list[str] | dict[str, str]
    """Column(s) that name the person; `{patient_id: patients.id}`: the person of that row; `each row`."""
    public: bool
    """The table holds nothing about persons."""
    rows_per_person: Annotated[int, Ge(1)]
    """Rows of one person that count; enforced. Default: 1."""
    groups_per_person: Annotated[int, Ge(1)]
    """Groups in which one person counts; in each, totals are clipped to what `rows_per_person` rows are worth."""
    links: dict[str, str]
    """Rows join two people: `{pupil: pupils.id, friend: pupils.id}`. In place of `person`."""
    protect: Literal["persons", "values", "links"]
    """What is secret: presence and everything (`persons`, default), or only sensitive values; of links, one link."""
    presence: Share
    """How likely attackers hold it that a given person is in the table. Default: unknown."""
    people: Annotated[int, Ge(1)]
    """About how many persons are in it: said to everybody, and used only to tell useful answers from useless ones."""
    unique: list[str | list[str]]
    """Keys: columns that together never repeat."""
    references: dict[str, str]
    """Columns that lead to rows of other tables of the same persons, `{hadm_id: admissions.hadm_id}`: for joins."""
    partition: str
    """A public column that is fixed for a person: what is asked about one value of it uses up the allowance there."""
    columns: Required[dict[str, Literal["identifier", "public", "sensitive"] | Column]]


@_closed
class Attacker(TypedDict, total=False):
    guess: Required[str]
    """The goal: `visits.time within 2`, `visits.dish exactly`, `present in visits`, joined by and, or, not."""
    gain: Required[Share]
    """How much better he may guess than before, in points."""
    promise: Literal["every answer", "on average"]
    """Whether no answer may tell more (default), or what the best attacker reaches on average over all answers."""
    knows: Literal["everyone else"]
    """What he knows besides the prior."""


FROM = ("data", "synopsis", "best")  # where answers come from
FROM_MEANS = (
    "Where answers come from: the data (default), the synopsis, or `best`: the synopsis where it is precise enough."
)
_From = TypedDict("_From", {"from": Literal["data", "synopsis", "best"]}, total=False)  # a word of Python's


@_closed
class Answers(_From, total=False):
    spend: Share
    """Default share of the whole allowance per question. Default: 5%."""
    reuse: bool
    """Whether what follows from earlier answers is free. Analysts then see what others asked. Default: false."""
    at_least: str
    """When `nowiser serve` tells a new answer: after this time, or twice, four, eight … times it. Default: 100ms."""


@_closed
class PolicyFile(TypedDict, total=False):
    """Policy of nowiser: what the custodian declares public, secret and promised."""

    nowiser: Required[Literal[1]]
    """Version of this format."""
    version: Annotated[int, Ge(1)]
    """The custodian's own count of this policy's editions. Default: 1."""
    engine: str
    """`duckdb` (default), `duckdb:///file`, `postgresql://…`, `spark`, `spark://…`, `spark-connect://…`."""
    ledger: str
    """`sqlite:///file` or `postgresql://…`. Default: `.nowiser/ledger.sqlite` beside the policy."""
    tables: Required[Annotated[dict[str, Table], MinLen(1)]]
    attackers: Required[Annotated[list[Attacker], MinLen(1)]]
    answers: Answers
    analysts: dict[str, Share]
    """Share of the one common allowance per analyst."""
    independent: list[str | list[str]]
    """Groups of `table.column` declared independent of each other."""
    delta: Annotated[Number, Ge(0), Le(float(LARGEST_DELTA))]
    """How often the promise may fail. Default: 0: no Gaussian noise, but for attackers on average."""
    key_delta: Annotated[Number, Ge(0), Le(float(LARGEST_DELTA))]
    """The same for group keys without declared values. Default: 1e-9."""


def keys_of(shape: type) -> tuple[str, ...]:
    """The keys this mapping may have, in the order in which they are documented."""
    return tuple(key for key in shape.__annotations__ if not key.startswith("__"))


def json_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of the policy file, for editors."""
    from pydantic import TypeAdapter

    schema = TypeAdapter(PolicyFile).json_schema()
    schema["$defs"]["Answers"]["properties"]["from"]["description"] = FROM_MEANS
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_tidy(schema), "title": "nowiser policy"}


def _tidy(value: Any) -> Any:
    """Pydantic gives everything a `title`; a reader of hints needs none."""
    if isinstance(value, list):
        return [_tidy(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _tidy(item) for key, item in value.items() if not (key == "title" and isinstance(item, str))}
