"""What is expected of an answer uses the sizes of its groups that follow from earlier answers."""

import pytest

import nowiser as nw

POLICY = """\
nowiser: 1
tables:
  stays:
    source: stays.csv
    person: id
    people: 1000
    columns:
      id: {identifier: integer}
      ward: {sensitive: {values: [a, b, c]}}
      days: {sensitive: [0, 60], kind: integer}
attackers: [{guess: present in stays, gain: 40%}]
answers: {spend: 5%, reuse: REUSE}
"""
ASKED = "SELECT AVG(days) AS days FROM stays WHERE ward = 'a'"


@pytest.mark.parametrize("reuse", [True, False])
def test_an_average_is_expected_over_the_rows_that_were_counted(tmp_path, reuse):
    rows = [f"{i},{'aab'[i % 3]},{i % 10}" for i in range(30_000)]  # 20,000, 10,000 and none
    (tmp_path / "stays.csv").write_text("id,ward,days\n" + "\n".join(rows))
    (tmp_path / "nowiser.yaml").write_text(POLICY.replace("REUSE", str(reuse).lower()))
    with nw.open(tmp_path / "nowiser.yaml") as gw:
        before = gw.explain(ASKED, spend="10%")
        told = gw.query("SELECT ward, COUNT(*) AS n FROM stays GROUP BY ward", error=100, anyway=True)
        after = gw.explain(ASKED, spend="10%")
        assert "333 rows" in before.expected_for
        if not reuse:
            assert after.expected == before.expected
            return
        assert "answer" in after.expected_for
        answer = gw.query(ASKED, spend="10%")
        assert answer.errors()[0][0] / 2 < after.expected["days"] < 2 * answer.errors()[0][0]
        empty = gw.explain("SELECT AVG(days) AS days FROM stays WHERE ward = 'c'", spend="10%")
        by_chance = dict(told.rows)["c"] > told.errors()[0][1]  # one time in forty
        assert by_chance or "answer" not in empty.expected_for  # noise around nothing tells no size


def test_coarse_counts_tell_more_than_none_where_members_are_public(tmp_path):
    """300 of 15,000 are positive. Nobody expects 5,000 any more once that was told, coarsely."""
    rows = [f"{'positive' if i % 50 == 0 else 'negative'},{10 + i % 30}" for i in range(15_000)]
    (tmp_path / "tests.csv").write_text("result,ct\n" + "\n".join(rows))
    (tmp_path / "nowiser.yaml").write_text("""\
nowiser: 1
tables:
  tests:
    source: tests.csv
    person: each row
    protect: values
    columns: {result: {sensitive: [invalid, negative, positive]}, ct: {sensitive: [0, 50]}}
attackers: [{guess: tests.result exactly, gain: 10%}]
answers: {spend: 10%, reuse: true}
""")
    ask = "SELECT AVG(ct) AS ct FROM tests WHERE result = 'positive'"
    with nw.open(tmp_path / "nowiser.yaml") as gw:
        assert gw.explain(ask).useless is None
        counts = dict(gw.query("SELECT result, COUNT(*) FROM tests GROUP BY result", error=50).rows)
        before = gw.allowance()["left"]
        with pytest.raises(nw.Useless, match=f"{counts['positive']:,} rows: as an answer told before"):
            gw.query(ask)
        assert gw.allowance()["left"] == before
