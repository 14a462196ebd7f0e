"""What a policy's text means."""

from datetime import date
from fractions import Fraction

import pytest

from nowiser.errors import Misconfigured
from nowiser.examples import canteen, hospital
from nowiser.model.goal import On, Within
from nowiser.model.prior import Normal, Truncated
from nowiser.model.schema import Column, Kind, Link, Protect, Role
from nowiser.policy import parse, read

# The example of the design, character by character.
DESIGN = """\
nowiser: 1
engine: duckdb                       # embedded; or postgresql://…, spark://…
tables:
  visits:
    source: canteen.csv              # csv, parquet, or a table of the engine
    person: student                  # one person = one value of this column
    rows_per_person: 1               # enforced by the gateway, not trusted
    protect: values
    columns:
      student: identifier
      faculty: {public: [math, computer science]}
      time: {sensitive: [0, 60], prior: {normal: {mean: 20, sd: 5}}}
attackers:
  - {guess: visits.time within 2, gain: 5%}
answers: {spend: 5%}                 # default share of the whole allowance per question
"""


def columns(text: str):
    """The columns `text` declares, by name, in a table where x names the person."""
    inner = "\n".join(f"      {line.strip()}" for line in text.strip().splitlines())
    policy = parse(
        "nowiser: 1\ntables:\n  t:\n    person: x\n    columns:\n      x: identifier\n"
        f"{inner}\nattackers: [{{guess: present in t, gain: 5%}}]\n"
    )
    return {c.name: c for c in policy.tables[0].columns}


def test_the_example_of_the_design_works_as_it_stands(tmp_path):
    assert canteen.POLICY == DESIGN
    (tmp_path / "nowiser.yaml").write_text(DESIGN, encoding="utf-8")
    policy = read(tmp_path / "nowiser.yaml")
    (visits,) = policy.tables
    assert (policy.engine, policy.spend, policy.delta, policy.key_delta) == (
        "duckdb", Fraction(1, 20), 0, Fraction(1, 10**9),
    )  # fmt: skip
    assert (visits.name, visits.source, visits.person, visits.rows_per_person) == (
        "visits",
        "canteen.csv",
        ("student",),
        1,
    )
    assert visits.protect is Protect.VALUES
    assert not visits.is_public
    assert visits.columns == (
        Column("student", Kind.TEXT, Role.IDENTIFIER),
        Column("faculty", Kind.TEXT, Role.PUBLIC, domain=("math", "computer science")),
        Column("time", Kind.REAL, Role.SENSITIVE, low=Fraction(0), high=Fraction(60), nullable=False),
    )
    (attacker,) = policy.attackers
    assert (attacker.goal, attacker.gain) == (On("visits.time", Within(2)), Fraction(1, 20))
    assert policy.priors == {"visits.time": Truncated(Normal(20, 5), 0, 60)}
    assert policy.path == tmp_path / "nowiser.yaml"
    assert len(policy.digest) == 64


def test_the_hospital_has_linked_persons_and_a_public_table():
    policy = parse(hospital.POLICY.format(format="parquet"))
    patients, stays, wards = policy.tables
    assert stays.link == Link(("patient_id",), "patients", ("id",))
    assert stays.person == ()
    assert (patients.is_public, stays.is_public, wards.is_public) == (False, False, True)
    assert wards.unique == (("ward",),)
    admitted = stays.column("admitted")
    assert (admitted.kind, admitted.low, admitted.high) == (
        Kind.DATE,
        (date(2023, 1, 1) - date(1970, 1, 1)).days,
        (date(2024, 12, 31) - date(1970, 1, 1)).days,
    )
    assert stays.column("emergency").domain == (False, True)


def test_shorthands_and_explicit_forms_of_columns():
    found = columns("""
        a: {public: [x, y, z]}
        b: {sensitive: [1, 5]}
        c: {sensitive: {values: [1, 5]}}
        d: {sensitive: {range: [1, 5]}, kind: integer, grid: 0.5}
        e: {sensitive: [1, 2, 3]}
        f: {sensitive: [0.5, 2, 3]}
        g: {public: [true, false]}
        h: {sensitive: [2020-01-01 00:00:00, 2020-12-31 23:59:59]}
        i: public
        j: {sensitive: integer}
        k: {sensitive: true, kind: date}
        l: {sensitive: [a, b]}
        m: {public: ["1", "2"]}
        n: {public: [NO, SE]}
    """)
    assert found["a"].domain == ("x", "y", "z")
    assert (found["b"].kind, found["b"].low, found["b"].high, found["b"].domain) == (Kind.REAL, 1, 5, None)
    assert (found["c"].kind, found["c"].low, found["c"].high, found["c"].domain) == (Kind.INTEGER, 1, 5, (1, 5))
    assert (found["d"].kind, found["d"].grid, found["d"].domain) == (Kind.INTEGER, Fraction(1, 2), None)
    assert (found["e"].kind, found["e"].domain) == (Kind.INTEGER, (1, 2, 3))
    assert (found["f"].kind, found["f"].domain) == (Kind.REAL, (0.5, 2.0, 3.0))
    assert (found["g"].kind, found["g"].domain) == (Kind.BOOLEAN, (True, False))
    assert (found["h"].kind, found["h"].low) == (Kind.TIMESTAMP, 1577836800 * 10**6)
    assert (found["i"].kind, found["i"].role, found["i"].domain) == (Kind.TEXT, Role.PUBLIC, None)
    assert (found["j"].kind, found["j"].low) == (Kind.INTEGER, None)
    assert found["k"].kind is Kind.DATE
    assert (found["l"].kind, found["l"].domain) == (Kind.TEXT, ("a", "b"))
    assert (found["m"].kind, found["m"].domain) == (Kind.TEXT, ("1", "2"))
    assert found["n"].domain == ("NO", "SE")


