"""Who is found in a released graph: the figures of the design, and what every attack has to be."""

import numpy as np
import pytest

import nowiser as nw
from nowiser.attacks.graphs import matching
from nowiser.graphs.made_up import preferential, school, uniform
from nowiser.graphs.read import read
from nowiser.graphs.release.k_degree import k_degree
from nowiser.graphs.release.rewire import rewire


def found(graph, released, random, way=matching.by_characteristic):
    order = random.permutation(graph.people)
    shown = released.renumbered(order)
    return float((way(graph.adjacency, shown.adjacency, random).place == order).mean())


@pytest.mark.parametrize("triangles", [0.0, 0.5])
def test_characteristic_vectors_find_nearly_everybody(triangles):
    random = np.random.default_rng(0)
    graph = preferential(1000, 5, random, triangles=triangles)
    for released in (rewire(graph, 0.2, random), k_degree(graph, 5, random)):
        assert found(graph, released, random) >= 0.98
        assert found(graph, released, random, matching.by_degree) <= 0.1


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("triangles", [0.0, 0.5])
def test_the_table_of_the_design(seed, triangles):
    random = np.random.default_rng(seed)
    graph = preferential(1000, 5, random, triangles=triangles)
    for share in (0.01, 0.05, 0.1, 0.2):
        assert found(graph, rewire(graph, share, random), random) >= 0.98
    assert found(graph, k_degree(graph, 5, random), random) >= 0.98


def test_a_graph_without_structure_is_not_found():
    random = np.random.default_rng(0)
    graph = uniform(300, 450, random)
    assert found(graph, rewire(graph, 0.5, random), random) <= 0.25


def test_seeds_reach_the_others():
    random = np.random.default_rng(1)
    graph = preferential(600, 5, random)
    released = rewire(graph, 0.05, random)
    order = random.permutation(600)
    shown = released.renumbered(order)
    seeds = np.full(600, -1, np.int64)
    some = random.permutation(600)[:60]
    seeds[some] = order[some]
    place = matching.by_propagation(graph.adjacency, shown.adjacency, seeds, random).place
    assert (place == order).mean() > 0.8


def test_a_large_graph_starts_at_its_core(monkeypatch):
    monkeypatch.setattr(matching, "DENSE", 200)
    monkeypatch.setattr(matching, "CORE", 200)
    random = np.random.default_rng(2)
    graph = preferential(800, 6, random)
    assert found(graph, rewire(graph, 0.01, random), random) > 0.7


@pytest.fixture(scope="module")
def released():
    random = np.random.default_rng(0)
    graph = school(random, classes=8, pupils=15)
    return graph, rewire(graph, 0.05, random)


def test_the_harness_scores_identity_links_and_labels(released):
    graph, other = released
    found = nw.attack(other, graph=True, original=graph, label="class", seed=1, victims=200)
    by_name = {o.attack: o for o in found.outcomes}
    assert by_name["characteristic vectors"].after.value > 0.8
    assert by_name["characteristic vectors"].before.value == pytest.approx(1 / graph.people)
    assert by_name["degree"].after.value < 0.4
    assert by_name["link by characteristic vectors"].after.value > 0.8
    assert by_name["label by characteristic vectors"].after.value > 0.8
    assert all(o.could_win for o in found.outcomes), "every attack wins where nothing was changed"
    assert any(n.attack == "propagation from seeds" for n in found.not_run)


def test_nothing_is_found_in_a_graph_of_others(released):
    """Independent links: at most as often as without the release."""
    graph, _ = released
    empty = uniform(graph.people, graph.size, np.random.default_rng(9))
    found = nw.attack(nw_named(empty, graph), graph=True, original=graph, seed=1, victims=200)
    for o in found.outcomes:
        assert o.after.low <= o.before.value + 1e-9, o.attack


def nw_named(links, names):
    return names.with_links(links.links)


def test_the_same_seed_gives_the_same_result(released):
    graph, other = released
    one, two = (nw.attack(other, graph=True, original=graph, seed=3, only=("degree",)) for _ in range(2))
    assert one.outcomes[0].after == two.outcomes[0].after


def test_new_names_need_a_table_of_names(released, tmp_path):
    graph, other = released
    renamed = other.renumbered(np.arange(other.people), np.array([f"x{i}" for i in range(other.people)]))
    with pytest.raises(nw.Misconfigured, match="by name"):
        nw.attack(renamed, graph=True, original=graph)
    names = "old,new\n" + "".join(f"{n},x{i}\n" for i, n in enumerate(graph.names))
    (tmp_path / "names.csv").write_text(names)
    found = nw.attack(renamed, graph=True, original=graph, names=tmp_path / "names.csv", seed=1, only=("degree",))
    assert found.outcomes[0].victims == graph.people


def test_the_real_graph(real_data):
    people = real_data("graphs/email-Eu-core-department-labels.txt")
    graph = read(real_data("graphs/email-Eu-core.txt"), people).graph
    random = np.random.default_rng(0)
    assert graph.people == 1005
    assert found(graph, rewire(graph, 0.05, random), random) >= 0.9
