import pytest

from nowiser.errors import Misconfigured
from nowiser.microdata.candidates import last_told, public_guesses
from nowiser.microdata.method_contract import Guessing, Step
from nowiser.microdata.publish import publish
from nowiser.microdata.table.column import Column
from nowiser.microdata.table.micro_table import MicroTable
from support.seeds import seed as seeded

TABLE = MicroTable.of([Column.of("ill", ["a", "b"] * 20), Column.of("sex", ["f"] * 20 + ["m"] * 20)])


def told(column, after):
    return Guessing("has found the victim's row", column, 0.5, after, how="simulated")


def test_the_last_step_speaks_for_the_released_table():
    steps = (
        Step(TABLE, "one", guesses=(told("ill", 0.9), told("age", 0.8))),
        Step(TABLE, "two", guesses=(told("ill", 0.6),)),
    )
    assert {(g.column, g.after) for g in last_told(steps)} == {("ill", 0.6), ("age", 0.8)}


def test_a_perturbation_after_another_leaves_the_second_figure_only():
    steps = [{"pram": {"columns": ["ill"], "keep": 0.99}}, {"pram": {"columns": ["ill"], "keep": 0.7}}]
    made = publish(TABLE, quasi=["sex"], sensitive=["ill"], steps=steps, seed=seeded(4)).chosen
    attackers = [g.attacker for g in made.guesses if g.column == "ill"]
    assert len(attackers) == len(set(attackers)) > 0
    assert made.guesses == made.steps[-1].guesses


def test_figures_of_attacks_on_the_true_table_are_not_published():
    made = publish(
        TABLE, quasi=["sex"], sensitive=["ill"], steps=[{"pram": {"columns": ["ill"]}}], seed=seeded(4)
    ).chosen
    assert made.guesses
    assert not public_guesses(made)


def test_best_is_the_candidate_that_loses_least():
    table = MicroTable.of([Column.of("age", [i * 37 % 53 for i in range(120)]), Column.of("sex", ["f", "m"] * 60)])
    options = {"quasi": {"age": "intervals:5:10:20", "sex": None}, "k": 4}
    first, best = publish(table, **options), publish(table, **options, choose="best")
    assert first.chosen.title == "generalise"
    assert best.chosen.loss == min(c.loss for c in best.candidates) < first.chosen.loss
    with pytest.raises(Misconfigured, match="or best"):
        publish(table, **options, choose="worst")
