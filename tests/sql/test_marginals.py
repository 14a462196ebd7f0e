"""Grouping sets as sums of the finest: never further than the plan says, unbiased, consistent, with bars that hold."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

import nowiser
from nowiser.engines.reference import tally_rows
from nowiser.errors import NotAnswerable
from nowiser.model.schema import Kind, Protect, Role
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read
from support.strategies import policies, tables, values

PATIENT = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])  # fmt: skip
SETS = st.sampled_from(
    ["ROLLUP (g, s)", "CUBE (g, k)", "GROUPING SETS ((g), (s))", "GROUPING SETS ((g, s), (k), ())", "CUBE (g, s, k)"]
)
ASKED = st.sampled_from(["COUNT(*)", "SUM(w)", "COUNT(v)", "AVG(v)", "VAR_POP(w)", "SUM(w) FILTER (WHERE s = 'x')"])


def summed(sql, policy):
    try:
        found = plan(read(sql, policy), policy)
    except NotAnswerable:
        assume(False)
    ways = [w for w in found.ways if w.summed is not None]
    assume(bool(ways))
    return found.through(ways[0].summed), found


def finest(found, rows):
    """Cells of every finest group, exact."""
    cells = tally_rows(found.tally, {"t": rows})
    none = [0] * len(found.tally.cells)
    return [np.array([cells.get(g, none)[i] for g in found.summed.groups]) for i in range(len(none))]


def asked(data):
    where = data.draw(st.sampled_from(["", " WHERE w > 0", " WHERE k IN (1, 2)", " WHERE g <> 'b'"]))
    return f"SELECT {data.draw(ASKED)} FROM t{where} GROUP BY {data.draw(SETS)}"


@PATIENT
@given(st.data())
def test_sums_of_the_finest_are_the_sets(data):
    """Rows without a value for a key count where the key is left out, and nowhere else."""
    policy = data.draw(policies())
    found, apart = summed(asked(data), policy)
    rows = data.draw(tables(policy))
    true = tally_rows(apart.tally, {"t": rows})
    none = [0] * len(found.tally.cells)
    for i, cell in enumerate(finest(found, rows)):
        at = 0
        sums = found.summed.sums(cell)
        for place, (one, part) in enumerate(zip(apart.groups.sets, apart.groups.parts, strict=True)):
            for group in part:
                key = dict(zip(one, group, strict=True))
                whole = (*(key.get(k) for k in range(len(apart.query.keys))), place)
                assert sums[at] == true.get(whole, none)[i]
                at += 1
        assert at == len(sums) == len(apart.groups)


@PATIENT
@given(st.data())
def test_nobody_moves_the_finest_further_than_the_plan_says(data):
    policy = data.draw(policies())
    table = policy.tables[0]
    found, _ = summed(asked(data), policy)
    rows = data.draw(tables(policy))
    person = data.draw(st.sampled_from(sorted({r["p"] for r in rows})))
    secret = [c for c in table.columns if c.role is Role.SENSITIVE]
    other = [r if r["p"] != person else {**r, **{c.name: data.draw(values(c)) for c in secret}} for r in rows]
    for reach, a, b in zip(found.reaches, finest(found, rows), finest(found, other), strict=True):
        off = np.abs(a.astype(object) - b.astype(object))
        assert off.sum() <= reach.jump
        assert (off * off).sum() <= reach.jump_squared
    if table.protect is Protect.PERSONS:
        without = [r for r in rows if r["p"] != person]
        for reach, a, b in zip(found.reaches, finest(found, rows), finest(found, without), strict=True):
            assert np.abs(a.astype(object) - b.astype(object)).sum() <= reach.presence


POLICY = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: id
    columns:
      id: {identifier: integer}
      a: {sensitive: {values: [x, y]}, nullable: true}
      b: {sensitive: [1, 4], kind: integer, nullable: false}
      far: {sensitive: [0, 3000], kind: integer, nullable: false}
      cost: {sensitive: [0, 100], nullable: false}
attackers:
  - {guess: present in t, gain: 40%}
answers: {spend: 100%}
"""


@pytest.fixture
def ask(tmp_path):
    """Asks under a new account each time."""
    lines = [f"{i},{'xy '[i % 3].strip()},{i % 4 + 1},{i},{i % 100}" for i in range(600)]
    (tmp_path / "t.csv").write_text("id,a,b,far,cost\n" + "\n".join(lines) + "\n")
    (tmp_path / "nowiser.yaml").write_text(POLICY)
    opened = []

    def question(sql, method="query", **wish):
        for left in (tmp_path / ".nowiser").glob("ledger*"):
            left.unlink()
        opened.append(nowiser.open(tmp_path / "nowiser.yaml"))
        return getattr(opened[-1], method)(sql, **wish)

    yield question
    for gate in opened:
        gate.close()


def named(answer):
    return answer.notes[0]


