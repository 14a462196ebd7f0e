"""Which keys a policy has: the one list from which the reader, the JSON Schema and the error messages take them.

The models describe the *text* (shorthands included), for editors. What the text means is decided in the
files beside this one, which ask `keys_of` here; `tests/policy/test_shape.py` holds both to the same examples.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from nowiser.model.schema import Kind

Number = int | float
Percent = Annotated[
    str | float, Field(description="a share: `5%` or `0.05`", json_schema_extra={"examples": ["5%", 0.05]})
]
Plain = str | bool | int | float
KindName = Literal["integer", "real", "text", "boolean", "date", "timestamp"]
assert set(KindName.__args__) == {kind.value for kind in Kind}  # type: ignore[attr-defined]  # Literal has them


class Shape(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Range(Shape):
    range: Annotated[list[Plain], Field(min_length=2, max_length=2, description="lowest and highest value")]


class Values(Shape):
    values: Annotated[list[Plain], Field(min_length=1, description="every value there can be")]


Declared = bool | KindName | list[Plain] | Range | Values


class NormalPrior(Shape):
    mean: Plain
    sd: Annotated[Number, Field(gt=0, description="standard deviation")]


class LognormalPrior(Shape):
    mean: Annotated[Number, Field(description="mean of the logarithm")]
    sd: Annotated[Number, Field(gt=0, description="standard deviation of the logarithm")]


class HistogramPrior(Shape):
    edges: Annotated[list[Plain], Field(min_length=2, description="increasing; one more than weights")]
    weights: Annotated[list[Number], Field(min_length=1, description="mass of each bin, in proportion")]


class EmpiricalPrior(Shape):
    file: Annotated[str, Field(description="a public csv or parquet file")]
    column: Annotated[str | None, Field(description="default: the name of the column")] = None


class Prior(Shape):
    """Exactly one of these."""

    uniform: Annotated[list[Plain] | None, Field(min_length=2, max_length=2)] = None
    normal: NormalPrior | None = None
    lognormal: LognormalPrior | None = None
    histogram: HistogramPrior | None = None
    categories: Annotated[dict[str, Number] | None, Field(description="probability of each value, in proportion")] = (
        None
    )
    empirical: Annotated[
        str | EmpiricalPrior | None, Field(description="a public csv or parquet file, e.g. last year's census")
    ] = None


class Column(Shape):
    """Exactly one of `identifier`, `public` and `sensitive`."""

    identifier: Annotated[bool | KindName | None, Field(description="names a person or a row")] = None
    public: Annotated[Declared | None, Field(description="known to everybody; with its range or all its values")] = None
    sensitive: Annotated[Declared | None, Field(description="secret; with its range or all its values")] = None
    kind: Annotated[KindName | None, Field(description="what it holds, where that cannot be read off the values")] = (
        None
    )
    grid: Annotated[Number | None, Field(gt=0, description="the unit in which numbers are released")] = None
    prior: Annotated[
        Literal["uniform", "unknown"] | Prior | None,
        Field(description="what attackers are taken to believe beforehand; `unknown` (default) assumes the worst"),
    ] = None
    nullable: Annotated[bool | None, Field(description="whether values may be missing, secretly")] = None


class Table(Shape):
    source: Annotated[
        str | None, Field(description="csv or parquet file, or a table of the engine; default: the name")
    ] = None
    person: Annotated[
        str | list[str] | dict[str, str] | None,
        Field(
            description="column(s) that name the person, or `{patient_id: patients.id}`: "
            "the row belongs to the person of that row"
        ),
    ] = None
    public: Annotated[bool, Field(description="the table holds nothing about persons")] = False
    rows_per_person: Annotated[int, Field(ge=1, description="rows of one person that count; enforced")] = 1
    groups_per_person: Annotated[int | None, Field(ge=1, description="groups in which one person counts")] = None
    protect: Annotated[
        Literal["persons", "values"], Field(description="what is secret: presence and everything, or sensitive values")
    ] = "persons"
    presence: Annotated[
        Percent | None, Field(description="how likely attackers hold it that a given person is in the table")
    ] = None
    unique: Annotated[list[str | list[str]], Field(description="keys: columns that together never repeat")] = []
    columns: dict[str, Literal["identifier", "public", "sensitive"] | Column]


class Attacker(Shape):
    guess: Annotated[str, Field(description="the goal, e.g. `visits.time within 2` or `present in visits`")]
    gain: Annotated[Percent, Field(description="how much better he may guess than before, in points")]
    knows: Annotated[str, Field(description="what he knows besides the prior")] = "everyone else"


class Answers(Shape):
    spend: Annotated[Percent, Field(description="default share of the whole allowance per question")] = "5%"


class PolicyFile(Shape):
    """Policy of nowiser: what the custodian declares public, secret and promised."""

    nowiser: Annotated[Literal[1], Field(description="version of this format")]
    version: Annotated[int, Field(ge=1, description="the custodian's own count of this policy's editions")] = 1
    engine: Annotated[
        str,
        Field(description="`duckdb`, `duckdb:///file`, `postgresql://…`, `spark`, `spark://…`, `spark-connect://…`"),
    ] = "duckdb"
    ledger: Annotated[
        str | None, Field(description="`sqlite:///file` or `postgresql://…`; default: beside this file")
    ] = None
    tables: Annotated[dict[str, Table], Field(min_length=1)]
    attackers: Annotated[list[Attacker], Field(min_length=1)]
    answers: Answers = Answers()
    analysts: Annotated[dict[str, Percent], Field(description="share of the one common allowance per analyst")] = {}
    independent: Annotated[
        list[list[str]], Field(description="groups of `table.column` declared independent of each other")
    ] = []
    delta: Annotated[
        Number, Field(ge=0, lt=1, description="how often the promise may fail; 0 forbids Gaussian noise")
    ] = 0
    key_delta: Annotated[Number, Field(ge=0, lt=1, description="the same for group keys without declared values")] = (
        1e-9
    )


def keys_of(shape: type[Shape]) -> tuple[str, ...]:
    """The keys this mapping may have, in the order in which they are documented."""
    return tuple(shape.model_fields)


def json_schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of the policy file, for editors."""
    schema = PolicyFile.model_json_schema()
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "nowiser policy",
        **_without_titles(schema),
    }


def _without_titles(value: Any) -> Any:
    """Pydantic adds a `title` to everything and `null` to every optional key; a reader needs neither."""
    if isinstance(value, list):
        return [_without_titles(v) for v in value]
    if not isinstance(value, dict):
        return value
    kept = {k: _without_titles(v) for k, v in value.items() if not (k == "title" and isinstance(v, str))}
    options = kept.get("anyOf")
    if isinstance(options, list):
        real = [option for option in options if option != {"type": "null"}]
        if len(real) < len(options):
            kept.pop("default", None)
            kept["anyOf"] = real
    return kept
