"""A synopsis: charged once, questions free, every bar with the truth inside as often as it says, nothing claimed beyond."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import nowiser as nw
from nowiser.bought.domain import attribute_of
from nowiser.errors import Exhausted, Misconfigured, NotAnswerable, NotEvaluated
from nowiser.ledger.opening import for_policy
from nowiser.model.schema import Column, Kind, Role
from nowiser.policy import read
from nowiser.synth import synth as flow
from nowiser.synth.counts import Coded
from nowiser.synth.noisy import Noisy
from nowiser.synth.synopsis.components import Components
from nowiser.synth.synopsis.make import make, request_of
from nowiser.synth.synopsis.points import points_of
from nowiser.synth.synopsis.value import Synopsis
from support.commands import nowiser

POLICY = """
nowiser: 1
delta: 1e-9
answers: {spend: 1%, from: FROM}
tables:
  stays:
    source: stays.csv
    person: patient
    people: 3000
    columns:
      patient: identifier
      ward: {sensitive: {values: [surgery, heart, eyes]}, nullable: false, prior: uniform}
      age: {kind: integer, sensitive: [0, 99], nullable: false, prior: uniform}
      cost: {sensitive: [0, 1000], grid: 0.01, prior: uniform, nullable: true}
      day: {kind: date, sensitive: [2024-01-01, 2024-12-31], nullable: false, prior: uniform}
      urgent: {kind: boolean, sensitive: {values: [true, false]}, nullable: false, prior: uniform}
  places:
    source: places.csv
    public: true
    unique: [ward]
    columns:
      ward: {public: [surgery, heart, eyes]}
      beds: {kind: integer, public: [0, 99]}
attackers:
  - {guess: present in stays, gain: 20%, promise: on average}
  - {guess: stays.ward exactly, gain: 30%, promise: on average}
