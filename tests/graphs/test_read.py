"""Reading graphs: every way in gives the same links; what was cleaned is said; nothing is guessed silently."""

import gzip

import networkx as nx
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

from nowiser.errors import Misconfigured
from nowiser.graphs.graph import Graph
from nowiser.graphs.made_up import preferential
from nowiser.graphs.read import declared, read

LINKS = "a,b\nann,bea\nbea,cleo\ncleo,cleo\nbea,ann\n,dora\nann,bea\n"


def by_name(graph):
    return {frozenset((str(graph.names[a]), str(graph.names[b]))) for a, b in graph.links}


@pytest.mark.parametrize("how", ["csv", "tsv", "gz", "parquet", "arrow", "networkx", "pairs"])
def test_every_way_gives_the_same_links(tmp_path, how):
    want = {frozenset(("1", "2")), frozenset(("2", "10"))}
    pairs = [(1, 2), (2, 10)]
    text = "u,v\n1,2\n2,10\n"
    made = {
        "csv": lambda p: p.write_text("# a comment\n" + text),
        "tsv": lambda p: p.write_text("1\t2\n2\t10\n"),
        "gz": lambda p: p.write_bytes(gzip.compress(text.encode())),
        "parquet": lambda p: pq.write_table(pa.table({"u": [1, 2], "v": [2, 10]}), p),
    }
    source = tmp_path / {"csv": "x.csv", "tsv": "x.txt", "gz": "x.csv.gz", "parquet": "x.parquet"}.get(how, "x")
    if how in made:
        made[how](source)
    else:
        source = {"arrow": pa.table({"u": [1, 2], "v": [2, 10]}), "networkx": nx.Graph(pairs), "pairs": pairs}[how]
    graph = read(source).graph
    assert by_name(graph) == want
    assert list(graph.names) == ["1", "2", "10"], "whole numbers by size"


def test_what_is_no_link_is_left_out_and_said(tmp_path):
    (tmp_path / "x.csv").write_text(LINKS)
    found = read(tmp_path / "x.csv")
    assert by_name(found.graph) == {frozenset(("ann", "bea")), frozenset(("bea", "cleo"))}
    said = " ".join(found.notes)
    assert "1 rows without a person" in said
    assert "1 links of somebody to the same person" in said
    assert "1 links stood there twice" in said
    assert "1 stood there in one direction, 1 in both" in said
    assert found.directed


def test_people_without_links_are_there_if_they_are_named(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\nann,bea\n")
    (tmp_path / "p.csv").write_text("id,class\nbea,1\nann,2\nzoe,1\n")
    found = read(tmp_path / "x.csv", tmp_path / "p.csv")
    assert list(found.graph.names) == ["bea", "ann", "zoe"]
    assert list(found.graph.labels["class"]) == ["1", "2", "1"]
    assert found.graph.degrees.tolist() == [1, 1, 0]
    assert "1 people have no link" in found.notes


@pytest.mark.parametrize(
    ("links", "people", "said"),
    [
        ("a,b\nann,bea\n", "id\nann\n", "not in the table of people"),
        ("a,b\nann,bea\n", "id\nann\nann\nbea\n", "names somebody twice"),
        ("a\nann\n", None, "two columns"),
        ("a,b\nann,ann\n", None, "no link between two people"),
        ("", None, "is empty"),
    ],
)
def test_bad_files_are_refused_in_words(tmp_path, links, people, said):
    (tmp_path / "x.csv").write_text(links)
    if people is not None:
        (tmp_path / "p.csv").write_text(people)
    with pytest.raises(Misconfigured, match=said):
        read(tmp_path / "x.csv", None if people is None else tmp_path / "p.csv")


def test_other_bad_input():
    for source, said in (
        ("nowhere.csv", "no file"),
        ("x.doc", "are read from"),
        (5, "not int"),
        (sparse.csr_array(np.ones((2, 3))), "square"),
    ):
        with pytest.raises(Misconfigured, match=said):
            read(source)


def test_a_matrix_is_the_graph_it_came_from():
    graph = preferential(60, 3, np.random.default_rng(1))
    assert np.array_equal(read(graph.adjacency).graph.links, graph.links)
    assert graph.linked(np.array([0, 1]), np.array([59, 1])).shape == (2,)
    everybody = np.array([(a, b) for a in range(60) for b in range(60)])
    dense = graph.adjacency.toarray() > 0
    assert np.array_equal(graph.linked(everybody[:, 0], everybody[:, 1]), dense.ravel())


def test_a_policys_graph_never_fails_over_its_rows():
    people = pa.table({"id": ["a", "b", "b", None, "c"], "class": ["1", "2", "1", "2", None]})
    links = pa.table({"x": ["a", "b", None, "zoe", "c"], "y": ["b", "b", "a", "a", "a"]})
    graph = declared(links, people)
    assert list(graph.names) == ["a", "b", "c"]
    assert by_name(graph) == {frozenset("ab"), frozenset("ac")}
    assert list(graph.labels["class"]) == ["1", "2", ""]
    assert declared(links.slice(0, 0), people).size == 0


def test_a_graph_refuses_links_to_nobody():
    with pytest.raises(Misconfigured, match="not among the people"):
        Graph.of(3, [(0, 3)])
