"""What it tells that this version was chosen: the attacker publishes in every possible world himself."""

from collections import Counter
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from nowiser.errors import NotAnswerable
from nowiser.microdata.publish import publish

QUASI = {"zip": [["1", "*"], ["2", "*"], ["3", "*"]]}


def told(frame, gain, **more):
    try:
        return publish(frame, quasi=QUASI, sensitive="ill", gain=gain, k=2, steps=["generalise"], **more)
    except NotAnswerable:
        return None


def rows(made):
    return None if made is None else sorted(map(tuple, made.to_pandas().astype(str).to_numpy().tolist()))


def attacked(frame, made, choose):
    """The largest gain of who writes down all worlds and publishes in each."""
    out = made.to_pandas()
    shares = out["ill"].value_counts(normalize=True)
    groups = [np.flatnonzero(out["zip"].to_numpy() == z) for z in out["zip"].unique()]
    origin = made.table.origin
    seen, count, total = rows(made), [Counter() for _ in frame.index], 0
    ill = frame["ill"].to_numpy()

    def fill(at, world):
        nonlocal total
        if at == len(groups):
            if rows(choose(frame.assign(ill=world))) == seen:
                total += 1
                for i, v in enumerate(world):
                    count[i][v] += 1
            return
        people = origin[groups[at]]
        for order in set(permutations(ill[people])):
            changed = world.copy()
            changed[people] = order
            fill(at + 1, changed)

    fill(0, ill.copy())
    return max(c[v] / total - shares[v] for c in count for v in shares.index)


def small(seed):
    random = np.random.default_rng(seed)
    n = int(random.integers(6, 9))
    zips = [*"1122", *random.choice(list("123"), n - 4)]
    return pd.DataFrame({"zip": zips, "ill": random.choice(["a", "b"], n, p=[0.3, 0.7])})


def tried(seeds):
    """How often the choice told something; in every case the printed figure is that of the attacker."""
    told_something = 0
    for seed in seeds:
        frame = small(seed)
        for gain in ("30%", "45%", "99%"):
            made = told(frame, gain)
            if made is None:
                continue
            found = attacked(frame, made, lambda world, gain=gain: told_as_before(world, gain))
            assert found <= made.chosen.gain + 1e-9
            assert found <= float(gain.rstrip("%")) / 100 + 1e-9
            told_something += "chosen by looking" in made.chosen.choice
    return told_something


def told_as_before(frame, gain):
    """What the method chooses, before anybody asks what that tells."""
    from nowiser.microdata.candidates import offer
    from nowiser.microdata.prepare import prepare
    from nowiser.microdata.recipe import parse
    from nowiser.microdata.table.read import load

    recipe = parse(
        {"quasi": QUASI, "sensitive": ["ill"], "models": {"k-anonymity": 2, "gain": gain}, "steps": ["generalise"]}
    )
    try:
        return Chosen(offer(*both(prepare(load(frame), recipe), recipe))[0].table)
    except NotAnswerable:
        return None


def both(prepared, recipe):
    table, run = prepared
    return table, recipe, run


class Chosen:
    def __init__(self, table):
        self.table = table

    def to_pandas(self):
        return self.table.to_pandas()


def test_no_attacker_who_runs_the_method_beats_the_printed_figure():
    tried(range(8))


@pytest.mark.long
def test_no_attacker_who_runs_the_method_beats_the_printed_figure_on_many_tables():
    assert tried(range(100, 300)) > 5


def test_a_table_of_stars_that_told_everything_is_refused():
    """Everything is *: the group shows what the table shows. But only one of 36 worlds makes the method choose it."""
    frame = pd.DataFrame({"zip": list("112223333"), "ill": list("aabbbbbbb")})
    with pytest.raises(NotAnswerable, match="runs the method in every possible world"):
        publish(frame, quasi=QUASI, sensitive="ill", gain="50%", k=2, steps=["generalise"])


def test_blind_looks_at_sizes_alone_and_then_holds_or_refuses():
    frame = pd.DataFrame({"zip": list("112223333"), "ill": list("aabbbbbbb")})
    with pytest.raises(NotAnswerable, match="does not keep what the recipe promises"):
        publish(frame, quasi=QUASI, sensitive="ill", gain="50%", k=2, steps=["generalise"], blind=True)
    made = publish(frame, quasi=QUASI, sensitive="ill", gain="50%", k=4, steps=["generalise"], blind=True)
    assert made.chosen.choice.startswith("The sizes of groups alone")
    assert made.codebook["choice"] == made.chosen.choice


def test_where_it_is_not_measured_the_words_say_so():
    random = np.random.default_rng(2)
    zips = random.choice(list("123"), 400)
    ill = np.where(zips == "1", "a", random.choice(["a", "b"], 400, p=[0.1, 0.9]))
    frame = pd.DataFrame({"zip": zips, "ill": ill})
    made = publish(frame, quasi=QUASI, sensitive="ill", gain="30%", k=2, steps=["generalise"])
    assert "was not measured" in made.chosen.choice
    assert "may learn more than the figures say" in made.codebook["choice"]
