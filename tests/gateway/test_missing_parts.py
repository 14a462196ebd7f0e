"""Rows without a public key are measured, not shown: so a total follows from its parts, for free and unbiased."""

import pytest

import nowiser as nw

POLICY = """\
nowiser: 1
tables:
  visits:
    source: visits.csv
    person: student
    people: 4000
    protect: {protect}
    columns:
      student: {{identifier: integer}}
      faculty: {{public: [math, law]}}
      year: {{public: [1, 3], kind: integer}}
      time: {{sensitive: [0, 60], kind: integer}}
attackers: [{{guess: visits.time within 2, gain: 40%}}]
answers: {{spend: 5%, reuse: {reuse}}}
"""
ROWS = [(i, ("math", "law", "", "art")[i % 4], (1, 2, 3, "")[i // 4 % 4], i % 61) for i in range(4000)]


def opened(folder, protect="values", *, reuse="true"):
    lines = [",".join(map(str, row)) for row in ROWS]
    (folder / "visits.csv").write_text("student,faculty,year,time\n" + "\n".join(lines))
    (folder / "nowiser.yaml").write_text(POLICY.format(protect=protect, reuse=reuse))
    return nw.open(folder / "nowiser.yaml")


def total(keep=lambda r: True):
    return sum(r[3] for r in ROWS if keep(r))


@pytest.mark.parametrize("protect", ["values", "persons"])
def test_totals_follow_from_parts_of_public_keys_that_may_be_missing(tmp_path, protect):
    questions = {
        "SELECT SUM(time) FROM visits": total(),
        "SELECT SUM(time) FROM visits WHERE faculty IS NULL": total(lambda r: r[1] not in {"math", "law"}),
        "SELECT SUM(time) FROM visits WHERE faculty = 'math'": total(lambda r: r[1] == "math"),
        "SELECT SUM(time) FROM visits WHERE year = 2 OR year IS NULL": total(lambda r: r[2] in {2, ""}),
    }
    with opened(tmp_path, protect) as gw:
        parts = gw.query("SELECT faculty, year, SUM(time) AS minutes FROM visits GROUP BY faculty, year", spend="60%")
        assert [row[:2] for row in parts.rows] == [(f, y) for f in ("math", "law") for y in (1, 2, 3)]
        left = parts.left
        for sql, true in questions.items():
            answer = gw.query(sql, spend="0.1%", anyway=True)
            assert answer.follows, sql
            assert answer.left == left
            assert abs(answer.rows[0][0] - true) <= 4 * answer.errors()[0][0]  # missed once in 100,000


def test_the_missing_part_costs_nothing(tmp_path):
    sql = "SELECT faculty, SUM(time) AS minutes FROM visits GROUP BY faculty"
    for wish in ({"spend": "5%"}, {"error": 500}):
        said = []
        for reuse in ("false", "true"):
            with opened(tmp_path, reuse=reuse) as gw:
                said.append(gw.explain(sql, **wish))
        without, with_it = said
        assert (without.cost, without.error, without.price) == (with_it.cost, with_it.error, with_it.price)


def test_old_and_new_parts_are_put_together_group_by_group(tmp_path):
    truth = {name: total(lambda r, name=name: r[1] == name) for name in ("math", "law")}
    with opened(tmp_path) as gw:
        first = gw.query("SELECT faculty, SUM(time) AS a FROM visits GROUP BY faculty", spend="10%", anyway=True)
        second = gw.query("SELECT faculty, SUM(time) AS b FROM visits GROUP BY faculty", spend="30%", anyway=True)
        assert not second.follows
        assert second.errors()[0][1] < first.errors()[0][1] / 2
        for (name, value), (_, bar) in zip(second.rows, second.errors(), strict=True):
            assert abs(value - truth[name]) <= 4 * bar


def test_the_total_of_a_rollup_follows_from_what_it_measured(tmp_path):
    with opened(tmp_path) as gw:
        gw.query("SELECT faculty, year, SUM(time) AS a FROM visits GROUP BY ROLLUP (faculty, year)", spend="60%")
        answer = gw.query("SELECT SUM(time) FROM visits WHERE year = 2", spend="0.1%", anyway=True)
        assert abs(answer.rows[0][0] - total(lambda r: r[2] == 2)) <= 4 * answer.errors()[0][0]
