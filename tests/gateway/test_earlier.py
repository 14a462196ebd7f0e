"""What follows from earlier answers is free, right and as precise as it says; a question asked twice at once is charged once."""

import os
import random
import threading

import pytest

import nowiser as nw

POLICY = """\
nowiser: 1
tables:
  people:
    source: people.csv
    person: id
    people: 4000
    columns:
      id: {identifier: integer}
      town: {sensitive: [a, b, c, d]}
      ill: {sensitive: ["no", "yes"]}
      age: {sensitive: [0, 9], kind: integer}
      pay: {sensitive: [0, 100]}
attackers:
  - {guess: people.ill exactly, gain: 40%}
answers: {spend: 5%, reuse: true}
"""
RNG = random.Random(19)
ROWS = [(i, RNG.choice("abcd"), RNG.choice(["no", "yes"]), RNG.randrange(10), RNG.randrange(101)) for i in range(4000)]


@pytest.fixture
def policy(tmp_path):
    lines = [",".join(map(str, r)) for r in ROWS]
    (tmp_path / "people.csv").write_text("id,town,ill,age,pay\n" + "\n".join(lines))
    (tmp_path / "nowiser.yaml").write_text(POLICY)
    return tmp_path / "nowiser.yaml"


def used(gw):
    return 1 - gw.allowance()["left"]


def truth(keep, what=lambda r: 1):
    return sum(what(r) for r in ROWS if keep(r))


FREE = [
    ("SELECT COUNT(*) FROM people", truth(lambda r: True)),
    ("SELECT COUNT(*) FROM people WHERE town = 'a'", truth(lambda r: r[1] == "a")),
    ("SELECT COUNT(*) FROM people WHERE town <> 'a'", truth(lambda r: r[1] != "a")),
    (
        "SELECT COUNT(*) FROM people WHERE town IN ('a', 'c') AND ill = 'yes'",
        truth(lambda r: r[1] in "ac" and r[2] == "yes"),
    ),
    ("SELECT COUNT(*) FILTER (WHERE ill = 'yes') FROM people", truth(lambda r: r[2] == "yes")),
    ("SELECT 2 * COUNT(*) FROM people WHERE ill = 'no' OR ill = 'yes'", 2 * truth(lambda r: True)),
]


def test_totals_complements_and_coarser_groupings_are_free(policy):
    with nw.open(policy) as gw:
        gw.query("SELECT town, ill, COUNT(*) AS n FROM people GROUP BY town, ill", spend="30%")
        before = used(gw)
        for sql, true in FREE:
            said = gw.explain(sql, spend="0.5%")
            answer = gw.query(sql, spend="0.5%")
            assert answer.follows, sql
            assert (said.follows, said.price, answer.cost) == (True, 0.0, {})
            ((value,), (bar,)) = answer.rows[0], answer.errors()[0]
            assert bar > 0
            assert abs(value - true) <= 3 * bar
        assert used(gw) == before
        assert gw.query(FREE[1][0], spend="0.5%").stored


def test_what_does_not_follow_is_paid_for(policy):
    with nw.open(policy) as gw:
        gw.query("SELECT town, COUNT(*) AS n FROM people GROUP BY town", spend="30%")
        for sql in (
            "SELECT COUNT(*) FROM people WHERE ill = 'yes'",
            "SELECT COUNT(*) FROM people WHERE age < 3",
            "SELECT COUNT(DISTINCT id) FROM people",
            "SELECT SUM(age) FROM people WHERE town = 'a'",
        ):
            before = used(gw)
            assert not gw.query(sql, spend="0.5%", anyway=True).follows
            assert used(gw) > before


def test_more_precision_is_bought_and_put_together_with_the_old(policy):
    with nw.open(policy) as gw:
        first = gw.query("SELECT COUNT(*) AS n FROM people", spend="5%")
        second = gw.query("SELECT COUNT(*) AS m FROM people", spend="10%")
        alone = gw.explain("SELECT COUNT(*) AS k FROM people WHERE age = 3", spend="10%")
        assert not second.follows
        assert second.error[0] < min(first.error[0], alone.error[0] + 1)
        assert gw.query("SELECT COUNT(*) AS l FROM people", spend="10%").follows


