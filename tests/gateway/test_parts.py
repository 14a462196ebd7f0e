"""Questions about one value of a partition concern the persons with that value, and are charged there alone."""

import os
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, event, given, settings, strategies as st

import nowiser as nw
from nowiser.engines.reference import tally_rows
from nowiser.errors import Exhausted, Misconfigured, NotAnswerable
from nowiser.policy import parse
from nowiser.sql.plan.parts import cells
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read
from support.strategies import CONDITIONS, policies, questions, tables, values

POLICY = """\
nowiser: 1
tables:
  visits:
    source: visits.csv
    person: student
    rows_per_person: {rows}
    protect: values
    partition: faculty
    columns:
      student: identifier
      faculty: {{public: [math, physics, law]}}
      time: {{sensitive: [0, 60], prior: {{normal: {{mean: 20, sd: 5}}}}}}
attackers:
  - {{guess: visits.time within 2, gain: 5%}}
answers: {{spend: 5%}}
"""


@pytest.fixture
def folder(tmp_path):
    rows = [f"s{i},{('math', 'physics', 'law')[i % 3]},{i % 40}" for i in range(600)]
    (tmp_path / "visits.csv").write_text("student,faculty,time\n" + "\n".join(rows))
    (tmp_path / "nowiser.yaml").write_text(POLICY.format(rows=1))
    return tmp_path


def about(sql, policy):
    found = cells(read(sql, policy).relation, policy)
    return None if found is None else [value for _, value in found]


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("faculty = 'math'", ["math"]),
        ("'math' = faculty", ["math"]),
        ("faculty IN ('math', 'law')", ["law", "math"]),
        ("faculty = 'math' OR faculty = 'law' AND time > 3", ["law", "math"]),
        ("(faculty = 'math' OR faculty = 'law') AND faculty <> 'law' AND faculty IN ('math', 'physics')", ["math"]),
        ("faculty = 'math' AND faculty = 'law'", None),  # nobody
        ("faculty IN ('math', 'law', 'physics')", None),  # everybody
        ("faculty <> 'math'", None),  # also persons whose faculty is not declared
        ("NOT faculty = 'math'", None),
        ("faculty = 'math' OR time > 3", None),
        ("UPPER(faculty) = 'MATH'", None),
        ("faculty LIKE 'math'", None),
        ("faculty IS NULL", None),
        ("time > 3", None),
    ],
)
def test_a_condition_names_cells_only_by_their_values(folder, where, found):
    policy = parse((folder / "nowiser.yaml").read_text(), folder / "nowiser.yaml")
    assert about(f"SELECT COUNT(*) FROM visits WHERE {where}", policy) == found


DAYS = POLICY.format(rows=1).replace("person: student", "person: [student, day]").replace(
    "partition: faculty", "partition: day"
).replace("columns:\n", "columns:\n      day: {public: {range: [2026-01-01, 2026-01-31]}}\n")  # fmt: skip


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("day = '2026-01-03'", [3]),
        ("day BETWEEN '2026-01-03' AND '2026-01-05'", [3, 4, 5]),
        ("day > '2026-01-03' AND day < '2026-01-06'", [4, 5]),
        ("day >= '2026-01-30'", [30, 31]),
        ("'2026-01-02' >= day", [1, 2]),
        ("day < '2026-01-02' OR '2026-01-30' < day", [1, 31]),
        ("day <= '2026-01-02' AND day <> '2026-01-01'", [1, 2]),
        ("day > '2025-01-01'", None),  # everybody
        ("day > '2027-01-01'", None),  # nobody
        ("day < '2026-01-02' OR time > 3", None),
        ("NOT day > '2026-01-02'", None),
        ("day + 1 < '2026-01-03'", None),
    ],
)
def test_days_are_named_by_ranges(tmp_path, where, found):
    policy = parse(DAYS, tmp_path / "nowiser.yaml")
    first = next(int(about(f"SELECT COUNT(*) FROM visits WHERE {w}", policy)[0]) for w in ["day = '2026-01-01'"])
    named = about(f"SELECT COUNT(*) FROM visits WHERE {where}", policy)
    assert (named and sorted(int(n) - first + 1 for n in named)) == found


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(st.data())
def test_nobody_of_another_cell_moves_anything(data):
    """Brute force of the rule: persons whose key is none of the cells come, go and change, and no cell moves."""
    policy = data.draw(policies())
    policy = replace(policy, tables=(replace(policy.tables[0], partition="g"),))
    where = data.draw(st.sampled_from(["g = 'a'", "g IN ('a', 'b')", "(g = 'b' OR g = 'c')", "g <> 'a'"]))
    sql = data.draw(questions())
    rest = f" AND ({data.draw(CONDITIONS)})" if data.draw(st.booleans()) else ""
    head, _, tail = sql.partition(" WHERE ")[0].partition(" GROUP BY ")
    if data.draw(st.booleans()):  # numbered within persons, before or after the cell is demanded
        inside = data.draw(st.sampled_from(["", f" WHERE {where}"]))
        numbered = f"(SELECT *, ROW_NUMBER() OVER (PARTITION BY p ORDER BY w) AS nr FROM t{inside}) AS t"
        head, where = head.replace(" FROM t", f" FROM {numbered}"), data.draw(st.sampled_from(["nr = 1", where]))
    try:
        found = plan(read(f"{head} WHERE {where}{rest}" + (f" GROUP BY {tail}" if tail else ""), policy), policy)
    except NotAnswerable:
        assume(False)
    mine = cells(found.query.relation, policy)
    assume(mine is not None)
    fixed: dict[int, str | None] = {}
    rows = [{**r, "g": fixed.setdefault(r["p"], r["g"])} for r in data.draw(tables(policy))]
    others = {p for p, key in fixed.items() if ("t.g", str(key)) not in mine}
    event(f"others {bool(others)}")
    secret = [c for c in policy.tables[0].columns if c.secret and c.name != "p"]
    changed = [r if r["p"] not in others else {**r, **{c.name: data.draw(values(c)) for c in secret}} for r in rows]
    without = [r for r in rows if r["p"] not in others]
    before, *after = (tally_rows(found.tally, {"t": kept}) for kept in (rows, changed, without))
    for one in after:
        assert {g: c for g, c in one.items() if any(c)} == {g: c for g, c in before.items() if any(c)}


