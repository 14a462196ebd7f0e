"""Distinct counts, moments, quantiles, ranges and running sums: never further than the plan says, and near the truth."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, event, given, settings, strategies as st

from nowiser.engines.reference import tally_rows
from nowiser.errors import NotAnswerable
from nowiser.gateway import Chosen
from nowiser.model.charge import Charge
from nowiser.model.schema import Protect, Role
from nowiser.sql.aggregates.picking import Picking
from nowiser.sql.answer import results as release
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read
from support.strategies import CONDITIONS, NUMBERS, policies, tables, values

PATIENT = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
COLUMN = st.sampled_from(["v", "w", "k", "ROUND(v)", "w * 2", "LEAST(w, 3)"])
CUTS = st.lists(st.integers(-4, 9), min_size=3, max_size=8, unique=True).map(sorted)
ASKED = st.one_of(
    st.sampled_from(["s", "g", "p", "w", "v", "LOWER(s)", "s || g"]).map(lambda x: f"COUNT(DISTINCT {x})"),
    st.tuples(st.sampled_from(["VARIANCE", "STDDEV_POP", "VAR_POP", "STDDEV"]), NUMBERS).map(lambda t: f"{t[0]}({t[1]})"),
    st.tuples(st.sampled_from(["CORR", "COVAR_POP", "COVAR_SAMP"]), COLUMN, COLUMN).map(lambda t: f"{t[0]}({t[1]}, {t[2]})"),
    st.tuples(st.sampled_from(["MEDIAN", "MIN", "MAX"]), COLUMN).map(lambda t: f"{t[0]}({t[1]})"),
    st.tuples(COLUMN, CONDITIONS).map(lambda t: f"MEDIAN({t[0]}) FILTER (WHERE {t[1]})"),
    COLUMN.map(lambda x: f"PERCENTILE_DISC(0.25) WITHIN GROUP (ORDER BY {x})"),
    st.tuples(COLUMN, CUTS).map(lambda t: ", ".join(f"COUNT(*) FILTER (WHERE {t[0]} <= {c})" for c in t[1])),
    st.tuples(COLUMN, CUTS).map(lambda t: ", ".join(f"SUM(CASE WHEN {t[0]} = {c} THEN 1 ELSE 0 END)" for c in t[1])),
)  # fmt: skip


@st.composite
def asked(draw):
    keys = draw(st.sampled_from(["", "", "g", "s", "k"]))
    where = draw(st.none() | CONDITIONS)
    what = draw(ASKED)
    if keys in ("k", "g") and draw(st.booleans()):
        what = f"SUM(COUNT(*)) OVER (ORDER BY {keys})"
    sql = f"SELECT {keys + ', ' if keys else ''}{what} FROM t"
    return sql + (f" WHERE {where}" if where else "") + (f" GROUP BY {keys}" if keys else "")


def planned(sql, policy):
    try:
        return plan(read(sql, policy), policy)
    except NotAnswerable:
        assume(False)


def measured(found, rows, *others):
    """Everything the plan releases, exact: cells and measurements of histograms. `others`: tables with more buckets."""
    out = []
    main = tally_rows(found.tally, {"t": rows})
    none = [0] * len(found.tally.cells)
    out += [np.array([main.get(g, none)[i] for g in found.groups]) for i in range(len(found.tally.cells))]
    for h, tally in zip(found.histograms, found.tallies[1:], strict=True):
        cells = tally_rows(tally, {"t": rows})
        groups = list(found.groups)
        if isinstance(h, Picking):  # rows per bucket; what is picked and counted is in test_picking.py
            keys = sorted({key for r in (rows, *others) for key in tally_rows(tally, {"t": r}) if None not in key})
            out.append(np.array([cells.get(key, [0])[0] for key in keys if key[:-1] in groups]))
            continue
        if h.grouped:
            table = [[cells.get((*g, b), [0])[0] for b in h.buckets] for g in groups]
        else:
            table = [[cells.get(g, [0])[0] for g in sorted(groups)]]
        out.append(h.strategy.measure(np.array(table, dtype=np.int64)).reshape(-1))
    return out


def moves(found, before, after):
    for i, (a, b) in enumerate(zip(measured(found, before, after), measured(found, after, before), strict=True)):
        off = np.abs(a.astype(object) - b.astype(object))
        yield found.reaches[i], int(off.sum()), int((off * off).sum())


@PATIENT
@given(st.data())
def test_presence_is_an_upper_bound(data):
    policy = data.draw(policies(Protect.PERSONS))
    policy = replace(policy, delta=data.draw(st.sampled_from([Fraction(0), Fraction(1, 10**6)])))
    found = planned(data.draw(asked()), policy)
    rows = data.draw(tables(policy))
    for person in {r["p"] for r in rows}:
        for reach, l1, l2 in moves(found, rows, [r for r in rows if r["p"] != person]):
            event(f"moved {l1 > 0}")
            assert l1 <= reach.presence
            assert l2 <= (reach.presence**2 if reach.presence_squared is None else reach.presence_squared)


@PATIENT
@given(st.data())
def test_jump_is_an_upper_bound(data):
    policy = data.draw(policies())
    policy = replace(policy, delta=data.draw(st.sampled_from([Fraction(0), Fraction(1, 10**6)])))
    table = policy.tables[0]
    found = planned(data.draw(asked()), policy)
    rows = data.draw(tables(policy))
    person = data.draw(st.sampled_from(sorted({r["p"] for r in rows})))
    secret = [c for c in table.columns if c.role is Role.SENSITIVE]
    other = [
        r if r["p"] != person else {**r, **{c.name: data.draw(values(c), label=c.name) for c in secret}} for r in rows
    ]
    if table.protect is Protect.PERSONS and table.rows_per_person > 1 and data.draw(st.booleans()):
        own = [r for r in other if r["p"] == person]
        other = [r for r in other if r is not own[0]] if len(own) > 1 else other
    for reach, l1, l2 in moves(found, rows, other):
        event(f"moved {l1 > 0}")
        assert l1 <= reach.jump
        assert l2 <= reach.jump_squared


def exact_and_noisy(gate, sql, s, times=400):
    found = plan(read(sql, gate.policy), gate.policy)
    way = found.ways[-1] if gate.policy.delta > 0 else found.ways[0]
    noise = way.noise(Fraction(s))
    chosen = Chosen(way.charge(Fraction(s)), noise, way.name, None, Fraction(s))
    _, cells = gate._run(found)
    sharp = replace(chosen, nats=Fraction(10**9))
    truth = release.results(
        gate._picked(found, cells, sharp)[0], [None] * len(noise), gate._picked(found, cells, sharp)[1]
    ).rows
    out, errors = [], []
    for _ in range(times):
        seen, exact = gate._picked(found, cells, chosen)
        result = release.results(seen, noise, gate._blur(noise, exact))
        out.append([r[-1] for r in result.rows])
        e = result.errors[-1]
        errors.append(e if isinstance(e, list) else [e] * len(result.rows))
    return np.array([r[-1] for r in truth], dtype=float), np.array(out, dtype=float), np.array(errors, dtype=float)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(DISTINCT cost) FROM patients",
        "SELECT VAR_POP(cost) FROM patients",
        "SELECT STDDEV(cost) FROM patients WHERE diagnosis = 'flu'",
        "SELECT COVAR_SAMP(cost, 1000 - cost) FROM patients",
        "SELECT CORR(cost, cost * cost) FROM patients",
        "SELECT MEDIAN(cost) FROM patients",
        "SELECT PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY cost) FROM patients",
        "SELECT MIN(cost) FROM patients",
        "SELECT MAX(cost) FROM patients WHERE cost < 700",
        "SELECT " + ", ".join(f"COUNT(*) FILTER (WHERE cost <= {c})" for c in range(100, 1000, 100)) + " FROM patients",
        "SELECT ward, SUM(COUNT(*)) OVER (ORDER BY ward) FROM patients GROUP BY ward",
        "SELECT ward, SUM(COUNT(*)) OVER (ORDER BY ward DESC) FROM patients GROUP BY ward",
    ],
)
@pytest.mark.parametrize("s", [1, "1/8"])
def test_bars_hold(hospital, sql, s):
    truth, found, errors = exact_and_noisy(hospital(), sql, s)
    assert not np.isnan(found).any() or "CORR" in sql or "M" in sql[7:10]
    known = ~np.isnan(found)
    covered = (np.abs(found - truth) <= errors + 1e-6)[known].mean() if known.any() else 1.0
    # where nearly all answers are refused, the few that are not are no sample of 400
    tried = min(max(int(known.sum()), 1), 400)
    assert covered > 0.95 - 5 * (0.95 * 0.05 / tried) ** 0.5
    if "VAR" in sql or "STDDEV" in sql:
        assert (found >= 0).all() or "COVAR" in sql


def test_counts_of_ranges_add_up_to_what_one_histogram_gives(hospital):
    gate = hospital()
    sql = "SELECT " + ", ".join(f"COUNT(*) FILTER (WHERE cost <= {c})" for c in range(100, 900, 100)) + " FROM patients"
    together = plan(read(sql, gate.policy), gate.policy)
    single = plan(read("SELECT COUNT(*) FILTER (WHERE cost <= 100) FROM patients", gate.policy), gate.policy)
    assert not together.tally.cells
    assert len(together.histograms) == 1
    assert together.reaches[0].presence == single.reaches[0].presence, "one person is in one bucket: it costs one"
    _, cells = gate._run(together)
    assert release.results(together, [None], cells).rows[0] == tuple(
        gate._run(plan(read(f"SELECT COUNT(*) FROM patients WHERE cost <= {c}", gate.policy), gate.policy))[1][0][0]
        for c in range(100, 900, 100)
    )


def test_the_root_of_running_sums_has_the_promised_error():
    from nowiser.noise.matrix import Flat, SquareRoot, Tree, spread

    root = SquareRoot(1024)
    assert (root.column_l2 * float(spread(root).own.max())) ** 0.5 <= 3.3
    flat = Flat(1024)
    assert (flat.column_l2 * float(spread(flat).own.max())) ** 0.5 == pytest.approx(32)
    plain = Tree(1024, 2, 11)  # without least squares: every node on the way
    assert (plain.column_l2 * max(plain.variance(0, i) for i in range(1024))) ** 0.5 == pytest.approx(10.49, abs=0.01)


BUYS = """
nowiser: 1
tables:
  buys:
    source: buys.csv
    person: p
    rows_per_person: 40
    columns: {p: {identifier: integer}, item: {sensitive: [a, b, c, d, e, f]}}
