"""A release made again: people outside by a crossover, shadow runs, and generators that are not what they should be."""

import numpy as np
import pyarrow as pa
import pytest

import nowiser as nw
from nowiser.attacks.harness import attempt
from nowiser.attacks.registry import attacks
from nowiser.attacks.rows import Rows, as_it_is
from support.red_team import micro, people

QUASI = ("age", "town", "sex", "job")


@pytest.fixture(scope="module")
def table():
    return people(np.random.default_rng(5), 1000, telling=True)


def shuffling(table, seed):
    random = np.random.default_rng(seed)
    return pa.table({n: table[n].take(pa.array(random.permutation(table.num_rows))) for n in table.column_names})


def game(table, rerun):
    return Rows(micro(table), micro(table), ("age", "town"), "disease", rerun=rerun, seed=1)


def test_the_same_people_are_asked_inside_and_outside(table):
    """Copies give members away, and teach about others too: only the difference is due to being in."""
    found = attempt(attacks()["look-alikes"], game(table, as_it_is), victims=400, seed=1)
    assert found.after.value > 0.9
    assert found.before.value < found.control.value < 0.9
    inside = found.control.value + found.advantage.value
    assert inside > 0.9  # members of a half as large: the same people as outside
    assert found.advantage.low > 0.1


def test_who_is_in_is_told_without_people_outside(table):
    made = game(table, as_it_is)
    found = attempt(attacks()["density ratio"], made, victims=400, seed=1)
    assert found.after.low > 0.9
    assert {o.rows for o in (made.half(0).original, made.half(1).original)} == {500}


@pytest.mark.parametrize("name", ["density ratio", "shadow runs"])
def test_a_curve_goes_from_nobody_to_everybody(table, name):
    found = attempt(attacks()[name], game(table, as_it_is), victims=100, seed=1)
    assert found.curve[0] == (0, 0)
    assert found.curve[-1] == (1, 1)
    assert (np.diff(np.array(found.curve), axis=0) >= 0).all()
    assert found.figures["AUC"] > 0.6


@pytest.mark.parametrize(
    ("generator", "match"),
    [
        (lambda table, seed: 1 / 0, r"failed in run 1 \(ZeroDivisionError\)"),
        (lambda table, seed: table.select(["age"]), "columns it was given"),
        (lambda table, seed: table.slice(0, 0), "columns it was given"),
        (lambda table, seed: shuffling(table, None), "ignores its seed"),
    ],
)
def test_a_generator_that_is_none_is_refused(table, generator, match):
    with pytest.raises(nw.Misconfigured, match=match):
        nw.attack(table, original=table, quasi=QUASI, sensitive="disease", seed=1, generator=generator)


def test_a_generator_that_fails_later_is_told_by_its_run(table):
    runs = []

    def tired(table, seed):
        runs.append(1)
        if len(runs) > 4:
            raise ValueError("a secret")
        return shuffling(table, seed)

    with pytest.raises(nw.Misconfigured, match=r"failed in run \d+ \(ValueError\)") as told:
        nw.attack(table, original=table, quasi=QUASI, sensitive="disease", seed=1, generator=tired)
    assert "a secret" not in str(told.value)


def test_a_constant_generator_is_noted(table):
    always = people(np.random.default_rng(9), 500, telling=False)
    found = nw.attack(
        always,
        original=table,
        quasi=QUASI,
        sensitive="disease",
        seed=1,
        generator=lambda t, s: always,
        only=["nearest"],
    )
    assert any("same rows whatever it is given" in n for n in found.notes)


def test_shadow_runs_find_those_whom_marginals_give_away(table):
    """A generator of independent columns still holds the frequencies of the values it was given."""
    few = table.slice(0, 240)
    outside = people(np.random.default_rng(8), 400, telling=True)
    found = nw.attack(
        shuffling(few, 1),
        original=few,
        control=outside,
        quasi=QUASI,
        sensitive="disease",
        generator=shuffling,
        seed=1,
        only=["shadow runs", "density ratio"],
    )
    auc = {o.attack: o.figures["AUC"] for o in found.outcomes}
    assert auc["shadow runs"] > max(0.53, auc["density ratio"])


def test_a_generator_without_a_seed_is_one_too(table):
    """Whoever keeps a promise takes no seed: `nw.synth` draws from the operating system."""
    seen = []

    def independent(given):
        seen.append(given.column_names)
        return shuffling(given, None)

    found = nw.attack(
        shuffling(table, 1).drop_columns(["sex"]),
        original=table,
        quasi=("age", "town"),
        sensitive="disease",
        seed=1,
        generator=independent,
        only=["nearest"],
    )
    assert {tuple(c) for c in seen} == {("age", "town", "job", "disease")}  # the columns of the release, no others
    assert any("takes no seed" in n for n in found.notes)
    assert any("no people outside are given" in n for n in found.notes)
    assert found.outcomes[0].control is not None


def test_who_is_in_is_held_against_its_own_claim(table):
    """Copies refute a promise about presence; independent columns do not."""
    options = {"original": table, "quasi": QUASI, "seed": 1, "only": ["density ratio"]}
    outside = people(np.random.default_rng(9), 1600, telling=True)
    for claim in ({"presence": "70%"}, "presence=70% on average"):
        found = nw.attack(table, control=outside, claim=claim, **options)
        assert found.refuted
        assert found.outcomes[0].ceiling.every == (claim != "presence=70% on average")
        assert found.to_json()["claims"][0]["goal"] == "presence"
    found = nw.attack(shuffling(table, 1), control=outside, claim={"presence": 0.7}, **options)
    assert not found.refuted
    assert "who is in the release" in found.claims[0].words


@pytest.mark.parametrize(
    ("claim", "match"),
    [("wage=30%", "'wage' is not guessed"), ("disease=130%", "not between 0 and 100"), ("disease=", "is no share")],
)
def test_claims_that_are_none(table, claim, match):
    with pytest.raises(nw.Misconfigured, match=match):
        nw.attack(table, original=table, quasi=QUASI, sensitive="disease", claim=claim, seed=1)
