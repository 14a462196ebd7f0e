"""Mechanisms that are right, at their least ε, and each of them with one thing changed: none of these is proved."""

import pytest

from nowiser.verify.verify import verify
from support.mechanisms import CLIPPED, EXPONENTIAL, GAP, LARGEST, NUMBER, OVER, SMART_SUM, SPARSE

ANY = {"neighbours": "one arbitrary"}
ALL = {"neighbours": "all"}
ONE = "def f(x, eps):\n    return x + laplace(1/eps)\n"
TWICE = """
def f(d, eps):
    a = sum(d) + laplace(2/eps)
    b = sum([min(max(x, 0), 1) for x in d]) + laplace(2/eps)
    return [a, b]
"""
LOCAL = "def f(d, eps):\n    return [min(max(x, 0), 1) + laplace(1/eps) for x in d]\n"
TREE = """
def f(d, eps):
    return [sum(d) + laplace(2/eps), sum(d[:2]) + laplace(2/eps), sum(d[2:]) + laplace(2/eps)]
"""
ALARM = """
def f(q: list[int], eps, T):
    r = T + geometric(5/(2*eps))
    out = []
    for x in q:
        if x + geometric(10/(3*eps)) >= r:
            out.append(True)
            break
        out.append(False)
    return out
"""
ANSWER = "def f(x, eps):\n    return choose([eps if x == i else 0 for i in range(3)])\n"
COINS = "def f(x):\n    if flip(1/2):\n        return x > 0\n    return flip(1/2)\n"
PAD = "def f(x):\n    key = flip(1/2)\n    return (x > 0) == key\n"
AFTER = """
def f(d, eps):
    s = sum(d) + laplace(1/eps)
    if s < 0:
        s = 0
    return [s > 5, s]
"""
GAUSS = "def f(d):\n    return [sum(d) + gaussian(2), sum(d[1:]) + gaussian(2)]\n"
WEIGHTED = "def f(d, eps):\n    return sum([x/2 for x in d]) + laplace(1/(2*eps))\n"
PAID = """
def f(d, eps, k):
    out = []
    for i in range(k):
        out.append(sum(d) + laplace(k/eps))
    return out
"""
FIRST = """
def f(x, eps):
    if x + laplace(2/eps) > 10:
        return 10
    return x + laplace(2/eps)
"""
MAXIMUM = LARGEST.replace("laplace", "exponential")

