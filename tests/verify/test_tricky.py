"""Programs that were written to be called private and are not, and certificates made by hand."""

import functools
import json
import random
from fractions import Fraction

import numpy as np
import pytest

from nowiser.verify import samples
from nowiser.verify.check.certificate import check
from nowiser.verify.check.follow import Rejected
from nowiser.verify.grid import GRID
from nowiser.verify.language.read import read
from nowiser.verify.outside import Outside
from nowiser.verify.samples import laplace
from nowiser.verify.verify import verify
from support.mechanisms import LARGEST, SPARSE

NOISY = "def f(x, eps):\n    return x + laplace({}/eps)\n"
# name → (text, options); none of them is private, or not for what its text says
TRICKS = {
    "a sample under another's name": ("from nowiser.verify.samples import gaussian as laplace\n" + NOISY.format(1), {}),
    "a sample of somebody else": ("from noise import laplace\n" + NOISY.format(1), {}),
    "everything imported": ("from noise import *\n" + NOISY.format(1), {}),
    "a sample that is replaced": ("import nowiser.verify.samples as s\ns.laplace = None\n" + NOISY.format(1), {}),
    "a number changed by /=": ("S = 1\nS /= 1000\n" + NOISY.format("S"), {}),
    "a number changed under if": ("S = 1\nif True:\n    S = 0.001\n" + NOISY.format("S"), {}),
    "a number changed by a tuple": ("S = 1\nS, T = 0.001, 2\n" + NOISY.format("S"), {}),
    "a number changed in a loop": ("S = 1\nfor S in (2, 0.001):\n    pass\n" + NOISY.format("S"), {}),
    "a number changed by global": ("S = 1\ndef g():\n    global S\n    S = 0.001\n" + NOISY.format("S"), {}),
    "a number changed from outside": ("import me\nS = 1\nme.S = 0.001\n" + NOISY.format("S"), {}),
    "a number changed by exec": ("S = 1\nexec('S = 0.001')\n" + NOISY.format("S"), {}),
    "a default that changed": ("S = 9\ndef f(x, eps, k=S):\n    return k*x + laplace(1/eps)\n", {"public": {"k": 1}}),
    "noise in a default": ("def f(x, eps):\n    return h(x)\ndef h(x, z=laplace(1)):\n    return x + z\n", {}),
    "a cache": (
        (
            "from functools import cache\n@cache\ndef n(eps):\n    return laplace(1/eps)\n"
            "def f(d, eps):\n    return [x + n(eps) for x in d]\n"
        ),
        {},
    ),
    "a decorator": ("def g(h):\n    return h\n@g\n" + NOISY.format(1), {}),
    "a claim's decorator of somebody else": ("from a import private\n@private('x')\n" + NOISY.format(1), {}),
    "a function defined twice": (
        "def n(e):\n    return laplace(1/e)\nn = 0\ndef f(x, eps):\n    return x + n(eps)\n",
        {},
    ),
    "a parameter named as a sample": ("def f(x, eps, laplace):\n    return x + laplace(1/eps)\n", {}),
    "a parameter named as a function": (
        "def total(d, eps):\n    return sum(d) + laplace(1/eps)\ndef f(d, eps, total):\n    return total(d, eps)\n",
        {},
    ),
    "a list or a tuple": (
        "def f(x, eps):\n    if x > 0:\n        return [laplace(1/eps)]\n    return (laplace(1/eps),)\n",
        {},
    ),
    "2 or 2.0": ("def f(x, eps):\n    return 2 if x > 0 else 4/2\n", {}),
    "1 or True": ("def f(x, eps):\n    return 1 if x > 0 else True\n", {}),
    "an error, by a place": (
        "def f(x, eps):\n    w = [0]\n    if x > 0:\n        y = w[1]\n    return laplace(1/eps)\n",
        {},
    ),
    "an error, by 0.0": (
        "def f(x, eps):\n    w = [0]\n    if x > 0:\n        y = w[0.0]\n    return laplace(1/eps)\n",
        {},
    ),
    "an error, by 4/2": ("def f(x, eps):\n    if x > 0:\n        y = range(4/2)\n    return laplace(1/eps)\n", {}),
    "an error, by 1/0": ("def f(x, eps):\n    if x > 0:\n        y = 1/0\n    return laplace(1/eps)\n", {}),
    "an error, by 1//M": (
        "def f(d, eps, M):\n    s = 0\n    for x in d:\n        s += 1 // M\n    return s + laplace(1/eps)\n",
        {"neighbours": "one arbitrary"},
    ),
    "no end": ("def f(x, eps):\n    while x > 0:\n        y = 1\n    return laplace(1/eps)\n", {"seconds": 3}),
    "a range without an end": ("def f(d, eps):\n    for i in range(10**9):\n        pass\n    return 1\n", {}),
    "a long range": ("def f(x, eps):\n    for i in range(1000000000):\n        y = 1\n    return laplace(1/eps)\n", {}),
    "a long list": ("def f(x, eps):\n    y = [0] * 1000000000\n    return laplace(1/eps)\n", {}),
    "large numbers": (
        "def f(x, eps):\n    k = 9\n    for i in range(99):\n        k = k * k\n    return laplace(1/eps)\n",
        {},
    ),
    "a list that grows": (
        "def f(x, eps):\n    a = [0]\n    for y in a:\n        a.append(y)\n    return laplace(1/eps)\n",
        {},
    ),
    "written to what is public": (
        "def f(x, eps, w):\n    w[0] = x\n    return laplace(1/eps)\n",
        {"public": {"w": [1]}},
    ),
    "appended to what is public": ("def f(x, eps, w):\n    w.append(x)\n    return 1\n", {"public": {"w": [1]}}),
    "added to what is public": ("def f(x, eps, w):\n    v = w\n    v += [x]\n    return 1\n", {"public": {"w": [1]}}),
    "written to what is private": ("def f(d, eps):\n    d[0] = 5\n    return laplace(1/eps)\n", {"sizes": 1}),
    "a name of what is written out": (
        (
            "def f(d, eps):\n    each_2_0 = 0\n    for x in d:\n        each_2_0 += 1000*x\n"
            "    return each_2_0 + sum(d) + laplace(2/eps)\n"
        ),
        {"seconds": 20},
    ),
    "a public argument that changed": (
        (
            "def total(d, eps, k):\n    return k*sum(d) + laplace(1/eps)\n"
            "def main(d, eps, k):\n    k = 1000\n    return total(d, eps, k)\n"
        ),
        {"function": "main", "public": {"k": 1}, "seconds": 20},
    ),
    "points are no whole numbers": ("def f(d: list[Point], eps):\n    return sum(d) + discrete_laplace(1/eps)\n", {}),
    "floats are no whole numbers": (
        "def f(d: list[int | float], eps):\n    return sum(d) + discrete_laplace(1/eps)\n",
        {},
    ),
    "a negative scale": ("def f(x, eps):\n    return x + laplace(-1/eps)\n", {}),
    "no scale": ("def f(x, eps):\n    return x + laplace(0/eps)\n", {}),
    "equal only without data": ("def f(x, eps):\n    y = laplace(1/eps)\n    return y == y + x\n", {}),
    "noise taken off again": ("def f(x, eps):\n    y = laplace(1/eps)\n    return [x + y, y]\n", {}),
    "noise times 0": ("def f(x, eps):\n    return x + 0*laplace(1/eps)\n", {}),
    "noise in a list used twice": (
        "def f(x, eps):\n    y = [laplace(1/eps)] * 2\n    return [x + y[0], 2*x + y[1]]\n",
        {},
    ),
}


