"""Reading Python into the language, and running it: the interpreter against Python itself."""

from fractions import Fraction

import pytest

import nowiser as nw
from nowiser.errors import Misconfigured
from nowiser.verify.language.read import read
from nowiser.verify.language.run import Tape, run
from nowiser.verify.outside import Outside
from nowiser.verify.samples import Exact, laplace

PROGRAM = """
from nowiser.verify.samples import laplace

STEP = 2

def clipped(x, top):
    return max(0, min(x, top))

def mechanism(d, eps, top=3):
    out = []
    total = 0
    for i in range(len(d)):
        x = clipped(d[i], top)
        if i % STEP == 0 and not x < 0:
            total += x / 2
        elif x == 1:
            total -= abs(-x)
        out.append(total)
        if len(out) > 5:
            break
    a, b = total, sum(out)
    out[0] = 7 if a > b else [y * 2 for y in out][-1]
    return out[0:3] + [a + laplace(1 / eps), b]
"""


def test_the_interpreter_computes_what_python_computes():
    reach = {"laplace": lambda scale: 0.25}
    exec(PROGRAM.replace("from nowiser.verify.samples import laplace", ""), reach)
    program = read(PROGRAM, "mechanism")
    for d in ([1, 2, 3], [0.5, 1, -4, 9, 1, 1, 1, 1], [5], [1, 1]):
        mine = run(program, {"d": d, "eps": 1, "top": 3}, Tape([Fraction(1, 4)]))
        assert [float(x) for x in mine] == [float(x) for x in reach["mechanism"](d, 1)]


def test_a_run_draws_exact_noise_of_the_samplers():
    program = read("def f(x, eps):\n    return x + laplace(1/eps)\n")
    outputs = [run(program, {"x": 10, "eps": Fraction(1, 2)}, Exact()) for _ in range(2000)]
    assert all((Fraction(y) * 2**40).denominator == 1 for y in outputs)
    spread = sum(abs(float(y) - 10) for y in outputs) / 2000  # its mean is the scale, 2
    assert 1.7 < spread < 2.3


@pytest.mark.parametrize(
    ("text", "line", "construct", "hint"),
    [
        ("def f(d, eps):\n    with d:\n        pass\n", 2, "with d:", "assignments"),
        ("def f(d, eps):\n    return sorted(d)\n", 2, "sorted(d)", "noise first"),
        ("def f(d, eps):\n    for i, x in enumerate(d):\n        pass\n    return 1\n", 2, "for i, x in", "for over"),
        ("def f(x, eps):\n    return x ** 2\n", 2, "Pow", "x * x"),
        ("def f(x, eps):\n    return laplace(1, 2)\n", 2, "laplace(1, 2)", "laplace(scale)"),
        ("def f(x, eps):\n    return numpy.exp(x)\n", 2, "numpy.exp(x)", "arithmetic"),
        ("def f(x, eps):\n    y = x\n    return f(y, eps)\n", 1, "f", "a loop"),
        ("laplace = 3\ndef f(x, eps):\n    return laplace(x)\n", 1, "laplace", "samples"),
    ],
)
def test_what_is_outside_names_the_line_the_construct_and_a_way_out(text, line, construct, hint):
    with pytest.raises(Outside) as stop:
        read(text)
    assert stop.value.line == line
    assert construct in stop.value.construct
    assert hint in stop.value.hint


def test_a_function_of_this_module_is_read_with_the_numbers_and_functions_it_uses():
    verdict = nw.verify(doubled, private="x", epsilon="eps")
    assert verdict.verdict == "proved"


HALF = 0.5


def halved(x):
    return HALF * x


def doubled(x, eps):
    return 2 * halved(x) + laplace(1 / eps)


def test_what_is_not_python_and_what_is_no_argument_is_refused():
    with pytest.raises(Misconfigured, match="not Python"):
        read("def f(:\n")
    with pytest.raises(Misconfigured, match="no argument 'q'"):
        nw.verify("def f(x, eps):\n    return x\n", private="q")
    with pytest.raises(Misconfigured, match="no function 'g'"):
        nw.verify("def f(x, eps):\n    return x\n", function="g")
