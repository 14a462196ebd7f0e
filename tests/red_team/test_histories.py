"""A few entries find a whole history; and how often somebody is named who is not there."""

import numpy as np
import pytest

from nowiser.attacks.harness import stream
from nowiser.attacks.sparse.game import Films, SearchLog, made_up
from nowiser.attacks.sparse.histories import Histories, Known
from nowiser.attacks.sparse.scoreboard import ATTACKS, chance, eccentricity, scoreboard, weights
from nowiser.attacks.sparse.searches import ATTACK as SEARCHES, Index
from nowiser.attacks.view import View

SCOREBOARD, LIKELIHOOD = ATTACKS


@pytest.fixture(scope="module")
def ratings():
    return made_up(400, 1500, np.random.default_rng(1), entries=40)


def played(attack, game, many=200, seed=1):
    trial = game.trial(attack, "members", many, stream(seed, "victims"))
    guesses = attack.guess(trial.view, stream(seed, attack.name))
    return trial.right(guesses), guesses


def test_scoreboard_is_the_papers_sum():
    histories = Histories.of(np.array([0, 0, 1, 2]), np.array([0, 1, 0, 0]), np.array([5.0, 3.0, 1.0, 5.0]))
    known = Known(np.array([0, 1]), np.array([4.0, 3.0]))
    found = scoreboard(histories, weights(histories), known)
    rare, common = 1 / np.log(2), 1 / np.log(3)
    wanted = [common * np.exp(-1 / 1.5) + rare, common * np.exp(-3 / 1.5), common * np.exp(-1 / 1.5)]
    assert found == pytest.approx(wanted)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda a: a.name)
def test_dated_ratings_find_nearly_everybody_and_films_alone_fewer(attack, ratings):
    rates = [
        played(attack, Films(ratings, ratings, known=4, fields=frozenset(fields)))[0].mean()
        for fields in (("value", "day"), ("value",), ())
    ]
    assert rates[0] >= 0.98
    assert rates[0] > max(rates[1:])
    assert rates[2] > 0.1


def test_more_entries_find_more(ratings):
    rates = [played(LIKELIHOOD, Films(ratings, ratings, known=m, fields=frozenset()))[0].mean() for m in (2, 4, 8)]
    assert rates[0] < rates[1] < rates[2]


def test_likelihood_bears_wrong_entries_better(ratings):
    game = Films(ratings, ratings, known=8, fields=frozenset(), wrong=2)
    assert played(LIKELIHOOD, game)[0].mean() >= played(SCOREBOARD, game)[0].mean()


def test_outsiders_are_named_rarely_by_likelihood_and_often_by_eccentricity(ratings):
    outsiders = made_up(400, 1500, np.random.default_rng(2), entries=40)
    known = [Films(outsiders, outsiders, known=8).remembered(p, np.random.default_rng(p)) for p in range(300)]
    view = View(known=None, more={"histories": ratings, "known": known})
    named = {a.name: 1 - a.guess(view, np.random.default_rng(0)).silent.mean() for a in ATTACKS}
    assert named["likelihood score"] <= 0.015
    assert named["scoreboard"] >= 0.1


def test_chance_and_eccentricity_of_hopeless_scores():
    assert chance(np.zeros(100)) == pytest.approx(1 / 200)
    assert eccentricity(np.zeros(100)) == 0.0


def test_an_item_nobody_released_changes_nothing(ratings):
    nothing = scoreboard(ratings, weights(ratings), Known(np.array([10_000])))
    assert not nothing.any()


def test_searches_for_own_names_find_the_record():
    log = [["cats", "weather lilburn"], ["thelma arnold lilburn", "numb fingers"], ["arnold schwarzenegger"]]
    scores = Index.of(log).scores(["Thelma Arnold", "Lilburn"])
    assert scores.argmax() == 1
    right, guesses = played(SEARCHES, SearchLog(log, log, [["cats"], ["Thelma Arnold"], ["schwarzenegger"]]))
    assert (right | guesses.silent).all()
