"""Claims of ρ, and of ε with δ: against the exact Gaussian mechanism."""

import json
from fractions import Fraction

import mpmath
import pytest

from nowiser.verify.check.certificate import check
from nowiser.verify.check.follow import Rejected
from nowiser.verify.check.gaussian import delta_of
from nowiser.verify.verify import verify

ONE = "def f(x):\n    return x + gaussian(2)\n"
EACH = """
def f(d):
    s = 0
    out = []
    for x in d:
        s += min(max(x, 0), 1)
        out.append(s + gaussian(1))
    return out
"""


def test_the_least_rho_is_the_square_of_the_distance_over_twice_the_variance():
    verdict = verify(ONE, rho="1/8")
    assert (verdict.verdict, verdict.smallest) == ("proved", "ρ = 1/8")
    assert verify(ONE, rho=0.124).verdict != "proved"
    assert verify(ONE, neighbours="one by 3", rho="9/8").verdict == "proved"
    assert verify(EACH, neighbours="one arbitrary", rho=2).curve[:4] == ((1, 0.5), (2, 1.0), (3, 1.5), (4, 2.0))
    whole = "def f(d):\n    return [x + gaussian(1) for x in d]\n"
    assert verify(whole, neighbours="all", rho=3, sizes=4).curve == ((1, 0.5), (2, 1.0), (3, 1.5), (4, 2.0))


def test_delta_is_the_exact_one():
    def phi(x):
        return mpmath.erfc(-mpmath.mpf(x) / mpmath.sqrt(2)) / 2

    mpmath.mp.dps = 40
    for epsilon, sigma in ((0.5, 2.0), (1.0, 1.0), (2.0, 4.0)):
        mu = 1 / sigma
        exact = phi(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * phi(-mu / 2 - epsilon / mu)
        found = delta_of(Fraction(str(mu)) ** 2 / 2, epsilon)
        assert exact <= found <= exact * (1 + 1e-6)
    exact = phi(1 / 4 - 2) - mpmath.e * phi(-1 / 4 - 2)  # σ = 2, ε = 1
    assert verify(ONE, epsilon=1, delta=float(exact) * 1.001).verdict == "proved"
    assert verify(ONE, epsilon=1, delta=float(exact) * 0.999).verdict != "proved"


def test_a_comparison_of_noisy_numbers_is_post_processing():
    assert verify("def f(x):\n    y = x + gaussian(1)\n    return y > 3\n", rho=0.5).verdict == "proved"
    branching = "def f(x):\n    if x + gaussian(1) > 0:\n        return x + gaussian(1)\n    return 0\n"
    assert verify(branching, rho=1).verdict == "unknown"


def test_noise_that_is_too_small_is_refuted():
    verdict = verify(ONE, rho=0.03)
    assert verdict.verdict == "refuted"
    assert verify(ONE, epsilon=1, delta=1e-5).verdict == "refuted"
    assert verify(ONE, epsilon=1).verdict == "unknown"  # no ε at all, and it is said
    assert verify("def f(x):\n    return x + gaussian(1) + laplace(1)\n", rho=1).line == 2


def test_a_pure_proof_is_one_of_rho():
    laplace = "def f(x):\n    return x + laplace(1)\n"
    assert verify(laplace, rho=0.5).verdict == "proved"
    assert verify(laplace, rho=0.05).verdict == "refuted"


def test_a_changed_certificate_is_rejected():
    certificate = json.loads(json.dumps(verify(ONE, rho="1/8").certificate))
    check(certificate, ONE)
    with pytest.raises(Rejected):
        check(certificate, ONE.replace("gaussian(2)", "gaussian(1)"))
    certificate["sizes"][0]["proofs"][0]["tops"]["x0"][""] = "1/2"
    with pytest.raises(Rejected):
        check(certificate, ONE)
