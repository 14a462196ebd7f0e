"""What an attacker really knows afterwards, against what is printed: linked tables, several rows, presence.

The attacker's part shares nothing with `nowiser.guess`: he knows everybody else, lists the victim's possible records,
has the exact cells of each of these worlds from the engine and knows that the noise falls off as e^(-distance/scale).
Along one cell the logarithms of his likelihoods are straight between the worlds' values, and odds of sums of
exponentials in one direction or the other change in one direction only; so the most telling output is at such values.
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import nowiser.gateway
from nowiser.engines.aligned import aligned
from nowiser.engines.reference import tally_rows
from nowiser.guess.budget.allowance import standing
from nowiser.policy import parse
from nowiser.sql.plan.plan import plan
from nowiser.sql.read.select import read

LINKED = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: p
    presence: 50%
    columns:
      p: {identifier: integer}
      g: {public: [a, b]}
SECRET  u:
    source: u.csv
    person: {q: t.p}
    presence: 50%
    columns:
      q: {identifier: integer}
      dept: {public: [a, b]}
AMOUNTattackers:
  - {guess: GOAL, gain: 20%}
"""
S = "      s: {sensitive: [x, y], prior: {categories: {x: 50%, y: 50%}}}\n"
AMOUNT = "      amount: {sensitive: [50, 60], kind: integer}\n"
OTHERS = {"t": ["2,a,x", "3,b,y"], "u": ["2,a,55", "3,b,50"]}
ROWS = """
nowiser: 1
tables:
  t:
    source: t.csv
    person: p
    rows_per_person: {m}
    protect: values
    columns:
      p: {{identifier: integer}}
      day: {{public: [0, 9], kind: integer}}
      x: {{sensitive: [0, 59], kind: integer, prior: {{uniform: [0, 59]}}{one}}}
attackers:
  - {{guess: t.x within 1, gain: 20%}}
"""


def cells(folder, policy, sql, tables):
    """The exact cells of one world, as one vector, with the plan."""
    folder.mkdir(parents=True)
    (folder / "nowiser.yaml").write_text(policy)
    for name, text in tables.items():
        (folder / f"{name}.csv").write_text(text)
    with nowiser.gateway.open(folder / "nowiser.yaml") as gate:
        planned = plan(read(sql, gate.policy), gate.policy)
        found = aligned(gate._engine.run(planned.tally), planned)
        return gate.policy, planned, [np.asarray(c, dtype=np.float64).ravel() for c in found]


def worst(worlds, prior, goal, scales):
    """The largest posterior of the goal over all outputs. `worlds`: cells of each; `scales`: of their noise, or None."""
    vectors = [np.concatenate([c / b for c, b in zip(w, scales, strict=True) if b]) for w in worlds]
    telling = itertools.product(*(sorted(set(values)) for values in zip(*vectors, strict=True)))
    best = 0.0
    for output in telling:
        logs = np.array([-np.abs(np.array(output) - v).sum() for v in vectors])
        weights = np.array(prior) * np.exp(logs - logs.max())
        best = max(best, weights[goal].sum() / weights.sum())
    return best


def compared(tmp_path, policy, sql, worlds, *, prior, goal, s=Fraction(1)):
    """(true, printed) for every way to answer with Laplace noise."""
    made = [cells(tmp_path / str(i), policy, sql, tables) for i, tables in enumerate(worlds)]
    declared, planned, _ = made[0]
    for way in planned.ways:
        scales = [None if n is None else float(n.scale) for n in way.noise(s)]
        (guess,) = standing(declared, way.charge(s))
        yield way.name, worst([c for _, _, c in made], prior, goal, scales), guess.after


def family(hers_t, hers_u, *, secret=True, amount=True):
    def lines(head, rows, keep):
        return "\n".join(",".join(r.split(",")[:keep]) for r in [head, *rows]) + "\n"

    return {
        "t": lines("p,g,s", [*hers_t, *OTHERS["t"]], 3 if secret else 2),
        "u": lines("q,dept,amount", [*hers_u, *OTHERS["u"]], 3 if amount else 2),
    }


