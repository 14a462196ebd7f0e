"""Answers after a release: the promise holds for both together, as it does the other way round."""

from itertools import permutations
from math import exp, log

import numpy as np
import pandas as pd
import pytest

import nowiser as nw
from nowiser.errors import Exhausted
from nowiser.guess.budget import allowance
from nowiser.guess.budget.told import Lift, news
from nowiser.ledger.opening import for_policy
from nowiser.model.charge import PICO, Account, Charge
from nowiser.policy.reader import read
from support.released_people import publish


def believed(values, likelihood, victim, guess):
    """Whoever knows which values a group has: the chance that one person has one of them, all orders counted."""
    right = total = 0.0
    for world in set(permutations(values)):
        weight = likelihood(world)
        total += weight
        right += weight * (world[victim] == guess)
    return right / total


def asked(random, people, values, reach):
    """An answer whose likelihood moves by at most `reach` when one record changes; the worst kind and any kind."""
    table = {v: random.uniform(0, reach, people) for v in set(values)}
    if random.random() < 0.7:
        table = {v: random.choice([0.0, reach], people) for v in set(values)}
    return lambda world: exp(sum(float(table[v][i]) for i, v in enumerate(world)))


def beaten(people_moved, tries=400):
    """How often an attacker who has the release and an answer is better than the ceiling."""
    random, found = np.random.default_rng(3), 0
    for _ in range(tries):
        n, reach = int(random.integers(2, 6)), float(random.uniform(0.05, 1.0))
        values = [str(v) for v in random.choice(list("ab"), n)]
        guess = values[0]
        share = values.count(guess) / n
        ceiling = 1.0 if share == 1 else 1 / (1 + (1 - share) / share * np.exp(-people_moved * reach)) + 1e-12
        found += believed(values, asked(random, n, values, reach), 0, guess) > ceiling
    return found


def test_no_answer_lifts_a_guess_about_released_people_above_the_ceiling():
    assert not beaten(2)


def test_one_record_would_not_be_enough():
    """Another value of the victim is another value of somebody else in her group."""
    assert beaten(1)


def reach_left(path):
    """The largest jump about `ill` that is still admitted, and what has been charged for it."""
    declared = read(path)
    with for_policy(declared) as ledger:
        totals = ledger.totals()

    def fits(nats):
        try:
            allowance.admits(declared, totals, Charge.of({Account("jump", ("people.ill",)): round(nats * PICO)}))
        except Exhausted:
            return False
        return True

    low, high = 0.0, 4.0
    for _ in range(40):
        low, high = ((low + high) / 2, high) if fits((low + high) / 2) else (low, (low + high) / 2)
    return low


def test_answers_after_a_release_are_held_to_the_promise_together_with_it(policy):
    alone = reach_left(policy)
    publish(policy, ["town"], "one.csv")
    left = reach_left(policy)
    shown = pd.read_csv(policy.parent / "one.csv")
    shares = shown["ill"].value_counts(normalize=True)
    inside = shown.groupby("town")["ill"].value_counts(normalize=True)

    def most(reach):
        odds = [(log(h / (1 - h)) + 2 * reach, shares[v]) for (_, v), h in inside.items() if h < 1]
        return max(1 / (1 + exp(-o)) - b for o, b in odds)

    assert 0 < left < alone
    assert most(left) <= 0.3 + 1e-6
    assert most(left) > 0.27  # guesses that are joined cost a little


def test_the_gateway_refuses_what_would_tell_too_much_beside_a_release(policy):
    text = policy.read_text(encoding="utf-8").replace("gain: 30%", "gain: 20%")
    policy.write_text(text, encoding="utf-8")
    question = "SELECT COUNT(*) FROM people WHERE ill = 'flu'"
    publish(policy, ["town"], "one.csv")
    gateway = nw.open(policy)
    before = gateway.explain(question, spend="90%")
    assert before.admitted is False
    assert "with the rows that were released" in before.refusal
    with pytest.raises(Exhausted, match="with the rows that were released"):
        gateway.query(question, spend="90%", anyway=True)
    (guess,) = gateway.explain(question, spend="1%").guesses
    assert 0.5 < guess["used"] <= 1


def test_the_same_sum_admits_in_either_order(policy):
    """What was left after the release, charged before it, leaves room for it; a little more does not."""
    publish(policy, ["town"], "one.csv")
    left = reach_left(policy)
    for factor, fine in ((0.98, True), (1.08, False)):
        folder = policy.parent / f"{factor}"
        folder.mkdir()
        for name in ("people.csv", "nowiser.yaml"):
            (folder / name).write_bytes((policy.parent / name).read_bytes())
        declared = read(folder / "nowiser.yaml")
        with for_policy(declared) as ledger:
            ledger.declare(declared)
            charge = Charge.of({Account("jump", ("people.ill",)): round(left * factor * PICO)})
            ledger.publish(charge, lambda *_: None, policy=declared.digest, what="answers", analyst="", digest="")
        if fine:
            publish(folder / "nowiser.yaml", ["town"], "one.csv")
        else:
            with pytest.raises(Exhausted.__mro__[1], match="answers given so far"):
                publish(folder / "nowiser.yaml", ["town"], "one.csv")


def test_an_attacker_who_was_declared_afterwards_is_measured_first(policy):
    publish(policy, ["town"], "one.csv")
    text = policy.read_text(encoding="utf-8")
    policy.write_text(text + "  - {guess: 'people.ill in {flu, cold}', gain: 45%}\n", encoding="utf-8")
    gateway = nw.open(policy)
    question = "SELECT COUNT(*) FROM people WHERE ill = 'flu'"
    with pytest.raises(Exhausted, match="was not measured"):
        gateway.query(question, spend="1%", anyway=True)
    publish(policy, ["town"], "again.csv")
    assert gateway.query(question, spend="1%", anyway=True).rows


def test_after_a_release_in_a_stream_no_answer_about_it_is_given(policy):
    heard = []
    publish(policy, ["town"], "one.csv", stream=True, notice=heard.append)
    assert any("without --stream" in words for words in heard)
    with pytest.raises(Exhausted, match="in a stream"):
        nw.open(policy).query("SELECT COUNT(*) FROM people WHERE ill = 'flu'", spend="1%", anyway=True)
    assert nw.open(policy).query("SELECT COUNT(*) FROM people WHERE town = 'a'").rows  # public: costs nothing


def test_the_same_release_again_charges_nothing_more(policy):
    publish(policy, ["town"], "one.csv")
    first = reach_left(policy)
    publish(policy, ["town"], "again.csv")
    assert reach_left(policy) == pytest.approx(first)


def test_what_is_told_already_is_not_charged_again():
    goal = read_goal()
    once = news(goal, Charge(), (Lift(0.2, 0.4),))
    assert once
    assert not news(goal, once, (Lift(0.25, 0.4), Lift(0.2, 0.3)))
    assert news(goal, once, (Lift(0.2, 0.5),))
    assert news(goal, once, (Lift(0.2, 0.4, 4),))


def read_goal():
    from nowiser.model.goal import Exactly, On

    return On("people.ill", Exactly())
