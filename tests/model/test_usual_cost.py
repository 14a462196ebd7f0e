"""Without a cost, Python takes the one that `nowiser guess` takes."""

import pytest

import nowiser
from nowiser.cli.guess_arguments import understand
from nowiser.model.cost import Cost
from nowiser.model.goal import parse_goal
from nowiser.model.prior import Categories, JointAtoms, Normal, Presence, Uniform
from nowiser.model.usual_cost import usual_cost

SLOPE, JUMP = Cost(1.0, 0.0), Cost(0.0, 1.0)
MAP = JointAtoms(["x", "y"], {(0, 0): 0.5, (1, 2): 0.5})


@pytest.mark.parametrize(
    ("prior", "goal", "cost"),
    [
        (Uniform(12, 28), "within 2", SLOPE),
        (Uniform(12, 28), "in [12, 14]", JUMP),
        (Categories({"soup": 0.3, "pasta": 0.7}), "exactly", JUMP),
        (Presence(0.5), "present", JUMP),
        (Uniform(0, 9), "not within 2", SLOPE),
        ({"time": Normal(20, 5)}, "time within 2", {"time": SLOPE}),
        (
            {"time": Normal(20, 5), "dish": Categories(["soup", "pasta"]), "age": Uniform(0, 9)},
            "time within 2 and dish exactly",
            {"time": SLOPE, "dish": JUMP},
        ),
        (MAP, "(x, y) within 2", SLOPE),
        (MAP, "x exactly", {"x": JUMP}),
    ],
)
def test_the_usual_cost(prior, goal, cost):
    assert usual_cost(prior, parse_goal(goal)) == cost


@pytest.mark.parametrize(
    ("priors", "goal", "prior"),
    [
        (["normal:20:5"], "within 2", Normal(20, 5)),
        (["categories:soup=.3,pasta=.7"], "exactly", Categories({"soup": 0.3, "pasta": 0.7})),
        (
            ["time=normal:20:5", "dish=categories:soup=.3,pasta=.7"],
            "time within 2 or dish exactly",
            {"time": Normal(20, 5), "dish": Categories({"soup": 0.3, "pasta": 0.7})},
        ),
    ],
)
def test_the_command_line_takes_the_same(priors, goal, prior):
    assert nowiser.guess(prior, goal).gain > 0.05, "and so does Python, where no cost is given"
    asked = understand(priors, None, goal, None, exactly=False, inside=None, victim=None, slope=None, jump=None)
    assert usual_cost(prior, parse_goal(goal)) == (asked.costs or asked.cost)
