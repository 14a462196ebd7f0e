"""No free lunch: what a network's growth still tells about one early friendship, whatever noise its counts carry.

Two communities, blue and green. Everybody who comes links to somebody of the own community and to one of that person's
friends. So links between the communities come only from links between them: whether one early friendship crossed over
decides whether any do later. Noise that hides *one* link does not hide all that came of it (Kifer and Machanavajjhala,
"No free lunch in data privacy", 2011).

Such figures are no promise and enter no account: they belong to one model of how links depend on each other.
"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from nowiser.graphs.graph import Graph
from nowiser.noise.entropy import OS, Entropy
from nowiser.noise.laplace import Laplace

START = 5  # people of each community at the beginning


@dataclass(frozen=True)
class Growth:
    """What an attacker learns of the early friendship from a noisy count of the links between the communities."""

    before: float
    promised: float  # if no other link depended on it
    after: float  # how often he is right
    crossing: tuple[float, float]  # links between the communities, on average: without it, with it

    def __str__(self) -> str:
        return (
            f"{100 * self.before:.0f} % before; at most {100 * self.promised:.1f} % if links were independent;"
            f" {100 * self.after:.1f} % as the network grew"
            f" ({self.crossing[0]:.0f} links between the communities without it, {self.crossing[1]:.0f} with it)"
        )


def grown(people: int, early: bool, random: np.random.Generator, *, through: float = 0.7) -> Graph:
    """A network of two communities; `through`: how often a newcomer also links to a friend of the first one."""
    community = np.arange(people) % 2
    friends: list[list[int]] = [[] for _ in range(people)]
    links: list[tuple[int, int]] = []

    def link(a: int, b: int) -> None:
        if a != b and b not in friends[a]:
            friends[a].append(b)
            friends[b].append(a)
            links.append((a, b))

    for a in range(2, 2 * START):
        link(a, a - 2)
    if early:
        link(0, 1)
    for newcomer in range(2 * START, people):
        first = int(random.integers(newcomer // 2)) * 2 + newcomer % 2  # of the own community
        link(newcomer, first)
        near = friends[first]
        for _ in range(2):
            if near and random.random() < through:
                link(newcomer, near[random.integers(len(near))])
    return Graph.of(people, links, {"community": np.where(community == 0, "blue", "green")})


def crossing(graph: Graph) -> int:
    """Links between the communities."""
    side = graph.labels["community"]
    return int((side[graph.links[:, 0]] != side[graph.links[:, 1]]).sum())


def growth(epsilon: float, *, people: int = 400, runs: int = 400, seed: int = 0, entropy: Entropy = OS) -> Growth:
    """Grow many networks with and without the early friendship, tell noisy counts, and let an attacker decide.

    He knows the model: his rule is the best threshold of half of the runs, tried on the other half.
    """
    random = np.random.default_rng(seed)
    counts = [np.array([crossing(grown(people, early, random)) for _ in range(runs)]) for early in (False, True)]
    noise = Laplace(Fraction(1) / Fraction(epsilon))
    told = [noise.blur(c, entropy).astype(np.float64) for c in counts]
    half = runs // 2
    rule = _threshold(told[0][:half], told[1][:half])
    right = float((told[0][half:] <= rule).mean() + (told[1][half:] > rule).mean()) / 2
    odds = float(np.exp(epsilon))
    return Growth(0.5, odds / (1 + odds), right, (float(counts[0].mean()), float(counts[1].mean())))


def _threshold(without: NDArray[np.float64], with_it: NDArray[np.float64]) -> float:
    tries = np.unique(np.concatenate([without, with_it]))
    right = [(without <= t).mean() + (with_it > t).mean() for t in tries]
    return float(tries[int(np.argmax(right))])
