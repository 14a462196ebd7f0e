"""Graphs as textbooks grow them, for demonstrations, tests and benchmarks. Seeded: nothing here protects anybody."""

import numpy as np

from nowiser.graphs.graph import Graph

Random = np.random.Generator


def preferential(people: int, each: int, random: Random, *, triangles: float = 0.0) -> Graph:
    """Newcomers link to `each` others, in proportion to how many links these have (Barabási and Albert).

    triangles: how often the next link goes to a neighbour of the one before (Holme and Kim: power-law clusters).
    """
    ends = list(range(each))  # whoever is drawn from it is drawn by degree
    friends: list[list[int]] = [[] for _ in range(people)]
    links = []
    for newcomer in range(each, people):
        chosen: dict[int, None] = {}
        last = -1
        while len(chosen) < each:
            near = [x for x in friends[last] if x not in chosen] if last >= 0 and random.random() < triangles else []
            drawn = near[random.integers(len(near))] if near else ends[random.integers(len(ends))]
            if drawn not in chosen:
                chosen[drawn] = None
                last = drawn
        for other in chosen:
            links.append((other, newcomer))
            friends[other].append(newcomer)
            friends[newcomer].append(other)
        ends += [*chosen, *([newcomer] * each)]
    return Graph.of(people, links)


def uniform(people: int, links: int, random: Random) -> Graph:
    """So many links between pairs drawn at random (Erdős and Rényi)."""
    drawn = np.zeros((0, 2), np.int64)
    while len(drawn) < links:
        more = random.integers(people, size=(2 * (links - len(drawn)) + 8, 2))
        drawn = Graph.of(people, np.concatenate([drawn, more])).links
    return Graph.of(people, drawn[random.permutation(len(drawn))[:links]])


def school(random: Random, *, classes: int = 12, pupils: int = 25, friends: float = 8.0) -> Graph:
    """Friendships of a school: most within a class, some between classes of one year, few between years."""
    people = classes * pupils
    group = np.repeat(np.arange(classes), pupils)
    liked = random.gamma(2.0, 0.5, people)  # some have many friends
    a, b = np.triu_indices(people, 1)
    near = np.where(group[a] == group[b], 1.0, np.where(group[a] // 3 == group[b] // 3, 0.08, 0.01))
    weight = liked[a] * liked[b] * near
    chance = np.minimum(0.95, weight * (people * friends / 2) / weight.sum())
    drawn = random.random(len(a)) < chance
    names = np.array([f"p{i:03d}" for i in range(people)])
    sex = np.where(random.random(people) < 0.5, "girl", "boy")
    labels = {"class": np.array([f"{5 + g // 3}{'abc'[g % 3]}" for g in group]), "sex": sex}
    return Graph.of(names, np.stack([a[drawn], b[drawn]], axis=1), labels)