"""


def write(folder, source="synopsis"):
    random = np.random.default_rng(5)
    lines = []
    for patient in range(3000):
        ward = int(random.choice(3, p=[0.5, 0.3, 0.2]))
        cost = "" if random.random() < 0.1 else f"{min(1000, random.gamma(2, 80 * (ward + 1))):.2f}"
        day = np.datetime64("2024-01-01") + int(random.integers(366))
        age = int(np.clip(random.normal(40 + 15 * ward, 9), 0, 99))
        lines.append(
            f"{patient},{('surgery', 'heart', 'eyes')[ward]},{age},{cost},{day},{str(random.random() < 0.3).lower()}"
        )
    (folder / "stays.csv").write_text("patient,ward,age,cost,day,urgent\n" + "\n".join(lines) + "\n")
    (folder / "places.csv").write_text("ward,beds\nsurgery,10\nheart,20\neyes,30\n")
    (folder / "nowiser.yaml").write_text(POLICY.replace("FROM", source))
    return folder / "nowiser.yaml"


def bought(path, spend=Fraction(2, 5), **more):
    policy = read(path)
    return make(request_of(policy, "stays", spend=spend, **more))


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    path = write(tmp_path_factory.mktemp("synopsis"))
    bought(path, cells={"age": 100})
    return path


def truth(path, sql):
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE stays AS SELECT * FROM read_csv('{path.parent / 'stays.csv'}')")
        return connection.execute(sql).fetchall()


TILES = [
    "SELECT count(*) FROM stays",
    "SELECT ward, count(*) FROM stays GROUP BY ward ORDER BY ward",
    "SELECT ward, urgent, count(*) FROM stays GROUP BY ward, urgent ORDER BY ward, urgent",
    "SELECT ward, avg(age), sum(age) FROM stays GROUP BY ward ORDER BY ward",
    "SELECT count(*) FROM stays WHERE age BETWEEN 33 AND 57",
    "SELECT count(*) FROM stays WHERE age > 40 AND NOT urgent",
    "SELECT extract(month FROM day) AS m, count(*) FROM stays GROUP BY 1 ORDER BY 1",
    "SELECT avg(cost), count(cost) FROM stays WHERE ward <> 'eyes'",
    "SELECT sum(CASE WHEN cost > 300 THEN 1 ELSE 0 END) FROM stays",
    "SELECT count(*) FROM stays WHERE cost IS NULL",
    "SELECT count(*) FROM stays WHERE cost >= 100 AND cost < 123.5",
    "SELECT count(DISTINCT patient) FROM stays WHERE ward = 'heart'",
    "SELECT floor(age / 10) AS decade, count(*) FROM stays WHERE ward IN ('heart', 'eyes') GROUP BY 1 ORDER BY 1",
    "SELECT ward, count(*) / 12.0 AS monthly FROM stays GROUP BY ward ORDER BY ward",
]


def test_a_dashboard_costs_what_the_synopsis_cost_and_its_bars_hold(prepared):
    """Each true number is within its bar; of some hundred bars of 95 % (less where cells are wide) a few may miss."""
    with nw.open(prepared) as gate:
        entries = len(list(gate.ledger.entries()))
        left = gate.allowance()["left"]
        hits = []
        for sql in TILES:
            answer = gate.query(sql)
            assert (answer.follows, answer.cost, answer.left) == (True, {}, left)
            assert "synopsis of stays" in answer.synopsis
            found = truth(prepared, sql)
            there = {row[0] for row in found}  # groups nobody is in are reported too
            rows = [p for p in zip(answer.rows, answer.errors(), strict=True) if len(found) == 1 or p[0][0] in there]
            for (row, bars), true in zip(rows, found, strict=True):
                for value, bar, t in zip(row, bars, true, strict=True):
                    if bar == 0.0:
                        assert value == t
                    else:
                        hits.append(abs(float(value) - float(t)) <= bar)
            assert gate.explain(sql).price == 0.0
        assert len(hits) > 40
        assert np.mean(hits) >= 0.9
        assert len(list(gate.ledger.entries())) == entries  # free answers leave no trace, however often they are asked
        assert nw.open(prepared).query(TILES[1]).rows == gate.query(TILES[1]).rows


def test_what_was_not_measured_together_is_said_and_has_no_bar(prepared):
    with nw.open(prepared) as gate:
        answer = gate.query("SELECT ward, urgent, avg(age), count(*) FROM stays GROUP BY ward, urgent")
        assert answer.errors()[0] == (0.0, 0.0, None, None)
        assert "ward, age, urgent: not measured together" in str(answer)
        assert gate.explain("SELECT ward, urgent, avg(age) FROM stays GROUP BY ward, urgent").error[2] is None
        ages = {(r[0], r[1]): r[2] for r in answer.rows}
        assert ages["eyes", False] > ages["surgery", False]  # the model knows age by ward
        sent = answer.to_dict()
        assert "not measured together" in sent["synopsis"]


REFUSED = [
    ("SELECT median(age) FROM stays", "counts, sums and averages"),
    ("SELECT count(*) FROM stays JOIN places ON stays.ward = places.ward", "no joins"),
    ("SELECT round(cost / 7) AS c, count(*) FROM stays WHERE round(cost / 7) IN (1, 2) GROUP BY 1", "knows 'cost' in"),
    ("SELECT sum(cost * age) FROM stays", "knows 'cost' in"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "words"), REFUSED)
def test_what_a_synopsis_cannot_say_is_refused_and_free(prepared, sql, words):
    with nw.open(prepared) as gate:
        left = gate.allowance()["left"]
        with pytest.raises(NotAnswerable, match=words):
            gate.query(sql)
        assert gate.allowance()["left"] == left


def test_public_tables_are_read_as_they_are(prepared):
    with nw.open(prepared) as gate:
        assert gate.query("SELECT sum(beds) FROM places").rows == ((60,),)


def test_python_buys_one_too_and_shows_it(tmp_path):
    path = write(tmp_path, "data")
    made = nw.synopsis("stays", policy=path, spend="20%", columns=["ward", "urgent"])
    assert repr(made).startswith("<Prepared: A synopsis of stays: 2 columns")
    assert "once the policy says: answers: {from: synopsis}" in made._repr_html_()
    assert made.to_json()["together"] == [["ward", "urgent"]]


def test_it_is_paid_before_data_are_read_once_and_adds_up(tmp_path, monkeypatch):
    path = write(tmp_path)
    with nw.open(path) as gate, pytest.raises(NotAnswerable, match="there is none of 'stays'"):
        gate.query(TILES[0])
    seen = []

    def watched(policy, *_, **__):
        with for_policy(policy) as ledger:
            seen.append(ledger.totals())
        raise KeyboardInterrupt

    real = flow.bought_rows.counted
    monkeypatch.setattr(flow.bought_rows, "counted", watched)
    with pytest.raises(KeyboardInterrupt):
        bought(path, columns=["ward", "age"])
    assert seen[0], "charged before a row was read"
    monkeypatch.setattr(flow.bought_rows, "counted", lambda *_, **__: 1 / 0)
    with pytest.raises(NotEvaluated) as error:
        bought(path, spend=Fraction(1, 10), columns=["ward", "age"])
    assert "charged" in str(error.value)
    monkeypatch.setattr(flow.bought_rows, "counted", real)
    made = bought(path, spend=Fraction(1, 5), columns=["ward", "age"])
    assert made.left == pytest.approx(0.3, abs=0.01)  # an interrupted, a failed and a finished one
    with pytest.raises(Misconfigured, match="was made already"):
        bought(path, spend=Fraction(1, 5), columns=["ward", "age"])
    with pytest.raises(Exhausted):
        bought(path, spend=Fraction(2, 5), columns=["ward", "age"])
    with nw.open(path) as gate:
        (once,) = gate.query(TILES[0]).error
    bought(path, spend=Fraction(1, 4), columns=["ward", "age"])
    with nw.open(path) as gate:
        assert gate.query(TILES[0]).error[0] < once  # both together
        gate.ledger.verify()


def test_other_data_and_another_declaration_need_another_synopsis(tmp_path):
    path = write(tmp_path)
    bought(path)
    with nw.open(path) as gate:
        gate.query(TILES[0])
    text = path.read_text()
    path.write_text(text.replace("spend: 1%", "spend: 2%").replace("people: 3000", "people: 3001"))
    with nw.open(path) as gate:
        gate.query(TILES[0])  # these change no answer
    path.write_text(text.replace("    people: 3000", "    rows_per_person: 2"))
    with nw.open(path) as gate, pytest.raises(NotAnswerable, match="there is none"):
        gate.query(TILES[0])
    path.write_text(text)
    rows = (tmp_path / "stays.csv").read_text().splitlines(keepends=True)
    (tmp_path / "stays.csv").write_text("".join(rows[:-5]))
    with nw.open(path) as gate, pytest.raises(NotAnswerable, match="as its data are now"):
        gate.query(TILES[0])


def test_best_takes_the_data_only_where_they_are_needed(tmp_path):
    path = write(tmp_path, "best")
    bought(path)
    with nw.open(path) as gate:
        left = gate.allowance()["left"]
        assert gate.query("SELECT ward, count(*) FROM stays GROUP BY ward").follows  # 1 % would buy less
        assert gate.allowance()["left"] == left
        paid = gate.query("SELECT count(*) FROM stays WHERE age > 41", spend="10%")  # cuts a cell: data are better
        assert not paid.follows
        assert gate.allowance()["left"] < left
        assert gate.query("SELECT count(*) FROM stays WHERE age > 41", spend="10%").stored
        assert not gate.query("SELECT median(age) FROM stays", spend="5%", anyway=True).follows  # not in it
        rest = gate.allowance()["left"]
        late = gate.query("SELECT count(*) FROM stays WHERE age > 42", spend=rest + 0.02)  # more than is left
        assert late.follows
    path.write_text(POLICY.replace("FROM", "data"))
    with nw.open(path) as gate:
        assert not gate.query("SELECT ward, count(*) FROM stays GROUP BY ward").follows  # was not kept as an answer


def test_the_command_buys_one_and_says_what_it_is(tmp_path):
    write(tmp_path)
    dry = nowiser(tmp_path, "prepare", "--synopsis", "30%", "--table", "stays", "--dry")
    assert dry.returncode == 0, dry.stderr
    assert "This will cost 30.0 %" in dry.stdout
    made = nowiser(tmp_path, "prepare", "--synopsis", "30%", "--table", "stays", "--together", "ward*urgent*age")
    assert made.returncode == 0, made.stderr
    assert "Counted together: ward × age × urgent." in made.stdout
    assert "Questions about these columns are now answered from it, free." in made.stdout
    asked = nowiser(tmp_path, "query", "SELECT ward, urgent, count(*) FROM stays WHERE age < 50 GROUP BY 1, 2")
    assert asked.returncode == 0, asked.stderr
    assert "Free: from the synopsis of stays" in asked.stdout
    assert "± ?" not in asked.stdout
    wrong = nowiser(tmp_path, "prepare", "--synopsis", "30%", "--table", "stays", "--together", "ward*height")
    assert wrong.returncode == 3
    assert "no column 'height' to count" in wrong.stderr
    large = nowiser(tmp_path, "prepare", "--synopsis", "5%", "--table", "stays", "--together", "age*cost*day*ward*urgent",
                    "--cells", "age=100", "--cells", "cost=100")  # fmt: skip
    assert large.returncode == 2
    assert "cells" in large.stderr
    (tmp_path / "nowiser.yaml").write_text(POLICY.replace("FROM", "synopses"))
    bad = nowiser(tmp_path, "check")
    assert bad.returncode == 3
    assert "Did you mean 'synopsis'?" in bad.stderr


class Seeded:
    """The same noise in every run of the tests."""

    def __init__(self, seed):
        self._random = np.random.default_rng(seed)

    def bytes(self, n, /):
        return self._random.bytes(n)


# -- the arithmetic, against code that shares nothing with it -------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_sums_are_those_of_weighted_least_squares(seed):
    """Value and variance against the normal equations over the whole table of counts."""
    random = np.random.default_rng(seed)
    sizes = tuple(int(n) for n in random.integers(1, 4, 3))
    sets = [(0,), (1, 2), (0, 1), (0, 1, 2), (2,)]
    chosen = [sets[i] for i in random.permutation(5)[: random.integers(1, 6)]]
    measured = [Noisy(c, random.integers(-5, 50, [sizes[v] for v in c]), float(random.uniform(1, 9))) for c in chosen]
    cells = list(np.ndindex(*sizes))
    rows, values, weights = [], [], []
    for m in measured:
        for at in np.ndindex(*m.counts.shape):
            rows.append([float(all(cell[v] == k for v, k in zip(m.columns, at, strict=True))) for cell in cells])
            values.append(m.counts[at])
            weights.append(1 / m.variance)
    A, y, W = np.array(rows), np.array(values, float), np.diag(weights)
    wanted = tuple(sorted(random.permutation(3)[: random.integers(0, 4)].tolist()))
    query = random.normal(size=[2, *(sizes[v] for v in wanted)])
    full = np.array([[query[(g, *(cell[v] for v in wanted))] for cell in cells] for g in range(2)])
    found = Components(sizes, measured).sums(wanted, query)
    inverse = np.linalg.pinv(A.T @ W @ A)
    known = np.abs(full @ inverse @ (A.T @ W @ A) - full).max() < 1e-8
    assert found.measured == known
    if known:
        np.testing.assert_allclose(found.values, full @ inverse @ A.T @ W @ y, atol=1e-6)
        np.testing.assert_allclose(found.variances, np.diag(full @ inverse @ full.T), atol=1e-8)


def test_points_see_every_constant_a_real_column_is_compared_with():
    """Between two neighbouring points of a cell a comparison does not change."""
    a = attribute_of(Column("c", Kind.REAL, Role.SENSITIVE, Fraction(0), Fraction(100)), 4)
    found = points_of(a, [30.0, 50.0])
    for constant in (30.0, 50.0):
        for holds in (lambda v, c=constant: v < c, lambda v, c=constant: v <= c, lambda v, c=constant: v == c):
            for cell in range(4):
                inside = np.linspace(25 * cell, np.nextafter(25 * (cell + 1), 0), 997)
                truths = {
                    bool(holds(v)) for v in [*inside, *[c for c in (30.0, 50.0) if 25 * cell <= c < 25 * cell + 25]]
                }
                seen = {bool(holds(v)) for v, at in zip(found.values[:-1], found.cells[:-1], strict=True) if at == cell}
                assert seen == truths
    share = found.weights[
        [at == 1 and v is not None and v < 30 for v, at in zip(found.values, found.cells, strict=True)]
    ]
    assert share.sum() / found.weights[found.cells == 1].sum() == pytest.approx(0.2)


def test_a_synopsis_goes_through_bytes_and_others_are_refused(prepared):
    policy = read(prepared)
    with for_policy(policy) as ledger:
        kept = next(e for e in ledger.entries() if e.kind == "settle")
        data = ledger.stored(kept.body["question"], kept.body["data_version"])
    one = Synopsis.from_bytes(data)
    assert one.to_bytes()
    again = Synopsis.from_bytes(one.to_bytes())
    assert [m.variance for m in again.measured] == [m.variance for m in one.measured]
    assert all((a.counts == b.counts).all() for a, b in zip(again.measured, one.measured, strict=True))


@pytest.mark.parametrize("method", ["all", "aim"])
def test_bars_hold_as_often_as_they_say_also_where_the_data_chose_what_was_counted(method):
    """Many synopses of one small table: 95 of 100 bars of each question hold, noise of half the size would be found."""
    from nowiser.synth.meter import Meter
    from nowiser.synth.methods import METHODS, aim
    from nowiser.synth.run import Run

    random = np.random.default_rng(2)
    one = random.integers(0, 4, 400)
    data = Coded.of([one, np.where(random.random(400) < 0.7, one % 3, random.integers(0, 3, 400))], (4, 3))
    weights = np.zeros((2, 4, 3))
    weights[0, 1:3, :] = 1
    weights[1, 2, 1] = 1
    truths = (weights * data.counts((0, 1))).sum(axis=(1, 2))
    of, hits = METHODS[method], []
    patient = pytest.MonkeyPatch()
    with patient.context() as patched:
        patched.setattr(aim, "ROUNDS", 2)
        patched.setattr(aim, "LAST", 1)
        for seed in range(150):
            run = Run({(0, 1): 2, (0,): 1, (1,): 1})
            made = of.fit(data, Meter.of(Fraction(1, 10), of.choosing, entropy=Seeded(seed)), run)
            sums = Components((4, 3), made.measured).sums((0, 1), weights)
            if sums.measured:
                hits.append(np.abs(sums.values - truths) <= 1.96 * np.sqrt(sums.variances))
    assert len(hits) > 100
    assert 0.91 < np.mean(hits) < 0.985
