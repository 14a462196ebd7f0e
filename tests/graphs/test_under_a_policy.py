"""`nowiser graph`: charged before links are read, stored, on the account of links or of persons."""

import json

import numpy as np
import pytest

import nowiser as nw
from nowiser.graphs.growth import growth
from nowiser.graphs.made_up import school
from support.commands import nowiser

LINKS = """
nowiser: 1
tables:
  pupils:
    source: pupils.csv
    public: true
    unique: [id]
    columns: {id: {public: text}, sex: {public: [girl, boy]}}
  friends:
    source: friends.csv
    links: {pupil: pupils.id, friend: pupils.id}
    protect: links
    presence: 3%
    columns: {pupil: identifier, friend: identifier}
attackers:
  - {guess: present in friends, gain: 30%}
"""
PERSONS = (
    LINKS.replace("public: true\n    unique: [id]", "person: id\n    presence: 50%")
    .replace("id: {public: text}", "id: identifier")
    .replace("protect: links\n    presence: 3%", "protect: persons")
    .replace("present in friends", "present in pupils")
)


@pytest.fixture
def folder(tmp_path):
    graph = school(np.random.default_rng(1), classes=4, pupils=10)
    sex = graph.labels["sex"]
    (tmp_path / "pupils.csv").write_text("id,sex\n" + "".join(f"{n},{sex[i]}\n" for i, n in enumerate(graph.names)))
    links = "".join(f"{graph.names[a]},{graph.names[b]}\n" for a, b in graph.links)
    (tmp_path / "friends.csv").write_text("pupil,friend\n" + links)
    (tmp_path / "nowiser.yaml").write_text(LINKS)
    return tmp_path


def test_an_answer_is_charged_once_and_kept(folder):
    with nw.open(folder / "nowiser.yaml") as gw:
        links = gw.graph("friends")
        price = links.explain("triangles", spend="10%")
        assert price.told is None
        assert price.left == pytest.approx(0.9, abs=1e-6)
        assert gw.allowance()["left"] == 1, "explain charges nothing"
        one = links.ask("triangles", spend="10%")
        two = links.ask("triangles", spend="10%")
        assert one.told.rows == two.told.rows
        assert (one.stored, two.stored) == (False, True)
        assert two.left == one.left == pytest.approx(0.9, abs=1e-6)
        (guess,) = one.guesses
        assert guess.before == pytest.approx(0.03)
        odds = float(np.exp(float(one.epsilon))) * 0.03 / 0.97
        exact = odds / (1 + odds)
        assert exact <= guess.after <= exact + 0.001, "one link costs ε"
        many = links.ask("between", by="sex", spend="5%")
        assert [r[:2] for r in many.told.rows] == [("girl", "girl"), ("girl", "boy"), ("boy", "boy")]
        with pytest.raises(nw.Exhausted):
            links.ask("links", spend="90%")


def test_changed_links_are_another_question(folder):
    with nw.open(folder / "nowiser.yaml") as gw:
        gw.graph().ask("links", spend="5%")
    (folder / "friends.csv").write_text("pupil,friend\np000,p001\n")
    with nw.open(folder / "nowiser.yaml") as gw:
        assert not gw.graph().ask("links", spend="5%").stored
        assert gw.allowance()["left"] == pytest.approx(0.9, abs=1e-6)


def test_persons_pay_for_all_their_links(folder):
    (folder / "nowiser.yaml").write_text(PERSONS)
    with nw.open(folder / "nowiser.yaml") as gw:
        found = gw.graph().ask("links", spend="20%", most=8)
        assert found.to_json()["record"] == "a person with all her links"
        assert found.told.bars[0] == pytest.approx(8 * 2.9957 / float(found.epsilon), rel=0.1)
        assert gw.graph().ask("degrees", spend="10%", most=8).told.rows[-1][0] == 8
        with pytest.raises(nw.Misconfigured, match="without bound"):
            gw.graph().ask("triangles")


def test_a_graph_of_nobody(folder):
    done = nowiser(folder, "graph", "synthetic", "--by", "sex", "--spend", "50%", "-o", "made.csv", "--json")
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert content["files"] == ["made.csv", "made.people.csv"]
    again = nowiser(folder, "graph", "synthetic", "--by", "sex", "--spend", "50%")
    assert "This answer was given before: it is free." in again.stdout


def test_sql_does_not_ask_about_links(folder):
    with nw.open(folder / "nowiser.yaml") as gw:
        with pytest.raises(nw.NotAnswerable, match="join two people"):
            gw.query("SELECT COUNT(*) FROM friends")
        assert gw.query("SELECT COUNT(*) FROM pupils").rows == ((40,),)
    for command in (
        ["synth", "friends", "--spend", "5%"],
        ["learn", "friends", "--dry"],
        ["publish", "--table", "friends"],
    ):
        done = nowiser(folder, *command, "-p", str(folder / "nowiser.yaml"))
        assert done.returncode in {2, 3}, (command, done.stdout, done.stderr)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("    protect: links\n", ""), "what is a record"),
        (("protect: links", "protect: values"), "protect"),
        (("friend: pupils.id}", "friend: other.id}"), "same table"),
        (("links: {pupil: pupils.id, friend: pupils.id}", "links: {pupil: pupils.id}"), "two columns"),
        (("unique: [id]", "unique: [sex]"), "does not name one row"),
        (("{pupil: identifier, friend: identifier}", "{pupil: identifier, friend: {public: text}}"), "identifier"),
        (("    protect: links", "    person: pupil\n    protect: links"), "no meaning"),
        (("protect: links", "protect: persons"), "protect them too"),
    ],
)
def test_policies_of_links_that_make_no_sense(folder, change, said):
    (folder / "nowiser.yaml").write_text(LINKS.replace(*change))
    with pytest.raises(nw.Misconfigured, match=said):
        nw.open(folder / "nowiser.yaml")


def test_the_meaning_of_a_policy_of_links_is_read_back(folder):
    from nowiser import policy

    for text in (LINKS, PERSONS):
        (folder / "nowiser.yaml").write_text(text)
        read = policy.read(folder / "nowiser.yaml")
        back = policy.from_canonical(policy.canonical(read))
        assert policy.digest(back) == read.digest
        (one,), (two,) = ([t for t in p.tables if t.ends is not None] for p in (read, back))
        assert (one.ends, one.link, one.person, one.protect) == (two.ends, two.link, two.person, two.protect)


def test_the_command_tells_price_and_statistics(folder):
    listed = nowiser(folder, "graph")
    assert "triangles" in listed.stdout
    dry = nowiser(folder, "graph", "links", "--spend", "20%", "--dry")
    assert "Expected: ±" in dry.stdout
    assert "a record is one link" in dry.stdout
    wrong = nowiser(folder, "graph", "circles")
    assert wrong.returncode == 3
    assert "There are: links" in wrong.stderr


def test_growth_tells_more_than_one_link_would():
    found = growth(1.0, people=200, runs=200)
    assert found.after > found.promised + 0.03
    assert found.promised == pytest.approx(float(np.exp(1) / (1 + np.exp(1))))
    assert growth(0.01, people=60, runs=60).after < 0.75
