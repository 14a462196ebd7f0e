"""No attack reaches the truth: not through what its view holds, not by what it answers, not by its random numbers."""

import dataclasses
import functools
import types

import numpy as np
import pyarrow as pa
import pytest

from nowiser.attacks.harness import judge, scored, stream
from nowiser.attacks.predicates import Term
from nowiser.attacks.registry import attacks
from nowiser.attacks.view import Guesses
from nowiser.attacks.walls import Behind, copied
from nowiser.errors import NotEvaluated
from nowiser.microdata.table.column import Coded, Column, Stored
from support.red_team import GAMES, micro, people

DIFFERENT = sorted({(a.against, a.goal) for a in attacks().values()})


def reached(start):
    """All that attributes, containers, closures, bound methods and bases of arrays lead to; not modules, not classes."""
    seen, queue = {}, [start]
    while queue:
        here = queue.pop()
        if id(here) in seen or isinstance(here, type | types.ModuleType | str | bytes | int | float | None | bool):
            continue
        seen[id(here)] = here
        if isinstance(here, dict):
            queue += [*here, *here.values()]
        elif isinstance(here, list | tuple | set | frozenset):
            queue += here
        elif isinstance(here, types.FunctionType):
            queue += [c.cell_contents for c in here.__closure__ or ()] + list(here.__defaults__ or ())
        elif isinstance(here, types.MethodType):
            queue += [here.__self__, here.__func__]
        elif isinstance(here, functools.partial):
            queue += [here.func, here.args, here.keywords]
        elif isinstance(here, np.ndarray):
            queue += [here.base] + (here.tolist() if here.dtype == object else [])
        elif not isinstance(here, pa.Array | np.random.Generator):
            queue += list(getattr(here, "__dict__", {}).values())
            slots = set(getattr(type(here), "__slots__", ())) - {"__weakref__"}
            queue += [getattr(here, s) for s in slots if hasattr(here, s)]
    return list(seen.values())


def views(against, goal):
    game = GAMES[against](7)[0]
    attack = next(a for a in attacks().values() if (a.against, a.goal) == (against, goal))
    for run in ("members", "outside", "unprotected"):
        trial = game.trial(attack, run, 40, stream(1, "victims", run))
        if not isinstance(trial, str):
            yield game, trial


@pytest.mark.parametrize(("against", "goal"), DIFFERENT)
def test_nothing_of_a_view_leads_to_the_game_or_its_truth(against, goal):
    for game, trial in views(against, goal):
        things = reached(trial.view)
        assert not any(thing is game or thing is trial for thing in things)
        assert not any(callable(t) and not isinstance(t, Behind) for t in things if not hasattr(t, "shape"))
        if against != "tables":
            continue
        whole = {id(c.source) for t in (game.original, game.released, game.control) for c in t.columns}
        for thing in things:
            if isinstance(thing, Column):
                assert thing.rows is None
                assert set(thing.codes.tolist()) - {-1} == set(range(len(thing.values)))  # no value but of these rows
            assert not isinstance(thing, Coded | Stored) or id(thing) not in whole


def test_a_desk_leads_to_no_gateway():
    game = GAMES["gateways"](7)[0]
    attack = attacks()["one question"]
    trial = game.trial(attack, "members", 5, stream(1, "victims"))
    victims = trial.view.more["victims"]
    for k, sit_down in enumerate(trial.view.more["desks"]):
        desk = sit_down()
        assert desk.victim == victims[k]
        assert desk.others[desk.victim] == 0
        assert not any(t is game or t is game.truth or t is game.adds for t in reached(desk))


def test_a_copy_holds_its_own_rows_only():
    table = micro(people(np.random.default_rng(1), 300, telling=True))
    some = copied(table.take(np.array([5, 9])), ("age", "disease"))
    assert some.to_arrow().to_pylist() == table.take(np.array([5, 9])).to_arrow().select(["age", "disease"]).to_pylist()
    assert all(len(c.values) <= 2 for c in some.columns)


class Everything:
    def __eq__(self, other):
        return True

    __hash__ = None


class Sly(Term):
    def holds(self, table):
        return np.arange(table.rows) == 0


def answering(name, value, silent=None):
    """An attack that answers this for every victim."""

    def guess(view, random):
        many = view.known.rows
        made = np.empty(many, dtype=object)
        made[:] = [value] * many
        return Guesses(made, np.zeros(many), np.zeros(many, bool) if silent is None else silent(many))

    attack = attacks()[name]
    return types.SimpleNamespace(name=attack.name, goal=attack.goal, needs=attack.needs, guess=guess)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("look-alikes", Everything()),
        ("look-alikes", np.array(["flu", "cold"])),
        ("singling out", (Sly("age", "30"),)),
        ("singling out", (Term("age", Everything()),)),
        ("linkage", Everything()),
    ],
)
def test_an_answer_that_equals_everything_is_refused(name, value):
    game = dataclasses.replace(GAMES["tables"](7)[0])
    game = dataclasses.replace(game, released=dataclasses.replace(game.original))
    trial = game.trial(attacks()[name], "members", 30, stream(1, "victims"))
    with pytest.raises(NotEvaluated, match="no value"):
        judge(answering(name, value), trial, stream(1))


def test_silence_in_other_types_is_silence():
    """Whole numbers in place of truth values: ~1 is −2, and an index."""
    game = GAMES["tables"](7)[0]
    silent = answering("look-alikes", "flu", lambda many: np.ones(many, np.int64))
    found = scored(silent, game, "members", 50, 1)
    assert (found.right == found.before).all()


def test_too_few_or_too_many_answers_are_refused():
    game = GAMES["tables"](7)[0]
    trial = game.trial(attacks()["look-alikes"], "members", 30, stream(1, "victims"))
    short = types.SimpleNamespace(name="short", goal="value", guess=lambda view, random: Guesses.of(np.array(["flu"])))
    with pytest.raises(NotEvaluated, match="once for each of the 30 victims"):
        judge(short, trial, stream(1))


def test_the_seed_cannot_be_read_off_the_generator():
    """With it, an attack could draw again which rows the harness chose."""
    entropy = stream(12345, "model", "members").bit_generator.seed_seq.entropy
    assert isinstance(entropy, int)
    assert entropy > 2**200


def test_pairs_that_are_asked_about_are_mixed():
    game = GAMES["graphs"](7)[0]
    attack = attacks()["link read off"]
    trial = game.trial(attack, "members", 100, stream(1, "victims"))
    many = trial.view.known.rows
    first = Guesses.of(np.repeat([1, 0], many // 2))
    assert 0.3 < trial.right(first).mean() < 0.7
