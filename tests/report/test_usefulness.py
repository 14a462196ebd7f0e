"""Judgements of planned answers: what is expected, what is useless, what would help."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from nowiser import policy as policies
from nowiser.report.levers import Case, levers, people_needed
from nowiser.report.usefulness import ASSUMED, USELESS, Size, judged, size_of
from nowiser.report.useless import useless
from nowiser.sql.answer.expected import expected, share
from nowiser.sql.plan.choice import choose
from nowiser.sql.plan.plan import plan
from nowiser.sql.plan.precision import Wish
from nowiser.sql.read.select import read
from nowiser.sql.tree import holding

POLICY = """
nowiser: 1
tables:
  t:
    person: id
    protect: {protect}
    columns:
      id: identifier
      ward: {{public: [a, b, c, d]}}
      sick: {{sensitive: [flu, cold]}}
      age: {{sensitive: [0, 99], kind: integer}}
      pay: {{sensitive: [0, 1000]}}
      vip: {{sensitive: boolean}}
      note: {{sensitive: text}}
attackers:
  - {{guess: t.pay within 20, gain: 5%}}
  {more}
"""


def policy_of(tmp_path, protect="values", more=""):
    path = tmp_path / "nowiser.yaml"
    path.write_text(POLICY.format(protect=protect, more=more))
    return policies.read(path)


def case_of(policy, sql, rows, spend="5%"):
    planned = plan(read(sql, policy), policy)
    size = size_of(policy, planned, {"t": (rows, "public")})
    wish = Wish(spend=Fraction(spend.rstrip("%")) / 100)
    return Case(policy, planned, wish, size, read=lambda p: plan(read(sql, p), p))


@pytest.mark.parametrize(
    ("condition", "wanted"),
    [
        ("sick = 'flu'", 0.5),
        ("ward IN ('a', 'b', 'c')", 0.75),
        ("age < 25", 0.25),
        ("age = 7", 0.01),
        ("pay > 750", 0.25),
        ("vip", 0.5),
        ("note = 'x'", 0.5),
        ("ward = 'a' AND sick = 'flu'", 0.125),
        ("ward = 'a' OR sick = 'flu'", 0.625),
    ],
)
def test_conditions_hold_for_their_share_of_the_declared_values(tmp_path, condition, wanted):
    query = read(f"SELECT COUNT(*) FROM t WHERE {condition}", policy_of(tmp_path))
    assert share(holding(query.relation)) == pytest.approx(wanted, rel=0.05)


@pytest.mark.parametrize("protect", ["values", "persons"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(pay) FROM t",
        "SELECT COUNT(*) FROM t WHERE sick = 'flu'",
        "SELECT SUM(pay) FROM t WHERE age < 50",
        "SELECT ward, MEDIAN(pay) FROM t GROUP BY ward",
        "SELECT MIN(pay), MAX(age), STDDEV(pay) FROM t",
        "SELECT 100.0 * COUNT(*) FILTER (WHERE vip) / COUNT(*) FROM t WHERE sick = 'flu'",
        "SELECT note, COUNT(*) FROM t GROUP BY note",
        "SELECT ward, sick, COUNT(*) FROM t GROUP BY GROUPING SETS ((ward, sick), (ward), ())",
    ],
)
def test_more_rows_never_make_it_worse_and_enough_make_it_useful(tmp_path, protect, sql):
    policy = policy_of(tmp_path, protect)
    found = [case_of(policy, sql, rows).now for rows in (10, 1_000, 100_000, 10_000_000, 1_000_000_000)]
    shares = [f.worst.share for f in found]
    assert all(a >= b * 0.999 for a, b in pairwise(shares)), shares
    assert found[0].useless
    assert not found[-1].useless
    few = case_of(policy, sql, 10)
    enough = few.size.times(people_needed(few) / few.size.total)
    assert not few.judged(size=enough).useless
    assert few.judged(size=enough.times(0.1)).useless


def test_correlations_are_not_expected_to_be_steadier_than_they_come(tmp_path):
    """Values as in a bell have smaller variances than evenly spread ones, and divide by them."""
    policy = policy_of(tmp_path)
    planned = plan(read("SELECT CORR(age, pay), STDDEV(pay) FROM t", policy), policy)
    chosen = choose(policy, planned, Wish(spend=Fraction(1)), policies_free())
    rows, random = 40_000, np.random.default_rng(3)
    age, pay = random.normal(49, 49 / 3, rows), random.normal(500, 500 / 3, rows)
    away = {"c0": np.abs(age - 49) ** 2, "c1": np.abs(pay - 500) ** 2}
    found = {c.name: c for c in expected(planned, chosen.noise, np.array([float(rows)]))}
    sums = [float(n.half_width()) if n is not None else 0.0 for n in chosen.noise]
    units = [float(c.unit) for c in planned.tally.cells]
    reading = next(r for r in planned.readings if r.aggregate.function == "corr")
    cross = sums[reading.more[2]] * units[reading.more[2]] / rows / np.sqrt(away["c0"].mean() * away["c1"].mean())
    assert found["corr"].bars[0] > cross, "the noise of the products alone gives that much"
    assert found["corr"].scales[0] == 2
    assert judged(planned, chosen.noise, Size(np.array([1_000.0]))).useless


def test_what_is_expected_is_what_the_release_gives(tmp_path):
    """The bar of an average over a public number of rows; that of a count."""
    policy = policy_of(tmp_path)
    planned = plan(read("SELECT AVG(pay), COUNT(*) FILTER (WHERE pay < 500) FROM t", policy), policy)
    chosen = choose(policy, planned, Wish(spend=Fraction(1, 2)), policies_free())
    mean, count = expected(planned, chosen.noise, np.array([40_000.0]))
    top, bottom = (float(n.half_width()) for n in (chosen.noise[0], chosen.noise[2]))
    assert mean.bars[0] == pytest.approx(top / 40_000, rel=1e-3)
    assert mean.scales[0] == pytest.approx(500, rel=1e-6), "the middle of a range from 0"
    assert count.bars[0] == pytest.approx(bottom)
    assert count.scales[0] == 20_000


@pytest.mark.parametrize(
    ("sql", "wanted"),
    [
        ("SELECT COUNT(DISTINCT sick) FROM t", 2),  # declared values, not rows
        ("SELECT COUNT(DISTINCT vip) FROM t", 2),
        ("SELECT COUNT(DISTINCT age) FROM t", 100),
        ("SELECT VAR_POP(pay) FROM t", 1000**2 / 12),  # evenly over the range
        ("SELECT STDDEV(pay) FROM t", 1000 / 12**0.5),
    ],
)
def test_what_numbers_are_measured_by(tmp_path, sql, wanted):
    policy = policy_of(tmp_path)
    planned = plan(read(sql, policy), policy)
    chosen = choose(policy, planned, Wish(spend=Fraction(1, 2)), policies_free())
    (column,) = expected(planned, chosen.noise, np.array([40_000.0]))
    assert column.scales[0] == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(
    ("sql", "part"),
    [
        ("SELECT SUM(CAST(vip AS INTEGER)) / COUNT(*) FROM t", True),
        ("SELECT 100 * (COUNT(*) FILTER (WHERE vip) / COUNT(*)) AS share FROM t", True),
        ("SELECT ward, COUNT(*) FILTER (WHERE vip) / COUNT(*) FROM t GROUP BY ward", True),
        ("SELECT 100 * COUNT(*) FILTER (WHERE vip) / COUNT(*) FROM t", False),
        ("SELECT 1.0 * COUNT(*) FILTER (WHERE vip) / COUNT(*) FROM t", False),
        ("SELECT SUM(age) / COUNT(*) FROM t", False),
    ],
)
def test_a_part_divided_by_the_whole_is_nothing_where_numbers_are_whole(tmp_path, sql, part):
    found = case_of(policy_of(tmp_path), sql, 10**9)
    assert found.now.useless is part
    assert ("would be 0 or 1" in str(found.now)) is part
    if part:
        refusal = useless(found.now, found)
        assert "1.0 * " in refusal.hint
        assert refusal.levers == []


def policies_free():
    from nowiser.model.charge import Charge

    return Charge()


def test_more_than_half_of_the_numbers_decide(tmp_path):
    policy = policy_of(tmp_path)
    planned = plan(read("SELECT ward, AVG(pay) FROM t GROUP BY ward", policy), policy)
    chosen = choose(policy, planned, Wish(spend=Fraction(1, 2)), policies_free())
    assert judged(planned, chosen.noise, Size(np.array([1e6, 1e6, 1e6, 2.0]))).useless is False
    assert judged(planned, chosen.noise, Size(np.array([1e6, 1e6, 2.0, 2.0]))).useless is False
    assert judged(planned, chosen.noise, Size(np.array([1e6, 2.0, 2.0, 2.0]))).useless
    assert judged(planned, chosen.noise, Size(np.array([1e6, 0.0, 0.0, 0.0]))).useless is False, "NULL is no number"


def test_unknown_sizes_are_assumed_and_said(tmp_path):
    policy = policy_of(tmp_path, "persons")
    planned = plan(read("SELECT COUNT(*) FROM t", policy), policy)
    size = size_of(policy, planned)
    assert (size.total, size.source) == (ASSUMED, "assumed")
    assert "assumed" in size.words


def test_levers_are_real(tmp_path):
    """Each figure is the bar under the policy that the lever names, and no lever is shown that does not help."""
    policy = policy_of(tmp_path, "persons", "- {guess: present in t, gain: 5%}")
    case = case_of(policy, "SELECT AVG(pay) FROM t", 3_000)
    found = levers(case)
    assert case.binding is not None
    assert case.now.useless
    assert found
    assert all(lever.share < 0.9 * case.now.worst.share for lever in found)
    assert {lever.who for lever in found} == {"analyst", "custodian"}
    twice = next(lever for lever in found if lever.ask == {"spend": "10%"})
    again = case_of(policy, "SELECT AVG(pay) FROM t", 3_000, spend="10%").now
    assert twice.bar == again.worst.bar
    values = policy_of(tmp_path, "values")
    changed = next(lever for lever in found if "protect: values" in lever.what)
    assert changed.bar == pytest.approx(case_of(values, "SELECT AVG(pay) FROM t", 3_000).now.worst.bar, rel=1e-6)
    together = [lever for lever in found if lever.what == "all of these together"]
    assert all(t.bar <= min(c.bar for c in found if c.who == "custodian") for t in together)


def test_a_useless_share_is_a_fifth():
    assert USELESS == 0.2
