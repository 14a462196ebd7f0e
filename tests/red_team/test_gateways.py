"""Attacks on simple gateways: each rule falls to the attack that it invites."""

import numpy as np
import pytest

from nowiser.attacks.gateways.desk import Desk, Secret
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
        ("sticky sets", "partitions", 0.98),
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


@pytest.mark.parametrize(("askings", "share"), [(1, 0.40), (10, 0.66), (100, 0.99)])
def test_fresh_noise_gives_the_secret_away_by_and_by(askings, share):
    """Uniform on 12 … 28, guessed within 2, Laplace noise of scale 1/0.128401: figures of Bayes' rule in other code."""
    random, cost = np.random.default_rng(4), 0.128401
    values = np.linspace(12, 28, 801)
    secret = Secret(values, np.full(801, 1 / 801), within=2.0, measure="SUM(time)")
    people, right = 40, []
    times = random.uniform(12, 28, people)
    gate = Toy(People({"time": times}), "fresh", random, scale=1 / cost)
    for k in range(800 if askings < 100 else 120):
        victim = k % people
        others = np.where(np.arange(people) == victim, 0.0, times)
        desk = Desk(gate.ask, "people", secret, {}, others, victim)
        for _ in range(askings):
            desk.total("", desk.everybody(), 1.0)
        right.append(abs(desk.guess()[0] - times[victim]) <= 2)
    assert np.mean(right) == pytest.approx(share, abs=0.05)
