"""Games for the contract of attacks: on an unprotected fixture each has to win, on an empty one none can.

A room adds its own here: `against` → (unprotected, empty), made from a seed.
"""

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from nowiser.attacks.graphs.game import Links
from nowiser.attacks.rows import Rows, as_it_is
from nowiser.attacks.victims import Game
from nowiser.graphs.graph import Graph
from nowiser.graphs.made_up import school, uniform
from nowiser.microdata.table.micro_table import MicroTable
from support.red_team_more import MORE

GAMES: dict[str, Callable[[int], tuple[Game, Game]]] = {}


def people(random, rows, *, telling):
    """Four quasi-identifiers and a secret that nearly follows from two of them, or columns without any relation."""
    age = random.integers(20, 70, rows)
    town = random.integers(0, 40, rows)
    sex = random.integers(0, 2, rows)
    job = random.integers(0, 12, rows)
    disease = (age // 10 * 7 + town * 3) % 8 if telling else random.integers(0, 8, rows)
    flip = random.random(rows) < 0.1
    disease = np.where(flip, random.integers(0, 8, rows), disease)
    names = np.array(["flu", "cold", "cancer", "asthma", "gout", "none", "burn", "stroke"])
    return pa.table(
        {
            "age": age,
            "town": [f"t{t}" for t in town],
            "sex": np.array(["f", "m"])[sex],
            "job": [f"j{j}" for j in job],
            "disease": names[disease],
        }
    )


def micro(table):
    return MicroTable.from_arrow(table)


def shuffled(table, random):
    """The same columns, each in an order of its own: nothing left but the marginals."""
    return pa.table({n: table[n].take(pa.array(random.permutation(table.num_rows))) for n in table.column_names})


def rows_games(seed):
    random = np.random.default_rng(seed)
    inside, outside = people(random, 600, telling=True), people(random, 600, telling=True)
    blank, others = people(random, 600, telling=False), people(random, 600, telling=False)
    quasi = ("age", "town", "sex", "job")

    def fresh(table, random):
        """A generator that looks at nothing but how many rows there are."""
        return micro(people(random, table.rows, telling=False))

    def game(original, released, control, rerun):
        other = micro(released).take(random.permutation(600))
        second = MicroTable(other.columns, np.full(600, -1, dtype=np.int64))  # a further release of the same people
        return Rows(
            micro(original),
            micro(released),
            quasi,
            "disease",
            control=micro(control),
            releases=(second,),
            rerun=rerun,
            seed=seed,
        )

    return game(inside, inside, outside, as_it_is), game(blank, shuffled(blank, random), others, fresh)


def graph_games(seed):
    """A school's friendships under new numbers; and links between the same people that have nothing to do with it."""
    random = np.random.default_rng(seed)
    graph = school(random, classes=8, pupils=20)
    unlike = uniform(graph.people, graph.size, random)
    classes = random.permutation(graph.labels["class"])
    other = Graph(graph.names, unlike.links, {"class": classes})
    place, seeds = np.arange(graph.people), random.permutation(graph.people)[:20]
    return tuple(Links(graph, shown, place, seeds, "class") for shown in (graph, other))


GAMES["tables"] = rows_games
GAMES["graphs"] = graph_games
GAMES |= MORE
