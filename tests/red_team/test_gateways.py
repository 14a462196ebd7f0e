"""Attacks on simple gateways: each rule falls to the attack that it invites."""

import numpy as np
import pytest

from nowiser.attacks.gateways.game import toy
from nowiser.attacks.gateways.precision import could_be, textbook
from nowiser.attacks.gateways.toys import People, Toy
from nowiser.attacks.harness import stream
from nowiser.attacks.registry import attacks
from nowiser.errors import NotAnswerable


def played(name, game, many, seed=1):
    attack = attacks()[name]
    trial = game.trial(attack, "members", many, stream(seed, "victims"))
    guesses = attack.guess(trial.view, stream(seed, name))
    return trial.right(guesses), guesses


@pytest.mark.parametrize(
    ("rule", "attack", "least"),
    [
        ("size rule", "tracker", 1.0),
        ("size rule", "differencing", 1.0),
        ("sticky text", "rewording", 0.94),
        ("sticky sets", "partitions", 0.94),
        ("fresh", "repeating", 0.94),
        ("fresh", "random subsets", 0.9),
        ("exact", "one question", 1.0),
    ],
)
def test_each_rule_falls_to_the_attack_it_invites(rule, attack, least):
    right, _ = played(attack, toy(rule, 60, 1), 40)
    assert right.mean() >= least


def test_the_size_rule_refuses_the_direct_question():
    people = People({"name": np.array([f"p{k}" for k in range(30)]), "has": np.arange(30) % 2})
    gate = Toy(people, "size rule", np.random.default_rng(0))
    with pytest.raises(NotAnswerable):
        gate.ask("SELECT COUNT(*) FROM people WHERE has = 1 AND name = 'p3'", 1.0)


def test_noise_that_sticks_does_not_average_out():
    one, _ = played("one question", toy("sticky text", 60, 1, scale=2), 60)
    many, _ = played("repeating", toy("sticky text", 60, 1, scale=2), 60)
    assert (one == many).mean() > 0.6
    assert many.mean() < 0.9


def test_low_bits_of_textbook_noise_decide_most_answers_and_never_wrongly():
    right, guesses = played("low bits", toy("float", 200, 3), 200)
    assert 1 - guesses.silent.mean() >= 0.6
    assert right[~guesses.silent].all()


def test_an_output_of_the_sampler_is_always_possible():
    random = np.random.default_rng(5)
    assert all(could_be(1.0 + textbook(1.0, random), 1.0, 1.0) for _ in range(500))


def test_whole_numbers_have_no_low_bits():
    _, guesses = played("low bits", toy("fresh", 60, 1), 5)
    assert guesses.silent.all() or guesses.confidence.max() <= 1
