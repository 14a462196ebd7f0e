"""`publish --graph`: what is promised holds for the file; nothing is half written; names stay with the custodian."""

import json
import stat

import numpy as np
import pyarrow.csv as pa_csv
import pytest

import nowiser as nw
from nowiser.graphs.made_up import school
from nowiser.graphs.read import read
from support.commands import nowiser


@pytest.fixture
def folder(tmp_path):
    graph = school(np.random.default_rng(1), classes=4, pupils=10)
    people = "id,class,sex\n" + "".join(
        f"{n},{graph.labels['class'][i]},{graph.labels['sex'][i]}\n" for i, n in enumerate(graph.names)
    )
    links = "pupil,friend\n" + "".join(f"{graph.names[a]},{graph.names[b]}\n" for a, b in graph.links)
    (tmp_path / "pupils.csv").write_text(people)
    (tmp_path / "friends.csv").write_text(links)
    return tmp_path


def test_degrees_in_the_file_are_those_of_four_others(folder):
    made = nw.publish_graph(
        folder / "friends.csv",
        people=folder / "pupils.csv",
        keep=["class"],
        k=5,
        output=folder / "out.csv",
        names=folder / "names.csv",
        seed=1,
    )
    there = read(folder / "out.csv", folder / "out.people.csv").graph
    assert np.unique(there.degrees, return_counts=True)[1].min() >= 5
    assert set(there.labels) == {"class"}
    assert (folder / "names.csv").stat().st_mode & 0o777 == stat.S_IRUSR | stat.S_IWUSR
    table = pa_csv.read_csv(folder / "names.csv").to_pydict()
    original = read(folder / "friends.csv", folder / "pupils.csv").graph
    place = dict(zip(table["original"], table["released"], strict=True))
    for i, name in enumerate(original.names):
        at = int(np.flatnonzero(there.names == place[name])[0])
        assert there.labels["class"][at] == original.labels["class"][i], "labels go with their people"
    assert not set(there.names) & set(original.names)
    assert "Nothing is promised against whoever knows links" in str(made)
    page = made.save(folder / "r.html").read_text()
    assert "for the custodian only" in page
    assert "http" not in page.replace("http://www.w3.org", "")


def test_links_that_are_blurred_are_guessed_as_promised(folder):
    made = nw.publish_graph(
        folder / "friends.csv", people=folder / "pupils.csv", method="randomise", presence="3%", gain="10%", seed=2
    )
    read_off = next(o for o in made.attacks.outcomes if o.attack == "link read off")
    assert read_off.ceiling is not None
    assert read_off.after.low <= read_off.ceiling.ceiling
    assert read_off.after.high > 0.6, "this attacker reaches what is promised"
    assert not made.attacks.refuted


def test_clusters_are_counted(folder):
    made = nw.publish_graph(
        folder / "friends.csv",
        people=folder / "pupils.csv",
        method="clusters",
        by="class",
        k=5,
        output=folder / "c.csv",
    )
    assert made.clusters.sizes.min() >= 5
    table = pa_csv.read_csv(folder / "c.csv").to_pydict()
    assert sum(table["links"]) == read(folder / "friends.csv").graph.size
    assert "Nothing is promised" in str(made)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"method": "nothing"}, "no method"),
        ({"method": "rename", "k": 3}, "does not take k"),
        ({"k": 1}, "at least 2"),
        ({"k": 5000}, "only 40 people"),
        ({"method": "randomise", "presence": "3%"}, "needs gain"),
        ({"method": "rewire", "share": "200%"}, "share"),
        ({"keep": ["age"]}, "no column 'age'"),
        ({"output": "out.doc"}, "out.doc"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(folder, options, said):
    before = sorted(p.name for p in folder.iterdir())
    with pytest.raises(nw.Misconfigured, match=said):
        nw.publish_graph(folder / "friends.csv", people=folder / "pupils.csv", **options)
    assert sorted(p.name for p in folder.iterdir()) == before


def test_blurring_needs_the_people(folder):
    with pytest.raises(nw.Misconfigured, match="table of people"):
        nw.publish_graph(folder / "friends.csv", method="randomise", presence="3%", gain="10%")


def test_on_the_command_line(folder):
    done = nowiser(
        folder, "publish", "--graph", "friends.csv", "--method", "rewire", "--share", "10%", "-o", "out.csv", "--json"
    )
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert content["method"] == "rewire"
    assert content["files"] == ["out.csv", "out.people.csv"]
    again = nowiser(folder, "publish", "--graph", "friends.csv", "-o", "out.csv")
    assert again.returncode == 3
    assert "out.csv" in again.stderr
    both = nowiser(folder, "publish", "--graph", "friends.csv", "--quasi", "age")
    assert both.returncode == 3
    assert "is about tables" in both.stderr
