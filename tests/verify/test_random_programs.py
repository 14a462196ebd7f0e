"""Random programs: none that is proved loses more than was proved, by running it on all numbers that its noise can be."""

import math

import pytest

from nowiser.verify.outside import Outside
from nowiser.verify.verify import verify
from support.programs import Writer, loses_more


def judged(seeds):
    """Counts of verdicts; every proof is held against the program's own loss at the ε that was proved."""
    counts = {"proved": 0, "refuted": 0, "unknown": 0}
    for seed in seeds:
        writer = Writer(seed)
        text = writer.text()
        try:
            verdict = verify(text, neighbours="one", epsilon="20*eps", sizes=2 if writer.listed else None, seconds=20)
        except Outside as stop:
            raise AssertionError(text) from stop
        counts[verdict.verdict] += 1
        if verdict.verdict == "proved":
            least = verdict.smallest
            epsilon = math.log(float(least.removeprefix("ln "))) if least.startswith("ln") else float(_number(least))
            broken = loses_more(text, epsilon + 1e-9, listed=writer.listed)
            assert broken is None, f"seed {seed}: {least} is proved, and it is not so for {broken}\n{text}"
    return counts


def _number(text):
    from fractions import Fraction

    return Fraction(text)


def test_no_random_program_loses_more_than_is_proved():
    counts = judged(range(120))
    assert counts["proved"] > 20


@pytest.mark.long
def test_no_random_program_loses_more_than_is_proved_in_10_000():
    counts = judged(range(1000, 11_000))
    print(counts)


def test_the_enumeration_sees_what_is_wrong():
    text = "def f(x: int, eps):\n    return x + discrete_laplace({}/eps)\n"
    assert loses_more(text.format("1"), 1.0, listed=False) is None
    assert loses_more(text.format("1"), 0.95, listed=False) is not None
    assert loses_more(text.format("0.9"), 1.0, listed=False) is not None
