"""Links swapped at random, so that everybody keeps the own number of links.

Two links a–b and c–d become a–d and c–b. It is no protection by itself: links that stayed tell who is who.
"""

import numpy as np

from nowiser.errors import Misconfigured, NotEvaluated
from nowiser.graphs.graph import Graph

TRIES = 100  # draws for each swap, before a graph is said to allow no more


def rewire(graph: Graph, share: float, random: np.random.Generator) -> Graph:
    """About this share of the links are swapped for others; degrees stay."""
    if not 0 <= share <= 1:
        raise Misconfigured(f"the share of links to rewire lies between 0 and 1, not {share:g}")
    wanted = int(share * graph.size / 2)
    links = [(int(a), int(b)) for a, b in graph.links]
    there = set(links)
    fresh = np.ones(len(links), bool)  # links not swapped yet
    done, drawn = 0, 0
    many = max(1024, min(1 << 20, 4 * wanted))
    while done < wanted:
        if drawn > TRIES * (wanted + 10):
            raise NotEvaluated(
                f"only {2 * done:,} of {graph.size:,} links can be swapped", hint="Rewire a smaller share."
            )
        drawn += many
        for i, j, turned in zip(
            *random.integers(len(links), size=(2, many)).tolist(), (random.random(many) < 0.5).tolist(), strict=True
        ):
            if done == wanted:
                break
            if i == j or not (fresh[i] and fresh[j]):
                continue
            (a, b), (c, d) = links[i], links[j][::-1] if turned else links[j]
            one, two = (a, d) if a < d else (d, a), (c, b) if c < b else (b, c)
            if a == d or c == b or one == two or one in there or two in there:
                continue
            there -= {links[i], links[j]}
            there |= {one, two}
            links[i], links[j] = one, two
            fresh[i] = fresh[j] = False
            done += 1
    return graph.with_links(np.array(links, np.int64))