@pytest.mark.parametrize("name", TRICKS)
def test_tricks_are_not_proved(name):
    text, options = TRICKS[name]
    assert verify(text, **{"function": "f", "seconds": 8, **options}).verdict != "proved"


@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("def f(d, eps):\n    return 5*sum(d) + laplace((0 or 5)/eps)\n", "proved"),
        ("def f(x, eps):\n    a = []\n    b = a\n    a += [x + laplace(1/eps)]\n    return b\n", "proved"),
        (("def f(d, eps):\n    a = [0]\n    for y in a:\n        if len(a) < 3:\n            a.append(y)\n"
         "    return len(a)*sum(d) + laplace(3/eps)\n"), "proved"),
        ("s = 5\ndef f(d, eps):\n    s = 0\n    for x in d:\n        s += x\n    return s + laplace(1/eps)\n", "proved"),
        (("from nowiser.verify.samples import laplace\nimport os\nprint(os.name)\nS: float = 2.0\n"
         "def other(x):\n    return {x: lambda: 1}\ndef f(x, eps):\n    'Words.'\n    return x + laplace(S/eps)\n"), "proved"),
    ],
)  # fmt: skip
def test_python_is_followed_as_it_is(text, verdict):
    assert verify(text, function="f", sizes=1).verdict == verdict


SCALE = 1


def made(laplace):
    def inner(x, eps):
        return x + laplace(1 / eps)

    return inner