@pytest.mark.parametrize(
    ("sql", "x", "y", "least"),
    [
        ("SELECT SUM(amount) FROM u", [], ["1,a,60"], 0.7),
        ("SELECT dept, COUNT(*) FROM u GROUP BY dept", ["1,a,50"], ["1,b,50"], 0.7),
        ("SELECT dept, SUM(amount) FROM u GROUP BY dept", ["1,a,60"], ["1,b,60"], 0.7),
        ("SELECT SUM(w) FROM (SELECT q, SUM(amount) AS w FROM u GROUP BY q) r", [], ["1,a,60"], 0.7),
        ("SELECT SUM(amount) FROM t LEFT JOIN u ON p = q", [], ["1,a,60"], 0.7),
        ("SELECT g, COUNT(*) FROM t WHERE EXISTS (SELECT 1 FROM u WHERE q = p) GROUP BY g", [], ["1,a,60"], 0.6),
    ],
)
def test_secrets_may_decide_which_rows_a_person_has_in_a_linked_table(tmp_path, sql, x, y, least):
    policy = LINKED.replace("SECRET", S).replace("AMOUNT", AMOUNT).replace("GOAL", "t.s exactly")
    worlds = [family(["1,a,x"], x), family(["1,a,y"], y)]
    for goal in ([0], [1]):
        for _, true, printed in compared(tmp_path / str(goal[0]), policy, sql, worlds, prior=[0.5, 0.5], goal=goal):
            assert true <= printed + 1e-9
            assert true >= least, "the attack has teeth"


VALUES = range(60)


def of_several_rows(m, one, values, s):
    """(true, printed) of the sum of m rows; `values`: all rows of the victim for each value of the first. By reference."""
    policy = parse(ROWS.format(m=m, one=one))
    planned = plan(read("SELECT SUM(x) FROM t", policy), policy)
    worlds = []
    for x in VALUES:
        rows = [{"p": 1, "day": i, "x": v} for i, v in enumerate(values(x))] + [{"p": 2, "day": 1, "x": 4}]
        worlds.append([np.array(tally_rows(planned.tally, {"t": rows})[()], dtype=np.float64)])
    for way in planned.ways:
        (guess,) = standing(policy, way.charge(s))
        scales = [float(n.scale) for n in way.noise(s)]
        true = max(worst(worlds, [1 / 60] * 60, near(x), scales) - len(near(x)) / 60 for x in VALUES)
        yield way.name, true, guess.after - guess.before


def near(victim):
    return [v for v in VALUES if abs(v - victim) <= 1]


@pytest.mark.parametrize("m", [2, 5])
def test_the_other_rows_may_depend_on_the_one_that_is_guessed(m):
    """A joint prior with uniform marginals: the nearer to the victim's value, the larger the other values."""
    victim = 30
    others = dict(zip(sorted(VALUES, key=lambda v: abs(v - victim)), reversed(VALUES), strict=True))
    found = list(of_several_rows(m, "", lambda x: [x] + [others[x]] * (m - 1), Fraction(8)))
    assert any("distance" in name for name, _, _ in found)
    for _, true, printed in found:
        assert true <= printed + 1e-9
        assert true > 0.3, "the attack has teeth"


@pytest.mark.parametrize("m", [2, 5])
def test_one_value_per_person_is_charged_by_distance(m):
    found = list(of_several_rows(m, ", one_per_person: true", lambda x: [x] * m, Fraction(4)))
    by_distance, by_jump = ([f for f in found if ("distance" in f[0]) is wanted] for wanted in (True, False))
    for _, true, printed in found:
        assert true <= printed + 1e-9
    assert by_distance[0][2] < by_jump[0][2] / 2
    assert by_distance[0][1] > by_distance[0][2] / 2, "the attack has teeth"


@pytest.mark.parametrize("secret", [True, False])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(CASE WHEN u.q IS NULL THEN -1 ELSE 1 END) FROM t LEFT JOIN u ON p = q",
        "SELECT COUNT(*) FROM t JOIN u ON p = q",
        "SELECT dept, COUNT(*) FROM u GROUP BY dept",
    ],
)
def test_presence_in_a_linked_table_is_told_by_replacing_too(tmp_path, sql, secret):
    policy = LINKED.replace("SECRET", S if secret else "").replace("AMOUNT", AMOUNT if secret else "")
    policy = policy.replace("GOAL", "present in u")
    kept = {"secret": secret, "amount": secret}
    worlds = [family(["1,a,x"], ["1,a,60"], **kept), family(["1,a,x"], [], **kept), family([], [], **kept)]
    for i, prior in enumerate(([0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.5, 0.25, 0.25])):
        for _, true, printed in compared(tmp_path / str(i), policy, sql, worlds, prior=prior, goal=[0]):
            assert true <= printed + 1e-9
            assert true > 0.5 + 0.1 * (sql.startswith("SELECT SUM") and i == 0), "the attack has teeth"
