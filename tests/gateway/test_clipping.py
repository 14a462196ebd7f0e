"""The estimate of what was clipped or left out: its exact part moves no further than its plan says."""

import random

import pytest

import nowiser.gateway
from nowiser.engines.aligned import aligned
from nowiser.sql.bound import clipping
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

POLICY = """
nowiser: 1
tables:
  visits:
    source: {file}
    person: who
    rows_per_person: {most}
    protect: {protect}
    columns:
      who: identifier
      ward: {{public: [A, B]}}
      cost: {{sensitive: [0, 100]}}
attackers:
  - {{guess: visits.cost within 5, gain: 10%}}
"""
ASKED = ("SELECT SUM(cost) FROM visits", "SELECT SUM(cost) FROM visits WHERE ward = 'A'", "SELECT COUNT(*) FROM visits")


def rows_of(rng, who, many):
    return [(who, rng.choice("AB"), rng.choice([-50, 20, 70, 300])) for _ in range(many)]


def marks(folder, rows, most, protect, sql):
    """The exact counts of one database, and how far the plan says they can move."""
    folder.mkdir()
    (folder / "visits.csv").write_text("who,ward,cost\n" + "".join(f"{w},{x},{c}\n" for w, x, c in rows))
    (folder / "nowiser.yaml").write_text(POLICY.format(file="visits.csv", most=most, protect=protect))
    # The salt decides which rows count: neighbours are two states of one gateway, so they share it.
    state = folder / ".nowiser"
    state.mkdir(mode=0o700)
    (state / "prepared.json").write_text('{"salt": "the same"}')
    with nowiser.gateway.open(folder / "nowiser.yaml") as gate:
        planned = plan(clipping.question(read(sql, gate.policy)), gate.policy)
        return [int(c[0]) for c in aligned(gate._engine.run(planned.tally), planned)], planned.reaches


@pytest.mark.parametrize("seed", range(8))
def test_a_person_moves_counts_of_marks_no_further_than_counts_of_rows(tmp_path, seed):
    rng = random.Random(seed)
    most, sql = rng.choice([1, 2, 5]), rng.choice(ASKED)
    others = [r for i in range(6) for r in rows_of(rng, f"p{i}", rng.randrange(0, 12))]
    rng.shuffle(others)
    alice, other = (rows_of(rng, "alice", rng.randrange(1, 14)) for _ in range(2))
    alone, reaches = marks(tmp_path / "without", others, most, "persons", sql)
    with_her, _ = marks(tmp_path / "with", others + alice, most, "persons", sql)
    replaced, _ = marks(tmp_path / "replaced", others + other, most, "persons", sql)
    for without, one, two, reach in zip(alone, with_her, replaced, reaches, strict=True):
        assert abs(one - without) <= reach.presence <= most
        assert abs(one - two) <= reach.jump
    assert any(one != without for one, without in zip(with_her, alone, strict=True)) or "WHERE" in sql


def test_where_persons_are_public_secrets_do_not_move_what_is_left_out(tmp_path):
    rng = random.Random(9)
    rows = [r for i in range(9) for r in rows_of(rng, f"p{i}", rng.randrange(0, 12))]
    moved = [(w, x, rng.choice([-50, 20, 70, 300])) for w, x, _ in rows]
    first, reaches = marks(tmp_path / "one", rows, 2, "values", ASKED[0])
    second, _ = marks(tmp_path / "two", moved, 2, "values", ASKED[0])
    clipped, left_out, every = reaches
    assert clipped.jump == 2
    assert left_out.exact
    assert every.exact
    assert first[1:] == second[1:]
    assert first[1] > 0
