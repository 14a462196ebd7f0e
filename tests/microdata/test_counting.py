"""A release under a policy reads the rows that count, as SQL does; its promise is held against an attacker who sees them.

The attackers here reckon posteriors from the definition of the mechanisms alone, and share no code with nowiser.
"""

import math

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from nowiser.errors import Misconfigured
from nowiser.microdata.for_policy import charged, from_policy
from nowiser.microdata.publish import release
from nowiser.microdata.recipe import parse
from nowiser.microdata.table.read import load
from nowiser.model.charge import PICO, Account
from support.commands import nowiser

POLICY = """
nowiser: 1
engine: duckdb
tables:
  people:
    source: SOURCE
    person: id
    rows_per_person: MOST
    protect: values
    columns:
      id: {identifier: integer}
      town: {public: [north, south, isle]}
      ill: {sensitive: {values: [flu, HIV]}, nullable: false}
      age: {sensitive: [0, 100], kind: integer, prior: uniform}
attackers:
  - {guess: people.ill exactly, gain: 49%}
"""
JUMP, SCALE = 1.0, 80.0
RESPONSE = {"private_response": {"table": "people", "column": "ill", "among": ["flu", "HIV"], "jump": JUMP}}
NOISE = {"private_noise": {"table": "people", "column": "age", "low": 0, "high": 100, "scale": SCALE}}
OTHERS = 40


