"""The table of expected verdicts. Refutations are borne out by runs of the interpreter, which shares nothing with the
search but the reader."""

import math
from fractions import Fraction

import pytest

from nowiser.verify.language.read import read
from nowiser.verify.language.run import run
from nowiser.verify.question import ask
from nowiser.verify.refute.refute import refute
from nowiser.verify.samples import Exact
from nowiser.verify.symbolic.paths import Limits
from nowiser.verify.verify import _bounds, verify
from support.mechanisms import EVERY, ONE, PROVED, REFUTED, UNKNOWN


@pytest.mark.parametrize("name", PROVED)
def test_right_programs_are_proved_at_their_least_epsilon(name):
    text, options, lengths, least = PROVED[name]
    verdict = verify(text, **options)
    assert verdict.verdict == "proved", verdict
    assert verdict.smallest == least
    assert verdict.sizes == {EVERY: None, ONE: None}.get(lengths, lengths)


@pytest.mark.parametrize("name", REFUTED)
def test_wrong_programs_are_refuted_and_inputs_and_event_bear_it_out(name):
    text, options = REFUTED[name]
    verdict = verify(text, **options)
    assert verdict.verdict == "refuted", verdict
    assert verdict.ratio > verdict.allowed == pytest.approx(math.e)
    assert verdict.guess[1] > math.e / (1 + math.e)
    program, runs = read(text), 400
    for given, claimed in ((verdict.inputs_a, verdict.often_a), (verdict.inputs_b, verdict.often_b)):
        if isinstance(next(iter(given.values())), list):
            assert len(next(iter(given.values()))) <= 4
        outputs = [floats(run(program, given, Exact())) for _ in range(runs)]
        share = sum(map(verdict.event.holds, outputs)) / runs
        slack = 5 * math.sqrt(claimed.high / runs) + 5 / runs
        assert claimed.low - slack <= share <= claimed.high + slack
    assert sum(c.first for c in verdict.classes) == pytest.approx(1)
    assert any(c.inside for c in verdict.classes)


def floats(output):
    if isinstance(output, list):
        return [floats(o) for o in output]
    return output if isinstance(output, bool) else float(output)


def test_the_exponential_mechanism_needs_its_factor_2():
    text, options = REFUTED["exponential mechanism"]
    assert verify(text, **options).ratio == pytest.approx((1 + 2 * math.e) / (1 + 2 / math.e), rel=1e-9)  # 3.708


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_outside_of_the_language_is_unknown_with_its_line(name):
    text, line = UNKNOWN[name]
    verdict = verify(text)
    assert (verdict.verdict, verdict.line) == ("unknown", line)


@pytest.mark.parametrize("name", ["Laplace mechanism", "sparse vector, N = 1", "noisy max", "clipped sum", "two coins"])
def test_the_refuter_finds_nothing_against_right_programs(name):
    text, options, *_ = PROVED[name]
    options = {k: v for k, v in options.items() if k != "sizes"}
    question = ask(read(text), **options)
    bounds, _, _ = _bounds(question, 3, Limits())
    assert refute(question, bounds, bounds[-1:], Limits()) is None


def test_wrong_sparse_vectors_are_not_refuted_where_lists_are_so_short_that_they_are_private():
    text, options = REFUTED["no noise on the threshold"]
    assert verify(text, **options, sizes=2).verdict == "proved"
    text, options = REFUTED["value released"]
    assert verify(text, **options, sizes=2).curve == ((1, 0.5), (2, 1.0))
    assert Fraction(verify(text, **options, sizes=2).smallest) == 1
