"""Every mechanism of `noise/` as a program: what is proved of the program is what the mechanism's own class charges."""

from fractions import Fraction

import numpy as np
import pytest

from nowiser.noise.above_threshold import AboveThreshold
from nowiser.noise.exponential import exponential
from nowiser.noise.gaussian import Gaussian
from nowiser.noise.laplace import Laplace
from nowiser.noise.matrix import Flat, SquareRoot, Tree
from nowiser.noise.randomised_response import randomised_response
from nowiser.verify.verify import verify

ALARM = """
def alarm(q: list[int], T: int):
    r = T + geometric({0.of_threshold})
    out = []
    for x in q:
        if x + geometric({0.of_look}) >= r:
            out.append(True)
            break
        out.append(False)
    return out
"""
ANSWER = "def answer(x, eps):\n    return choose([eps if x == i else 0 for i in range({})])\n"
CHOICE = "def choice(u, eps):\n    return choose([eps/2 * x for x in u])\n"
# permute and flip has the distribution of the largest score with one-sided noise (Ding and others 2021)
LARGEST = """
def largest(u, eps):
    best = 0
    top = u[0] + exponential(2/eps)
    for i in range(1, len(u)):
        v = u[i] + exponential(2/eps)
        if v > top:
            top = v
            best = i
    return best
"""


def proved(text, **options):
    verdict = verify(text, **options)
    assert verdict.verdict == "proved", verdict
    return verdict.smallest


@pytest.mark.parametrize(("scale", "distance"), [(Fraction(2), 1), (Fraction(7, 3), 2)])
def test_laplace(scale, distance):
    loss = Laplace(scale).loss(distance)
    text = f"def count(d: list[int]):\n    return sum(d) + discrete_laplace({scale})\n"
    assert proved(text, neighbours=f"one by {distance}", epsilon=loss) == str(loss)
    assert verify(text, neighbours=f"one by {distance}", epsilon=loss * Fraction(99, 100)).verdict != "proved"


def test_gaussian():
    noise = Gaussian(Fraction(9))
    text = "def count(d: list[int]):\n    return sum(d) + gaussian(3)\n"
    assert proved(text, neighbours="one by 2", rho=noise.rho(2)) == f"ρ = {noise.rho(2)}"
    assert verify(text, neighbours="one by 2", rho=noise.rho(2) * Fraction(99, 100)).verdict != "proved"


def test_above_threshold():
    loss = Fraction(1, 2)
    text = ALARM.format(AboveThreshold(loss))
    assert proved(text, neighbours="all", epsilon=loss) == str(loss)
    assert verify(text, neighbours="all", epsilon=loss * Fraction(9, 10), sizes=6).verdict != "proved"


def test_exponential_and_noisy_max():
    assert exponential([0, 1], 1, 1).index in {0, 1}  # ∝ e^(ε·u/(2Δ)), as its docstring has it
    assert proved(CHOICE, neighbours="all", epsilon="eps", sizes=4) == "1"
    assert verify(CHOICE.replace("/2", ""), neighbours="all", epsilon="eps", sizes=2).verdict == "refuted"
    assert proved(LARGEST, neighbours="all", epsilon="eps") == "1"


@pytest.mark.parametrize("answers", [2, 3, 5])
def test_randomised_response(answers):
    coins = randomised_response(range(answers), 1)
    assert coins.truthful == pytest.approx(2.718281828 / (2.718281828 + answers - 1))
    assert proved(ANSWER.format(answers), neighbours="one arbitrary", epsilon="eps") == "1"


@pytest.mark.parametrize("strategy", [Flat(3), Tree(4, 2, 2), SquareRoot(3)], ids=lambda s: s.name)
def test_measurements_of_a_matrix(strategy):
    """Noise on y = T·x, where one of x changes by one: the L1 norm of a column for Laplace noise, the L2 for Gaussian."""
    columns = strategy.measure(np.eye(strategy.size, dtype=np.int64)).T
    sums = [" + ".join(f"{c}*d[{j}]" for j, c in enumerate(row)) for row in columns]
    text = f"def measured(d: list[int]):\n    if len(d) < {strategy.size}:\n        return 0\n    return [{{}}]\n"
    laplace = text.format(", ".join(f"{s} + discrete_laplace({strategy.column_l1})" for s in sums))
    gauss = text.format(", ".join(f"{s} + gaussian(100)" for s in sums))
    rho = Gaussian(Fraction(100) ** 2).rho(1) * strategy.column_l2  # the squared norm
    assert proved(laplace, epsilon=1, sizes=strategy.size) == "1"
    assert verify(laplace, epsilon=Fraction(9, 10), sizes=strategy.size, seconds=20).verdict != "proved"
    assert proved(gauss, rho=rho, sizes=strategy.size) == f"ρ = {rho}"