def unwrapped(function):
    @functools.wraps(function)
    def wrapper(x, eps):
        return x

    return wrapper


@unwrapped
def wrapped(x, eps):
    return x + laplace(1 / eps)


def scaled(x, eps):
    return x + laplace(SCALE / eps)


def test_functions_are_refused_where_something_else_may_run(monkeypatch):
    for function in (made(lambda scale: 0), wrapped):
        assert verify(function).verdict == "unknown"
    assert verify(scaled).verdict == "proved"
    monkeypatch.setitem(globals(), "laplace", samples.gaussian)
    assert verify(scaled).verdict == "unknown"
    monkeypatch.setitem(globals(), "laplace", lambda scale: 0)
    assert verify(scaled).verdict == "unknown"


def certificate(**changes):
    """Of a program whose only noise is coins: nothing needs to be found."""
    question = {"function": "f", "private": "x", "listed": False, "whole": False, "symbol": "", "public": {}}
    claim = {"kind": "eps", "factor": "1/1000", "symbol": "", "ratio": None, "delta": "0"}
    found = {
        "question": question | {"neighbours": "one"},
        "claim": claim,
        "said": "everything",
        "epsilon": None,
        "sizes": [{"size": 1, "finite": True}],
    }
    return found | changes


@pytest.mark.parametrize(
    "body",
    [
        "if flip():\n        return 0\n    return x > 0",
        "return uniform(5) > x",
        "return '1' if x > 0 else 1",
        "return [1] if x > 0 else (1,)",
        "return 1 if x > 0 else 1.0",
        "def g():\n        return 0\n    return g()",
        "while True:\n        y = 0",
        "return (lambda: 0)()",
        "return x.real",
    ],
)
def test_the_checker_itself_refuses_what_is_not_of_the_language(body):
    with pytest.raises(Rejected):
        check(certificate(), f"def f(x):\n    {body}\n")


def test_the_checker_says_what_is_claimed_of_what():
    said = check(certificate(), "def f(x):\n    return 1 if flip(1/2) else 0\n")
    assert said == "f keeps ε = 1/1000: private is x, a number; one element changes by at most 1"
    for wrong in (
        {"private": "y"},
        {"symbol": "x"},
        {"public": {"x": "1"}},
        {"neighbours": "one by 0"},
        {"neighbours": "two"},
    ):
        with pytest.raises(Rejected):
            check(
                certificate(question=certificate()["question"] | wrong), "def f(x):\n    return 1 if flip(1/2) else 0\n"
            )


class Anything(dict):
    """States and turns for whatever is asked, in which nothing is moved and nothing is paid."""

    def __init__(self, entry):
        super().__init__()
        self.entry = entry

    def __contains__(self, key):
        return True

    def __missing__(self, key):
        return self.entry


LEAKS = {
    "a truth value that data decide": ("    b = False\n    for x in d:\n        if x > 5:\n            b = True\n    return b\n", "one"),
    "a loop that data end": ("    for x in d:\n        if x > 5:\n            break\n    for x in d:\n        b = 1\n    return 1\n", "one"),
    "a turn more": ("    b = False\n    for x in d:\n        b = not b\n    return b\n", "length"),
    "a turn more that says something": (
        "    out = []\n    for x in d:\n        out.append(1)\n    return out\n",
        "length",
    ),
    "a turn more that looks at nothing": (
        "    b = False\n    for i in range(len(d)):\n        b = not b\n    return b\n",
        "length",
    ),
    "a number of the file": ("    s = 0\n    for x in d:\n        s = x\n    return s\n", "one"),
    "a place beyond the end": ("    i = 0\n    while i < 3:\n        x = d[i]\n        i += 1\n    return 1\n", "length"),
}  # fmt: skip


@pytest.mark.parametrize("name", LEAKS)
def test_proofs_for_every_length_made_by_hand_are_rejected(name):
    body, neighbours = LEAKS[name]
    ways = ["without", "with"] if neighbours == "length" else ["one"]
    parts = [
        {
            "way": way,
            "target": "",
            "noisy": [],
            "whole": [],
            "cost": "0",
            "states": Anything({"apart": {}, "rows": [], "cost": {}}),
            "edges": Anything({"shifts": {}, "tops": {}, "choices": [], "multipliers": [{}] * 9}),
        }
        for way in ways
    ]
    question = certificate()["question"] | {"private": "d", "listed": True}
    question["neighbours"] = neighbours if neighbours == "length" else "one arbitrary"
    with pytest.raises(Rejected) as no:
        check(certificate(every=parts, question=question), f"s = 0\ndef f(d):\n{body}")
    assert "does not fit" not in str(no.value)