def test_missing_values_are_a_secret_only_where_the_custodian_says_so():
    found = columns("""
        a: {sensitive: [0, 1]}
        b: {sensitive: [0, 1], nullable: true}
        c: {public: [0, 1]}
        d: {sensitive: text}
    """)
    assert [found[name].nullable for name in "abcd"] == [False, True, True, True]


def test_decimals_are_exact():
    assert columns("a: {sensitive: [0, 0.3], grid: 1e-2}")["a"].high == Fraction(3, 10)


def test_persons_by_several_columns_by_link_chains_and_by_row():
    policy = parse("""
nowiser: 1
tables:
  people: {person: [town, nr], protect: values, columns: {town: identifier, nr: {identifier: integer}}}
  visits:
    person: {p_town: people.town, p_nr: people.nr}
    unique: [visit, [p_town, p_nr, visit]]
    columns: {p_town: identifier, p_nr: {identifier: integer}, visit: identifier}
  items:
    person: {visit: visits.visit}
    columns: {visit: identifier, price: {sensitive: [0, 9]}}
  census: {person: each row, columns: {age: {sensitive: [0, 120], kind: integer}}}
attackers:
  - {guess: items.price within 1, gain: 0.02}
""")
    people, visits, items, census = policy.tables
    assert people.person == ("town", "nr")
    assert visits.link == Link(("p_town", "p_nr"), "people", ("town", "nr"))
    assert visits.unique == (("visit",), ("p_town", "p_nr", "visit"))
    assert items.link == Link(("visit",), "visits", ("visit",))
    # a linked table protects as the table does in which its persons stand
    assert visits.protect is items.protect is Protect.VALUES
    assert census.row_is_person
    assert not census.is_public
    assert census.protect is Protect.PERSONS
    assert items.source == "items"
    assert policy.attackers[0].gain == Fraction(1, 50)


def test_everything_else_a_policy_may_say():
    policy = parse(
        DESIGN.replace("time: {", "mood: {sensitive: [good, bad]}\n      time: {")
        + """
version: 7
ledger: postgresql://host/ledger
delta: 1e-6
key_delta: 1e-10
analysts: {ann: 50%, bob: 0.25}
independent: [[visits.time], visits.mood]
"""
    )
    assert (policy.version, policy.ledger) == (7, "postgresql://host/ledger")
    assert (policy.delta, policy.key_delta) == (Fraction(1, 10**6), Fraction(1, 10**10))
    assert policy.analysts == {"ann": Fraction(1, 2), "bob": Fraction(1, 4)}
    assert policy.independent == (("visits.time",), ("visits.mood",))
    assert policy.dependents("visits.time") == ("visits.time",)
    assert policy.dependents("visits.student") == ("visits.student",)


def test_undeclared_attributes_depend_on_each_other():
    policy = parse(DESIGN.replace("time: {", "mood: {sensitive: [good, bad]}\n      time: {"))
    assert set(policy.dependents("visits.time")) >= {"visits.time", "visits.mood"}


@pytest.mark.parametrize(
    "engine",
    ["duckdb", "duckdb:///data.duckdb", "postgresql://ann@host/db", "spark", "spark://host:7077", "spark-connect://h"],
)
def test_engines(engine):
    assert parse(DESIGN.replace("engine: duckdb ", f"engine: {engine} ")).engine == engine


@pytest.mark.parametrize("engine", ["sqlite", "duckdb://", "mysql://host", "postgres://host"])
def test_other_engines_are_refused(engine):
    with pytest.raises(Misconfigured, match="engine is not known"):
        parse(DESIGN.replace("engine: duckdb ", f"engine: {engine} "))


def test_a_missing_file_says_how_to_get_one(tmp_path):
    with pytest.raises(Misconfigured, match="nowiser init") as caught:
        read(tmp_path / "nowhere.yaml")
    assert caught.value.exit_code == 3


def test_a_file_that_is_not_text(tmp_path):
    (tmp_path / "p.yaml").write_bytes(b"nowiser: \xff\xfe")
    with pytest.raises(Misconfigured, match="not UTF-8"):
        read(tmp_path / "p.yaml")


def test_windows_line_ends_and_byte_order_mark_are_fine(tmp_path):
    (tmp_path / "p.yaml").write_bytes(b"\xef\xbb\xbf" + DESIGN.replace("\n", "\r\n").encode())
    assert read(tmp_path / "p.yaml").digest == parse(DESIGN).digest