attackers:
  - {guess: present in buys, gain: 20%}
"""


@pytest.fixture
def shop(tmp_path):
    import nowiser.gateway

    (tmp_path / "nowiser.yaml").write_text(BUYS)
    often = {"a": 40, "b": 25, "c": 9, "d": 5, "e": 2, "f": 1}
    rows = [f"{p},{item}" for p in range(20_000) for i, (item, n) in enumerate(often.items()) if (p * 7 + i) % 40 < n]
    (tmp_path / "buys.csv").write_text("p,item\n" + "\n".join(rows) + "\n")
    with nowiser.gateway.open(tmp_path / "nowiser.yaml") as gate:
        yield gate


def test_the_largest_groups_are_picked_where_that_is_cheaper(shop):
    counted = "SELECT item, COUNT(DISTINCT p) AS n FROM buys GROUP BY item ORDER BY n DESC LIMIT 2"
    answer = shop.query(counted, spend="40%", anyway=True)
    assert [r[0] for r in answer.rows] == ["a", "b"]
    assert "noisy max" in answer.notes[0]
    assert all(
        abs(n - wanted) <= 4 * answer.errors()[0][1]
        for (_, n), wanted in zip(answer.rows, (20_000, 12_500), strict=True)
    )
    plain = plan(read(counted.replace(" ORDER BY n DESC LIMIT 2", ""), shop.policy), shop.policy)
    assert answer.errors()[0][1] < float(plain.ways[0].noise(Fraction(1))[0].half_width())
    named = shop.query("SELECT item FROM buys GROUP BY item ORDER BY COUNT(*) DESC LIMIT 1", spend="40%", anyway=True)
    assert named.rows == (("a",),)  # ahead by 7,500 where a person moves 40


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT item, COUNT(*) AS n FROM buys GROUP BY item ORDER BY n DESC LIMIT 2",  # 40 rows move any one count by 40
        "SELECT item, COUNT(DISTINCT p) AS n FROM buys GROUP BY item ORDER BY n LIMIT 2",
        "SELECT item, COUNT(DISTINCT p) AS n FROM buys GROUP BY item HAVING COUNT(DISTINCT p) > 3 ORDER BY n DESC LIMIT 2",
        "SELECT item, COUNT(DISTINCT p) AS n FROM buys GROUP BY item ORDER BY n DESC LIMIT 6",
    ],
)
def test_otherwise_the_histogram_is_taken(shop, sql):
    assert all(w.top is None for w in plan(read(sql, shop.policy), shop.policy).ways)


def test_picks_cost_what_they_may_tell(shop):
    """Permute-and-flip: no pick is more than e^ε times as likely with one person more, by counting all orders."""
    from itertools import permutations
    from math import exp

    def chances(scores, each, one):
        best, found = max(scores), [0.0] * len(scores)
        for order in permutations(range(len(scores))):
            left = 1.0
            for i in order:
                heads = exp(-each * (best - scores[i]) / (2 * one))
                found[i] += left * heads / 6
                left *= 1 - heads
        return found

    (way,) = [w for w in plan(read("SELECT item, COUNT(DISTINCT p) AS n FROM buys GROUP BY item ORDER BY n DESC LIMIT 2", shop.policy), shop.policy).ways if w.top]  # fmt: skip
    each = 1.0 / (2 * way.top.picks)  # at one nat in all
    for before in ((3, 3, 2), (5, 1, 1)):
        for moved in ((1, 1, 1), (0, 1, 0), (1, 0, 1)):
            after = tuple(a + b for a, b in zip(before, moved, strict=True))
            for p, q in zip(chances(before, each, 1), chances(after, each, 1), strict=True):
                assert p <= exp(each) * q + 1e-12
                assert q <= exp(each) * p + 1e-12


def test_absurd_arguments_are_computed_without_a_complaint(hospital):
    """Whatever is planned runs on the engine, and no result is NaN."""
    from sql.test_hostile_aggregates import ARGUMENTS, CALLS

    gate, answered = hospital(), 0
    for argument in ARGUMENTS:
        for call in CALLS:
            try:
                found = plan(read(f"SELECT {call.format(argument)} FROM patients", gate.policy), gate.policy)
            except NotAnswerable:
                continue
            answered += 1
            noise = found.ways[0].noise(Fraction(1)) if found.ways else [None] * len(found.reaches)
            seen, cells = gate._picked(*gate._run(found), Chosen(Charge(), noise, "", None, Fraction(1)))
            ((value,),) = release.results(seen, noise, gate._blur(noise, cells)).rows
            assert value == value, (call, argument)  # noqa: PLR0124 (NaN is what differs from itself)
    assert answered > 100
