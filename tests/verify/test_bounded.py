"""Proofs for lists of a given length: the curve of the least ε, and certificates that the checker accepts or rejects."""

import json
import math

import pytest

from nowiser.verify.check.certificate import check
from nowiser.verify.check.follow import Rejected
from nowiser.verify.verify import verify

EACH_SUM = """
def f(d, eps):
    s = 0
    out = []
    for x in d:
        s += x
        out.append(s + laplace(1/eps))
    return out
"""
SPARSE = """
def sparse(q, eps, T, N):
    t = T + laplace(2/eps)
    out = []
    count = 0
    i = 0
    while i < len(q) and count < N:
        if q[i] + laplace(4*N/eps) >= t:
            out.append(True)
            count += 1
        else:
            out.append(False)
        i += 1
    return out
"""
MAXIMUM = """
def largest(q, eps):
    best = 0
    top = q[0] + laplace(2/eps)
    for i in range(1, len(q)):
        v = q[i] + laplace(2/eps)
        if v > top:
            top = v
            best = i
    return best
"""
CLIPPED = """
def f(d, eps):
    s = 0
    for x in d:
        if x < 0:
            x = 0
        elif x > 1:
            x = 1
        s += x
    return s + laplace(1/eps)
"""


def costs(verdict):
    return [cost for _, cost in verdict.curve]


@pytest.mark.parametrize(
    ("program", "options", "expected"),
    [
        (EACH_SUM, {"epsilon": "6*eps"}, [1, 2, 3, 4, 5, 6]),
        (SPARSE, {"neighbours": "all", "public": {"N": 1}}, [1 / 4, 1 / 2, 3 / 4, 1, 1, 1]),
        (MAXIMUM, {"neighbours": "all"}, [0, 1, 1, 1, 1, 1]),
        (MAXIMUM.replace("laplace", "exponential"), {"neighbours": "all"}, [0, 1, 1, 1, 1, 1]),
        (CLIPPED, {"neighbours": "one arbitrary", "sizes": 3}, [1, 1, 1]),
        ("def f(d, eps):\n    return len(d) + laplace(1/eps)\n", {"neighbours": "length"}, [1] * 6),
        ("def f(d, eps):\n    return sum(d)/len(d) + laplace(1/(len(d)*eps))\n", {}, [1] * 6),
        (
            "def f(x, eps):\n    return choose([eps if x == i else 0 for i in range(4)])\n",
            {"neighbours": "one arbitrary"},
            [1],
        ),
        ("def f(d: list[int], eps):\n    return sum(d) + discrete_laplace(1/eps)\n", {}, [1] * 6),
    ],
)
def test_the_curve_of_the_least_epsilon(program, options, expected):
    verdict = verify(program, **options)
    assert verdict.verdict == "proved"
    assert costs(verdict) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("program", "options"),
    [
        (EACH_SUM, {}),  # needs n·ε
        (MAXIMUM.replace("2/eps", "1.9/eps"), {"neighbours": "all"}),
        (CLIPPED.replace("x = 1", "x = x"), {"neighbours": "one arbitrary"}),
        (SPARSE.replace("4*N/eps", "3/eps"), {"neighbours": "all", "public": {"N": 1}}),
        ("def f(d, eps):\n    return sum(d) + discrete_laplace(1/eps)\n", {}),  # not declared whole
        (
            "def f(d: list[int], eps):\n    return sum(d)/2 + discrete_laplace(1/eps)\n",
            {},
        ),  # halves between the integers
        ("def f(x, eps):\n    return x + laplace(x/eps)\n", {}),
        ("def f(x, eps):\n    return x + laplace(1)\n", {}),  # not at every ε; at ε = 1 it would be
    ],
)
def test_what_is_not_private_is_never_proved(program, options):
    verdict = verify(program, **options)
    if "laplace(1)" in program:
        assert verdict.verdict == "proved"
        assert verdict.claim == "ε at ε = 1 only"
    else:
        assert verdict.verdict != "proved"


def test_two_coins_are_ln_3_exactly():
    program = "def f(x, eps):\n    if flip(1/2):\n        return x > 0\n    return flip(1/2)\n"
    verdict = verify(program, neighbours="one arbitrary", epsilon="ln(3)")
    assert verdict.verdict == "proved"
    assert verdict.smallest == "ln 3"
    assert verify(program, neighbours="one arbitrary", epsilon=math.log(3) - 1e-9).verdict != "proved"


def test_a_certificate_survives_json_and_no_tampering():
    verdict = verify(SPARSE, neighbours="all", public={"N": 1}, sizes=3)
    text = json.dumps(verdict.certificate)
    assert "sparse keeps ε for lists of up to 3" in check(json.loads(text), SPARSE)
    with pytest.raises(Rejected):
        check(json.loads(text), SPARSE.replace("2/eps", "1/eps"))
    with pytest.raises(Rejected):
        check(json.loads(text), SPARSE.replace(">= t", ">= T"))
    smaller = json.loads(text)
    smaller["claim"]["factor"] = "1/2"
    with pytest.raises(Rejected, match="larger than the claim"):
        check(smaller, SPARSE)
    for change in range(len(verdict.certificate["sizes"][2]["proofs"])):
        tampered = json.loads(text)
        tampered["sizes"][2]["proofs"][change]["cost"] = "1/100"
        with pytest.raises(Rejected):
            check(tampered, SPARSE)
    fewer = json.loads(text)
    fewer["sizes"][2]["pairs"].pop()
    with pytest.raises(Rejected, match="not treated"):
        check(fewer, SPARSE)
