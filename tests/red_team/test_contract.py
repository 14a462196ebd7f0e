"""What every attack of the folder has to keep: adding a file is enough to be tested."""

import dataclasses

import numpy as np
import pytest

from nowiser.attacks.harness import NotRun, attempt, scored
from nowiser.attacks.registry import attacks
from nowiser.attacks.view import View
from support.red_team import GAMES

ALPHA = 1e-3  # in all: corrected for how many attacks there are
ATTACKS = list(attacks().values())
VICTIMS = 400


@pytest.fixture(scope="module")
def games():
    made = {}

    def of(against):
        if against not in made:
            made[against] = GAMES[against](7)
        return made[against]

    return of


def played(attack, game, **options):
    found = attempt(attack, game, victims=VICTIMS, seed=3, level=1 - ALPHA / len(ATTACKS), **options)
    if isinstance(found, NotRun):
        pytest.fail(f"{attack.name} was not run on its own fixture: {found.why}")
    return found


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda a: a.name)
class TestContract:
    def test_wins_where_nothing_is_protected(self, attack, games):
        found = played(attack, games(attack.against)[0])
        assert found.after.low > found.before.value
        assert found.after.value >= found.before.value

    def test_stays_at_before_where_there_is_nothing_to_learn(self, attack, games):
        found = played(attack, games(attack.against)[1])
        low = min(found.surest[1.0].low, found.after.low)
        assert low <= found.before.high + 1e-12
        if found.advantage is not None and found.goal != "row":
            assert found.advantage.low <= 0

    def test_the_same_seed_gives_the_same_result(self, attack, games):
        game = games(attack.against)[0]
        first, second = (scored(attack, game, "members", 60, 5) for _ in range(2))
        assert (first.right == second.right).all()
        assert np.array_equal(first.guesses.confidence, second.guesses.confidence)

    def test_one_victim_is_enough(self, attack, games):
        found = scored(attack, games(attack.against)[0], "members", 1, 5)
        assert len(found.right) >= 1

    def test_says_what_it_knows_and_where_it_is_from(self, attack, games):
        del games
        assert attack.knows
        assert attack.source
        assert attack.minutes > 0


def test_a_view_has_no_room_for_the_truth():
    names = {f.name for f in dataclasses.fields(View)}
    assert not names & {"original", "truth", "origin", "owner"}


@pytest.mark.parametrize("run", ["members", "outside", "unprotected"])
@pytest.mark.parametrize("goal", ["value", "one person", "presence"])
def test_no_table_of_a_view_says_whose_its_rows_are(goal, run):
    game = GAMES["tables"](1)[0]
    attack = dataclasses.replace(attacks()["look-alikes"], goal=goal)
    trial = game.trial(attack, run, 50, np.random.default_rng(0))
    if isinstance(trial, str):
        return
    for field in dataclasses.fields(View):
        value = getattr(trial.view, field.name)
        for table in value if isinstance(value, tuple) else (value,):
            if hasattr(table, "origin"):
                assert (table.origin == -1).all()
    assert "disease" not in trial.view.known.names or goal == "presence"
    orders = [trial.view.released["age"].codes.tolist(), game.released["age"].codes.tolist()]
    assert orders[0] != orders[1]
