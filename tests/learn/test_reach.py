"""No person moves what a model reads by more than what is paid for: every purchase, on tables that differ by one person.

A fit is replayed on the neighbour with the answers of the first table, so later purchases depend on earlier answers as
they do in an adaptive attack. Nothing of the accounting is used but the stated reach.
"""

from fractions import Fraction

import numpy as np
import pytest

from support.learning import aimed_at, chosen, every_model, purchases, some_rows

NAMES = sorted(every_model())
PRESENCE = ["numbers", "ends", "strange"]


def with_person(kind, rows, seed):
    """A table, and how many of its last rows are the person's."""
    table, labels, targets = some_rows(12 + rows, seed)
    random = np.random.default_rng(seed + 1)
    if kind == "ends":
        for i in range(1, rows + 1):
            table["a"][-i], table["b"][-i], table["c"][-i] = random.choice([0, 10]), "z", random.choice([0, 1])
            targets[-i] = random.choice([0, 10])
    if kind == "strange":
        for i in range(1, rows + 1):
            table["a"][-i] = random.choice([np.nan, np.inf, -np.inf, 1e300])
            table["b"][-i] = random.choice(["?", "x"])
            table["c"][-i] = random.choice([np.nan, -7])
            targets[-i] = random.choice([np.inf, 1e9])
    labels[-rows:] = random.integers(2)
    return table, labels, targets


def moved(name, first, second, *, seed):
    """The largest squared movement of a purchase, as a share of what is paid for."""
    (model, table, target, groups), (same, other, others_target, others_groups) = first, second
    one = purchases(model, table, target, groups, seed=seed)
    two = purchases(same, other, others_target, others_groups, seed=seed, answers=[p.answer for p in one])
    assert [p.what for p in one] == [p.what for p in two]
    worst = Fraction(0)
    for a, b in zip(one, two, strict=True):
        assert a.reach == b.reach
        assert a.rho == b.rho
        difference = [int(v) for v in (a.exact.astype(object) - b.exact.astype(object)).reshape(-1)]
        worst = max(worst, Fraction(sum(v * v for v in difference)) / a.reach)
    return worst


def target_of(name, labels, targets):
    return aimed_at(every_model()[name], labels, targets)


@pytest.mark.parametrize("kind", PRESENCE)
@pytest.mark.parametrize("name", NAMES)
def test_a_person_who_goes_moves_no_purchase_beyond_its_reach(name, kind):
    for seed in range(6):
        table, labels, targets = with_person(kind, 1, seed)
        target = target_of(name, labels, targets)
        position = seed % len(target)  # not always the last one: nobody else's part may depend on where she stood
        order = np.r_[np.delete(np.arange(len(target) - 1), []), len(target) - 1]
        order = np.insert(order[:-1], position, order[-1])
        table, target = chosen(table, order), target[order]
        rest = np.delete(np.arange(len(target)), position)
        first = (every_model()[name], table, target, None)
        second = (every_model()[name], chosen(table, rest), target[rest], None)
        assert moved(name, first, second, seed=seed) <= 1


@pytest.mark.parametrize("name", NAMES)
def test_all_rows_of_a_person_together_stay_within_rows_per_person(name):
    for seed in range(4):
        table, labels, targets = with_person("ends", 7, seed)
        target = target_of(name, labels, targets)
        people = np.r_[np.arange(len(target) - 7), np.full(7, 99)]
        first = (every_model(rows_per_person=3)[name], table, target, people)
        rest = slice(0, -7)
        second = (every_model(rows_per_person=3)[name], chosen(table, rest), target[rest], people[rest])
        assert moved(name, first, second, seed=seed) <= 9


@pytest.mark.parametrize("name", NAMES)
def test_a_person_who_is_replaced_moves_no_purchase_beyond_the_stated_multiple(name):
    for seed in range(6):
        table, labels, targets = with_person("ends", 1, seed)
        other, others_labels, others_targets = with_person("ends", 1, seed + 50)
        replaced = {c: np.r_[table[c][:-1], other[c][-1:]] for c in table}
        target, others = target_of(name, labels, targets), target_of(name, others_labels, others_targets)
        model = every_model()[name]
        first = (model, table, target, None)
        second = (every_model()[name], replaced, np.r_[target[:-1], others[-1:]], None)
        assert moved(name, first, second, seed=seed) <= model.jump


@pytest.mark.parametrize("name", ["NaiveBayes", "DecisionTree", "QuantileBins", "LinearRegression", "PCA", "KMeans"])
def test_the_reach_is_attained_so_that_the_test_above_can_fail(name):
    found = []
    for seed in range(8):
        table, labels, targets = some_rows(12, seed)
        table["a"][-1], table["c"][-1], table["b"][-1], targets[-1] = 10.0, 1.0, "x", 10.0
        target = target_of(name, labels, targets)
        rest = slice(0, -1)
        first = (every_model()[name], table, target, None)
        found.append(moved(name, first, (every_model()[name], chosen(table, rest), target[rest], None), seed=seed))
    assert max(found) > Fraction(9, 10)


def test_an_audit_of_a_reach_that_forgets_a_column_fails(monkeypatch):
    from nowiser.learn.domain import Domain

    monkeypatch.setattr(Domain, "longest", property(lambda domain: len(domain.kinds) - 2))
    table, _, targets = some_rows(12)
    table["a"][-1], table["c"][-1], targets[-1] = 10.0, 1.0, 10.0
    rest = slice(0, -1)
    first = (every_model()["LinearRegression"], table, targets, None)
    second = (every_model()["LinearRegression"], chosen(table, rest), targets[rest], None)
    assert moved("LinearRegression", first, second, seed=0) > 1


def test_others_are_counted_the_same_wherever_they_stand():
    """No rounding of one row may depend on its neighbours in memory: sums over any order are the same whole numbers."""
    table, labels, targets = some_rows(301)
    order = np.random.default_rng(3).permutation(301)
    for name in NAMES:
        target = target_of(name, labels, targets)
        one = purchases(every_model()[name], table, target)
        two = purchases(every_model()[name], chosen(table, order), target[order], answers=[p.answer for p in one])
        assert all((a.exact == b.exact).all() for a, b in zip(one, two, strict=True)), name
