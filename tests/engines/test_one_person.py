"""What the copy makes true: one value per person, and keys that no two persons share."""

from dataclasses import replace

import pytest

from engines.test_engines import ask
from nowiser.engines import connect


def copies(world, text, tables, name="one"):
    """The same rows with and without a stored copy: (policy, engine)."""
    policy, engine = world(text, tables, name=name)
    yield policy, engine
    if world.engine != "duckdb":
        engine.prepare(lambda *_: None)
        yield policy, engine
        return
    bare = replace(policy, engine="duckdb:///?prepare=no")
    engine = connect(bare)
    yield bare, engine
    engine.close()


ALIKE = """
nowiser: 1
tables:
  people:
    source: people.csv
    person: p
    protect: values
    unique: [n]
    columns: {p: {identifier: integer}, n: {identifier: integer}, city: {public: [a, b]}}
  visits:
    source: visits.csv
    person: {%s}
    rows_per_person: 3
    columns:
      who: {identifier: integer}
      day: {public: [0, 9], kind: integer}
      age: {sensitive: [0, 100], one_per_person: true}
      whole: {sensitive: [0, 100], kind: integer, one_per_person: true}
      cost: {sensitive: [0, 100], kind: integer}
attackers: [{guess: visits.age within 2, gain: 10%%}]
"""


@pytest.mark.parametrize("link", ["who: people.p", "who: people.n"])
def test_every_row_of_a_person_has_the_value_of_the_first(world, link):
    people = "p,n,city\n1,1,a\n2,2,b\n"
    visits = (
        "who,day,age,whole,cost\n"
        "1,9,30,30,1\n2,1,,7,20\n1,0,40,40,2\n1,1,500,50,3\n2,2,60,8,30\n1,5,1,1,4\n3,5,99,99,99\n"
    )
    unit = 2**-23  # of a number up to 100: 30 bits
    for policy, engine in copies(world, ALIKE % link, {"people": people, "visits": visits}):
        found = ask(policy, engine, "SELECT SUM(age), SUM(whole), SUM(cost) FROM visits WHERE who = 2")
        assert found == {(): [round(2 * 50 / unit), 14, 50]}  # nothing in the first row: the middle of the range
        (found,) = ask(policy, engine, "SELECT SUM(age), SUM(whole), COUNT(*) FROM visits WHERE who = 1").values()
        assert found == [round(3 * 30 / unit), 90, 3]
        assert ask(policy, engine, "SELECT COUNT(*) FROM visits WHERE age <> 30 AND who = 1") == {(): [0]}


ROWS = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: each row
    unique: [k, n]
    columns:
      k: {identifier: integer}
      n: {identifier: integer}
      x: {sensitive: [0, 9], kind: integer}
  u:
    source: u.csv
    person: {n: t.n}
    rows_per_person: 2
    columns: {n: {identifier: integer}, y: {sensitive: [0, 9], kind: integer}}
attackers: [{guess: t.x exactly, gain: 10%}]
"""
OTHERS = ["1,1,1", "2,2,2", "3,3,3", "3,4,4", ",5,5", "6,,6"]
ALICES = ["7,7,9", "1,7,9", "7,1,9", "3,7,9", "7,4,9", "1,2,9", "3,2,9", ",7,9", ",5,9", "6,,9", ",,9"]
THEIRS = [f"{n},{y}" for n in (1, 2, 3, 4, 5, 7, "") for y in (1, 2)]


@pytest.mark.parametrize("place", [0, len(OTHERS)])
def test_a_row_that_is_a_person_never_moves_more_than_one(world, place):
    """Whatever keys she has, with her at most one row of the table comes or goes, and one person's rows of the other."""
    found = {}
    for i, hers in enumerate([None, *(ALICES if world.engine == "duckdb" else ALICES[:6])]):
        rows = [*OTHERS[:place], *([hers] if hers else []), *OTHERS[place:]]
        tables = {"t": "k,n,x\n" + "\n".join(rows) + "\n", "u": "n,y\n" + "\n".join(THEIRS) + "\n"}
        for j, (policy, engine) in enumerate(copies(world, ROWS, tables, f"case{i}")):
            for name, key in (("t", "x"), ("u", "y")):
                groups = ask(policy, engine, f"SELECT {key}, COUNT(*) FROM {name} GROUP BY {key}")
                found[hers, j, name] = {k: v[0] for k, v in groups.items()}
    for (hers, j, name), groups in found.items():
        without = found[None, j, name]
        moves = [abs(groups.get(k, 0) - without.get(k, 0)) for k in {*groups, *without}]
        assert sum(moves) <= (1 if name == "t" else 2), (hers, groups, without)


LED = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: p
    unique: [k]
    columns: {p: {identifier: integer}, k: {identifier: integer}, x: {sensitive: [0, 9], kind: integer}}
  u:
    source: u.csv
    person: {fk: t.k}
    rows_per_person: 2
    columns: {fk: {identifier: integer}, y: {sensitive: [0, 9], kind: integer}}
attackers: [{guess: t.x exactly, gain: 10%}]
"""


def test_no_linked_row_is_two_persons(world):
    u = "fk,y\n" + "".join(f"{k},{y}\n" for k in (1, 2, 3) for y in (1, 2, 3))
    without = "p,k,x\n1,1,1\n2,2,2\n"
    found = {}
    for name, more in (("without", ""), ("collided", "3,1,3\n"), ("alone", "3,3,3\n")):
        found[name] = [
            [ask(policy, engine, f"SELECT COUNT(*) FROM {table}")[()][0] for table in ("t", "u")]
            for policy, engine in copies(world, LED, {"t": without + more, "u": u}, name)
        ]
    assert found == {"without": [[2, 4]] * 2, "collided": [[1, 2]] * 2, "alone": [[3, 6]] * 2}


def test_keys_of_several_rows_lead_to_nobody_where_two_persons_have_them(world):
    text = LED.replace("    unique: [k]", "    rows_per_person: 2\n    unique: [k]")
    t = "p,k,x\n1,1,1\n1,2,1\n2,2,2\n2,3,2\n"
    u = "fk,y\n" + "".join(f"{k},{k}\n" for k in (1, 2, 2, 3))
    for policy, engine in copies(world, text, {"t": t, "u": u}):
        found = ask(policy, engine, "SELECT y, COUNT(*) FROM u GROUP BY y")
        assert {y: n for (y,), (n,) in found.items() if n} == {1: 1, 3: 1}
        assert ask(policy, engine, "SELECT COUNT(*) FROM t") == {(): [4]}
