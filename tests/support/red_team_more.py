"""Games of histories, search logs, averages, answers, blocks and gateways for the contract: (unprotected, empty)."""

import numpy as np

from nowiser.attacks.gateways.game import silent, toy
from nowiser.attacks.sparse.game import Films, SearchLog, Trails, made_up
from nowiser.attacks.tables_published.game import Answers, Averages, Block


def histories(seed):
    random = np.random.default_rng(seed)
    real = made_up(120, 400, random, entries=25)
    other = made_up(120, 400, random, entries=25)
    return Films(real, real), Films(real, other)


def search_log(seed):
    random = np.random.default_rng(seed)
    common = ["weather", "news", "cats", "recipe", "car", "shoes", "cinema", "map"]
    words = [[f"name{p}", f"town{p % 12}"] for p in range(120)]
    log = [[*(str(w) for w in random.choice(common, 12)), *(w for w in own for _ in range(2))] for own in words]
    blank = [[str(w) for w in random.choice(common, 16)] for _ in words]
    return SearchLog(log, log, words), SearchLog(log, blank, words)


def trails(seed):
    random = np.random.default_rng(seed)
    visits, others = (random.random((150, 20)) < 0.3 for _ in range(2))
    return Trails(visits, visits), Trails(visits, others, complete=False)


def averages(seed):
    random = np.random.default_rng(seed)
    p = random.uniform(0.1, 0.9, 400)
    inside, outside, others = ((random.random((100, 400)) < p).astype(np.int8) for _ in range(3))
    return Averages(inside, outside, inside.mean(axis=0), p), Averages(inside, outside, others.mean(axis=0), p)


def answers(seed):
    bits = np.random.default_rng(seed).integers(0, 2, 200)
    return Answers(bits, 400, 0.0), Answers(bits, 400, 3.0, told=False)


def blocks(seed):
    random = np.random.default_rng(seed)
    sizes = (4, 6, 8, 2)
    true, other = (np.column_stack([random.integers(0, s, 150) for s in sizes]) for _ in range(2))
    return Block(true, sizes, 4), Block(true, sizes, 1, other)


def gateways(seed):
    return toy("exact", 60, seed), silent(60, seed)


MORE = {
    "histories": histories,
    "search log": search_log,
    "trails": trails,
    "averages": averages,
    "answers": answers,
    "blocks": blocks,
    "gateways": gateways,
}