@pytest.mark.parametrize("promise", ["every answer", "on average"])
def test_no_bar_is_wider_than_was_asked_for_because_of_old_answers(policy, promise):
    policy.write_text(POLICY.replace("gain: 40%}", f"gain: 40%, promise: {promise}}}"))
    with nw.open(policy) as gw:
        gw.query("SELECT COUNT(*) AS n FROM people", error=300, anyway=True)
        for error in (120, 80):
            asked = gw.query("SELECT town, COUNT(*) AS n FROM people GROUP BY town", error=error, anyway=True)
            assert not asked.follows
            assert all(bars[1] <= error for bars in asked.errors())


RESPELT = [
    "SELECT town, AVG(pay) AS m FROM people GROUP BY town",
    "SELECT town, AVG(pay) AS money FROM people GROUP BY town",
    "SELECT town, AVG(pay) AS m FROM people GROUP BY town LIMIT 2",
    "SELECT town, AVG(pay) AS m FROM people GROUP BY town ORDER BY m DESC",
    "SELECT town, AVG(pay) AS m FROM people GROUP BY town HAVING AVG(pay) > 10",
    "SELECT AVG(pay) AS m, town FROM people GROUP BY town",
    "SELECT town, AVG(pay) / 12 AS m FROM people GROUP BY town",
    "SELECT town, AVG(p.pay) AS m FROM people AS p GROUP BY p.town",
    "select TOWN, avg(PAY) as m from PEOPLE group by TOWN",
    "SELECT town, (AVG((pay))) AS m FROM people GROUP BY (town)",
    "SELECT * FROM (SELECT town, AVG(pay) AS m FROM people GROUP BY town) AS t",
    "SELECT town, AVG(pay) AS m FROM people WHERE town IN ('a', 'b') GROUP BY town",
]


def test_eleven_respellings_of_one_question_are_one_charge(policy):
    with nw.open(policy) as gw:
        gw.query(RESPELT[0], anyway=True)
        before = used(gw)
        for sql in RESPELT[1:]:
            gw.query(sql, anyway=True)
            assert used(gw) == before, sql
        assert gw.query("SELECT COUNT(*) FROM people LIMIT 0").rows == ()
        assert used(gw) == before


def test_bars_of_combinations_cover_the_truth(policy):
    """300 combinations of fresh noise, of sums and differences: 95 % of the bars hold (binomial, at 10⁻⁴)."""
    hits = total = 0
    for _ in range(50):
        for file in policy.parent.glob(".nowiser/ledger*"):
            file.unlink()
        with nw.open(policy) as gw:
            gw.query("SELECT town, ill, COUNT(*) AS n FROM people GROUP BY town, ill", spend="20%")
            for sql, true in FREE:
                answer = gw.query(sql, spend="0.1%", anyway=True)
                assert answer.follows
                hits += abs(answer.rows[0][0] - true) <= answer.errors()[0][0]
                total += 1
    assert hits / total >= 0.95 - 3.7 * (0.05 * 0.95 / total) ** 0.5


def test_an_analyst_without_a_share_left_still_gets_what_follows(policy):
    policy.write_text(POLICY + "analysts: {ann: 50%, bob: 1%}\n")
    with nw.open(policy) as gw:
        gw.query("SELECT town, COUNT(*) AS n FROM people GROUP BY town", spend="20%", analyst="ann")
        with pytest.raises(nw.Exhausted):
            gw.query("SELECT ill, COUNT(*) AS n FROM people GROUP BY ill", spend="20%", analyst="bob")
        assert gw.query("SELECT COUNT(*) FROM people", spend="20%", analyst="bob").follows


def test_new_data_are_not_answered_from_old_cells(policy):
    sql = "SELECT COUNT(*) FROM people WHERE town = 'a'"
    with nw.open(policy) as gw:
        gw.query("SELECT town, COUNT(*) AS n FROM people GROUP BY town", spend="20%")
        assert gw.query(sql, spend="1%").follows
    with (policy.parent / "people.csv").open("a") as file:
        file.write("\n9999,a,no,1,1")
    with nw.open(policy) as gw:
        answer = gw.query(sql, spend="1%", anyway=True)
        assert not answer.follows
        assert not answer.stored


