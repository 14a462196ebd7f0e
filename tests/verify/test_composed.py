"""Composition: calls of functions that are proved by themselves."""

import json

import pytest

from nowiser.verify.check.certificate import check
from nowiser.verify.check.follow import Rejected
from nowiser.verify.verify import verify
from support.mechanisms import LARGEST, SPARSE

PARTS = f"""
def total(d, eps):
    return sum(d) + laplace(1/eps)

def growing(d, eps):
    a = sum(d) + laplace(1/eps)
    e = d
    for i in range(3):
        e.append(d[0])
    return a

def scaled(d, eps, k):
    return k + sum([2 * x for x in d]) + laplace(1/eps)
{LARGEST.replace("def f(", "def largest(")}
{SPARSE.replace("def f(", "def sparse(")}
"""


def least(body, **options):
    text = PARTS + "\ndef main(d, eps):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    verdict = verify(text, None, options.pop("neighbours", "one"), "20*eps", function="main", **options)
    assert verdict.verdict == "proved", verdict
    assert check(json.loads(json.dumps(verdict.certificate)), text)
    return verdict.engine, verdict.smallest, verdict.sizes


def test_costs_add_up():
    assert least("a = total(d, eps)\nb = total(d, eps/2)\nreturn [a, b]") == ("composition", "3/2", None)
    assert least("return [largest(d, eps), sparse(d, 2*eps, 5, 3)]", neighbours="all") == ("composition", "3", None)


def test_results_may_be_used_as_public_values():
    body = "a = total(d, eps)\nif a > 3:\n    a = 3\nb = scaled(d, eps, a)\nreturn max(a, b)"
    assert least(body) == ("composition", "3", None)


def test_disjoint_parts_are_paid_once_for_each_person():
    assert least("return [total(d[:3], eps), total(d[3:], 2*eps)]") == ("composition", "2", None)
    assert least("return [total(d[:4], eps), total(d[3:], 2*eps)]") == ("composition", "3", None)
    assert least("return [total(d[:3], eps), total(d[3:], 2*eps), total(d, eps)]") == ("composition", "3", None)


@pytest.mark.parametrize(
    "body",
    [
        "if d[0] > 3:\n    return total(d, eps)\nreturn 0",
        "return total(d, eps) + d[0]",
        "a = 0\nfor i in range(3):\n    a += total(d, eps)\nreturn a",
        "d = [d[0], d[0], d[0]]\nreturn total(d, eps)",
        "return [total(d, eps) for i in range(9)]",
        "return total([2 * x for x in d], eps)",
        "return [growing(d, eps/2), total(d, eps/2)]",
    ],
)
def test_other_uses_of_private_data_are_no_composition(body):
    text = PARTS + "\ndef main(d, eps):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    verdict = verify(text, None, "one", "eps", function="main")
    assert verdict.verdict != "proved"


def test_a_certificate_of_another_call_is_rejected():
    text = PARTS + "\ndef main(d, eps):\n    return [total(d, eps), total(d, eps/2)]\n"
    certificate = json.loads(json.dumps(verify(text, None, "one", "3/2*eps", function="main").certificate))
    assert check(certificate, text)
    for changed in (
        text.replace("eps/2)", "eps)"),
        text.replace("sum(d) +", "3*sum(d) +"),
        text.replace("total(d, eps),", "total(d, eps), total(d, eps),"),
    ):
        with pytest.raises(Rejected):
            check(certificate, changed)
    fewer = {**certificate, "composed": certificate["composed"][:1]}
    with pytest.raises(Rejected, match="not treated"):
        check(fewer, text)
