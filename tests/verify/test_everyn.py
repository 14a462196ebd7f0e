"""Proofs for every length: traps that a careless induction falls into, and certificates that somebody changed."""

import copy
import json
import random
from fractions import Fraction

import pytest

from nowiser.verify.check.everyn import check_every
from nowiser.verify.check.follow import Rejected
from nowiser.verify.everyn.prove import every_length
from nowiser.verify.language.read import read
from nowiser.verify.outside import Outside
from nowiser.verify.question import ask
from nowiser.verify.symbolic.paths import Limits
from support.mechanisms import GAP, LARGEST, SMART_SUM, SPARSE

LOOP = "def f(d, eps, M):\n    s = 0\n    i = 0\n    while i < len(d):\n{body}    return s + laplace(1/eps)\n"
FOR = "def f(d, eps, M):\n    s = 0\n    p = 0\n    out = []\n    for x in d:\n{body}    return [s + laplace(1/eps), out]\n"
# body → the least ε that may be proved (None: nothing)
WHILE = {
    "s += d[i]\n i += 1": 1,
    "s += d[i] + d[i]\n i += 1": 2,
    "s += d[i]\n if flip(1/2):\n  i += 1": None,  # an element may be read again and again
    "s += d[i]\n i += 2": 1,
    "s += d[i]\n i -= 1": None,
    "s += d[0]\n i += 1": None,  # one element in every turn
    "s += d[len(d) - 1 - i]\n i += 1": None,
    "if i % M == 0:\n  s += d[i]\n i += 1": 1,
    "if s % M == 0:\n  s += 1\n s += d[i]\n i += 1": None,  # a remainder of something private
}
EACH = {
    "s += x": 1,
    "s += x - p\n p = x": 2,  # true: 1 or 2 (the last element counts once); neither less
    "s = x": 1,
    "s += x + s": None,  # it doubles
    "if s > 3:\n  out.append(1)\n s += x": None,  # data decide an output
    "out.append(x + laplace(1/eps))": 1,
    "out.append(x + laplace(1/eps))\n s += x": 2,
    "s += x\n out.append(len(out))": None,
    "if x > 3:\n  break\n s += 1": None,
    "s += min(max(x, 0), 1)": 1,
}


def least(text, neighbours="one", **public):
    question = ask(read(text), None, neighbours, "100*eps", public=public)
    try:
        found = every_length(question, None, Limits())
    except Outside:
        return None
    if found is None:
        return None
    part = json.loads(json.dumps(found[1]))
    try:
        assert check_every(part, text, question.to_json(), None) == found[0]
    except Rejected:
        return None
    return found[0]


def indented(body):
    return "".join(
        f"        {line.replace(' ', '', 1) if line.startswith(' ') else line}\n" for line in body.split("\n")
    )


@pytest.mark.parametrize("body", WHILE)
def test_a_while_reads_each_element_once_or_nothing_is_proved(body):
    assert least(LOOP.format(body=indented(body)), M=3) == WHILE[body]


@pytest.mark.parametrize("body", EACH)
def test_what_one_element_can_do_in_all_turns_together_is_paid(body):
    assert least(FOR.format(body=indented(body)), M=3) == EACH[body]


def test_two_loops_over_the_same_list_are_paid_twice():
    text = "def f(d, eps):\n    return sum(d) + sum([2*x for x in d]) + laplace(1/eps)\n"
    assert least(text) == 3
    assert least(text, "one by 2") == 6


def test_one_element_more_or_less():
    assert least("def f(d, eps):\n    return len(d) + laplace(1/eps)\n", "length") == 1
    assert least("def f(d, eps):\n    return sum([min(max(x, 0), 3) for x in d]) + laplace(1/eps)\n", "length") == 3
    assert least("def f(d, eps):\n    return [x + laplace(1/eps) for x in d]\n", "length") is None
    counted = "def f(d, eps):\n    c = 0\n    for i in range(len(d)):\n        c += 1\n    return c + laplace(1/eps)\n"
    assert least(counted, "length") == 1  # a turn more that looks at no element
    eighth = "        b = c >= 8\n    return [b, c + laplace(1/eps)]\n"
    assert least(counted.replace("    return c + laplace(1/eps)\n", eighth), "length") is None
    indexed = "def f(d, eps):\n    s = 0\n    for i in range(len(d)):\n        s += i\n    return s + laplace(1/eps)\n"
    assert least(indexed, "length") is None
    assert least(indexed) == 0


def test_a_published_wrong_sparse_vector_costs_what_its_critics_say():
    """(1 + 6c)/4 · ε for c answers (Lyu, Su, Li 2017)."""
    text = GAP.replace("laplace(2/eps)", "laplace(4/eps)").replace("4*N/eps", "4/(3*eps)").replace("v - t", "1")
    for c in (1, 2, 3):
        assert least(text, "all", N=c) == Fraction(1 + 6 * c, 4)


@pytest.mark.parametrize(
    ("text", "neighbours", "public", "true"),
    [(SPARSE, "all", {"N": 2}, 1), (LARGEST, "all", {}, 1), (SMART_SUM, "one", {"M": 3}, 2)],
)
def test_a_changed_certificate_proves_nothing_smaller(text, neighbours, public, true):
    question = ask(read(text), None, neighbours, "2*eps", public=public)
    _, parts = every_length(question, None, Limits())
    parts = json.loads(json.dumps(parts))
    rng = random.Random(5)
    places = [place for place in _numbers(parts) if "multipliers" not in place]
    for _ in range(150):
        changed = copy.deepcopy(parts)
        for place in rng.sample(places, rng.choice((1, 1, 2))):
            at = changed
            for key in place[:-1]:
                at = at[key]
            at[place[-1]] = rng.choice(["0", "1", "-1", "1/2", "2", "-1/2"])
        try:
            assert check_every(changed, text, question.to_json(), None) >= true
        except Rejected:
            continue
    for part in range(len(parts)):
        for edge in parts[part]["edges"]:
            fewer = copy.deepcopy(parts)
            del fewer[part]["edges"][edge]
            with pytest.raises(Rejected, match="not treated"):
                check_every(fewer, text, question.to_json(), None)


def _numbers(node, place=()):
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _numbers(value, (*place, key))
    elif isinstance(node, list):
        for key, value in enumerate(node):
            yield from _numbers(value, (*place, key))
    elif isinstance(node, str) and place[-1] not in {"way", "target"} and node.strip("-0123456789/") == "":
        yield place