def test_fifty_threads_with_one_question_are_one_charge(policy):
    answers = []
    with nw.open(policy) as gw:
        start = threading.Barrier(50)

        def ask():
            start.wait()
            answers.append(gw.query("SELECT COUNT(*) AS n FROM people", spend="10%"))

        threads = [threading.Thread(target=ask) for _ in range(50)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert used(gw) == pytest.approx(0.1, abs=0.002)
    assert len(answers) == 50
    assert len({a.rows for a in answers}) == 1


def test_who_is_answered_the_same_for_free_at_that_moment_is_waited_for(policy, monkeypatch):
    sql = "SELECT COUNT(*) FROM people"
    with nw.open(policy) as gw, nw.open(policy) as other:
        gw.query("SELECT town, COUNT(*) AS n FROM people GROUP BY town", spend="20%")
        reserve, others = gw._ledger.reserve, []

        def late(*given, **named):
            if not others:
                others.append(other.query(sql, spend="1%"))
            return reserve(*given, **named)

        monkeypatch.setattr(gw._ledger, "reserve", late)
        assert gw.query(sql, spend="1%").rows == others[0].rows
        assert others[0].follows


def test_two_processes_with_one_question_are_one_charge(policy):
    nw.open(policy).close()
    children, pipes = [], []
    for _ in range(2):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                with nw.open(policy) as gw:
                    for i in range(5):
                        rows = gw.query(
                            f"SELECT COUNT(*) AS n FROM people WHERE age = {i}", spend="4%", anyway=True
                        ).rows
                        os.write(writing, f"{rows[0][0]} ".encode())
                os._exit(0)
            finally:
                os._exit(1)
        os.close(writing)
        children.append(child)
        pipes.append(reading)
    told = []
    for reading in pipes:
        text = b""
        while block := os.read(reading, 4096):
            text += block
        os.close(reading)
        told.append(text)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    assert told[0] == told[1]
    assert len(told[0].split()) == 5
    with nw.open(policy) as gw:
        assert used(gw) == pytest.approx(0.2, abs=0.004)


def test_cells_on_a_fine_grid_are_combined(tmp_path):
    """Their variances, in units squared, add up to more than 64 bits hold."""
    rows = [f"{'mf'[i % 2]},{1 + i % 50 / 10}" for i in range(244)]
    (tmp_path / "tips.csv").write_text("sex,tip\n" + "\n".join(rows))
    (tmp_path / "nowiser.yaml").write_text("""\
nowiser: 1
tables:
  tips:
    source: tips.csv
    person: each row
    protect: values
    columns: {sex: {public: [f, m]}, tip: {sensitive: [0, 8], prior: uniform}}
attackers: [{guess: tips.tip within 0.2, gain: 10%}]
answers: {spend: 20%, reuse: true}
""")
    with nw.open(tmp_path / "nowiser.yaml") as gw:
        gw.query("SELECT AVG(tip) FROM tips", anyway=True)
        answer = gw.query("SELECT sex, AVG(tip) AS tip FROM tips GROUP BY sex", anyway=True)
        assert all(0 < error < 8 for _, error in answer.errors())


def test_explain_says_the_bar_of_what_follows(policy):
    """Of an average no bar is known beforehand; of one that follows it is that of the answer."""
    share = "SELECT 100.0 * COUNT(*) FILTER (WHERE ill = 'yes') / COUNT(*) AS p FROM people"
    with nw.open(policy) as gw:
        gw.query("SELECT ill, COUNT(*) FROM people GROUP BY ill", spend="20%", anyway=True)
        said = gw.explain(share, spend="0.1%")
        assert said.follows
        assert said.error == (None,)
        answer = gw.query(share, spend="0.1%", anyway=True)
        assert said.expected == {"p": answer.errors()[0][0]}
        assert answer.expected == {}
