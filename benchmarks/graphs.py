"""Graphs: who is found, how quickly; degree anonymity; statistics. Processor seconds; networkx counts triangles too."""

import time
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np

from nowiser.attacks.graphs import matching
from nowiser.graphs.answers.degrees import smoothed
from nowiser.graphs.answers.subgraphs import noisy_triangles, triangles
from nowiser.graphs.graph import Graph
from nowiser.graphs.made_up import preferential, uniform
from nowiser.graphs.read import read
from nowiser.graphs.release.k_degree import k_degree
from nowiser.graphs.release.rewire import rewire
from nowiser.noise.entropy import OS

SEEDS = 3


def timed(work, *arguments):
    start = time.process_time()
    made = work(*arguments)
    return made, time.process_time() - start


def found(graph: Graph, released: Graph, random: np.random.Generator, way=matching.by_characteristic):
    order = random.permutation(graph.people)
    matched, seconds = timed(way, graph.adjacency, released.renumbered(order).adjacency, random)
    return float((matched.place == order).mean()), seconds


def row(what: str, measured: float, unit: str, target: float | None = None, *, least: bool = False) -> dict[str, Any]:
    met = None if target is None else (measured >= target if least else measured <= target)
    return {"what": what, "measured": round(float(measured), 4), "unit": unit, "target": target, "met": met}


def who_is_found() -> Iterator[dict[str, Any]]:
    """1,000 people, averages of three graphs."""
    for name, grow, least in (
        ("Barabási–Albert", lambda r: preferential(1000, 5, r), 0.98),
        ("power-law clusters", lambda r: preferential(1000, 5, r, triangles=0.5), 0.98),
        ("uniform", lambda r: uniform(1000, 5000, r), None),
    ):
        rates: dict[str, list[tuple[float, float]]] = {}
        for seed in range(SEEDS):
            random = np.random.default_rng(seed)
            graph = grow(random)
            for share in (0.01, 0.05, 0.1, 0.2):
                rates.setdefault(f"{share:.0%} rewired", []).append(found(graph, rewire(graph, share, random), random))
            rates.setdefault("k-degree 5", []).append(found(graph, k_degree(graph, 5, random), random))
            other = rewire(graph, 0.1, random)
            rates.setdefault("10% rewired, degree alone", []).append(found(graph, other, random, matching.by_degree))
        for what, runs in rates.items():
            mean, seconds = np.mean(runs, axis=0)
            target = None if "alone" in what else least
            yield row(f"{name}, {what}: found", mean, "share", target, least=True)
            yield row(f"{name}, {what}: time", seconds, "s", 5.0)


def statistics() -> Iterator[dict[str, Any]]:
    """5,000 people, ε = 1."""
    graph = preferential(5000, 5, np.random.default_rng(0))
    (count, _), ours = timed(triangles, graph)
    twin = nx.from_scipy_sparse_array(graph.adjacency)
    theirs, peer = timed(lambda: sum(nx.triangles(twin).values()) // 3)
    assert count == theirs
    yield row(f"{count} triangles counted", ours, "s")
    yield row("the same by networkx", peer, "s")
    errors = [abs(noisy_triangles(graph, Fraction(1), OS)[0] - count) / count for _ in range(40)]
    yield row("triangles, median relative error", float(np.median(errors)), "share", 0.1)
    off = [np.sqrt(((smoothed(graph, Fraction(1), OS) - np.sort(graph.degrees)) ** 2).mean()) for _ in range(10)]
    yield row("sorted degrees, root mean square error", float(np.mean(off)), "links", 0.4)


def large() -> Iterator[dict[str, Any]]:
    """A million links."""
    graph = preferential(200_000, 5, np.random.default_rng(0))
    yield row(f"{graph.size:,} links read from a matrix", timed(read, graph.adjacency)[1], "s")
    for k in (5, 20):
        made, seconds = timed(k_degree, graph, k, np.random.default_rng(1))
        yield row(f"degree anonymity, k = {k} ({made.size / graph.size - 1:+.3%} links)", seconds, "s", 10.0)
    for share in (0.01, 0.1):
        random = np.random.default_rng(2)
        rate, seconds = found(graph, rewire(graph, share, random), random)
        yield row(f"{share:.0%} rewired: found", rate, "share")
        yield row(f"{share:.0%} rewired: time", seconds, "s", 300.0)


def run() -> list[dict[str, Any]]:
    return [*who_is_found(), *statistics(), *large()]
