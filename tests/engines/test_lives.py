"""A smaller share of tests/fuzz/test_linked_neighbours.py on the other engines, with a stored copy and without."""

import random

import pytest

from fuzz.test_linked_neighbours import check
from nowiser.engines import prepare
from support.linked_worlds import Asking, family, files, lives

SHARE = {"postgresql": (3, 20), "spark": (1, 4)}  # policies, questions of each


@pytest.mark.parametrize("world", SHARE, indirect=True)
def test_no_life_moves_a_cell_further_than_planned(world, monkeypatch):
    # The names of the sources differ from life to life, and the salt that says which rows count is made from them:
    # which rows of other people count is decided before anybody looks, so it is the same for all lives here.
    as_prepared = prepare.statement
    monkeypatch.setattr(prepare, "statement", lambda *a, **kw: as_prepared(*a, **{**kw, "salt": "the same"}))
    policies, questions = SHARE[world.engine]
    rng = random.Random("on other engines")
    answered = asked = 0
    while asked < policies * questions:
        found = family(rng, secret_keys=False)
        made, asking = lives(found, rng), Asking(found, rng)
        text = found.text.replace("ENGINE\n", "")
        opened = {}
        for life, rows in made.rows.items():
            policy, opened[life] = world(text, files(found, rows), name=f"{life}_{asked}")
        for i in range(questions):
            if i == questions // 2:
                for engine in opened.values():
                    engine.prepare(lambda *_: None)
            asked += 1
            answered += check(asking.question(), policy, opened, made)
    assert answered >= asked // 3