def test_the_cheaper_is_chosen_and_named(ask):
    cube = "SELECT a, b, COUNT(*) FROM t GROUP BY CUBE (a, b)"
    assert "coarser sets are sums of the finest, measured once" in named(ask(cube, "explain"))
    # 9,003 noises for 3,003 numbers: measured one by one
    assert "sums" not in named(ask("SELECT a, far, COUNT(*) FROM t GROUP BY GROUPING SETS ((a), (far))", "explain"))
    assert "sums" in named(ask("SELECT a, b, COUNT(*) FROM t GROUP BY GROUPING SETS ((b), (a, b))", "explain"))
    # different values do not add up
    assert "sums" not in named(ask("SELECT a, b, COUNT(DISTINCT far) FROM t GROUP BY CUBE (a, b)", "explain"))


def test_parts_add_up_to_totals_and_cost_one(ask):
    cube = ask("SELECT a, b, COUNT(*) AS n FROM t GROUP BY CUBE (a, b)")
    plain = ask("SELECT a, b, COUNT(*) AS n FROM t GROUP BY a, b")
    shown = {(a, b): n for a, b, n in cube.rows}
    for a in ("x", "y"):
        assert shown[a, None] == sum(shown[a, b] for b in range(1, 5))
    assert shown[None, None] == sum(shown[None, b] for b in range(1, 5))
    bars = {(a, b): e[2] for (a, b, _), e in zip(cube.rows, cube.errors(), strict=True)}
    assert bars["x", 1] == plain.errors()[0][2], "the finest is as precise as if it had been asked alone"
    assert bars["x", 1] < bars["x", None] < bars[None, None]
    assert cube.cost == plain.cost


def test_unbiased_and_inside_its_bars(ask):
    """A third of the rows has no `a`: they count in the total. Each bar fails at most 5 % of the time."""
    off, outside, every = [], 0, 0
    for _ in range(60):
        answer = ask("SELECT a, b, COUNT(*) AS n, SUM(cost) AS c FROM t GROUP BY CUBE (a, b)", spend="100%")
        for (a, b, n, c), errors in zip(answer.rows, answer.errors(), strict=True):
            own = [i for i in range(600) if a in (None, "xy "[i % 3].strip()) and b in (None, i % 4 + 1)]
            true = len(own), sum(i % 100 for i in own)
            if a is None and b is None:
                off.append((n - true[0]) / errors[2])
            outside += (abs(n - true[0]) > errors[2]) + (abs(c - true[1]) > errors[3])
            every += 2
    # 60 means of deviation about 0.5 bars: |mean| above 0.4 happens once in 10^9
    assert abs(np.mean(off)) < 0.4
    # numbers of one answer share noise: 60 independent answers, so a wide margin
    assert outside <= 0.12 * every


def test_the_error_asked_for_is_kept(ask):
    answer = ask("SELECT a, b, COUNT(*) AS n FROM t GROUP BY ROLLUP (a, b)", "explain", error=60)
    assert answer.error[2] <= 60
    assert answer.error[2] > 30, "and not bought too dearly"


def test_widths_follow_the_number_of_noises():
    from nowiser.noise.laplace import Laplace
    from nowiser.sql.plan.groups import Groups
    from nowiser.sql.plan.marginals import Marginals

    m = Marginals(Groups((("x", "y", None), (1, 2, 3, 4))), (2, 4), ((0, 1), (0,), ()), ())
    assert m.added == (1, 4, 12)
    assert m.numbers == (8, 2, 1)
    bars = m.widths(Laplace(10), Fraction(95, 100))
    assert len(bars) == 11
    assert bars[0] == float(Laplace(10).half_width())
    assert bars[8] == pytest.approx(10 * 2 * 2**0.5 * 1.96, rel=0.08)
    sums = m.sums(np.arange(12))
    assert sums[:8].tolist() == list(range(8))
    assert sums[8:].tolist() == [6, 22, 66]
    large = m.sums(np.full(12, 2**61))
    assert large[-1] == 12 * 2**61, "sums that no 64 bits hold stay whole"


def test_two_sets_without_their_product(ask):
    answer = ask("SELECT a, b, COUNT(*) AS n FROM t GROUP BY GROUPING SETS ((a), (b))")
    assert len(answer.rows) == 6
    assert [r[:2] for r in answer.rows] == [("x", None), ("y", None), *((None, b) for b in range(1, 5))]


@pytest.mark.parametrize(
    ("kind", "keys", "domain", "codes"),
    [
        (Kind.TEXT, ["x", None, "None", "y"], ("x", "y", None), [0, 2, -1, 1]),
        (Kind.TEXT, ["x", None, "None"], ("x", "None"), [0, -1, 1]),
        (Kind.INTEGER, [0, None, 4, 2], (2, 4, None), [-1, 2, 1, 0]),
        (Kind.INTEGER, [None, None], (0, None), [1, 1]),
        (Kind.BOOLEAN, [True, None, False], (False, True, None), [1, 2, 0]),
        (Kind.INTEGER, [1, None], (None,), [-1, 0]),
    ],
)
def test_null_has_its_own_place_and_is_no_word(kind, keys, domain, codes):
    import pyarrow as pa

    from nowiser.engines.aligned import _codes

    types = {Kind.TEXT: pa.string(), Kind.INTEGER: pa.int64(), Kind.BOOLEAN: pa.bool_()}
    assert _codes(pa.chunked_array([keys], types[kind]), kind, domain).tolist() == codes