def test_bits_of_a_certificate_that_are_flipped_prove_nothing_smaller():
    verdict = verify(SPARSE, neighbours="all", public={"N": 1}, sizes=2)
    text = json.dumps(verdict.certificate)
    whole = check(json.loads(text), SPARSE)
    draw = random.Random(11)
    kept = 0
    for _ in range(150):
        data = bytearray(text.encode())
        data[draw.randrange(len(data))] ^= 1 << draw.randrange(7)
        try:
            said = check(json.loads(data.decode()), SPARSE)
        except (Rejected, ValueError):
            continue
        kept += 1  # a name of a symbol nothing depends on, or words; never another claim
        assert "keeps ε" in said or "keeps 1·ε" in said or said.split(" keeps ")[1][0].isdigit()
        assert said.split(": ")[1] == whole.split(": ")[1] or "T = " in said
    assert kept < 75


def test_a_reader_of_functions_says_where():
    with pytest.raises(Outside) as stop:
        read(wrapped)
    assert stop.value.hint == "no decorator but @private"


@pytest.mark.parametrize("a", [0.1, 1 / 3, Fraction(1, 3), np.float64(0.7), float("nan"), float("inf"), True, 5])
def test_what_is_added_to_noise_leaves_no_digits_behind(a):
    """Whatever is added, taken away or scaled: sums with noise stay on the noise's grid and have one type."""
    for found in (a + laplace(1), laplace(1) + a, a - laplace(1), laplace(1) - a, sum([a, laplace(1), a])):
        assert type(found) is type(laplace(1))
        assert GRID % found.denominator == 0
    tripled = a + 3 * laplace(1)
    assert (tripled * GRID / 3).denominator == 1
    assert ((laplace(1) / 3 + a) * 3 * GRID).denominator == 1
    assert ((laplace(1) + 3 * laplace(1) + a) * GRID).denominator == 1
    assert abs(0.1 + laplace(Fraction(1, 2**60)) - 0.1) < 2**-40


def test_two_cones_may_not_be_moved_to_one_place():
    verdict = verify(LARGEST, neighbours="all", sizes=3)
    forged = json.loads(json.dumps(verdict.certificate))
    assert check(forged, LARGEST)
    cones = forged["sizes"][2]["regions"]["3"]
    several = next(c for c in cones if len(c["paths"]) > 1)
    cones.append(several | {"paths": several["paths"][1:], "implied": several["implied"][1:]})
    several["paths"], several["implied"] = several["paths"][:1], several["implied"][:1]
    with pytest.raises(Rejected, match="two cones"):
        check(forged, LARGEST)


FORGED = {
    "a ratio beside ε": {"ratio": "1"},
    "a number where costs are so many times ε": {"symbol": ""},
    "a ratio and no symbol": {"ratio": "100", "symbol": ""},
    "less than nothing": {"factor": "-1"},
    "δ of one": {"delta": "1"},
}


@pytest.mark.parametrize("name", FORGED)
def test_a_claim_has_one_form(name):
    """Each was accepted, with a sentence that nothing had proved."""
    forged = json.loads(json.dumps(verify(LARGEST, neighbours="all", sizes=2).certificate))
    assert check(forged, LARGEST)
    forged["claim"] |= FORGED[name]
    with pytest.raises(Rejected):
        check(forged, LARGEST)


REBOUND = {
    "a default of another function": "N = 1\ndef helper(a=(N := 100)):\n    return a\n",
    "a default by name": "N = 1\ndef helper(*, a=(N := 100)):\n    return a\n",
    "a lambda": "N = 1\nf = lambda a=(N := 100): a\n",
    "an annotation": "N = 1\ndef helper(a) -> (N := 100):\n    return a\n",
    "a base": "N = 1\nclass Helper((N := 100) and object):\n    pass\n",
    "globals of a function": "N = 1\ndef helper(a):\n    return a\nhelper.__globals__['N'] = 100\n",
    "code of a function": "N = 1\ndef helper(x, eps):\n    return x\nscaled.__code__ = helper.__code__\n",
}


@pytest.mark.parametrize("name", REBOUND)
def test_names_have_one_meaning_wherever_they_get_one(name):
    program = "def scaled(x: int, eps):\n    return N * x + laplace(1 / eps)\n" + REBOUND[name]
    assert verify(program, function="scaled", private="x").verdict == "unknown"