def test_math_and_then_physics_cost_once(folder):
    with nw.open(folder / "nowiser.yaml") as gw:

        def left(sql):
            return gw.query(sql, anyway=True).left

        for name in ("math", "physics", "law"):
            assert left(f"SELECT AVG(time) FROM visits WHERE faculty = '{name}'") == pytest.approx(0.95, abs=1e-3)
        assert left("SELECT AVG(time) FROM visits") == pytest.approx(0.90, abs=1e-3)
        math_and_law = "SELECT AVG(time + 1) FROM visits WHERE faculty IN ('law', 'math')"
        assert left(math_and_law) == pytest.approx(0.85, abs=1e-3)
        assert left("SELECT AVG(time + 2) FROM visits WHERE faculty = 'physics'") == pytest.approx(0.85, abs=1e-3)


def test_the_allowance_of_a_cell_is_used_up_alone(folder):
    with nw.open(folder / "nowiser.yaml") as gw:
        for i in range(2):
            gw.query(f"SELECT AVG(time + {i}) FROM visits WHERE faculty = 'math'", spend="50%")
        with pytest.raises(Exhausted):
            gw.query("SELECT AVG(time + 3) FROM visits WHERE faculty = 'math'")
        with pytest.raises(Exhausted):  # mathematicians are among all
            gw.query("SELECT AVG(time + 4) FROM visits")
        gw.query("SELECT AVG(time + 5) FROM visits WHERE faculty = 'law'", spend="90%")


def test_eight_processes_use_up_each_cell_exactly_once(folder):
    policy = folder / "nowiser.yaml"
    nw.open(policy).close()
    children = []
    for worker in range(8):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                granted = 0
                with nw.open(policy) as gw:
                    for i in range(3):
                        for name in ("math", "law"):
                            try:
                                gw.query(
                                    f"SELECT AVG(time + {worker * 10 + i}) FROM visits WHERE faculty = '{name}'",
                                    spend="20%",
                                )
                                granted += 1
                            except Exhausted:
                                pass
                status = 100 + granted
            finally:
                os._exit(status)
        children.append(child)
    granted = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) - 100 for child in children]
    assert min(granted) >= 0
    assert sum(granted) == 10  # five of 20 % in each of two cells
    with nw.open(policy) as gw:
        gw.query("SELECT AVG(time) FROM visits WHERE faculty = 'physics'", spend="99%")


def test_a_person_cannot_move_between_cells(folder):
    """Somebody with rows in two cells counts in that of her first row, whatever is asked."""
    (folder / "visits.csv").write_text(
        "student,faculty,time\na,math,10\na,law,10\nb,law,20\nb,math,20\nc,,5\nc,math,5\nd,art,1\n"
    )
    (folder / "nowiser.yaml").write_text(POLICY.format(rows=2))
    with nw.open(folder / "nowiser.yaml") as gw:
        answer = gw.query("SELECT faculty, COUNT(*) AS n FROM visits GROUP BY faculty")
        assert dict(answer.rows) == {"math": 2, "physics": 0, "law": 2}


def test_a_day_of_a_person(tmp_path):
    (tmp_path / "visits.csv").write_text(
        "student,day,time\n" + "\n".join(f"s{i},{d},{i % 50}" for i in range(200) for d in (1, 2, 3))
    )
    (tmp_path / "nowiser.yaml").write_text(
        POLICY.format(rows=1)
        .replace("person: student", "person: [student, day]")
        .replace("partition: faculty", "partition: day")
        .replace("faculty: {public: [math, physics, law]}", "day: {public: [1, 366], kind: integer}")
    )
    with nw.open(tmp_path / "nowiser.yaml") as gw:
        for day in (1, 2, 3):
            ask = f"SELECT COUNT(*) AS n, AVG(time) AS minutes FROM visits WHERE day = {day}"
            answer = gw.query(ask, anyway=True)
            assert answer.rows[0][0] == 200
            assert answer.left == pytest.approx(0.95, abs=1e-3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("partition: faculty", "partition: time"), "cannot be a partition"),
        (("partition: faculty", "partition: nothing"), "has no column 'nothing'"),
        (("[math, physics, law]", "text"), "are not declared"),
        (("[math, physics, law]", "[math, Math]"), "could be taken for the same"),
    ],
)
def test_what_cannot_be_a_partition(change, said):
    with pytest.raises(Misconfigured, match=said):
        parse(POLICY.format(rows=1).replace(*change))