# name → (text, options, least ε, changes)
BASES = {
    "one number": (ONE, {}, "1", [("1/eps", "0.9/eps"), ("x +", "2*x +"), ("laplace(1/eps)", "uniform()")]),
    "two sums": (
        TWICE,
        {"sizes": 3},
        "1",
        [
            ("b = sum([min(max(x, 0), 1) for x in d]) + laplace(2/eps)", "b = 2*a - sum(d)"),  # noise reused
            ("d) + laplace(2/eps)", "d) + laplace(1/eps)"),
            ("[a, b]", "[a, b, d[0] > 0]"),
        ],
    ),
    "every element": (
        LOCAL,
        {**ANY, "sizes": 3},
        "1",
        [("max(x, 0)", "x"), ("1)", "2)"), ("1/eps", "0.9/eps"), ("for x in d", "for x in d[1:]] + [d[0]")],
    ),
    "a tree": (TREE, {"sizes": 4}, "1", [("sum(d[:2]) + laplace(2", "sum(d[:3]) + laplace(2"), ("2/eps", "1.8/eps")]),
    "clipped sum": (
        CLIPPED,
        {**ANY, "sizes": 3},
        "1",
        [
            ("x = 1\n", "x = 2\n"),
            ("if x < 0", "if x < -1"),
            ("x = 0", "x = -1"),
            ("elif x > 1", "elif x > 3"),
            ("1/eps", "0.9/eps"),
        ],
    ),
    "count over a threshold": (OVER, {**ANY, "sizes": 3}, "1", [("+= 1", "+= 2"), ("s += 1", "s += x"), ("1/eps", "0.9/eps")]),
    "smart sum": (
        SMART_SUM,
        {"public": {"M": 2}, "sizes": 4, "epsilon": "2*eps"},
        "2",
        [("            s = 0\n", ""), ("next + q[i] + laplace(1/eps)", "next + q[i]"), ("1/eps", "0.9/eps")],
    ),
    "sparse vector": (
        SPARSE,
        {**ALL, "public": {"N": 1}, "sizes": 6},
        "1",
        [
            ("2/eps", "1.8/eps"),
            ("4*N/eps", "3.6*N/eps"),
            ("T + laplace(2/eps)", "T"),
            ("count < N", "count <= N"),
            ("            count += 1\n", ""),
            ("out.append(True)", "out.append(q[i])"),
        ],
    ),
    "sparse vector with number": (
        NUMBER,
        {**ALL, "public": {"N": 1}, "sizes": 5},
        "1",
        [("3*N/eps", "2.7*N/eps"), ("out.append(x + laplace(3*N/eps))", "out.append(x)"), ("count >= N", "count > N")],
    ),
    "sparse vector with gap": (GAP, {**ALL, "public": {"N": 1}, "sizes": 6}, "1", [("v - t", "v"), ("4*N/eps", "3*N/eps")]),
    "alarm with noise on one side": (
        ALARM,
        ALL,
        "1",
        [("5/(2*eps)", "2/eps"), ("10/(3*eps)", "3/eps"), ("            break\n", ""), ("list[int]", "list")],
    ),
    "largest of noisy numbers": (
        MAXIMUM,
        {**ALL, "sizes": 3},
        "1",
        [("2/eps", "1.8/eps"), ("return best", "return top"), ("v = q[i] + exponential(2/eps)", "v = q[i]")],
    ),
    "randomised response with three answers": (ANSWER, ANY, "1", [("eps if", "1.1*eps if"), ("else 0", "else -eps")]),
    "two coins": (COINS, {**ANY, "epsilon": "ln(3)"}, "ln 3", [("if flip(1/2)", "if flip(3/5)"), ("return flip(1/2)", "return False")]),
    "one-time pad": (PAD, {**ANY, "epsilon": 0.01}, "ln 1", [("flip(1/2)", "flip(3/5)"), ("== key", "and key")]),
    "exponential mechanism": (EXPONENTIAL, {**ANY, "epsilon": "2*eps"}, "2", [("max(x, 0), 1)", "max(x, 0), 2)"), ("max(x, 0)", "x")]),
    "computed afterwards": (AFTER, {"sizes": 3}, "1", [("if s < 0", "if d[0] < 0"), ("s > 5", "sum(d) > 5"), ("1/eps", "0.9/eps")]),
    "two Gaussian sums": (GAUSS, {"rho": "1/4", "sizes": 3}, "ρ = 1/4", [("(2)", "(1.9)"), ("d[1:]) + gaussian(2)", "d[1:])")]),
    "halves": (WEIGHTED, {"sizes": 3}, "1", [("x/2", "x"), ("x/2 for", "x for"), ("1/(2*eps)", "1/(3*eps)")]),
    "k answers": (PAID, {"public": {"k": 3}, "sizes": 2}, "1", [("range(k)", "range(k + 1)"), ("k/eps", "(k - 1)/eps")]),
    "two looks": (FIRST, {}, "1", [("> 10:\n        return 10", "> 10:\n        return x"), ("return x + laplace(2/eps)", "return x + laplace(1/eps)")]),
}  # fmt: skip
MUTANTS = [
    (name, text.replace(old, new), options)
    for name, (text, options, _, changes) in BASES.items()
    for old, new in changes
]


@pytest.mark.parametrize("name", BASES)
def test_right_mechanisms_are_proved_at_their_least_epsilon(name):
    text, options, least, changes = BASES[name]
    verdict = verify(text, **options)
    assert (verdict.verdict, getattr(verdict, "smallest", verdict)) == ("proved", least)
    assert all(old in text for old, _ in changes)


@pytest.mark.parametrize("number", range(len(MUTANTS)), ids=lambda i: f"{MUTANTS[i][0]}, {i}")
def test_changed_mechanisms_are_not_proved(number):
    _, text, options = MUTANTS[number]
    assert verify(text, **options).verdict != "proved", text