def rows(ill="HIV", age=99, many=60):
    """Everybody has one row but the victim, who lives alone on the isle and has many."""
    found = [(i, ("north", "south")[i % 2], ("flu", "HIV")[i // 2 % 2], i) for i in range(OTHERS)]
    victim = [(1000, "isle", ill, age)] * many
    return found[: OTHERS // 2] + victim + found[OTHERS // 2 :]


def as_csv(folder, data):
    text = "\n".join(",".join("" if v is None else str(v) for v in row) for row in data)
    (folder / "people.csv").write_text(f"id,town,ill,age\n{text}\n", encoding="utf-8")
    return "people.csv"


def as_parquet(folder, data):
    columns = zip(("id", "town", "ill", "age"), zip(*data, strict=True), strict=True)
    pq.write_table(pa.table({name: list(values) for name, values in columns}), folder / "people.parquet")
    return "people.parquet"


def as_table(folder, data):
    with duckdb.connect(str(folder / "data.duckdb")) as c:
        c.execute("CREATE OR REPLACE TABLE people (id BIGINT, town VARCHAR, ill VARCHAR, age BIGINT)")
        c.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", data)
    return "data.duckdb#people"


def policy(folder, source, most=1):
    path = folder / "nowiser.yaml"
    text = POLICY.replace("SOURCE", source).replace("MOST", str(most))
    if source.startswith("data.duckdb"):
        text = text.replace("engine: duckdb", "engine: duckdb:///data.duckdb").replace("data.duckdb#people", "people")
    path.write_text(text, encoding="utf-8")
    return path


def published(path, steps, *, admitted=True):
    """`admitted`: also by the allowance; else only what it would be charged."""
    source = from_policy(path, None, None)
    recipe = {"quasi": [], "sensitive": ["ill", "age"], "identifiers": ["id"], "keep": ["town"], "steps": steps}
    only = [s for s in ("ill", "age") if any(next(iter(step.values()))["column"] == s for step in steps)]
    made = source.promised(parse(recipe | {"sensitive": only}))
    return release(source.needed(), made, check=source.check if admitted else None, counting=source.counting)


def of_victim(made, column):
    table = made.to_arrow().to_pydict()
    return [v for v, town in zip(table[column], table["town"], strict=True) if town == "isle"]


def printed(made, column):
    (bound,) = [g for g in made.chosen.guesses if g.column == column]
    return bound.before, bound.after


def posterior(before, likelihoods):
    """Of the first of two worlds, given how likely each makes what was seen."""
    one, two = (math.prod(x) for x in zip(*likelihoods, strict=True))
    return before * one / (before * one + (1 - before) * two)


def told(value, world):
    """Warner's two answers: the truth with e^jump to 1."""
    keep = math.exp(JUMP) / (1 + math.exp(JUMP))
    return keep if value == world else 1 - keep


def drawn(value, truth):
    """Two-sided geometric noise, up to a factor that is the same for every truth."""
    return math.exp(-abs(value - truth) / SCALE)


@pytest.mark.parametrize("place", [as_csv, as_parquet, as_table])
def test_nobody_learns_more_than_is_printed_of_somebody_with_many_rows(tmp_path, place):
    path = policy(tmp_path, place(tmp_path, rows()))
    worst = 0.0
    for _ in range(12):
        made = published(path, [RESPONSE])
        seen = of_victim(made, "ill")
        assert len(seen) == 1
        assert (made.rows, made.beyond, made.table.rows) == (OTHERS + 1, 59, OTHERS + 1)
        before, after = printed(made, "ill")
        for world, other in (("HIV", "flu"), ("flu", "HIV")):
            found = posterior(before, [(told(v, world), told(v, other)) for v in seen])
            assert found <= after + 1e-9
            worst = max(worst, found)
        assert charged(made.chosen)[Account("jump", ("people.ill",))] == pytest.approx(JUMP * PICO, rel=1e-3)
    assert worst == pytest.approx(after, abs=1e-3)  # and one of the worlds is as likely as is printed


@pytest.mark.parametrize("place", [as_csv, as_parquet])
def test_of_several_rows_each_is_paid_for(tmp_path, place):
    path = policy(tmp_path, place(tmp_path, rows()), most=3)
    step = {"private_response": RESPONSE["private_response"] | {"rows_per_person": 3}}
    worst = 0.0
    for _ in range(12):
        made = published(path, [step], admitted=False)
        seen = of_victim(made, "ill")
        assert len(seen) == 3
        before, after = printed(made, "ill")
        found = posterior(before, [(told(v, "HIV"), told(v, "flu")) for v in seen])
        worst = max(worst, found, 1 - posterior(1 - before, [(told(v, "HIV"), told(v, "flu")) for v in seen]))
        assert worst <= after + 1e-9
    assert charged(made.chosen)[Account("jump", ("people.ill",))] == pytest.approx(3 * JUMP * PICO, rel=1e-3)


def test_noise_is_told_once(tmp_path):
    path = policy(tmp_path, as_csv(tmp_path, rows(age=100)))
    for _ in range(6):
        made = published(path, [NOISE])
        seen = [float(v) for v in of_victim(made, "age")]
        before, after = printed(made, "age")
        assert posterior(before, [(drawn(v, 100), drawn(v, 0)) for v in seen]) <= after + 1e-9


def test_rows_that_move_by_themselves_are_charged_whole(tmp_path):
    """One row by distance, the others as if they could be anything: a prior may tie them together in any way."""
    path = policy(tmp_path, as_csv(tmp_path, rows()), most=3)
    step = {"private_noise": NOISE["private_noise"] | {"rows_per_person": 3}}
    charge = charged(published(path, [step], admitted=False).chosen)
    slope = charge[Account("slope", ("people.age",))] / PICO
    jump = charge[Account("jump", ("people.age",))] / PICO
    # rows (50, 0, 0) and (51, 100, 100) of a person, whose first is what is guessed: one apart in what is guessed
    most = sum(abs(math.log(drawn(v, x) / drawn(v, y))) for v, x, y in ((200, 50, 51), (200, 0, 100), (200, 0, 100)))
    assert most <= slope * 1 + jump + 1e-9


def test_columns_that_tell_about_each_other_share_one_ceiling(tmp_path):
    """Whoever knows that the ill are old sees the illness twice: in its own column and in the age."""
    path = policy(tmp_path, as_csv(tmp_path, rows(many=1, age=100)))
    worst = 0.0
    for _ in range(20):
        made = published(path, [RESPONSE, NOISE], admitted=False)
        (ill,), (age,) = of_victim(made, "ill"), of_victim(made, "age")
        before, after = printed(made, "ill")
        assert printed(made, "age") == (before, after)
        seen = [(told(ill, "HIV"), told(ill, "flu")), (drawn(float(age), 100), drawn(float(age), 0))]
        worst = max(worst, posterior(before, seen))
        assert worst <= after + 1e-9
    alone = 1 / (1 + math.exp(JUMP / 2)) + math.tanh(JUMP / 4)  # what the illness alone would let him guess
    assert after > alone


# -- which rows -------------------------------------------------------------------------------------------


def counted(path, data):
    source = from_policy(path, None, None)
    return source.counting.of(load(data)).to_arrow().to_pylist()


def table_of(data):
    return pa.table(dict(zip(("id", "town", "ill", "age"), map(list, zip(*data, strict=True)), strict=True)))


def test_which_rows_count_looks_at_nobody_else_and_at_no_secret(tmp_path):
    random = np.random.default_rng(3)
    data = [(int(i), "north", str(random.choice(["flu", "HIV"])), k) for k, i in enumerate(random.integers(0, 30, 300))]
    path = policy(tmp_path, as_csv(tmp_path, data), most=2)
    whole = counted(path, table_of(data))
    assert len(whole) == 60
    assert max(sum(r["id"] == i for r in whole) for i in range(30)) == 2
    without = counted(path, table_of([row for row in data if row[0] != 7]))
    assert without == [r for r in whole if r["id"] != 7]
    changed = counted(path, table_of([(i, t, "HIV" if s == "flu" else "flu", a) for i, t, s, a in data]))
    assert [r["age"] for r in changed] == [r["age"] for r in whole]
    assert counted(path, table_of(data)) == whole  # two releases show the same rows


def test_spellings_of_one_person_are_one_and_rows_of_nobody_do_not_count(tmp_path):
    data = [("7", "north", "flu", 1), ("07", "north", "HIV", 2), (None, "north", "flu", 3), ("8", "south", "flu", 4)]
    path = policy(tmp_path, as_csv(tmp_path, data))
    text = [tuple(None if v is None else str(v) for v in row) for row in data]
    assert [r["id"] for r in counted(path, table_of(text))] in (["7", "8"], ["07", "8"])


LINKED = """
nowiser: 1
tables:
  people:
    source: people.csv
    person: id
    protect: values
    columns:
      id: {identifier: integer}
      town: {public: [north, south, isle]}
      ill: {sensitive: {values: [flu, HIV]}, nullable: false}
      age: {sensitive: [0, 100], kind: integer}
  stays:
    source: stays.csv
    person: {patient: people.id}
    rows_per_person: 2
    protect: values
    unique: [stay]
    columns:
      stay: {identifier: integer}
      patient: {identifier: integer}
      cause: {sensitive: {values: [flu, HIV]}, nullable: false}
  bills:
    source: bills.csv
    person: {stay: stays.stay}
    rows_per_person: 3
    protect: values
    columns:
      stay: {identifier: integer}
      item: {sensitive: {values: [bed, drug]}, nullable: false}
attackers:
  - {guess: people.ill exactly, gain: 49%}
"""


@pytest.mark.parametrize(("table", "column", "most"), [("stays", "cause", 2), ("bills", "item", 3)])
def test_rows_of_linked_tables_are_limited_by_person(tmp_path, table, column, most):
    as_csv(tmp_path, [(i, "north", "flu", 1) for i in range(10)])
    stays = [(i, i % 5, ("flu", "HIV")[i % 2]) for i in range(50)] + [(99, 77, "flu")]  # the last of nobody
    bills = [(i % 50, ("bed", "drug")[i % 2]) for i in range(400)]
    for name, header, data in (("stays", "stay,patient,cause", stays), ("bills", "stay,item", bills)):
        text = "\n".join(",".join(map(str, row)) for row in data)
        (tmp_path / f"{name}.csv").write_text(f"{header}\n{text}\n", encoding="utf-8")
    path = tmp_path / "nowiser.yaml"
    path.write_text(LINKED, encoding="utf-8")
    source = from_policy(path, table, None)
    found = source.counting.of(load(source.data)).to_arrow().to_pylist()
    patients = {str(stay): patient for stay, patient, _ in stays}
    whose = [patients[r["stay"]] for r in found]
    assert max(whose.count(p) for p in whose) == most
    assert set(whose) == set(range(5))


# -- where it is said -------------------------------------------------------------------------------------


def test_the_command_says_how_many_rows_do_not_count(tmp_path):
    policy(tmp_path, as_csv(tmp_path, rows()))
    (tmp_path / "recipe.yaml").write_text(
        "quasi: []\nsensitive: [ill]\nidentifiers: [id]\nkeep: [town]\nsteps:\n"
        "  - private_response: {table: people, column: ill, among: [flu, HIV], jump: 1}\n",
        encoding="utf-8",
    )
    words = ("publish", "-p", "nowiser.yaml", "--recipe", "recipe.yaml", "-o", "out.csv")
    done = nowiser(tmp_path, *words)
    assert done.returncode == 0, done.stderr
    assert "59 rows do not count" in done.stdout
    assert (tmp_path / "out.csv").read_text().count("isle") == 1
    assert '"rows_beyond": 59' in nowiser(tmp_path, *words, "--force", "--json").stdout


def test_a_release_with_more_rows_than_are_paid_for_is_refused(tmp_path):
    path = policy(tmp_path, as_csv(tmp_path, rows()))
    source = from_policy(path, None, None)
    recipe = source.promised(
        parse({"quasi": [], "sensitive": ["ill"], "identifiers": ["id"], "keep": ["town"], "steps": [RESPONSE]})
    )
    with pytest.raises(Misconfigured, match="more rows of a person than count"):
        release(source.needed(), recipe, check=source.check)


def test_rows_in_a_stream_must_all_count(tmp_path):
    source = from_policy(policy(tmp_path, as_csv(tmp_path, rows())), None, None)
    recipe = source.promised(parse({"quasi": ["town"], "sensitive": [], "identifiers": ["id"]}))
    with pytest.raises(Misconfigured, match="more rows in the file"):
        release(source.needed(), recipe, counting=source.counting, stream=True)
    as_csv(tmp_path, rows(many=1))
    assert release(source.needed(), recipe, counting=source.counting, stream=True).rows == OTHERS + 1
    as_csv(tmp_path, [*rows(many=1), (None, "north", "flu", 1)])
    with pytest.raises(Misconfigured, match="more rows in the file"):
        release(source.needed(), recipe, counting=source.counting, stream=True)
